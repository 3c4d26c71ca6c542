// Tests of the package in node: `PACKAGE=…/index.js DATA=… node --test package.test.mjs`, with the folder of data.py. Expected rows are those of pyarrow and of the scripts
// in testdata/, which state their contents.

import assert from "node:assert/strict";
import { openAsBlob, readFileSync, readdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { files, testdata } from "./expected.mjs";
import { serve } from "./server.mjs";

const { open, ParquetError } = await import(pathToFileURL(process.env.PACKAGE));
const example = new URL("example.parquet", testdata);
const EXAMPLE_BYTES = readFileSync(example).length;

async function kindOf(promise) {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof ParquetError, String(error));
    assert.notEqual(error.kind, "bug", error.message);
    return error.kind;
  }
  return undefined;
}

async function using(input, body, options) {
  const file = await open(input, options);
  try {
    return await body(file);
  } finally {
    file.close();
  }
}

test("rows are those of pyarrow", async () => {
  const { columns } = JSON.parse(readFileSync(new URL("example.json", testdata)));
  await using(example, async (file) => {
    assert.equal(file.numRows, 24);
    const rows = await file.rows();
    for (const name of ["id", "name", "weight", "organic", "tags", "origin"]) {
      const { values } = columns.find((column) => column.name === name);
      assert.deepEqual(rows.map((row) => row[name]), values);
    }
    const some = await file.rows({ columns: ["name"], where: "id >= 20", offset: 1, limit: 2 });
    assert.deepEqual(some, [{ name: columns[1].values[21] }, { name: columns[1].values[22] }]);
    const nested = await file.rows({ columns: [["origin", "country"]], rowRanges: [[23, 24]], rowNumbers: "row" });
    assert.deepEqual(nested, [{ origin: { country: columns.at(-1).values[23].country }, row: 23 }]);
  });
});

test("files of all writers have their rows", async () => {
  let [count, compared] = [0, 0];
  for (const expected of files()) {
    await using(new URL(expected.path, testdata), async (file) => {
      count += 1;
      const rows = await file.rows().catch((error) => {
        // JSON objects cannot have a name twice.
        assert.match(error.message, /twice|duplicate|two columns/i, `${expected.path}: ${error.message}`);
      });
      if (rows === undefined) return;
      assert.equal(rows.length, expected.rows, expected.path);
      for (const column of expected.columns) {
        assert.deepEqual(rows.map((row) => row[column.name]), column.values, `${expected.path} ${column.name}`);
        compared += 1;
      }
    });
  }
  assert.ok(count > 150, `${count} files`);
  assert.ok(compared > 150, `${compared} columns`);
});

test("invalid files are errors, and never end the module", async () => {
  const { errors } = JSON.parse(readFileSync(new URL("hostile/index.json", testdata)));
  const kinds = { "corrupt file": "corrupt", unsupported: "unsupported", "limit exceeded": "limit", key: "key" };
  for (const [name, expected] of Object.entries(errors)) {
    const kind = await kindOf(using(new URL(`hostile/${name}.parquet`, testdata), (file) => file.rows()));
    assert.equal(kind, kinds[expected.kind], name);
  }
  assert.ok(Object.keys(errors).length > 300);
});

test("each flipped byte and each cut is an error or harmless", async () => {
  const bytes = readFileSync(example);
  for (let at = 0; at < bytes.length; at += 7) {
    const flipped = Uint8Array.from(bytes);
    flipped[at] ^= 0x55;
    await kindOf(
      using(flipped, async (file) => {
        file.stats();
        await file.rows({ where: "id > 3" });
        await file.explain({ where: "name = 'dill'" });
      }),
    );
  }
  for (let length = 0; length < bytes.length; length += 101) {
    assert.notEqual(await kindOf(open(bytes.subarray(0, length))), undefined);
  }
});

test("integers beyond 2^53 stay exact", async () => {
  const large = pathToFileURL(`${process.env.DATA}/large.parquet`);
  const [row] = await using(large, (file) => file.rows({ columns: ["big"], rowRanges: [[199_999, 200_000]] }));
  assert.deepEqual(row, { big: 4_611_686_018_427_587_903n });
  const { rowsOf } = await import(new URL("rows.js", pathToFileURL(process.env.PACKAGE)));
  const text = '[{"a":9223372036854775807,"b":"9223372036854775807","c":0.1234567890123456789,"d":-9007199254740993,"e":9007199254740991}]';
  assert.deepEqual(rowsOf(text), [
    { a: 9223372036854775807n, b: "9223372036854775807", c: 0.12345678901234568, d: -9007199254740993n, e: 9007199254740991 },
  ]);
});

test("errors have kind and place", async () => {
  await using(example, async (file) => {
    await assert.rejects(file.rows({ where: "id >" }), { kind: "argument", message: /something is missing/ });
    await assert.rejects(file.rows({ columns: ["none"] }), { kind: "argument" });
    await assert.rejects(file.rows({ colums: [] }), { kind: "argument", message: /unknown option `colums`/ });
    await assert.rejects(file.rows({ limit: -1 }), { kind: "argument" });
    await assert.rejects(file.save({ format: "xml" }), { kind: "argument" });
    const closed = file.rows();
    await closed;
  });
  await assert.rejects(
    using(example, (file) => file.rows(), { memoryBytes: 1000 }),
    { kind: "limit", message: /memoryBytes/, rowGroup: 0 },
  );
  await assert.rejects(open(new Uint8Array()), { kind: "corrupt" });
  await assert.rejects(open(7), { kind: "argument" });
  await assert.rejects(open(new URL("none.parquet", testdata)), { kind: "io" });
  const file = await open(example);
  file.close();
  file.close();
  await assert.rejects(file.rows(), { kind: "argument", message: /closed/ });
});

test("after a trap, files are opened anew", async () => {
  const { call, currentGeneration } = await import(new URL("module.js", pathToFileURL(process.env.PACKAGE)));
  const file = await open(example);
  const trap = () => {
    throw new WebAssembly.RuntimeError("unreachable");
  };
  assert.throws(() => call(currentGeneration(), trap), { kind: "bug", message: /unreachable/ });
  await assert.rejects(file.rows(), { kind: "bug", message: /open the file again/ });
  file.close();
  assert.equal((await using(example, (again) => again.rows())).length, 24);
});

test("metadata, schema, statistics and reports", async () => {
  await using(example, async (file) => {
    const metadata = file.metadata();
    assert.equal(metadata.num_rows, 24);
    assert.match(metadata.created_by, /parquet-cpp-arrow/);
    assert.equal(metadata.row_groups[0].columns[0].path, "id");
    const schema = file.schema();
    assert.deepEqual(schema.map(({ name }) => name).slice(0, 3), ["id", "name", "price"]);
    assert.equal(schema[2].type, "Decimal128(9, 2)");
    assert.deepEqual(schema.at(-1).children.map(({ name }) => name), ["country", "altitude"]);
    const [id] = file.stats();
    assert.deepEqual([id.path, id.type], [["id"], "int64"]);
    const bounds = id.rowGroups.map(({ min, max }) => [min, max]);
    assert.equal(bounds[0][0], 0);
    assert.equal(bounds.at(-1)[1], 23);
    const [explained] = await file.explain({ where: "id > 100" });
    assert.equal(explained.steps[0].ruled_out, explained.rows);
    const quick = await file.report();
    assert.match(quick.html, /<title>example.parquet<\/title>/);
    assert.match(quick.html, /Not yet: only the metadata/);
    assert.match((await file.report({ verify: true })).html, /Sound: all metadata agrees/);
    assert.ok(quick.findings.every(({ kind, message }) => kind && message));
  });
});

test("pages have bounds", async () => {
  const url = new URL("jobs/", testdata);
  for (const name of readdirSync(url)) {
    if (!name.endsWith(".parquet")) continue;
    await using(new URL(name, url), async (file) => {
      const bounds = await file.pageBounds(0, file.metadata().columns[0].path);
      assert.ok(bounds === null || bounds.every(({ row_count }) => row_count > 0), name);
    }).catch((error) => assert.notEqual(error.kind, "bug", error.message));
  }
});

test("a stream ends early, and is cancelled", async () => {
  await using(example, async (file) => {
    let batches = 0;
    for await (const rows of file.stream({ batchRows: 5 })) {
      assert.ok(rows.length > 0 && rows.length <= 5);
      batches += 1;
      if (batches === 2) break;
    }
    assert.equal(batches, 2);
    const controller = new AbortController();
    const cancelled = async () => {
      for await (const _ of file.stream({ batchRows: 1, signal: controller.signal })) controller.abort();
    };
    await assert.rejects(cancelled(), { name: "AbortError" });
    await assert.rejects(file.rows({ signal: AbortSignal.abort() }), { name: "AbortError" });
    assert.equal((await file.rows()).length, 24);
  });
});

test("rows are saved as CSV, JSON, Arrow and Parquet", async () => {
  await using(example, async (file) => {
    const read = { columns: ["id", "name"], where: "id >= 21" };
    const csv = await (await file.save({ ...read, format: "csv" })).text();
    assert.equal(csv, "id,name\n21,basil\n22,cedar\n23,dill\n");
    const json = JSON.parse(await (await file.save({ ...read, format: "json" })).text());
    assert.deepEqual(json, await file.rows(read));
    const parquet = await file.save({ ...read, format: "parquet" });
    assert.deepEqual(await using(parquet, (saved) => saved.rows()), json);
    const arrow = new Uint8Array(await (await file.save({ ...read, format: "arrow" })).arrayBuffer());
    assert.deepEqual(arrow, await file.rows({ ...read, as: "arrow" }));
    // The continuation marker at the start of each message.
    assert.deepEqual([...arrow.subarray(0, 4)], [255, 255, 255, 255]);
    // No row, but a file all the same.
    const empty = await file.save({ where: "id > 100", format: "parquet" });
    assert.equal(await using(empty, (saved) => saved.numRows), 0);
  });
});

const official = process.env.PARQUET_TEST_DATA;
test("an encrypted file needs its keys", { skip: !official }, async () => {
  const blob = await openAsBlob(`${official}/encrypt_columns_and_footer.parquet.encrypted`);
  assert.equal(await kindOf(open(blob)), "key");
  const base64 = (text) => Buffer.from(text).toString("base64");
  const keys = {
    footer_key: base64("0123456789012345"),
    column_keys: { double_field: base64("1234567890123450"), float_field: base64("1234567890123451") },
  };
  // By pyarrow.
  const row = { boolean_field: true, float_field: 0 };
  await using(blob, async (file) => {
    assert.deepEqual((await file.rows({ columns: Object.keys(row), limit: 1 }))[0], row);
    assert.equal(file.numRows, 50);
    await assert.rejects(file.rows(), { kind: "unsupported", message: /int96Unit/, column: "int96_field" });
    assert.equal((await file.rows({ int96Unit: "us" })).length, 50);
  }, { keys });
  const wrong = { ...keys, footer_key: base64("0123456789012346") };
  assert.equal(await kindOf(open(blob, { keys: wrong })), "key");
});

let server;
before(async () => (server = await serve(pathToFileURL(`${process.env.DATA}/`), testdata)));
after(() => server.close());

test("a URL is read by ranges", async () => {
  const before = server.requests.length;
  await using(server.url("example.parquet"), async (file) => {
    assert.equal(file.size, EXAMPLE_BYTES);
    assert.equal((await file.rows()).length, 24);
    assert.equal(file.traffic.requests, 2);
    assert.equal(file.traffic.bytes, EXAMPLE_BYTES);
  });
  assert.deepEqual(server.requests.slice(before).map(({ method }) => method), ["HEAD", "GET"]);
});

test("a large file is read in parts", async () => {
  const url = server.url("large.parquet");
  await using(url, async (file) => {
    assert.equal(file.traffic.requests, 2);
    const rows = await file.rows({ columns: ["id"], where: "id = 199999" });
    assert.deepEqual(rows, [{ id: 199999 }]);
    assert.ok(file.traffic.bytes < file.size / 4, `${file.traffic.bytes} of ${file.size}`);
  });
});

for (const [mode, requests] of [
  ["no-head", 2],
  ["no-ranges", 2],
  ["hidden-headers", 2],
  ["hidden-headers,no-head", 2],
]) {
  test(`a server with ${mode}`, async () => {
    await using(server.url("example.parquet", mode), async (file) => {
      assert.equal((await file.rows()).length, 24);
      assert.equal(file.traffic.requests, requests);
    });
    const rows = await using(server.url("large.parquet", mode), (file) => file.rows({ columns: ["id"] }));
    assert.equal(rows.length, 200_000);
  });
}

test("servers that fail", async () => {
  await assert.rejects(open(server.url("none.parquet")), { kind: "io", message: /404/ });
  await assert.rejects(open(server.url("large.parquet", "no-ranges"), { wholeBytes: 1000 }), { kind: "limit" });
  await assert.rejects(open("http://127.0.0.1:1/a.parquet"), { kind: "io", message: /cannot be reached/ });
  await assert.rejects(open("http://"), { kind: "argument" });
  const file = await open(server.url("large.parquet", "replaced"));
  await assert.rejects(file.rows(), { kind: "replaced" });
  file.close();
  const short = await open(server.url("large.parquet", "short"));
  await assert.rejects(short.rows(), { kind: "io" });
  short.close();
  const slow = await open(server.url("large.parquet", "slow"));
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 50);
  await assert.rejects(slow.rows({ signal: controller.signal }), { name: "AbortError" });
  slow.close();
});

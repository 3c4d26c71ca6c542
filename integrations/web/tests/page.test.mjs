// Tests of the page in Chromium: `SITE=… DATA=… SHOTS=… node --test page.test.mjs`, with the folders of the site and of data.py, and one for
// pictures.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { Browser, chromium } from "./chromium.mjs";
import { files, testdata } from "./expected.mjs";
import { serve } from "./server.mjs";

const { SITE, DATA, SHOTS } = process.env;
const local = (path) => fileURLToPath(new URL(path, testdata));
const status = (pattern) => `${pattern}.test(document.getElementById("status").textContent)`;
const click = (selector) => `document.querySelector(${JSON.stringify(selector)}).click()`;
const cells = `[...document.querySelectorAll("#table tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent))`;

let browser;
let site;
let other;
before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  site = await serve(pathToFileURL(`${SITE}/`));
  other = await serve(pathToFileURL(`${DATA}/`), testdata);
  browser = new Browser(chromium());
});
after(async () => {
  await browser?.close();
  site?.close();
  other?.close();
});
beforeEach(() => (browser.messages.length = 0));

async function fails(pattern) {
  await browser.until(`!document.getElementById("error").hidden && ${pattern}.test(document.getElementById("error").textContent)`);
}

async function filter(condition) {
  await browser.evaluate(`document.getElementById("where").value = ${JSON.stringify(condition)}`);
  await browser.evaluate(`document.getElementById("filter").requestSubmit()`);
}

test("the example opens, in both themes and on a phone", async () => {
  for (const [name, options] of Object.entries({ light: {}, dark: { isDark: true }, phone: { width: 390, height: 800 } })) {
    await browser.open(`${site.origin}/`, options);
    await browser.evaluate(click("#example"));
    await browser.until(status("/24 rows/"));
    await browser.until(`${cells}[0]?.includes("amber")`);
    await browser.screenshot(`${SHOTS}/rows-${name}.png`);
    const width = await browser.evaluate("document.documentElement.scrollWidth - innerWidth");
    assert.ok(width <= 0, `${name} is ${width} pixels wider than its window`);
    for (const view of ["report", "schema", "stats"]) {
      await browser.evaluate(click(`#tab-${view}`));
      if (view === "report") await browser.until(`document.getElementById("report").srcdoc.length > 1000`);
      if (view === "stats") await browser.until(`document.querySelectorAll("#stats tbody tr").length === 9`);
      await new Promise((resume) => setTimeout(resume, 200));
      await browser.screenshot(`${SHOTS}/${view}-${name}.png`);
    }
  }
  const ink = await browser.evaluate(`getComputedStyle(document.body).backgroundColor`);
  await browser.evaluate(click("#theme"));
  assert.notEqual(await browser.evaluate(`getComputedStyle(document.body).backgroundColor`), ink);
  assert.deepEqual(browser.messages, []);
});

test("views show the schema, statistics and findings of pyarrow's file", async () => {
  await browser.open(`${site.origin}/`);
  await browser.choose("#file", local("example.parquet"));
  await browser.until(status("/24 rows/"));
  await browser.evaluate(click("#tab-schema"));
  assert.match(await browser.evaluate(`document.getElementById("panel-schema").innerText`), /price Decimal128\(9, 2\)/);
  await browser.evaluate(click("#tab-stats"));
  await browser.until(`document.querySelectorAll("#stats tbody tr").length === 9`);
  const [id] = await browser.evaluate(`[...document.querySelectorAll("#stats tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent))`);
  assert.deepEqual(id.slice(0, 5), ["id", "int64", "0", "0", "23"]);
  await browser.evaluate(click("#histograms"));
  await browser.until(`document.querySelectorAll("svg.histogram").length >= 5`);
  await browser.evaluate(click("#tab-report"));
  await browser.evaluate(click("#verify"));
  await browser.until(`document.getElementById("report").srcdoc.includes("Sound: all metadata agrees")`);
});

test("a million rows of a URL scroll, are filtered and explained", async () => {
  await browser.open(`${site.origin}/?url=${encodeURIComponent(other.url("million.parquet"))}`);
  await browser.until(status("/1,000,000 rows/"));
  await browser.until(`${cells}[0]?.[1] === "0"`);
  const requested = other.requests.filter(({ method }) => method === "GET").length;
  assert.ok(requested < 20, `${requested} requests`);
  await browser.evaluate(`document.getElementById("rows").focus()`);
  await browser.press("End");
  await browser.until(`${cells}.at(-1)?.[1] === "999999"`);
  const first = await browser.evaluate(`Number(${cells}[0][1])`);
  await browser.press("ArrowUp");
  await browser.until(`${cells}[0][1] === "${first - 1}" && ${cells}.length < 60`);
  await browser.evaluate(`(rows.scrollTop = rows.scrollHeight / 2)`);
  await browser.until(`${cells}.some((row) => /^5\\d{5}$/.test(row[1]))`);
  // 2**62 + 999_999, by arithmetic.
  await browser.press("End");
  await browser.until(`${cells}.at(-1)?.[4] === "4611686018428387903"`);
  await browser.evaluate(`document.getElementById("where").value = "id >= 999990"`);
  await browser.evaluate(click("#explain"));
  await browser.until(`/statistics: 950,000 rows ruled out/.test(document.getElementById("explanation").textContent)`);
  await filter("id >= 999990");
  await browser.until(status("/10 rows of 1,000,000/"));
  await browser.until(`${cells}.length === 10 && ${cells}[0][1] === "999990"`);
  await browser.screenshot(`${SHOTS}/filter.png`);
  await filter("id >>> 5");
  await fails(/id|operator|Expected/);
  await filter("fare = 12.5");
  await browser.until(status("/1,000 rows of 1,000,000/"), 60);
  await browser.until(`${cells}[1]?.[1] === "1125"`);
});

test("damaged files, other files and missing URLs are explained in words", async () => {
  await browser.open(`${site.origin}/`);
  const bytes = readFileSync(local("example.parquet"));
  const damaged = `${SHOTS}/damaged.parquet`;
  writeFileSync(damaged, bytes.subarray(0, bytes.length - 100));
  await browser.choose("#file", damaged);
  await fails(/magic|PAR1|Parquet/);
  await browser.screenshot(`${SHOTS}/damaged.png`);
  bytes.fill(0xff, 4, 200);
  writeFileSync(damaged, bytes);
  await browser.choose("#file", damaged);
  await browser.until(status("/24 rows/"));
  await fails(/column id/);
  for (const [url, expected] of [
    [other.url("none.parquet"), /404/],
    [other.url("example.parquet", "no-cors"), /Access-Control-Allow-Origin/],
    ["http://127.0.0.1:1/", /cannot be reached/],
  ]) {
    await browser.evaluate(`document.getElementById("url").value = ${JSON.stringify(url)}`);
    await browser.evaluate(`document.getElementById("open").requestSubmit()`);
    await fails(expected);
  }
});

test("servers that hide headers or have no ranges", async () => {
  for (const mode of ["hidden-headers", "no-ranges", "no-head"]) {
    await browser.open(`${site.origin}/?url=${encodeURIComponent(other.url("large.parquet", mode))}`);
    await browser.until(status("/200,000 rows/"));
    await browser.until(`${cells}[0]?.[1] === "0"`);
  }
  // A page may send a range without asking the server before.
  assert.ok(!other.requests.some(({ method }) => method === "OPTIONS"));
});

const official = process.env.PARQUET_TEST_DATA;
test("an encrypted file opens with its keys", { skip: !official }, async () => {
  await browser.open(`${site.origin}/`);
  const path = `${official}/encrypt_columns_and_footer.parquet.encrypted`;
  await browser.choose("#file", path);
  await fails(/keys/);
  await browser.evaluate(`document.getElementById("footer-key").value = "0123456789012345"`);
  await browser.evaluate(`document.getElementById("column-keys").value = "double_field=1234567890123450\\nfloat_field=1234567890123451"`);
  await browser.choose("#file", path);
  await browser.until(status("/50 rows/"));
  await browser.until(`${cells}[1]?.[1] === "false"`);
});

test("names and values of files stay text", async () => {
  await browser.open(`${site.origin}/`);
  await browser.choose("#file", `${DATA}/hostile.parquet`);
  await browser.until(status("/1 row/"));
  await browser.until(`${cells}[0]?.includes("<b>bold</b>")`);
  for (const view of ["report", "schema", "stats"]) {
    await browser.evaluate(click(`#tab-${view}`));
    await new Promise((resume) => setTimeout(resume, 300));
  }
  await browser.screenshot(`${SHOTS}/hostile.png`);
  assert.equal(await browser.evaluate(`document.querySelectorAll("main img, main b, main script").length`), 0);
  const row = await browser.evaluate(`${cells}[0]`);
  assert.ok(row.includes("a\\u{202e}b") && row.includes("own") && row.includes("null"), row.join());
});

test("rows are saved", async () => {
  await browser.open(`${site.origin}/`);
  await browser.choose("#file", local("example.parquet"));
  await browser.until(status("/24 rows/"));
  await filter("id >= 21");
  await browser.until(status("/3 rows of 24/"));
  // The page makes a link to a blob, and clicks on it. Here, the test keeps both.
  await browser.evaluate(`HTMLAnchorElement.prototype.click = function () { window.savedAs = this.download; }`);
  await browser.evaluate(`URL.createObjectURL = (blob) => { window.saved = blob.text(); return "blob:"; }`);
  await browser.evaluate(`document.getElementById("save").requestSubmit()`);
  await browser.until("window.savedAs !== undefined");
  assert.equal(await browser.evaluate("window.savedAs"), "example.csv");
  const lines = (await browser.evaluate("window.saved")).split("\n");
  assert.deepEqual(lines.slice(0, 2).map((line) => line.split(",").slice(0, 2)), [["id", "name"], ["21", "basil"]]);
});

test("the package works on a page without a worker, and an aborted read ends", async () => {
  await browser.open(`${site.origin}/`);
  const url = other.url("large.parquet");
  const rows = await browser.evaluate(`(async () => {
    const { open } = await import("./package/index.js");
    const file = await open(${JSON.stringify(url)});
    const rows = await file.rows({ columns: ["id"], where: "id < 3" });
    const controller = new AbortController();
    const aborted = file.rows({ signal: controller.signal }).catch((error) => error.name);
    controller.abort();
    return [rows, await aborted];
  })()`);
  assert.deepEqual(rows, [[{ id: 0 }, { id: 1 }, { id: 2 }], "AbortError"]);
});

/** Returns the result of a function of the package and arguments, which runs in the page itself, without a worker. */
function inPage(body, ...input) {
  return browser.evaluate(`import("/package/index.js").then((it) => (${body})(it, ...${JSON.stringify(input)}))`);
}

test("the package reads the files of all writers", async () => {
  await browser.open(`${site.origin}/`);
  let compared = 0;
  for (const { path, columns } of files()) {
    if (columns.length === 0) continue;
    const names = columns.map(({ name }) => name);
    const rows = await inPage(async ({ open }, url, names) => {
      const file = await open(url);
      try {
        return await file.rows({ columns: names });
      } catch (error) {
        return error.message;
      } finally {
        file.close();
      }
    }, `${other.origin}/${path}`, names);
    // JSON objects cannot have a name twice.
    if (typeof rows === "string") assert.match(rows, /columns are called/, path);
    else for (const { name, values } of columns) {
      assert.deepEqual(rows.map((row) => row[name]), values, `${path} ${name}`);
      compared += 1;
    }
  }
  assert.ok(compared > 150, `${compared} columns`);
});

test("the package streams and fails in a browser as in node", async () => {
  await browser.open(`${site.origin}/`);
  const seen = await inPage(async ({ open, ParquetError }, url, damaged) => {
    const blob = await (await fetch(url)).blob();
    const file = await open(blob);
    let bytes = 0;
    for await (const batch of file.stream({ as: "arrow" })) bytes += batch.length;
    file.close();
    const failed = await open(damaged).then((it) => it.rows()).then(() => "read", (error) => error instanceof ParquetError && error.kind);
    return { bytes, failed };
  }, `${other.origin}/example.parquet`, `${other.origin}/hostile/checksum_wrong.parquet`);
  assert.ok(seen.bytes > 1000, `${seen.bytes} bytes`);
  assert.equal(seen.failed, "corrupt");
});

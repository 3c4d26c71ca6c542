// Parquet files in browsers and node.

import { bytesOf } from "./bytes.js";
import { ParquetError } from "./errors.js";
import { call, currentGeneration, load, newFile } from "./module.js";
import { rowsOf } from "./rows.js";

export { ParquetError };

/** The milliseconds after which a read lets the program do something else, such as cancel it. */
const TURN = 30;

/**
 * Opens a file. It reads the footer alone.
 * @type {typeof import("./index.d.ts").open}
 */
export async function open(input, options = {}) {
  const { memoryBytes, keys, ...sourceOptions } = options;
  const unknown = Object.keys(sourceOptions).find((name) => !["signal", "headers", "fetch", "wholeBytes"].includes(name));
  if (unknown !== undefined) throw new ParquetError("argument", `unknown option \`${unknown}\``);
  const [bytes] = await Promise.all([bytesOf(input, sourceOptions), load()]);
  const owner = currentGeneration();
  const handle = newFile(bytes.size, bytes.isRemote, JSON.stringify({ memoryBytes, keys }));
  try {
    await answered(owner, handle, bytes, () => handle.open(), options.signal);
  } catch (error) {
    if (owner === currentGeneration()) handle.free();
    throw error;
  }
  return new ParquetFile(owner, handle, bytes);
}

/** Supplies bytes until a function of a file has all that it needs, and returns its result. */
async function answered(owner, handle, bytes, body, signal) {
  for (;;) {
    signal?.throwIfAborted();
    const answer = call(owner, body);
    if (!(answer instanceof Float64Array)) return answer;
    await supply(owner, handle, bytes, answer, signal);
  }
}

/** Fetches ranges at the same time, and supplies their bytes. */
async function supply(owner, taker, bytes, ranges, signal) {
  const reads = [];
  for (let at = 0; at < ranges.length; at += 2) reads.push(bytes.read(ranges[at], ranges[at + 1], signal));
  const parts = await Promise.all(reads);
  parts.forEach((part, at) => call(owner, () => taker.supply(ranges[2 * at], part)));
}

/** @implements {import("./index.d.ts").ParquetFile} */
class ParquetFile {
  #owner;
  #handle;
  #bytes;
  #metadata;

  constructor(owner, handle, bytes) {
    this.#owner = owner;
    this.#handle = handle;
    this.#bytes = bytes;
  }

  get name() {
    return this.#bytes.name;
  }

  get size() {
    return this.#bytes.size;
  }

  get traffic() {
    return { ...this.#bytes.traffic };
  }

  get numRows() {
    return this.metadata().num_rows;
  }

  metadata() {
    this.#metadata ??= JSON.parse(this.#call((handle) => handle.metadata()));
    return this.#metadata;
  }

  schema() {
    return JSON.parse(this.#call((handle) => handle.schema()));
  }

  stats() {
    return JSON.parse(this.#call((handle) => handle.stats()));
  }

  async pageBounds(rowGroup, column, { signal } = {}) {
    const path = [column].flat();
    const leaf = this.metadata().columns.findIndex((it) => JSON.stringify(it.path) === JSON.stringify(path));
    if (leaf < 0) throw new ParquetError("argument", `the file has no column ${path.join(".")}`);
    return JSON.parse(await this.#answered((handle) => handle.page_bounds(rowGroup, leaf), signal));
  }

  async explain(options = {}) {
    const { signal, ...read } = options;
    const json = JSON.stringify(read);
    return JSON.parse(await this.#answered((handle) => handle.explain(json), signal));
  }

  async report({ verify = false, signal } = {}) {
    const all = verify ? await this.#bytes.read(0, this.size, signal) : undefined;
    return JSON.parse(await this.#answered((handle) => handle.report(this.name, all), signal));
  }

  async rows(options = {}) {
    const { as = "objects", ...read } = options;
    if (as === "arrow") {
      const pieces = [];
      for await (const { bytes } of this.#pieces(read, "arrow", true)) pieces.push(bytes);
      return new Uint8Array(await new Blob(pieces).arrayBuffer());
    }
    const rows = [];
    for await (const batch of this.stream({ as, ...read })) for (const row of batch) rows.push(row);
    return rows;
  }

  async *stream(options = {}) {
    const { as = "objects", ...read } = options;
    if (as !== "objects" && as !== "arrow") {
      throw new ParquetError("argument", `the option \`as\` is "objects" or "arrow", but found ${JSON.stringify(as)}`);
    }
    const decoder = new TextDecoder();
    for await (const { numRows, bytes } of this.#pieces(read, as === "arrow" ? "arrow" : "json", false)) {
      if (numRows > 0) yield as === "arrow" ? bytes : rowsOf(decoder.decode(bytes));
    }
  }

  async save(options) {
    const { format, ...read } = options;
    const types = {
      csv: "text/csv",
      json: "application/json",
      arrow: "application/vnd.apache.arrow.stream",
      parquet: "application/vnd.apache.parquet",
    };
    const pieces = [];
    for await (const { bytes } of this.#pieces(read, format, true)) pieces.push(bytes);
    return new Blob(pieces, { type: types[format] });
  }

  close() {
    const handle = this.#handle;
    this.#handle = undefined;
    if (this.#owner === currentGeneration()) handle?.free();
  }

  #call(body) {
    if (this.#handle === undefined) throw new ParquetError("argument", "the file is closed");
    return call(this.#owner, () => body(this.#handle));
  }

  #answered(body, signal) {
    return answered(this.#owner, this.#handle, this.#bytes, () => this.#call(body), signal);
  }

  /** Reads rows as bytes of a format. With `isWhole`, all pieces together are one file. */
  async *#pieces({ signal, ...options }, format, isWhole) {
    const [owner, bytes] = [this.#owner, this.#bytes];
    const read = this.#call((handle) => handle.read(JSON.stringify(options), String(format), isWhole));
    let began = performance.now();
    try {
      for (;;) {
        if (performance.now() - began > TURN) {
          await new Promise((resume) => setTimeout(resume));
          began = performance.now();
        }
        signal?.throwIfAborted();
        const state = call(owner, () => read.poll());
        if (state === "needs") {
          await supply(owner, read, bytes, call(owner, () => read.needs()), signal);
        } else if (state === "batch") {
          const numRows = call(owner, () => read.num_rows());
          yield { numRows, bytes: call(owner, () => read.take()) };
        } else {
          yield { numRows: 0, bytes: call(owner, () => read.finish()) };
          return;
        }
      }
    } finally {
      if (owner === currentGeneration()) read.free();
    }
  }
}

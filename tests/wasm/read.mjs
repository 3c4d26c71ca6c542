// Reads testdata/example.parquet with the library as WebAssembly: `node read.mjs MODULE FILE`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const [module, path] = process.argv.slice(2);
const { instance } = await WebAssembly.instantiate(readFileSync(module), {});
const { buffer, rows, sum_of_ids, memory } = instance.exports;

function load(bytes) {
    const at = buffer(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
}

const file = readFileSync(path);
load(file);
// By pyarrow.
assert.equal(rows(), 24n);
assert.equal(sum_of_ids(), 276n);
// An error is an error here too.
load(file.subarray(0, file.length - 1));
assert.equal(rows(), -1n);
console.log("read in WebAssembly: 24 rows");

// The WebAssembly module, and calls into it.

import init, * as bindings from "./herringbone.js";
import { ParquetError } from "./errors.js";

let loading;
// Each trap ends an instance with all of its files.
let generation = 0;

/** Loads the module once. */
export function load() {
  loading ??= start().catch((error) => {
    loading = undefined;
    throw new ParquetError("io", `the WebAssembly module cannot be loaded: ${error.message}`, {}, { cause: error });
  });
  return loading;
}

async function start() {
  const url = new URL("./herringbone_bg.wasm", import.meta.url);
  if (url.protocol !== "file:") {
    await init({ module_or_path: url });
    return;
  }
  // Node's fetch reads no files.
  const { readFile } = await import("node:fs/promises");
  await init({ module_or_path: await readFile(url) });
}

/** Returns the number of the module's instance, to which a file belongs. */
export function currentGeneration() {
  return generation;
}

/** Creates a file in the module. */
export function newFile(size, isRemote, options) {
  return call(generation, () => new bindings.File(size, isRemote, options));
}

/**
 * Calls a function of the module. A trap becomes an error, and a new instance replaces the old one, whose memory may be broken.
 * @template T
 * @param {number} owner the instance that the function's objects belong to
 * @param {() => T} body
 * @returns {T}
 */
export function call(owner, body) {
  if (owner !== generation) {
    throw new ParquetError("bug", "an earlier error ended the module's instance; open the file again");
  }
  try {
    return body();
  } catch (error) {
    if (error instanceof ParquetError) throw error;
    if (typeof error === "string") {
      const { kind, message, ...place } = JSON.parse(error);
      throw new ParquetError(kind, message, place);
    }
    generation += 1;
    bindings.__wbg_reset_state();
    const text = `the module stopped, because memory ran out or by a mistake of ours: ${error?.message ?? error}`;
    throw new ParquetError("bug", text, {}, { cause: error });
  }
}

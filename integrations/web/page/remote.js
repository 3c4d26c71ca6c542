// Calls of the worker.

let worker;
let last = 0;
const waiting = new Map();

function start() {
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  worker.addEventListener("message", ({ data: { id, result, error, progress } }) => {
    const call = waiting.get(id);
    if (progress !== undefined) {
      call?.progress?.(progress);
      return;
    }
    waiting.delete(id);
    if (error) call?.reject(Object.assign(new Error(error.message), { name: error.name, kind: error.kind }));
    else call?.resolve(result);
  });
  worker.addEventListener("error", (event) => {
    for (const call of waiting.values()) call.reject(new Error(event.message || "the worker cannot be started"));
    waiting.clear();
  });
}

/**
 * Calls a method of worker.js.
 * @param {string} method
 * @param {object} [parameters]
 * @param {{ signal?: AbortSignal, progress?: (text: string) => void }} [options]
 */
export function remote(method, parameters = {}, { signal, progress } = {}) {
  if (!worker) start();
  last += 1;
  const id = last;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject, progress });
    worker.postMessage({ id, method, parameters });
    signal?.addEventListener("abort", () => worker.postMessage({ cancelled: id }));
  });
}

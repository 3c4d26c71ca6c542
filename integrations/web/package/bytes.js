// Ranges of bytes of files, buffers and URLs.

import { ParquetError } from "./errors.js";

/** The bytes at the end of a file that are fetched at first, as the module asks for them: most footers and page indexes fit. */
const TAIL_BYTES = 256 * 1024;
/** The largest file that is fetched as a whole from a server without ranges, unless an option says otherwise. */
const WHOLE_BYTES = 256 * 1024 * 1024;

/**
 * @typedef {object} Bytes
 * @property {number} size
 * @property {string} name
 * @property {boolean} isRemote
 * @property {{ requests: number, bytes: number }} traffic
 * @property {(start: number, end: number, signal?: AbortSignal) => Promise<Uint8Array>} read
 */

/**
 * Returns the bytes of a program's argument: a URL, a file or bytes.
 * @param {string | URL | Blob | ArrayBuffer | Uint8Array} input
 * @param {{ signal?: AbortSignal, headers?: HeadersInit, fetch?: typeof fetch, wholeBytes?: number }} options
 * @returns {Promise<Bytes>}
 */
export async function bytesOf(input, options) {
  if (input instanceof Blob) return ofBlob(input, input.name ?? "file", { requests: 0, bytes: 0 });
  if (input instanceof ArrayBuffer || ArrayBuffer.isView(input)) {
    return ofBlob(new Blob([input]), "buffer", { requests: 0, bytes: 0 });
  }
  if (typeof input !== "string" && !(input instanceof URL)) {
    throw new ParquetError("argument", "a URL, a File, a Blob or bytes can be opened");
  }
  const base = globalThis.location?.href;
  if (!URL.canParse(input, base)) throw new ParquetError("argument", `${input} is not a URL`);
  const url = new URL(input, base);
  if (url.protocol === "file:") {
    const [{ openAsBlob }, { fileURLToPath }] = await Promise.all([import("node:fs"), import("node:url")]);
    try {
      return ofBlob(await openAsBlob(fileURLToPath(url)), nameOf(url), { requests: 0, bytes: 0 });
    } catch (error) {
      throw new ParquetError("io", `${nameOf(url)}: ${error.message}`, {}, { cause: error });
    }
  }
  return new Remote(url, options).open();
}

function nameOf(url) {
  try {
    return decodeURIComponent(url.pathname.split("/").pop()) || url.host;
  } catch {
    return url.host;
  }
}

/** @returns {Bytes} */
function ofBlob(blob, name, traffic) {
  const read = async (start, end) => {
    let bytes;
    try {
      bytes = new Uint8Array(await blob.slice(start, end).arrayBuffer());
    } catch (error) {
      // Browsers refuse to read a file that has changed since it was chosen.
      throw new ParquetError("replaced", `${name} cannot be read; it may have changed`, {}, { cause: error });
    }
    if (bytes.length !== end - start) throw new ParquetError("replaced", `${name} is now shorter`);
    return bytes;
  };
  return { size: blob.size, name, isRemote: false, traffic, read };
}

/** A file at a URL, read by requests for ranges. */
class Remote {
  traffic = { requests: 0, bytes: 0 };
  isRemote = true;
  #url;
  #options;
  #identity;
  /** The end of the file, which came with the first request. */
  #tail = { start: 0, bytes: new Uint8Array() };

  constructor(url, options) {
    this.#url = url;
    this.#options = options;
    this.name = nameOf(url);
  }

  /** Finds the size of the file, and whether the server answers requests for ranges. */
  async open() {
    const size = await this.#sizeByHead();
    // Browsers send a range with both ends to other servers without asking them before. A range without a start they ask for.
    const [start, end] = size === undefined ? [0, TAIL_BYTES] : [Math.max(0, size - TAIL_BYTES), size];
    if (size === 0) return ofBlob(new Blob(), this.name, this.traffic);
    const response = await this.#fetch({ range: [start, end] });
    if (response.status === 200) return this.#whole(response);
    if (response.status !== 206) throw this.#refused(response);
    const bytes = await this.#body(response);
    const total = totalOf(response);
    if (size !== undefined && (total === undefined || total === size)) {
      this.size = size;
      this.#check(response, bytes, start, end);
      this.#tail = { start, bytes };
      return this;
    }
    if (total !== undefined) {
      this.size = total;
      if (size === undefined) this.#tail = { start, bytes };
      return this;
    }
    // The answer to HEAD and Content-Range are hidden, so only the end of the bytes shows the size.
    if (bytes.length < end) return ofBlob(new Blob([bytes]), this.name, this.traffic);
    return this.#whole(await this.#fetch({}));
  }

  async #sizeByHead() {
    let response;
    try {
      response = await this.#fetch({ method: "HEAD" });
    } catch (error) {
      if (this.#options.signal?.aborted) throw error;
      return undefined;
    }
    const length = response.headers.get("content-length");
    if (!response.ok || length === null || response.headers.has("content-encoding")) return undefined;
    this.#identity = identityOf(response);
    return Number(length);
  }

  async #fetch({ method = "GET", range, signal = this.#options.signal }) {
    const headers = new Headers(this.#options.headers);
    if (range) headers.set("Range", `bytes=${range[0]}-${range[1] - 1}`);
    this.traffic.requests += 1;
    try {
      // Chromium's cache lets ranges of a file wait for each other, and fetches some of them again.
      return await (this.#options.fetch ?? fetch)(this.#url, { method, headers, signal, cache: "no-store" });
    } catch (error) {
      if (signal?.aborted) throw error;
      const isOther = globalThis.location && this.#url.origin !== globalThis.location.origin;
      const text = isOther
        ? "the server cannot be reached, or does not allow other sites to read: it has to send Access-Control-Allow-Origin"
        : "the server cannot be reached";
      throw new ParquetError("io", `${this.name}: ${text}`, {}, { cause: error });
    }
  }

  async #body(response, signal = this.#options.signal) {
    try {
      const bytes = new Uint8Array(await response.arrayBuffer());
      this.traffic.bytes += bytes.length;
      return bytes;
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new ParquetError("io", `${this.name}: the connection ended early`, {}, { cause: error });
    }
  }

  /** Fetches the whole file, because the server has no ranges. The browser may keep it on disk. */
  async #whole(response) {
    if (!response.ok) throw this.#refused(response);
    const most = this.#options.wholeBytes ?? WHOLE_BYTES;
    const tooLarge = () =>
      new ParquetError(
        "limit",
        `${this.name}: the server sends no ranges, and the file has more than ${most} bytes; try the option \`wholeBytes\``,
      );
    if (Number(response.headers.get("content-length") ?? 0) > most) {
      await response.body?.cancel();
      throw tooLarge();
    }
    const parts = [];
    let length = 0;
    try {
      for (const reader = response.body.getReader(); ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        parts.push(value);
        length += value.length;
        this.traffic.bytes += value.length;
        if (length > most) {
          await reader.cancel();
          throw tooLarge();
        }
      }
    } catch (error) {
      if (error instanceof ParquetError || this.#options.signal?.aborted) throw error;
      throw new ParquetError("io", `${this.name}: the connection ended early`, {}, { cause: error });
    }
    return ofBlob(new Blob(parts), this.name, this.traffic);
  }

  #refused(response) {
    return new ParquetError("io", `${this.name}: the server answered ${response.status} ${response.statusText}`.trimEnd());
  }

  /** Compares an answer with the request, and with the first answer, as far as the server lets us see. */
  #check(response, bytes, start, end) {
    const identity = identityOf(response);
    this.#identity ??= identity;
    const [total, first] = [totalOf(response), startOf(response)];
    const isOther =
      (identity !== undefined && identity !== this.#identity) || (total !== undefined && total !== this.size);
    if (isOther) throw new ParquetError("replaced", `${this.name} was replaced while it was read`);
    if (bytes.length !== end - start || (first !== undefined && first !== start)) {
      const text = `${this.name}: the server sent ${bytes.length} bytes for the range ${start}..${end}`;
      throw new ParquetError("io", text);
    }
  }

  async read(start, end, signal) {
    const { start: tailStart, bytes: tail } = this.#tail;
    if (start >= tailStart && end <= tailStart + tail.length) return tail.slice(start - tailStart, end - tailStart);
    const response = await this.#fetch({ range: [start, end], signal });
    if (response.status !== 206) {
      await response.body?.cancel();
      throw response.ok
        ? new ParquetError("io", `${this.name}: the server sends no ranges any more`)
        : this.#refused(response);
    }
    const bytes = await this.#body(response, signal);
    this.#check(response, bytes, start, end);
    return bytes;
  }
}

/** Returns a text that changes with the file, unless the server hides all such headers. */
function identityOf(response) {
  return response.headers.get("etag") ?? response.headers.get("last-modified") ?? undefined;
}

/** Returns the size of the file by Content-Range, if it is visible. */
function totalOf(response) {
  const total = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
  return total ? Number(total[1]) : undefined;
}

function startOf(response) {
  const start = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "");
  return start ? Number(start[1]) : undefined;
}

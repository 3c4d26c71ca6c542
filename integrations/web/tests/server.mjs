// A server of files that behaves as servers do: `?mode=` names the habits.
//
// no-head: refuses HEAD. no-ranges: ignores Range. hidden-headers: other sites see neither ETag nor Content-Range. replaced: the file changes
// after two requests. short: later answers lack a byte. slow: later answers take ten seconds. delay=MS: each answer waits.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".wasm": "application/wasm", ".svg": "image/svg+xml" };

/** Serves the files of folders, at a port of its choice. The first folder that has a file counts. */
export async function serve(...folders) {
  const requests = [];
  const seen = new Map();
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });

  async function answer(request, response) {
    const url = new URL(request.url, "http://localhost");
    const modes = new Set((url.searchParams.get("mode") ?? "").split(","));
    const entry = { method: request.method, path: url.pathname, range: request.headers.range, bytes: 0 };
    requests.push(entry);
    const count = (seen.get(request.url) ?? 0) + 1;
    seen.set(request.url, count);
    await new Promise((resume) => setTimeout(resume, Number(url.searchParams.get("delay") ?? 0)));
    if (modes.has("slow") && count > 2) await new Promise((resume) => setTimeout(resume, 10_000).unref());
    if (!modes.has("no-cors")) response.setHeader("Access-Control-Allow-Origin", "*");
    if (!modes.has("hidden-headers")) {
      response.setHeader("Access-Control-Expose-Headers", "ETag, Content-Range");
      response.setHeader("ETag", modes.has("replaced") && count > 2 ? '"b"' : '"a"');
    }
    if (request.method === "OPTIONS") {
      return response.writeHead(204, { "Access-Control-Allow-Headers": "Range", "Access-Control-Allow-Methods": "GET, HEAD" }).end();
    }
    if (request.method === "HEAD" && modes.has("no-head")) return response.writeHead(405).end();
    const path = url.pathname.replace(/\/$/, "/index.html");
    const bytes = await find(decodeURIComponent(path));
    if (bytes === undefined) return response.writeHead(404).end();
    response.setHeader("Content-Type", TYPES[extname(path)] ?? "application/octet-stream");
    const range = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "");
    if (!range || modes.has("no-ranges")) {
      response.setHeader("Content-Length", bytes.length);
      entry.bytes = request.method === "HEAD" ? 0 : bytes.length;
      return response.writeHead(200).end(request.method === "HEAD" ? undefined : bytes);
    }
    const isSuffix = range[1] === "";
    const start = isSuffix ? Math.max(0, bytes.length - Number(range[2])) : Number(range[1]);
    const last = isSuffix || range[2] === "" ? bytes.length : Number(range[2]) + 1;
    const end = Math.min(last, bytes.length) - (modes.has("short") && count > 2 ? 1 : 0);
    // Node's fetch shows all headers, as a browser does for a server's own pages, so that this one is left out.
    if (!modes.has("hidden-headers")) response.setHeader("Content-Range", `bytes ${start}-${end - 1}/${bytes.length}`);
    entry.bytes = end - start;
    return response.writeHead(206).end(bytes.subarray(start, end));
  }

  async function find(path) {
    for (const folder of folders) {
      const url = new URL(`.${path}`, folder);
      if (!url.href.startsWith(folder.href)) continue;
      const bytes = await readFile(fileURLToPath(url)).catch(() => undefined);
      if (bytes !== undefined) return bytes;
    }
    return undefined;
  }

  await new Promise((resume) => server.listen(0, "127.0.0.1", resume));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    requests,
    origin,
    url: (path, mode) => `${origin}/${path}${mode ? `?mode=${mode}` : ""}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

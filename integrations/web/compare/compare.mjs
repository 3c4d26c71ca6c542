// Compares packages in Chromium: `SITE=… DATA=… MODULES=…/node_modules node compare.mjs`, with the folders of the site, of data.py, and of the
// packages in package.json. It prints a row for each task and package: bytes of code, requests and bytes of the file, and milliseconds.

import { gzipSync } from "node:zlib";
import { pathToFileURL } from "node:url";

import { Browser, chromium } from "../tests/chromium.mjs";
import { serve } from "../tests/server.mjs";

const { SITE, DATA, MODULES } = process.env;
const RUNS = 3;
const folder = (path) => pathToFileURL(`${path}/`);
const code = await serve(folder(SITE), folder(MODULES), new URL(".", import.meta.url));
const data = await serve(folder(DATA));
const browser = new Browser(chromium());

/** Runs a task in a new page, and returns its bytes, requests and time. */
async function run(name, task, url) {
  await browser.open(`${code.origin}/compare.html`);
  const [codeBefore, dataBefore] = [code.requests.length, data.requests.length];
  const { rows, milliseconds } = await browser.evaluate(`window.run(${JSON.stringify(name)}, ${JSON.stringify(task)}, ${JSON.stringify(url)})`);
  const loaded = new Set(code.requests.slice(codeBefore).map(({ path }) => path));
  let bytes = 0;
  for (const path of loaded) bytes += gzipSync(Buffer.from(await (await fetch(code.origin + path)).arrayBuffer()), { level: 9 }).length;
  const asked = data.requests.slice(dataBefore);
  return { rows, milliseconds, code: bytes, requests: asked.length, fetched: asked.reduce((sum, it) => sum + it.bytes, 0) };
}

const tasks = [
  ["20 rows of a local file", "first", data.url("million.parquet"), "local"],
  ["20 rows of a URL, 50 ms", "first", `${data.url("million.parquet")}?delay=50`],
  ["one row by its id, 50 ms", "find", `${data.url("million.parquet")}?delay=50`],
  ["all rows of a URL", "all", data.url("million.parquet")],
];
for (const [title, task, url, place] of tasks) {
  for (const name of ["herringbone", "parquet-wasm", "hyparquet", "duckdb"]) {
    const runs = [];
    try {
      for (let at = 0; at < RUNS; at += 1) runs.push(await run(name, place === "local" ? `${task}-local` : task, url));
    } catch (error) {
      console.log(`| ${title} | ${name} | ${error.message.split("\n")[0]} |`);
      continue;
    }
    const best = runs.sort((a, b) => a.milliseconds - b.milliseconds)[0];
    const requests = place === "local" ? "" : `${best.requests} | ${best.fetched.toLocaleString("en")}`;
    console.log(`| ${title} | ${name} | ${best.rows} | ${best.code.toLocaleString("en")} | ${requests} | ${Math.round(best.milliseconds)} |`);
  }
}
await browser.close();
code.close();
data.close();

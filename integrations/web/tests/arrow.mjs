// Writes rows as Arrow IPC, which arrow.py compares: `PACKAGE=…/index.js node arrow.mjs FOLDER`.

import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

const { open } = await import(pathToFileURL(process.env.PACKAGE));
const [folder] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const pyarrow = new URL("../../../testdata/pyarrow/", import.meta.url);
for (const name of readdirSync(pyarrow).filter((name) => name.endsWith(".parquet"))) {
  const url = new URL(name, pyarrow);
  const file = await open(url);
  writeFileSync(`${folder}/${name}.arrow`, await file.rows({ as: "arrow" }));
  writeFileSync(`${folder}/${name}.path`, fileURLToPath(url));
  file.close();
}

// The values that files of testdata/ have, by the scripts that made them.

import { readFileSync, readdirSync } from "node:fs";

export const testdata = new URL("../../../testdata/", import.meta.url);

/** Returns the columns of a file of testdata/ whose JSON has the form of our own, by name. */
function expectation(url) {
  const { rows, columns } = JSON.parse(readFileSync(url, "utf8").replace(/(?<=[[,:])(NaN|-?Infinity)/g, '"$1"'));
  const simple = /^(u?int(8|16|32)|bool|utf8)$/;
  return { rows, columns: columns.filter(({ type, values }) => values && simple.test(type)) };
}

/** Returns the files of all writers, as paths below testdata/, each with its rows and columns. */
export function* files() {
  for (const folder of ["built", "pyarrow", "duckdb", "polars", "fastparquet"]) {
    for (const name of readdirSync(new URL(`${folder}/`, testdata))) {
      if (!name.endsWith(".parquet")) continue;
      const path = `${folder}/${name}`;
      yield { path, ...expectation(new URL(path.replace(/parquet$/, "json"), testdata)) };
    }
  }
}

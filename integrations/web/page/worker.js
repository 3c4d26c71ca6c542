// The file, in a thread of its own, so that the page never waits for a read.

import { open } from "./package/index.js";

/** The most positions of filtered rows that are kept: eight bytes for each. */
const MAX_POSITIONS = 20_000_000;

let file;
const running = new Map();

/** Timestamps of any year, instead of an error for those after 2262. */
const int96Unit = "us";

const methods = {
  async open({ input, options }, signal) {
    const opened = await open(input, { ...options, signal });
    file?.close();
    file = opened;
    const metadata = file.metadata();
    const chunks = metadata.row_groups.flatMap((rowGroup) => rowGroup.columns);
    return {
      name: file.name,
      size: file.size,
      numRows: metadata.num_rows,
      numRowGroups: metadata.row_groups.length,
      numColumns: metadata.columns.length,
      codecs: [...new Set(chunks.map((chunk) => chunk.compression ?? "encrypted"))],
      createdBy: metadata.created_by,
      schema: file.schema(),
    };
  },
  rows: (options, signal) => file.rows({ ...options, int96Unit, signal }),
  /** Returns the positions of the rows that a condition selects. */
  async positions({ where }, signal, progress) {
    let positions = new Float64Array(1024);
    let length = 0;
    for await (const rows of file.stream({ where, columns: [], rowNumbers: "row", signal })) {
      for (const { row } of rows) {
        if (length === MAX_POSITIONS) throw new Error(`the condition selects more than ${MAX_POSITIONS} rows, which this page cannot list`);
        if (length === positions.length) {
          const longer = new Float64Array(2 * length);
          longer.set(positions);
          positions = longer;
        }
        positions[length] = row;
        length += 1;
      }
      progress(`${length.toLocaleString("en")} rows so far`);
    }
    return positions.slice(0, length);
  },
  explain: (options, signal) => file.explain({ ...options, signal }),
  report: (options, signal) => file.report({ ...options, signal }),
  stats: async () => file.stats(),
  save: (options, signal) => file.save({ ...options, int96Unit, signal }),
  traffic: async () => file?.traffic,
};

addEventListener("message", async ({ data: { id, method, parameters, cancelled } }) => {
  if (cancelled !== undefined) {
    running.get(cancelled)?.abort();
    return;
  }
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const progress = (text) => postMessage({ id, progress: text });
    const result = await methods[method](parameters, controller.signal, progress);
    postMessage({ id, result });
  } catch (error) {
    postMessage({ id, error: { name: error.name, kind: error.kind, message: error.message } });
  } finally {
    running.delete(id);
  }
});

/** The kind of a {@link ParquetError}. */
export type ErrorKind =
  | "corrupt"
  | "unsupported"
  | "limit"
  | "feature"
  | "argument"
  | "key"
  | "io"
  | "replaced"
  | "bug";

/** An error with its kind and its place in the file, as far as it is known. A cancelled call fails with the signal's reason. */
export class ParquetError extends Error {
  readonly kind: ErrorKind;
  readonly column: string | null;
  readonly rowGroup: number | null;
  readonly page: number | null;
  readonly offset: number | null;
}

export interface OpenOptions {
  /** Cancels the call. */
  signal?: AbortSignal;
  /** Headers of each request, such as `Authorization`. */
  headers?: HeadersInit;
  /** A function in place of `fetch`. */
  fetch?: typeof fetch;
  /** The most bytes of a file that a server without ranges may send. The default is 256 MiB. */
  wholeBytes?: number;
  /** The most bytes of memory of a read. The default is 1 GiB. */
  memoryBytes?: number;
  /** Keys of an encrypted file: the members of the command's keys file, such as `{ footer_key: "…" }` in base64. */
  keys?: object | string;
}

export interface ReadOptions {
  /** Cancels the call. */
  signal?: AbortSignal;
  /** Names of columns, and paths of nested ones, such as `["id", ["origin", "country"]]`. The default is all. */
  columns?: (string | string[])[];
  /** A condition in SQL, such as `fare > 5 and city in ('Rome', 'Oslo')`. */
  where?: string;
  limit?: number;
  offset?: number;
  /** The most rows of a batch. */
  batchRows?: number;
  rowGroups?: number[];
  /** Ranges of rows of the file, each from its start to before its end. */
  rowRanges?: [start: number, end: number][];
  /** The name of an additional column with the position of each row in the file. */
  rowNumbers?: string;
  /** What becomes of damaged parts. The default is `"fail"`. */
  onError?: "fail" | "nullPage" | "skipRowGroup";
  /** The unit of INT96 timestamps. The default is `"ns"`, which ends in the year 2262. */
  int96Unit?: "s" | "ms" | "us" | "ns";
}

/** A row. Integers beyond 2⁵³ are a `BigInt`, decimals are text, binary is base64, and times are ISO 8601. */
export type Row = Record<string, unknown>;

export interface Metadata {
  created_by: string | null;
  version: number;
  num_rows: number;
  columns: {
    path: string[];
    physical_type: string | null;
    type_length: number | null;
    logical_type: string | null;
    field_id: number | null;
  }[];
  key_value_metadata: { key: string; value: string | number[] | null }[];
  row_groups: {
    num_rows: number;
    total_byte_size: number;
    columns: (ColumnChunk | { is_encrypted: true })[];
  }[];
}

export interface ColumnChunk {
  path: string;
  compression: string;
  encodings: string[];
  num_values: number;
  null_count: number | null;
  compressed_bytes: number;
  uncompressed_bytes: number;
  data_page_offset: number;
  dictionary_page_offset: number | null;
  bloom_filter_offset: number | null;
  has_page_index: boolean;
}

export interface Field {
  name: string;
  /** The Arrow type. */
  type: string;
  /** The name of an Arrow extension type. */
  extension: string | null;
  nullable: boolean;
  children: Field[];
}

/** Bounds and counts of a row group or a page. */
export interface Bounds {
  min: unknown;
  max: unknown;
  is_min_exact: boolean | null;
  is_max_exact: boolean | null;
  null_count: number | null;
  nan_count: number | null;
  distinct_count: number | null;
  row_count: number | null;
}

export interface ColumnStats {
  path: string[];
  /** The type's name in SQL. */
  type: string;
  /** The bounds of each row group, or null if there are none, or more than a thousand row groups. */
  rowGroups: Bounds[] | null;
}

export interface Explanation {
  row_group: number;
  rows: number;
  /** What each step knows after it: rows that are ruled out, rows that are accepted, and the bytes that it reads. */
  steps: { step: string; ruled_out: number; accepted: number; bytes: number }[];
  rows_to_test: number;
  wanted_bytes: number;
  fetched_bytes: number;
  requests: number;
}

export interface Report {
  findings: { kind: string; message: string; command: string | null }[];
  /** A whole page in HTML, with a policy that runs no script but its own. */
  html: string;
}

export interface ParquetFile {
  readonly name: string;
  readonly size: number;
  readonly numRows: number;
  /** The requests so far, and the bytes of their answers. A local file has none. */
  readonly traffic: { requests: number; bytes: number };
  metadata(): Metadata;
  schema(): Field[];
  /** Returns bounds and counts of each column, from the metadata. */
  stats(): ColumnStats[];
  /** Returns bounds and counts of a column chunk's pages, or null if it has no page index. */
  pageBounds(rowGroup: number, column: string | string[], options?: { signal?: AbortSignal }): Promise<Bounds[] | null>;
  /** Returns the rows that a read rules out without reading values, and the bytes that it would fetch. */
  explain(options?: ReadOptions): Promise<Explanation[]>;
  /** Returns findings about the file. With `verify`, it reads all bytes, and compares them with the metadata. */
  report(options?: { verify?: boolean; signal?: AbortSignal }): Promise<Report>;
  /** Returns rows as objects, or as an Arrow IPC stream. */
  rows(options?: ReadOptions & { as?: "objects" }): Promise<Row[]>;
  rows(options: ReadOptions & { as: "arrow" }): Promise<Uint8Array>;
  /** Returns batches one after the other, as objects, or each as an Arrow IPC stream. Ending the loop ends the read. */
  stream(options?: ReadOptions & { as?: "objects" }): AsyncGenerator<Row[]>;
  stream(options: ReadOptions & { as: "arrow" }): AsyncGenerator<Uint8Array>;
  /** Returns rows as a file. */
  save(options: ReadOptions & { format: "csv" | "json" | "arrow" | "parquet" }): Promise<Blob>;
  /** Frees the memory of the file. */
  close(): void;
}

/** Opens a URL, a `File` or another `Blob`, or bytes. In node, URLs may be those of local files. */
export function open(
  input: string | URL | Blob | ArrayBuffer | Uint8Array,
  options?: OpenOptions,
): Promise<ParquetFile>;

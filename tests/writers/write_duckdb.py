"""Files of DuckDB. Its tables come from JSON lines."""

import sys
from pathlib import Path

import duckdb

import tables
import writer

ENUM = "ENUM (" + ", ".join(f"'{w}'" for w in tables.WORDS) + ")"
# The type of the column, and how it comes from the type in JSON, if that is another.
TYPES = {
    "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT", "uint8": "UTINYINT",
    "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT", "digit": "INTEGER", "float": "FLOAT", "double": "DOUBLE",
    "text": "VARCHAR", "word": "VARCHAR", "category": ("VARCHAR", "{}::category"), "binary": ("VARCHAR", "from_base64({})"),
    "date": "DATE", "stamp_ms": ("VARCHAR", "{}::TIMESTAMP_MS"), "stamp_us": ("VARCHAR", "{}::TIMESTAMP"), "stamp_ns": ("VARCHAR", "{}::TIMESTAMP_NS"),
    "instant": ("VARCHAR", "({} || '+00')::TIMESTAMPTZ"), "time": "TIME",
    "decimal_9_2": ("VARCHAR", "{}::DECIMAL(9, 2)"), "decimal_18_4": ("VARCHAR", "{}::DECIMAL(18, 4)"),
    "decimal_38_10": ("VARCHAR", "{}::DECIMAL(38, 10)"),
    "list_int": "INTEGER[]", "list_text": "VARCHAR[]", "list_list": "INTEGER[][]", "struct": "STRUCT(a INTEGER, b VARCHAR)",
    "list_struct": "STRUCT(a INTEGER, b VARCHAR)[]", "struct_list": "STRUCT(n INTEGER, l INTEGER[])",
    "map": ("VARCHAR[][]", "CASE WHEN {0} IS NULL THEN NULL ELSE map(list_transform({0}, x -> x[1]), "
            "list_transform({0}, x -> x[2]::INTEGER)) END"),
}
OPTIONS = [
    {},
    {"CODEC": "uncompressed"},
    {"PARQUET_VERSION": "v2"},
    {"CODEC": "zstd", "ROW_GROUP_SIZE": 2048},
    {"PARQUET_VERSION": "v2", "CODEC": "uncompressed", "DICTIONARY_SIZE_LIMIT": 1},
]
connection = duckdb.connect()
connection.execute("SET threads = 1; SET preserve_insertion_order = true")
connection.execute(f"CREATE TYPE category AS {ENUM}")
made = set()


def source(names, rows):
    """Creates the table, unless it is there."""
    name = f"t{rows}_{'_'.join(names)}" if len(names) < 5 else f"t{rows}_{names[0]}_{len(names)}"
    if name in made:
        return name
    path = folder / "source.jsonl"
    path.write_text(tables.json_lines(names, rows) or tables.json_lines(names, 1))
    types = [TYPES[tables.kind_of(n)] for n in names]
    stored = ", ".join(f"{n}: '{t if isinstance(t, str) else t[0]}'" for n, t in zip(names, types))
    read = ", ".join(n if isinstance(t, str) else f"{t[1].format(n)} AS {n}" for n, t in zip(names, types))
    connection.execute(f"CREATE TABLE {name} AS SELECT {read} FROM read_ndjson('{path}', columns={{{stored}}}) LIMIT {rows}")
    path.unlink()
    made.add(name)
    return name


def write(path, names, rows, options):
    options = "".join(f", {name} {value}" for name, value in options.items())
    connection.execute(f"COPY {source(names, rows)} TO '{path}' (FORMAT parquet{options})")


folder = Path(sys.argv[1])
version = tuple(int(part) for part in duckdb.__version__.split("."))
if version < (1, 1):
    # It casts them to microseconds.
    del TYPES["stamp_ns"]
if version == (1, 3, 0):
    # It crashes with this limit.
    del OPTIONS[4]["DICTIONARY_SIZE_LIMIT"]
writer.Writer(write, OPTIONS, TYPES, structs_of_nulls=version < (0, 8)).run()

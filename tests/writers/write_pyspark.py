"""Files of Spark, from JSON lines: those of parquet-java."""

import shutil
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import tables
import writer

STRUCT = "struct<a: int, b: string>"
TYPES = {
    "bool": "boolean", "int8": "tinyint", "int16": "smallint", "int32": "int", "int64": ("string", "cast({} as bigint)"), "digit": "int",
    "float": "float", "double": "double", "text": "string", "word": "string", "category": "string", "binary": ("string", "unbase64({})"),
    "date": ("string", "cast({} as date)"), "stamp_us": ("string", "cast({} as timestamp_ntz)"),
    "instant": ("string", "cast(concat({}, 'Z') as timestamp)"),
    "decimal_9_2": ("string", "cast({} as decimal(9, 2))"), "decimal_18_4": ("string", "cast({} as decimal(18, 4))"),
    "decimal_38_10": ("string", "cast({} as decimal(38, 10))"),
    "list_int": "array<int>", "list_text": "array<string>", "list_list": "array<array<int>>", "struct": STRUCT,
    "list_struct": f"array<{STRUCT}>", "struct_list": "struct<n: int, l: array<int>>",
}
OPTIONS = [
    {},
    {"compression": "uncompressed", "parquet.writer.version": "PARQUET_2_0"},
    {"compression": "gzip", "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS", "parquet.page.size": "100"},
    {"spark.sql.parquet.writeLegacyFormat": "true", "parquet.enable.dictionary": "false"},
    {"compression": "zstd", "parquet.writer.version": "PARQUET_2_0", "parquet.page.row.count.limit": "20", "parquet.block.size": "1000"},
]
folder = Path(sys.argv[1]).resolve()
spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.shuffle.partitions", "1").config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
frames = {}


def frame(names, rows):
    key = (tuple(names), rows)
    if key not in frames:
        frames.clear()
        path = folder / f"source-{len(list(folder.iterdir()))}.jsonl"
        path.write_text(tables.json_lines(names, rows))
        types = [TYPES[tables.kind_of(name)] for name in names]
        schema = ", ".join(f"{name} {of if isinstance(of, str) else of[0]}" for name, of in zip(names, types))
        read = [name if isinstance(of, str) else f"{of[1].format(name)} as {name}" for name, of in zip(names, types)]
        frames[key] = spark.read.schema(schema).json(str(path)).selectExpr(*read).coalesce(1).cache()
        frames[key].count()
        path.unlink()
    return frames[key]


def write(path, names, rows, options):
    of_session = {name: value for name, value in options.items() if name.startswith("spark.")}
    for name, value in of_session.items():
        spark.conf.set(name, value)
    out = folder / "out"
    writes = frame(names, rows).write.mode("overwrite")
    writes.options(**{name: value for name, value in options.items() if name not in of_session}).parquet(str(out))
    for name in of_session:
        spark.conf.unset(name)
    parts = list(out.glob("*.parquet"))
    assert len(parts) == 1, f"{len(parts)} files"
    parts[0].rename(path)
    shutil.rmtree(out)


writer.Writer(write, OPTIONS, TYPES).run()

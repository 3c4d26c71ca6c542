"""Compares what parquet-java reads from written files with what went in.

    python tests/interop_spark.py [target/debug/herringbone]

Needs pyspark, pyarrow and a Java that this pyspark runs on (Java 17 for pyspark 4), so it is run by hand and is
no part of the checks. pyarrow makes a table of the main types; `herringbone rewrite` writes it with several codecs,
encodings, page versions and sizes. Spark has to read the values of the table, with and without vectors, and find rows by
conditions that it checks against bounds, page indexes, dictionaries and bloom filters first.
"""

import datetime as dt
import decimal
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[1]
ROWS = 3000
UTC = dt.timezone.utc
TINY = ["--page-rows", "50", "--row-group-rows", "700"]
VARIANTS = {
    "defaults": [],
    "modern": ["--compatibility", "modern"],
    "modern, no dictionaries": ["--compatibility", "modern", "--dictionary", "off", "--compression", "none"],
    "snappy, small pages": ["--compression", "snappy", *TINY],
    "gzip, version 2": ["--compression", "gzip", "--page-version", "2", *TINY],
    "lz4_raw, plain": ["--compression", "lz4_raw", "--dictionary", "off"],
    "delta": ["--encoding", "delta_binary_packed", "--encoding", "delta_byte_array", "--encoding", "rle", *TINY],
    "byte_stream_split": ["--encoding", "byte_stream_split", *TINY],
    "newest": ["--compatibility", "newest", "--encoding", "float,double=byte_stream_split"],
    "newest, no dictionaries": [
        "--compatibility", "newest", "--encoding", "float,double=byte_stream_split", "--dictionary", "off"],
    "bloom filters": ["--bloom-filter", "int64,string", *TINY],
}


def table():
    r = random.Random(1)

    def some(make, share=0.1):
        return [None if r.random() < share else make(i) for i in range(ROWS)]

    def cents(i, factor):
        return decimal.Decimal(i * factor).scaleb(-2)

    instant = dt.datetime(2020, 1, 1, tzinfo=UTC)
    return pa.table({
        "int8": pa.array(some(lambda i: i % 256 - 128), pa.int8()),
        "int16": pa.array(some(lambda i: i % 60000 - 30000), pa.int16()),
        "int32": pa.array(some(lambda i: r.randint(-2**31, 2**31 - 1)), pa.int32()),
        "int64": pa.array(some(lambda i: i * 1000003), pa.int64()),
        "few": pa.array([i % 7 for i in range(ROWS)], pa.int32()),
        "float": pa.array(some(lambda i: i / 4), pa.float32()),
        "double": pa.array(some(lambda i: r.random()), pa.float64()),
        "bool": pa.array(some(lambda i: r.random() < 0.5), pa.bool_()),
        "string": pa.array(some(lambda i: f"value {r.randrange(3000)}")),
        "unique": pa.array([f"unique {i} {i * 7919 % ROWS} \u65e5" for i in range(ROWS)]),
        "binary": pa.array(some(lambda i: bytes([i % 256]) * (i % 9)), pa.binary()),
        "decimal9": pa.array(some(lambda i: cents(i, -1)), pa.decimal128(9, 2)),
        "decimal18": pa.array(some(lambda i: cents(i, 1)), pa.decimal128(18, 2)),
        "decimal30": pa.array(some(lambda i: cents(i, -10**20)), pa.decimal128(30, 2)),
        "date": pa.array(some(lambda i: dt.date(2000, 1, 1) + dt.timedelta(i)), pa.date32()),
        "instant": pa.array(
            some(lambda i: instant + dt.timedelta(seconds=i * 3601, microseconds=i)), pa.timestamp("us", "UTC")),
        "list": pa.array(
            some(lambda i: [None if r.random() < 0.1 else j for j in range(r.randrange(6))]), pa.list_(pa.int32())),
        "lists": pa.array(
            some(lambda i: [[str(k) for k in range(r.randrange(4))] for _ in range(r.randrange(4))]),
            pa.list_(pa.list_(pa.string()))),
        "struct": pa.array(
            some(lambda i: {"a": i, "b": None if i % 3 else f"x{i}"}),
            pa.struct([("a", pa.int64()), ("b", pa.string())])),
        "map": pa.array(
            some(lambda i: [(f"k{j}", i * j) for j in range(r.randrange(4))]), pa.map_(pa.string(), pa.int64())),
    })


def normal(value):
    """Values that compare across both: maps as dictionaries, floats by all their digits, instants without a zone."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, dt.datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).replace(tzinfo=None)
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, dict):
        return {k: normal(v) for k, v in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(v, tuple) and len(v) == 2 and not hasattr(v, "asDict") for v in value):
            return {k: normal(v) for k, v in value}
        return [normal(v) for v in value]
    return value


def empty_maps(values):
    return [{} if value == [] else value for value in values]


def conditions(made):
    """Conditions, and how many rows meet them."""
    def count(column, meets):
        return sum(value is not None and meets(value) for value in made[column].to_pylist())
    half = decimal.Decimal("0.50")
    return {
        "int64 = 77000231": count("int64", lambda v: v == 77000231),
        "int64 = 77000232": 0,
        "string = 'value 5'": count("string", lambda v: v == "value 5"),
        "string > 'value 9'": count("string", lambda v: v > "value 9"),
        "decimal18 < 0.50": count("decimal18", lambda v: v < half),
        "decimal30 >= 0": count("decimal30", lambda v: v >= 0),
        "date < date '2001-01-01'": count("date", lambda v: v < dt.date(2001, 1, 1)),
        "double > 0.5": count("double", lambda v: v > 0.5),
        "few = 3": count("few", lambda v: v == 3),
        "int8 is null": made["int8"].null_count,
    }


def main():
    # Spark gives instants in the time zone of the process.
    os.environ["TZ"] = "UTC"
    time.tzset()
    command = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "debug" / "herringbone")
    made = table()
    wanted = {name: [normal(value) for value in made[name].to_pylist()] for name in made.column_names}
    wanted["map"] = empty_maps(wanted["map"])
    spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
             .config("spark.sql.session.timeZone", "UTC").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source.parquet"
        pq.write_table(made, source)
        for name, options in VARIANTS.items():
            target = Path(folder) / "target" / f"{name.replace(', ', '_').replace(' ', '_')}.parquet"
            target.parent.mkdir(exist_ok=True)
            subprocess.run([command, "rewrite", "-q", *options, source, target], check=True)
            for vectors in ("true", "false"):
                spark.conf.set("spark.sql.parquet.enableVectorizedReader", vectors)
                about = f"{name}, vectors {vectors}"
                try:
                    rows = spark.read.parquet(str(target)).collect()
                except Exception as error:  # noqa: BLE001: whatever it throws is a fault
                    faults.append(f"{about}: {str(error)[:300]}")
                    continue
                for column in made.column_names:
                    got = [normal(row[column]) for row in rows]
                    if got != wanted[column]:
                        at = next((i for i, (a, b) in enumerate(zip(got, wanted[column])) if a != b), len(got))
                        faults.append(
                            f"{about}: {column}, row {at}: {got[at:at + 1]}, not {wanted[column][at:at + 1]}")
                for condition, expected in conditions(made).items():
                    found = spark.read.parquet(str(target)).where(condition).count()
                    if found != expected:
                        faults.append(f"{about}: {condition} finds {found} rows, not {expected}")
    spark.stop()
    for fault in faults:
        print(fault)
    print(f"{2 * len(VARIANTS)} readings, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

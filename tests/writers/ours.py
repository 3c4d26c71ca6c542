"""Reads files of the command with the version of a peer on PYTHONPATH: `ours.py NAME FOLDER`.

FOLDER has `index.jsonl` with the files and their columns. Prints a line for each file: its name, and "right", or a fault. Values
come back as JSON lines, and are compared with those of the table.
"""

import base64
import datetime as dt
import decimal
import functools
import json
import os
import sys
from pathlib import Path

import tables

EPOCH = dt.datetime(1970, 1, 1)


def with_duckdb(path):
    import duckdb

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'") if duckdb.__version__ >= "0.8" else None
    cursor = connection.execute(f"SELECT * FROM read_parquet('{path}')")
    names = [column[0] for column in cursor.description]
    return dict(zip(names, zip(*cursor.fetchall())))


def with_pyarrow(path):
    import pyarrow.parquet as pq

    return columns_of(pq.read_table(path, use_threads=False))


def columns_of(table):
    """The columns of a table of pyarrow as lists."""
    import pyarrow as pa

    found = {}
    for name, column in zip(table.column_names, table.columns):
        # Python has no nanoseconds.
        if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
            column = pa.chunked_array([chunk.view(pa.int64()) for chunk in column.chunks])
        found[name] = column.to_pylist()
    return found


def with_polars(path):
    import polars

    frame = polars.read_parquet(path, use_pyarrow=False)
    found = {}
    for name in frame.columns:
        column = frame[name]
        if column.dtype == polars.Datetime("ns"):
            column = column.cast(polars.Int64)
        found[name] = column.to_list()
    return found


def with_fastparquet(path):
    import fastparquet
    import pandas

    frame = fastparquet.ParquetFile(str(path)).to_pandas()
    found = {}
    for name in frame.columns:
        column = frame[name]
        missing = column.isna()
        values = column.astype("int64") if str(column.dtype).startswith("datetime64[ns") else column
        scale = {"u": 1000, "m": 10**6, "s": 10**9}.get(str(column.dtype)[11:12])
        if scale:
            values = column.astype("int64") * scale
        found[name] = [None if gone else value for gone, value in zip(missing, values.tolist())]
    assert pandas
    return found


@functools.cache
def spark_session():
    from pyspark.sql import SparkSession

    local = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.ui.enabled": "false"}
    builder = SparkSession.builder.master("local[1]").config(map={**local, "spark.sql.session.timeZone": "UTC"})
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def with_pyspark(path):
    frame = spark_session().read.parquet(str(path.resolve()))
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    return {name: [row[name] for row in rows] for name in frame.columns}


def with_parquet(path):
    import subprocess

    import pyarrow as pa

    program = Path(os.environ["WRITER"]) / "writer"
    done = subprocess.run([program, "read", path], capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode())
    return columns_of(pa.ipc.open_stream(done.stdout).read_all())


def plain(kind, value):
    """A value of the peer in the form of the tables."""
    if value is None:
        return None
    if kind in ("stamp_ms", "stamp_us", "stamp_ns", "instant") and isinstance(value, int):
        moment = EPOCH + dt.timedelta(seconds=value // 10**9)
        return shortened(f"{moment.isoformat()}.{value % 10**9:09}")
    if isinstance(value, (dt.datetime, dt.time)) and kind != "date":
        return shortened(value.replace(tzinfo=None).isoformat())
    if kind == "date":
        if isinstance(value, int):
            return (EPOCH + dt.timedelta(seconds=value // 10**9)).date().isoformat()
        return (value.date() if isinstance(value, dt.datetime) else value).isoformat()
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    if kind == "map":
        if isinstance(value, dict):
            pairs = zip(value["key"], value["value"]) if set(value) == {"key", "value"} else value.items()
            return [list(pair) for pair in pairs]
        return [list(pair.values()) if isinstance(pair, dict) else list(pair) for pair in value]
    if isinstance(value, (list, tuple)):
        return [plain("", element) for element in value]
    if isinstance(value, dict):
        return {name: plain("", field) for name, field in value.items()}
    return value


def shortened(text):
    return text.rstrip("0").rstrip(".") if "." in text else text


def wanted(kind, value):
    if value is None:
        return None
    if kind.startswith("decimal"):
        return decimal.Decimal(value)
    return shortened(value) if kind in ("stamp_ms", "stamp_us", "stamp_ns", "instant", "time") else value


def fault(file, found, structs_of_nulls):
    expected = tables.table(file["columns"], file["rows"], structs_of_nulls)
    if list(found) != file["columns"] and file["rows"]:
        return f"columns {list(found)}"
    for name in file["columns"] if file["rows"] else ():
        kind = tables.kind_of(name)
        theirs = [plain(kind, value) for value in found[name]]
        ours = [wanted(kind, value) for value in expected[name]]
        if len(theirs) != len(ours):
            return f"{len(theirs)} rows, not {len(ours)}"
        for at, (a, b) in enumerate(zip(theirs, ours)):
            # fastparquet has decimals as floats.
            if a != b and not (isinstance(a, float) and isinstance(b, decimal.Decimal) and abs(a - float(b)) <= abs(a) * 1e-12):
                return f"{name}, row {at}: {a!r}, not {b!r}"
    return None


def main():
    name, folder = sys.argv[1], Path(sys.argv[2])
    readers = {"duckdb": with_duckdb, "pyarrow": with_pyarrow, "polars": with_polars, "fastparquet": with_fastparquet}
    read = {**readers, "pyspark": with_pyspark, "parquet": with_parquet}[name]
    for line in (folder / "index.jsonl").read_text().splitlines():
        file = json.loads(line)
        try:
            # Structs of polars cannot be null before 1.0.
            found = fault(file, read(folder / file["file"]), name == "polars")
        except BaseException as error:
            found = "refused: " + " ".join(f"{type(error).__name__}: {error}".split())[:300]
        print(json.dumps([file["file"], found]), flush=True)


main()

"""Writes the table `delta_rs` with the package `deltalake`: partitions, a new column, deleted rows, a checkpoint and a later commit."""

import datetime
import decimal
import os
import shutil

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "delta_rs")
shutil.rmtree(here, ignore_errors=True)


def rows(start, more=None):
    numbers = range(start, start + 20)
    columns = {
        "n": pa.array(numbers, pa.int32()),
        "part": pa.array([f"p{i % 2}" for i in numbers]),
        "amount": pa.array([decimal.Decimal(i * 25) / 100 for i in numbers], pa.decimal128(12, 2)),
        "at": pa.array(
            [datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(hours=i) for i in numbers],
            pa.timestamp("us", "UTC"),
        ),
        "tags": pa.array([[("k", f"v{i}")] if i % 3 else None for i in numbers], pa.map_(pa.string(), pa.string())),
    }
    return pa.table({**columns, **(more or {})})


write_deltalake(here, rows(0), partition_by=["part"])
extra = {"extra": pa.array([{"a": i, "b": [i, None]} for i in range(20)])}
write_deltalake(here, rows(20, extra), mode="append", schema_mode="merge")
DeltaTable(here).delete("n >= 5 and n < 10")
DeltaTable(here).create_checkpoint()
write_deltalake(here, rows(40), mode="append", schema_mode="merge")

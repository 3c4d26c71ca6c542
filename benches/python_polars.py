"""Compares the processor time of queries of polars over the Python package with those of polars's own reader.

Usage: python_polars.py FOLDER [--rows ROWS] [--rounds ROUNDS] [PART_OF_A_NAME ...]

pyarrow writes a table like lineitem to FOLDER, sorted by `l_orderkey`. The queries run in one process, in turns, and their results
must be equal. A line has the median milliseconds of processor time of each reader, of all threads, and the median of the ratios of
neighbouring turns.
"""

import argparse
import datetime
import pathlib
import shutil
import statistics
import time

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from polars.testing import assert_frame_equal

import herringbone as hb
from python import lineitem

col = pl.col


def table(rows):
    """Return lineitem, with a column for each further kind of filter."""
    random = np.random.default_rng(7)
    data = lineitem(random, rows)
    price = pa.array(random.integers(100, 10_000_000, rows)).cast(pa.int64())
    extra = {
        "moment": pa.array(random.integers(0, 1 << 50, rows)).cast(pa.timestamp("us")),
        "wait": pa.array(random.integers(0, 1 << 40, rows)).cast(pa.duration("us")),
        "cost": price.cast(pa.decimal128(19, 0)).cast(pa.decimal128(21, 2)),
        "few": pa.array(random.integers(0, 100, rows), mask=random.random(rows) < 0.9),
        "flag": pa.array(random.random(rows) < 0.05),
        "place": pa.StructArray.from_arrays([pa.array(random.integers(0, 100, rows)), pa.array(random.random(rows))], ["x", "y"]),
    }
    for name, values in extra.items():
        data = data.append_column(name, values)
    return data


def queries(rows):
    """Return queries of a lazy frame by name."""
    day = datetime.date(1997, 1, 1)
    few = [0, rows // 2, rows, 2 * rows]
    conditions = {
        "number, 1 % of the sorted key": col("l_orderkey") < rows // 25,
        "number, 2 % scattered": col("l_quantity") == 7,
        "date, 1 day": col("l_shipdate") == day,
        "date, a range": col("l_shipdate").is_between(day, day + datetime.timedelta(days=30)),
        "moment": col("moment") < datetime.datetime(1970, 3, 1),
        "duration": col("wait") < datetime.timedelta(hours=1),
        "decimal": col("cost") < 100_000,
        "is_in, sorted key": col("l_orderkey").is_in(few),
        "is_in, texts": col("l_shipmode").is_in(["AIR", "MAIL"]),
        "is_null": col("few").is_null(),
        "is_not_null": col("few").is_not_null(),
        "starts_with": col("l_comment").str.starts_with("ab"),
        "Boolean": col("flag"),
        "not": ~((col("l_quantity") > 1) | col("flag")),
        "field of a struct": col("place").struct.field("x") == 7,
    }
    few_columns = ["l_orderkey", "l_extendedprice", "l_shipmode"]
    found = {f"filter: {name}": lambda it, condition=condition: it.filter(condition).select(few_columns) for name, condition in conditions.items()}
    found["group by"] = lambda it: it.group_by("l_returnflag", "l_linestatus").agg(
        col("l_quantity").sum(), col("l_extendedprice").mean(), pl.len()
    ).sort("l_returnflag", "l_linestatus")
    found["all columns"] = lambda it: it
    return found


def partitioned(folder, frame, ours):
    """Return a call for each library that writes a partitioned dataset."""
    by = ["l_returnflag", "l_linestatus"]

    def write_ours():
        shutil.rmtree(folder / "ours", ignore_errors=True)
        hb.write_to_dataset(ours, folder / "ours", by, compression="snappy")

    def write_theirs():
        shutil.rmtree(folder / "theirs", ignore_errors=True)
        frame.write_parquet(folder / "theirs", partition_by=by, compression="snappy", mkdir=True)

    return write_ours, write_theirs


def seconds(call):
    """Return the processor time of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def report(name, ours, theirs, rounds):
    turns = []
    for at in range(rounds + 1):
        pair = (seconds(ours), seconds(theirs)) if at % 2 else tuple(reversed((seconds(theirs), seconds(ours))))
        turns.append(pair)
    turns = turns[1:]
    medians = [statistics.median(turn[side] for turn in turns) * 1000 for side in (0, 1)]
    ratio = statistics.median(own / other for own, other in turns)
    print(f"{name:36} {medians[0]:9.1f} {medians[1]:9.1f} {ratio:7.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    path = arguments.folder / f"polars-{arguments.rows}.parquet"
    arguments.folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        pq.write_table(table(arguments.rows), path, row_group_size=250_000)
    chosen = lambda name: not arguments.names or any(part in name for part in arguments.names)
    print(f"{'case':36} {'ours':>9} {'polars':>9} {'ratio':>7}")
    for name, query in queries(arguments.rows).items():
        if chosen(name):
            ours, theirs = (lambda: query(hb.scan_polars(path)).collect()), (lambda: query(pl.scan_parquet(path)).collect())
            assert_frame_equal(ours(), theirs())
            report(name, ours, theirs, arguments.rounds)
    if chosen("partitioned write"):
        columns = ["l_orderkey", "l_quantity", "l_extendedprice", "l_returnflag", "l_linestatus", "l_shipdate", "l_comment"]
        frame, own = pl.read_parquet(path, columns=columns), hb.read_table(path, columns=columns)
        report("partitioned write", *partitioned(arguments.folder, frame, own), arguments.rounds)


if __name__ == "__main__":
    main()

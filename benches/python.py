"""Times the Python package against pyarrow and polars, in turns, in one process.

Usage: python.py FOLDER [--rows ROWS] [--rounds ROUNDS] [PART_OF_A_NAME ...]

The files are written to FOLDER by pyarrow. Each library reads into its own table, and writes its own table. Run it twice:
once with POLARS_MAX_THREADS=1, for one thread in all libraries, and once with POLARS_MAX_THREADS=2.

A line has the median milliseconds of each library, and the median of the ratios of neighbouring turns.
"""

import argparse
import io
import os
import pathlib
import statistics
import time

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import herringbone as hb

THREADS = int(os.environ.get("POLARS_MAX_THREADS", "2"))
#: Milliseconds that a turn takes at least: short calls are repeated.
TURN = 40


def words(random, count, distinct):
    """Return texts of 4 to 40 bytes."""
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", dtype=np.uint8)
    known = [bytes(random.choice(letters, random.integers(4, 40))).decode() for _ in range(min(distinct, 50_000))]
    picked = random.integers(0, len(known), count)
    if distinct <= len(known):
        return pa.array(known).take(pa.array(picked))
    return pa.array([f"{known[one]}{row}" for row, one in enumerate(picked)])


def lineitem(random, rows):
    """Return columns like those of TPC-H's lineitem."""
    money = lambda most: pa.array(random.integers(100, most, rows) / 100.0)
    day = lambda: pa.array(random.integers(8035, 10561, rows).astype("int32")).cast(pa.date32())
    pick = lambda *texts: pa.array(list(texts)).take(pa.array(random.integers(0, len(texts), rows)))
    return pa.table(
        {
            "l_orderkey": pa.array(np.sort(random.integers(0, rows * 4, rows))),
            "l_partkey": pa.array(random.integers(1, 200_001, rows)),
            "l_suppkey": pa.array(random.integers(1, 10_001, rows)),
            "l_linenumber": pa.array(random.integers(1, 8, rows).astype("int32")),
            "l_quantity": pa.array(random.integers(1, 51, rows).astype("float64")),
            "l_extendedprice": money(10_000_000),
            "l_discount": money(110),
            "l_tax": money(180),
            "l_returnflag": pick("A", "N", "R"),
            "l_linestatus": pick("O", "F"),
            "l_shipdate": day(),
            "l_commitdate": day(),
            "l_receiptdate": day(),
            "l_shipinstruct": pick("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"),
            "l_shipmode": pick("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"),
            "l_comment": words(random, rows, rows),
        }
    )


def strings(random, rows):
    return pa.table({"few": words(random, rows, 20), "some": words(random, rows, 20_000), "all": words(random, rows, rows)})


def nested(random, rows):
    lengths = random.integers(0, 6, rows)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype("int32"))
    count = int(lengths.sum())
    item = pa.StructArray.from_arrays([pa.array(random.integers(0, 1000, count)), words(random, count, 1000)], ["k", "w"])
    return pa.table(
        {
            "numbers": pa.ListArray.from_arrays(offsets, pa.array(random.integers(0, 1 << 40, count))),
            "items": pa.ListArray.from_arrays(offsets, item),
            "point": pa.StructArray.from_arrays([pa.array(random.random(rows)), pa.array(random.random(rows))], ["x", "y"]),
        }
    )


def nulls(random, rows):
    column = lambda share: pa.array(random.integers(0, 1 << 40, rows), mask=random.random(rows) < share)
    some = words(random, rows, 1000)
    text = pa.compute.if_else(pa.array(random.random(rows) < 0.5), some, pa.scalar(None, pa.string()))
    return pa.table({**{f"c{share}": column(share) for share in (0.01, 0.1, 0.3, 0.5, 0.9, 0.99)}, "text": text})


def wide(random, rows):
    return pa.table({f"c{i}": pa.array(random.integers(0, 1 << 40, rows // 8)) for i in range(100)})


def filtered(random, rows):
    numbers = {f"i{i}": pa.array(random.integers(0, 1 << 40, rows)) for i in range(3)}
    return pa.table({"k": pa.array(random.integers(0, 1_000_000, rows)), **numbers, "s": words(random, rows, 1000)})


def small(random, rows):
    return lineitem(random, 1000)


FIVE = ["c3", "c20", "c50", "c77", "c99"]
TABLES = {
    "lineitem": lineitem, "strings": strings, "nested": nested, "nulls": nulls, "5 of 100 columns": wide,
    "1 % of the rows": filtered, "1,000 rows": small,
}


def readers(name, path):
    """Return a call for each library."""
    many = THREADS > 1
    if name == "5 of 100 columns":
        return {
            "herringbone": lambda: hb.read_table(path, columns=FIVE, use_threads=many),
            "pyarrow": lambda: pq.read_table(path, columns=FIVE, use_threads=many),
            "polars": lambda: pl.read_parquet(path, columns=FIVE),
        }
    if name == "1 % of the rows":
        return {
            "herringbone": lambda: hb.read_table(path, filters=hb.col("k") < 10_000, use_threads=many),
            "pyarrow": lambda: pq.read_table(path, filters=pa.compute.field("k") < 10_000, use_threads=many),
            "polars": lambda: pl.scan_parquet(path).filter(pl.col("k") < 10_000).collect(),
        }
    return {
        "herringbone": lambda: hb.read_table(path, use_threads=many),
        "pyarrow": lambda: pq.read_table(path, use_threads=many),
        "polars": lambda: pl.read_parquet(path),
    }


def writers(path):
    """Return a call for each library, which writes a table of its own to memory."""
    ours, theirs, frame = hb.read_table(path), pq.read_table(path), pl.read_parquet(path)
    return {
        "herringbone": lambda: hb.write_table(ours, io.BytesIO(), compression="snappy", use_threads=THREADS > 1),
        "pyarrow": lambda: pq.write_table(theirs, io.BytesIO(), compression="snappy"),
        "polars": lambda: frame.write_parquet(io.BytesIO(), compression="snappy"),
    }


def turn(call, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) * 1000 / repeats


def measured(calls, rounds):
    """Return the median milliseconds of each library, and the medians of the ratios to each peer."""
    repeats = {}
    for name, call in calls.items():
        call()
        repeats[name] = max(1, round(TURN / max(turn(call, 1), 0.01)))
    times = {name: [] for name in calls}
    for at in range(rounds):
        for name in list(calls) if at % 2 else reversed(list(calls)):
            times[name].append(turn(calls[name], repeats[name]))
    ratio = lambda peer: statistics.median(a / b for a, b in zip(times["herringbone"], times[peer]))
    return {name: statistics.median(found) for name, found in times.items()}, ratio("pyarrow"), ratio("polars")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    pa.set_cpu_count(THREADS)
    print(f"{THREADS} threads, {options.rows} rows, medians of {options.rounds} rounds; ratios below 1: we are faster")
    print(f"{'':18} {'herringbone':>11} {'pyarrow':>9} {'polars':>9} {'/pyarrow':>9} {'/polars':>8}")
    to_pyarrow, to_polars = [], []
    for name, table in [*TABLES.items(), ("write lineitem", lineitem)]:
        if options.names and not any(part in name for part in options.names):
            continue
        path = options.folder / f"{table.__name__}-{options.rows}.parquet"
        if not path.exists():
            pq.write_table(table(np.random.default_rng(1), options.rows), path, row_group_size=250_000)
        calls = writers(path) if name.startswith("write") else readers(name, path)
        times, pyarrow, polars = measured(calls, options.rounds)
        cells = [times[one] for one in ("herringbone", "pyarrow", "polars")]
        print(f"{name:18} {cells[0]:11.2f} {cells[1]:9.2f} {cells[2]:9.2f} {pyarrow:9.2f} {polars:8.2f}", flush=True)
        if name != "1,000 rows":
            to_pyarrow.append(pyarrow)
            to_polars.append(polars)
    if to_pyarrow:
        print(f"geometric means: {statistics.geometric_mean(to_pyarrow):.2f} of pyarrow, "
              f"{statistics.geometric_mean(to_polars):.2f} of polars")


if __name__ == "__main__":
    main()

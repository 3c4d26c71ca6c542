#!/usr/bin/env python3
"""Reads files over HTTP with Herringbone, the `parquet` crate, polars and DuckDB in turns.

A server on loopback answers each request after some milliseconds, and sends each body at a limited rate. It counts requests and bytes.

    cargo build --profile bench -p herringbone-benches --features remote --bin remote --bin range-server
    .venv/bin/pip install duckdb==1.5.5 duckdb-extension-httpfs==1.5.5 polars pyarrow numpy
    .venv/bin/python benches/remote.py target/bench-data/remote
"""

import argparse
import glob
import os
import statistics
import subprocess
import time
import urllib.request

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


def make(folder):
    """Writes the files that are missing."""
    os.makedirs(folder, exist_ok=True)
    rng = np.random.default_rng(1)

    def write(name, columns, **options):
        path = f"{folder}/{name}.parquet"
        if not os.path.exists(path):
            pq.write_table(pa.table(columns()), path, write_page_index=True, **options)

    def idx(n=1_000_000):
        columns = {"id": np.arange(n), "k": rng.integers(0, n, n), "cat": text(n)}
        columns |= {f"f{i}": rng.random(n) for i in range(8)}
        return columns | {f"i{i}": rng.integers(0, 1 << 40, n) for i in range(8)}

    def text(n):
        return pa.array([f"category {i}" for i in range(100)]).take(pa.array(rng.integers(0, 100, n)))

    def big(n=10_000_000):
        places = rng.permutation(n // 10_000)
        columns = {"id": np.arange(n), "cluster": np.repeat(places, 10_000), "k": rng.integers(0, n, n), "cat": text(n)}
        return columns | {"f0": rng.random(n), "f1": rng.random(n), "i0": rng.integers(0, 1 << 40, n)}

    write("idx", idx, row_group_size=250_000, compression="zstd")
    write("wide", lambda: {f"c{i}": rng.integers(0, 1 << 40, 160_000) for i in range(100)}, row_group_size=10_000)
    write("tiny", lambda: {"a": np.arange(1000), "b": np.arange(1000)})
    write("big", big, compression="zstd")


# name, file, columns, condition (column, begin, end), rows
PLAIN = [
    ("idx, 3 columns", "idx", "id,k,f0", None, 1_000_000),
    ("idx, all", "idx", "*", None, 1_000_000),
    ("wide, 5 of 100", "wide", "c1,c20,c45,c46,c90", None, 160_000),
    ("wide, all", "wide", "*", None, 160_000),
    ("tiny, 2 columns", "tiny", "a,b", None, 1000),
]
FILTERED = [
    ("big, one row", "big", "id,cat,f0,f1,i0", ("id", 6_001_230, 6_001_231), 1),
    ("big, 1 % in clusters", "big", "id,cat,f0,f1,i0,cluster", ("cluster", 100, 110), 100_000),
    ("big, 1 % scattered", "big", "id,cat,f0,f1,i0,k", ("k", 0, 100_000), None),
]


class Rust:
    """A side of the program `remote`."""

    def __init__(self, side):
        self.side = side
        self.process = subprocess.Popen([f"{BIN}/remote"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read(self, url, columns, condition):
        words = [self.side, url, columns] + [str(word) for word in condition or ()]
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        seconds, rows = self.process.stdout.readline().split(" ", 1)
        if seconds == "error":
            raise RuntimeError(rows)
        return float(seconds), int(rows)


class Polars:
    def read(self, url, columns, condition):
        import polars as pl

        begin = time.perf_counter()
        frame = pl.scan_parquet(url)
        if condition:
            column, first, end = condition
            frame = frame.filter((pl.col(column) >= first) & (pl.col(column) < end))
        if columns != "*":
            frame = frame.select(columns.split(","))
        rows = frame.collect().height
        return time.perf_counter() - begin, rows


class DuckDB:
    def read(self, url, columns, condition):
        import duckdb
        import duckdb_extension_httpfs

        folder = os.path.dirname(duckdb_extension_httpfs.__file__)
        path = glob.glob(f"{folder}/**/*.duckdb_extension", recursive=True)[0]
        connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        connection.execute(f"LOAD '{path}'")
        where = " where {0} >= {1} and {0} < {2}".format(*condition) if condition else ""
        begin = time.perf_counter()
        result = connection.execute(f"select {columns} from '{url}'{where}").to_arrow_table()
        return time.perf_counter() - begin, result.num_rows


def run(cases, folder, milliseconds, rate, turns):
    server = subprocess.Popen([f"{BIN}/range-server", folder, str(milliseconds), str(rate)], stdout=subprocess.PIPE, text=True)
    host = f"http://127.0.0.1:{int(server.stdout.readline())}"
    stats = lambda: tuple(map(int, urllib.request.urlopen(f"{host}/stats").read().split()))
    sides = {"herringbone": Rust("herringbone"), "spawn": Rust("spawn"), "parquet": Rust("parquet"), "polars": Polars(), "duckdb": DuckDB()}
    print(f"\n{milliseconds} ms per request, {rate / 1e6:g} MB/s per request (0 is no limit), median of {turns}")
    print("| read | " + " | ".join(f"{side}: s, requests, MB" for side in sides) + " | of polars | of parquet | of the best |")
    print("|---|" + "---:|" * (len(sides) + 3))
    for name, file, columns, condition, rows in cases:
        if PART not in name:
            continue
        times, counts = {side: [] for side in sides}, {}
        for turn in range(turns):
            order = list(sides)
            for side in order[turn % 5 :] + order[: turn % 5]:
                stats()
                try:
                    seconds, found = sides[side].read(f"{host}/{file}.parquet", columns, condition)
                except Exception as error:
                    print(name, side, error)
                    continue
                assert rows in (None, found), (name, side, found)
                times[side].append(seconds)
                counts[side] = stats()
        median = {side: statistics.median(values) for side, values in times.items() if values}
        ours = min(median.pop("herringbone"), median.pop("spawn"))
        cells = [f"{statistics.median(times[side]):.3f}, {counts[side][0]}, {counts[side][1] / 1e6:.1f}" if side in counts else "-" for side in sides]
        ratios = [ours / median.get("polars", float("nan")), ours / median.get("parquet", float("nan")), ours / min(median.values())]
        print(f"| {name} | " + " | ".join(cells) + " | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |", flush=True)
    server.kill()


def local(folder, turns):
    """Compares reads through a store of local files with blocking reads."""
    print(f"\nwithout latency, from local files, median of {turns}")
    print("| read | async, s | async on threads, s | sync, one thread, s | ratio |\n|---|---:|---:|---:|---:|")
    side = {name: Rust(name) for name in ("herringbone", "spawn", "sync")}
    for name, file, columns, condition, rows in PLAIN + FILTERED:
        if PART not in name:
            continue
        times = {name: [] for name in side}
        for turn in range(turns):
            for which in list(side)[:: 1 if turn % 2 else -1]:
                times[which].append(side[which].read(f"file://{os.path.abspath(folder)}/{file}.parquet", columns, condition)[0])
        median = {which: statistics.median(values) for which, values in times.items()}
        print(f"| {name} | {median['herringbone']:.4f} | {median['spawn']:.4f} | {median['sync']:.4f} | {median['herringbone'] / median['sync']:.2f} |", flush=True)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder")
parser.add_argument("--turns", type=int, default=9)
parser.add_argument("--bin", default="target/release", help="the folder of the programs")
parser.add_argument("--case", default="", help="a part of the names of the cases to run")
parser.add_argument("--only", default="plain,filtered,local")
arguments = parser.parse_args()
BIN, PART = arguments.bin, arguments.case
make(arguments.folder)
if "plain" in arguments.only:
    run(PLAIN, arguments.folder, 50, 0, arguments.turns)
if "filtered" in arguments.only:
    run(FILTERED, arguments.folder, 50, 25_000_000, arguments.turns)
if "local" in arguments.only:
    local(arguments.folder, arguments.turns)

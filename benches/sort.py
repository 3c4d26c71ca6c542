"""Sorting, beside DuckDB: both read one file, sort its rows and write another one, taking turns.

    python3 benches/sort.py HERRINGBONE FOLDER [--rows N] [--turns N]

Needs duckdb. Prints medians of seconds and of processor seconds, and what of ours is in units of theirs.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

TABLE = """
copy (select (random() * 1e9)::BIGINT as id, (random() * 1e5)::INTEGER as small, random() * 1000 as price,
             'https://example.com/item/' || (random() * 1e7)::INTEGER as url,
             ['Rome', 'Oslo', 'Paris', 'Berlin', 'Madrid'][1 + (random() * 4)::INT] as city,
             timestamp '2024-01-01' + to_seconds((random() * 3e7)::BIGINT) as t,
             (random() * 100)::DECIMAL(9, 2) as fare, i as n
      from range({rows}) r(i))
to '{path}' (compression zstd, row_group_size 122880)
"""

# Without what Python takes to start.
DUCKDB = """
import duckdb, time
connection = duckdb.connect()
connection.execute("set threads = {threads}")
connection.execute("set enable_progress_bar = false")
wall, processor = time.perf_counter(), time.process_time()
connection.execute("copy (select * from '{table}' order by {order}) to '{out}' "
                   "(format parquet, compression {codec}{level}, row_group_size 1048576)")
print(time.perf_counter() - wall, time.process_time() - processor)
"""

# What rows are sorted by, for DuckDB and for the command.
KEYS = [
    ("an integer", "id", "id"),
    ("a double, descending", "price desc nulls last", "price:desc"),
    ("a string", "url", "url"),
    ("two columns", "city, t", "city,t"),
]


def of_command(arguments):
    """Seconds and processor seconds of a process."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(arguments, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = [used.ru_utime + used.ru_stime for used in (before, after)]
    return wall, spent[1] - spent[0]


def of_script(script):
    """The same of a script that prints them."""
    printed = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return tuple(float(number) for number in printed.stdout.split())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("herringbone")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--codecs", nargs="+", default=["snappy", "zstd"])
    options = parser.parse_args()
    import duckdb

    options.folder.mkdir(parents=True, exist_ok=True)
    table, out = options.folder / "table.parquet", options.folder / "sorted.parquet"
    connection = duckdb.connect()
    connection.execute("select setseed(0.5)")
    connection.execute("set threads = 1")
    connection.execute(TABLE.format(rows=options.rows, path=table))
    print("| sorted by | threads | codec | herringbone | duckdb | ratio | processor: herringbone | duckdb | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, order, by in KEYS:
        for threads in options.threads:
            for codec in options.codecs:
                level = ", compression_level 1" if codec == "zstd" else ""
                script = DUCKDB.format(threads=threads, table=table, order=order, out=out, codec=codec, level=level)
                command = [options.herringbone, "rewrite", "--quiet", "--force", table, out, "--sort-by", by]
                command += ["--threads", str(threads), "--compression", codec]
                ours, theirs = [], []
                for _ in range(options.turns):
                    ours.append(of_command(command))
                    theirs.append(of_script(script))
                columns = [[statistics.median(times) for times in zip(*runs)] for runs in (ours, theirs)]
                cells = []
                for us, them in zip(*columns):
                    cells.append(f"{us:.2f} | {them:.2f} | {us / them:.2f}")
                print(f"| {name} | {threads} | {codec} | {' | '.join(cells)} |", flush=True)
    os.remove(out)


main()

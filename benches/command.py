"""The command next to DuckDB: text to Parquet, Parquet to text, counts of values, and sorting with default settings, taking turns.

    python3 benches/command.py HERRINGBONE FOLDER [--rows N] [--sorted-rows N] [--turns N]

Needs duckdb. Prints medians of processor seconds, and ours in units of theirs.
"""

import argparse
import resource
import statistics
import subprocess
import sys
from pathlib import Path

WORDS = (
    "furiously quickly carefully slyly ironic final pending regular express special deposits requests packages "
    "accounts theodolites instructions foxes ideas sleep nag haggle wake cajole boost above according among"
)

# The columns of TPC-H lineitem.
LINEITEM = """
copy (with words as (select string_split('{words}', ' ') as w)
      select (i // 4 * 8 + i % 4)::BIGINT as l_orderkey, (1 + random() * 199999)::BIGINT as l_partkey,
             (1 + random() * 9999)::BIGINT as l_suppkey, (1 + i % 7)::BIGINT as l_linenumber,
             (1 + random() * 49)::INT::DECIMAL(15, 2) as l_quantity,
             (900 + random() * 100000)::DECIMAL(15, 2) as l_extendedprice,
             (random() * 0.1)::DECIMAL(15, 2) as l_discount, (random() * 0.08)::DECIMAL(15, 2) as l_tax,
             ['R', 'A', 'N'][1 + (random() * 2)::INT] as l_returnflag, ['O', 'F'][1 + random()::INT] as l_linestatus,
             date '1992-01-01' + (random() * 2500)::INT as l_shipdate,
             date '1992-02-01' + (random() * 2500)::INT as l_commitdate,
             date '1992-01-03' + (random() * 2500)::INT as l_receiptdate,
             ['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'][1 + (random() * 3)::INT] as l_shipinstruct,
             ['TRUCK', 'MAIL', 'REG AIR', 'AIR', 'FOB', 'RAIL', 'SHIP'][1 + (random() * 6)::INT] as l_shipmode,
             w[1 + (random() * 26)::INT] || ' ' || w[1 + (random() * 26)::INT] || ' ' || w[1 + (random() * 26)::INT]
             || ' ' || w[1 + (random() * 26)::INT] || '. ' as l_comment
      from range({rows}) r(i), words)
to '{table}' (compression zstd, compression_level 1)
"""

TO_SORT = """
copy (select (random() * 1e9)::BIGINT as id, random() * 1000 as price,
             ['Rome', 'Oslo', 'Paris', 'Berlin', 'Madrid'][1 + (random() * 4)::INT] as city
      from range({rows}))
to '{table}' (compression zstd, compression_level 1)
"""

DIFFERENT = """
copy (with words as (select string_split('{words}', ' ') as w)
      select w[1 + (random() * 26)::INT] || ' ' || w[1 + (random() * 26)::INT] || ' ' || w[1 + (random() * 26)::INT]
             || ' ' || i as comment
      from range(1000000) r(i), words)
to '{table}' (compression zstd, compression_level 1)
"""

# Without what Python takes to start.
DUCKDB = """
import duckdb, time
connection = duckdb.connect()
connection.execute("set threads = {threads}")
connection.execute("set enable_progress_bar = false")
before = time.process_time()
connection.execute("{query}").fetchall()
print(time.process_time() - before)
"""

PARQUET = "(format parquet, compression zstd, compression_level 1)"


def of_command(arguments):
    """Processor seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def of_script(script):
    """The same of a script that prints them."""
    printed = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return float(printed.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("herringbone")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--sorted-rows", type=int, default=12_000_000)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    import duckdb

    options.folder.mkdir(parents=True, exist_ok=True)
    table, text, lines = (options.folder / f"lineitem.{name}" for name in ("parquet", "csv", "jsonl"))
    wide, different = (options.folder / f"{name}.parquet" for name in ("to-sort", "different"))
    ours, theirs, out = (options.folder / name for name in ("ours.parquet", "theirs.parquet", "out.csv"))
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    connection.execute("select setseed(0.5)")
    connection.execute(LINEITEM.format(words=WORDS, rows=options.rows, table=table))
    connection.execute(f"copy (from '{table}') to '{text}' (header)")
    connection.execute(f"copy (from '{table}') to '{lines}' (format json)")
    connection.execute(DIFFERENT.format(words=WORDS, table=different))
    connection.execute(TO_SORT.format(rows=options.sorted_rows, table=wide))
    zstd = ["--force", "--compression", "zstd:1"]
    jobs = [
        ("CSV to Parquet", ["convert", text, ours, *zstd], f"copy (from '{text}') to '{theirs}' {PARQUET}"),
        ("JSON to Parquet", ["convert", lines, ours, *zstd], f"copy (from '{lines}') to '{theirs}' {PARQUET}"),
        (
            "freq of 1,000,000 different values",
            ["freq", "-c", "comment", different],
            f"select comment, count(*) from '{different}' group by 1 order by 2 desc, 1 limit 10",
        ),
        ("Parquet to CSV", ["convert", table, out, "--force"], f"copy (from '{table}') to '{out}' (header)"),
        (
            "sort by `id`",
            ["rewrite", wide, ours, *zstd, "--sort-by", "id"],
            f"copy (from '{wide}' order by id) to '{theirs}' {PARQUET}",
        ),
        (
            "sort by `city,price`",
            ["rewrite", wide, ours, *zstd, "--sort-by", "city,price"],
            f"copy (from '{wide}' order by city, price) to '{theirs}' {PARQUET}",
        ),
    ]
    print("| job | threads of duckdb | herringbone | duckdb | ratio |")
    print("|---|---:|---:|---:|---:|")
    for name, arguments, query in jobs:
        for threads in (1, 2):
            script = DUCKDB.format(threads=threads, query=query)
            command = [options.herringbone, *arguments, "--quiet"]
            turns = [(of_command(command), of_script(script)) for _ in range(options.turns)]
            us, them = (statistics.median(times) for times in zip(*turns))
            print(f"| {name} | {threads} | {us:.2f} s | {them:.2f} s | {us / them:.2f} |", flush=True)


main()

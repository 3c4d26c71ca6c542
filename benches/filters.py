"""Times reads with a filter by Herringbone, polars, duckdb and pyarrow, in turns, one thread each.

    cargo build --profile bench -p herringbone-benches --bin filter --bin turns
    mkdir -p target/bench-data/filters && KEEP=target/bench-data/filters target/release/filter
    python benches/filters.py target/bench-data/filters [--runs 5] [--turns target/release/turns] [PART_OF_A_NAME ...]

The files have ten million rows (or ROWS, given to both). Everybody makes Arrow arrays of the payload of the rows whose key is below
a value; polars keeps its frame, the others drop batches as they come. Our time, the least of all runs, is printed in units of
each peer's: what else is done on a machine only ever adds. Below 1 we are faster.
"""

import argparse
import math
import os
import statistics

import peers
from peers import duckdb, polars, pyarrow

import pyarrow.dataset

KEYS = 1_000_000
SHARES = [1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9]

# The keys of `src/bin/filter.rs`: a column, and the value that a share of the rows is below, as the sides want it.
TESTS = {
    "int_random": ("random", lambda share, rows: ("i", int(share * KEYS))),
    "int_clustered": ("row", lambda share, rows: ("i", max(int(share * rows), 1))),
    "string_random": ("text", lambda share, rows: ("s", f"{int(share * KEYS):07} some text")),
    "dictionary_random": ("word", lambda share, rows: ("s", f"word number {int(share * 1000):04}")),
    "timestamp_clustered": (
        "time",
        lambda share, rows: ("t", 1_700_000_000_000_000 + max(int(share * rows), 1) * 1000),
    ),
}


def sides(path, turns, column, literal, columns):
    kind, value = literal
    if kind == "t":
        scalar = pyarrow.scalar(value, pyarrow.timestamp("us"))
        of_polars, of_sql = polars.lit(scalar.as_py()), f"make_timestamp({value})"
    else:
        scalar, of_polars = pyarrow.scalar(value), polars.lit(value)
        of_sql = str(value) if kind == "i" else f"'{value}'"
    line = "\t".join(["below", column, f"{kind}{value}", ",".join(columns)])
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    query = f"select {', '.join(columns)} from read_parquet('{path}') where {column} < {of_sql}"

    def ours():
        return turns.seconds(line + "\t", path)

    def by_duckdb():
        for _ in connection.sql(query).to_arrow_reader(65536):
            pass

    def by_polars():
        wanted = polars.scan_parquet(path, parallel="none").filter(polars.col(column) < of_polars)
        wanted.select(columns).collect()

    def by_pyarrow():
        wanted = pyarrow.dataset.field(column) < scalar
        dataset = pyarrow.dataset.dataset(path)
        for _ in dataset.to_batches(columns=columns, filter=wanted, use_threads=False):
            pass

    return {
        "herringbone": ours,
        "polars*": lambda: peers.timed(by_polars),
        "duckdb": lambda: peers.timed(by_duckdb),
        "pyarrow": lambda: peers.timed(by_pyarrow),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--turns", default="target/release/turns")
    parser.add_argument("parts", nargs="*", help="parts of the names of cases; all without any")
    arguments = parser.parse_intermixed_args()
    turns = peers.Turns(arguments.turns)
    rows = int(os.environ.get("ROWS", 10_000_000))
    others = ["polars*", "duckdb", "pyarrow"]
    print("| case | ms | " + " | ".join(f"/ {peer}" for peer in others) + " |")
    print("|---|---:|" + "---:|" * len(others))
    ratios = {}
    for codec in ["none", "zstd"]:
        path = os.path.abspath(os.path.join(arguments.directory, f"{codec}.parquet"))
        for test, (column, below) in TESTS.items():
            for payload in [1, 10]:
                for share in SHARES:
                    name = f"{test}_{codec}_{payload}col_{share:g}"
                    if arguments.parts and not any(part in name for part in arguments.parts):
                        continue
                    columns = [f"payload{n}" for n in range(payload)]
                    work = sides(path, turns, column, below(share, rows), columns)
                    least = {side: math.inf for side in work}
                    for run in range(arguments.runs):
                        for side in work if run % 2 else reversed(work):
                            least[side] = min(least[side], work[side]())
                    ours = least["herringbone"]
                    cells = [f"{ours / least[peer]:.2f}" for peer in others]
                    print(f"| {name} | {ours * 1e3:.1f} | " + " | ".join(cells) + " |", flush=True)
                    best = min(least["polars*"], least["duckdb"])
                    key = "up to 0.01" if share <= 0.01 else f"above, {codec}"
                    ratios.setdefault(key, []).append(best / ours)
    for key, values in ratios.items():
        mean = math.exp(statistics.fmean(math.log(value) for value in values))
        print(f"\n{key}: {mean:.2f} times as fast as the better of polars and duckdb, {min(values):.2f} at least")


if __name__ == "__main__":
    main()

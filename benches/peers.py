"""Times Herringbone, arrow-rs, polars, pyarrow and duckdb on the same files, in turns, one thread each.

    cargo build --profile bench -p herringbone-benches --bin turns
    python benches/peers.py target/bench-data [--seconds 4] [--turns target/release/turns] [PART_OF_A_NAME ...]

Everybody makes Arrow arrays of all columns. Herringbone, arrow-rs and pyarrow have the file in memory, polars and
duckdb in the page cache. Batches are dropped as they come, but for polars, which keeps its frame (marked *). Our time is
printed in units of each peer's and of the best peer's: below 1 we are faster. Strings are read as views too ("..., views"),
which polars always makes and pyarrow does not. Files called wide_* are left out, being about their footer.
"""

import argparse
import glob
import math
import os
import statistics
import subprocess
import time

os.environ["POLARS_MAX_THREADS"] = "1"

import duckdb
import polars
import pyarrow
import pyarrow.parquet

pyarrow.set_cpu_count(1)
LEAST_RUNS, MOST_RUNS = 3, 51


class Turns:
    """The Rust sides, in a process of their own that reads when told to."""

    def __init__(self, program):
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def seconds(self, side, path):
        self.process.stdin.write(f"{side} {path}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split(maxsplit=1)
        if answer[0] == "error":
            raise RuntimeError(answer[1].strip())
        return float(answer[0])


def timed(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def by_pyarrow(path, memory):
    def work():
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(memory))
        for _ in file.iter_batches(batch_size=65536, use_threads=False):
            pass

    return timed(work)


def by_polars(path, memory):
    return timed(lambda: polars.read_parquet(path, parallel="none", use_pyarrow=False))


def by_duckdb(path, memory, views=False):
    connection = duckdb.connect()
    connection.execute("set threads = 1")
    if views:
        connection.execute("set arrow_output_version = '1.4'")
        connection.execute("set produce_arrow_string_view = true")

    def work():
        for _ in connection.sql(f"select * from read_parquet('{path}')").to_arrow_reader(65536):
            pass

    return timed(work)


def times_of(path, turns, seconds, views=False):
    """By side: its times; sides that cannot read the file are left out."""
    with open(path, "rb") as file:
        memory = pyarrow.py_buffer(file.read())
    suffix = "-views" if views else ""
    sides = {
        "herringbone": lambda: turns.seconds("herringbone" + suffix, path),
        "arrow-rs": lambda: turns.seconds("arrow-rs" + suffix, path),
        "polars*": lambda: by_polars(path, memory),
        "pyarrow": lambda: by_pyarrow(path, memory),
        "duckdb": lambda: by_duckdb(path, memory, views),
    }
    if views:
        del sides["pyarrow"]
    times = {side: [] for side in sides}
    failed = {}
    begin = time.perf_counter()
    for run in range(-1, MOST_RUNS):
        if run >= LEAST_RUNS and time.perf_counter() - begin > seconds:
            break
        for side, read in sides.items() if run % 2 else reversed(sides.items()):
            if side in failed:
                continue
            try:
                took = read()
            except Exception as error:
                failed[side] = str(error).splitlines()[0][:60]
                continue
            # The first turn only warms up.
            if run >= 0:
                times[side].append(took)
    for side, why in failed.items():
        print(f"<!-- {os.path.basename(path)}: {side}: {why} -->")
    return {side: taken for side, taken in times.items() if taken and side not in failed}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory")
    parser.add_argument("--seconds", type=float, default=4.0, help="for each case, roughly")
    parser.add_argument("--turns", default="target/release/turns")
    parser.add_argument("parts", nargs="*", help="parts of the names of cases; all without any")
    arguments = parser.parse_intermixed_args()
    turns = Turns(arguments.turns)
    peers = ["arrow-rs", "polars*", "pyarrow", "duckdb"]
    print("| case | ms | ± | " + " | ".join(f"/ {peer}" for peer in peers) + " | / best |")
    print("|---|---:|---:|" + "---:|" * (len(peers) + 1))
    ratios = []
    for path in sorted(glob.glob(os.path.join(arguments.directory, "*.parquet"))):
        name = os.path.basename(path).removesuffix(".parquet")
        wanted = not arguments.parts or any(part in name for part in arguments.parts)
        if name.startswith("wide_") or not wanted:
            continue
        for views in [False, True] if name.startswith("str_") else [False]:
            times = times_of(os.path.abspath(path), turns, arguments.seconds, views)
            medians = {side: statistics.median(taken) for side, taken in times.items()}
            ours = medians["herringbone"]
            quartiles = statistics.quantiles(times["herringbone"], n=4)
            spread = (quartiles[2] - quartiles[0]) / 2 / ours
            best = min(took for side, took in medians.items() if side != "herringbone")
            ratios.append(ours / best)
            cells = [f"{ours / medians[peer]:.2f}" if peer in medians else "" for peer in peers]
            title = f"{name}, views" if views else name
            print(
                f"| {title} | {ours * 1e3:.1f} | {spread:.0%} | " + " | ".join(cells) + f" | {ours / best:.2f} |",
                flush=True,
            )
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    print(f"\n{len(ratios)} cases, geometric mean in units of the best peer {mean:.2f}")


if __name__ == "__main__":
    main()

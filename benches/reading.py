"""Times reading of our `Modern` files beside those of the smallest peer: by everybody, in turns, one thread each.

    cargo build --profile bench -p herringbone-benches --bin turns
    python benches/sizes.py target/bench-data/tables --keep target/bench-data/written
    python benches/reading.py target/bench-data/written [--runs 9] [--turns target/release/turns] [PART_OF_A_NAME ...]

Each reader reads both files, in turns. Printed is the time for ours in units of the time for the smallest peer's, the least of
all runs of each: what else is done on a machine only ever adds. Below 1 our file is read faster. Readers are those of `peers.py`.
"""

import argparse
import glob
import math
import os

import peers


def files(directory):
    """By table and codec: our file, and those of the others."""
    found = {}
    for path in sorted(glob.glob(os.path.join(directory, "*.parquet"))):
        name, codec, who = os.path.basename(path)[: -len(".parquet")].split(".")
        ours, theirs = found.setdefault((name, codec), ({}, {}))
        (ours if who in ("widest", "modern", "newest") else theirs)[who] = path
    return {key: (ours["modern"], theirs) for key, (ours, theirs) in found.items() if "modern" in ours and theirs}


def readers(turns):
    def memory(path):
        with open(path, "rb") as file:
            return peers.pyarrow.py_buffer(file.read())

    return {
        "herringbone": lambda path: lambda: turns.seconds("herringbone", path),
        "arrow-rs": lambda path: lambda: turns.seconds("arrow-rs", path),
        "pyarrow": lambda path: lambda held=memory(path): peers.by_pyarrow(path, held),
        "polars": lambda path: lambda: peers.by_polars(path, None),
        "duckdb": lambda path: lambda: peers.by_duckdb(path, None),
    }


def ratio(read, ours, theirs, runs):
    """What reading ours takes in units of theirs."""
    sides = [read(ours), read(theirs)]
    least = [math.inf, math.inf]
    for run in range(runs):
        for side in (0, 1) if run % 2 == 0 else (1, 0):
            least[side] = min(least[side], sides[side]())
    return least[0] / least[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--turns", default="target/release/turns")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    all_readers = readers(peers.Turns(arguments.turns))
    ratios = {reader: [] for reader in all_readers}
    print("| table | codec | smallest | " + " | ".join(ratios) + " |")
    print("|---|---|---|" + "---:|" * len(ratios))
    for (name, codec), (ours, theirs) in files(arguments.directory).items():
        if arguments.names and not any(part in f"{name}.{codec}" for part in arguments.names):
            continue
        smallest = min(theirs, key=lambda who: os.path.getsize(theirs[who]))
        cells = []
        for reader, read in all_readers.items():
            value = ratio(read, ours, theirs[smallest], arguments.runs)
            ratios[reader].append(value)
            cells.append(f"{value:.2f}")
        print(f"| {name} | {codec} | {smallest.replace('_', ' ')} | {' | '.join(cells)} |", flush=True)
    means = [math.exp(sum(map(math.log, all)) / len(all)) for all in ratios.values() if all]
    print("| geometric mean | | | " + " | ".join(f"{mean:.2f}" for mean in means) + " |")


if __name__ == "__main__":
    main()

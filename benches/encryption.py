"""Runs `encrypted` in several processes, and prints the median over them of what encryption costs.

    cargo build --profile bench -p herringbone-benches --bin encrypted
    python benches/encryption.py [--processes 9] [--seconds 1.5] [PART_OF_A_NAME ...]
    cargo build --profile bench -p herringbone-benches --bin encrypted-once
    python benches/encryption.py --instructions [PART_OF_A_NAME ...]

Where memory lies in a process makes writing several percent faster or slower, for as long as the process runs. Where the cipher
is that small a part of the time, one process measures its own memory. Printed is the median cost, with its standard error over the
processes; a cost is marked where it is above 1.2 by more than twice that error.

The processes keep the memory that they had once. Otherwise glibc gives it back to the system now and then, and gets it back page by
page, which takes longer than the cipher: a third of the time of writing, for one side or the other.

With --instructions callgrind counts, and nothing is timed. Its cost is what our own code adds to the cipher's; it knows neither the
kernel, which gives nonces, nor how long memory takes.
"""

import argparse
import collections
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DEAR = 1.2
KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 33), "MALLOC_MMAP_MAX_": "0"}


def runs(arguments):
    """By case: what each process measured, as (plain, encrypted, cipher, cost, ratio or None)."""
    measured = collections.defaultdict(list)
    for process in range(arguments.processes):
        print(f"process {process + 1} of {arguments.processes}", file=sys.stderr, flush=True)
        command = [arguments.encrypted, "--dir", arguments.dir, "--seconds", str(arguments.seconds), *arguments.names]
        # It fails where something is slow; the table says so.
        environment = os.environ | KEEP_MEMORY
        lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment).stdout.splitlines()
        for line in lines:
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            if len(cells) == 7 and ", " in cells[0]:
                plain, encrypted, cipher, cost = (float(cell.split()[0]) for cell in cells[1:5])
                ratio = float(cells[6].split()[0]) if cells[6] else None
                measured[tuple(cells[0].split(", "))].append((plain, encrypted, cipher, cost, ratio))
    return measured


def error_of_median(values):
    """Its standard error: 1.253 times that of the mean, by the distance between the quartiles."""
    if len(values) < 4:
        return math.inf
    low, _, high = statistics.quantiles(values, n=4)
    return 1.253 * (high - low) / 1.349 / math.sqrt(len(values))


def instructions(arguments, file, what):
    """What plain, encrypted and the cipher alone take."""
    with tempfile.NamedTemporaryFile() as counts:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts.name}"]
        command += [arguments.encrypted.with_name("encrypted-once"), file, what]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        command = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", counts.name]
        annotated = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    # The largest of a name is the whole of it.
    found = re.findall(r"^ *([\d,]+) .*::count_(plain|encrypted|cipher)\b", annotated, re.MULTILINE)
    counted = {side: int(number.replace(",", "")) for number, side in reversed(found)}
    return counted["plain"], counted["encrypted"], counted["cipher"]


def count(arguments):
    """Prints the table of `--instructions`."""
    print("| file | read: cipher of plain | cost | write: cipher of plain | cost |")
    print("|---|---:|---:|---:|---:|")

    def cells(file, what):
        plain, encrypted, cipher = instructions(arguments, file, what)
        return f"{cipher / plain:.2f} | {(encrypted - plain) / cipher:.2f}"

    files = [file for file in sorted(arguments.dir.glob("*.parquet")) if not file.name.startswith("wide_")]
    names = arguments.names
    files = [file for file in files if not names or any(name in file.stem for name in names)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        rows = [(file, [threads.submit(cells, file, what) for what in ("read", "write")]) for file in files]
        for file, row in rows:
            print(f"| {file.stem} | {' | '.join(cell.result() for cell in row)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--encrypted", type=Path, default=Path("target/release/encrypted"))
    parser.add_argument("--dir", type=Path, default=Path("target/bench-data"))
    parser.add_argument("--instructions", action="store_true", help="counts by callgrind instead")
    parser.add_argument("--processes", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=1.5)
    arguments = parser.parse_args()
    if arguments.instructions:
        count(arguments)
        return
    measured = runs(arguments)
    costs, ratios = collections.defaultdict(list), collections.defaultdict(list)
    print("| file | what | algorithm | cipher of plain | cost | ratio |")
    print("|---|---|---|---:|---:|---:|")
    for (name, what, algorithm), rows in measured.items():
        cost = statistics.median(row[3] for row in rows)
        error = error_of_median([row[3] for row in rows])
        share = statistics.median(row[2] / row[0] for row in rows)
        costs[what, algorithm].append((share, cost))
        ratio = ""
        if rows[0][4] is not None:
            ratios[what].append(statistics.median(row[4] for row in rows))
            ratio = f"{ratios[what][-1]:.2f}"
        mark = " **dear**" if cost - 2 * error > DEAR else ""
        print(f"| {name} | {what} | {algorithm} | {share:.2f} | {cost:.2f} ± {error:.2f}{mark} | {ratio} |", flush=True)
    for (what, algorithm), cells in costs.items():
        summed = sum(share * cost for share, cost in cells) / sum(share for share, _ in cells)
        middle = statistics.median(cost for _, cost in cells)
        most = max(cost for _, cost in cells)
        print(f"{what}, {algorithm}: cost {middle:.2f} in the median, {summed:.2f} by time, {most:.2f} at most")
    for what, of_all in ratios.items():
        print(f"{what}: {statistics.geometric_mean(of_all):.2f} of arrow-rs's time, {max(of_all):.2f} at most")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Counts what our library and its kernels execute on aarch64, in QEMU's user mode, where no such machine is at hand.

usage: counts.py kernels [--binary DIR/kernels] [PART_OF_A_NAME ...]
       counts.py tables [--binary DIR/turns] DIRECTORY [PART_OF_A_NAME ...]
       counts.py functions [--binary DIR/turns] [--side SIDE] [--top N] DIRECTORY [PART_OF_A_NAME ...]

`kernels` prints counts per value for each kernel, with portable code and with NEON. `tables` prints the counts of whole reads and
writes of the files in a directory, by our library and by the `parquet` crate. `functions` prints which functions of a read have
the most instructions. Each case runs in two programs, more often in the second, so that the difference has no start of a program in it.

../README.md has the commands that build the binaries, and ../results/arm.md explains what the counts mean.
"""
import argparse
import collections
import math
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
BUILT = "target/aarch64-unknown-linux-gnu/release/"
VALUES = 8192
KINDS = ("instructions", "loads", "stores", "branches")


class Emulator:
    """QEMU with the plugin that counts, which is compiled here."""

    def __init__(self, directory):
        self.directory = directory
        self.qemu = shutil.which("qemu-aarch64")
        if self.qemu is None:
            sys.exit("qemu-aarch64 is missing: apt-get install qemu-user gcc-aarch64-linux-gnu")
        self.plugin = os.path.join(directory, "counts.so")
        subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", self.plugin, os.path.join(HERE, "counts.c")], check=True)

    def run(self, command, isa, text=None):
        """Returns the counts of each function."""
        with tempfile.NamedTemporaryFile(dir=self.directory) as out:
            emulated = [self.qemu, "-L", "/usr/aarch64-linux-gnu", "-plugin", f"{self.plugin},out={out.name}", *command]
            environment = os.environ | {"HERRINGBONE_SIMD": isa}
            run = subprocess.run(emulated, env=environment, input=text, capture_output=True, text=True)
            if run.returncode != 0 or "error" in run.stdout:
                sys.exit(f"{command} failed: {run.stdout}{run.stderr}")
            functions = collections.defaultdict(lambda: [0] * len(KINDS))
            for line in open(out.name, encoding="utf-8"):
                *counts, function = line.rstrip("\n").split(" ", len(KINDS))
                for kind, count in enumerate(counts):
                    functions[function][kind] += int(count)
        return functions

    def difference(self, few, many, isa):
        """Returns the counts of each function in the second run, less those in the first. A run is a command and its input."""
        few, many = (self.run(*run[:1], isa, *run[1:]) for run in (few, many))
        nothing = [0] * len(KINDS)
        return {name: [b - a for a, b in zip(few.get(name, nothing), counts)] for name, counts in many.items()}


def total(functions):
    return [sum(counts) for counts in zip(*functions.values())]


def wanted(names, parts):
    return [name for name in names if not parts or any(part in name for part in parts)]


def in_parallel(work, cases):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(work, cases)


def kernels(emulator, arguments):
    binary = arguments.binary or BUILT + "kernels"
    names = subprocess.run([emulator.qemu, "-L", "/usr/aarch64-linux-gnu", binary, "--list"], check=True, capture_output=True, text=True)

    def count(name):
        cells = []
        for isa in ("scalar", "neon"):
            few, many = ([[binary, "--times", str(times), name]] for times in (4, 8))
            per_value = [count / 4 / VALUES for count in total(emulator.difference(few, many, isa))]
            cells.append(per_value)
        return name, *cells

    print("| kernel | " + " | ".join(f"{kind}, portable | NEON" for kind in KINDS) + " | instructions, NEON / portable |")
    print("|---|" + "---:|" * (2 * len(KINDS) + 1))
    names = list(dict.fromkeys(names.stdout.splitlines()))
    for name, scalar, neon in in_parallel(count, wanted(names, arguments.parts)):
        cells = [f"{count:.2f}" for pair in zip(scalar, neon) for count in pair]
        print(f"| {name} | {' | '.join(cells)} | {neon[0] / scalar[0]:.2f} |", flush=True)


def files(arguments):
    names = sorted(name for name in os.listdir(arguments.directory) if name.endswith(".parquet"))
    return [os.path.join(arguments.directory, name) for name in wanted(names, arguments.parts)]


def turns(arguments, turn, path):
    """Returns two runs, whose difference is one turn. The first turns load the file and fill caches."""
    binary = [arguments.binary or BUILT + "turns"]
    return [(binary, f"{turn} {path}\n" * times) for times in (2, 3)]


def tables(emulator, arguments):
    cases = [(path, "") for path in files(arguments)]
    # The codec of the written file is that of its name, and one file per table is enough.
    cases += [(path, f"write {{}} {codec} 1048576") for path, _ in cases for codec in ["snappy"] if path.endswith(f"{codec}.parquet")]

    def count(case):
        path, turn = case
        sides = [(turn.format(side) if turn else side) for side in ("herringbone", "arrow-rs")]
        return case, *(total(emulator.difference(*turns(arguments, side, path), "neon")) for side in sides)

    print("| table | " + " | ".join(f"{kind}, millions: herringbone | arrow-rs | ratio" for kind in KINDS) + " |")
    print("|---|" + "---:|" * (3 * len(KINDS)))
    ratios = {"reads": [], "writes": []}
    for (path, turn), ours, theirs in in_parallel(count, cases):
        work = "writes" if turn else "reads"
        ratios[work].append(ours[0] / theirs[0])
        cells = [f"{a / 1e6:.1f} | {b / 1e6:.1f} | {a / b:.2f}" for a, b in zip(ours, theirs)]
        name = os.path.basename(path).removesuffix(".parquet")
        print(f"| {name}, {work.removesuffix('s')} | {' | '.join(cells)} |", flush=True)
    for work, values in ratios.items():
        if values:
            mean = math.exp(sum(map(math.log, values)) / len(values))
            print(f"\n{len(values)} {work}: the geometric mean of the ratios of instructions is {mean:.2f}.")


def functions(emulator, arguments):
    sums = collections.Counter()
    for path in files(arguments):
        for name, counts in emulator.difference(*turns(arguments, arguments.side, path), arguments.isa).items():
            sums[name] += counts[0]
    names = "\n".join(sums)
    if shutil.which("rustfilt"):
        names = subprocess.run(["rustfilt"], input=names, check=True, capture_output=True, text=True).stdout
    names = dict(zip(sums, names.splitlines()))
    all_of_them = sum(sums.values())
    for name, count in sums.most_common(arguments.top):
        print(f"{count / 1e6:10.2f} million {100 * count / all_of_them:5.1f} %  {names[name]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for work in (kernels, tables, functions):
        command = commands.add_parser(work.__name__)
        command.set_defaults(work=work)
        command.add_argument("--binary")
        if work is not kernels:
            command.add_argument("directory")
        if work is functions:
            command.add_argument("--side", default="herringbone")
            command.add_argument("--isa", default="neon")
            command.add_argument("--top", type=int, default=30)
        command.add_argument("parts", nargs="*")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        arguments.work(Emulator(directory), arguments)


if __name__ == "__main__":
    main()

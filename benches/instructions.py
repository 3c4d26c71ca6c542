#!/usr/bin/env python3
"""Counts the instructions of kernels with callgrind: the noise-free twin of the binary `kernels`.

usage: instructions.py [--binary target/release/kernels] [PART_OF_A_NAME ...]

Prints instructions a value, with portable code and with AVX2; valgrind knows no AVX-512. What is
done once in a process is taken off by counting runs of different length.
"""
import argparse
import os
import re
import subprocess
import sys

VALUES = 8192


def count(binary, isa, name, times):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command += [binary, "--times", str(times), name]
    run = subprocess.run(command, env=os.environ | {"HERRINGBONE_SIMD": isa}, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{name}: {run.stderr.strip()}")
    return int(re.search(r"Collected : (\d+)", run.stderr).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/kernels")
    parser.add_argument("parts", nargs="*")
    arguments = parser.parse_args()
    names = subprocess.run([arguments.binary, "--list"], check=True, capture_output=True, text=True).stdout
    print("| kernel | scalar | avx2 |\n|---|---:|---:|")
    for name in names.splitlines():
        if arguments.parts and not any(part in name for part in arguments.parts):
            continue
        cells = []
        for isa in ["scalar", "avx2"]:
            few, many = (count(arguments.binary, isa, name, times) for times in (1, 11))
            cells.append(f"{(many - few) / 10 / VALUES:.2f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()

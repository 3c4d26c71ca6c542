"""Times writing beside the peers, in turns, one thread each, and weighs the memory of doing it.

    cargo build --profile bench -p herringbone-benches --bin turns && cargo build -p herringbone-benches --bin write-peer
    cargo build --release -p herringbone-cli
    python benches/tables.py target/bench-data/tables
    python benches/writing.py target/bench-data/tables [--codecs none,snappy,zstd:1] [--runs 7] [NAME ...]
    python benches/writing.py target/bench-data/tables --memory [NAME ...]

Everybody has the rows in memory, as it likes to have them, and writes them in row groups of so many rows: herringbone, the
`parquet` crate, pyarrow and polars to memory that they wrote to before, duckdb to a file of the directory --scratch, which should
be memory. (What the system gives anew takes a page fault for every 4 KiB, up to a third of the time of the fastest.) Printed is our
least time in units of each peer's: below 1 we are faster. With a codec, `above` is the same of what each takes above its compressor:
the pages of its file, compressed by themselves by ours; `alone` is what that takes for our pages, in units of the best peer's whole time.

With --memory each reads the table from a file and writes it with ZSTD, batch by batch where it can, in a process of its own.
Printed are the megabytes that its memory grew to, beyond what it had when it was loaded.
"""

import argparse
import glob
import io
import math
import os
import subprocess
import sys

import peers
import sizes

ROWS = sizes.ROW_GROUP_ROWS
SIDES = ["arrow-rs", "pyarrow", "polars", "duckdb"]


def writers(turns, source, codec, scratch):
    """By side: writes the rows of the source, and returns the seconds that took."""
    name, _, level = codec.partition(":")
    level = int(level) if level else None
    table = peers.pyarrow.parquet.read_table(source)
    frame = peers.polars.read_parquet(source)
    connection = peers.duckdb.connect()
    connection.execute("set threads = 1")
    connection.execute(f"create table rows as select * from read_parquet('{source}')")
    others = "uncompressed" if name == "none" else name
    for_crates = sizes.with_level(name, level)
    for_duckdb = sizes.duckdb_level(name, level)
    target = os.path.join(scratch, "written-by-duckdb.parquet")
    memory = bytearray(2 * table.nbytes + (1 << 20))
    for_polars = io.BytesIO(memory)

    def by_pyarrow():
        sink = peers.pyarrow.FixedSizeBufferWriter(peers.pyarrow.py_buffer(memory))
        peers.pyarrow.parquet.write_table(
            table, sink, compression=name, compression_level=level, row_group_size=ROWS
        )

    def by_polars():
        for_polars.seek(0)
        frame.write_parquet(for_polars, compression=others, compression_level=level, row_group_size=ROWS)

    def by_duckdb():
        connection.execute(
            f"copy rows to '{target}' (format parquet, compression {others}{for_duckdb}, row_group_size {ROWS})"
        )

    return {
        "herringbone": lambda: turns.seconds(f"write herringbone {for_crates} {ROWS}", source),
        "arrow-rs": lambda: turns.seconds(f"write arrow-rs {for_crates} {ROWS}", source),
        "pyarrow": lambda: peers.timed(by_pyarrow),
        "polars": lambda: peers.timed(by_polars),
        "duckdb": lambda: peers.timed(by_duckdb),
    }


def files(source, codec, arguments):
    """By side: the file that it writes."""
    name, _, level = codec.partition(":")
    level = int(level) if level else None
    crate, ours = sizes.by_crate(arguments.peer), sizes.by_us(arguments.command)
    made = {
        "herringbone": (ours, "widest"),
        "arrow-rs": (crate, 1),
        "pyarrow": (sizes.by_pyarrow, 1),
        "polars": (sizes.by_polars, 1),
        "duckdb": (sizes.by_duckdb, 1),
    }
    targets = {}
    for side, (write, version) in made.items():
        targets[side] = os.path.join(arguments.scratch, f"{side}.parquet")
        write(source, targets[side], name, level, version)
    return targets


def compressing(turns, source, codec, arguments):
    """By side: the least time of compressing the pages of its file."""
    if codec == "none":
        return {}
    least = {}
    for side, path in files(source, codec, arguments).items():
        least[side] = min(turns.seconds("compress", path) for _ in range(arguments.runs))
    return least


def times(arguments, sources):
    turns = peers.Turns(arguments.turns)
    print("| table | codec | " + " | ".join(SIDES) + " | best | above the compressor, of the best | the compressor alone |")
    print("|---|---|" + "---:|" * (len(SIDES) + 3))
    means = {}
    for source in sources:
        name = os.path.basename(source).removesuffix(".parquet")
        for codec in arguments.codecs.split(","):
            sides = writers(turns, source, codec, arguments.scratch)
            least = {side: math.inf for side in sides}
            for run in range(arguments.runs):
                for side, write in sides.items() if run % 2 == 0 else reversed(sides.items()):
                    least[side] = min(least[side], write())
            ours = least["herringbone"]
            ratios = [ours / least[side] for side in SIDES]
            pages = compressing(turns, source, codec, arguments)
            above = {side: least[side] - took for side, took in pages.items()}
            cells = [f"{ratio:.2f}" for ratio in ratios] + [f"{max(ratios):.2f}"]
            means.setdefault(codec, ([], [], []))[0].append(max(ratios))
            if above:
                best = above["herringbone"] / min(above[side] for side in SIDES)
                # What is no time at all has no ratio.
                if best > 0:
                    means[codec][1].append(best)
                alone = pages["herringbone"] / min(least[side] for side in SIDES)
                means[codec][2].append(alone)
                cells += [f"{best:.2f}", f"{alone:.2f}"]
            else:
                cells += ["", ""]
            print(f"| {name} | {codec} | {' | '.join(cells)} |", flush=True)
    for codec, (whole, above, alone) in means.items():
        with_codec = f"; above the compressor {sizes.mean(above):.2f}, the compressor alone {sizes.mean(alone):.2f}" if alone else ""
        print(f"{codec}: geometric mean {sizes.mean(whole):.2f}, largest {max(whole):.2f}{with_codec}")


# What writes a table in a process of its own, without reading all of it first.
STREAMING = {
    "pyarrow": """
import pyarrow.parquet as pq
ready()
file = pq.ParquetFile(source)
with pq.ParquetWriter(target, file.schema_arrow, compression="zstd", compression_level=1) as writer:
    for batch in file.iter_batches(batch_size=rows):
        writer.write_batch(batch, row_group_size=rows)
""",
    "polars": """
import polars
ready()
polars.scan_parquet(source).sink_parquet(target, compression="zstd", compression_level=1, row_group_size=rows)
""",
    "duckdb": """
import duckdb
duckdb.execute("set threads = 1")
ready()
duckdb.execute(f"copy (from read_parquet('{source}')) to '{target}' (format parquet, compression zstd, compression_level 1, row_group_size {rows})")
""",
}

PROCESS = """
import sys
source, target, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
loaded = 0
def kilobytes(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name))
def ready():
    global loaded
    # The peak of loading is forgotten.
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    loaded = kilobytes("VmRSS")
{work}
print(kilobytes("VmHWM") - loaded)
"""

# Runs a command and prints what its memory grew to.
CHILD = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def memory_of(side, source, arguments):
    """Kilobytes."""
    target = os.path.join(arguments.scratch, "memory.parquet")
    if os.path.exists(target):
        os.remove(target)
    if side in STREAMING:
        program = [sys.executable, "-c", PROCESS.replace("{work}", STREAMING[side]), source, target, str(ROWS)]
    else:
        ours = [arguments.command, "rewrite", source, target, "--force", "--compression", "zstd:1"]
        ours += ["--row-group-rows", str(ROWS), "--threads", "1"]
        theirs = [arguments.peer, source, target, "zstd:1", str(ROWS), "1"]
        program = [sys.executable, "-c", CHILD] + (ours if side == "herringbone" else theirs)
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}

    def printed(program):
        return int(subprocess.run(program, check=True, capture_output=True, text=True, env=environment).stdout)

    if side in STREAMING:
        return printed(program)
    # What a program has that only says how it is used.
    loaded = printed([sys.executable, "-c", CHILD, program[3], "--help"])
    written = printed(program)
    if not os.path.exists(target):
        raise RuntimeError(f"{side} wrote nothing")
    return written - loaded


def memory(arguments, sources):
    print("| table | ours, MB | " + " | ".join(SIDES) + " |")
    print("|---|---:|" + "---:|" * len(SIDES))
    for source in sources:
        name = os.path.basename(source).removesuffix(".parquet")
        ours = memory_of("herringbone", source, arguments)
        cells = [f"{memory_of(side, source, arguments) / 1000:.0f}" for side in SIDES]
        print(f"| {name} | {ours / 1000:.0f} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--codecs", default="none,snappy,zstd:1")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--scratch", default="/dev/shm")
    parser.add_argument("--turns", default="target/release/turns")
    parser.add_argument("--command", default="target/release/herringbone")
    parser.add_argument("--peer", default="target/debug/write-peer")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    found = sorted(glob.glob(os.path.join(os.path.abspath(arguments.directory), "*.parquet")))
    sources = [path for path in found if not arguments.names or os.path.basename(path)[:-8] in arguments.names]
    (memory if arguments.memory else times)(arguments, sources)


if __name__ == "__main__":
    main()

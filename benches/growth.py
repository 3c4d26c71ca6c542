"""Cost against size: processor time and memory over rows, columns, row groups and files, next to DuckDB, polars and pyarrow.

    python benches/growth.py HERRINGBONE FOLDER [--repeats N] [--scale N] [PART_OF_A_JOB ...]

Needs pyarrow, polars and duckdb. A side's process is counted whole: for the peers, this includes the start of Python, which the
first row shows. All have their default number of threads. The sides take turns, and the least of all repeats counts, because
other work on a machine only ever adds. `pictures.py` draws the printed tables.
"""

import argparse
import math
import os
import shutil
import subprocess
import sys
import time
from collections import namedtuple
from pathlib import Path

SIDES = ("herringbone", "duckdb", "polars", "pyarrow")

# A run that takes longer than this is given up, in seconds.
PATIENCE = 120

# Four columns with the ids `first` to `first + count`, in order.
ROWS = """
import sys, os
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
target, count, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
cities = pa.array(["Rome", "Oslo", "Lima", "Cairo"])
def table(first, count):
    ids = pa.array(range(first, first + count), pa.int64())
    cents = pc.bit_wise_and(pc.multiply(ids, 7919), 0xFFFFF)
    return pa.table({
        "id": ids,
        "price": pc.divide(pc.cast(cents, pa.float64()), 100.0),
        "city": cities.take(pc.bit_wise_and(cents, 3)),
        "at": pc.cast(pc.multiply(ids, 1000000), pa.timestamp("us")),
    })
"""

# What writes a table, by its kind: `count` rows, columns, row groups or files.
WRITERS = {
    "rows": ROWS
    + """
with pq.ParquetWriter(target, table(0, 0).schema) as writer:
    for first in range(0, count, each):
        writer.write_table(table(first, min(each, count - first)))
""",
    "row groups": ROWS
    + """
pq.write_table(table(0, count * each), target, row_group_size=each)
""",
    "files": ROWS
    + """
os.mkdir(target)
for index in range(count):
    pq.write_table(table(index * each, each), f"{target}/{index:05}.parquet")
""",
    "columns": """
import sys
import pyarrow as pa, pyarrow.parquet as pq
target, count, each = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
columns = {f"c{column}": [float(row + column) for row in range(each)] for column in range(count)}
pq.write_table(pa.table(columns), target)
""",
}

# For each kind: its sizes, and the number of rows in each row group or file.
SIZES = {
    "rows": ((1_000_000, 10_000_000, 40_000_000), 1_000_000),
    "columns": ((1_000, 10_000, 50_000), 20),
    "row groups": ((1_000, 10_000, 50_000), 20),
    "files": ((1_000, 10_000), 100),
}

# Each job: the kind of its table, the command's arguments, and programs of the peers, in which `path` is the file or folder. All
# print or write the same rows.
Job = namedtuple("Job", "name kind command peers")

# Writes all rows as an Arrow stream, which costs each side little more than reading them.
ALL = {
    "duckdb": """
import pyarrow.ipc
reader = duckdb.sql(f"from read_parquet('{pattern}')").to_arrow_reader()
writer = pyarrow.ipc.new_stream(out, reader.schema)
for batch in reader:
    writer.write_batch(batch)
""",
    "polars": "polars.scan_parquet(pattern).sink_ipc(out)",
    "pyarrow": """
import pyarrow.ipc, pyarrow.parquet
file = pyarrow.parquet.ParquetFile(path)
writer = pyarrow.ipc.new_stream(out, file.schema_arrow)
for batch in file.iter_batches():
    writer.write_batch(batch)
""",
}

ALL_FILES = {
    **ALL,
    "pyarrow": """
import pyarrow.dataset, pyarrow.ipc
table = pyarrow.dataset.dataset(path)
writer = pyarrow.ipc.new_stream(out, table.schema)
for batch in table.to_batches():
    writer.write_batch(batch)
""",
}

ONE_ID = {
    "duckdb": "print(duckdb.sql(f\"from read_parquet('{pattern}') where id = {id}\").fetchall())",
    "polars": "print(polars.scan_parquet(pattern).filter(polars.col('id') == id).collect().rows())",
    "pyarrow": """
import pyarrow.parquet
print(pyarrow.parquet.read_table(path, filters=[("id", "=", id)]).to_pylist())
""",
}

SOME_COLUMNS = {
    "duckdb": "print(duckdb.sql(f\"select {', '.join(names)} from read_parquet('{pattern}')\").fetchall())",
    "polars": "print(polars.scan_parquet(pattern).select(names).collect().rows())",
    "pyarrow": """
import pyarrow.parquet
print(pyarrow.parquet.read_table(path, columns=names).to_pylist())
""",
}

COUNT = {
    "duckdb": "print(duckdb.sql(f\"select count(*) from read_parquet('{pattern}')\").fetchall())",
    "polars": "print(polars.scan_parquet(pattern).select(polars.len()).collect().rows())",
    "pyarrow": """
import pyarrow.dataset
print(pyarrow.dataset.dataset(path).count_rows())
""",
}

JOBS = [
    Job("all rows", "rows", "cat --format arrow {path}", ALL),
    Job("3 of the columns", "columns", "cat -c {names} {path}", SOME_COLUMNS),
    Job("all columns", "columns", "cat --format arrow {path}", ALL),
    Job("one id", "row groups", "cat -w id={id} {path}", ONE_ID),
    Job("all row groups", "row groups", "cat --format arrow {path}", ALL),
    Job("one id in files", "files", "cat -w id={id} {path}", ONE_ID),
    Job("count of files", "files", "count {path}", COUNT),
    Job("all files", "files", "cat --format arrow {path}", ALL_FILES),
]

PEER = """
import os, sys
path, pattern, id, names = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4].split(",")
out = "/dev/null"
import {side}
{prepare}
{program}
"""

PREPARE = {"duckdb": "duckdb.execute('set enable_progress_bar = false')"}

Cost = namedtuple("Cost", "seconds megabytes")


def cost(command):
    """The cost of a process, or `None` if it ran out of patience. It fails if the process does."""
    # A child begins with the peak of its parent, so this script imports nothing large.
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    until = time.monotonic() + PATIENCE
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > until:
            process.kill()
            os.wait4(process.pid, 0)
            process.returncode = 1
            return None
        time.sleep(0.01)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6)


def commands(herringbone, job, path, count, each):
    """By side: the command of a job."""
    last = {"columns": count}.get(job.kind, count * each) - 1
    id = last * 3 // 4
    names = f"c0,c{count // 2},c{last}"
    ours = [word.format(path=path, id=id, names=names) for word in job.command.split()]
    pattern = f"{path}/*.parquet" if job.kind == "files" else path
    found = {"herringbone": [herringbone, "--quiet", *ours]}
    for side, program in job.peers.items():
        script = PEER.format(side=side, prepare=PREPARE.get(side, ""), program=program)
        found[side] = [sys.executable, "-c", script, path, pattern, str(id), names]
    return found


def least(sides, repeats):
    """By side: its least processor time and memory."""
    found = {side: Cost(math.inf, math.inf) for side in sides}
    for run in range(repeats):
        for side, command in sides.items() if run % 2 == 0 else reversed(sides.items()):
            # A side that ran out of patience once is not asked again.
            if found[side] is not None:
                new = cost(command)
                found[side] = new and Cost(*map(min, found[side], new))
    return found


def row(name, count, costs):
    times = [f"{it.seconds:.2f}" if it else f"> {PATIENCE}" for it in (costs[side] for side in SIDES)]
    sizes = [f"{it.megabytes:.0f}" if it else "" for it in (costs[side] for side in SIDES)]
    return f"| {name} | {count} | {' | '.join(times + sizes)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("herringbone")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--scale", type=int, default=1, help="divide all sizes by this")
    parser.add_argument("jobs", nargs="*")
    options = parser.parse_intermixed_args()
    began = time.monotonic()
    load = [os.getloadavg()[0]]
    print("| job | size | " + " | ".join(f"{side}, s" for side in SIDES) + " | " + " | ".join(f"{side}, MB" for side in SIDES) + " |")
    print("|---|---:|" + "---:|" * 2 * len(SIDES))
    start = {"herringbone": [options.herringbone, "--version"]}
    start |= {side: [sys.executable, "-c", f"import {side}"] for side in SIDES[1:]}
    print(row("start", "", least(start, options.repeats)), flush=True)
    for kind, (counts, each) in SIZES.items():
        jobs = [job for job in JOBS if job.kind == kind and any(part in f"{job.name}, {kind}" for part in options.jobs or [""])]
        for count in (count // options.scale for count in counts) if jobs else ():
            path = str(options.folder / f"{kind.replace(' ', '-')}-{count}")
            subprocess.run([sys.executable, "-c", WRITERS[kind], path, str(count), str(each)], check=True)
            for job in jobs:
                sides = commands(options.herringbone, job, path, count, each)
                print(row(job.name, f"{count:,} {kind}", least(sides, options.repeats)), flush=True)
                load.append(os.getloadavg()[0])
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    minutes = (time.monotonic() - began) / 60
    print(f"\n{minutes:.0f} minutes, {os.cpu_count()} cores, load {min(load):.1f} to {max(load):.1f}")


if __name__ == "__main__":
    main()

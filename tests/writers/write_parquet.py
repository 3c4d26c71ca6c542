"""Files of the crate `parquet`, from streams of Arrow IPC that pyarrow makes and the program of `parquet.rs` takes."""

import os
import subprocess
from pathlib import Path

import pyarrow as pa

import write_pyarrow
import writer

PROGRAM = Path(os.environ["WRITER"]) / "writer"
OPTIONS = [
    {},
    {"compression": "snappy", "version": "2"},
    {"dictionary": "false", "row_group_size": 100, "statistics": "chunk"},
    {"page_size": 100, "write_batch_size": 16},
    {"version": "2", "page_size": 100, "write_batch_size": 16, "dictionary": "false", "compression": "snappy"},
    {"row_group_size": 256, "statistics": "none", "bloom_filter": "300"},
]

made = {}


def write(path, names, rows, options):
    key = (tuple(names), rows)
    if key not in made:
        made.clear()
        table = pa.table([write_pyarrow.array(name, rows) for name in names], names=names)
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, table.schema) as out:
            out.write_table(table)
        made[key] = stream.getvalue()
    options = [f"{name}={value}" for name, value in options.items()]
    done = subprocess.run([PROGRAM, "write", path, *options], input=made[key], stderr=subprocess.PIPE)
    if done.returncode != 0:
        path.unlink(missing_ok=True)
        raise RuntimeError(done.stderr.decode())


VERSION = int(PROGRAM.parent.name.removeprefix("parquet-").split(".")[0])
if VERSION < 40:
    # DELTA_BYTE_ARRAY continues after the last value of the page before, and no reader follows that, not even its own.
    OPTIONS[4] = {name: value for name, value in OPTIONS[4].items() if name not in ("page_size", "write_batch_size")}
if VERSION < 30:
    # It panics at pages of version 2 with no boolean but nulls.
    OPTIONS = [{**options, "without": ["bool"]} if "version" in options else options for options in OPTIONS]
writer.Writer(write, OPTIONS, write_pyarrow.TYPES).run()

"""Repairs damaged copies of files that other programs write, and compares what comes back with the tables.

    python tests/interop_repair.py [target/debug/herringbone] [--tables N] [--seed N]

pyarrow, duckdb, polars and `herringbone convert` write random tables, columns of one type next to each other among them,
with every codec, page version, and with and without dictionaries. Copies lose the footer, are cut anywhere, or have a bit
flipped, in pages or in the footer. Each row that comes back has to be one of the table, in its order; row groups in front of a cut have to come back
if the number of their rows is given; and where rows are missing, the exit code or a note has to show it.
"""

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("int64", "int32", "string", "double", "timestamp", "list")
PYARROW_CODECS = ("none", "snappy", "gzip", "brotli", "zstd", "lz4")
OWN_CODECS = ("none", "snappy", "gzip", "brotli", "zstd", "lz4_raw")


def column(rng, kind, rows):
    span = rng.choice((3, 40, 2**30))
    numbers = [rng.randrange(span) for _ in range(rows)]
    if rng.random() < 0.3:
        numbers = [None if rng.random() < 0.2 else number for number in numbers]
    if kind == "string":
        return pa.array([None if it is None else f"s{it}" for it in numbers])
    if kind == "double":
        return pa.array([None if it is None else it / 7 for it in numbers], pa.float64())
    if kind == "list":
        return pa.array([None if it is None else [it] * (it % 4) for it in numbers], pa.list_(pa.int64()))
    types = {"int64": pa.int64(), "int32": pa.int32(), "timestamp": pa.timestamp("us")}
    return pa.array(numbers, types[kind])


def table(rng):
    rows = rng.randrange(20, 300)
    kinds = [rng.choice(KINDS) for _ in range(rng.randrange(1, 5))]
    if rng.random() < 0.5:
        kinds = [kinds[0]] * len(kinds)
    names = [f"c{ordinal}" for ordinal in range(len(kinds))]
    return pa.table([column(rng, kind, rows) for kind in kinds], names), kinds


def write(rng, command, path, rows, row_group_rows):
    """Writes the table; which program wrote it, and whether bodies of pages have checksums."""
    writer = rng.choice(("pyarrow", "duckdb", "polars", "herringbone"))
    if writer == "pyarrow":
        checksums = rng.random() < 0.7
        pq.write_table(
            rows,
            path,
            row_group_size=row_group_rows,
            compression=rng.choice(PYARROW_CODECS),
            use_dictionary=rng.choice((True, False, ["c0"])),
            data_page_version=rng.choice(("1.0", "2.0")),
            data_page_size=rng.choice((64, 1 << 20)),
            write_batch_size=rng.choice((7, 1024)),
            write_page_checksum=checksums,
            write_page_index=rng.random() < 0.5,
        )
    elif writer == "duckdb":
        checksums = False
        codec = rng.choice(("uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4_raw"))
        version = rng.choice(("V1", "V2"))
        connection = duckdb.connect()
        connection.register("t", rows)
        connection.sql(
            f"copy t to '{path}' (format parquet, codec '{codec}', parquet_version {version}, row_group_size 2048)"
        )
    elif writer == "polars":
        checksums = False
        codec = rng.choice(("uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4"))
        frame = pl.from_arrow(rows)
        frame.write_parquet(path, compression=codec, row_group_size=row_group_rows, data_page_size=rng.choice((64, 1 << 20)))
    else:
        checksums = True
        source = Path(path).with_suffix(".arrow")
        with pa.ipc.new_file(source, rows.schema) as file:
            file.write_table(rows)
        options = ["--compression", rng.choice(OWN_CODECS), "--page-version", rng.choice("12")]
        options += ["--row-group-rows", str(row_group_rows)]
        options += rng.choice(([], ["--dictionary", "off"], ["--page-rows", "9"]))
        subprocess.run([command, "-q", "convert", source, path, "-f", *options], check=True)
    return writer, checksums


def footer(data):
    return len(data) - 8 - int.from_bytes(data[-8:-4], "little")


def damages(rng, data, checksums):
    """Damaged copies: what was done, the bytes, and where the undamaged front ends."""
    start = footer(data)
    yield "footer gone", data[:start], start
    yield "tail gone", data[:-8], start
    for _ in range(3):
        cut = rng.randrange(4, start)
        yield f"cut at {cut}", data[:cut], cut
    cut = rng.randrange(start, len(data))
    yield f"cut at {cut} in the footer", data[:cut], start
    # Without checksums, nothing shows that a value is another one.
    for _ in range(3 if checksums else 0):
        at = rng.randrange(4, start)
        flipped = bytearray(data)
        flipped[at] ^= 1 << rng.randrange(8)
        yield f"flip at {at}", bytes(flipped), 0
        yield f"flip at {at}, footer gone", bytes(flipped[:start]), 0
        yield f"flip at {at}, footer cut", bytes(flipped[: start + 30]), 0
    for _ in range(2):
        flipped = bytearray(data)
        at = rng.randrange(start, len(data) - 8)
        flipped[at] ^= 1 << rng.randrange(8)
        yield f"flip at {at} in the footer", bytes(flipped), 0


def rows_in_order(all_rows, back):
    """Returns true if the rows are some of all rows, in their order."""
    left = iter(all_rows)
    return all(any(row == other for other in left) for row in back)


def text(rows):
    return [repr(row) for row in rows.to_pylist()]


def ends(path):
    """Returns the end of each row group in bytes, and its number of rows."""
    metadata = pq.read_metadata(path)
    found = []
    for ordinal in range(metadata.num_row_groups):
        row_group = metadata.row_group(ordinal)
        chunk = row_group.column(row_group.num_columns - 1)
        start = chunk.data_page_offset
        if chunk.has_dictionary_page:
            start = min(start, chunk.dictionary_page_offset)
        found.append((start + chunk.total_compressed_size, row_group.num_rows))
    return found


def check(command, folder, seed):
    rng = random.Random(seed)
    rows, kinds = table(rng)
    path, damaged, out = (str(folder / name) for name in ("whole.parquet", "damaged.parquet", "out.parquet"))
    row_group_rows = rng.randrange(5, 120)
    writer, checksums = write(rng, command, path, rows, row_group_rows)
    data = Path(path).read_bytes()
    whole = pq.read_table(path)
    wanted = text(whole)
    row_groups = ends(path)
    size = max(count for _, count in row_groups)
    faults, came_back = [], 0
    for what, copy, front in damages(rng, data, checksums):
        Path(damaged).write_bytes(copy)
        for options in ([], ["--input-row-group-rows", str(size)]):
            call = [command, "repair", damaged, out, "-f", "--schema", path, *options]
            Path(out).unlink(missing_ok=True)
            run = subprocess.run(call, capture_output=True, text=True, timeout=120)
            where = f"seed {seed}, {writer}, {kinds}, {what}, {options}: code {run.returncode}"
            if run.returncode not in (0, 1, 3):
                faults.append(f"{where}: {run.stderr}")
                continue
            back = pq.read_table(out) if run.returncode < 3 else whole.slice(0, 0)
            # A flipped bit may make another valid type or name.
            if what.startswith("flip") and what.endswith("in the footer") and back.schema.remove_metadata() != whole.schema.remove_metadata():
                continue
            back = text(back)
            came_back += len(back)
            if not rows_in_order(wanted, back):
                faults.append(f"{where}: rows that were not there")
            told = run.returncode > 0 or "does not show whether rows followed" in run.stderr
            if len(back) < len(wanted) and not told:
                faults.append(f"{where}: {len(wanted) - len(back)} rows are lost without a word")
            # Nothing shows that a short row group at the end of a cut file is not a part of a longer one.
            complete = sum(count for end, count in row_groups if end <= front and count == size)
            # A list in a page of version 1 may go on in a page that is not there.
            last = size if kinds[-1] == "list" else 0
            if options and front and len(back) < complete - last:
                faults.append(f"{where}: {len(back)} of {complete} rows: {run.stderr}")
    return faults, came_back


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", nargs="?", default=str(ROOT / "target/debug/herringbone"))
    parser.add_argument("--tables", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    faults, came_back = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(arguments.seed, arguments.seed + arguments.tables):
            found, rows = check(str(Path(arguments.command).resolve()), Path(folder), seed)
            faults += found
            came_back += rows
    for fault in faults:
        print(fault)
    print(f"{arguments.tables} tables, {came_back} rows came back, {len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()

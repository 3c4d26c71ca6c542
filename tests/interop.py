"""Compares what the command gives to others with what they read themselves.

    python tests/interop.py [target/debug/herringbone]

Each file goes through `herringbone cat --format arrow`; pyarrow opens the stream. It has to hold what the JSON beside
(or for) the file says, and, where pyarrow reads the file itself, the same table. PARQUET_TEST_DATA names the folder `data` of a
copy of apache/parquet-testing; without it only the files of testdata/ are compared.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "testdata" / "scripts"))
import canonical  # noqa: E402

# Files that are errors with default options; the Rust tests look at them.
ERRORS = {
    "data/datapage_v1-corrupt-checksum.parquet", "data/rle-dict-uncompressed-corrupt-checksum.parquet",
    "data/int96_from_spark.parquet", "data/large_string_map.brotli.parquet",
}
# Files that pyarrow reads otherwise than the format says: levels from the wrong end of each byte, and nothing behind a
# page without values.
PYARROW_FAULTS = {
    "bit_packed_levels.parquet", "pages_without_values.parquet", "delta_int32_counts.parquet", "delta_int64_counts.parquet",
}


def columns_text(columns, rows):
    text = canonical.expectation(columns, rows)
    return [f"{rows} rows", *text[text.index('"columns"'):].splitlines()]


def expected_text(path):
    text = path.read_text()
    rows = text[len('{"rows":'):text.index(",")]
    return [f"{rows} rows", *text[text.index('"columns"'):].splitlines()]


def stream(command, path):
    """The table that the command writes for a file."""
    done = subprocess.run([command, "cat", "--format", "arrow", path], capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr.decode().strip()}")
    with pa.ipc.open_stream(done.stdout) as reader:
        table = reader.read_all()
    table.validate(full=True)
    return table



def check(command, path, expectation):
    """What is wrong, one line each."""
    try:
        table = stream(command, path)
    except (RuntimeError, pa.ArrowInvalid) as error:
        return [str(error)]
    ours = columns_text(canonical.table_columns(table), table.num_rows)
    wrong = []
    if expectation.exists():
        wanted = expected_text(expectation)
        # What is said of the bytes of a geometry is for interop_geospatial.py.
        geometry = re.compile(r"extension geoarrow\.wkb\((\w+)\)")
        ours, wanted = ([geometry.sub(r"\1", line) for line in lines] for lines in (ours, wanted))
        wrong += [f"{a[:200]} is not {b[:200]}" for a, b in zip(ours, wanted) if a != b]
        wrong += ["another number of columns"] * (len(ours) != len(wanted))
    if path.name in PYARROW_FAULTS:
        return wrong
    try:
        theirs = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return wrong
    if theirs.num_rows != table.num_rows:
        wrong.append(f"{table.num_rows} rows, pyarrow reads {theirs.num_rows}")
    # Groups without fields are no columns to pyarrow.
    elif theirs.schema.names == table.schema.names:
        for field, a, b in zip(table.schema, table.columns, theirs.columns):
            if same_kind(field.type, b.type) and canonical.lines(a) != canonical.lines(b):
                wrong.append(f"{field.name}: pyarrow reads other values")
    return wrong


def same_kind(a, b):
    """Types that differ by design have other values too: an interval is twelve bytes to pyarrow."""
    return canonical.type_text(a) == canonical.type_text(b)


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "debug" / "herringbone")
    cases = []
    for folder in (".", "built", "pyarrow", "duckdb", "polars", "fastparquet"):
        for path in sorted((ROOT / "testdata" / folder).glob("*.parquet")):
            cases.append((path, path.with_suffix(".json")))
    official = os.environ.get("PARQUET_TEST_DATA")
    if official is None:
        print("PARQUET_TEST_DATA is not set: the official files are skipped", file=sys.stderr)
    else:
        # Variants are unshredded by the command: interop_variant.py has them.
        for folder in ("data", "data/geospatial"):
            for path in sorted((Path(official).resolve().parent / folder).glob("*.parquet")):
                name = f"{folder}/{path.name}"
                if name not in ERRORS:
                    cases.append((path, ROOT / "tests" / "expected" / f"{name}.json"))
    faults = 0
    for path, expectation in cases:
        for fault in check(command, path, expectation):
            faults += 1
            print(f"{path.parent.name}/{path.name}: {fault}")
    print(f"{len(cases)} files, {faults} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

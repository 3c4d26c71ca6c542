"""Compares files with what `herringbone rewrite` makes of them, as pyarrow and duckdb see both.

    python tests/interop_rewrite.py [target/debug/herringbone]

For the files of `testdata`, and those of `PARQUET_TEST_DATA` where it is set: pyarrow has to show the same Parquet schema, key-value
metadata and rows, duckdb the same `parquet_schema` and the columns with bloom filters. What either cannot open is not compared.

Frames of pandas have to come back from rewritten and concatenated files with their index, nullable types and categories,
which polars has to read as well.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
# By file and what is compared: why it differs.
OTHER = {
    ("map_with_optional_keys.parquet", "schema"): "keys are REQUIRED, as the specification has it",
    ("incorrect_map_schema.parquet", "schema"): "keys are REQUIRED, as the specification has it",
    ("unknown_and_misplaced_logical_types.parquet", "schema"): "annotations that a type cannot have are left out, with a note",
    ("bit_packed_levels.parquet", "rows"): "pyarrow misreads BIT_PACKED levels",
    ("delta_int32_counts.parquet", "rows"): "pyarrow ends at a page without values",
    ("delta_int64_counts.parquet", "rows"): "pyarrow ends at a page without values",
    ("pages_without_values.parquet", "rows"): "pyarrow ends at a page without values",
}


def key_values(metadata):
    return {key: value for key, value in (metadata or {}).items() if key not in (b"ARROW:schema", b"herringbone:schema")}


def pyarrow_sees(path):
    file = pq.ParquetFile(path)
    schema = str(file.schema).split("\n", 1)[1]  # behind the address of the object
    # What the root says beside its name has no meaning, its repetition among it.
    schema = schema[schema.index("group "):]
    return {"schema": schema, "key-values": key_values(file.metadata.metadata), "rows": file.read().to_pylist(),
            "metadata of the Arrow schema": file.schema_arrow.metadata or {}}


def duckdb_sees(path):
    columns = ("name, type, type_length, repetition_type, num_children, converted_type, scale, precision, field_id, "
               "logical_type")
    schema = duckdb.sql(f"select {columns} from parquet_schema('{path}')").fetchall()
    # What the root says beside its name has no meaning.
    schema[0] = (schema[0][0], schema[0][4])
    filters = (f"select distinct path_in_schema from parquet_metadata('{path}') "
               "where bloom_filter_offset is not null order by 1")
    return {"schema": schema, "bloom filters": duckdb.sql(filters).fetchall()}


def frames():
    """Lists of frames: each is written to a file of its own, and all of a list become one file."""
    def categories(first):
        words = [f"category {i}" for i in range(first, first + 100)]
        return pd.DataFrame({"c": pd.Categorical(words, categories=words)})

    index = pd.Index(["p", "q"], name="k")
    types = {"s": pd.array([1, None, 3], dtype="Int64"), "t": pd.date_range("2024-01-01", periods=3, tz="Europe/Rome"),
             "p": pd.period_range("2024-01", periods=3, freq="M"), "c": pd.Categorical(["x", "y", "x"])}
    yield [pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=index)]
    yield [pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=["p", "q"])]
    yield [pd.DataFrame(types)]
    yield [categories(0), categories(100)]


def frame_faults(command, folder):
    for number, parts in enumerate(frames()):
        paths = [folder / f"{number}_{part}.parquet" for part in range(len(parts))]
        for path, frame in zip(paths, parts):
            frame.to_parquet(path)
        target = folder / f"{number}.parquet"
        words = ["rewrite", paths[0], target] if len(parts) == 1 else ["concat", *paths, "-o", target]
        subprocess.run([command, *words], check=True)
        expected = parts[0] if len(parts) == 1 else pd.concat([part.astype(str) for part in parts], ignore_index=True)
        try:
            found = pd.read_parquet(target)
            pd.testing.assert_frame_equal(found if len(parts) == 1 else found.astype(str).reset_index(drop=True), expected)
            rows = pl.read_parquet(target).height
            assert rows == len(expected), f"polars reads {rows} rows"
        except Exception as error:  # noqa: BLE001: whatever a reader throws is a fault
            yield f"frame {number}: {type(error).__name__}: {str(error)[:300]}"


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "debug" / "herringbone")
    files = sorted(path for path in (ROOT / "testdata").rglob("*.parquet") if path.parent.name != "hostile")
    if "PARQUET_TEST_DATA" in os.environ:
        files += sorted(Path(os.environ["PARQUET_TEST_DATA"]).glob("*.parquet"))
    faults, refused, compared = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.parquet"
        for path in files:
            done = subprocess.run([command, "rewrite", "-q", "--force", path, target], capture_output=True, text=True)
            if done.returncode != 0:
                refused += 1  # encrypted files, and groups without fields
                continue
            for reader in (pyarrow_sees, duckdb_sees):
                try:
                    before = reader(path)
                except Exception:  # noqa: BLE001: what they cannot open is not compared
                    continue
                try:
                    after = reader(target)
                except Exception as error:  # noqa: BLE001: whatever a reader throws is a fault
                    faults.append(f"{path.name}: {reader.__name__}: {type(error).__name__}: {str(error)[:200]}")
                    continue
                compared += 1
                for what, value in before.items():
                    if what == "metadata of the Arrow schema":  # it may have more: all pairs of the footer
                        after[what] = {key: one for key, one in after[what].items() if key in value}
                    # NaNs are equal here.
                    if repr(after[what]) != repr(value) and (path.name, what) not in OTHER:
                        faults.append(f"{path.name}: {reader.__name__}: {what}: {str(after[what])[:700]} instead of {str(value)[:700]}")
        faults += frame_faults(command, Path(folder))
    for fault in faults:
        print(fault)
    print(f"{len(files)} files, {refused} refused, {compared} comparisons, {len(faults)} faults")
    sys.exit(1 if faults or compared < 200 else 0)


if __name__ == "__main__":
    main()

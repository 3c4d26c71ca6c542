"""Compares files with what `herringbone rewrite` makes of them, as pyarrow and duckdb see both.

    python tests/interop_rewrite.py [target/debug/herringbone]

For the files of `testdata`, and those of `PARQUET_TEST_DATA` where it is set: pyarrow has to show the same Parquet schema, key-value
metadata and rows, duckdb the same `parquet_schema` and the columns with bloom filters. What either cannot open is not compared.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
# By file and what is compared: why it differs.
OTHER = {
    ("map_with_optional_keys.parquet", "schema"): "keys are REQUIRED, as the specification has it",
    ("incorrect_map_schema.parquet", "schema"): "keys are REQUIRED, as the specification has it",
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
    return {"schema": schema, "key-values": key_values(file.metadata.metadata), "rows": file.read().to_pylist()}


def duckdb_sees(path):
    columns = ("name, type, type_length, repetition_type, num_children, converted_type, scale, precision, field_id, "
               "logical_type")
    schema = duckdb.sql(f"select {columns} from parquet_schema('{path}')").fetchall()
    # What the root says beside its name has no meaning.
    schema[0] = (schema[0][0], schema[0][4])
    filters = (f"select distinct path_in_schema from parquet_metadata('{path}') "
               "where bloom_filter_offset is not null order by 1")
    return {"schema": schema, "bloom filters": duckdb.sql(filters).fetchall()}


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
                    # NaNs are equal here.
                    if repr(after[what]) != repr(value) and (path.name, what) not in OTHER:
                        faults.append(f"{path.name}: {reader.__name__}: {what}: {str(after[what])[:700]} instead of {str(value)[:700]}")
    for fault in faults:
        print(fault)
    print(f"{len(files)} files, {refused} refused, {compared} comparisons, {len(faults)} faults")
    sys.exit(1 if faults or compared < 200 else 0)


if __name__ == "__main__":
    main()

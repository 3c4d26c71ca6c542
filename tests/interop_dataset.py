"""Compares what pyarrow, DuckDB and polars read of a dataset with the rows that were written.

    python tests/interop_dataset.py [target/debug/examples/partitions]

The example writes 10,000 rows, partitioned by numbers and by texts with characters that are escaped, and `_metadata`. Each peer has to find
the same rows, also with a condition on the partition columns. `testdata/scripts/datasets.py` compares in the other direction.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

ROOT = Path(__file__).resolve().parents[1]
CITIES = ["São Paulo", "a/b", "x=y 100%", None]
EXPECTED = [(id, 2022 + id % 3, CITIES[id % 4], id / 100) for id in range(10_000)]
COLUMNS = ["id", "year", "city", "price"]


def rows(table):
    return sorted(zip(*(table[column].to_pylist() for column in COLUMNS)))


def by_pyarrow(folder):
    hive = ds.partitioning(pa.schema([("year", pa.int64()), ("city", pa.string())]), flavor="hive")
    whole = ds.dataset(folder, partitioning=hive)
    yield "all", rows(whole.to_table())
    yield "2024", rows(whole.to_table(filter=ds.field("year") == 2024))
    yield "a/b", rows(whole.to_table(filter=ds.field("city") == "a/b"))
    yield "null", rows(whole.to_table(filter=ds.field("city").is_null()))
    of_metadata = ds.parquet_dataset(folder / "_metadata", partitioning=hive)
    yield "all", rows(of_metadata.to_table())


def by_duckdb(folder):
    source = f"read_parquet('{folder}/**/*.parquet', hive_partitioning = true)"
    conditions = {"all": "true", "2024": "year = 2024", "a/b": "city = 'a/b'", "null": "city IS NULL"}
    for name, condition in conditions.items():
        query = f"SELECT id, year, city, price FROM {source} WHERE {condition} ORDER BY id"
        yield name, duckdb.sql(query).fetchall()


def by_polars(folder):
    whole = pl.scan_parquet(f"{folder}/**/*.parquet", hive_partitioning=True)
    conditions = {
        "all": pl.lit(True),
        "2024": pl.col("year") == 2024,
        "a/b": pl.col("city") == "a/b",
        "null": pl.col("city").is_null(),
    }
    for name, condition in conditions.items():
        yield name, sorted(whole.filter(condition).select(COLUMNS).collect().rows())


def main():
    example = sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/debug/examples/partitions"
    expected = {
        "all": EXPECTED,
        "2024": [row for row in EXPECTED if row[1] == 2024],
        "a/b": [row for row in EXPECTED if row[2] == "a/b"],
        "null": [row for row in EXPECTED if row[2] is None],
    }
    compared, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder) / "dataset"
        subprocess.run([example, folder], check=True, stdout=subprocess.DEVNULL)
        for peer in (by_pyarrow, by_duckdb, by_polars):
            for name, found in peer(folder):
                compared += 1
                if found != expected[name]:
                    wrong += 1
                    print(f"{peer.__name__}, {name}: {len(found)} rows, {len(expected[name])} expected")
                    print([pair for pair in zip(found, expected[name]) if pair[0] != pair[1]][:3])
    print(f"datasets: {compared} results compared, {wrong} differ")
    sys.exit(wrong > 0)


main()

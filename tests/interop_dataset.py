"""Compares datasets with pyarrow, DuckDB and polars, in both directions.

    python tests/interop_dataset.py [target/debug/examples]

The example `partitions` writes 10,000 rows, partitioned by numbers and by texts with escaped characters, `_metadata` and `_common_metadata`.
Each peer has to find the same rows, also with a condition on the partition columns.

pyarrow, polars and DuckDB write datasets. So does Spark, and it reads ours, if pyspark and its Java are there. The example `find` has to find the same rows in all of them as DuckDB, by equal conditions.
`testdata/scripts/datasets.py` compares further conditions.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

try:
    from pyspark.sql import SparkSession
except ImportError:
    SparkSession = None

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
    yield "2024", rows(of_metadata.to_table(filter=ds.field("year") == 2024))


def wrong_metadata(folder):
    """Returns the differences that pyarrow finds between the metadata files and the files."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.parquet"))
    metadata, common = (pq.read_metadata(folder / name) for name in ("_metadata", "_common_metadata"))
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    paths = sorted({group.column(at).file_path for group in groups for at in range(group.num_columns)})
    if paths != files:
        yield f"_metadata names {len(paths)} files of {len(files)}"
    if metadata.num_rows != len(EXPECTED) or sum(group.num_rows for group in groups) != len(EXPECTED):
        yield f"_metadata counts {metadata.num_rows} rows"
    if (common.num_row_groups, common.num_rows) != (0, 0):
        yield f"_common_metadata has {common.num_row_groups} row groups"
    of_file = pq.read_schema(folder / files[0])
    for other in (metadata, common):
        if not other.schema.to_arrow_schema().equals(of_file, check_metadata=True):
            yield f"schema: {other.schema.to_arrow_schema()}"


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


def spark():
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def by_spark(folder):
    whole = spark().read.parquet(str(folder)).select(COLUMNS)
    conditions = {"all": "true", "2024": "year = 2024", "a/b": "city = 'a/b'", "null": "city IS NULL"}
    for name, condition in conditions.items():
        yield name, sorted(tuple(row) for row in whole.where(condition).collect())


def find(examples, folder, column, value):
    text = "NULL" if value is None else str(value)
    command = [examples / "find", folder, column, text]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return sorted(int(line) for line in found.stdout.split())


def duckdb_finds(folder, column, value):
    source = f"read_parquet('{folder}/**/*.parquet', hive_partitioning = true, union_by_name = true)"
    condition = f"{column} IS NULL" if value is None else f"{column} = ?"
    query = f"SELECT id FROM {source} WHERE {condition} ORDER BY id"
    return [row[0] for row in duckdb.execute(query, [] if value is None else [value]).fetchall()]


def datasets_of_peers(folder):
    """Writes datasets, and yields their paths with conditions."""
    ids = list(range(1000))
    days = [f"2024-01-{1 + id % 5:02}" for id in ids]
    table = pa.table({"id": ids, "year": [2022 + id % 3 for id in ids], "city": [CITIES[id % 4] for id in ids], "day": days, "v": [id % 10 for id in ids]})
    conditions = [("year", 2023), ("year", 1999), ("city", "a/b"), ("city", "x=y 100%"), ("city", None), ("day", "2024-01-03"), ("v", 7)]
    fields = [table.schema.field(name) for name in ("year", "city", "day")]
    hive = ds.partitioning(pa.schema(fields), flavor="hive")
    ds.write_dataset(table, folder / "pyarrow", format="parquet", partitioning=hive, max_rows_per_file=40, max_rows_per_group=40)
    yield folder / "pyarrow", conditions
    collected = []
    pq.write_to_dataset(table, folder / "metadata", partition_cols=["year", "city"], metadata_collector=collected)
    pq.write_metadata(table.select(["id", "day", "v"]).schema, folder / "metadata" / "_metadata", collected)
    yield folder / "metadata", conditions
    pl.from_arrow(table).write_parquet(folder / "polars", partition_by=["year", "city"])
    yield folder / "polars", conditions
    duckdb.execute(f"COPY (SELECT * FROM \"table\") TO '{folder}/duckdb' (FORMAT parquet, PARTITION_BY (year, day))")
    yield folder / "duckdb", conditions
    if SparkSession:
        frame = spark().createDataFrame(table.to_pylist(), "id long, year int, city string, day string, v long")
        frame.write.partitionBy("year", "city", "day").parquet(str(folder / "spark"))
        yield folder / "spark", conditions


def main():
    examples = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "target/debug/examples"
    expected = {
        "all": EXPECTED,
        "2024": [row for row in EXPECTED if row[1] == 2024],
        "a/b": [row for row in EXPECTED if row[2] == "a/b"],
        "null": [row for row in EXPECTED if row[2] is None],
    }
    compared, wrong = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        ours = Path(folder) / "dataset"
        subprocess.run([examples / "partitions", ours], check=True, stdout=subprocess.DEVNULL)
        for peer in (by_pyarrow, by_duckdb, by_polars, *([by_spark] if SparkSession else [])):
            for name, found in peer(ours):
                compared += 1
                if found != expected[name]:
                    wrong += 1
                    print(f"{peer.__name__}, {name}: {len(found)} rows, {len(expected[name])} expected")
                    print([pair for pair in zip(found, expected[name]) if pair[0] != pair[1]][:3])
        for difference in wrong_metadata(ours):
            wrong += 1
            print(difference)
        conditions = [("year", 2024), ("city", "a/b"), ("city", "São Paulo"), ("city", None), ("id", 777), ("price", 5)]
        for path, conditions in [(ours, conditions), *datasets_of_peers(Path(folder))]:
            for column, value in conditions:
                compared += 1
                found, by_duckdb_found = find(examples, path, column, value), duckdb_finds(path, column, value)
                if found != by_duckdb_found:
                    wrong += 1
                    print(f"{path.name}, {column} = {value}: {len(found)} rows, DuckDB finds {len(by_duckdb_found)}")
    print(f"datasets: {compared} results compared, {wrong} differ{'' if SparkSession else '; without Spark, which takes pyspark'}")
    sys.exit(wrong > 0)


main()

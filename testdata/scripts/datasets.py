"""Writes datasets/: partitioned data sets of several writers, and the rows that DuckDB finds in them.

`expected.tsv` has a line for each query: the data set, the condition in SQL, and the ids of the rows that satisfy it. DuckDB reads the
data sets; what pyarrow reads without a condition is compared with it. Names of files are fixed, so that the bytes are the same each time.
"""

from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

OUT = Path(__file__).resolve().parents[1] / "datasets"

# The data sets, and conditions on their columns.
QUERIES = {
    "months": ["true", "m = '01'", "m >= '02'", "m <> '10' AND id > 1", "m IN ('10', '1')"],
    "codes": [
        "true", "code IS NULL", "code = 'a/b'", "code = '01001'", "year = 2024 AND code <> '2A001'",
        "year = 2023 OR id = 5", "NOT (year = 2023)", "code IS NOT NULL AND year > 2023",
    ],
    "by_duckdb": ["true", "city = 'São Paulo'", "city = 'a=b/c%2F'", "day >= '2024-02-01'", "city IS NULL"],
    "by_polars": ["true", "k = 'x y'", "n < 10", "n = 10 AND k = 'z'"],
    "union": ["true", "x > 5", "t IS NULL", "f > 1.0 OR p = 1"],
    "with_metadata": ["true", "p = 2", "id >= 250 AND p < 3"],
}


def by_pyarrow(name, table, columns, **options):
    """Writes a data set with hive partitions. Texts stay texts, and escapes are pyarrow's."""
    flavour = ds.partitioning(pa.schema([table.schema.field(column) for column in columns]), flavor="hive")
    ds.write_dataset(
        table, OUT / name, format="parquet", partitioning=flavour, basename_template="part-{i}.parquet", **options
    )


def months():
    table = pa.table({"id": range(6), "m": ["01", "02", "10"] * 2})
    by_pyarrow("months", table, ["m"])


def codes():
    codes = ["01001", "2A001", None, "a/b"]
    rows = [(year, code) for year in (2023, 2024) for code in codes]
    table = pa.table(
        {
            "id": range(len(rows)),
            "year": pa.array([year for year, _ in rows], pa.int32()),
            "code": pa.array([code for _, code in rows], pa.string()),
        }
    )
    by_pyarrow("codes", table, ["year", "code"])


def of_duckdb():
    rows = "(0, 'São Paulo', '2024-01-31'), (1, 'a=b/c%2F', '2024-02-01'), (2, NULL, '2024-02-01'), (3, '', '2024-03-01')"
    duckdb.sql(
        f"COPY (SELECT id::BIGINT AS id, city, day::DATE AS day FROM (VALUES {rows}) t(id, city, day)) "
        f"TO '{OUT / 'by_duckdb'}' (FORMAT parquet, PARTITION_BY (day, city), FILENAME_PATTERN 'part-{{i}}')"
    )


def of_polars():
    frame = pl.DataFrame({"id": range(5), "k": ["x y", "z", "x y", "z", "z"], "n": [9, 10, 10, 9, 10]})
    frame.write_parquet(pl.PartitionBy(OUT / "by_polars", key=["k", "n"]), mkdir=True)


def union():
    """Three files whose columns differ: narrower integers, no `t`, and one more column."""
    files = {
        "p=1/a.parquet": {"id": pa.array([0, 1]), "x": pa.array([1, 9], pa.int32()), "t": pa.array(["a", "b"])},
        "p=2/b.parquet": {"id": pa.array([2, 3]), "x": pa.array([1 << 40, 2], pa.int64())},
        "p=3/c.parquet": {"f": pa.array([0.5, 1.5]), "id": pa.array([4, 5]), "t": pa.array([None, "c"])},
    }
    for path, columns in files.items():
        path = OUT / "union" / path
        path.parent.mkdir(parents=True)
        pq.write_table(pa.table(columns), path)


def with_metadata():
    collected = []
    table = pa.table({"id": range(400), "p": [at // 100 for at in range(400)]})

    def visit(file):
        metadata = file.metadata
        metadata.set_file_path(str(Path(file.path).relative_to(OUT / "with_metadata")))
        collected.append((file.path, metadata))

    by_pyarrow("with_metadata", table, ["p"], file_visitor=visit, max_rows_per_group=50)
    collected = [metadata for _, metadata in sorted(collected, key=lambda it: it[0])]
    schema = table.schema.remove(table.schema.get_field_index("p"))
    pq.write_metadata(schema, OUT / "with_metadata" / "_metadata", collected)
    pq.write_metadata(schema, OUT / "with_metadata" / "_common_metadata")


def rename():
    """Gives files the names that do not change from one run to the next."""
    for folder in sorted({path.parent for path in OUT.rglob("*.parquet")}):
        files = sorted(folder.glob("*.parquet"))
        if len(files) == 1 and folder.parent.name != "union" and "with_metadata" not in folder.parts:
            files[0].rename(folder / "part.parquet")


def write_all(out):
    assert out == OUT
    for write in (months, codes, of_duckdb, of_polars, union, with_metadata):
        write()
    rename()
    lines = []
    for name, conditions in QUERIES.items():
        pattern = OUT / name / "**" / "*.parquet"
        source = f"read_parquet('{pattern}', hive_partitioning = true, union_by_name = true)"
        for condition in conditions:
            found = duckdb.sql(f"SELECT id FROM {source} WHERE {condition} ORDER BY id").fetchall()
            lines.append(f"{name}\t{condition}\t{' '.join(str(row[0]) for row in found)}\n")
        ids = ds.dataset(OUT / name).to_table(columns=["id"])["id"].to_pylist()
        assert sorted(ids) == [row[0] for row in duckdb.sql(f"SELECT id FROM {source} ORDER BY id").fetchall()]
    (OUT / "expected.tsv").write_text("".join(lines), encoding="utf-8")


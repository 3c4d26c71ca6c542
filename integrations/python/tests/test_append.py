"""Rows appended to a file. The tables have the expected values, and pyarrow and DuckDB read them."""

import os

import pytest

import herringbone as hb

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_row_groups_are_copied_as_they_are(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"id": pa.array([3, 1, None], pa.int32()), "s": ["x", "y", None]})
    pq.write_table(table, path, compression="gzip", row_group_size=2)
    before = path.read_bytes()
    metadata = hb.append_table(table, path, compression="snappy")
    assert (metadata.num_rows, metadata.num_row_groups) == (6, 3)
    found = pq.ParquetFile(path)
    assert found.read() == pa.concat_tables([table, table])
    codecs = [found.metadata.row_group(group).column(0).compression for group in range(3)]
    assert codecs == ["GZIP", "GZIP", "SNAPPY"]
    # The pages of the first column chunk are the bytes of the old file.
    chunk = pq.ParquetFile(pa.BufferReader(before)).metadata.row_group(0).column(0)
    start = chunk.dictionary_page_offset
    assert path.read_bytes()[4 : 4 + chunk.total_compressed_size] == before[start : start + chunk.total_compressed_size]
    assert hb.verify(path) == [] and os.listdir(tmp_path) == ["a.parquet"]
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql(f"select count(*), sum(id) from '{path}'").fetchall() == [(6, 8)]


def test_metadata_of_the_file_are_kept(tmp_path):
    path = str(tmp_path / "a.parquet")
    schema = pa.schema([pa.field("id", pa.int64(), metadata={"PARQUET:field_id": "7"})], metadata={"owner": "us", b"raw": b"\xff"})
    table = pa.table([[1, 2]], schema=schema)
    hb.write_table(table, path, sorting_columns=hb.SortingColumn.from_ordering(table.schema, ["id"]), key_value_metadata={"more": "yes"})
    hb.append_table(table.cast(schema.remove_metadata()), path, key_value_metadata={"more": "again"})
    file = pq.ParquetFile(path)
    assert file.schema_arrow.field("id").metadata == {b"PARQUET:field_id": b"7"}
    found = file.metadata.metadata
    assert (found[b"owner"], found[b"raw"], found[b"more"]) == (b"us", b"\xff", b"again")
    assert [len(file.metadata.row_group(group).sorting_columns) for group in range(2)] == [1, 1]
    hb.append_table(pa.table([[9, 3]], schema=schema), path)
    # Rows without this order do not claim it.
    assert [len(pq.ParquetFile(path).metadata.row_group(group).sorting_columns) for group in range(3)] == [1, 1, 0]


def test_a_failure_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "a.parquet"
    hb.write_table(pa.table({"id": [1]}), path)
    before = path.read_bytes()
    for table, reason in (
        (pa.table({"id": ["x"]}), "does not match"), (pa.table({"n": [1]}), "does not match"), (pa.table({"id": [1], "n": [1]}), "does not match"),
    ):
        with pytest.raises(ValueError, match=reason):
            hb.append_table(table, path)

    def batches():
        yield pa.record_batch({"id": [2]})
        raise RuntimeError("no more rows")

    with pytest.raises(ValueError, match="no more rows"):
        hb.append_table(batches(), path)
    with pytest.raises(hb.ParquetError, match="encoded row groups cannot be appended"):
        hb.append_table(pa.table({"id": [1]}), path, sort_by=["id"])
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.parquet"]
    with pytest.raises(FileNotFoundError):
        hb.append_table(pa.table({"id": [1]}), tmp_path / "b.parquet")
    for where in (open(path, "rb"), "memory://a.parquet"):
        with pytest.raises(NotImplementedError, match="append_table needs a path"):
            hb.append_table(pa.table({"id": [1]}), where)

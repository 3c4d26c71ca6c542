"""Tables on their way in and out: slices, nested columns, columns that a read adds, Python objects."""

import datetime
import io

import pytest

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

import pyarrow.parquet as pq

import herringbone as hb
import herringbone.pyarrow as hpq

ROWS = 60
NESTED = pa.table(
    {
        "id": range(ROWS),
        "deep": [{"x": i, "y": {"z": str(i)} if i % 3 else None} if i % 5 else None for i in range(ROWS)],
        "fixed": pa.array([[{"x": i}, None] for i in range(ROWS)], pa.list_(pa.struct({"x": pa.int64()}), 2)),
        "list": pa.ListArray.from_arrays(
            pa.array(range(ROWS + 1), pa.int32()), pa.array([{"a": {"b": i}} for i in range(ROWS + 10)]).slice(10)
        ),
        "map": pa.array([[("k", {"v": i})] for i in range(ROWS)], pa.map_(pa.string(), pa.struct({"v": pa.int64()}))),
        "code": pa.array(["x", "y"] * (ROWS // 2)).dictionary_encode(),
    }
)


@pytest.mark.parametrize("start, rows", [(0, ROWS), (0, 9), (13, 20), (40, 20), (8, 8)])
def test_slices_of_nested_columns(start, rows):
    part = NESTED.slice(start, rows)
    batch = NESTED.to_batches()[0].slice(start, rows)
    stream = pa.RecordBatchReader.from_batches(NESTED.schema, [batch, batch.slice(0, 0), batch])
    for data, expected in ((part, part), (batch, part), (stream, pa.concat_tables([part, part]))):
        file = io.BytesIO()
        hb.write_table(data, file)
        assert pq.read_table(io.BytesIO(file.getvalue())).to_pylist() == expected.to_pylist()
    assert hb.Table(batch).to_pydict() == part.to_pydict()
    file = io.BytesIO()
    with hpq.ParquetWriter(file, NESTED.schema) as writer:
        for piece in part.to_batches(max_chunksize=7):
            writer.write_batch(piece)
    assert pq.read_table(io.BytesIO(file.getvalue())).to_pylist() == part.to_pylist()


@pytest.fixture
def path(tmp_path):
    table = NESTED.select(["id", "deep", "code"]).append_column("a.b", [range(ROWS)])
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=25)
    return tmp_path / "a.parquet"


def test_batches_without_columns_have_rows(path):
    for size in (7, 25, 26, 100):
        batches = list(hpq.ParquetFile(path).iter_batches(batch_size=size, columns=[]))
        assert sum(len(batch) for batch in batches) == ROWS
        assert max(len(batch) for batch in batches) <= size


def test_columns_are_those_of_pyarrow(path):
    for columns in (["code", "id"], ["deep.y.z", "id"], ["id", "deep.x", "a.b"], ["deep.x", "deep"], ["id", "id"]):
        ours, theirs = hpq.ParquetFile(path), pq.ParquetFile(path)
        assert ours.read(columns).to_pylist() == theirs.read(columns).to_pylist()
        assert ours.read(columns).schema.names == theirs.read(columns).schema.names
        for source in (path, [path, path]):
            for options in ({}, {"filters": [("id", ">", 7)]}, {"filters": pa.compute.field("id") + 1 > 9}):
                expected = pq.read_table(source, columns=columns, **options)
                found = hpq.read_table(source, columns=columns, **options)
                assert found.schema.equals(expected.schema), (columns, options)
                assert [column.to_pylist() for column in found] == [column.to_pylist() for column in expected]
    frame = pd.read_parquet(path, columns=["deep.x"])
    with hpq.installed():
        assert pd.read_parquet(path, columns=["deep.x"]).equals(frame)


def test_names_of_columns_that_a_read_adds(path):
    file = hb.ParquetFile(path)
    for options in ({"row_numbers": "id"}, {"columns": ["id"], "row_numbers": "id"}, {"variants": {"code": ("deep", "$", None)}}):
        with pytest.raises(ValueError, match="have a column"):
            file.read(**options)
        with pytest.raises((ValueError, NotImplementedError)):
            hb.read_table([path, path], **options)
    assert file.read(["code"], row_numbers="id", limit=2).to_pydict() == {"code": ["x", "y"], "id": [0, 1]}


def test_python_objects_of_more_types():
    arrays = {
        "null": pa.nulls(2), "days": pa.array([datetime.date(1960, 2, 29), None], pa.date64()),
        **{f"duration_{unit}": pa.array([-5, None], pa.duration(unit)) for unit in ("s", "ms", "us", "ns")},
        "nanos": pa.array([1001, None], pa.duration("ns")), "nulls": pa.array([{"a": None}, None]), "list": [[None], []],
    }
    table = pa.table(arrays)
    assert hb.Table(table).to_pydict() == table.to_pydict()


def test_losses_name_the_options_of_python(path):
    file = io.BytesIO()
    hb.write_table(hb.read_table(path, columns=["id"]), file, row_group_size=30, compression="none", use_dictionary=False)
    data = bytearray(file.getvalue())
    data[hb.read_metadata(bytes(data)).row_group(0).column(0).data_page_offset + 40] ^= 1
    with pytest.warns(hb.LossWarning, match="page_checksum_verification=False"):
        table = hb.read_table(bytes(data), on_error="skip_row_group", page_checksum_verification=True)
    assert table.num_rows == 30


def test_partitions_have_the_names_of_pyarrow(tmp_path):
    arrays = {
        "float": pa.array([0.5, float("nan"), None]), "time": pa.array([1, 2, None], pa.time64("us")), "null": pa.nulls(3),
        "duration": pa.array([1, 2, None], pa.duration("s")), "date": pa.array([0, 86_400_000, None], pa.date64()),
        "bytes": pa.array([b"a", b"b/c", None]), "code": pa.array(["a", "b", None]).dictionary_encode(),
    }
    for name, array in arrays.items():
        table = pa.table({"id": range(3), "p": array})
        for module, folder in ((hpq, tmp_path / "ours" / name), (pq, tmp_path / "theirs" / name)):
            module.write_to_dataset(table, folder, ["p"])
        names = [sorted(one.name for one in (tmp_path / which / name).iterdir()) for which in ("ours", "theirs")]
        assert names[0] == names[1], name
        assert sorted(pq.read_table(tmp_path / "ours" / name, partitioning=None)["id"].to_pylist()) == [0, 1, 2]


def test_counts_of_filters_that_pyarrow_tests(tmp_path):
    numbers = range(100)
    table = pa.table(
        {
            "i": numbers,
            "f": pa.array([float(at) for at in numbers], pa.float32()),
            "du": pa.array(numbers, pa.duration("us")),
            "fb": pa.array([b"%05d" % at for at in numbers], pa.binary(5)),
            "s": [str(at) for at in numbers],
        }
    )
    (tmp_path / "d").mkdir()
    for path in (tmp_path / "a.parquet", tmp_path / "d" / "a.parquet"):
        pq.write_table(table, path)
    field = pa.compute.field
    for filters, rows in (
        ([("f", ">", 50)], 49), ([("f", ">", 50.1)], 49), ([("du", ">", pa.scalar(50, pa.duration("us")))], 49), ([("fb", ">", b"00050")], 49),
        ([("fb", ">", b"0005")], 50), (field("i") + 1 > 51, 49), (pa.compute.utf8_length(field("s")) == 1, 10),
    ):
        for source in (tmp_path / "a.parquet", tmp_path / "d"):
            for columns in ([], ["i"], ["i", "s"]):
                found = hpq.read_table(source, columns=columns, filters=filters)
                assert (found.num_rows, found.column_names) == (rows, columns), (filters, columns)
                assert found.schema.equals(pq.read_table(source, columns=columns, filters=filters).schema)


def test_intervals_are_those_of_pyarrow(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "d").mkdir()
    for path in (tmp_path / "a.parquet", tmp_path / "d" / "a.parquet"):
        query = "select interval 1 month as i, {'a': interval 3 day} as s, [interval 1 hour] as l, x from range(3) t(x)"
        duckdb.sql(query).write_parquet(str(path))
    for source in (tmp_path / "a.parquet", tmp_path / "d", [tmp_path / "a.parquet"] * 2):
        for options in ({}, {"columns": ["i"]}, {"filters": [("x", ">", 0)]}, {"filters": pa.compute.field("i").is_valid()}):
            theirs = pq.read_table(source, **options)
            assert theirs.schema.field("i").type == pa.binary(12)
            ours = hpq.read_table(source, **options)
            assert ours.schema.types == theirs.schema.types, options
            # Columns of several files are nullable, because a later file may have nulls.
            assert ours.cast(theirs.schema).equals(theirs), options
    value = theirs["i"][0].as_py()
    filters = [("i", "=", value)]
    assert hpq.read_table(tmp_path / "a.parquet", filters=filters).equals(pq.read_table(tmp_path / "a.parquet", filters=filters))
    assert hpq.ParquetFile(tmp_path / "a.parquet").schema_arrow == pq.ParquetFile(tmp_path / "a.parquet").schema_arrow


@pytest.mark.parametrize("writer", [hb, hpq], ids=["hb", "pyarrow"])
@pytest.mark.parametrize("use_dictionary", [False, ["v"]], ids=str)
def test_ordered_categories_keep_their_order(tmp_path, writer, use_dictionary):
    order = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    codes = pa.array(pd.Categorical(["mid", None, "high", "low"] * 5, dtype=order)).indices
    column = pa.DictionaryArray.from_arrays(codes, ["low", "mid", "high"], ordered=True)
    nested = pa.StructArray.from_arrays([column, pa.array(range(20))], ["c", "n"])
    table = pa.table({"v": range(20), "c": column, "n": nested, "l": [[1]] * 20, "s": ["x"] * 20})
    path = tmp_path / "a.parquet"
    writer.write_table(table, path, use_dictionary=use_dictionary)
    assert hpq.read_table(path).equals(table)
    assert pq.read_table(path)["c"].to_pylist() == column.to_pylist()
    frame = hpq.read_table(path)["c"].to_pandas()
    assert frame.cat.ordered and list(frame.cat.categories) == ["low", "mid", "high"]
    group = pq.read_metadata(path).row_group(0)
    has_dictionary = {group.column(at).path_in_schema: group.column(at).has_dictionary_page for at in range(6)}
    has_dictionary.pop("v")
    assert has_dictionary == {"c": True, "n.c": True, "n.n": False, "l.list.element": False, "s": False}


def test_columns_of_one_name(tmp_path):
    path = tmp_path / "a.parquet"
    arrays = [pa.array([1, 2, 3]), pa.array(["x", "y", "z"]), pa.array([3, 4, 5])]
    pq.write_table(pa.Table.from_arrays(arrays, names=["a", "b", "a"]), path, row_group_size=2)
    for columns in (["a"], ["b", "a"], ["a", "b"], ["b"], ["a", "a"], [], None):
        ours, theirs = hpq.ParquetFile(path), pq.ParquetFile(path)
        assert ours.read(columns).equals(theirs.read(columns)), columns
        assert ours.read_row_group(1, columns).equals(theirs.read_row_group(1, columns)), columns
        if columns != []:
            pairs = zip(ours.iter_batches(2, columns=columns), theirs.iter_batches(2, columns=columns), strict=True)
            assert all(one.equals(other) for one, other in pairs), columns

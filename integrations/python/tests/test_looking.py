"""What people look at: columns, rows, values, schemas, and texts for a terminal and a notebook."""

import datetime
import decimal
import io
import pickle
import subprocess
import sys
import uuid

import pytest

import herringbone as hb


@pytest.fixture
def table(example):
    return hb.read_table(example, columns=["id", "name", "price"])


def test_columns_by_name_and_number(table):
    assert table["id"].to_pylist() == table[0].to_pylist() == table.column("id").to_pylist() == list(range(24))
    assert table[-1].name == "price" and table.column(1).name == "name"
    assert [column.name for column in table] == [column.name for column in table.columns] == ["id", "name", "price"]
    assert table.shape == (24, 3) and len(table["id"]) == 24
    assert table["id"][3] == table["id"][-21] == 3 and list(table["id"])[:2] == [0, 1]
    assert table["id"][2:4].to_pylist() == table["id"].slice(2, 2).to_pylist() == [2, 3]
    for key, kind, text in [
        ("colour", KeyError, "the columns are id, name, price"), (3, IndexError, "the number of columns is 3"),
        (-4, IndexError, "no column -4"), (1.5, TypeError, "its name or its number"),
    ]:
        for find in (table.column, table.__getitem__, table.schema.field, table.schema.__getitem__):
            with pytest.raises(kind, match=text):
                find(key)
    with pytest.raises(IndexError, match="the number of rows is 24"):
        table["id"][24]


def test_columns_and_rows_that_are_chosen(table):
    assert table.select(["price", 0]).column_names == table[["price", "id"]].column_names == ["price", "id"]
    assert table.select([]).shape == (24, 0)
    assert table.head().num_rows == 5 and table.head(0).shape == (0, 3) and table.head(99).num_rows == 24
    assert table.slice(20)["id"].to_pylist() == table[20:]["id"].to_pylist() == [20, 21, 22, 23]
    assert table.slice(30).num_rows == 0 and table[-2:]["id"].to_pylist() == [22, 23]
    batches = list(hb.ParquetFile("testdata/example.parquet").iter_batches(batch_size=5, columns=["id"]))
    whole = hb.Table(hb.RecordBatchReader.from_parts(batches[0].schema, batches))
    assert whole["id"].num_chunks > 1 and whole.slice(3, 9)["id"].to_pylist() == list(range(3, 12))
    assert whole["id"][11] == 11 and whole["id"][8:11].to_pylist() == [8, 9, 10]
    assert whole.slice(3, 9) == table.select(["id"]).slice(3, 9) and whole["id"] == table["id"]
    for wrong in (lambda: table.slice(-1), lambda: table.slice(0, -1), lambda: table.head(-1)):
        with pytest.raises(ValueError, match="negative"):
            wrong()
    with pytest.raises(ValueError, match="the step 2"):
        table[::2]
    with pytest.raises(TypeError, match=r"write \['id'\]"):
        table.select("id")


def test_equal_tables(table, example):
    same = hb.read_table(example, columns=["id", "name", "price"])
    assert table == same and table.equals(same) and table["id"] == same["id"] and not table != same
    assert table != same.slice(1) and table != same.select(["id", "price", "name"]) and table != same.head()
    assert table["id"] != table["price"] and table["id"][1:] != table["id"][:-1]
    assert table != 5 and table["id"] != "id"
    assert table.schema == same.schema and table.schema.field("id") == same.schema[0] != same.schema[1]


def test_fields(table):
    field = table.schema.field("price")
    assert (field.name, field.type, field.nullable) == ("price", table.schema.types[2], True)
    assert [field.name for field in table.schema] == table.schema.names and field.metadata == {}
    assert repr(field).startswith("price: Decimal128(")
    assert table["price"].field == field == pickle.loads(pickle.dumps(field))
    column = pickle.loads(pickle.dumps(table["name"]))
    assert column == table["name"] and column.type == "Utf8" and column.null_count == 0
    assert column.nbytes > 0


def test_rows_as_dicts(table):
    rows = table.to_pylist()
    assert rows[22] == {"id": 22, "name": "cedar", "price": table["price"][22]} and len(rows) == 24
    assert {name: [row[name] for row in rows] for name in rows[0]} == table.to_pydict()
    twice = table.select(["id", "id"])
    for convert in (twice.to_pydict, twice.to_pylist):
        with pytest.raises(ValueError, match='several columns have the name "id"'):
            convert()
    with pytest.raises(KeyError, match="2 columns have the name"):
        twice.column("id")
    assert twice.column(1).to_pylist() == list(range(24))


def test_texts(table):
    lines = repr(table).split("\n")
    assert lines[0] == "herringbone.Table (24 rows, 3 columns)"
    assert lines[1].split() == ["id", "name", "price"] and lines[2].split()[0] == table.schema.types[0]
    assert lines[4].split()[:2] == ["1", "basil"] and lines[-1] == "… and 19 more rows"
    assert repr(table["name"]).split("\n")[:3] == ["herringbone.ChunkedArray (24 rows)", "name: Utf8", "amber"]
    pa = pytest.importorskip("pyarrow")
    evil = hb.Table(pa.table({"<b>\n": ["<script>&\x1b[31m\n" + "x" * 500, None], **{f"c{i}": [1, 2] for i in range(60)}}))
    text = evil._repr_html_()
    assert "<script>" not in text and "<b>" not in text and "\x1b" not in text
    assert "&lt;script&gt;&amp;\\x1b" in text and text.count("<td>") == 40 and "41 more columns" in text
    assert "\x1b" not in repr(evil) and "more columns: " in repr(evil) and max(map(len, repr(evil).split("\n"))) < 160
    assert repr(hb.Table(pa.table({}))) == "herringbone.Table (0 rows, 0 columns)"


def test_texts_of_files(example, tmp_path):
    path = tmp_path / "a.parquet"
    with hb.ParquetWriter(path, hb.read_schema(example)) as writer:
        assert repr(writer) == f"<herringbone.ParquetWriter '{path}': open>"
        writer.write(hb.read_table(example))
    assert repr(writer).endswith("a.parquet': 24 rows>")
    columns = hb.read_metadata(example).num_columns
    with hb.ParquetFile(path) as file:
        assert repr(file) == f"<herringbone.ParquetFile '{path}': 24 rows, 1 row groups, {columns} columns>"
    assert repr(file).endswith(", closed>") and "ParquetFile bytes:" in repr(hb.ParquetFile(path.read_bytes()))
    assert repr(hb.ParquetDataset(tmp_path)).startswith("<herringbone.ParquetDataset: 1 file, ")


def test_the_command_as_a_module(example):
    run = subprocess.run([sys.executable, "-m", "herringbone", "count", example], capture_output=True, text=True)
    assert (run.returncode, run.stdout.strip()) == (0, "24"), run.stderr


def test_values_keep_their_types():
    pa = pytest.importorskip("pyarrow")
    moment = datetime.datetime(2026, 3, 29, 0, 59, 59, 999999)
    arrays = {
        "oslo": pa.array([moment, None], pa.timestamp("us", "Europe/Oslo")), "utc": pa.array([moment, None], pa.timestamp("ms", "UTC")),
        "offset": pa.array([moment, None], pa.timestamp("s", "-03:30")), "plain": pa.array([moment, None], pa.timestamp("us")),
        "d32": pa.array([decimal.Decimal("-1.50"), None], pa.decimal32(5, 2)), "d64": pa.array([decimal.Decimal("1E+3"), None], pa.decimal64(9, 0)),
        "d256": pa.array([decimal.Decimal("9" * 70), None], pa.decimal256(76, 3)),
        "interval": pa.array([(1, -2, 3), None], pa.month_day_nano_interval()), "uuid": pa.array([uuid.UUID(int=5).bytes, None], pa.uuid()),
        "bool8": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([2, None], pa.int8())),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int16()), ["x", None]),
        "dict": pa.array(["a", None]).dictionary_encode(), "time": pa.array([datetime.time(23, 59, 59, 1), None], pa.time64("ns")),
        "list": pa.array([[moment, None], None], pa.list_(pa.timestamp("us", "Asia/Kolkata"))),
        "map": pa.array([[("k", uuid.UUID(int=1).bytes)], None], pa.map_(pa.string(), pa.binary(16))),
        "struct": pa.array([{"d": decimal.Decimal("1.0")}, None], pa.struct({"d": pa.decimal64(5, 1)})),
        "union": pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([5, 6]), pa.array(["x", "y"])]),
    }
    theirs = pa.table(arrays)
    ours = hb.Table(theirs)
    assert ours.to_pydict() == theirs.to_pydict() and ours.to_pylist() == theirs.to_pylist()
    assert str(ours["oslo"][0].tzinfo) == "Europe/Oslo" and ours["offset"][0].utcoffset() == datetime.timedelta(hours=-3.5)
    assert isinstance(ours["uuid"][0], uuid.UUID) and ours["interval"][0] == hb.MonthDayNano(1, -2, 3)
    assert ours.slice(1)["runs"].to_pylist() == [None] and ours["runs"].null_count == 1
    assert repr(ours).startswith("herringbone.Table (2 rows, 17 columns)") and "0005" in repr(ours["uuid"])
    with pytest.raises(ValueError, match="datetime.time"):
        hb.Table(pa.table({"t": pa.array([1], pa.time64("ns"))})).to_pydict()
    pair = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    with pytest.raises(ValueError, match='several fields "a"'):
        hb.Table(pa.table({"s": pair})).to_pydict()
    with pytest.raises(ValueError, match="tzdata"):
        hb.Table(pa.table({"t": pa.array([1], pa.timestamp("s", "Moon/Base"))})).to_pydict()


def test_equality_is_that_of_values():
    pa = pytest.importorskip("pyarrow")
    one = pa.chunked_array([[1, 2], [3]])
    assert hb.Table(pa.table({"a": one})) == hb.Table(pa.table({"a": [1, 2, 3]}))
    assert hb.Table(pa.table({"a": one})).equals(pa.table({"a": [1, 2, 3]}))
    for left, right in [
        (pa.array([1, None]), pa.array([1, 0])), (pa.array([1]), pa.array([1], pa.int32())), (pa.array([["x"], []]), pa.array([["x"], None])),
        (pa.array([{"a": 1}]), pa.array([{"a": 2}])), (pa.array(["a"]), pa.array(["b"])), (pa.array([0.0]), pa.array([-0.0])),
        (pa.array([b"x" * 16], pa.uuid()), pa.array([b"x" * 16], pa.binary(16))),
    ]:
        assert hb.Table(pa.table({"a": left})) != hb.Table(pa.table({"a": right})), left.type
        assert hb.Table(pa.table({"a": left})) == hb.Table(pa.table({"a": left}))
    nan = pa.table({"a": [float("nan")]})
    assert hb.Table(nan) == hb.Table(nan)
    marked = pa.table({"a": [1]}).replace_schema_metadata({"k": "v"})
    assert hb.Table(marked) == hb.Table(pa.table({"a": [1]})) and not hb.Table(marked).equals(pa.table({"a": [1]}), check_metadata=True)
    words = pa.chunked_array([pa.array(["x", "y", None, "x"]).dictionary_encode(), pa.array(["y", "x"]).dictionary_encode()])
    assert hb.Table(pa.table({"w": words}))["w"][1:5] == hb.Table(pa.table({"w": words.slice(1, 4)}))["w"]


def test_numpy():
    pa = pytest.importorskip("pyarrow")
    np = pytest.importorskip("numpy")
    kinds = [
        pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.bool_(), pa.date32(), pa.date64(), pa.string(),
        pa.timestamp("s"), pa.timestamp("ns", "UTC"), pa.duration("ms"), pa.decimal128(21, 1), pa.time32("s"), pa.int64(),
    ]
    for kind in kinds:
        for values in ([1, 0, 2], [1, None, 2], [None, None], []):
            values = [None if value is None else str(value) for value in values] if kind == pa.string() else values
            values = [None if value is None else bool(value) for value in values] if kind == pa.bool_() else values
            storage = None if kind in (pa.string(), pa.bool_()) else pa.int32() if kind in (pa.date32(), pa.time32("s")) else pa.int64()
            theirs = pa.chunked_array([pa.array(values, storage).cast(kind), pa.array([], kind)])
            ours = hb.Table(pa.table({"a": theirs}))["a"]
            if kind == pa.date64():
                assert ours.to_numpy().dtype == "datetime64[ms]"
            expected = theirs.to_numpy()
            assert ours.to_numpy().dtype == expected.dtype, kind
            np.testing.assert_array_equal(ours.to_numpy(), expected)
            np.testing.assert_array_equal(np.asarray(ours[1:]), expected[1:])
    big = hb.Table(pa.table({"a": [2**53 + 1, None]}))["a"]
    with pytest.raises(ValueError, match="cannot represent"):
        big.to_numpy()
    assert hb.Table(pa.table({"a": pa.array([-(2**53), None])}))["a"].to_numpy()[0] == -(2**53)
    assert hb.Table(pa.table({"a": [2**53 + 1]}))["a"].to_numpy().tolist() == [2**53 + 1]
    assert big.to_pyarrow().to_pylist() == [2**53 + 1, None]


def written(data, **options):
    file = io.BytesIO()
    hb.write_table(data, file, **options)
    return hb.read_table(file.getvalue())


def test_tables_in_other_forms(table, tmp_path):
    batches = hb.ParquetFile("testdata/example.parquet").iter_batches(batch_size=7, columns=["id", "name", "price"])
    assert written(batch for batch in batches) == written([table.head(3), table.slice(3)]) == written(table)
    assert hb.Table(iter([table])) == table
    for wrong, text in [
        (5, "found int"), ("text", "found str"), ([5], "found int"), ([], "at least one batch"), (iter([]), "ParquetWriter takes a schema"),
        (None, "found NoneType"), (b"x", "found bytes"),
    ]:
        with pytest.raises(TypeError, match=text):
            written(wrong)
    with pytest.raises(ValueError, match="has the columns name, id"):
        written([table.select(["id", "name"]), table.select(["name", "id"])])
    with pytest.raises(ValueError, match="another schema|has the columns"):
        written([table, table.select(["id"])])


def test_rows_of_python():
    pa = pytest.importorskip("pyarrow")
    rows = [{"a": 1}, {"b": "x", "a": None}, {"c": [{"d": decimal.Decimal("1.5")}]}]
    expected = [{"a": None, "b": None, "c": None, **row} for row in rows]
    assert written(rows).to_pylist() == written(iter(rows)).to_pylist() == expected
    assert written({"a": [1, 2], "b": ["x", None]}).to_pydict() == {"a": [1, 2], "b": ["x", None]}
    with pytest.raises(TypeError, match="rows as dicts, found int"):
        written([{"a": 1}, 5])
    with pytest.raises(pa.ArrowInvalid):
        written([{"a": 1}, {"a": "x"}])
    file = io.BytesIO()
    with hb.ParquetWriter(file, pa.schema({"a": pa.int64()})) as writer:
        writer.write([{"a": 1}])
        writer.write({"a": [2]})
    assert hb.read_table(file.getvalue()).to_pydict() == {"a": [1, 2]}


def test_queries_of_peers(example, tmp_path):
    pa = pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    import pyarrow.dataset as ds

    data = ds.dataset(example)
    expected = data.to_table(columns=["id", "name"])
    for query in (data.scanner(columns=["id", "name"]), hb.dataset(example).scanner(columns=["id", "name"])):
        assert written(query).to_pyarrow().equals(expected)
    assert written(data).num_rows == written(hb.dataset(example)).num_rows == 24
    frame = hb.scan_polars(example).select("id", "name").filter(pl.col("id") > 20)
    assert written(frame).to_pydict() == {"id": [21, 22, 23], "name": ["basil", "cedar", "dill"]}
    assert written(frame.filter(pl.col("id") > 99)).shape == (0, 2)
    assert hb.write_to_dataset([{"k": 1, "v": 2}], tmp_path, ["k"])[0][1].num_rows == 1
    for column in (pa.array([1]), pa.chunked_array([[1]]), pl.Series([1]), hb.Table(expected)["id"]):
        with pytest.raises(TypeError, match="is one column; put it into a table"):
            written(column)
    pd = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="expected a table"):
        written(pd.Series([1]))

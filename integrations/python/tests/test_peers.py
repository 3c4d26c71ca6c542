"""Tables shared with pyarrow, polars, DuckDB and pandas, and expected values from them."""

import datetime
import decimal
import io
import os
import pathlib
import pickle
import random

import pytest

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
fsspec = pytest.importorskip("fsspec")
pd = pytest.importorskip("pandas")
np = pytest.importorskip("numpy")

import fsspec.implementations.local
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs
import pyarrow.parquet as pq

import herringbone as hb
import herringbone.pyarrow as hpq


def random_table(seed, rows=2000):
    """Return a table of all types, with nulls."""
    rng = random.Random(seed)

    def column(kind, value):
        return pa.array([None if rng.random() < 0.2 else value() for _ in range(rows)], kind)

    number = lambda bits: lambda: rng.randrange(-(1 << bits - 1), 1 << bits - 1)
    word = lambda: "".join(rng.choice("abcé𝄞 ") for _ in range(rng.randrange(9)))
    columns = {
        "bool": column(pa.bool_(), lambda: rng.random() < 0.5),
        **{f"i{bits}": column(getattr(pa, f"int{bits}")(), number(bits)) for bits in (8, 16, 32, 64)},
        **{f"u{bits}": column(getattr(pa, f"uint{bits}")(), lambda bits=bits: rng.randrange(1 << bits)) for bits in (8, 16, 32, 64)},
        "f32": column(pa.float32(), lambda: float(rng.randrange(100)) / 4),
        "f64": column(pa.float64(), rng.random),
        "s": column(pa.string(), word),
        "ls": column(pa.large_string(), word),
        "b": column(pa.binary(), lambda: rng.randbytes(rng.randrange(9))),
        "fb": column(pa.binary(5), lambda: rng.randbytes(5)),
        "date": column(pa.date32(), lambda: rng.randrange(-9999, 99999)),
        "time": column(pa.time64("us"), lambda: rng.randrange(86_400_000_000)),
        "ts": column(pa.timestamp("ns"), lambda: rng.randrange(1 << 60)),
        "tz": column(pa.timestamp("us", "Europe/Oslo"), lambda: rng.randrange(1 << 50)),
        "dec": column(pa.decimal128(20, 3), lambda: decimal.Decimal(rng.randrange(-(10**19), 10**19)).scaleb(-3)),
        "dict": column(pa.string(), lambda: rng.choice("xyz")).dictionary_encode(),
        "list": column(pa.list_(pa.int32()), lambda: [rng.choice((None, 1, 2)) for _ in range(rng.randrange(4))]),
        "struct": column(pa.struct({"a": pa.int64(), "b": pa.string()}), lambda: {"a": rng.choice((None, 5)), "b": word()}),
        "map": column(pa.map_(pa.string(), pa.int32()), lambda: [(word(), 1)]),
    }
    return pa.table(columns)


@pytest.mark.parametrize("seed", range(3))
def test_written_by_us_and_read_by_peers(seed, tmp_path):
    table = whole = random_table(seed)
    path = tmp_path / "a.parquet"
    options = [{}, {"compression": "snappy", "row_group_size": 500}, {"compatibility": "modern", "max_rows_per_page": 100}]
    hb.write_table(table, path, **options[seed])
    assert pq.read_table(path).equals(table)
    frame = pl.DataFrame(table)
    assert pl.read_parquet(path).equals(frame)
    assert duckdb.sql(f"select sum(i64), count(s), max(ts) from '{path}'").fetchall() == duckdb.sql("select sum(i64), count(s), max(ts) from whole").fetchall()
    assert pa.table(hb.read_table(path)).equals(table)


@pytest.mark.parametrize("seed", range(3))
def test_written_by_peers_and_read_by_us(seed, tmp_path):
    table = random_table(seed)
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, row_group_size=700, compression=["snappy", "zstd", "gzip"][seed])
    assert hb.read_table(path).to_pyarrow().equals(table)
    frame = pl.DataFrame(table)
    frame.write_parquet(path)
    assert hb.read_table(path).to_polars().equals(pl.read_parquet(path))


def test_any_table_can_be_written(tmp_path):
    table = whole = pa.table({"a": [1, 2, 3]})
    tables = [
        table, table.to_batches()[0], pl.DataFrame(table), duckdb.sql("select * from whole"),
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches()), hb.Table(table), pd.DataFrame({"a": [1, 2, 3]}),
    ]
    for one in tables:
        file = io.BytesIO()
        hb.write_table(one, file)
        assert hb.read_table(file.getvalue(), columns=["a"]).to_pydict() == {"a": [1, 2, 3]}, type(one)
    with pytest.raises(ValueError, match="does not match"):
        with hb.ParquetWriter(tmp_path / "a.parquet", table.schema) as writer:
            writer.write(pa.table({"a": ["x"]}))


def test_python_objects(example):
    table = random_table(3, 200).drop_columns(["ts"])
    assert hb.Table(table).to_pydict() == table.to_pydict()
    lists = pa.table({
        "large": pa.array([[1], None], pa.large_list(pa.int8())), "view": pa.array([[1], None], pa.list_view(pa.int8())),
        "fixed": pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), "d32": pa.array([decimal.Decimal("1.5"), None], pa.decimal128(5, 1)),
    })
    assert hb.Table(lists).to_pydict() == lists.to_pydict()
    assert hb.read_table(example).to_pydict() == pq.read_table(example).to_pydict()


@pytest.mark.parametrize("seed", range(2))
def test_pickled_tables_are_equal(seed):
    table = random_table(seed)
    of_lists = pa.chunked_array([[["a"], None], [[], ["b", "a"]]], pa.list_(pa.dictionary(pa.int8(), pa.string())))
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 4], pa.int32()), pa.array(["x", None]))
    more = pa.table({"lists": of_lists, "runs": runs, "views": pa.array(["a" * 20, None, "", "b"], pa.string_view())})
    sliced = pa.concat_tables([table.slice(0, 0), table.slice(7, 100), table.slice(150)])
    for one in (table, more.replace_schema_metadata({"k": "v"}), sliced, pa.table({})):
        found = pickle.loads(pickle.dumps(hb.Table(one)))
        assert pa.table(found).equals(one, check_metadata=True)
        assert pa.schema(pickle.loads(pickle.dumps(found.schema))).equals(one.schema, check_metadata=True)


def test_hand_over(example):
    table = hb.read_table(example)
    expected = pq.read_table(example)
    assert table.to_pyarrow().equals(expected)
    assert hb.ParquetFile(example).iter_batches(7).to_pyarrow().read_all().equals(expected)
    assert table.to_polars().height == len(table.to_pandas()) == 24
    arrow = table.to_pyarrow()
    assert duckdb.sql("select count(*) from arrow").fetchall() == [(24,)]
    assert hb.read_table(example).schema.to_pyarrow().equals(expected.schema, check_metadata=True)


def test_filters_agree_with_pyarrow(tmp_path):
    table = random_table(9)
    path = tmp_path / "a.parquet"
    hb.write_table(table, path, row_group_size=300)
    f = pc.field
    expressions = [
        f("i8") > 5, f("s") == "ab", f("f64").is_null(), ~(f("i64") < 0) | (f("i8") == 3), f("date") < datetime.date(2000, 1, 1),
        f("ts") > datetime.datetime(1990, 1, 1), f("u8") == 3, f("ls") == "ab", f("dec") <= decimal.Decimal("0.5"), f("dict") == "x", f("bool"),
        f("i16").isin([1, 2, None]), pc.starts_with(f("s"), "a"), f("struct", "a") == 5, f("b") == b"", f("i32") != 7,
    ]
    for expression in expressions:
        assert hb.read_table(path, filters=expression).to_pyarrow().equals(table.filter(expression).combine_chunks()) or (
            pa.table(hb.read_table(path, filters=expression)).to_pylist() == table.filter(expression).to_pylist()
        ), expression
        assert hpq.read_table(path, filters=expression, columns=["i8"]).num_rows == table.filter(expression).num_rows
    odd = f("f64") + f("f32") > 5
    assert hpq.read_table(path, filters=odd, columns=["s"]).equals(table.filter(odd).select(["s"]).combine_chunks())


def test_nan_as_in_pyarrow(tmp_path):
    table = pa.table({"f": [1.0, float("nan"), None, -0.0]})
    path = tmp_path / "a.parquet"
    hb.write_table(table, path)
    for expression in (pc.field("f") > 0, pc.field("f") != 1, ~(pc.field("f") <= 0), pc.field("f").is_nan()):
        found = hb.read_table(path, filters=expression).num_rows
        assert found == table.filter(expression).num_rows, expression
    lazy = hb.scan_polars(path)
    assert lazy.filter(pl.col("f") > 0).collect().height == pl.DataFrame(table).filter(pl.col("f") > 0).height


def test_engines(tmp_path, example):
    table = random_table(4, 20_000).sort_by("i64").select(["i64", "s", "f64", "i8"])
    for part in range(2):
        folder = tmp_path / f"p={part}"
        folder.mkdir()
        hb.write_table(table.slice(part * 10_000, 10_000), folder / "a.parquet", row_group_size=1000)
    plain = ds.dataset(tmp_path, partitioning="hive")
    ours = hb.dataset(tmp_path)
    query = "select p, s, count(*) n, sum(i8) t from {} where i64 > 0 and i64 < 4000000000000000 group by all order by all"
    assert duckdb.sql(query.format("ours")).fetchall() == duckdb.sql(query.format("plain")).fetchall()
    lazy = lambda frame: frame.filter(pl.col("i64") > 8_000_000_000_000_000_000).select("s", "i8").collect()
    expected = lazy(pl.DataFrame(table).lazy())
    assert lazy(pl.scan_pyarrow_dataset(ours)).equals(expected)
    assert lazy(hb.scan_polars(tmp_path)).equals(expected)
    assert hb.scan_polars(tmp_path).head(5).collect().height == 5
    again = pickle.loads(pickle.dumps(ours))
    assert again.to_table(filter=pc.field("p") == 1).num_rows == 10_000
    assert again.count_rows() == 20_000
    assert again.sort_by("i8").schema.equals(again.schema)
    assert again.take(pa.array([5])).num_rows == 1
    # What does not call our scanner fails, and does not read anything else.
    with pytest.raises(OSError, match="herringbone dataset"):
        ds.dataset([ours, ours]).to_table()


class Counting(fsspec.implementations.local.LocalFileSystem):
    """A filesystem that counts the bytes it returns."""

    cachable = False
    count = 0

    def _open(self, path, mode="rb", **options):
        return CountingFile(path, mode) if mode == "rb" else super()._open(path, mode, **options)


class CountingFile(io.FileIO):
    def read(self, size=-1):
        data = super().read(size)
        Counting.count += len(data)
        return data

    def readinto(self, buffer):
        read = super().readinto(buffer)
        Counting.count += read
        return read


def test_queries_read_fewer_bytes(tmp_path):
    rows = 1_000_000
    numbers = np.random.default_rng(5)
    columns = {name: numbers.integers(0, 1 << 40, rows) for name in "ab"}
    path = tmp_path / "a.parquet"
    hb.write_table(pa.table({"id": range(rows), **columns}), path, row_group_size=500_000, max_rows_per_page=5000)
    ours = hb.dataset(str(path), filesystem=Counting())
    plain = ds.dataset(str(path), filesystem=pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(Counting())))
    query = lambda data: duckdb.sql("select count(*), sum(a) from data where id between 610000 and 610999").fetchall()
    lazy = lambda data: pl.scan_pyarrow_dataset(data).filter(pl.col("id") < 1000).select(pl.col("b").sum()).collect()
    for run in (query, lazy):
        counts, results = [], []
        for data in (ours, plain):
            Counting.count = 0
            results.append(str(run(data)))
            counts.append(Counting.count)
        assert results[0] == results[1]
        assert counts[0] < counts[1] / 2, counts


def test_variants_and_geometries():
    folder = os.environ.get("PARQUET_TEST_DATA")
    if not folder:
        pytest.skip("PARQUET_TEST_DATA is not set")
    folder = pathlib.Path(folder)
    file = folder.parent / "shredded_variant" / "case-001.parquet"
    table = hb.read_table(file, columns=["id", "text"], variants={"text": ("var", "$[0]", "string")})
    assert table.to_pydict() == {"id": [1], "text": ["comedy"]}
    schema = pa.schema(hb.read_schema(folder / "geospatial" / "crs-projjson.parquet"))
    metadata = schema.field("geometry").metadata
    assert metadata[b"ARROW:extension:name"] == b"geoarrow.wkb"
    assert b"NAD83 / Conus Albers" in metadata[b"ARROW:extension:metadata"]


def test_datafusion(tmp_path):
    datafusion = pytest.importorskip("datafusion")
    hb.write_table(pa.table({"a": range(1000), "b": [f"s{i % 7}" for i in range(1000)]}), tmp_path / "a.parquet")
    context = datafusion.SessionContext()
    context.register_dataset("data", hb.dataset(tmp_path))
    found = context.sql("select count(*) n, sum(a) s from data where a < 100 and b <> 's1'").to_pydict()
    assert found == {"n": [85], "s": [4200]}


def test_dask(tmp_path, example, monkeypatch):
    dask = pytest.importorskip("dask")
    frames = pytest.importorskip("dask.dataframe")
    monkeypatch.setattr("herringbone._pyarrow_install._passed_on", {})
    opened = []
    read = hb.ParquetFile._reader
    monkeypatch.setattr(hb.ParquetFile, "_reader", lambda *arguments: opened.append(1) or read(*arguments))
    written = str(tmp_path / "written")
    with hpq.installed(), dask.config.set(scheduler="threads"):
        before = hpq.passed_on()
        frame = frames.read_parquet(example, columns=["id", "name"])
        frame.to_parquet(written)
        assert len(frames.read_parquet(written).compute()) == 24
        assert len(opened) >= 2
        # pyarrow's datasets apply filters in Dask.
        assert len(frames.read_parquet(written, filters=[("id", "<", 5)]).compute()) == 5
        assert hpq.passed_on() == before
        # Fragments are pyarrow's, of the files that ours listed.
        assert len(frames.read_parquet(written, filesystem="arrow").compute()) == 24
        assert len(frames.read_parquet(written, filesystem="arrow", filters=[("id", "<", 5)]).compute()) == 5
        assert hpq.passed_on() == before
    assert "herringbone" in pq.read_metadata(next((tmp_path / "written").glob("*.parquet"))).created_by


def test_installed(example, tmp_path, monkeypatch):
    monkeypatch.setattr("herringbone._pyarrow_install._passed_on", {})
    expected = pd.read_parquet(example)
    with hpq.installed():
        assert pd.read_parquet(example).equals(expected)
        pd.DataFrame({"a": [1, 2]}, index=[5, 6]).to_parquet(tmp_path / "a.parquet")
        assert pl.read_parquet(example, use_pyarrow=True).height == 24
        assert hpq.passed_on() == {}
        with pytest.warns(UserWarning, match="ignore_prefixes"):
            pq.read_table(example, ignore_prefixes=["x"])
        pq.read_table(example, ignore_prefixes=["x"])
        assert hpq.passed_on() == {("read_table", "ignore_prefixes"): 2}
    frame = pd.read_parquet(tmp_path / "a.parquet")
    assert list(frame.index) == [5, 6]
    assert pq.read_table.__module__.startswith("pyarrow")
    with pytest.raises(hpq.Unsupported, match="ignore_prefixes"):
        hpq.read_table(example, ignore_prefixes=["x"])


def typed_table():
    """Return a table of types that pyarrow does not restore, or restores in part."""
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5)
    dates = pa.array([moment.date(), None], pa.date64())
    words = pa.array(["a", None])
    return pa.table(
        {
            "date64": dates,
            "time32": pa.array([datetime.time(1, 2, 3), None], pa.time32("s")),
            **{f"ts_{unit}": pa.array([moment, None], pa.timestamp(unit)) for unit in ("s", "ms", "us", "ns")},
            "zone": pa.array([moment, None], pa.timestamp("s", "Europe/Oslo")),
            "numbers": pa.array([1.5, None]).dictionary_encode(),
            "words": words.dictionary_encode(),
            "few": words.dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
            "ordered": pa.DictionaryArray.from_arrays(pa.array([0, None], pa.int16()), ["b", "a"], ordered=True),
            "bytes": pa.array([b"a", None], pa.binary(1)).dictionary_encode(),
            "text": words.cast(pa.string_view()),
            "large": words.cast(pa.large_string()).dictionary_encode(),
            "list": pa.array([[moment.date()], None], pa.list_(pa.date64())),
            "struct": pa.StructArray.from_arrays([dates, words], ["d", "w"]),
            "map": pa.array([[("a", 1)], None], pa.map_(pa.large_string(), pa.int8())),
            "uuid": pa.array([b"x" * 16, None], pa.uuid()),
            "json": pa.array(["{}", None], pa.json_()),
            "nested_json": pa.StructArray.from_arrays([pa.array(["{}", None], pa.json_())], ["j"]),
        }
    )


@pytest.mark.parametrize("store_schema", [True, False])
@pytest.mark.parametrize("writer", [pq.write_table, hpq.write_table])
@pytest.mark.parametrize("int96", [True, False])
def test_types_are_those_of_pyarrow(store_schema, writer, int96, tmp_path):
    path = tmp_path / "a.parquet"
    writer(typed_table(), path, store_schema=store_schema, use_deprecated_int96_timestamps=int96)
    for options in (
        {}, {"arrow_extensions_enabled": False}, {"coerce_int96_timestamp_unit": "ms"}, {"read_dictionary": ["words", "text"]},
        {"binary_type": pa.binary_view(), "list_type": pa.LargeListType},
    ):
        for source in (path, tmp_path):
            expected = pq.read_table(source, **options)
            found = hpq.read_table(source, **options)
            assert found.schema.equals(expected.schema), (options, source)
            assert found.schema.field("list").type.value_field.name == expected.schema.field("list").type.value_field.name
            assert found.to_pylist() == expected.to_pylist()
        ours, theirs = hpq.ParquetFile(path, **options), pq.ParquetFile(path, **options)
        assert ours.schema_arrow.equals(theirs.schema_arrow)
        assert ours.read(["date64", "nested_json"]).equals(theirs.read(["date64", "nested_json"]))
        assert next(ours.iter_batches()).schema.equals(theirs.schema_arrow)


def test_written_metadata_is_that_of_pyarrow(tmp_path):
    table = pa.table({"a": [1, 2, 2], "b": ["x", "y", None]})
    described = {}
    for name, module in (("ours", hpq), ("theirs", pq)):
        path = tmp_path / name
        for options in ({}, {"write_statistics": False}, {"write_statistics": ["b"]}, {"version": "1.0"}):
            module.write_table(table, path, **options)
            metadata = pq.read_metadata(path)
            chunks = [metadata.row_group(0).column(i) for i in range(2)]
            statistics = [chunk.statistics and chunk.statistics.to_dict() for chunk in chunks]
            described.setdefault(name, []).append((metadata.format_version, statistics))
        with module.ParquetWriter(path, table.schema) as writer:
            for part in (table, table.slice(0, 0), table):
                writer.write_table(part)
        described[name].append([pq.read_metadata(path).row_group(i).num_rows for i in range(3)])
        assert hpq.ParquetFile(path).read_row_group(1).equals(table.slice(0, 0))
    assert described["ours"] == described["theirs"]
    hb.write_table(table, path)
    statistics = hb.read_metadata(path).row_group(0).column(0).statistics
    assert (statistics.distinct_count, hb.read_metadata(path).format_version) == (2, "1.0")


def test_errors_are_those_of_pyarrow(tmp_path, example):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"")
    for kind in (pa.ArrowInvalid, OSError, ValueError, hb.ParquetError):
        with pytest.raises(kind, match="size is 0 bytes") as error:
            hpq.read_table(path)
    assert (error.value.kind, error.value.offset) == ("corrupt", None)
    with pytest.raises(pa.ArrowInvalid, match="Unrecognized"):
        hpq.read_table("non-existing://a.parquet")
    with pytest.raises(RuntimeError, match="9 columns, other has 1"):
        hpq.read_metadata(example).append_row_groups(hpq.write_metadata(pa.schema([("a", "int8")]), path) or hpq.read_metadata(path))
    deep = pa.table({"a": pa.array([[[1]]])})
    hpq.write_table(deep, path)
    assert hpq.read_table(path, schema_depth_limit=6, thrift_string_size_limit=10_000).equals(deep)
    for limits in ({"schema_depth_limit": 5}, {"thrift_string_size_limit": 100}, {"thrift_container_size_limit": 2}):
        with pytest.raises(ValueError):
            hpq.read_table(path, **limits)
        with pytest.raises((ValueError, OSError)):
            pq.read_table(path, **limits)


def test_a_file_object_ends_at_an_exception(tmp_path):
    table = pa.table({"a": [1]})
    file = io.BytesIO()
    for sink in (file, tmp_path / "a.parquet"):
        with pytest.raises(ZeroDivisionError):
            with hpq.ParquetWriter(sink, table.schema) as writer:
                writer.write_table(table)
                1 / 0
    assert pq.read_table(io.BytesIO(file.getvalue())).equals(table)
    assert os.listdir(tmp_path) == []


def test_classes_in_place(example):
    with hpq.installed():
        metadata = pq.read_metadata(example)
        assert isinstance(metadata, pq.FileMetaData) and isinstance(metadata.schema, pq.ParquetSchema)
        assert isinstance(metadata.row_group(0).column(0).statistics, pq.Statistics)
        assert not isinstance(metadata, pq.ParquetSchema)

        class Mine(pq.ParquetFile):
            def names(self):
                return self.schema_arrow.names

        assert Mine(example).names()[0] == "id"
    assert not isinstance(metadata, pq.FileMetaData)


def test_directories_of_other_filesystems(tmp_path):
    table = pa.table({"a": [1, 2]})
    (tmp_path / "b=5").mkdir()
    hpq.write_table(table, tmp_path / "b=5" / "a.parquet")
    below = pa.fs.SubTreeFileSystem(str(tmp_path), pa.fs.LocalFileSystem())
    for path in ("b=5", ".", ""):
        assert hpq.read_table(path, filesystem=below, columns=["a"]).equals(table), path
    assert hb.read_table("", filesystem=below).to_pydict()["b"] == [5, 5]
    found = hpq.ParquetDataset(tmp_path)
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize("store_schema", [True, False])
@pytest.mark.parametrize("has_extensions", [True, False])
def test_dictionaries_of_json(tmp_path, store_schema, has_extensions):
    json = pa.array(['{"a": 1}', None, "2", "2"], pa.json_(pa.string()))
    path = tmp_path / "json.parquet"
    pq.write_table(pa.table({"j": json, "s": ["a", "a", "b", "c"]}), path, store_schema=store_schema)
    options = {"read_dictionary": ["j", "s"], "arrow_extensions_enabled": has_extensions}
    expected = pq.read_table(path, **options)
    for found in (hpq.read_table(path, **options), hpq.read_table([path], **options)):
        assert found.schema == expected.schema
        assert found.to_pydict() == expected.to_pydict()
    plain = pa.table(hb.read_table(path, read_dictionary=["j"]))
    assert plain.schema.field("j").type == pa.dictionary(pa.int32(), pa.string())
    assert plain["j"].to_pylist() == ['{"a": 1}', None, "2", "2"]


PARTITIONS = ["01", "1", "-01", "2147483648", "a", "+1", "", "2024-01-02", "__HIVE_DEFAULT_PARTITION__"]


@pytest.mark.parametrize("texts", [[text, other] for text in PARTITIONS[:-1] for other in PARTITIONS])
def test_partition_columns_are_those_of_pyarrow(tmp_path, texts):
    for at, text in enumerate(dict.fromkeys(texts)):
        (tmp_path / f"x={text}").mkdir()
        pq.write_table(pa.table({"id": [at]}), tmp_path / f"x={text}" / "a.parquet")
    # The order of files differs if a text is empty.
    by_id = lambda table: sorted(table.to_pylist(), key=lambda row: row["id"])
    expected, found = pq.read_table(tmp_path), hpq.read_table(tmp_path)
    assert found.schema == expected.schema
    assert by_id(found) == by_id(expected)
    assert hpq.ParquetDataset(tmp_path).schema == pq.ParquetDataset(tmp_path).schema
    value = expected["x"][0].as_py()
    condition = [("x", "==", value)]
    assert hpq.read_table(tmp_path, filters=condition).to_pydict() == pq.read_table(tmp_path, filters=condition).to_pydict()


def test_partitionings_of_pyarrow(tmp_path):
    for folder in ("2012/01", "2014", "2015/02/deeper", "."):
        (tmp_path / "plain" / folder).mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"id": [len(folder)]}), tmp_path / "plain" / folder / "a.parquet")
    for month in ("01", "10"):
        (tmp_path / "hive" / f"m={month}").mkdir(parents=True)
        pq.write_table(pa.table({"id": [int(month)]}), tmp_path / "hive" / f"m={month}" / "a.parquet")
    small = pa.schema([("m", pa.int8())])
    both = pa.schema([("y", pa.int16()), ("m", pa.string())])
    names = pa.dictionary(pa.int32(), pa.string())
    cases = [
        ("plain", None), ("plain", ["y", "m"]), ("plain", ["y"]), ("plain", ds.partitioning(both)),
        ("plain", ds.partitioning(field_names=["y", "m"])), ("hive", None), ("hive", ds.partitioning(flavor="hive")),
        ("plain", ds.DirectoryPartitioning.discover(["y", "m"], infer_dictionary=True)),
        ("hive", ds.partitioning(small, flavor="hive")), ("hive", ds.HivePartitioning.discover(infer_dictionary=True)),
        ("hive", ds.partitioning(pa.schema([("m", names)]), flavor="hive", dictionaries={"m": pa.array(["01", "10"])})),
    ]
    for folder, partitioning in cases:
        expected = pq.read_table(tmp_path / folder, partitioning=partitioning).sort_by("id")
        found = hpq.read_table(tmp_path / folder, partitioning=partitioning).sort_by("id")
        assert found.schema == expected.schema, partitioning
        assert found.to_pydict() == expected.to_pydict(), partitioning
        plain = pa.table(hb.read_table(tmp_path / folder, partitioning=partitioning)).sort_by("id")
        assert plain.column_names == expected.column_names
        assert plain["id"].to_pylist() == expected["id"].to_pylist()
        dataset = pickle.loads(pickle.dumps(hpq.ParquetDataset(tmp_path / folder, partitioning=partitioning)))
        assert dataset.read().schema == expected.schema
    others = [
        ds.partitioning(field_names=["y"], flavor="filename"), ds.HivePartitioning(small, null_fallback="x"),
        ds.HivePartitioning(small, segment_encoding="none"), ["y", 1], "filename", 5,
    ]
    for partitioning in others:
        with pytest.raises(hpq.Unsupported, match="partitioning"):
            hpq.read_table(tmp_path / "hive", partitioning=partitioning)
        with pytest.raises(NotImplementedError, match="a list of names"):
            hb.read_table(tmp_path / "hive", partitioning=partitioning)
    data = hb.dataset(tmp_path / "plain", partitioning=["y", "m"])
    assert data.to_table(filter=pc.field("y") == 2012)["id"].to_pylist() == [7]


def test_pandas_metadata_of_a_directory(tmp_path):
    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 6], name="index"))
    table = pa.Table.from_pandas(frame)
    pq.write_table(table.replace_schema_metadata(None), tmp_path / "a.parquet")
    pq.write_metadata(table.schema, tmp_path / "_common_metadata")
    assert hpq.ParquetDataset(tmp_path).read_pandas(columns=["a"]).to_pandas().equals(frame)


def test_official_files():
    folder = os.environ.get("PARQUET_TEST_DATA")
    if not folder:
        pytest.skip("PARQUET_TEST_DATA is not set")
    compared = 0
    for path in sorted(pathlib.Path(folder).glob("*.parquet")):
        try:
            expected = pq.read_table(path)
        except Exception:
            continue
        if path.name in DIFFERENT:
            continue
        found = pa.table(hb.read_table(path))
        assert [field.name for field in found.schema] == [field.name for field in expected.schema], path.name
        assert found.num_rows == expected.num_rows, path.name
        for name, column in zip(expected.column_names, expected.columns):
            if column.type == found.schema.field(name).type:
                one, other = found.column(name).combine_chunks(), column.combine_chunks()
                assert one.equals(other) or str(one.to_pylist()) == str(other.to_pylist()), (path.name, name)
        compared += 1
    assert compared > 40


#: Files that are read differently, and why.
DIFFERENT = {
    "int96_from_spark.parquet": "pyarrow wraps timestamps around that nanoseconds cannot hold; ours is an error",
}


def test_installations_are_nested(example):
    theirs = pq.read_table
    with hpq.installed():
        with hpq.installed():
            pass
        assert pq.read_table is not theirs
    assert pq.read_table is theirs
    hpq.install()
    try:
        with hpq.installed():
            pass
        assert pq.read_table is not theirs
    finally:
        hpq.uninstall()
    assert pq.read_table is theirs


def test_schemas_that_only_pyarrow_casts_to(example, tmp_path, monkeypatch):
    monkeypatch.setattr("herringbone._pyarrow_install._passed_on", {})
    schema = pa.schema([("id", pa.int16()), ("name", pa.string())])
    with pytest.raises(hpq.Unsupported, match="schema"):
        hpq.read_table(example, schema=schema)
    pq.write_table(pq.read_table(example, columns=["id", "name"]), tmp_path / "a.parquet")
    with hpq.installed(), pytest.warns(UserWarning, match="schema"):
        assert pq.read_table(tmp_path, schema=schema).schema.equals(schema)


def test_arguments_that_are_easily_mistaken(example, tmp_path):
    with pytest.raises(TypeError, match="list of names"):
        hpq.read_table(example, columns="id")
    # pyarrow does not compress columns without a codec.
    for module in (hpq, pq):
        module.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "a.parquet", compression={"a": "gzip"})
        group = pq.read_metadata(tmp_path / "a.parquet").row_group(0)
        assert [group.column(i).compression for i in range(2)] == ["GZIP", "UNCOMPRESSED"]
    hpq.write_to_dataset(pa.table({"a": range(10), "p": ["x"] * 10}), tmp_path / "d", ["p"], row_group_size=4)
    (file,) = (tmp_path / "d" / "p=x").iterdir()
    assert pq.read_metadata(file).num_row_groups == 3


def test_geopandas(tmp_path, monkeypatch):
    geopandas = pytest.importorskip("geopandas")
    from geopandas.testing import assert_geodataframe_equal

    monkeypatch.setattr("herringbone._pyarrow_install._passed_on", {})
    points = geopandas.points_from_xy([1.0, 2.0, 30.0], [1.0, 2.0, 30.0])
    frame = geopandas.GeoDataFrame({"name": ["a", "b", "c"], "n": [1, 2, 3]}, geometry=points, crs="EPSG:25832")
    path = tmp_path / "a.parquet"
    frame.to_parquet(path, write_covering_bbox=True)
    calls = [{}, {"columns": ["n", "geometry"]}, {"bbox": (0, 0, 5, 5)}, {"filters": [("n", ">", 1)]}, {"filters": pa.compute.field("n") > 1}]
    expected = [geopandas.read_parquet(path, **call) for call in calls]
    opened = []
    read = hb.ParquetFile._reader
    monkeypatch.setattr(hb.ParquetFile, "_reader", lambda *arguments: opened.append(1) or read(*arguments))
    with hpq.installed():
        for call, theirs in zip(calls, expected):
            ours = geopandas.read_parquet(path, **call)
            assert_geodataframe_equal(ours, theirs)
            assert ours.crs == theirs.crs
        frame.to_parquet(tmp_path / "b.parquet")
        assert_geodataframe_equal(geopandas.read_parquet(tmp_path / "b.parquet"), frame)
        assert hpq.passed_on() == {}
    assert len(opened) >= len(calls)


def test_other_attributes_are_those_of_pyarrow(example, monkeypatch):
    monkeypatch.setattr("herringbone._pyarrow_install._passed_on", {})
    with hpq.installed():
        dataset, file = pq.ParquetDataset(example), pq.ParquetFile(example)
        with pytest.warns(UserWarning, match="filesystem"):
            assert dataset.filesystem.type_name == "local"
        with pytest.warns(UserWarning, match="reader"):
            assert file.reader.num_row_groups == 2
        assert hpq.passed_on() == {("ParquetDataset", "filesystem"): 1, ("ParquetFile", "reader"): 1}
        assert dataset._dataset.count_rows() == 24
        assert dataset._dataset.to_table({"double": pa.compute.field("id") * 2}).num_rows == 24
        for one in (dataset, file):
            with pytest.raises(AttributeError, match="no attribute 'nothing'"):
                one.nothing
            assert not hasattr(one, "__nothing__")
    for one in (hpq.ParquetDataset(example), hpq.ParquetFile(example)):
        with pytest.raises(AttributeError, match="after install"):
            one.reader

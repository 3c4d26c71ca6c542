"""Metadata of schemas in other bytes than UTF-8, as in pyarrow."""

import pickle
import warnings

import pytest

import herringbone as hb

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

PICKLE = pickle.dumps({"x": 1.5})
METADATA = {b"my.schema": PICKLE, b"text": b"plain", b"empty": b""}


@pytest.fixture
def table():
    return pa.table({"day": [1, 2], "s": ["a", "b"]}).replace_schema_metadata(METADATA)


@pytest.fixture
def path(table, tmp_path):
    path = str(tmp_path / "bytes.parquet")
    pq.write_table(table, path)
    return path


def test_a_read_table_has_them(path):
    expected = pq.read_table(path).schema.metadata
    assert expected == METADATA
    with hb.ParquetFile(path) as file:
        tables = [
            hb.read_table(path),
            hb.read_table([path, path]),
            hb.read_table(path, columns=["s"]),
            file.read(),
            next(iter(file.iter_batches())),
        ]
        readers = [file.iter_batches(), file.iter_batches(columns=["s", "day"])]
        schemas = [file.schema_arrow, hb.read_schema(path), file.schema.to_arrow_schema()]
    for one in tables:
        assert one.schema.metadata == expected
        assert one.to_pyarrow().schema.metadata == expected
        assert pickle.loads(one.schema.metadata[b"my.schema"]) == {"x": 1.5}
    for reader in readers:
        assert reader.schema.metadata == expected
        arrow = reader.to_pyarrow()
        assert arrow.schema.metadata == arrow.read_all().schema.metadata == expected
    for schema in schemas:
        assert schema.metadata == schema.to_pyarrow().metadata == expected


def test_the_functions_of_pyarrow_return_them(path, tmp_path):
    import herringbone.pyarrow as hpq

    (tmp_path / "many").mkdir()
    for name in ("1.parquet", "2.parquet"):
        pq.write_table(pq.read_table(path), tmp_path / "many" / name)
    many = str(tmp_path / "many")
    expected = pq.read_table(path)
    before = hpq.passed_on()
    with hpq.installed():
        found = [
            pq.read_table(path),
            pq.read_table(path, schema=expected.schema),
            pq.ParquetFile(path).read(),
            pq.ParquetDataset(many).read().slice(0, 2),
            pq.read_table(many).slice(0, 2),
            pa.Table.from_batches(list(pq.ParquetFile(path).iter_batches())),
        ]
        schemas = [pq.read_schema(path), pq.ParquetFile(path).schema_arrow, pq.ParquetDataset(many).schema]
        assert hpq.passed_on() == before
    assert all(one.equals(expected, check_metadata=True) for one in found)
    assert [one.metadata for one in schemas] == [METADATA] * len(schemas)


def test_they_are_written(table, tmp_path):
    path = str(tmp_path / "written.parquet")
    for data in (table, hb.Table(table), table.to_batches()[0], table.to_reader(), hb.Table(table.to_reader())):
        hb.write_table(data, path)
        assert pq.read_schema(path).metadata == METADATA
    hb.write_table(table, path, key_value_metadata={"my.schema": "another"})
    assert pq.read_metadata(path).metadata[b"my.schema"] == b"another"
    for _, metadata in hb.write_to_dataset(table, str(tmp_path / "folders"), ["day"]):
        assert METADATA.items() <= metadata.metadata.items()


def test_they_are_kept_in_copies(path, table):
    read = hb.read_table(path)
    for one in (hb.Table(table), hb.Table(read), hb.Table(hb.ParquetFile(path).iter_batches()), pickle.loads(pickle.dumps(read))):
        assert one.schema.metadata == METADATA
    for one in (hb.Schema(table.schema), hb.Schema(read.schema), pickle.loads(pickle.dumps(read.schema))):
        assert one.metadata == METADATA
    assert hb.Schema(table.schema) != hb.Schema(table.schema.remove_metadata())


def test_a_wanted_schema_has_its_own(path, table):
    wanted = table.schema.with_metadata({b"other": b"\xff"})
    assert hb.read_table(path, schema=wanted).schema.metadata == wanted.metadata
    assert hb.read_table([path, path], schema=wanted).schema.metadata == wanted.metadata


def test_capsules_have_text_alone(path):
    """polars panics if metadata in a capsule are not UTF-8."""
    assert pa.table(hb.read_table(path)).schema.metadata == {b"text": b"plain", b"empty": b""}
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(hb.read_table(path)).rows() == [(1, "a"), (2, "b")]


@pytest.mark.parametrize("key, value", [(b"k", b"\xff\xfe"), (b"\xff", b"v")])
def test_those_of_a_field_are_an_error_that_names_it(key, value, tmp_path, monkeypatch):
    import herringbone.pyarrow as hpq

    monkeypatch.setattr("herringbone._pyarrow_install._passed_on", {})
    field = pa.field("a", pa.list_(pa.field("item", pa.int32(), metadata={key: value})))
    table = pa.table({"a": [[1]]}).cast(pa.schema([field]))
    path = str(tmp_path / "field.parquet")
    with pytest.raises(ValueError, match="the field 'a.item' have"):
        hb.write_table(table, path)
    with pytest.raises(hpq.Unsupported):
        hpq.write_table(table, path)
    with hpq.installed(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(?s).*pyarrow's own function is called")
        pq.write_table(table, path)
    assert pq.read_schema(path).field("a").type.value_field.metadata == {key: value}
    assert hb.read_table(path).to_pydict() == {"a": [[1]]}


def test_keys_are_text():
    with pytest.raises(ValueError, match="keys? b'k.xff'"):
        hb.Table(pa.table({"a": [1]}).replace_schema_metadata({b"k\xff": b"v"}))

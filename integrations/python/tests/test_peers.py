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
pd = pytest.importorskip("pandas")

import pyarrow.compute as pc
import pyarrow.dataset as ds
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


def test_installed(example, tmp_path):
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

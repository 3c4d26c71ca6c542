"""Filters that select the rows that pyarrow's own filter selects."""

import datetime
import itertools

import pytest

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")

import pyarrow.compute as pc
import pyarrow.parquet as pq

import herringbone as hb
import herringbone.pyarrow as hpq

NAN = float("nan")
TABLE = pa.table(
    {
        "id": range(6),
        "i": pa.array([1, None, 2, 3, -1, 1], pa.int8()),
        "f": [0.5, NAN, None, -0.0, 2.0, 0.5],
        "single": pa.array([0.1, NAN, None, 0.0, 2.0, 0.1], pa.float32()),
        "s": ["a", None, "b", "", "a", "c"],
        "fixed": pa.array([b"ab", None, b"aa", b"zz", b"ab", b"ab"], pa.binary(2)),
        "group": [{"a": 1}, None, {"a": None}, {"a": 2}, {"a": 1}, {"a": 5}],
        "duration": pa.array([1, None, 3, 4, 5, 6], pa.duration("us")),
    }
)


@pytest.fixture
def path(tmp_path):
    hb.write_table(TABLE, tmp_path / "a.parquet", row_group_size=2)
    return tmp_path / "a.parquet"


def ids(table):
    return pa.table(table)["id"].to_pylist()


LISTS = [("i", [1, 2]), ("i", [1, None]), ("i", []), ("i", [None]), ("s", ["a"]), ("f", [NAN, 0.5]), ("f", [0.5]), ("i", [1, NAN])]


@pytest.mark.parametrize("column, values", LISTS)
def test_lists_of_values(path, column, values):
    inside = pc.field(column).isin(values if values else pa.array([], TABLE[column].type))
    forms = {
        "in": ([(column, "in", values)], hb.col(column).isin(values), inside),
        "not in": ([(column, "not in", values)], ~hb.col(column).isin(values), ~inside),
    }
    for operation, of_operation in forms.items():
        expected = ids(TABLE.filter(of_operation[-1]))
        for filters in of_operation:
            assert ids(hb.read_table(path, filters=filters)) == expected, (operation, filters)
        for filters in of_operation[::2]:
            assert ids(hpq.read_table(path, filters=filters)) == expected, (operation, filters)


def test_conditions_may_be_lists(path):
    for filters in ([["i", ">", 1]], [[["i", ">", 1]], [["s", "=", "c"]]], [["i", ">", 1], ["s", "=", "b"]]):
        expected = ids(pq.read_table(path, filters=filters))
        assert ids(hpq.read_table(path, filters=filters)) == ids(hb.read_table(path, filters=filters)) == expected


@pytest.mark.parametrize("operation", ["==", "!=", "<", "<=", ">", ">="])
def test_types_that_pyarrow_compares_otherwise(path, operation):
    for column, value in (
        ("single", 0.1), ("single", 0.5), ("fixed", b"a"), ("duration", datetime.timedelta(microseconds=4)),
    ):
        condition = [(column, operation, value), ("id", ">=", 0)]
        assert ids(hpq.read_table(path, filters=condition)) == ids(TABLE.filter(pq.filters_to_expression(condition)))


def test_expressions_of_one_column(path):
    for expression in (pc.field("i") > 0, pc.field("group", "a") == 1, pc.field("duration").is_null()):
        assert ids(hb.read_table(path, filters=expression)) == ids(TABLE.filter(expression))


def test_expressions_that_are_left_to_pyarrow(path):
    field = pc.field
    for expression in (
        field("group").is_null(), field("i").cast("string") == "1",
    ):
        expected = ids(TABLE.filter(expression))
        assert ids(hpq.read_table(path, filters=expression)) == expected
        assert ids(hb.dataset(path).to_table(filter=expression)) == expected
        assert ids(hb.read_table(path, filters=expression)) == expected


def test_slices_of_polars_come_before_conditions(path):
    frame, lazy = pl.DataFrame(TABLE), hb.scan_polars(path)
    for condition, rows in itertools.product((pl.col("i") == 1, pl.col("s") == "a"), (1, 3, 5)):
        for query in (
            lambda it: it.head(rows).filter(condition), lambda it: it.filter(condition).head(rows),
            lambda it: it.slice(1, rows).filter(condition).select("id"), lambda it: it.filter(condition).slice(1, rows),
        ):
            assert query(lazy).collect()["id"].to_list() == query(frame)["id"].to_list(), (condition, rows)


def test_polars_orders_an_enum_by_its_categories(tmp_path):
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame({"e": pl.Series(["high", "low", "mid"], dtype=pl.Enum(["low", "mid", "high"]))})
    frame.write_parquet(path)
    assert hb.scan_polars(path).collect_schema() == frame.schema
    column = pl.col("e")
    for condition in (column < "high", column >= "mid", column == "high", (column != "low") & (column <= "mid")):
        assert hb.scan_polars(path).filter(condition).collect().equals(frame.filter(condition)), condition

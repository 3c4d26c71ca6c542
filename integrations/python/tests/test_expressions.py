"""Expressions of pyarrow: what is translated selects the rows that pyarrow selects, in linear time."""

import datetime
import decimal
import functools
import operator
import time

import pytest

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import herringbone as hb
import herringbone.pyarrow as hpq

NAN = float("nan")
field = pc.field
moment = datetime.datetime(2020, 1, 1)

TABLE = pa.table(
    {
        "id": range(6),
        "i8": pa.array([1, None, 2, 3, -1, 1], pa.int8()),
        "u64": pa.array([1, None, 2**64 - 1, 2**63, 0, 1], pa.uint64()),
        "f": [0.5, NAN, None, -0.0, 2.0, 0.5],
        "single": pa.array([0.1, NAN, None, 0.0, 2.0, 0.1], pa.float32()),
        "half": pa.array([0.5, NAN, None, 0.0, 2.0, 0.5], pa.float16()),
        "s": ["a", None, "b", "", "ab", 'quo"te, (x) and y'],
        "large": pa.array(["a", None, "b", "", "ab", "c"], pa.large_string()),
        "words": pa.array(["a", None, "b", "", "ab", "c"]).dictionary_encode(),
        "bytes": [b"a", None, b"\xff", b"", b"ab", b"c"],
        "fixed": pa.array([b"ab", None, b"aa", b"zz", b"ab", b"ab"], pa.binary(2)),
        "flag": [True, None, False, True, False, True],
        "date": [moment.date(), None, datetime.date(1960, 5, 5), moment.date(), moment.date(), moment.date()],
        "ts": pa.array([moment, None, datetime.datetime(1960, 5, 5, 1), moment, moment, moment], pa.timestamp("ms")),
        "zone": pa.array([moment, None, datetime.datetime(1960, 5, 5, 1), moment, moment, moment], pa.timestamp("us", "UTC")),
        "time": pa.array([1, None, 2, 3, 4, 5], pa.time32("ms")),
        "dec": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("-2.25"), 3, 4, 5], pa.decimal128(10, 2)),
        "duration": pa.array([1, None, 3, 4, 5, 6], pa.duration("us")),
        "list": [[1], None, [], [2], [3], [4]],
        "group": [{"a": 1, "in": {"b": "x"}}, None, {"a": None, "in": None}, {"a": 2, "in": {"b": None}},
                  {"a": 1, "in": {"b": "y"}}, {"a": 5, "in": {"b": "x"}}],
        "odd == name": range(6),
    }
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("expressions") / "a.parquet"
    hb.write_table(TABLE, path, row_group_size=2)
    return path


def ids(table):
    return pa.table(table)["id"].to_pylist()


def is_in(name, values, **options):
    return pc.is_in(field(name), value_set=pa.array(values, TABLE[name].type), **options)


UNDERSTOOD = [
    field("i8") > 1, field("i8") == 300, 1 < field("i8"), field("i8") > 0.5, field("i8") > pa.scalar(0.1, pa.float32()), field("id") < 2.5, field("u64") == pa.scalar(2**64 - 1, pa.uint64()),
    field("f") >= 0.5, field("f") != 0.5, ~(field("f") == 0.5), field("f") == 2, field("f").is_nan(), ~field("f").is_nan(),
    field("f").is_null(nan_is_null=True), field("f").is_null(), ~field("f").is_null(nan_is_null=True),
    field("single") == 2.0, field("single") == 0.5, field("single") == pa.scalar(0.1, pa.float32()),
    field("s") == "a", field("s") > "a", field("s") == 'quo"te, (x) and y', pc.starts_with(field("s"), "a"),
    field("large") == "b", field("words") == "b", field("words") != pa.scalar("b", pa.large_string()),
    field("bytes") == b"\xff", field("bytes") < b"b", field("fixed") == pa.scalar(b"ab", pa.binary(2)),
    field("flag"), ~field("flag"), field("flag") == False,  # noqa: E712
    field("date") == moment.date(), field("date") < datetime.date(1970, 1, 1),
    field("ts") == moment, field("ts") < pa.scalar(0, pa.timestamp("ns")), field("ts") >= moment.date(),
    field("zone") == moment.replace(tzinfo=datetime.timezone.utc),
    field("time") > pa.scalar(2, pa.time32("ms")), field("time") == pa.scalar(2_000_000, pa.time64("ns")),
    field("dec") == decimal.Decimal("1.5"), field("dec") > decimal.Decimal("-2.25"),
    field("duration") > datetime.timedelta(microseconds=3), field("duration").is_null(),
    field("i8") == pa.scalar(None, pa.int8()), field("odd == name") == 3,
    is_in("i8", [1, 2]), ~is_in("i8", [1, 2]), is_in("i8", [1, None]), ~is_in("i8", [1, None]), is_in("i8", []),
    is_in("s", ["a", None], skip_nulls=True), ~is_in("s", ["a", None], skip_nulls=True), is_in("f", [NAN, 2.0]),
    is_in("words", ["a", "c"]) if False else field("words").isin(["a", "c"]), field("date").isin([moment.date()]),
    pc.if_else(field("i8").is_valid(), is_in("i8", [1]), pa.scalar(None, pa.bool_())),
    ~pc.if_else(field("i8").is_valid(), is_in("i8", [1]), pa.scalar(None, pa.bool_())),
    (field("i8") == 1) & (field("s") == "a") | ~((field("f") > 0) | field("date").is_null()),
    pc.Expression._call("and", [field("i8") == 1, field("s") == "a"]),
    field("group", "a") == 1, field("group", "in", "b") == "x", ~(field("group", "a") == 1), field("group", "a").is_null(),
    (field("group", "a") == 1) | (field("group", "in", "b") == "y") & (field("s") != 'quo"te, (x) and y'),
    (field("group", "a") >= 1) & field("f").is_null(nan_is_null=True) & (field("dec") > decimal.Decimal("1.00")),
    (field("group", "a") >= 1) & (field("date") == moment.date()) & (field("ts") == pa.scalar(moment, pa.timestamp("us"))),

]
LEFT = [
    field("single") == 0.1, field("fixed") > b"a", field("dec") > 0.5, field("i8").cast("string") == "1",
    field("i8") + 1 > 2, field("i8") == field("id"), field("list").is_null(), field("group").is_null(), (field("i8") > 1).is_null(),
    pc.Expression._call("or", [field("i8") == 1, field("s") == "a"]), ~pc.Expression._call("and", [field("i8") == 1, field("s") == "a"]),
    pc.starts_with(field("s"), "A", ignore_case=True), pc.match_substring(field("s"), "a"), pc.scalar(True),
    field("group", "a") + 1 == 2, pc.utf8_length(field("s")) == 1,
]


@pytest.mark.parametrize("expression", UNDERSTOOD, ids=lambda it: str(it)[:60])
def test_understood(path, expression):
    expected = ids(TABLE.filter(expression))
    assert ids(hb.read_table(path, filters=expression)) == expected
    assert ids(hpq.read_table(path, filters=expression)) == expected
    assert ids(hb.dataset(path).to_table(filter=expression)) == expected


@pytest.mark.parametrize("expression", LEFT, ids=lambda it: str(it)[:60])
def test_left_to_pyarrow(path, expression):
    expected = ids(TABLE.filter(expression))
    assert ids(hpq.read_table(path, filters=expression)) == expected
    assert ids(hb.dataset(path).to_table(filter=expression)) == expected
    for source in (path, [path]):
        assert ids(hb.read_table(source, filters=expression)) == expected
        for columns in (["id"], ["id", "i8", "group"], ["s", "id"]):
            table = hb.read_table(source, filters=expression, columns=columns, row_numbers="row")
            assert ids(table) == expected and table.column_names == [*columns, "row"]
            assert table["row"].to_pylist() == expected
        assert hb.read_table(source, filters=expression, columns=[]).num_rows == len(expected)
        for offset, limit in ((0, 2), (1, 2), (0, 0), (9, 1), (1, None)):
            rows = slice(offset, None if limit is None else offset + limit)
            assert ids(hb.read_table(source, filters=expression, offset=offset, limit=limit)) == expected[rows]
    for options in ({"wanted_schema": TABLE.schema}, {"on_error": "null_page"}, {"deleted_rows": [1]}, {"columns": ["id", "group.a"]}):
        with pytest.raises(ValueError, match="is not understood.*(cannot test it|whole columns)"):
            hb.read_table(path, filters=expression, **options)
    with pytest.raises(ValueError, match="is not understood"):
        hb.explain(path, expression)


def test_pairs_of_literals_and_columns(path):
    """Any comparison has pyarrow's rows, or is left to pyarrow."""
    literals = [
        1, -1, 2**40, 0.5, 0.1, 2.0, NAN, "a", b"ab", b"a", True, moment.date(), moment, decimal.Decimal("1.5"),
        datetime.time(0, 0, 0, 2_000), datetime.timedelta(microseconds=3), pa.scalar(0.1, pa.float32()),
        pa.scalar(5, pa.uint64()), pa.scalar("a", pa.large_string()), pa.scalar(moment, pa.timestamp("ns")),
        moment.replace(tzinfo=datetime.timezone.utc), pa.scalar(None),
    ]
    understood = 0
    for name in TABLE.column_names:
        for literal in literals:
            for condition in (field(name) == literal, ~(field(name) == literal), field(name) > literal):
                try:
                    expected = ids(TABLE.filter(condition))
                except (pa.ArrowException, NotImplementedError, TypeError):
                    continue
                assert ids(hpq.read_table(path, filters=condition)) == expected, str(condition)
                try:
                    assert ids(hb.read_table(path, filters=condition)) == expected, str(condition)
                    understood += 1
                except ValueError as error:
                    assert "is not understood" in str(error)
    assert understood > 200


def chain(conditions, join, is_left):
    """Join conditions one by one, on the left or on the right."""
    if is_left:
        return functools.reduce(join, conditions)
    return functools.reduce(lambda all, one: join(one, all), conditions)


@pytest.mark.parametrize("is_left", [True, False])
@pytest.mark.parametrize("join", [operator.or_, operator.and_])
def test_the_time_is_linear(path, join, is_left):
    for conditions in (20, 1000):
        nested = chain([(field("id") == at) & (field("i8") == 1) for at in range(conditions)], join, is_left)
        start = time.process_time()
        assert ids(hb.read_table(path, filters=nested)) == ids(TABLE.filter(nested))
        assert time.process_time() - start < 5


def test_conditions_of_duckdb(path):
    columns = ["id", "i8", "s", "flag", "date", "ts", "dec", "group"]
    plain = path.parent / "plain.parquet"
    hb.write_table(TABLE.select(columns), plain, row_group_size=2)
    data, theirs = hb.dataset(plain), ds.dataset(plain)
    for condition in (
        " or ".join(f"(id = {at} and i8 = 1)" for at in range(40)), " or ".join(f"(id = {at} or s = 'a')" for at in range(20)),
        "date in ('2020-01-01', '1971-01-01')", "date not in ('2020-01-01', '1971-01-01')", "ts > '2019-01-01'", "dec > 1.5",
        "i8 <> 3 or s is null", "flag", "not flag", "id between 1 and 3", '"group".a = 1', "s in ('a', 'b', null)",
    ):
        query = f"select id from data where {condition} order by id"
        start = time.process_time()
        found = duckdb.sql(query).fetchall()
        assert time.process_time() - start < 5
        assert found == duckdb.sql(query.replace("data", "theirs")).fetchall(), condition


def test_deep_and_large_expressions_are_bounded(path):
    deep = field("id") == 0
    for at in range(300):
        deep = (deep & (field("id") >= 0)) | (field("id") == -1 - at)
    with pytest.raises(ValueError, match="200 levels"):
        hb.explain(path, deep)
    assert ids(hb.read_table(path, filters=deep)) == [0]
    assert ids(hb.dataset(path).to_table(filter=deep)) == [0]


def test_a_pickled_expression_is_checked():
    for bytes_ in (b"", b"ARROW1\0\0", b"ARROW1\0\0" + b"\xff" * 8, b"ARROW1\0\0" + b"\xff" * 4 + b"\x10\0\0\0" + b"\0" * 16):
        with pytest.raises(ValueError):
            hb._core.pyarrow_condition(bytes_, TABLE.schema)
        with pytest.raises(ValueError):
            hb._core.pyarrow_columns(bytes_)
    whole = (field("id") == 1).__reduce__()[1][0].to_pybytes()
    for end in range(8, 400, 7):
        with pytest.raises(ValueError):
            hb._core.pyarrow_condition(whole[:end], TABLE.schema)


def test_moments_beyond_the_years_of_python(path):
    for value in (pa.scalar(2**62, pa.timestamp("us")), pa.scalar(-(2**62), pa.timestamp("us"))):
        for condition in (field("ts") < value, field("ts") >= value, value > field("ts")):
            # pyarrow compares microseconds with milliseconds.
            expected = pq.read_table(path, filters=condition)["id"].to_pylist()
            assert ids(hb.read_table(path, filters=condition)) == expected
            assert ids(hpq.read_table(path, filters=condition)) == expected
            assert ids(hb.dataset(path).to_table(filter=condition)) == expected

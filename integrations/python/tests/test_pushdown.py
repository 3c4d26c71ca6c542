"""Conditions of polars that reach the reader: each selects the rows that polars selects, and the reader tests it alone."""

import datetime as dt
import decimal
import functools
import operator
import pickle

import pytest

pl = pytest.importorskip("polars")

import herringbone as hb
from herringbone import _polars

NAN = float("nan")
col = pl.col
UTC = dt.timezone.utc
D, M = dt.date, dt.datetime
FRAME = pl.DataFrame(
    {
        "id": range(8),
        "i": pl.Series([1, None, 2, 3, -1, 1, 2**53, 2**53 + 1], dtype=pl.Int64),
        "i8": pl.Series([1, None, 2, 3, -1, 1, 127, -128], dtype=pl.Int8),
        "u64": pl.Series([1, None, 2**64 - 1, 2**63, 0, 1, 5, 6], dtype=pl.UInt64),
        "f": [0.5, NAN, None, -0.0, 0.0, float("inf"), 2.0, -3.5],
        "f32": pl.Series([0.1, NAN, None, -0.0, 0.0, float("inf"), 2.0, -3.5], dtype=pl.Float32),
        "s": ["a", None, "b", "", "ab", 'quo"te', "a", "ä"],
        "cat": pl.Series(["a", None, "b", "", "ab", "c", "a", "ä"], dtype=pl.Categorical),
        "enum": pl.Series(["x", None, "w", "x", "x", "w", "w", "x"], dtype=pl.Enum(["x", "w"])),
        "bin": [b"a", None, b"\xff", b"", b"ab", b"c", b"a", b"z"],
        "b": [True, None, False, True, False, True, None, False],
        "d": [D(2020, 1, 1), None, D(1960, 5, 5), D(2020, 1, 2), D(9999, 12, 31), D(1, 1, 1), D(2020, 1, 1), D(2021, 1, 1)],
        "ts": [M(2020, 1, 1), None, M(1960, 5, 5, 1), M(2020, 1, 1, 0, 0, 0, 1), M(2020, 1, 2), M(1, 1, 1), M(2020, 1, 1), M(2021, 1, 1)],
        "ns": pl.Series([1, None, -1, 1001, 5, 0, 1, 2**62], dtype=pl.Int64).cast(pl.Datetime("ns")),
        "utc": pl.Series([1, None, -1, 1001, 5, 0, 1, 2**62], dtype=pl.Int64).cast(pl.Datetime("us", "UTC")),
        "du": pl.Series([1, None, -1, 1001, 5, 0, 1, 2**50], dtype=pl.Int64).cast(pl.Duration("ms")),
        "t": [dt.time(1), None, dt.time(0), dt.time(23, 59, 59, 999999), dt.time(1), dt.time(2), dt.time(3), dt.time(4)],
        "dec": pl.Series(["1.50", None, "-2.25", "0", "3", "4", "1.5", "100"]).cast(pl.Decimal(10, 2)),
        "st": pl.Series([{"a": 1, "in": {"b": "x"}}, None, {"a": None, "in": None}, {"a": 2, "in": {"b": None}}, {"a": 1, "in": {"b": "y"}}] * 2)[:8],
    }
)
PUSHED = [
    col("d") > D(2020, 1, 1), col("d") == D(1, 1, 1), D(2020, 1, 2) <= col("d"), col("d").is_between(D(2020, 1, 1), D(2020, 1, 2)),
    *[col("d").is_between(D(2020, 1, 1), D(2021, 1, 1), closed=closed) for closed in ("left", "right", "none", "both")],
    col("ts") >= M(2020, 1, 1), col("ts") > M(2020, 1, 1, 0, 0, 0, 0), col("ts") > D(2020, 1, 1), col("ts").is_in([M(2020, 1, 1)]),
    col("ns") > pl.lit(1, dtype=pl.Int64).cast(pl.Datetime("ns")), col("utc") >= M(1970, 1, 1, tzinfo=UTC),
    col("du") > dt.timedelta(milliseconds=1), col("du") == dt.timedelta(seconds=1, milliseconds=1), col("t") == dt.time(1), col("t") > dt.time(23),
    col("dec") > decimal.Decimal("1.5"), col("dec") == decimal.Decimal("1.50"), col("dec") > 3, col("dec") < decimal.Decimal("1.501"),
    col("dec").is_in([decimal.Decimal("1.5"), None]), col("i") > 1, col("i") == 2**53 + 1, col("i8") > 1, col("i8") != -128, col("u64") > 2**63,
    col("i") > 2.5, col("i8") > 0.5, col("i8") <= 3,
    col("i").is_in([1, 2, None]), ~col("i").is_in([1, None]), col("i").is_in([1, None], nulls_equal=True), ~col("i").is_in([1, 2], nulls_equal=True),
    ~col("i").is_in([1, None], nulls_equal=True), col("u64").is_in([2**64 - 1]), col("s").is_in(["a", "ä"]), col("s").is_in(pl.Series(["b"]).implode()),
    col("d").is_in([D(2020, 1, 1), None]), col("f").is_in([NAN, 0.0]), ~col("f").is_in([0.5, 2.0]),
    col("i").is_null(), col("s").is_not_null(), ~col("i").is_null(), col("st").is_null(), col("f").is_nan(), col("f").is_not_nan(), ~col("f").is_nan(),
    col("f") > 0.0, col("f") == 0.0, col("f") < -0.5, col("f32") == 0.1, col("f32") > 0.1,
    col("s").str.starts_with("a"), ~col("s").str.starts_with("a"), col("s").str.starts_with(""), col("s") >= "a", col("s") == 'quo"te', col("bin") == b"\xff", col("bin") < b"b",
    col("cat") == "a", col("cat") != "b", col("enum") == "w",
    col("b"), ~col("b"), col("b") == False, col("b") & (col("i") > 0), ~(col("b") | col("i").is_null()),  # noqa: E712
    col("b").eq_missing(True), col("i").eq_missing(1), col("i").ne_missing(1), ~col("i").ne_missing(1),
    col("st").struct.field("a") == 1, col("st").struct.field("in").struct.field("b") == "x", col("st").struct.field("a").is_null(),
    ~((col("st").struct.field("a") > 1) & (col("s") == "a") | col("d").is_null()), ~(col("i") > 1),
]
#: Conditions of which polars tests a part, or all.
PARTS = [
    (col("i") > 1) & (col("s").str.to_lowercase() == "a"), (col("i") + 1 > 2) & col("d").is_not_null(),
]
LEFT = [
    col("i") + 1 > 2, col("ts").dt.year() == 2020, col("i") > col("i8"), (col("i") > 1) | (col("s").str.len_bytes() == 1), col("s").str.ends_with("a"),
    ~((col("i") > 1) & (col("s").str.to_uppercase() == "A")), col("cat") > "a", col("f32") > pl.lit(0.1, dtype=pl.Float64), col("i") > 2.0**53,
    # Serialised expressions have null in the place of such numbers.
    col("f") != NAN, col("f") >= float("inf"), col("f") == NAN,
    col("s").str.starts_with(col("s")), (col("i") > 1).is_null(), col("enum") > "x",
]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("pushdown") / "a.parquet"
    hb.write_table(FRAME, path, row_group_size=3)
    return path


def asked(path, condition, monkeypatch):
    """Return the rows that a query selects, and the filters that reached the reader."""
    found = []
    original = _polars.pushed_down

    def watched(predicate, schema):
        found.append(original(predicate, schema))
        return found[-1]

    monkeypatch.setattr(_polars, "pushed_down", watched)
    rows = hb.scan_polars(path).filter(condition).collect()
    assert hb.scan_polars(path).filter(condition).select("id").collect()["id"].to_list() == rows["id"].to_list()
    assert hb.scan_polars(path).filter(condition).select(pl.len()).collect().item() == rows.height
    return rows, found


@pytest.mark.parametrize("condition", PUSHED, ids=lambda it: str(it)[:60])
def test_the_reader_tests_the_rows(path, condition, monkeypatch):
    rows, found = asked(path, condition, monkeypatch)
    assert rows.equals(FRAME.filter(condition))
    assert found and all(one is not None and one.is_whole for one in found)


@pytest.mark.parametrize("condition", [*PARTS, *LEFT], ids=lambda it: str(it)[:60])
def test_polars_tests_the_rest(path, condition, monkeypatch):
    rows, found = asked(path, condition, monkeypatch)
    assert rows.equals(FRAME.filter(condition))
    assert found and not any(one is not None and one.is_whole for one in found)
    assert any(condition is part for part in PARTS) == (found[0] is not None)


def test_a_negated_conjunction_lacks_no_part():
    # The optimiser of polars turns such negations into disjunctions.
    both = (col("s") == "a") & (col("s").str.to_uppercase() == "A")
    part = _polars.pushed_down(both, FRAME.schema)
    assert part is not None and not part.is_whole and "s = 'a'" in repr(part.condition)
    assert _polars.pushed_down(~both, FRAME.schema) is None
    assert _polars.pushed_down(~(both | (col("s") == "b")), FRAME.schema) is None


def test_chains_and_depths(path):
    lazy = hb.scan_polars(path)
    for join in (operator.or_, operator.and_):
        chain = functools.reduce(join, [col("i") != number for number in range(100, 700)])
        assert lazy.filter(chain).collect().equals(FRAME.filter(chain))
    deep = col("i") > 1
    for number in range(150):
        deep = (deep & (col("i8") != number)) | (col("id") == number)
    assert lazy.filter(deep).collect().equals(FRAME.filter(deep))


def test_many_values(path):
    values = list(range(0, 200_000, 2))
    assert hb.scan_polars(path).filter(col("id").is_in(values)).collect()["id"].to_list() == [0, 2, 4, 6]


def test_random_conditions(path):
    hypothesis = pytest.importorskip("hypothesis")
    from hypothesis import strategies as st

    tree = st.recursive(
        st.sampled_from([*PUSHED, *LEFT]),
        lambda inner: st.one_of(st.builds(operator.and_, inner, inner), st.builds(operator.or_, inner, inner), st.builds(operator.invert, inner)),
        max_leaves=6,
    )

    @hypothesis.settings(max_examples=300, deadline=None, suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(tree)
    def check(condition):
        assert hb.scan_polars(path).filter(condition).collect().equals(FRAME.filter(condition))

    check()


def test_a_query_can_be_pickled(path):
    pytest.importorskip("cloudpickle")
    query = hb.scan_polars(path).filter(col("d") > D(2020, 1, 1), col("i").is_in([3]))
    assert pickle.loads(pickle.dumps(query)).collect().equals(query.collect())


def test_texts_and_lists_in_the_layouts_of_polars(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    texts = ["a text of more than twelve bytes", None, "", "short"]
    frame = pl.DataFrame(
        {
            "s": texts, "l": [texts, None, [], ["é"]], "b": [b"\xff" * 20, None, b"", b"b"],
            "st": [{"x": text, "y": [text]} for text in texts], "c": pl.Series(texts, dtype=pl.Categorical), "id": range(4),
        }
    )
    frame.write_parquet(path)
    found = []
    original = pl.DataFrame

    def watched(data=None, **options):
        found.append(str(getattr(data, "schema", "")))
        return original(data, **options)

    lazy = hb.scan_polars(path)
    monkeypatch.setattr(_polars.polars, "DataFrame", watched)
    assert lazy.collect().equals(frame) and lazy.filter(col("id") > 1).collect().equals(frame[2:])
    assert len(found) == 2 and all("s: Utf8View" in one and "b: BinaryView" in one and "l: LargeList" in one for one in found), found


def test_a_file_that_was_replaced_is_opened_again(tmp_path):
    path = tmp_path / "a.parquet"
    hb.write_table(pl.DataFrame({"a": [1, 2, 3]}), path)
    scan = _polars._Scan(path, {})
    first = scan.opened()
    assert scan.opened() is first and pickle.loads(pickle.dumps(scan)).opened() is not first
    lazy = hb.scan_polars(path).filter(col("a") > 1)
    assert lazy.collect()["a"].to_list() == lazy.collect()["a"].to_list() == [2, 3]
    hb.write_table(pl.DataFrame({"a": [1, 7, 8, 9]}), path, row_group_size=1)
    assert scan.opened() is not first and lazy.collect()["a"].to_list() == [7, 8, 9]
    # The files of a directory are found by each query.
    lazy = hb.scan_polars(tmp_path)
    hb.write_table(pl.DataFrame({"a": [5]}), tmp_path / "b.parquet")
    assert lazy.collect()["a"].to_list() == [1, 7, 8, 9, 5]

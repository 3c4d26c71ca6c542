"""Values in filters that have a unit, a range or a null of their own. pyarrow and arithmetic have the expected rows."""

import datetime

import pytest

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

import pyarrow.parquet as pq

import herringbone as hb
import herringbone.pyarrow as hpq

MOMENTS = [datetime.datetime(1500, 1, 1), datetime.datetime(2020, 1, 1), datetime.datetime(2500, 1, 1), None]
OPERATIONS = ["=", "!=", "<", "<=", ">", ">="]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("literals") / "a.parquet"
    columns = {unit: pa.array(MOMENTS, pa.timestamp(unit)) for unit in ("s", "ms", "us")}
    columns["zone"] = pa.array(MOMENTS, pa.timestamp("us", "Europe/Oslo"))
    columns["date"] = pa.array([it and it.date() for it in MOMENTS])
    columns |= {f"d{unit}": pa.array([-1, 5, 5_000, None], pa.duration(unit)) for unit in ("s", "ms", "us", "ns")}
    hb.write_table(pa.table(columns), path)
    return path


def count(path, *condition):
    return hb.read_table(path, filters=[condition]).num_rows


def expected(values, operation, value):
    """Compare by Python: integers of nanoseconds are exact."""
    compare = {
        "=": int.__eq__, "!=": int.__ne__, "<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__,
    }[operation]
    return sum(compare(it, value) for it in values)


def nanos(moment):
    return (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1) * 1000


# Each literal, and the moment that it means, in nanoseconds since 1970. The days are those of the calendar's cycle of
# 400 years, which has 146,097 days.
CYCLE = 146_097 * 86_400 * 10**9
DATETIMES = [
    (np.datetime64("3000-01-01", "us"), nanos(datetime.datetime(3000, 1, 1))),
    (np.datetime64("3000-01-01", "s"), nanos(datetime.datetime(3000, 1, 1))),
    (np.datetime64("3000-01-01"), nanos(datetime.datetime(3000, 1, 1))),
    (np.datetime64("3000-03", "M"), nanos(datetime.datetime(3000, 3, 1))),
    (np.datetime64("2500", "Y"), nanos(datetime.datetime(2500, 1, 1))),
    (np.datetime64("1500", "Y"), nanos(datetime.datetime(1500, 1, 1))),
    (np.datetime64("0001", "Y"), nanos(datetime.datetime(1, 1, 1))),
    (np.datetime64(400 * 10**9 + 30, "Y"), 10**9 * CYCLE + nanos(datetime.datetime(2000, 1, 1))),
    (np.datetime64(-400 * 10**9 + 30, "Y"), -(10**9) * CYCLE + nanos(datetime.datetime(2000, 1, 1))),
    (np.datetime64(2**62, "Y"), 2**62 * 365 * 86_400 * 10**9),
    (np.datetime64(-(2**62), "W"), -(2**62) * 7 * 86_400 * 10**9),
    (np.datetime64(2**62, "us"), 2**62 * 1000),
    (np.datetime64(2**62, "h"), 2**62 * 3_600 * 10**9),
    (np.datetime64(18_262, "D"), nanos(datetime.datetime(2020, 1, 1))),
    (np.datetime64(18_262 * 96, "15m"), nanos(datetime.datetime(2020, 1, 1))),
    (np.datetime64(5_000, "ps"), 5),
    (np.datetime64(-5 * 10**6, "fs"), -5),
    (pd.Timestamp("3000-01-01"), nanos(datetime.datetime(3000, 1, 1))),
    (pd.Timestamp(np.datetime64("20000-01-01", "s")), 45 * CYCLE + nanos(datetime.datetime(2000, 1, 1))),
    (pa.scalar(2**62, pa.timestamp("us")), 2**62 * 1000),
    (pa.scalar(-(2**62), pa.timestamp("s")), -(2**62) * 10**9),
]


@pytest.mark.parametrize("literal, value", DATETIMES, ids=repr)
def test_moments_of_any_range(path, literal, value):
    known = [nanos(it) for it in MOMENTS[:3]]
    for operation in OPERATIONS:
        for column in ("s", "ms", "us", "zone", "date"):
            assert count(path, column, operation, literal) == expected(known, operation, value), (column, operation)
    assert count(path, "us", "in", [literal, MOMENTS[1]]) == len({value, known[1]} & set(known))


DURATIONS = [
    (np.timedelta64(5, "s"), 5 * 10**9),
    (np.timedelta64(5, "ns"), 5),
    (np.timedelta64(5, "us"), 5_000),
    (np.timedelta64(1, "h"), 3_600 * 10**9),
    (np.timedelta64(2**62, "W"), 2**62 * 7 * 86_400 * 10**9),
    (np.timedelta64(-(2**62), "s"), -(2**62) * 10**9),
    (np.timedelta64(5_000, "ps"), 5),
    (datetime.timedelta(seconds=5), 5 * 10**9),
    (datetime.timedelta(microseconds=-1), -1_000),
    (pd.Timedelta(5, "ns"), 5),
    (pa.scalar(5, pa.duration("ms")), 5 * 10**6),
]


@pytest.mark.parametrize("literal, value", DURATIONS, ids=repr)
def test_durations_of_any_range(path, literal, value):
    for unit, nanoseconds in (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1)):
        known = [it * nanoseconds for it in (-1, 5, 5_000)]
        for operation in OPERATIONS:
            assert count(path, f"d{unit}", operation, literal) == expected(known, operation, value), (unit, operation)


@pytest.mark.parametrize(
    "null",
    [np.datetime64("NaT"), np.datetime64("NaT", "us"), np.datetime64("NaT", "Y"), pd.NaT, pd.NA, pa.scalar(None)],
    ids=lambda it: type(it).__name__,
)
def test_nulls_of_other_packages(path, null):
    for operation in OPERATIONS:
        assert count(path, "us", operation, null) == 0
    # As in pyarrow, a null in a list of values matches nulls.
    assert count(path, "us", "in", [null]) == 1
    theirs = pq.read_table(path, filters=[("us", "in", [np.datetime64("NaT", "us")])])
    assert theirs.num_rows == 1


def test_nulls_of_durations(path):
    for operation in OPERATIONS:
        assert count(path, "dus", operation, np.timedelta64("NaT")) == 0


def test_values_without_an_exact_meaning(path):
    for literal, text in (
        (np.datetime64(1, "ps"), "a part of a nanosecond"), (np.timedelta64(1, "as"), "a part of a nanosecond"),
        (np.timedelta64(1, "Y"), "different lengths"), (np.timedelta64(1, "M"), "different lengths"),
        (np.timedelta64(1), "no unit"),
    ):
        with pytest.raises(ValueError, match=text):
            count(path, "dus", "=", literal)
    with pytest.raises(ValueError, match="cannot compare"):
        count(path, "us", "=", np.timedelta64(5, "us"))


def test_scalars_of_pyarrow_as_in_pyarrow(path):
    for value in (pa.scalar(2**62, pa.timestamp("us")), pa.scalar(-(2**62), pa.timestamp("us"))):
        for operation in OPERATIONS:
            condition = [("us", operation, value)]
            theirs = pq.read_table(path, filters=condition).num_rows
            assert hpq.read_table(path, filters=condition).num_rows == count(path, *condition[0]) == theirs

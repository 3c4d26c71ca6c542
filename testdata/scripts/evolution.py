"""Files under the schema of other ones: `X.parquet`, and `X.wanted.parquet` with the same rows as they are to be.

What these rows are, pyarrow's casts say (`cast_*`), duckdb's `union_by_name` (`union_*`), or the script itself, value by
value, where no library knows fields by their ids (`ids_*`).
"""

import datetime
import decimal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

D = decimal.Decimal


def ints(bits, signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return [low, None, 0, 1, high, 7]


def pairs():
    """Values, their type in the file, and the wanted types."""
    kinds = {"int": True, "uint": False}
    for kind, signed in kinds.items():
        for bits in (8, 16, 32, 64):
            wider = [getattr(pa, f"{kind}{b}")() for b in (16, 32, 64) if b > bits]
            if not signed:
                wider += [getattr(pa, f"int{b}")() for b in (16, 32, 64) if b > bits]
            floats = {8: [pa.float32(), pa.float64()], 16: [pa.float32(), pa.float64()], 32: [pa.float64()], 64: []}[bits]
            digits = {8: 3, 16: 5, 32: 10, 64: 19 if signed else 20}[bits]
            decimals = [pa.decimal128(digits, 0), pa.decimal128(digits + 5, 5), pa.decimal256(digits + 30, 30)]
            yield ints(bits, signed), getattr(pa, f"{kind}{bits}")(), wider + floats + decimals
    yield [1.5, None, float("nan"), float("inf"), -0.0, 3.4028234663852886e38], pa.float32(), [pa.float64()]
    yield [D("123.45"), None, D("-999.99"), D("0.01"), D("0"), D("999.99")], pa.decimal128(5, 2), [
        pa.decimal128(6, 2), pa.decimal128(10, 7), pa.decimal128(38, 2), pa.decimal256(76, 73), pa.decimal128(6, 3)]
    yield [D(10**38 - 1), None, D(1 - 10**38), D(5), D(0), D(-1)], pa.decimal128(38, 0), [pa.decimal256(76, 38), pa.decimal256(39, 0)]
    days = [datetime.date(1970, 1, 1), None, datetime.date(1677, 9, 22), datetime.date(2262, 4, 11), datetime.date(2024, 2, 29), datetime.date(1969, 12, 31)]
    yield days, pa.date32(), [pa.timestamp(u) for u in ("s", "ms", "us", "ns")] + [pa.date64()]
    times = [datetime.datetime(1970, 1, 1), None, datetime.datetime(1700, 1, 2, 3, 4, 5), datetime.datetime(2200, 1, 1, 23, 59, 59), datetime.datetime(2024, 2, 29, 12), datetime.datetime(1969, 12, 31, 23, 59, 59)]
    for unit in ("ms", "us", "ns"):
        yield times, pa.timestamp(unit), [pa.timestamp(u) for u in ("s", "ms", "us", "ns") if u != unit]
        yield times, pa.timestamp(unit, "UTC"), [pa.timestamp(u, "UTC") for u in ("s", "ms", "us", "ns") if u != unit] + [pa.timestamp(unit, "Europe/Berlin")]
    clock = [datetime.time(0), None, datetime.time(23, 59, 59), datetime.time(1, 2, 3), datetime.time(12), datetime.time(0, 0, 1)]
    yield clock, pa.time32("ms"), [pa.time32("s"), pa.time64("us"), pa.time64("ns")]
    yield clock, pa.time64("us"), [pa.time32("s"), pa.time32("ms"), pa.time64("ns")]
    text = ["", None, "a", "ä€😀", "long enough to lie outside of a view", "b"]
    texts = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(),
             pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int8(), pa.large_string())]
    yield text, pa.string(), texts[1:]
    yield [None if t is None else t.encode() for t in text], pa.binary(), texts[:3] + texts[4:7]
    yield [b"abcd", None, b"\0\0\0\0", b"wxyz", b"\xff\xff\xff\xff", b"1234"], pa.binary(4), [pa.binary(), pa.large_binary()]
    yield [None] * 6, pa.null(), [pa.int32(), pa.string(), pa.list_(pa.int32())]
    yield [[1], None, [], [2, None], [3], [4]], pa.list_(pa.int32()), [pa.list_(pa.int64()), pa.large_list(pa.int32()), pa.large_list(pa.float64())]


def cast(array, wanted):
    source = array.type
    if pa.types.is_decimal(wanted) and pa.types.is_integer(source):
        # pyarrow has no cast from some integers to decimals of few digits.
        return pa.array([None if v is None else D(v) for v in array.to_pylist()], wanted)
    if pa.types.is_date(source) and pa.types.is_timestamp(wanted) and wanted.unit == "ns":
        return array.cast(pa.timestamp("s")).cast(wanted)
    if pa.types.is_dictionary(wanted):
        return cast(array, wanted.value_type).dictionary_encode().cast(wanted)
    return array.cast(wanted)


def casts(out):
    source, wanted = {}, {}
    for values, kind, targets in pairs():
        array = pa.array(values, kind)
        for target in targets:
            name = f"{kind} -> {target}"
            source[name] = array
            wanted[name] = cast(array, target)
    # Nested columns have no hint that would promise more than their leaves.
    pq.write_table(pa.table(source), out / "cast_all.parquet", version="2.6", row_group_size=4)
    pq.write_table(pa.table(wanted), out / "cast_all.wanted.parquet", version="2.6")


def unions(out):
    """Two files of one table, whose columns came and went."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE old AS SELECT i::INTEGER AS a, 'x' || i AS gone, {'p': i::SMALLINT, 'q': i * 2} AS s, i / 2 AS f FROM range(20) t(i)")
    connection.execute("CREATE TABLE new AS SELECT {'r': 'r' || i, 'p': i::INTEGER, 'q': i * 2} AS s, i::BIGINT AS a, [i, i + 1] AS added, i::DOUBLE AS f FROM range(5) t(i)")
    for name in ("old", "new"):
        connection.execute(f"COPY {name} TO '{out}/union_{name}.parquet' (FORMAT parquet)")
    files = f"read_parquet(['{out}/union_new.parquet', '{out}/union_old.parquet'], union_by_name = true, filename = true)"
    for name in ("old", "new"):
        select = f"SELECT * EXCLUDE (filename) FROM {files} WHERE filename LIKE '%union_{name}.parquet'"
        connection.execute(f"COPY ({select}) TO '{out}/union_{name}.wanted.parquet' (FORMAT parquet)")


def field(name, kind, number, nullable=True):
    return pa.field(name, kind, nullable=nullable, metadata={"PARQUET:field_id": str(number)})


def ids(out):
    """Fields that were renamed, moved, dropped and added, in structs, lists and maps."""
    def point(names):
        kinds = {"x": (pa.int32(), 3), "y": (pa.float32(), 4), "z": (pa.string(), 5)}
        return pa.struct([field(n, *kinds[n]) for n in names])

    old = pa.schema([
        field("id", pa.int32(), 1, False),
        field("point", point("xyz"), 2),
        field("points", pa.list_(field("element", point("xyz"), 7)), 6),
        field("by_name", pa.map_(field("key", pa.string(), 9, False), field("value", point("xyz"), 10)), 8),
        field("dropped", pa.string(), 11),
    ])
    rows = [
        {"id": 1, "point": {"x": 1, "y": 1.5, "z": "a"}, "points": [{"x": 1, "y": 0.5, "z": "b"}, None], "by_name": [("k", {"x": 9, "y": 2.5, "z": "c"})], "dropped": "d"},
        {"id": 2, "point": None, "points": None, "by_name": None, "dropped": None},
        {"id": 3, "point": {"x": None, "y": None, "z": None}, "points": [], "by_name": [], "dropped": "e"},
        {"id": 4, "point": {"x": 4, "y": -1.0, "z": "f"}, "points": [{"x": 2, "y": None, "z": None}], "by_name": [("l", None), ("m", {"x": 8, "y": 0.25, "z": None})], "dropped": "f"},
    ]
    pq.write_table(pa.Table.from_pylist(rows, old), out / "ids_moved.parquet")

    # x is now `ex` and longer, y is gone, z comes first, w is new with the name that y had.
    new_point = pa.struct([field("z", pa.string(), 5), field("y", pa.int64(), 20), field("ex", pa.int64(), 3)])
    new = pa.schema([
        field("labels", pa.map_(field("key", pa.string(), 9, False), field("value", new_point, 10)), 8),
        field("id", pa.int64(), 1, False),
        field("added", pa.string(), 21),
        field("points", pa.large_list(field("element", new_point, 7)), 6),
        field("where", new_point, 2),
        # Nothing that is left of it is in the file.
        field("point", pa.struct([field("only", pa.int32(), 30)]), 31),
    ])

    def moved(point):
        return point and {"z": point["z"], "y": None, "ex": point["x"]}

    wanted = [{
        "labels": row["by_name"] and [(k, moved(v)) for k, v in row["by_name"]],
        "id": row["id"],
        "added": None,
        "points": row["points"] and [moved(p) for p in row["points"]],
        "where": moved(row["point"]),
        "point": None,
    } for row in rows]
    for row, was in zip(wanted, rows):
        row["labels"] = was["by_name"] if not was["by_name"] else row["labels"]
        row["points"] = was["points"] if not was["points"] else row["points"]
    pq.write_table(pa.Table.from_pylist(wanted, new), out / "ids_moved.wanted.parquet")

    # A struct, a list and a map of which nothing is left but that they are there.
    hollow = pa.struct([field("new", pa.int32(), 40)])
    hollow_schema = pa.schema([
        field("point", hollow, 2),
        field("points", pa.list_(field("element", hollow, 7)), 6),
        field("by_name", pa.map_(field("key", pa.string(), 9, False), field("value", hollow, 10)), 8),
    ])

    def hollowed(point):
        return point and {"new": None}

    wanted = [{
        "point": hollowed(row["point"]),
        "points": None if row["points"] is None else [hollowed(p) for p in row["points"]],
        "by_name": None if row["by_name"] is None else [(k, hollowed(v)) for k, v in row["by_name"]],
    } for row in rows]
    pq.write_table(pa.Table.from_pylist(rows, old), out / "ids_hollow.parquet")
    pq.write_table(pa.Table.from_pylist(wanted, hollow_schema), out / "ids_hollow.wanted.parquet")


def write_all(out):
    casts(out)
    unions(out)
    ids(out)

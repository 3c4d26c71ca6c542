"""Files with schemas of old writers, of writers to come, and of none."""

import datetime
from decimal import Context, Decimal
from struct import pack

import pyarrow as pa

import page_encodings as enc
from builder import (
    DECIMAL, ENUM, LIST, MAP, MAP_KEY_VALUE, OPTIONAL, REPEATED, REQUIRED, UTF8, Chunk, build, decimal_type, dictionary_page,
    group, indices, leaf, logical, page_v1, struct as thrift, time_unit, timestamp_type,
)
from cases import add, required
from page_encodings import BOOLEAN, BYTE_ARRAY, DOUBLE, FIXED_LEN_BYTE_ARRAY, INT32, INT64

INT32_T, TEXT = pa.int32(), pa.string()
WIDE = Context(prec=100)


def chunks(nodes, *columns):
    """One chunk for each leaf; a column is (levels [(repetition, definition)], dense values)."""
    leaves = [one for node in nodes for one in node.leaves()]
    out = []
    assert len(leaves) == len(columns)
    for one, (levels, values) in zip(leaves, columns):
        rep, dfn = [r for r, _ in levels], [d for _, d in levels]
        assert sum(d == one.max_definition for d in dfn) == len(values), one.path
        assert max(rep) <= one.max_repetition and max(dfn) <= one.max_definition, one.path
        physical = one.node.physical
        values = [v.encode() if isinstance(v, str) else v for v in values]
        out.append(Chunk([page_v1(one, dfn, enc.plain(physical, values), rep)]))
    return out


def nested(name, rows, nodes, columns, expected):
    nodes = nodes if isinstance(nodes, list) else [nodes]
    expected = expected if isinstance(expected, list) else [expected]
    add(name, build(nodes, [(rows, chunks(nodes, *columns))]), expected)


# ---- Legacy lists. Rows: [1, 2], null, [], [3]; for required lists [1, 2], [], [3].
LIST_LEVELS = [(0, 2), (1, 2), (0, 0), (0, 1), (0, 2)]
LIST_ROWS = [[1, 2], None, [], [3]]


def two_level_lists():
    of_int = pa.list_(required("element", INT32_T))
    nested("list_two_level_primitive", 4, group("x", OPTIONAL, leaf("element", INT32, REPEATED), converted=LIST),
           [(LIST_LEVELS, [1, 2, 3])], (pa.field("x", of_int), LIST_ROWS))
    pair = pa.struct([required("a", INT32_T), pa.field("b", TEXT)])
    node = group("x", OPTIONAL, group("pair", REPEATED, leaf("a", INT32), leaf("b", BYTE_ARRAY, OPTIONAL, converted=UTF8)), converted=LIST)
    levels_b = [(0, 3), (1, 2), (0, 0), (0, 1), (0, 3)]
    rows = [[{"a": 1, "b": "p"}, {"a": 2, "b": None}], None, [], [{"a": 3, "b": "q"}]]
    nested("list_two_level_struct", 4, node, [(LIST_LEVELS, [1, 2, 3]), (levels_b, ["p", "q"])],
           (pa.field("x", pa.list_(required("element", pair))), rows))
    one = pa.list_(required("element", pa.struct([required("item", INT32_T)])))
    one_rows = [row and [{"item": v} for v in row] for row in LIST_ROWS]
    for name in ("array", "x_tuple"):
        node = group("x", OPTIONAL, group(name, REPEATED, leaf("item", INT32)), converted=LIST)
        nested(f"list_of_{name}", 4, node, [(LIST_LEVELS, [1, 2, 3])], (pa.field("x", one), one_rows))
    # The same bytes under other names are a three-level list.
    for name in ("bag", "list", "y_tuple", "arrays"):
        node = group("x", OPTIONAL, group(name, REPEATED, leaf("item", INT32)), converted=LIST)
        nested(f"list_three_level_{name}", 4, node, [(LIST_LEVELS, [1, 2, 3])], (pa.field("x", of_int), LIST_ROWS))
    # A group of one repeated field is the element.
    inner = group("element", REPEATED, leaf("items", INT32, REPEATED))
    levels = [(0, 3), (2, 3), (1, 2), (0, 0), (0, 1), (0, 3)]
    t = pa.list_(required("element", pa.struct([required("items", of_int)])))
    rows = [[{"items": [1, 2]}, {"items": []}], None, [], [{"items": [3]}]]
    nested("list_two_level_of_repeated", 4, group("x", OPTIONAL, inner, converted=LIST), [(levels, [1, 2, 3])], (pa.field("x", t), rows))
    # A repeated group that is a LIST itself is a list as element of a two-level list.
    inner = group("array", REPEATED, leaf("array", INT32, REPEATED), converted=LIST)
    t = pa.list_(required("element", of_int))
    rows = [[[1, 2], []], None, [], [[3]]]
    nested("list_two_level_of_list", 4, group("x", OPTIONAL, inner, converted=LIST), [(levels, [1, 2, 3])], (pa.field("x", t), rows))
    # And one that is a MAP is a map.
    pair = group("map", REPEATED, leaf("key", BYTE_ARRAY, converted=UTF8), leaf("value", INT32, OPTIONAL), converted=MAP_KEY_VALUE)
    inner = group("array", REPEATED, pair, converted=MAP)
    t = pa.list_(required("element", pa.map_(TEXT, INT32_T)))
    rows = [[[("k", 1), ("l", None)], []], None, [], [[("m", 3)]]]
    levels_v = [(0, 4), (2, 3), (1, 2), (0, 0), (0, 1), (0, 4)]
    nested("list_two_level_of_map", 4, group("x", OPTIONAL, inner, converted=LIST),
           [(levels, ["k", "l", "m"]), (levels_v, [1, 3])], (pa.field("x", t), rows))


def unannotated():
    of_int = pa.list_(required("x", INT32_T))
    levels = [(0, 1), (1, 1), (0, 0), (0, 1)]
    nested("repeated_primitive", 3, leaf("x", INT32, REPEATED), [(levels, [1, 2, 3])],
           (required("x", of_int), [[1, 2], [], [3]]))
    node = group("x", REPEATED, leaf("a", INT32), leaf("b", INT32, OPTIONAL))
    t = pa.list_(required("x", pa.struct([required("a", INT32_T), pa.field("b", INT32_T)])))
    rows = [[{"a": 1, "b": 10}, {"a": 2, "b": None}], [], [{"a": 3, "b": 30}]]
    nested("repeated_group", 3, node, [(levels, [1, 2, 3]), ([(0, 2), (1, 1), (0, 0), (0, 2)], [10, 30])], (required("x", t), rows))
    node = group("x", OPTIONAL, group("y", REPEATED, leaf("z", INT32, REPEATED)))
    t = pa.struct([required("y", pa.list_(required("y", pa.struct([required("z", of_int)]))))])
    rows = [{"y": [{"z": [1, 2]}, {"z": []}]}, None, {"y": []}, {"y": [{"z": [3]}]}]
    levels = [(0, 3), (2, 3), (1, 2), (0, 0), (0, 1), (0, 3)]
    nested("repeated_in_repeated", 4, node, [(levels, [1, 2, 3])], (pa.field("x", t), rows))


MAP_KEYS = [(0, 2), (1, 2), (0, 0), (0, 1), (0, 2)]
MAP_VALUES = [(0, 3), (1, 2), (0, 0), (0, 1), (0, 3)]
MAP_ROWS = [[("k", 1), ("l", None)], None, [], [("k", 3)]]


def maps():
    def entries(name, key, value):
        return group(name, REPEATED, leaf(key, BYTE_ARRAY, converted=UTF8), leaf(value, INT32, OPTIONAL))

    data = [(MAP_KEYS, ["k", "l", "k"]), (MAP_VALUES, [1, 3])]
    field = pa.field("x", pa.map_(TEXT, INT32_T))
    kv = entries("key_value", "key", "value")
    kv.converted = MAP_KEY_VALUE
    logical_kv = entries("key_value", "key", "value")
    for name, node in (
        ("map", group("x", OPTIONAL, entries("key_value", "key", "value"), converted=MAP)),
        ("map_logical_only", group("x", OPTIONAL, logical_kv, logical=logical(2))),
        ("map_other_names", group("x", OPTIONAL, entries("map", "k", "v"), converted=MAP)),
        ("map_with_map_key_value_inside", group("x", OPTIONAL, kv, converted=MAP)),
        ("map_key_value_as_map", group("x", OPTIONAL, entries("map", "key", "value"), converted=MAP_KEY_VALUE)),
    ):
        nested(name, 4, node, data, (field, MAP_ROWS))
    keys = group("x", OPTIONAL, group("key_value", REPEATED, leaf("key", BYTE_ARRAY, converted=UTF8)), converted=MAP)
    nested("map_of_keys_only", 4, keys, [(MAP_KEYS, ["k", "l", "k"])],
           (pa.field("x", pa.list_(required("key", TEXT))), [["k", "l"], None, [], ["k"]]))
    optional = group("x", OPTIONAL, group("key_value", REPEATED, leaf("key", BYTE_ARRAY, OPTIONAL, converted=UTF8),
                                          leaf("value", INT32, OPTIONAL)), converted=MAP)
    nested("map_with_optional_keys", 4, optional, [(MAP_VALUES[:1] + [(1, 3)] + MAP_VALUES[2:], ["k", "l", "k"]), (MAP_VALUES, [1, 3])],
           (field, MAP_ROWS))
    # A list of maps of lists, three-level.
    value = group("value", OPTIONAL, group("list", REPEATED, leaf("element", INT32, OPTIONAL)), converted=LIST)
    node = group("x", REQUIRED, group("list", REPEATED, group("element", OPTIONAL, group(
        "key_value", REPEATED, leaf("key", INT32), value), converted=MAP)), converted=LIST)
    rows = [[[(1, [10, None]), (2, None)], None, []], [], [[(3, [])]]]
    key_levels = [(0, 3), (2, 3), (1, 1), (1, 2), (0, 0), (0, 3)]
    item_levels = [(0, 6), (3, 5), (2, 3), (1, 1), (1, 2), (0, 0), (0, 4)]
    t = pa.list_(pa.map_(INT32_T, pa.list_(INT32_T)))
    nested("list_of_map_of_list", 3, node, [(key_levels, [1, 2, 3]), (item_levels, [10])], (required("x", t), rows))


def structs():
    node = group("x", OPTIONAL, leaf("a", INT32), group("empty", REQUIRED), leaf("b", INT32, OPTIONAL))
    levels = [(0, 1), (0, 0), (0, 1)]
    # An empty group has no leaf and so no nulls of its own: it is there wherever its parent is.
    rows = pa.StructArray.from_arrays(
        [pa.array([1, None, 3], INT32_T), empty_structs(3),
         pa.array([None, None, 4], INT32_T)],
        fields=[required("a", INT32_T), required("empty", pa.struct([])), pa.field("b", INT32_T)],
        mask=pa.array([False, True, False]))
    nested("empty_group_inside", 3, node, [(levels, [1, 3]), ([(0, 1), (0, 0), (0, 2)], [4])], (pa.field("x", rows.type), rows))
    nodes = [leaf("a", INT32), group("empty", REQUIRED)]
    nested("empty_group_beside", 2, nodes, [([(0, 0), (0, 0)], [1, 2])],
           [(required("a", INT32_T), [1, 2]), (required("empty", pa.struct([])), empty_structs(2))])
    # Nothing but a group without children: the row count of the file says how long it is.
    add("empty_group_alone", build([group("empty", REQUIRED)], [(5, [])]), [(required("empty", pa.struct([])), empty_structs(5))])
    # Twice the same name, at the root and inside a struct.
    nodes = [leaf("a", INT32), leaf("a", BYTE_ARRAY, OPTIONAL, converted=UTF8), group("s", REQUIRED, leaf("b", INT32), leaf("b", DOUBLE))]
    inner = pa.StructArray.from_arrays([pa.array([7, 8], INT32_T), pa.array([0.5, 1.5])], fields=[required("b", INT32_T), required("b", pa.float64())])
    nested("duplicate_names", 2, nodes,
           [([(0, 0)] * 2, [1, 2]), ([(0, 1), (0, 0)], ["one"]), ([(0, 0)] * 2, [7, 8]), ([(0, 0)] * 2, [0.5, 1.5])],
           [(required("a", INT32_T), [1, 2]), (pa.field("a", TEXT), ["one", None]), (required("s", inner.type), inner)])
    nodes = [leaf("a.b", INT32), group("a", REQUIRED, leaf("b", INT32), leaf("c.d", INT32)), leaf("", INT32), leaf("日本 \"quoted\"\n", INT32)]
    t = pa.struct([required("b", INT32_T), required("c.d", INT32_T)])
    nested("dots_and_odd_names", 1, nodes, [([(0, 0)], [i]) for i in range(5)], [
        (required("a.b", INT32_T), [0]), (required("a", t), [{"b": 1, "c.d": 2}]), (required("", INT32_T), [3]),
        (required("日本 \"quoted\"\n", INT32_T), [4])])
    # Nulls at each of six levels of optional structs.
    depth = 6
    node, t, rows = leaf("v", INT32, OPTIONAL), INT32_T, [None] * (depth + 2)
    names = "fedcba"
    for name in names:
        t = pa.struct([pa.field(node.name, t)])
        node = group(name, OPTIONAL, node)

    def row(definition):
        value = 42 if definition == depth + 1 else None
        for level in range(depth, 0, -1):
            key = "v" if level == depth else names[::-1][level]
            value = {key: value} if definition >= level else None
        return value

    rows = [row(d) for d in range(depth + 2)]
    nested("nulls_at_each_depth", depth + 2, node, [([(0, d) for d in range(depth + 2)], [42])], (pa.field("a", t), rows))


def empty_structs(count):
    return pa.array([{}] * count, pa.struct([]))


def flat(name, columns):
    """Required columns of (node, dense values, field, expected values)."""
    nodes = [node for node, *_ in columns]
    rows = len(columns[0][1])
    file = build(nodes, [(rows, chunks(nodes, *[([(0, 0)] * rows, values) for _, values, *_ in columns]))])
    add(name, file, [(field, expected) for *_, field, expected in columns])


def field_ids():
    """An id at every level, negative and huge ones among them."""
    entries = group("key_value", REPEATED, leaf("key", BYTE_ARRAY, converted=UTF8, field_id=6), leaf("value", INT32, OPTIONAL, field_id=7),
                    field_id=5)
    inner = group("list", REPEATED, group("element", OPTIONAL, leaf("a", INT32, field_id=-9), leaf("b", INT32, field_id=2**31 - 1), field_id=3),
                  field_id=2)
    nodes = [leaf("plain", INT32, field_id=0), group("list", OPTIONAL, inner, converted=LIST, field_id=1),
             group("map", OPTIONAL, entries, converted=MAP, field_id=4)]
    t = pa.list_(pa.struct([required("a", INT32_T), required("b", INT32_T)]))
    nested("field_ids", 2, nodes, [
        ([(0, 0)] * 2, [1, 2]), ([(0, 3), (1, 2), (0, 0)], [10]), ([(0, 3), (1, 2), (0, 0)], [20]),
        ([(0, 2), (0, 1)], ["k"]), ([(0, 3), (0, 1)], [30]),
    ], [(required("plain", INT32_T), [1, 2]), (pa.field("list", t), [[{"a": 10, "b": 20}, None], None]),
        (pa.field("map", pa.map_(TEXT, INT32_T)), [[("k", 30)], []])])


def converted_only():
    day = datetime.date(2024, 2, 29)
    columns = [
        (leaf("utf8", BYTE_ARRAY, converted=0), ["ä", ""], TEXT, ["ä", ""]),
        (leaf("enum", BYTE_ARRAY, converted=ENUM), ["RED", "BLUE"], TEXT, ["RED", "BLUE"]),
        (leaf("decimal", INT32, converted=DECIMAL, scale=2, precision=7), [-12345, 5], pa.decimal128(7, 2), [Decimal("-123.45"), Decimal("0.05")]),
        (leaf("date", INT32, converted=6), [19782, -1], pa.date32(), [day, datetime.date(1969, 12, 31)]),
        (leaf("time_millis", INT32, converted=7), [0, 86399999], pa.time32("ms"), [0, 86399999]),
        (leaf("time_micros", INT64, converted=8), [0, 86399999999], pa.time64("us"), [0, 86399999999]),
        (leaf("timestamp_millis", INT64, converted=9), [-1, 1700000000000], pa.timestamp("ms", "UTC"), [-1, 1700000000000]),
        (leaf("timestamp_micros", INT64, converted=10), [-1, 1700000000000000], pa.timestamp("us", "UTC"), [-1, 1700000000000000]),
        (leaf("uint8", INT32, converted=11), [0, 255], pa.uint8(), [0, 255]),
        (leaf("uint16", INT32, converted=12), [0, 65535], pa.uint16(), [0, 65535]),
        (leaf("uint32", INT32, converted=13), [0, -1], pa.uint32(), [0, 4294967295]),
        (leaf("uint64", INT64, converted=14), [0, -1], pa.uint64(), [0, 2**64 - 1]),
        (leaf("int8", INT32, converted=15), [-128, 127], pa.int8(), [-128, 127]),
        (leaf("int16", INT32, converted=16), [-32768, 32767], pa.int16(), [-32768, 32767]),
        (leaf("int32", INT32, converted=17), [-(2**31), 2**31 - 1], INT32_T, [-(2**31), 2**31 - 1]),
        (leaf("int64", INT64, converted=18), [-(2**63), 2**63 - 1], pa.int64(), [-(2**63), 2**63 - 1]),
        (leaf("json", BYTE_ARRAY, converted=19), ["{}", "[1]"], pa.json_(), ["{}", "[1]"]),
        (leaf("bson", BYTE_ARRAY, converted=20), [b"\x05\x00\x00\x00\x00", b""], pa.binary(), [b"\x05\x00\x00\x00\x00", b""]),
    ]
    flat("converted_types_only", [
        (node, values, required(node.name, t), pa.ExtensionArray.from_storage(t, pa.array(expected, t.storage_type))
         if isinstance(t, pa.BaseExtensionType) else expected)
        for node, values, t, expected in columns
    ])


def logical_types():
    uuid = bytes(range(16))
    point, nowhere = pack("<BIdd", 1, 1, 30, 10), pack("<BII", 1, 4, 0)
    number = lambda bits, signed: logical(10, thrift((1, "i8", bits), (2, "bool", signed)))  # noqa: E731
    time = lambda unit, utc: logical(7, thrift((1, "bool", utc), (2, "struct", time_unit(unit))))  # noqa: E731
    columns = [
        (leaf("string", BYTE_ARRAY, logical=logical(1)), ["ä", ""], TEXT, ["ä", ""]),
        (leaf("enum", BYTE_ARRAY, logical=logical(4)), ["RED", "BLUE"], TEXT, ["RED", "BLUE"]),
        (leaf("date", INT32, logical=logical(6)), [0, 1], pa.date32(), [0, 1]),
        (leaf("time_ms", INT32, logical=time("ms", True)), [0, 1], pa.time32("ms"), [0, 1]),
        (leaf("time_us", INT64, logical=time("us", False)), [0, 1], pa.time64("us"), [0, 1]),
        (leaf("time_ns", INT64, logical=time("ns", True)), [0, 1], pa.time64("ns"), [0, 1]),
        (leaf("int8", INT32, logical=number(8, True)), [-128, 127], pa.int8(), [-128, 127]),
        (leaf("uint8", INT32, logical=number(8, False)), [0, 255], pa.uint8(), [0, 255]),
        (leaf("uint64", INT64, logical=number(64, False)), [0, -1], pa.uint64(), [0, 2**64 - 1]),
        (leaf("json", BYTE_ARRAY, logical=logical(12)), ["{}", "1"], pa.json_(), ["{}", "1"]),
        (leaf("bson", BYTE_ARRAY, logical=logical(13)), [b"", b"\x01"], pa.binary(), [b"", b"\x01"]),
        (leaf("uuid", FIXED_LEN_BYTE_ARRAY, type_length=16, logical=logical(14)), [uuid, bytes(16)], pa.uuid(), [uuid, bytes(16)]),
        (leaf("geometry", BYTE_ARRAY, logical=logical(17)), [point, nowhere], pa.binary(), [point, nowhere]),
        (leaf("geography", BYTE_ARRAY, logical=logical(18)), [point, nowhere], pa.binary(), [point, nowhere]),
        # LogicalType wins over a ConvertedType that says something else.
        (leaf("both", INT32, converted=6, logical=number(16, False)), [1, 65535], pa.uint16(), [1, 65535]),
        (leaf("utf8_but_json", BYTE_ARRAY, converted=0, logical=logical(12)), ["{}", "1"], pa.json_(), ["{}", "1"]),
    ]
    for unit in ("ms", "us", "ns"):
        for utc in (True, False):
            columns.append((leaf(f"timestamp_{unit}_{utc}", INT64, logical=timestamp_type(unit, utc)), [-1, 1],
                            pa.timestamp(unit, "UTC" if utc else None), [-1, 1]))
    flat("logical_types_only", [
        (node, values, required(node.name, t), pa.ExtensionArray.from_storage(t, pa.array(expected, t.storage_type))
         if isinstance(t, pa.BaseExtensionType) else expected)
        for node, values, t, expected in columns
    ])
    # Types to come, and known types on physical types that they may not annotate: the physical values stay readable.
    fixed = [b"abc", b"def"]
    flat("unknown_and_misplaced_logical_types", [
        (node, values, required(node.name, t), values) for node, values, t in (
            (leaf("unknown_int32", INT32, logical=logical(99)), [1, 2], INT32_T),
            (leaf("unknown_int64", INT64, logical=logical(1000)), [1, 2], pa.int64()),
            (leaf("unknown_double", DOUBLE, logical=logical(25)), [0.5, 2.0], pa.float64()),
            (leaf("unknown_boolean", BOOLEAN, logical=logical(25)), [True, False], pa.bool_()),
            (leaf("unknown_binary", BYTE_ARRAY, logical=logical(25)), fixed, pa.binary()),
            (leaf("unknown_fixed", FIXED_LEN_BYTE_ARRAY, type_length=3, logical=logical(25)), fixed, pa.binary(3)),
            (leaf("uuid_on_int32", INT32, logical=logical(14)), [1, 2], INT32_T),
            (leaf("uuid_of_3_bytes", FIXED_LEN_BYTE_ARRAY, type_length=3, logical=logical(14)), fixed, pa.binary(3)),
            (leaf("string_on_int64", INT64, logical=logical(1)), [1, 2], pa.int64()),
            (leaf("date_on_int64", INT64, logical=logical(6)), [1, 2], pa.int64()),
            (leaf("float16_of_3_bytes", FIXED_LEN_BYTE_ARRAY, type_length=3, logical=logical(15)), fixed, pa.binary(3)),
            (leaf("timestamp_on_int32", INT32, logical=timestamp_type("ms", True)), [1, 2], INT32_T),
            (leaf("time_us_on_int32", INT32, logical=time("us", True)), [1, 2], INT32_T),
            (leaf("decimal_on_double", DOUBLE, logical=decimal_type(5, 2)), [0.5, 2.0], pa.float64()),
            (leaf("json_on_boolean", BOOLEAN, logical=logical(12)), [True, False], pa.bool_()),
        )
    ])
    # UNKNOWN means null, whatever the physical type.
    nodes = [leaf(f"null_{p}", p, OPTIONAL, logical=logical(11), type_length=4 if p == FIXED_LEN_BYTE_ARRAY else None)
             for p in (BOOLEAN, INT32, INT64, DOUBLE, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY)]
    file = build(nodes, [(3, chunks(nodes, *[([(0, 0)] * 3, [])] * len(nodes)))])
    add("null_on_every_physical_type", file, [(pa.field(node.name, pa.null()), [None] * 3) for node in nodes])


def decimals():
    """Every physical form; byte arrays of the shortest, of over-long and of zero length."""
    columns = []
    for precision, scale in ((1, 0), (9, 9), (5, 2)):
        values = [0, 1, -1, 10**precision - 1, 1 - 10**precision]
        columns.append((leaf(f"int32_{precision}_{scale}", INT32, logical=decimal_type(precision, scale)), values, precision, scale, values))
    for precision, scale in ((18, 0), (18, 18), (10, 3)):
        values = [0, 1, -1, 10**precision - 1, 1 - 10**precision]
        columns.append((leaf(f"int64_{precision}_{scale}", INT64, logical=decimal_type(precision, scale)), values, precision, scale, values))
    for length in (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 32):
        precision = len(str(2 ** (8 * length - 1) - 1)) - 1
        for precision in sorted({precision, max(precision // 2, 1)}):
            values = [0, 1, -1, 10**precision - 1, 1 - 10**precision]
            node = leaf(f"fixed{length}_{precision}", FIXED_LEN_BYTE_ARRAY, type_length=length, logical=decimal_type(precision, min(precision, 2)))
            columns.append((node, [v.to_bytes(length, "big", signed=True) for v in values], precision, min(precision, 2), values))
    for precision, lengths in ((4, (0, 1, 1, 2, 20)), (38, (0, 16, 17, 16, 40)), (76, (0, 1, 33, 32, 48))):
        values = [0, 1, -1, 10**precision - 1, -7]
        raw = [v.to_bytes(max(n, (v.bit_length() + 8) // 8 if n else 0), "big", signed=True) for v, n in zip(values, lengths)]
        columns.append((leaf(f"bytes_{precision}", BYTE_ARRAY, logical=decimal_type(precision, 1)), raw, precision, 1, values))
    # A fixed length beyond what 256 bits need, sign-extended.
    values = [0, 1, -1, 10**9, -(10**9)]
    node = leaf("fixed40_20", FIXED_LEN_BYTE_ARRAY, type_length=40, logical=decimal_type(20, 0))
    columns.append((node, [v.to_bytes(40, "big", signed=True) for v in values], 20, 0, values))
    flat("decimals", [
        (node, raw, required(node.name, pa.decimal128(p, s) if p <= 38 else pa.decimal256(p, s)),
         pa.array([Decimal(v).scaleb(-s, context=WIDE) for v in values], pa.decimal128(p, s) if p <= 38 else pa.decimal256(p, s)))
        for node, raw, p, s, values in columns
    ])
    words = [v.to_bytes(6, "big", signed=True) for v in (5, -5, 10**12)]
    node = leaf("x", FIXED_LEN_BYTE_ARRAY, OPTIONAL, type_length=6, converted=DECIMAL, scale=3, precision=14)
    one = next(node.leaves())
    pages = [dictionary_page(FIXED_LEN_BYTE_ARRAY, words), page_v1(one, [1, 0, 1, 1], indices([2, 0, 1], 2), encoding=enc.RLE_DICTIONARY)]
    values = [Decimal("1000000000.000"), None, Decimal("0.005"), Decimal("-0.005")]
    add("decimal_dictionary", build([node], [(4, [Chunk(pages)])]), [(pa.field("x", pa.decimal128(14, 3)), values)])


def all_cases():
    for make in (two_level_lists, unannotated, maps, structs, field_ids, converted_only, logical_types, decimals):
        make()

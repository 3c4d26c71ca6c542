"""The tables that all writers write, made by arithmetic alone, so that the expected values come from no reader.

A table is a shape and a number of rows. A column's name is its kind and its pattern of nulls, such as `int32_few`. Values are
what JSON lines of the command have: dates and times as ISO 8601, decimals as text, bytes in base64, maps as lists of pairs.
"""

import base64
import datetime as dt
import functools
import json

ROWS = (0, 1, 7, 8, 9, 255, 256, 257, 1024)
LARGE = 122880
WORDS = ("", "a", "herring", "bone", "Füße", "日本語", "🐟", "x" * 40)
EPOCH = dt.datetime(1970, 1, 1)

NULLS = {
    "none": lambda i: False,
    "few": lambda i: i % 11 == 5,
    "runs": lambda i: i // 20 % 2 == 1,
    "all": lambda i: True,
}


def spread(i, bits, signed):
    """An integer of the whole range: its ends in rows 2 and 3, and small numbers in each fifth row."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if i in (2, 3):
        return (low, high)[i - 2]
    if i % 5 == 0:
        return i % 100
    return low + i * 0x9E3779B97F4A7C15 % (high - low + 1)


def integers(bits, signed):
    return lambda i: spread(i, bits, signed)


def date(i):
    return (EPOCH + dt.timedelta(days=i * 37 % 20000 - 3000)).date().isoformat()


def stamp(digits):
    def text(i):
        moment = EPOCH + dt.timedelta(seconds=i * 86399 % 10**9 - 10**8)
        fraction = i * 7654321 % 10**9 // 10 ** (9 - digits)
        return f"{moment.isoformat()}.{fraction:0{digits}}"
    return text


def clock(i):
    moment = EPOCH + dt.timedelta(seconds=i * 4001 % 86400)
    return f"{moment.time().isoformat()}.{i * 7919 % 10**6:06}"


def decimal(precision, scale):
    def text(i):
        digits = i * 0x9E3779B97F4A7C15F39CC0605CEDC834 % 10**precision
        digits = f"{digits:0{scale + 1}}"
        sign = "-" if i % 3 == 0 and digits.strip("0") else ""
        return f"{sign}{digits[:-scale]}.{digits[-scale:]}"
    return text


def base(octets):
    return base64.b64encode(octets).decode()


def listed(element):
    """Lists of 0 to 3 values, one of them null in some rows."""
    def values(i):
        return [None if (i + k) % 7 == 3 else element(i * 3 + k) for k in range(i % 4)]
    return values


def word(i):
    return WORDS[i % 5 if i % 50 else i // 50 % 8]


def struct(i):
    return {"a": None if i % 6 == 1 else i % 1000, "b": None if i % 4 == 2 else word(i)}


KINDS = {
    "bool": lambda i: i * 7 // 3 % 2 == 1,
    **{f"int{n}": integers(n, True) for n in (8, 16, 32, 64)},
    **{f"uint{n}": integers(n, False) for n in (8, 16, 32, 64)},
    "digit": lambda i: i % 4,
    "float": lambda i: (i * 37 % 1000 - 500) / 8,
    "double": lambda i: (i * 7919 % 100000 - 50000) / 64,
    "text": lambda i: f"value {i} of {i % 3 * 'many '}",
    "word": word,
    "category": word,
    "binary": lambda i: base(bytes((i * 3 + k) % 256 for k in range(i % 6))),
    "date": date,
    "stamp_ms": stamp(3),
    "stamp_us": stamp(6),
    "stamp_ns": stamp(9),
    "instant": stamp(6),
    "time": clock,
    "decimal_9_2": decimal(9, 2),
    "decimal_18_4": decimal(18, 4),
    "decimal_38_10": decimal(38, 10),
    "list_int": listed(lambda i: i % 300),
    "list_text": listed(word),
    "list_list": listed(listed(lambda i: i % 10)),
    "struct": struct,
    "list_struct": listed(struct),
    "struct_list": lambda i: {"n": i % 10, "l": listed(lambda k: k % 9)(i + 1)},
    "map": lambda i: [[f"k{k}", None if (i + k) % 5 == 2 else i + k] for k in range(i % 3)],
}
NESTED = ("list_int", "list_text", "list_list", "struct", "list_struct", "struct_list", "map")
FLAT = tuple(kind for kind in KINDS if kind not in NESTED)
EMPTY = {"struct": {"a": None, "b": None}, "struct_list": {"n": None, "l": None}}
# A dictionary that fits, one that outgrows any limit, scattered nulls, and lists.
LARGE_COLUMNS = ("digit_none", "word_runs", "int32_few", "text_none", "bool_few", "list_int_few", "digit_all")
# A small table of each writer, and columns of their own with these numbers of rows, are also in `testdata/writers/`.
SMALL = 24
SMALL_COLUMNS = (
    "bool_few", "int32_none", "int64_few", "uint8_runs", "digit_few", "digit_all", "double_none", "text_few", "word_few", "category_few",
    "date_few", "stamp_us_few", "decimal_9_2_few", "list_int_few", "struct_few",
)
ALONE = {
    "digit_none": 256, "digit_few": 256, "digit_all": 256, "bool_none": 256, "bool_few": 256, "category_all": 256, "struct_none": 256,
    "list_int_none": 1024,
}


def kind_of(column):
    return column.rsplit("_", 1)[0]


def nulls_of(column):
    return column.rsplit("_", 1)[1]


def columns(shape, kinds=tuple(KINDS)):
    """Names of the columns of a shape, of the kinds that a writer knows."""
    if shape in ALONE or shape in ("small", "large"):
        chosen = {"small": SMALL_COLUMNS, "large": LARGE_COLUMNS}.get(shape, (shape,))
        return [name for name in chosen if kind_of(name) in kinds]
    of = FLAT if shape == "flat" else NESTED
    return [f"{kind}_{nulls}" for kind in of if kind in kinds for nulls in NULLS]


@functools.lru_cache(maxsize=4096)
def values(column, rows):
    """The values of a column; callers leave them as they are."""
    kind, null = KINDS[kind_of(column)], NULLS[nulls_of(column)]
    return [None if null(i) else kind(i) for i in range(rows)]


def table(names, rows, structs_of_nulls=False):
    """The columns by name. Some writers have no structs that are null, but structs of nulls."""
    found = {name: values(name, rows) for name in names}
    if structs_of_nulls:
        for name, column in found.items():
            if kind_of(name) in EMPTY:
                found[name] = [EMPTY[kind_of(name)] if value is None else value for value in column]
            elif kind_of(name) == "list_struct":
                found[name] = [v and [EMPTY["struct"] if s is None else s for s in v] for v in column]
    return found


def has_wide(column):
    return kind_of(column) in ("int64", "uint64")


def json_lines(names, rows):
    """The table as JSON lines, with text in place of integers that a double cannot hold."""
    of = [values(name, rows) for name in names]
    of = [[v if v is None else str(v) for v in c] if has_wide(n) else c for n, c in zip(names, of)]
    return "".join(json.dumps(dict(zip(names, row)), ensure_ascii=False) + "\n" for row in zip(*of))


def tables():
    """Shape and rows of each table, from the smallest to the largest."""
    for rows in ROWS:
        for shape in ("flat", "nested"):
            yield shape, rows
    yield from ALONE.items()
    yield "small", SMALL
    yield "large", LARGE


def only_first(shape):
    """True if the table is written with the first options alone."""
    return shape == "small" or shape in ALONE

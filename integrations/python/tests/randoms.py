"""Random tables, options of writing and filters, for `test_random.py`. A seed gives the same ones."""

import datetime
import decimal
import random

import pyarrow as pa
import pyarrow.compute as pc

EPOCH = datetime.datetime(1970, 1, 1)

#: The types without fields: each with a function from a random generator to a value.
FLAT = [
    (pa.bool_(), lambda rng: rng.random() < 0.5),
    *[(getattr(pa, f"int{bits}")(), lambda rng, bits=bits: rng.randrange(-(1 << bits - 1), 1 << bits - 1)) for bits in (8, 16, 32, 64)],
    *[(getattr(pa, f"uint{bits}")(), lambda rng, bits=bits: rng.randrange(1 << bits)) for bits in (8, 16, 32, 64)],
    (pa.float16(), lambda rng: rng.randrange(-400, 400) / 4),
    *[(kind, lambda rng: rng.choice((rng.randrange(-400, 400) / 4, float("inf"), -0.0, float("nan")))) for kind in (pa.float32(), pa.float64())],
    *[(kind, lambda rng: "".join(rng.choice("abcé𝄞 ") for _ in range(rng.randrange(20)))) for kind in (pa.string(), pa.large_string(), pa.string_view())],
    *[(kind, lambda rng: rng.randbytes(rng.randrange(20))) for kind in (pa.binary(), pa.large_binary(), pa.binary_view())],
    (pa.binary(5), lambda rng: rng.randbytes(5)),
    (pa.date32(), lambda rng: EPOCH.date() + datetime.timedelta(rng.randrange(-9999, 99999))),
    (pa.time32("ms"), lambda rng: rng.randrange(86_400_000)),
    (pa.time64("us"), lambda rng: rng.randrange(86_400_000_000)),
    *[(pa.timestamp(unit, zone), lambda rng: rng.randrange(-(1 << 40), 1 << 40)) for unit in ("ms", "us", "ns") for zone in (None, "UTC")],
    (pa.duration("us"), lambda rng: rng.randrange(-(1 << 40), 1 << 40)),
    *[
        (kind(digits, 2), lambda rng, digits=digits: decimal.Decimal(rng.randrange(-(10**digits) + 1, 10**digits)).scaleb(-2))
        for kind, digits in ((pa.decimal128, 7), (pa.decimal128, 15), (pa.decimal128, 28))
    ],
    (pa.null(), lambda rng: None),
]
#: Types of whole columns. Below lists, polars 2.1.0 reads wrong values of the decimal, and pyarrow other types of dictionaries.
ENCODED = [
    (pa.decimal256(28, 2), lambda rng: decimal.Decimal(rng.randrange(-(10**28) + 1, 10**28)).scaleb(-2)),
    (pa.dictionary(pa.int8(), pa.string()), lambda rng: rng.choice("xyz")),
    (pa.dictionary(pa.int32(), pa.large_string(), ordered=False), lambda rng: rng.choice(("", "long text", "é"))),
]


def kind(rng, depth=0):
    """Return a type, and a function from a random generator to its values without null."""
    if depth == 3 or rng.random() < 0.7:
        return rng.choice(FLAT if depth else FLAT + ENCODED)
    inner, value = kind(rng, depth + 1)
    nullable = lambda rng: None if rng.random() < 0.2 else value(rng)
    form = rng.randrange(4)
    if form == 0:
        return pa.list_(inner), lambda rng: [nullable(rng) for _ in range(rng.randrange(4))]
    if form == 1:
        return pa.large_list(inner), lambda rng: [nullable(rng) for _ in range(rng.randrange(4))]
    if form == 2 and not pa.types.is_null(inner):
        return pa.map_(pa.string(), inner), lambda rng: [(f"k{place}", nullable(rng)) for place in range(rng.randrange(3))]
    other, more = kind(rng, depth + 1)
    return pa.struct([("a", inner), ("b", other)]), lambda rng: {"a": nullable(rng), "b": None if rng.random() < 0.2 else more(rng)}


def column(rng, type_and_value, rows):
    """Return an array with nulls, in chunks of a larger array."""
    found, value = type_and_value
    share = rng.choice((0, 0.1, 0.9))
    values = [None if rng.random() < share else value(rng) for _ in range(rows + 3)]
    whole = pa.array(values, found)
    cut = rng.randrange(rows + 1)
    return pa.chunked_array([whole.slice(2, cut), whole.slice(2 + cut, rows - cut)], found)


def table(rng):
    """Return a table with columns of any types."""
    rows = rng.choice((0, 1, 50, 300))
    kinds = [kind(rng) for _ in range(rng.randrange(1, 6))]
    return pa.table({f"c{place}": column(rng, one, rows) for place, one in enumerate(kinds)})


def options(rng):
    """Return options of `write_table`."""
    choices = {
        "compression": (None, "snappy", "gzip", "zstd", "lz4_raw", "brotli"), "row_group_size": (7, 100), "max_rows_per_page": (5, 20),
        "use_dictionary": (True, False), "data_page_version": ("1.0", "2.0"), "write_statistics": (True, False), "data_page_size": (100,),
        "write_page_index": (True, False), "write_page_checksum": (True, False), "dictionary_pagesize_limit": (64,), "store_schema": (True,),
        "compatibility": ("modern",), "store_decimal_as_integer": (True, False), "use_threads": (False,),
    }
    return {name: rng.choice(values) for name, values in choices.items() if rng.random() < 0.3}


#: The columns that filters test.
TESTED = ("i8", "u8", "i32", "i64", "f32", "f64", "s", "bin", "date", "ts", "utc", "dec", "flag", "big")


def tested_table(rng, rows=200):
    """Return a table whose values repeat, with the number of each row."""
    day = lambda rng: EPOCH.date() + datetime.timedelta(rng.randrange(-3, 4))
    moment = lambda rng: EPOCH + datetime.timedelta(microseconds=rng.randrange(-3, 4))
    kinds = (
        (pa.int8(), lambda rng: rng.randrange(-4, 5)), (pa.uint8(), lambda rng: rng.randrange(5)), (pa.int32(), lambda rng: rng.randrange(-4, 5)),
        (pa.int64(), lambda rng: rng.choice((-4, 0, 3, (1 << 53) + 1))), (pa.float32(), lambda rng: rng.choice((-0.5, 0.25, 1.0, float("nan")))),
        (pa.float64(), lambda rng: rng.choice((-0.5, 0.25, 1.0, float("nan"), float("-inf")))), (pa.string(), lambda rng: rng.choice(("", "a", "ab", "b", "é"))),
        (pa.binary(), lambda rng: rng.choice((b"", b"a", b"\xff"))), (pa.date32(), day), (pa.timestamp("us"), moment), (pa.timestamp("us", "UTC"), moment),
        (pa.decimal128(9, 2), lambda rng: decimal.Decimal(rng.randrange(-4, 5)).scaleb(-1)), (pa.bool_(), lambda rng: rng.random() < 0.5),
        (pa.uint64(), lambda rng: rng.choice((0, 1, (1 << 64) - 1))),
    )
    columns = {name: column(rng, one, rows) for name, one in zip(TESTED, kinds)}
    return pa.table({"id": list(range(rows)), **columns})


def value(rng, whole, name):
    """Return a value to compare a column with, which is often one of its values."""
    found = whole[name][rng.randrange(len(whole))].as_py()
    return found if found is not None else value(rng, whole, name) if whole[name].null_count < len(whole) else None


#: The operations of lists of conditions, by their functions in pyarrow.
OPERATIONS = {"=": pc.equal, "!=": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal}


def condition(rng, whole):
    """Return one test of a column: its name, its operation, and a value or a list of values."""
    name = rng.choice(TESTED)
    if rng.random() < 0.2:
        return name, rng.choice(("in", "not in")), [value(rng, whole, name) for _ in range(rng.randrange(1, 4))]
    operations = ["=", "!="] if name == "flag" else list(OPERATIONS)
    return name, rng.choice(operations), value(rng, whole, name)


def tree(rng, whole, depth=0):
    """Return a condition, or ("and" | "or", conditions), or ("not", condition)."""
    if depth == 3 or rng.random() < 0.4:
        return condition(rng, whole)
    if rng.random() < 0.3:
        return "not", tree(rng, whole, depth + 1)
    return rng.choice(("and", "or")), [tree(rng, whole, depth + 1) for _ in range(rng.randrange(2, 4))]


def seeded(seed):
    """Return a random generator."""
    return random.Random(seed)

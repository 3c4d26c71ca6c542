"""Files of pyarrow, from arrays."""

import base64
import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

import tables
import writer

STRUCT = pa.struct([("a", pa.int32()), ("b", pa.string())])
TYPES = {
    "bool": pa.bool_(), **{f"{sign}int{n}": getattr(pa, f"{sign}int{n}")() for sign in ("", "u") for n in (8, 16, 32, 64)},
    "digit": pa.int32(), "float": pa.float32(), "double": pa.float64(), "text": pa.string(), "word": pa.string(),
    "category": pa.dictionary(pa.int32(), pa.string()), "binary": pa.binary(), "date": pa.date32(), "stamp_ms": pa.timestamp("ms"),
    "stamp_us": pa.timestamp("us"), "stamp_ns": pa.timestamp("ns"), "instant": pa.timestamp("us", "UTC"), "time": pa.time64("us"),
    "decimal_9_2": pa.decimal128(9, 2), "decimal_18_4": pa.decimal128(18, 4), "decimal_38_10": pa.decimal128(38, 10),
    "list_int": pa.list_(pa.int32()), "list_text": pa.list_(pa.string()), "list_list": pa.list_(pa.list_(pa.int32())), "struct": STRUCT,
    "list_struct": pa.list_(STRUCT), "struct_list": pa.struct([("n", pa.int32()), ("l", pa.list_(pa.int32()))]),
    "map": pa.map_(pa.string(), pa.int32()),
}
OPTIONS = [
    {},
    {"compression": "none", "data_page_version": "2.0"},
    {"use_dictionary": False, "compression": "gzip", "version": "1.0", "without": ["stamp_ns"]},
    {"row_group_size": 100, "data_page_size": 100, "write_batch_size": 8, "compression": "zstd"},
    {"row_group_size": 8, "write_statistics": False},
    {"store_schema": False, "data_page_version": "2.0", "data_page_size": 100, "write_batch_size": 16},
    {"write_page_index": True, "data_page_version": "2.0", "data_page_size": 100, "write_batch_size": 16, "dictionary_pagesize_limit": 200},
    {"use_byte_stream_split": True, "use_dictionary": False, "data_page_version": "2.0", "write_page_checksum": True},
]


def ticks(text, digits):
    """The count of units since 1970 in a text of ISO 8601."""
    whole, fraction = text.split(".")
    seconds = dt.datetime.fromisoformat(whole) - tables.EPOCH
    return (seconds.days * 86400 + seconds.seconds) * 10**digits + int(fraction)


DIGITS = {"stamp_ms": 3, "stamp_us": 6, "instant": 6, "stamp_ns": 9}


def array(name, rows):
    kind, values = tables.kind_of(name), tables.values(name, rows)
    make = None
    if kind == "binary":
        make = base64.b64decode
    elif kind == "date":
        make = dt.date.fromisoformat
    elif kind == "time":
        make = dt.time.fromisoformat
    elif kind.startswith("decimal"):
        make = Decimal
    elif kind == "map":
        make = lambda pairs: [tuple(pair) for pair in pairs]  # noqa: E731
    elif kind in DIGITS:
        values = [v if v is None else ticks(v, DIGITS[kind]) for v in values]
        return pa.array(values, pa.int64()).view(TYPES[kind])
    elif kind == "category":
        codes = [None if v is None else tables.WORDS.index(v) for v in values]
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(tables.WORDS))
    if make is not None:
        values = [v if v is None else make(v) for v in values]
    return pa.array(values, TYPES[kind])


made = {}


def write(path, names, rows, options):
    key = (tuple(names), rows)
    if key not in made:
        made.clear()
        made[key] = pa.table([array(name, rows) for name in names], names=names)
    options = dict(options)
    if options.get("row_group_size") == 8 and rows > 9:
        options["row_group_size"] = 128
    pq.write_table(made[key], str(path), **options)


if __name__ == "__main__":
    writer.Writer(write, OPTIONS, TYPES).run()

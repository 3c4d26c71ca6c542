"""Files of polars, by its own writer."""

import base64
import datetime as dt
from decimal import Decimal

import polars as pl

import tables
import writer

STRUCT = pl.Struct([pl.Field("a", pl.Int32), pl.Field("b", pl.Utf8)])
TYPES = {
    "bool": pl.Boolean, **{f"{sign.lower()}int{n}": getattr(pl, f"{sign}Int{n}") for sign in ("", "U") for n in (8, 16, 32, 64)},
    "digit": pl.Int32, "float": pl.Float32, "double": pl.Float64, "text": pl.Utf8, "word": pl.Utf8, "category": pl.Categorical,
    "binary": pl.Binary, "date": pl.Date, "stamp_ms": pl.Datetime("ms"), "stamp_us": pl.Datetime("us"), "stamp_ns": pl.Datetime("ns"),
    "instant": pl.Datetime("us", "UTC"), "time": pl.Time, "decimal_9_2": pl.Decimal(9, 2), "decimal_18_4": pl.Decimal(18, 4),
    "decimal_38_10": pl.Decimal(38, 10),
    "list_int": pl.List(pl.Int32), "list_text": pl.List(pl.Utf8), "list_list": pl.List(pl.List(pl.Int32)), "struct": STRUCT,
    "list_struct": pl.List(STRUCT), "struct_list": pl.Struct([pl.Field("n", pl.Int32), pl.Field("l", pl.List(pl.Int32))]),
}
OPTIONS = [
    {},
    {"compression": "uncompressed"},
    {"row_group_size": 100, "compression": "snappy"},
    {"data_page_size": 100, "statistics": True, "compression": "gzip"},
    {"row_group_size": 8, "statistics": False, "compression": "lz4"},
]
DIGITS = {"stamp_ms": 3, "stamp_us": 6, "instant": 6, "stamp_ns": 9}


def ticks(text, digits):
    """The count of units since 1970 in a text of ISO 8601."""
    whole, fraction = text.split(".")
    seconds = dt.datetime.fromisoformat(whole) - tables.EPOCH
    return (seconds.days * 86400 + seconds.seconds) * 10**digits + int(fraction)


def series(name, rows):
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
    elif kind in DIGITS:
        values = [v if v is None else ticks(v, DIGITS[kind]) for v in values]
        return pl.Series(name, values, dtype=pl.Int64).cast(TYPES[kind])
    elif kind == "category":
        return pl.Series(name, values, dtype=pl.Utf8).cast(pl.Categorical)
    if make is not None:
        values = [v if v is None else make(v) for v in values]
    return pl.Series(name, values, dtype=TYPES[kind])


made = {}


def write(path, names, rows, options):
    key = (tuple(names), rows)
    if key not in made:
        made.clear()
        made[key] = pl.DataFrame([series(name, rows) for name in names])
    options = dict(options)
    if options.get("row_group_size") == 8 and rows > 9:
        options["row_group_size"] = 128
    made[key].write_parquet(str(path), **options)


if pl.__version__.startswith("0.18"):
    # It writes decimals as doubles of other values.
    TYPES = {kind: of for kind, of in TYPES.items() if not kind.startswith("decimal")}
if pl.__version__.startswith(("1.0", "1.10", "1.20")):
    # It writes times as plain integers if it cuts a frame.
    OPTIONS = [{**options, "without": ["time"]} if "row_group_size" in options else options for options in OPTIONS]
# Structs cannot be null before 1.0, and 1.0.0 does not write them as null.
writer.Writer(write, OPTIONS, TYPES, structs_of_nulls=pl.__version__ < "1.0.1").run()

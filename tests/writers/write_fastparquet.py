"""Files of fastparquet, from frames of pandas."""

import base64

import fastparquet
import numpy as np
import pandas as pd
from fastparquet import writer as internals

import tables
import writer

NULLABLE = {
    "bool": "boolean", "int8": "Int8", "int16": "Int16", "int32": "Int32", "int64": "Int64", "uint8": "UInt8", "uint16": "UInt16",
    "uint32": "UInt32", "uint64": "UInt64", "digit": "Int32",
}
KINDS = (*NULLABLE, "float", "double", "text", "word", "category", "binary", "stamp_us", "stamp_ns", "instant", "time")
OPTIONS = [
    {},
    {"has_nulls": True, "compression": "GZIP"},
    {"version": 2},
    {"version": 2, "compression": "SNAPPY", "row_group_offsets": 100},
    {"row_group_offsets": 8, "times": "int96"},
    {"has_nulls": True, "stats": False, "compression": "ZSTD"},
]


def octets(value):
    return None if value is None else base64.b64decode(value)


def series(name, rows):
    kind, nulls = tables.kind_of(name), tables.nulls_of(name)
    values = tables.values(name, rows)
    if kind in NULLABLE:
        plain = NULLABLE[kind].lower().replace("boolean", "bool")
        if nulls == "none":
            return pd.Series(np.array(values, dtype=plain))
        mask = np.array([v is None for v in values], dtype=bool)
        filled = np.array([0 if v is None else v for v in values], dtype=plain)
        array = pd.arrays.BooleanArray if kind == "bool" else pd.arrays.IntegerArray
        return pd.Series(array(filled, mask))
    if kind in ("float", "double"):
        return pd.Series(values, dtype={"float": "float32", "double": "float64"}[kind])
    if kind == "category":
        return pd.Series(pd.Categorical(values, categories=list(tables.WORDS)))
    if kind == "binary":
        return pd.Series([octets(v) for v in values], dtype=object)
    if kind == "time":
        return pd.Series(pd.array([None if v is None else np.timedelta64(pd.Timedelta(v).value, "ns") for v in values], dtype="timedelta64[ns]"))
    if kind == "instant":
        return pd.Series(np.array(values, dtype="datetime64[ns]")).dt.tz_localize("UTC")
    if kind.startswith("stamp"):
        return pd.Series(np.array(values, dtype="datetime64[ns]"))
    return pd.Series(values, dtype=object)


frames = {}


def frame(names, rows):
    key = (tuple(names), rows)
    if key not in frames:
        frames.clear()
        frames[key] = pd.DataFrame({name: series(name, rows) for name in names})
    return frames[key]


def write(path, names, rows, options):
    options = dict(options)
    internals.DATAPAGE_VERSION = options.pop("version", 1)
    if options.get("row_group_offsets") == 8 and rows > 9:
        options["row_group_offsets"] = 128
    kinds = {name: "bytes" if tables.kind_of(name) == "binary" else "utf8" for name in names
             if tables.kind_of(name) in ("binary", "text", "word", "category")}
    # A file of this writer has no name of its index, if there is none.
    fastparquet.write(str(path), frame(names, rows), write_index=False, object_encoding=kinds, **options)


writer.Writer(write, OPTIONS, KINDS).run()

"""The canonical form of values that the tests compare, made from Arrow data.

One value is one line of JSON without spaces; `tests/src/canonical.rs` makes the same text in Rust, so that
values can be compared, and whole columns digested, byte by byte:

- integers are numbers; decimals are strings with all digits of their scale
- floats are widened to 64 bits and written with the fewest digits that identify them, as `1.5e0`;
  infinities are "Infinity" and "-Infinity", the usual NaN is "NaN", any other NaN "NaN(0x…)" with its bits
- binary is base64; temporal values are ISO 8601, instants with a trailing Z; durations and intervals likewise
- lists are arrays, maps are arrays of [key,value], structs are objects in schema order; null is null

An expectation is the JSON file beside (or for) a Parquet file: number of rows, and for each column its name, its
Arrow type as text and its values: all of them when they are short, else the first and last ones and a CRC-32 for
each block of BLOCK values.
"""

import base64
import json
import zlib
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BLOCK = 1000
FULL_COLUMN_BYTES = 1000
EDGE_VALUES = 2
EDGE_VALUE_BYTES = 120

UNIT_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
PLAIN_NAMES = {
    "halffloat": "float16", "float": "float32", "double": "float64",
    "string": "utf8", "large_string": "large_utf8", "string_view": "utf8_view",
    "date32[day]": "date32", "date64[ms]": "date64",
    "month_day_nano_interval": "interval[month_day_nano]",
}


def type_text(t):
    """The Arrow type in words; names of list elements and map entries are not part of it."""
    if isinstance(t, pa.BaseExtensionType):
        return f"extension {t.extension_name}({type_text(t.storage_type)})"
    if pa.types.is_dictionary(t):
        return f"dictionary<{type_text(t.index_type)}, {type_text(t.value_type)}>"
    if pa.types.is_struct(t):
        return f"struct<{', '.join(field_text(t.field(i)) for i in range(t.num_fields))}>"
    if pa.types.is_map(t):
        return f"map<{slot_text(t.key_field)}, {slot_text(t.item_field)}>"
    for is_kind, name in (
        (pa.types.is_list, "list"), (pa.types.is_large_list, "large_list"),
        (pa.types.is_list_view, "list_view"), (pa.types.is_large_list_view, "large_list_view"),
    ):
        if is_kind(t):
            return f"{name}<{slot_text(t.value_field)}>"
    if pa.types.is_fixed_size_list(t):
        return f"fixed_size_list<{slot_text(t.value_field)}>[{t.list_size}]"
    if pa.types.is_timestamp(t):
        return f"timestamp[{t.unit}, {t.tz}]" if t.tz else f"timestamp[{t.unit}]"
    if pa.types.is_decimal(t):
        return f"decimal{t.bit_width}({t.precision}, {t.scale})"
    return PLAIN_NAMES.get(str(t), str(t))


def slot_text(field):
    text = type_text(field.type)
    # pyarrow leaves extension types that it does not know in the metadata.
    name = (field.metadata or {}).get(b"ARROW:extension:name")
    if name and not isinstance(field.type, pa.BaseExtensionType):
        text = f"extension {name.decode()}({text})"
    return text + ("" if field.nullable else " not null")


def field_text(field):
    return f"{field.name}: {slot_text(field)}"


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def float_text(bits, width):
    value = np.array([bits], dtype=f"u{width}").view(f"f{width}")[0]
    if np.isnan(value):
        usual = {2: 0x7E00, 4: 0x7FC00000, 8: 0x7FF8000000000000}[width]
        return '"NaN"' if bits == usual else f'"NaN(0x{bits:0{2 * width}x})"'
    value = float(value)
    if value in (float("inf"), float("-inf")):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    if value == 0:
        return "-0e0" if str(value)[0] == "-" else "0e0"
    # As many digits as the shortest text has, of the value rounded half to even.
    digits = len("".join(map(str, Decimal(repr(value)).as_tuple().digits)).strip("0"))
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def date_text(days):
    """Proleptic Gregorian date of a day number since 1970-01-01; any year."""
    shifted = days + 719468
    era, day_of_era = divmod(shifted, 146097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year = year_of_era + era * 400 + (1 if month <= 2 else 0)
    year = f"{year:04}" if 0 <= year <= 9999 else f"{year:+05}"
    return f"{year}-{month:02}-{day:02}"


def seconds_text(value, digits):
    whole, fraction = divmod(value, 10**digits)
    return str(whole) + (f".{fraction:0{digits}}" if digits else "")


def time_text(value, digits):
    whole, fraction = divmod(value, 10**digits)
    if not 0 <= whole < 86400:
        return f"time:{value}"
    fraction = f".{fraction:0{digits}}" if digits else ""
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}{fraction}"


def timestamp_text(value, digits, utc):
    days, rest = divmod(value, 86400 * 10**digits)
    return f"{date_text(days)}T{time_text(rest, digits)}{'Z' if utc else ''}"


def duration_text(value, digits):
    return f"{'-' if value < 0 else ''}PT{seconds_text(abs(value), digits)}S"


def interval_text(months, days, nanos):
    sign = "-" if nanos < 0 else ""
    return f"P{months}M{days}DT{sign}{seconds_text(abs(nanos), 9)}S"


def decimal_text(value):
    return format(value, "f")


def lines(array):
    """One text for each slot of an Arrow array (or chunked array)."""
    if isinstance(array, pa.ChunkedArray):
        return [line for chunk in array.chunks for line in lines(chunk)]
    if isinstance(array, pa.ExtensionArray):
        return lines(array.storage)
    t = array.type
    if pa.types.is_dictionary(t):
        return lines(array.dictionary_decode())
    if pa.types.is_null(t):
        return ["null"] * len(array)
    valid = array.is_valid().to_pylist()
    if pa.types.is_struct(t):
        children = [lines(array.field(i)) for i in range(t.num_fields)]
        names = [quoted(t.field(i).name) for i in range(t.num_fields)]
        texts = [
            "{" + ",".join(f"{name}:{child[row]}" for name, child in zip(names, children)) + "}"
            for row in range(len(array))
        ]
    elif pa.types.is_map(t):
        offsets = array.offsets.to_pylist()
        keys, items = lines(array.keys), lines(array.items)
        pairs = [f"[{key},{item}]" for key, item in zip(keys, items)]
        texts = ["[" + ",".join(pairs[a:b]) + "]" for a, b in zip(offsets, offsets[1:])]
    elif hasattr(t, "value_field"):
        elements, at, texts = lines(array.flatten()), 0, []
        for is_valid, length in zip(valid, pc.list_value_length(array).to_pylist()):
            length = length if is_valid else 0
            texts.append("[" + ",".join(elements[at:at + length]) + "]")
            at += length
    elif pa.types.is_floating(t):
        width = t.bit_width // 8
        bits = np.frombuffer(array.buffers()[1] or b"", dtype=f"u{width}")
        texts = [float_text(int(b), width) for b in bits[array.offset:array.offset + len(array)]]
    else:
        texts = [
            scalar_text(t, value) if is_valid else "null"
            for is_valid, value in zip(valid, raw(array).to_pylist())
        ]
    return [text if is_valid else "null" for is_valid, text in zip(valid, texts)]


def raw(array):
    """Temporal arrays as the integers they hold."""
    t = array.type
    if pa.types.is_temporal(t) and not pa.types.is_interval(t):
        return array.view(pa.int32() if t.bit_width == 32 else pa.int64())
    return array


def scalar_text(t, value):
    if pa.types.is_boolean(t):
        return "true" if value else "false"
    if pa.types.is_integer(t):
        return str(value)
    if pa.types.is_decimal(t):
        return quoted(decimal_text(value))
    if pa.types.is_date32(t):
        return quoted(date_text(value))
    if pa.types.is_date64(t):
        days, rest = divmod(value, 86400000)
        return quoted(date_text(days) if rest == 0 else timestamp_text(value, 3, False))
    if pa.types.is_time(t):
        return quoted(time_text(value, UNIT_DIGITS[t.unit]))
    if pa.types.is_timestamp(t):
        return quoted(timestamp_text(value, UNIT_DIGITS[t.unit], t.tz is not None))
    if pa.types.is_duration(t):
        return quoted(duration_text(value, UNIT_DIGITS[t.unit]))
    if pa.types.is_interval(t):
        return quoted(interval_text(value.months, value.days, value.nanoseconds))
    if isinstance(value, bytes):
        return quoted(base64.b64encode(value).decode())
    if isinstance(value, str):
        return quoted(value)
    raise TypeError(f"no canonical form for {t}")


def column_expectation(field, array):
    """The JSON text of one column."""
    texts = lines(array)
    head = f'{{"name":{quoted(field.name)},"type":{quoted(slot_text(field))}'
    full = ",".join(texts)
    if len(full) <= FULL_COLUMN_BYTES:
        return f'{head},"values":[{full}]}}'
    parts = []
    for name, edge in (("first", texts[:EDGE_VALUES]), ("last", texts[-EDGE_VALUES:])):
        edge = ",".join(edge)
        if len(edge) <= EDGE_VALUE_BYTES:
            parts.append(f'"{name}":[{edge}]')
    blocks = [texts[i:i + BLOCK] for i in range(0, len(texts), BLOCK)]
    crcs = [f'"{zlib.crc32("".join(t + chr(10) for t in block).encode()):08x}"' for block in blocks]
    parts.append(f'"crc32":[{",".join(crcs)}]')
    return f"{head},{','.join(parts)}}}"


def expectation(columns, rows, **notes):
    """The whole expectation file; `columns` is a list of (field, array)."""
    head = {"rows": rows, **notes}
    out = [f"{quoted(name)}:{json.dumps(value, ensure_ascii=False)}" for name, value in head.items()]
    body = ",\n".join(column_expectation(field, array) for field, array in columns)
    return "{" + ",\n".join(out) + ',\n"columns":[\n' + body + "\n]}\n"


def table_columns(table, schema=None):
    """The columns of a table as (field, array); `schema` may name other fields for the same data."""
    schema = schema or table.schema
    return [(schema.field(i), table.column(i)) for i in range(len(schema))]

"""Writes the files of the tests with pyarrow."""

import datetime
import decimal
import os

import pyarrow as pa
import pyarrow.parquet as pq

here = os.path.dirname(os.path.abspath(__file__))


def field(name, data_type, number=None, nullable=True):
    metadata = None if number is None else {"PARQUET:field_id": str(number)}
    return pa.field(name, data_type, nullable=nullable, metadata=metadata)


def write(name, columns, schema, store_schema=False, **options):
    table = pa.table(columns, schema=schema)
    path = os.path.join(here, name)
    pq.write_table(table, path, compression="zstd", store_schema=store_schema, **options)


rows = range(30)


def nulled(values, every=7):
    return [None if i % every == 3 else value for i, value in enumerate(values)]


# All types, with values near the ends of their ranges and before 1970.
micros = [(-1) ** i * (i * 10**15 + 123_456) for i in rows]
write(
    "types.parquet",
    {
        "i8": nulled([i - 15 for i in rows]),
        "i16": nulled([(i - 15) * 2000 for i in rows]),
        "i32": nulled([(i - 15) * 100_000_000 for i in rows]),
        "i64": nulled([(i - 15) * 600_000_000_000_000_000 for i in rows]),
        "f32": nulled([float("nan") if i == 5 else -0.0 if i == 6 else i / 4 for i in rows]),
        "f64": nulled([float("nan") if i == 5 else -0.0 if i == 6 else i / 7 for i in rows]),
        "bool": nulled([i % 3 == 0 for i in rows]),
        "text": nulled(["é" * (i % 4) + str(i) for i in rows]),
        "bytes": nulled([bytes([i, 255]) for i in rows]),
        "fixed": nulled([bytes([i, 1, 2, 3]) for i in rows]),
        "date": nulled([datetime.date(1960, 1, 1) + datetime.timedelta(days=400 * i) for i in rows]),
        "ts_ms": pa.array(nulled([it // 1000 for it in micros]), pa.timestamp("ms")),
        "ts_us": pa.array(nulled(micros), pa.timestamp("us")),
        "ts_ns": pa.array(nulled([it * 7 // 10 for it in micros]), pa.timestamp("ns")),
        "ts_ms_utc": pa.array(nulled([it // 1000 for it in micros]), pa.timestamp("ms", "UTC")),
        "ts_us_utc": pa.array(nulled(micros), pa.timestamp("us", "UTC")),
        "ts_ns_utc": pa.array(nulled([it * 7 // 10 for it in micros]), pa.timestamp("ns", "UTC")),
        "dec9": nulled([decimal.Decimal((i - 15) * 12345) / 100 for i in rows]),
        "dec18": nulled([decimal.Decimal((i - 15) * 10**14) / 1000 for i in rows]),
        "dec30": nulled([decimal.Decimal((i - 15) * 10**20) / 10000 for i in rows]),
        "day_number": nulled([i * 1000 - 9000 for i in rows]),
        "micros": nulled(micros),
        "uuid": pa.array(nulled([bytes([i] * 16) for i in rows]), pa.uuid()),
    },
    pa.schema(
        [
            ("i8", pa.int8()),
            ("i16", pa.int16()),
            ("i32", pa.int32()),
            ("i64", pa.int64()),
            ("f32", pa.float32()),
            ("f64", pa.float64()),
            ("bool", pa.bool_()),
            ("text", pa.string()),
            ("bytes", pa.binary()),
            ("fixed", pa.binary(4)),
            ("date", pa.date32()),
            ("ts_ms", pa.timestamp("ms")),
            ("ts_us", pa.timestamp("us")),
            ("ts_ns", pa.timestamp("ns")),
            ("ts_ms_utc", pa.timestamp("ms", "UTC")),
            ("ts_us_utc", pa.timestamp("us", "UTC")),
            ("ts_ns_utc", pa.timestamp("ns", "UTC")),
            ("dec9", pa.decimal128(9, 2)),
            ("dec18", pa.decimal128(18, 3)),
            ("dec30", pa.decimal128(30, 4)),
            ("day_number", pa.int32()),
            ("micros", pa.int64()),
            ("uuid", pa.uuid()),
        ]
    ),
    row_group_size=10,
    write_page_index=True,
    store_decimal_as_integer=True,
)

# INT96, with a year that nanoseconds cannot represent.
years = (1969, 1970, 2026, 3000)
stamps = [datetime.datetime(year, 2, 3, 4, 5, 6, 789) for year in years]
path = os.path.join(here, "int96.parquet")
pq.write_table(
    pa.table({"stamp": pa.array(stamps, pa.timestamp("us"))}),
    path,
    use_deprecated_int96_timestamps=True,
    store_schema=False,
)

# Field ids at all levels. A struct is null, its required field is not. The Arrow schema in the file has other layouts.
point = pa.struct([field("px", pa.int32(), 11, nullable=False), field("py", pa.float32(), 12)])
element = pa.struct([field("k", pa.int32(), 21), field("w", pa.string(), 22)])
tags = pa.map_(pa.string(), pa.struct([field("m", pa.int32(), 31), field("o", pa.string(), 32)]))
points = [None if i % 4 == 1 else {"px": i, "py": i / 2} for i in rows]
lists = [None if i % 5 == 2 else [None if j == 1 else {"k": i, "w": f"w{j}"} for j in range(i % 4)] for i in rows]
maps = [None if i % 6 == 4 else [(f"k{j}", {"m": i * j, "o": None}) for j in range(i % 3)] for i in rows]
write(
    "nested.parquet",
    {
        "id": list(rows),
        "p": points,
        "l": lists,
        "t": maps,
        "n": [[[i], None, []][: i % 4] for i in rows],
        "other": [f"o{i}" for i in rows],
    },
    pa.schema(
        [
            field("id", pa.int32(), 1, nullable=False),
            field("p", point, 10),
            field("l", pa.large_list(field("element", element)), 20),
            field("t", tags, 30),
            field("n", pa.list_(pa.list_(pa.int32()))),
            field("other", pa.large_string(), 3),
        ]
    ),
    store_schema=True,
    row_group_size=8,
)

# Sorted, so that statistics rule out row groups: 8 row groups of 250 rows.
many = range(2000)
write(
    "sorted.parquet",
    {
        "n": list(many),
        "s": [f"{i:06}" for i in many],
        "d": [datetime.date(2000, 1, 1) + datetime.timedelta(days=i) for i in many],
        "f": [float("nan") if i % 100 == 0 else float(i) for i in many],
        "z": [None if i < 500 else i for i in many],
        "payload": [f"{i * 2654435761 % 4294967296:010}" * 2 for i in many],
    },
    pa.schema(
        [
            ("n", pa.int64()),
            ("s", pa.string()),
            ("d", pa.date32()),
            ("f", pa.float64()),
            ("z", pa.int64()),
            ("payload", pa.string()),
        ]
    ),
    row_group_size=250,
    write_page_index=True,
    data_page_size=1024,
)

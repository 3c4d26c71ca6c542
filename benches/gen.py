#!/usr/bin/env python3
"""Writes the benchmark files with pyarrow, a writer that is not ours: one file a case.

usage: gen.py DIR [--rows N] [--force] [PART_OF_A_NAME ...]

Numbers come from a generator seeded with the name of the case, so a case keeps its bytes whatever
else is written. Files that are there already are kept, unless --force. Where DIR/tpch/lineitem.parquet
exists (`tpchgen-cli parquet -s 1 -T lineitem -o DIR/tpch`), it is written again for each codec.
"""
import argparse
import os
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CASES = {}


def case(name, required=False, **options):
    """Registers a function of (random generator, rows) that gives the file's columns."""

    def register(columns):
        CASES[name] = (columns, required, options)
        return columns

    return register


def nullable(rng, values, fraction, kind=None):
    """The values as an array, of which this fraction is null, at random places."""
    mask = rng.random(len(values)) < fraction if fraction else None
    return pa.array(values, type=kind, mask=mask)


def words(rng, count):
    """Lower-case words of 3 to 23 letters."""
    letters = rng.integers(97, 123, count * 24, dtype=np.uint8).tobytes().decode()
    ends = rng.integers(3, 24, count)
    return np.array([letters[24 * i : 24 * i + n] for i, n in enumerate(ends)], dtype=object)


def urls(rng, count):
    parts = zip(rng.integers(0, 50, count), rng.integers(0, 10**7, count), rng.integers(0, 9, count))
    made = [f"https://www.example.com/section/{a}/item-{b:07d}?ref={c}" for a, b, c in parts]
    return np.array(made, dtype=object)


def runs(rng, below, length, n):
    """Random numbers, each repeated `length` times."""
    return np.repeat(rng.integers(0, below, n // length + 1), length)[:n]


def prices(rng, n):
    return np.round(rng.normal(100, 20, n), 2)


def offsets(rng, lists):
    """Ends of lists of 0 to 9 elements."""
    return np.concatenate([[0], np.cumsum(rng.integers(0, 10, lists))]).astype("int32")


# Integers -------------------------------------------------------------------------------------

def wide_integers(rng, n):
    return rng.integers(-(2**62), 2**62, n)


for suffix, fraction in [("req", 0), ("null10", 0.1), ("null50", 0.5)]:
    case(f"i64_plain_{suffix}", required=not fraction)(
        lambda rng, n, fraction=fraction: {"a": nullable(rng, wide_integers(rng, n), fraction)}
    )

for suffix, fraction, version in [("req", 0, "1.0"), ("null10", 0.1, "1.0"), ("null10_v2", 0.1, "2.0")]:
    case(f"i64_dict1000_{suffix}", required=not fraction, use_dictionary=True, data_page_version=version)(
        lambda rng, n, fraction=fraction: {"a": nullable(rng, rng.integers(0, 1000, n), fraction)}
    )


@case("i32_dict60k_req", required=True, use_dictionary=True, dictionary_pagesize_limit=1 << 24)
def _(rng, n):
    return {"a": pa.array(rng.integers(0, 60_000, n).astype("int32"))}


@case("i64_dict_runs", use_dictionary=True)
def _(rng, n):
    return {"a": pa.array(runs(rng, 50, 40, n))}


@case("i64_delta_sorted", column_encoding="DELTA_BINARY_PACKED")
def _(rng, n):
    return {"a": pa.array(np.cumsum(rng.integers(0, 100, n)))}


@case("i32_delta_rand_null10", column_encoding="DELTA_BINARY_PACKED")
def _(rng, n):
    return {"a": nullable(rng, rng.integers(0, 1 << 20, n).astype("int32"), 0.1)}


# Floats, booleans -----------------------------------------------------------------------------

@case("f64_plain_null10")
def _(rng, n):
    return {"a": nullable(rng, prices(rng, n), 0.1)}


@case("f32_plain_null50")
def _(rng, n):
    return {"a": nullable(rng, prices(rng, n).astype("float32"), 0.5)}


@case("f64_bss_req", required=True, column_encoding="BYTE_STREAM_SPLIT")
def _(rng, n):
    return {"a": pa.array(prices(rng, n))}


@case("f32_bss_null10", column_encoding="BYTE_STREAM_SPLIT")
def _(rng, n):
    return {"a": nullable(rng, prices(rng, n).astype("float32"), 0.1)}


@case("f16_bss_null10", column_encoding="BYTE_STREAM_SPLIT")
def _(rng, n):
    return {"a": nullable(rng, prices(rng, n).astype("float16"), 0.1)}


@case("flba16_bss_req", required=True, column_encoding="BYTE_STREAM_SPLIT")
def _(rng, n):
    n //= 4
    data = pa.py_buffer(rng.integers(0, 256, 16 * n, dtype=np.uint8).tobytes())
    return {"a": pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), n, [None, data])}


for codec in ["snappy", "zstd", "lz4", "gzip", "brotli"]:
    case(f"f64_plain_{codec}", compression=codec)(lambda rng, n: {"a": pa.array(prices(rng, n))})


@case("bool_plain_null10")
def _(rng, n):
    return {"a": nullable(rng, rng.random(n) < 0.3, 0.1)}


@case("bool_rle", column_encoding="RLE")
def _(rng, n):
    return {"a": pa.array(runs(rng, 2, 20, n).astype(bool))}


# Strings --------------------------------------------------------------------------------------

def phrases(rng, n):
    return words(rng, 200_000)[rng.integers(0, 200_000, n)]


@case("str_plain_req", required=True)
def _(rng, n):
    return {"a": pa.array(phrases(rng, n), pa.string())}


@case("str_plain_null10_snappy", compression="snappy")
def _(rng, n):
    return {"a": nullable(rng, phrases(rng, n), 0.1, pa.string())}


for suffix, fraction in [("req", 0), ("null10", 0.1)]:
    case(f"str_dict1000_{suffix}", required=not fraction, use_dictionary=True)(
        lambda rng, n, fraction=fraction: {
            "a": nullable(rng, words(rng, 1000)[rng.integers(0, 1000, n)], fraction, pa.string())
        }
    )


@case("str_deltalen", column_encoding="DELTA_LENGTH_BYTE_ARRAY")
def _(rng, n):
    return {"a": pa.array(phrases(rng, n), pa.string())}


@case("str_deltabytes_sorted_url", column_encoding="DELTA_BYTE_ARRAY")
def _(rng, n):
    return {"a": pa.array(np.sort(urls(rng, n // 4)), pa.string())}


@case("str_url_zstd", compression="zstd")
def _(rng, n):
    return {"a": pa.array(urls(rng, n // 4), pa.string())}


# Decimals, timestamps -------------------------------------------------------------------------

@case("dec128_flba")
def _(rng, n):
    return {"a": pa.array(wide_integers(rng, n)).cast(pa.decimal128(38, 0))}


@case("dec_int64", store_decimal_as_integer=True)
def _(rng, n):
    return {"a": pa.array(rng.integers(0, 37_000, n).astype("int32")).cast(pa.decimal128(18, 0))}


@case("dec_int32_null10", store_decimal_as_integer=True)
def _(rng, n):
    values = nullable(rng, rng.integers(0, 10_000, n).astype("int16"), 0.1)
    return {"a": values.cast(pa.decimal128(9, 0))}


@case("ts_int96", use_deprecated_int96_timestamps=True)
def _(rng, n):
    return {"a": pa.array(rng.integers(0, 2 * 10**18, n)).cast(pa.timestamp("ns"))}


# Nesting --------------------------------------------------------------------------------------

def elements(rng, ends):
    return rng.integers(0, 1 << 30, int(ends[-1])).astype("int32")


@case("list_i32")
def _(rng, n):
    ends = offsets(rng, n // 4)
    return {"a": pa.ListArray.from_arrays(pa.array(ends), pa.array(elements(rng, ends)))}


@case("list_i32_nulls")
def _(rng, n):
    ends = offsets(rng, n // 4)
    mask = np.concatenate([rng.random(len(ends) - 1) < 0.05, [False]])
    values = nullable(rng, elements(rng, ends), 0.1)
    return {"a": pa.ListArray.from_arrays(pa.array(ends, mask=mask), values)}


@case("list_list_i32")
def _(rng, n):
    ends = offsets(rng, n // 4)
    inner = pa.ListArray.from_arrays(pa.array(ends), pa.array(elements(rng, ends)))
    outer = np.concatenate([np.arange(0, len(inner), 3), [len(inner)]]).astype("int32")
    return {"a": pa.ListArray.from_arrays(pa.array(outer), inner)}


@case("list_str_dict", use_dictionary=True)
def _(rng, n):
    ends = offsets(rng, n // 4)
    picked = words(rng, 5000)[elements(rng, ends) % 5000]
    return {"a": pa.ListArray.from_arrays(pa.array(ends), nullable(rng, picked, 0.05, pa.string()))}


@case("list_struct_snappy", compression="snappy", use_dictionary=True)
def _(rng, n):
    ends = offsets(rng, n // 4)
    x = elements(rng, ends)
    fields = [nullable(rng, x, 0.1), pa.array(x.astype("float64"))]
    fields.append(pa.array(words(rng, 500)[x % 500], pa.string()))
    records = pa.StructArray.from_arrays(fields, ["x", "y", "s"])
    return {"a": pa.ListArray.from_arrays(pa.array(ends), records)}


@case("map_str_i64", use_dictionary=True)
def _(rng, n):
    ends = offsets(rng, n // 8)
    x = elements(rng, ends)
    keys = pa.array(words(rng, 200)[x % 200], pa.string())
    values = nullable(rng, x.astype("int64"), 0.1)
    return {"a": pa.MapArray.from_arrays(pa.array(ends), keys, values)}


@case("struct_nested_null")
def _(rng, n):
    inner = pa.StructArray.from_arrays(
        [nullable(rng, prices(rng, n), 0.2), pa.array(rng.integers(0, 1000, n))],
        ["c", "d"],
        mask=pa.array(rng.random(n) < 0.1),
    )
    outer = pa.StructArray.from_arrays(
        [nullable(rng, rng.integers(0, 1 << 20, n).astype("int32"), 0.1), inner],
        ["a", "b"],
        mask=pa.array(rng.random(n) < 0.05),
    )
    return {"s": outer}


# A table of rides ------------------------------------------------------------------------------

def rides(rng, n):
    """Rides of a taxi, with what real data have: rounded doubles of few distinct values, sums of such,
    skewed places, and the same rows without some of the columns."""
    meter = np.round(np.abs(rng.gamma(1.6, 1.9, n)) + 0.3, 2)
    fare = np.round(3.0 + 2.5 * meter + rng.choice([0.0, 0.5, 1.0], n), 1)
    extra = rng.choice([0.0, 0.5, 1.0, 2.5, 3.5], n, p=[0.45, 0.2, 0.15, 0.15, 0.05])
    tolls = np.where(rng.random(n) < 0.06, 6.55, 0.0)
    tip = np.where(rng.random(n) < 0.35, 0.0, np.round(fare * rng.choice([0.15, 0.2, 0.25], n), 2))
    fee = rng.choice([0.0, 2.5], n, p=[0.08, 0.92])
    start = 1_704_067_200_000_000 + np.sort(rng.integers(0, 2_678_400, n)) * 1_000_000
    took = (meter * 240 + rng.integers(60, 900, n)).astype(np.int64) * 1_000_000
    unknown = rng.random(n) < 0.05

    def known(values, kind=None):
        return pa.array(values, type=kind, mask=unknown)

    return {
        "vendor": pa.array(rng.choice([1, 2], n, p=[0.25, 0.75]), type=pa.int32()),
        "started": pa.array(start, type=pa.timestamp("us")),
        "ended": pa.array(start + took, type=pa.timestamp("us")),
        "passengers": known(rng.choice([0, 1, 2, 3, 4, 5, 6], n, p=[0.01, 0.74, 0.14, 0.04, 0.03, 0.02, 0.02]), pa.int64()),
        "distance": pa.array(meter),
        "rate": known(rng.choice([1.0, 2.0, 5.0, 99.0], n, p=[0.94, 0.04, 0.01, 0.01])),
        "forwarded": known(rng.choice(["N", "Y"], n, p=[0.995, 0.005])),
        "from": pa.array(np.minimum(rng.zipf(1.3, n), 265), type=pa.int32()),
        "to": pa.array(np.minimum(rng.zipf(1.2, n), 265), type=pa.int32()),
        "payment": pa.array(rng.choice([1, 2, 3, 4], n, p=[0.78, 0.2, 0.01, 0.01]), type=pa.int64()),
        "fare": pa.array(fare),
        "extra": pa.array(extra),
        "tip": pa.array(tip),
        "tolls": pa.array(tolls),
        "surcharge": pa.array(np.full(n, 1.0)),
        "total": pa.array(np.round(fare + extra + tolls + tip + fee + 1.0, 2)),
        "congestion": known(fee),
        "airport": known(rng.choice([0.0, 1.75], n, p=[0.92, 0.08])),
    }


for codec in ["none", "snappy", "zstd"]:
    case(f"rides_{codec}", compression=codec, use_dictionary=True)(rides)


# Footers --------------------------------------------------------------------------------------

def many_columns(rng, columns, rows):
    return {f"c{i:05d}": pa.array(rng.normal(size=rows)) for i in range(columns)}


@case("wide_5000x20", row_group_size=5)
def _(rng, n):
    return many_columns(rng, 5000, 100)


@case("wide_10000x10", row_group_size=10)
def _(rng, n):
    return many_columns(rng, 10_000, 100)


def write(path, columns, required, options):
    fields = [pa.field(name, array.type, nullable=not required) for name, array in columns.items()]
    table = pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields))
    settings = {
        "compression": "none",
        "use_dictionary": False,
        "row_group_size": 1_000_000,
        "write_page_index": True,
    }
    save(path, table, settings | options)


def save(path, table, settings):
    # Under another name first, so that an interrupted run leaves no half of a file.
    pq.write_table(table, path + ".part", **settings)
    os.replace(path + ".part", path)
    print(os.path.basename(path), os.path.getsize(path), flush=True)


def lineitem(directory, wanted, force):
    source = os.path.join(directory, "tpch", "lineitem.parquet")
    if not os.path.exists(source):
        print("no tpch/lineitem.parquet: the lineitem cases are left out")
        return
    table = None
    for codec in ["none", "snappy", "zstd", "lz4", "gzip"]:
        path = os.path.join(directory, f"lineitem_{codec}.parquet")
        if wanted(f"lineitem_{codec}") and (force or not os.path.exists(path)):
            table = table or pq.read_table(source)
            save(path, table, {"compression": codec, "row_group_size": 1_000_000, "write_page_index": True})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dir")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--force", action="store_true", help="write files anew that exist")
    parser.add_argument("name", nargs="*", help="only cases with this in their name")
    arguments = parser.parse_args()
    os.makedirs(arguments.dir, exist_ok=True)

    def wanted(name):
        return not arguments.name or any(part in name for part in arguments.name)

    for name, (columns, required, options) in CASES.items():
        path = os.path.join(arguments.dir, name + ".parquet")
        if wanted(name) and (arguments.force or not os.path.exists(path)):
            rng = np.random.default_rng(zlib.crc32(name.encode()))
            write(path, columns(rng, arguments.rows), required, options)
    lineitem(arguments.dir, wanted, arguments.force)


if __name__ == "__main__":
    main()

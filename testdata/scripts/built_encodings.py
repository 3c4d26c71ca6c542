"""Files whose values are encoded with settings that no current writer uses."""

import struct

import numpy as np
import pyarrow as pa

import page_encodings as enc
from builder import OPTIONAL, UTF8, Chunk, build, flat_levels, leaf, logical, only_leaf, page_v1, page_v2, timestamp_type
from cases import add, required
from page_encodings import (
    BOOLEAN, BYTE_ARRAY, DELTA_BINARY_PACKED, DELTA_BYTE_ARRAY, DELTA_LENGTH_BYTE_ARRAY, DOUBLE, FIXED_LEN_BYTE_ARRAY, FLOAT,
    INT32, INT64, INT96,
)


def one_page(node, values, encoded, encoding, version=page_v1):
    x = only_leaf(node)
    return version(x, [0] * len(values), encoded, encoding=encoding)


def numbers(count, bits, seed):
    """Walks, jumps and the extremes, so that differences wrap."""
    random = np.random.RandomState(seed)
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    walk = [int(v) for v in np.cumsum(random.randint(-9, 10, count))]
    for at in range(7, count, 97):
        walk[at] = (low, high, 0, int(random.randint(low, high, dtype=f"i{bits // 8}")))[at % 4]
    return walk


def delta_sizes():
    shapes = [(128, 4), (128, 1), (128, 2), (256, 8), (256, 1), (384, 4), (384, 3), (512, 16), (1024, 2), (4096, 4)]
    for physical, bits, t in ((INT32, 32, pa.int32()), (INT64, 64, pa.int64())):
        nodes, chunks, columns, n = [], [], [], 777
        for seed, (block, minis) in enumerate(shapes):
            node, values = leaf(f"block_{block}_of_{minis}", physical), numbers(n, bits, seed)
            encoded = enc.delta_binary_packed(values, bits, block, minis, unused_width=seed % 3 * 7)
            chunks.append(Chunk([one_page(node, values, encoded, DELTA_BINARY_PACKED)]))
            nodes.append(node)
            columns.append((required(node.name, t), values))
        add(f"delta_int{bits}_block_sizes", build(nodes, [(n, chunks)]), columns)
        # One value more or less than blocks and miniblocks hold.
        node, pages, all_values = leaf("x", physical), [], []
        for count in (0, 1, 2, 32, 33, 34, 128, 129, 130, 256, 257):
            values = numbers(count, bits, count)
            pages.append(one_page(node, values, enc.delta_binary_packed(values, bits), DELTA_BINARY_PACKED))
            all_values += values
        add(f"delta_int{bits}_counts", build([node], [(len(all_values), [Chunk(pages)])]), [(required("x", t), all_values)])
        # Every bit width of a miniblock.
        values, pages = [], []
        for width in range(bits + 1):
            high = (1 << max(width - 1, 0)) - 1
            part = [0, high] * 40 if width < bits else [-(1 << bits - 1), high] * 40
            pages.append(one_page(node, part, enc.delta_binary_packed(part, bits), DELTA_BINARY_PACKED))
            values += part
        add(f"delta_int{bits}_widths", build([node], [(len(values), [Chunk(pages)])]), [(required("x", t), values)])


def delta_strings():
    words = [f"{'shared/' * (i % 5)}part-{i * i}" for i in range(300)] + ["", "", "z" * 500, "z" * 501, "é" * 40, "ü"]
    raw = [w.encode() for w in words]
    fixed = [struct.pack(">I", i * i)[-3:] for i in range(len(words))]
    nodes = [leaf("length", BYTE_ARRAY, converted=UTF8), leaf("prefix", BYTE_ARRAY, converted=UTF8),
             leaf("fixed", FIXED_LEN_BYTE_ARRAY, type_length=3)]
    columns = [(required("length", pa.string()), words), (required("prefix", pa.string()), words),
               (required("fixed", pa.binary(3)), fixed)]
    for block, minis in ((128, 1), (256, 8), (1152, 4)):
        shape = {"block": block, "miniblocks": minis}
        pages = [
            one_page(nodes[0], raw, enc.delta_length_byte_array(raw, **shape), DELTA_LENGTH_BYTE_ARRAY),
            one_page(nodes[1], raw, enc.delta_byte_array(raw, **shape), DELTA_BYTE_ARRAY, page_v2),
            one_page(nodes[2], fixed, enc.delta_byte_array(fixed, **shape), DELTA_BYTE_ARRAY),
        ]
        file = build(nodes, [(len(words), [Chunk([page]) for page in pages])])
        add(f"delta_strings_block_{block}_of_{minis}", file, columns)


def small():
    """Every kind of string and stream once, in files small enough to be damaged at every byte."""
    words = [b"herring", b"herringbone", b"", "b\u00f6ne".encode(), b"bone"]
    texts = [w.decode() for w in words]
    nodes = [leaf(n, BYTE_ARRAY, converted=UTF8) for n in ("plain", "length", "prefix")]
    pages = [one_page(nodes[0], words, enc.plain(BYTE_ARRAY, words), enc.PLAIN),
             one_page(nodes[1], words, enc.delta_length_byte_array(words), DELTA_LENGTH_BYTE_ARRAY, page_v2),
             one_page(nodes[2], words, enc.delta_byte_array(words), DELTA_BYTE_ARRAY)]
    add("delta_strings_small", build(nodes, [(5, [Chunk([page]) for page in pages])]),
        [(required(node.name, pa.string()), texts) for node in nodes])
    rows = [("double", DOUBLE, 0, pa.float64(), [0.5, -1.0, 3e100]), ("int32", INT32, 0, pa.int32(), [1, -1, 70000]),
            ("fixed", FIXED_LEN_BYTE_ARRAY, 3, pa.binary(3), [b"abc", b"def", b"ghi"])]
    nodes = [leaf(name, physical, type_length=width or None) for name, physical, width, _, _ in rows]
    pages = [one_page(node, values, enc.encode(enc.BYTE_STREAM_SPLIT, physical, values, width), enc.BYTE_STREAM_SPLIT)
             for node, (_, physical, width, _, values) in zip(nodes, rows)]
    add("byte_stream_split_small", build(nodes, [(3, [Chunk([page]) for page in pages])]),
        [(required(name, t), values) for name, _, _, t, values in rows])
    node = leaf("x", BYTE_ARRAY, OPTIONAL)
    values = [b"herring herring", None, b"herring herring bone"] * 5
    dfn, present = flat_levels(values)
    page = page_v1(only_leaf(node), dfn, enc.plain(BYTE_ARRAY, present), codec=5)
    add("lz4_hadoop_small", build([node], [(15, [Chunk([page], 5)])]), [(pa.field("x", pa.binary()), values)])


def booleans():
    values = [None if i % 9 == 8 else i % 3 == 0 or i > 60 for i in range(200)]
    dfn, present = flat_levels(values)
    nodes, chunks = [], []
    for shape in ("packed", "rle", "mixed"):
        for version in (page_v1, page_v2):
            node = leaf(f"{shape}_{version.__name__}", BOOLEAN, OPTIONAL)
            encoded = enc.encode(enc.RLE, BOOLEAN, present, shape=shape)
            chunks.append(Chunk([version(only_leaf(node), dfn, encoded, encoding=enc.RLE, shape=shape)]))
            nodes.append(node)
    add("rle_booleans", build(nodes, [(200, chunks)]), [(pa.field(node.name, pa.bool_()), values) for node in nodes])


def streams():
    n = 100
    float32 = [float(np.float32(v)) for v in np.random.RandomState(1).standard_normal(n)]
    float64 = [float(v) for v in np.random.RandomState(2).standard_normal(n)]
    rows = [
        ("float", FLOAT, 0, pa.float32(), float32), ("double", DOUBLE, 0, pa.float64(), float64),
        ("int32", INT32, 0, pa.int32(), numbers(n, 32, 3)), ("int64", INT64, 0, pa.int64(), numbers(n, 64, 4)),
    ] + [
        (f"fixed{width}", FIXED_LEN_BYTE_ARRAY, width, pa.binary(width), [bytes((i * 31 + j * 7) % 256 for j in range(width)) for i in range(n)])
        for width in (1, 2, 3, 5, 12, 16, 33)
    ]
    nodes, chunks, columns = [], [], []
    for name, physical, width, t, values in rows:
        node = leaf(name, physical, type_length=width or None)
        encoded = enc.encode(enc.BYTE_STREAM_SPLIT, physical, values, width)
        nodes.append(node)
        chunks.append(Chunk([one_page(node, values, encoded, enc.BYTE_STREAM_SPLIT)]))
        columns.append((required(name, t), values))
    add("byte_stream_split_all_types", build(nodes, [(n, chunks)]), columns)


def alp():
    """Values are integer x 10^factor x 10^-exponent, each product rounded once, as the format says."""
    powers = {e: float(f"1e{e}") for e in range(-18, 19)}
    specials = [float("nan"), float("inf"), -0.0, 1e300]
    for double, physical, t in ((True, DOUBLE, pa.float64()), (False, FLOAT, pa.float32())):
        narrow = (lambda v: v) if double else np.float32
        vectors, values, at = [], [], 0
        for exponent, factor, spread in ((2, 0, 1), (5, 3, 1000), (0, 0, 7), (10, 2, 3)):
            count = 8 if at < 3 else 5
            integers = [(i - 3) * spread for i in range(count)]
            decoded = [
                float(narrow(narrow(narrow(i) * narrow(powers[factor])) * narrow(powers[-exponent]))) for i in integers
            ]
            exceptions = {1: specials[at] if double or at < 3 else 3e38, 4: 0.1} if at % 2 == 0 else {}
            for position, value in exceptions.items():
                decoded[position] = float(narrow(value))
            vectors.append(enc.alp_vector(integers, exponent, factor, exceptions, double))
            values += decoded
            at += 1
        node = leaf("x", physical)
        page = one_page(node, values, enc.alp_page(vectors, 3, len(values)), enc.ALP)
        name = f"alp_{'double' if double else 'float'}"
        add(name, build([node], [(len(values), [Chunk([page])])]), [(required("x", t), pa.array(values, t))])


def int96():
    """Julian day and nanoseconds of the day; days before 1970 and the ends of what 64-bit nanoseconds hold."""
    def encoded(nanos):
        days, rest = divmod(nanos, 86400 * 10**9)
        return struct.pack("<qi", rest, days + 2440588)

    values = [0, -1, 1, 10**9 * 1700000000 + 123456789, -(1 << 63), (1 << 63) - 1, None, -62135596800 * 10**8]
    node = leaf("x", INT96, OPTIONAL)
    dfn, present = flat_levels(values)
    page = page_v1(only_leaf(node), dfn, enc.plain(INT96, [encoded(v) for v in present]))
    add("int96_nanoseconds", build([node], [(len(values), [Chunk([page])])]), [(pa.field("x", pa.timestamp("ns")), values)])


def flba12_timestamps():
    """Signed 96-bit little-endian counts of the unit since 1970 (format after 2.14)."""
    nodes, chunks, columns = [], [], []
    values = [0, -1, 1, None, (1 << 63) - 1, -(1 << 63), 1700000000123456789]
    dfn, present = flat_levels(values)
    for unit in ("ms", "us", "ns"):
        for utc in (True, False):
            node = leaf(f"{unit}_{'utc' if utc else 'local'}", FIXED_LEN_BYTE_ARRAY, OPTIONAL, type_length=12,
                        logical=timestamp_type(unit, utc))
            body = b"".join(v.to_bytes(12, "little", signed=True) for v in present)
            nodes.append(node)
            chunks.append(Chunk([page_v1(only_leaf(node), dfn, body)]))
            columns.append((pa.field(node.name, pa.timestamp(unit, "UTC" if utc else None)), values))
    add("timestamps_in_12_bytes", build(nodes, [(len(values), chunks)]), columns)


def intervals():
    """Three unsigned 32-bit little-endian parts: months, days, milliseconds."""
    parts = [(0, 0, 0), (1, 2, 3), (13, 400, 86400001), None, (2**31 - 1, 2**31 - 1, 2**32 - 1)]
    dfn, present = flat_levels(parts)
    body = b"".join(struct.pack("<III", *p) for p in present)
    nodes = [leaf("converted", FIXED_LEN_BYTE_ARRAY, OPTIONAL, type_length=12, converted=21)]
    page = page_v1(only_leaf(nodes[0]), dfn, body)
    values = [p and pa.MonthDayNano([p[0], p[1], p[2] * 10**6]) for p in parts]
    add("intervals", build(nodes, [(len(parts), [Chunk([page])])]), [(pa.field("converted", pa.month_day_nano_interval()), values)])


def float16():
    patterns = [0, 0x8000, 1, 0x03FF, 0x3C00, 0xBC00, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x3555]
    body = struct.pack(f"<{len(patterns)}H", *patterns)
    nodes = [leaf("plain", FIXED_LEN_BYTE_ARRAY, type_length=2, logical=logical(15)),
             leaf("split", FIXED_LEN_BYTE_ARRAY, type_length=2, logical=logical(15))]
    pages = [one_page(nodes[0], patterns, body, enc.PLAIN),
             one_page(nodes[1], patterns, enc.byte_stream_split(body, 2), enc.BYTE_STREAM_SPLIT)]
    values = pa.array(np.frombuffer(body, dtype="f2"))
    file = build(nodes, [(len(patterns), [Chunk([page]) for page in pages])])
    add("float16", file, [(required(node.name, pa.float16()), values) for node in nodes])


def all_cases():
    for make in (delta_sizes, delta_strings, small, booleans, streams, alp, int96, flba12_timestamps, intervals, float16):
        make()

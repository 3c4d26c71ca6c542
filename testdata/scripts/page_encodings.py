"""Parquet encodings written the long way round, with every knob that no writer offers."""

import struct

from thrift import varint, zigzag

BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY = range(8)
PLAIN, PLAIN_DICTIONARY, RLE, BIT_PACKED, DELTA_BINARY_PACKED = 0, 2, 3, 4, 5
DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY, RLE_DICTIONARY, BYTE_STREAM_SPLIT, ALP = 6, 7, 8, 9, 10


def pack(values, width):
    """Bit packing, least significant bit first, zero padded to whole bytes."""
    bits = 0
    for i, value in enumerate(values):
        bits |= (value & ((1 << width) - 1)) << (i * width)
    return bits.to_bytes((len(values) * width + 7) // 8, "little")


def pack_msb(values, width):
    """Bit packing as the deprecated BIT_PACKED levels have it: most significant bit first."""
    bits = "".join(f"{value:0{width}b}" for value in values) if width else ""
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[i:i + 8], 2) for i in range(0, len(bits), 8))


def rle_run(value, count, width):
    return varint(count << 1) + value.to_bytes((width + 7) // 8, "little")


def packed_run(values, width):
    """One bit-packed run; the last group is padded with ones, which readers have to ignore."""
    groups = (len(values) + 7) // 8
    padding = [(1 << width) - 1] * (groups * 8 - len(values))
    return varint(groups << 1 | 1) + pack(list(values) + padding, width)


def hybrid(values, width, shape="packed"):
    """Hybrid runs: one packed run, one RLE run for each stretch of equal values, or `mixed` by turns."""
    if shape == "packed":
        return packed_run(values, width) if values else b""
    if shape == "mixed":
        out, at, turn = b"", 0, 0
        while at < len(values):
            end = at
            while end < len(values) and values[end] == values[at]:
                end += 1
            if turn % 2 and len(values) - at > 8:
                end = at + 8
                out += packed_run(values[at:end], width)
            else:
                out += rle_run(values[at], end - at, width)
            at, turn = end, turn + 1
        return out
    out, at = b"", 0
    while at < len(values):
        end = at
        while end < len(values) and values[end] == values[at]:
            end += 1
        out += rle_run(values[at], end - at, width)
        at = end
    return out


def plain(physical, values):
    if physical == BOOLEAN:
        return pack([int(v) for v in values], 1)
    if physical == BYTE_ARRAY:
        return b"".join(struct.pack("<i", len(v)) + v for v in values)
    if physical in (INT96, FIXED_LEN_BYTE_ARRAY):
        return b"".join(values)
    return struct.pack("<" + {INT32: "i", INT64: "q", FLOAT: "f", DOUBLE: "d"}[physical] * len(values), *values)


def delta_binary_packed(values, bits, block=128, miniblocks=4, unused_width=0):
    """`unused_width` is written as bit width of miniblocks behind the last value: readers must not care."""
    def wrap(value):
        value &= (1 << bits) - 1
        return value - (1 << bits) if value >> (bits - 1) else value

    out = varint(block) + varint(miniblocks) + varint(len(values)) + zigzag(values[0] if values else 0)
    deltas = [wrap(b - a) for a, b in zip(values, values[1:])]
    size = block // miniblocks
    for at in range(0, len(deltas), block):
        part = deltas[at:at + block]
        least = min(part)
        widths, body = [], b""
        for start in range(0, block, size):
            mini = [(delta - least) & ((1 << bits) - 1) for delta in part[start:start + size]]
            if not mini:
                widths.append(unused_width)
                continue
            width = max(mini).bit_length()
            widths.append(width)
            body += pack(mini + [0] * (size - len(mini)), width)
        out += zigzag(least) + bytes(widths) + body
    return out


def delta_length_byte_array(values, **shape):
    return delta_binary_packed([len(v) for v in values], 32, **shape) + b"".join(values)


def delta_byte_array(values, **shape):
    prefixes, suffixes, last = [], [], b""
    for value in values:
        common = 0
        while common < min(len(last), len(value)) and last[common] == value[common]:
            common += 1
        prefixes.append(common)
        suffixes.append(value[common:])
        last = value
    return delta_binary_packed(prefixes, 32, **shape) + delta_length_byte_array(suffixes, **shape)


def byte_stream_split(raw, width):
    return b"".join(raw[i::width] for i in range(width))


def alp_vector(integers, exponent, factor, exceptions, double):
    """One ALP vector: `integers` as encoded, `exceptions` {position: value} kept beside them."""
    base = min(integers)
    width = (max(integers) - base).bit_length()
    out = struct.pack("<BBH", exponent, factor, len(exceptions))
    out += struct.pack("<qB" if double else "<iB", base, width)
    out += pack([i - base for i in integers], width)
    out += b"".join(struct.pack("<H", at) for at in exceptions)
    return out + b"".join(struct.pack("<d" if double else "<f", v) for v in exceptions.values())


def alp_page(vectors, log2_size, count):
    head = struct.pack("<BBBi", 0, 0, log2_size, count)
    at, offsets = 4 * len(vectors), b""
    for vector in vectors:
        offsets += struct.pack("<I", at)
        at += len(vector)
    return head + offsets + b"".join(vectors)


def encode(encoding, physical, values, type_length=0, **shape):
    if encoding == PLAIN:
        return plain(physical, values)
    if encoding == RLE:
        runs = hybrid([int(v) for v in values], 1, **shape)
        return struct.pack("<I", len(runs)) + runs
    if encoding == DELTA_BINARY_PACKED:
        return delta_binary_packed(values, 32 if physical == INT32 else 64, **shape)
    if encoding == DELTA_LENGTH_BYTE_ARRAY:
        return delta_length_byte_array(values, **shape)
    if encoding == DELTA_BYTE_ARRAY:
        return delta_byte_array(values, **shape)
    if encoding == BYTE_STREAM_SPLIT:
        width = {INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8}.get(physical, type_length)
        return byte_stream_split(plain(physical, values), width)
    raise ValueError(encoding)

"""Compressed forms that no current writer produces, built by hand around blocks that are easy to make."""

import struct

import pyarrow as pa

UNCOMPRESSED, SNAPPY, GZIP, LZO, BROTLI, LZ4, ZSTD, LZ4_RAW = range(8)


def lzo_literals(data):
    """An LZO1X stream that only copies literals."""
    end = b"\x11\x00\x00"
    if not data:
        return end
    if len(data) <= 238:
        return bytes([len(data) + 17]) + data + end
    zeros, rest = divmod(len(data) - 18, 255)
    if rest == 0:
        zeros, rest = zeros - 1, 255
    return b"\x00" + b"\x00" * zeros + bytes([rest]) + data + end


def lzo_repeat(unit, count):
    """An LZO1X stream: `unit` as literals, then a match that repeats it (it overlaps itself)."""
    assert 4 <= len(unit) <= 238 and count > 1
    length = len(unit) * (count - 1)
    distance = (len(unit) - 1) << 2
    if length - 2 <= 31:
        head = bytes([32 | length - 2])
    else:
        zeros, rest = divmod(length - 2 - 31, 255)
        if rest == 0:
            zeros, rest = zeros - 1, 255
        head = b"\x20" + b"\x00" * zeros + bytes([rest])
    return bytes([len(unit) + 17]) + unit + head + struct.pack("<H", distance) + b"\x11\x00\x00"


def hadoop(blocks):
    """Hadoop framing: blocks of (plain size, [compressed parts])."""
    out = b""
    for size, parts in blocks:
        out += struct.pack(">I", size)
        out += b"".join(struct.pack(">I", len(part)) + part for part in parts)
    return out


def lz4_block(data):
    return pa.compress(data, "lz4_raw", asbytes=True)


def lz4_hadoop(data, block=None, part=None):
    """LZ4 in Hadoop framing, cut into blocks, and those into parts."""
    block = block or max(len(data), 1)
    part = part or block
    blocks = []
    for at in range(0, len(data), block):
        plain = data[at:at + block]
        blocks.append((len(plain), [lz4_block(plain[i:i + part]) for i in range(0, len(plain), part)]))
    return hadoop(blocks)


def lzo_hadoop(data, block=None):
    block = block or max(len(data), 1)
    parts = [data[at:at + block] for at in range(0, len(data), block)]
    return hadoop([(len(part), [lzo_literals(part)]) for part in parts])


def compress(codec, data):
    if codec == UNCOMPRESSED:
        return data
    if codec == LZO:
        return lzo_hadoop(data)
    if codec == LZ4:
        return lz4_hadoop(data)
    name = {SNAPPY: "snappy", GZIP: "gzip", BROTLI: "brotli", ZSTD: "zstd", LZ4_RAW: "lz4_raw"}[codec]
    return pa.compress(data, name, asbytes=True)

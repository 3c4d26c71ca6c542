"""Writes structs in Thrift's compact protocol: just enough for Parquet metadata."""

import struct as binary

KINDS = {"bool": 1, "i8": 3, "i16": 4, "i32": 5, "i64": 6, "double": 7, "bytes": 8, "list": 9, "struct": 12}


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def zigzag(value):
    return varint(value << 1 if value >= 0 else (-value << 1) - 1)


def element(kind, value):
    if kind == "bool":
        return b"\x01" if value else b"\x02"
    if kind == "i8":
        return binary.pack("b", value)
    if kind in ("i16", "i32", "i64"):
        return zigzag(value)
    if kind == "double":
        return binary.pack("<d", value)
    if kind == "bytes":
        value = value.encode() if isinstance(value, str) else value
        return varint(len(value)) + value
    if kind == "struct":
        return value
    raise ValueError(kind)


def list_of(kind, values):
    size = len(values)
    head = bytes([size << 4 | KINDS[kind]]) if size < 15 else bytes([0xF0 | KINDS[kind]]) + varint(size)
    return head + b"".join(element(kind, value) for value in values)


def struct(*fields):
    """Fields are (id, kind, value); None leaves a field out; the value of a list is (kind, values)."""
    out, last = bytearray(), 0
    for number, kind, value in fields:
        if value is None:
            continue
        code = KINDS[kind]
        if kind == "bool":
            code = 1 if value else 2
        if 0 < number - last <= 15:
            out.append((number - last) << 4 | code)
        else:
            out.append(code)
            out += zigzag(number)
        last = number
        if kind == "list":
            out += list_of(*value)
        elif kind != "bool":
            out += element(kind, value)
    return bytes(out) + b"\x00"

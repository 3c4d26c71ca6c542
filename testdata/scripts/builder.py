"""Builds Parquet files page by page, valid ones that nobody writes and invalid ones."""

import struct as binary
import zlib
from dataclasses import dataclass, field, replace
from typing import Any

import page_codecs
import page_encodings as enc
from thrift import struct

REQUIRED, OPTIONAL, REPEATED = range(3)
UTF8, MAP, MAP_KEY_VALUE, LIST, ENUM, DECIMAL = range(6)
EMPTY = struct()


def logical(number, body=EMPTY):
    """A LogicalType union with the member `number`."""
    return struct((number, "struct", body))


def time_unit(unit):
    return struct(({"ms": 1, "us": 2, "ns": 3}[unit], "struct", EMPTY))


def timestamp_type(unit, utc, number=8):
    return logical(number, struct((1, "bool", utc), (2, "struct", time_unit(unit))))


def decimal_type(precision, scale):
    return logical(5, struct((1, "i32", scale), (2, "i32", precision)))


@dataclass
class Node:
    """One element of the schema; a leaf has a physical type, a group children."""

    name: str
    repetition: int | None = REQUIRED
    physical: int | None = None
    children: list | None = None
    type_length: int | None = None
    converted: int | None = None
    scale: int | None = None
    precision: int | None = None
    field_id: int | None = None
    logical: bytes | None = None
    num_children: int | None = None

    def elements(self):
        children = self.children
        count = self.num_children
        if count is None and children is not None:
            count = len(children)
        yield struct(
            (1, "i32", self.physical), (2, "i32", self.type_length), (3, "i32", self.repetition),
            (4, "bytes", self.name), (5, "i32", count), (6, "i32", self.converted), (7, "i32", self.scale),
            (8, "i32", self.precision), (9, "i32", self.field_id), (10, "struct", self.logical),
        )
        for child in children or []:
            yield from child.elements()

    def leaves(self, path=(), definition=0, repetition=0):
        path = path + (self.name,)
        definition += self.repetition in (OPTIONAL, REPEATED)
        repetition += self.repetition == REPEATED
        if self.children is None:
            yield Leaf(self, path, definition, repetition)
        for child in self.children or []:
            yield from child.leaves(path, definition, repetition)


@dataclass
class Leaf:
    node: Node
    path: tuple
    max_definition: int
    max_repetition: int


def leaf(name, physical, repetition=REQUIRED, **more):
    return Node(name, repetition, physical, **more)


def group(name, repetition, *children, **more):
    return Node(name, repetition, None, list(children), **more)


def width(level):
    return level.bit_length()


@dataclass
class Page:
    """A page as it stands in the file; `header` holds the thrift fields behind the two sizes."""

    kind: int
    header: list
    body: bytes
    plain_bytes: int
    num_values: int = 0
    crc: int | None = None

    def bytes(self):
        head = struct(
            (1, "i32", self.kind), (2, "i32", self.plain_bytes), (3, "i32", len(self.body)),
            (4, "i32", self.crc), *self.header,
        )
        return head + self.body

    def checked(self, wrong=False):
        crc = zlib.crc32(self.body) ^ wrong
        return replace(self, crc=crc - (1 << 32) if crc >> 31 else crc)


def levels_v1(levels, maximum, encoding=enc.RLE, shape="packed"):
    if maximum == 0:
        return b""
    if encoding == enc.BIT_PACKED:
        return enc.pack_msb(levels, width(maximum))
    runs = enc.hybrid(levels, width(maximum), shape)
    return binary.pack("<I", len(runs)) + runs


def page_v1(leaf, definition, values, repetition=(), encoding=enc.PLAIN, codec=0, level_encoding=enc.RLE, shape="packed",
            num_values=None):
    """`values` is the encoded values section, `definition` and `repetition` the levels."""
    count = len(definition) if num_values is None else num_values
    body = levels_v1(list(repetition), leaf.max_repetition, level_encoding, shape)
    body += levels_v1(list(definition), leaf.max_definition, level_encoding, shape) + values
    header = struct((1, "i32", count), (2, "i32", encoding), (3, "i32", level_encoding), (4, "i32", level_encoding))
    return Page(0, [(5, "struct", header)], page_codecs.compress(codec, body), len(body), count)


def page_v2(leaf, definition, values, repetition=(), encoding=enc.PLAIN, codec=0, compressed=None, shape="packed",
            rows=None, num_values=None, definition_bytes=None, repetition_bytes=None):
    count = len(definition) if num_values is None else num_values
    rep = enc.hybrid(list(repetition), width(leaf.max_repetition), shape) if leaf.max_repetition else b""
    dfn = enc.hybrid(list(definition), width(leaf.max_definition), shape) if leaf.max_definition else b""
    nulls = sum(d < leaf.max_definition for d in definition)
    rows = rows if rows is not None else sum(r == 0 for r in repetition) if leaf.max_repetition else count
    header = struct(
        (1, "i32", count), (2, "i32", nulls), (3, "i32", rows), (4, "i32", encoding),
        (5, "i32", len(dfn) if definition_bytes is None else definition_bytes),
        (6, "i32", len(rep) if repetition_bytes is None else repetition_bytes), (7, "bool", compressed),
    )
    body = rep + dfn + (values if compressed is False else page_codecs.compress(codec, values))
    return Page(3, [(8, "struct", header)], body, len(rep) + len(dfn) + len(values), count)


def dictionary_page(physical, values, codec=0, encoding=enc.PLAIN, num_values=None, body=None):
    body = enc.plain(physical, values) if body is None else body
    count = len(values) if num_values is None else num_values
    header = struct((1, "i32", count), (2, "i32", encoding))
    return Page(2, [(7, "struct", header)], page_codecs.compress(codec, body), len(body))


def indices(codes, bits, shape="packed"):
    """The values section of a dictionary-encoded data page."""
    return bytes([bits]) + enc.hybrid(codes, bits, shape)


@dataclass
class Chunk:
    """One column chunk; `dictionary_offset` is "right", "absent" or a number to write instead."""

    pages: list
    codec: int = 0
    num_values: int | None = None
    dictionary_offset: Any = "right"
    file_path: str | None = None
    data_page_offset: int | None = None
    total_compressed_size: int | None = None
    offset_index: bytes | None = None
    encodings: list = field(default_factory=lambda: [0, 3])


def chunk_metadata(out, chunk, leaf):
    start = len(out)
    dictionary = data = None
    plain_bytes = 0
    for page in chunk.pages:
        if page.kind == 2 and dictionary is None:
            dictionary = len(out)
        if page.kind in (0, 3) and data is None:
            data = len(out)
        raw = page.bytes()
        out += raw
        plain_bytes += len(raw) - len(page.body) + page.plain_bytes
    if chunk.dictionary_offset != "right":
        data = start if dictionary is not None else data
        dictionary = None if chunk.dictionary_offset == "absent" else chunk.dictionary_offset
    num_values = chunk.num_values
    if num_values is None:
        num_values = sum(page.num_values for page in chunk.pages)
    size = len(out) - start if chunk.total_compressed_size is None else chunk.total_compressed_size
    index_at, index_size = None, None
    if chunk.offset_index is not None:
        index_at, index_size = len(out), len(chunk.offset_index)
        out += chunk.offset_index
    data = start if data is None else data
    metadata = struct(
        (1, "i32", leaf.node.physical), (2, "list", ("i32", chunk.encodings)),
        (3, "list", ("bytes", list(leaf.path))), (4, "i32", chunk.codec), (5, "i64", num_values),
        (6, "i64", plain_bytes), (7, "i64", size),
        (9, "i64", data if chunk.data_page_offset is None else chunk.data_page_offset),
        (11, "i64", dictionary),
    )
    return struct(
        (1, "bytes", chunk.file_path), (2, "i64", 0), (3, "struct", metadata),
        (4, "i64", index_at), (5, "i32", index_size),
    ), size


def build(nodes, row_groups, num_rows=None, key_values=None, num_children=None, version=1, schema=None,
          created_by="herringbone testdata"):
    """The bytes of a file; `row_groups` is a list of (rows, [Chunk for each leaf])."""
    root = Node("schema", None, children=list(nodes), num_children=num_children)
    leaves = [leaf for node in nodes for leaf in node.leaves()]
    out, groups = bytearray(b"PAR1"), []
    for rows, chunks in row_groups:
        columns, total = [], 0
        for chunk, leaf in zip(chunks, leaves):
            column, size = chunk_metadata(out, chunk, leaf)
            columns.append(column)
            total += size
        groups.append(struct((1, "list", ("struct", columns)), (2, "i64", total), (3, "i64", rows)))
    rows = sum(rows for rows, _ in row_groups) if num_rows is None else num_rows
    pairs = [struct((1, "bytes", k), (2, "bytes", v)) for k, v in (key_values or {}).items()] or None
    footer = struct(
        (1, "i32", version), (2, "list", ("struct", list(root.elements()) if schema is None else schema)), (3, "i64", rows),
        (4, "list", ("struct", groups)), (5, "list", ("struct", pairs)) if pairs else (5, "list", None),
        (6, "bytes", created_by),
    )
    return bytes(out) + footer + binary.pack("<I", len(footer)) + b"PAR1"


def only_leaf(node):
    (one,) = node.leaves()
    return one


def flat_levels(values):
    return [int(v is not None) for v in values], [v for v in values if v is not None]

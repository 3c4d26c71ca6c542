"""Files of writers that bend the rules, and that readers know to live with."""

from dataclasses import replace

import pyarrow as pa

import page_codecs
import page_encodings as enc
from builder import OPTIONAL, Chunk, Node, build, dictionary_page, flat_levels, indices, leaf, only_leaf, page_v1, page_v2
from cases import add, required
from page_encodings import INT32, INT64

OLD_PARQUET_CPP = "parquet-cpp version 1.5.1-SNAPSHOT"
NUMBERS = [None if i % 5 == 2 else (i % 7) * 10**6 for i in range(60)]


def roots():
    node = leaf("x", INT32)
    page = page_v1(only_leaf(node), [0] * 3, enc.plain(INT32, [1, 2, 3]))
    for name, root in (
        ("root_with_repetition_minus_one", Node("schema", -1, children=[node])),
        ("root_with_a_type", Node("schema", None, INT32, children=[node])),
    ):
        file = build([node], [(3, [Chunk([page])])], schema=list(root.elements()))
        add(name, file, [(required("x", pa.int32()), [1, 2, 3])])


def checksums():
    node = leaf("x", INT64, OPTIONAL)
    levels, values = flat_levels(NUMBERS)
    pages = [replace(page_v1(only_leaf(node), levels, enc.plain(INT64, values), codec=page_codecs.SNAPPY), crc=0)]
    add("checksum_of_zero", build([node], [(60, [Chunk(pages, page_codecs.SNAPPY)])]), [(pa.field("x", pa.int64()), NUMBERS)])


def counts():
    node = leaf("x", INT32)
    page = page_v1(only_leaf(node), [0] * 3, enc.plain(INT32, [1, 2, 3]))
    group = (3, [Chunk([page])])
    add("footer_of_no_rows", build([node], [group, group], num_rows=0), [(required("x", pa.int32()), [1, 2, 3] * 2)])


def compressed():
    """Pages of version 2 that are compressed whatever their headers say, as parquet-cpp up to 1.5.1 wrote them."""
    plain, coded = leaf("plain", INT64, OPTIONAL), leaf("coded", INT64, OPTIONAL)
    levels, values = flat_levels(NUMBERS)
    entries = sorted(set(values))
    codes = indices([entries.index(value) for value in values], 3)
    for codec, name in ((page_codecs.SNAPPY, "snappy"), (page_codecs.ZSTD, "zstd")):
        pages = [page_v2(only_leaf(plain), levels, enc.plain(INT64, values), codec=codec)]
        of_codes = page_v2(only_leaf(coded), levels, codes, codec=codec, encoding=enc.RLE_DICTIONARY)
        chunks = [[lied(page) for page in pages], [dictionary_page(INT64, entries, codec=codec), lied(of_codes)]]
        columns = [(pa.field(node.name, pa.int64()), NUMBERS) for node in (plain, coded)]
        file = build([plain, coded], [(60, [Chunk(pages, codec) for pages in chunks])], created_by=OLD_PARQUET_CPP)
        add(f"v2_{name}_whatever_the_header_says", file, columns)


def lied(page):
    """The same page of version 2, whose header says that it is not compressed."""
    (number, kind, header), = page.header
    # The last field is absent, which means yes; field 7 follows field 6.
    assert header.endswith(b"\x00")
    return replace(page, header=[(number, kind, header[:-1] + b"\x12\x00")])


def lzo():
    node = leaf("x", INT64, OPTIONAL)
    levels, values = flat_levels(NUMBERS)
    pages = [page_v1(only_leaf(node), levels[a:b], enc.plain(INT64, [v for v in NUMBERS[a:b] if v is not None]))
             for a, b in ((0, 20), (20, 60))]
    pages = [replace(page, body=page_codecs.lzo_literals(page.body)) for page in pages]
    add("lzo_without_framing", build([node], [(60, [Chunk(pages, page_codecs.LZO)])]), [(pa.field("x", pa.int64()), NUMBERS)])


def all_cases():
    for make in (roots, checksums, counts, compressed, lzo):
        make()

"""Files whose pages, chunks and row groups are laid out as no current writer does."""

import gzip
import struct
from dataclasses import replace

import pyarrow as pa

import page_codecs
import page_encodings as enc
from builder import (
    OPTIONAL, REPEATED, REQUIRED, UTF8, Chunk, Page, build, dictionary_page, flat_levels, group, indices, leaf, only_leaf,
    page_v1, page_v2,
)
from cases import add, required
from page_encodings import BYTE_ARRAY, DOUBLE, INT32, INT64

# Forty slots, every third one null.
SPARSE = [None if i % 3 == 2 else i * i - 100 for i in range(40)]


def bit_packed_levels():
    node = leaf("x", INT32, OPTIONAL)
    x = only_leaf(node)
    pages = []
    for part in (SPARSE[:13], SPARSE[13:]):
        dfn, values = flat_levels(part)
        pages.append(page_v1(x, dfn, enc.plain(INT32, values), level_encoding=enc.BIT_PACKED))
    add("bit_packed_levels", build([node], [(40, [Chunk(pages)])]), [(pa.field("x", pa.int32()), SPARSE)])


# A list of lists: repetition levels 0..2, definition levels 0..5.
NESTED_TYPE = pa.list_(pa.list_(pa.int32()))
NESTED = [[[1, 2, None], []], None, [], [None, [3]], [[4], [5, 6, 7], [None]]]
NESTED_REP = [0, 2, 2, 1, 0, 0, 0, 1, 0, 1, 2, 2, 1]
NESTED_DEF = [5, 5, 4, 3, 0, 1, 2, 5, 5, 5, 5, 5, 4]
NESTED_VALUES = [1, 2, 3, 4, 5, 6, 7]


def nested_node(name="x"):
    inner = group("element", OPTIONAL, group("list", REPEATED, leaf("element", INT32, OPTIONAL)), converted=3)
    return group(name, OPTIONAL, group("list", REPEATED, inner), converted=3)


def nested_pages(cuts, **how):
    """NESTED cut into v1 pages at level ordinals `cuts`."""
    x = only_leaf(nested_node())
    pages, taken = [], 0
    for start, end in zip([0, *cuts], [*cuts, len(NESTED_DEF)]):
        dfn, rep = NESTED_DEF[start:end], NESTED_REP[start:end]
        count = sum(d == 5 for d in dfn)
        values = enc.plain(INT32, NESTED_VALUES[taken:taken + count])
        taken += count
        pages.append(page_v1(x, dfn, values, rep, **how))
    return pages


def nested():
    field = pa.field("x", NESTED_TYPE)
    for name, cuts, how in (
        ("bit_packed_nested_levels", [4, 7], {"level_encoding": enc.BIT_PACKED}),
        ("pages_start_inside_a_row", [1, 2, 6, 10, 12], {}),
        ("a_page_for_each_level", list(range(1, 13)), {"shape": "rle"}),
        ("nested_mixed_runs", [], {"shape": "mixed"}),
    ):
        file = build([nested_node()], [(5, [Chunk(nested_pages(cuts, **how))])])
        add(name, file, [(field, NESTED)])
    # A long row over many pages beside a flat column with other page boundaries.
    node = group("x", OPTIONAL, group("list", REPEATED, leaf("element", INT64)), converted=3)
    x, y = only_leaf(node), leaf("y", INT32)
    rows = [list(range(100)), [], None, list(range(-50, 0)), [7]]
    levels = []
    for row in rows:
        levels += [(0, 0)] if row is None else [(0, 1)] if not row else [(int(i > 0), 2) for i in range(len(row))]
    flat = [v for row in rows for v in row or []]
    pages, taken = [], 0
    for start in range(0, len(levels), 33):
        rep, dfn = zip(*levels[start:start + 33])
        count = sum(d == 2 for d in dfn)
        pages.append(page_v1(x, dfn, enc.plain(INT64, flat[taken:taken + count]), rep))
        taken += count
    other = [page_v1(only_leaf(y), [0] * n, enc.plain(INT32, [n] * n)) for n in (1, 3, 1)]
    file = build([node, y], [(5, [Chunk(pages), Chunk(other)])])
    add("a_row_over_many_pages", file, [
        (pa.field("x", pa.list_(required("element", pa.int64()))), rows), (required("y", pa.int32()), [1, 3, 3, 3, 1]),
    ])


def boundaries():
    """Three columns of one row group, pages cut at different rows, in different page versions and codecs."""
    nodes = [leaf("a", INT32), leaf("b", DOUBLE, OPTIONAL), leaf("c", BYTE_ARRAY, converted=UTF8)]
    a, b, c = (only_leaf(node) for node in nodes)
    n = 60
    floats = [None if i % 7 == 0 else i / 8 for i in range(n)]
    texts = [f"row {i:03}" for i in range(n)]
    pages_a = [page_v1(a, [0] * 10, enc.plain(INT32, range(i, i + 10)), codec=1) for i in range(0, n, 10)]
    pages_b = []
    for start, end in ((0, 7), (7, 8), (8, 40), (40, 60)):
        dfn, values = flat_levels(floats[start:end])
        pages_b.append(page_v2(b, dfn, enc.plain(DOUBLE, values), codec=6))
    pages_c = [
        page_v1(c, [0] * (end - start), enc.plain(BYTE_ARRAY, [t.encode() for t in texts[start:end]]), codec=7)
        for start, end in ((0, 59), (59, 60))
    ]
    file = build(nodes, [(n, [Chunk(pages_a, 1), Chunk(pages_b, 6), Chunk(pages_c, 7)])])
    add("different_page_boundaries", file, [
        (required("a", pa.int32()), range(n)), (pa.field("b", pa.float64()), floats), (required("c", pa.string()), texts),
    ])


def dictionary():
    node = leaf("x", BYTE_ARRAY, OPTIONAL, converted=UTF8)
    x = only_leaf(node)
    words = [b"red", b"", b"herring", b"roe"]
    values = [None if i % 5 == 3 else words[i * i % 4] for i in range(50)]
    field, texts = pa.field("x", pa.string()), [v and v.decode() for v in values]
    texts = ["" if v == b"" else t for v, t in zip(values, texts)]

    def coded(part, shape="packed", bits=2):
        dfn, present = flat_levels(part)
        codes = [words.index(v) for v in present]
        return page_v1(x, dfn, indices(codes, bits, shape), encoding=enc.RLE_DICTIONARY)

    table = dictionary_page(BYTE_ARRAY, words)
    pages = [table, coded(values[:20]), coded(values[20:], "rle")]
    for name, offset in (("dictionary_offset_absent", "absent"), ("dictionary_offset_zero", 0)):
        add(name, build([node], [(50, [Chunk(pages, dictionary_offset=offset)])]), [(field, texts)])
    old = [dictionary_page(BYTE_ARRAY, words, encoding=enc.PLAIN_DICTIONARY)]
    dfn, present = flat_levels(values)
    old.append(page_v1(x, dfn, indices([words.index(v) for v in present], 7, "mixed"), encoding=enc.PLAIN_DICTIONARY))
    add("plain_dictionary_wide_codes", build([node], [(50, [Chunk(old)])]), [(field, texts)])
    one = [dictionary_page(BYTE_ARRAY, [b"only"]), page_v1(x, [1] * 9, b"\x00\x12", encoding=enc.RLE_DICTIONARY)]
    add("dictionary_of_one_in_zero_bits", build([node], [(9, [Chunk(one)])]), [(field, ["only"] * 9)])
    bare = [dictionary_page(BYTE_ARRAY, [b"only"]), page_v1(x, [0] * 9, b"", encoding=enc.RLE_DICTIONARY)]
    add("dictionary_page_all_null_no_width", build([node], [(9, [Chunk(bare)])]), [(field, [None] * 9)])
    empty = [dictionary_page(BYTE_ARRAY, []), page_v1(x, [0] * 4, b"\x00", encoding=enc.RLE_DICTIONARY)]
    add("empty_dictionary_all_null", build([node], [(4, [Chunk(empty)])]), [(field, [None] * 4)])
    # Falls back midway, twice, and comes back.
    dfn, present = flat_levels(values[20:35])
    mixed = [table, coded(values[:20]), page_v1(x, dfn, enc.plain(BYTE_ARRAY, present)), coded(values[35:42], "mixed", 3)]
    dfn, present = flat_levels(values[42:])
    mixed.append(page_v2(x, dfn, enc.delta_length_byte_array(present), encoding=enc.DELTA_LENGTH_BYTE_ARRAY))
    add("dictionary_falls_back_midway", build([node], [(50, [Chunk(mixed)])]), [(field, texts)])
    codes = [i % 300 for i in range(700)]
    number = leaf("x", INT64)
    wide = [dictionary_page(INT64, [v * 10**12 for v in range(300)])]
    wide += [
        page_v1(only_leaf(number), [0] * 350, indices(codes[i:i + 350], bits, shape), encoding=enc.RLE_DICTIONARY)
        for i, bits, shape in ((0, 9, "packed"), (350, 32, "rle"))
    ]
    file = build([number], [(700, [Chunk(wide)])])
    add("dictionary_codes_of_9_and_32_bits", file, [(required("x", pa.int64()), [c * 10**12 for c in codes])])


def strange_pages():
    node = leaf("x", INT32, OPTIONAL)
    x = only_leaf(node)
    index = Page(1, [(6, "struct", b"\x00")], b"an index page of old", 20)
    unknown = Page(9, [(12, "struct", b"\x00")], b"a page type of tomorrow", 23)

    def data(part, version=page_v1, **how):
        dfn, values = flat_levels(part)
        return version(x, dfn, enc.plain(INT32, values), **how)

    def file(pages, codec=0, rows=40):
        return build([node], [(rows, [Chunk(pages, codec)])])

    field = pa.field("x", pa.int32())
    add("index_and_unknown_pages", file([index, data(SPARSE[:9]), unknown, index, data(SPARSE[9:]), unknown]), [(field, SPARSE)])
    pages = [data(SPARSE[:9], page_v2, codec=1), data(SPARSE[9:20], page_v2, codec=1, compressed=False),
             data(SPARSE[20:], page_v2, codec=1, compressed=True)]
    add("uncompressed_v2_page_in_compressed_chunk", file(pages, 1), [(field, SPARSE)])
    none, none2 = data([]), data([], page_v2)
    add("pages_without_values", file([none, none2, data(SPARSE[:9]), none, data(SPARSE[9:], page_v2), none2]), [(field, SPARSE)])
    nothing = data([None] * 8, page_v2)
    add("all_null_v2_page_without_values", file([nothing, data(SPARSE[:32], page_v2, codec=1)], 1), [(field, [None] * 8 + SPARSE[:32])])
    checked = [data(SPARSE[:20], codec=6).checked(), data(SPARSE[20:], page_v2, codec=6).checked()]
    add("page_checksums", file(checked, 6), [(field, SPARSE)])
    dfn, values = flat_levels(SPARSE)
    whole = page_v1(x, dfn, enc.plain(INT32, values))
    members = gzip.compress(whole.body[:50], mtime=0) + gzip.compress(b"", mtime=0) + gzip.compress(whole.body[50:], mtime=0)
    add("gzip_of_three_members", file([replace(whole, body=members)], 2), [(field, SPARSE)])


def row_groups():
    node, text = leaf("x", INT32, OPTIONAL), leaf("s", BYTE_ARRAY, converted=UTF8)
    x, s = only_leaf(node), only_leaf(text)

    def rows(part):
        dfn, values = flat_levels(part)
        return (len(part), [
            Chunk([page_v1(x, dfn, enc.plain(INT32, values))] if part else []),
            Chunk([page_v1(s, [0] * len(part), enc.plain(BYTE_ARRAY, [str(v).encode() for v in part]))] if part else []),
        ])

    def columns(values):
        return [(pa.field("x", pa.int32()), values), (required("s", pa.string()), [str(v) for v in values])]

    parts = [[], SPARSE[:1], [], [], SPARSE[1:30], SPARSE[30:], []]
    add("row_groups_of_zero_rows", build([node, text], [rows(p) for p in parts]), columns(SPARSE))
    add("only_a_row_group_of_zero_rows", build([node, text], [rows([])]), columns([]))
    add("no_row_groups", build([node, text], []), columns([]))
    add("zero_columns", build([], [(3, []), (4, [])]), [], rows=7)
    add("zero_columns_zero_rows", build([], []), [], rows=0)
    many = [rows(SPARSE[i:i + 1]) for i in range(40)]
    add("a_row_group_for_each_row", build([node, text], many), columns(SPARSE))


def codecs():
    node = leaf("x", INT64, OPTIONAL)
    x = only_leaf(node)
    values = [None if i % 11 == 4 else (i % 23) * 10**9 for i in range(400)]
    field = pa.field("x", pa.int64())
    dfn, present = flat_levels(values)
    first, second = flat_levels(values[:150]), flat_levels(values[150:])

    def replaced(pages, codec, squeeze):
        chunk = [replace(page, body=squeeze(page.body)) for page in pages]
        return build([node], [(400, [Chunk(chunk, codec)])])

    plain = [page_v1(x, d, enc.plain(INT64, v), shape="mixed") for d, v in (first, second)]
    whole = [page_v1(x, dfn, enc.plain(INT64, present))]
    frame = pa.Codec("lz4")
    for name, pages, codec, squeeze in (
        ("lz4_hadoop_one_block", plain, page_codecs.LZ4, page_codecs.lz4_hadoop),
        ("lz4_hadoop_many_blocks", whole, page_codecs.LZ4, lambda b: page_codecs.lz4_hadoop(b, 1000)),
        ("lz4_hadoop_blocks_of_parts", whole, page_codecs.LZ4, lambda b: page_codecs.lz4_hadoop(b, 1000, 300)),
        ("lz4_without_framing", plain, page_codecs.LZ4, page_codecs.lz4_block),
        ("lz4_frame", plain, page_codecs.LZ4, lambda b: frame.compress(b, asbytes=True)),
        ("lzo_one_block", plain, page_codecs.LZO, page_codecs.lzo_hadoop),
        ("lzo_many_blocks", whole, page_codecs.LZO, lambda b: page_codecs.lzo_hadoop(b, 700)),
    ):
        add(name, replaced(pages, codec, squeeze), [(field, values)])
    # LZO with matches, behind levels that v2 leaves uncompressed.
    unit = struct.pack("<qq", 77, -5)
    body = page_codecs.hadoop([(800, [page_codecs.lzo_repeat(unit, 50)])])
    page = page_v2(x, [1] * 100, unit * 50, codec=page_codecs.LZO)
    levels = len(page.body) - len(page_codecs.lzo_hadoop(unit * 50))
    page = replace(page, body=page.body[:levels] + body)
    add("lzo_v2_with_matches", build([node], [(100, [Chunk([page], page_codecs.LZO)])]), [(field, [77, -5] * 50)])
    # Every codec, both page versions, in one row group.
    nodes = [leaf(f"c{codec}", INT64, OPTIONAL) for codec in range(8)]
    chunks = []
    for codec, one in enumerate(nodes):
        pages = [version(only_leaf(one), d, enc.plain(INT64, v), codec=codec)
                 for version, (d, v) in ((page_v1, first), (page_v2, second))]
        chunks.append(Chunk(pages, codec))
    add("every_codec", build(nodes, [(400, chunks)]), [(pa.field(one.name, pa.int64()), values) for one in nodes])


def external():
    node = leaf("x", INT32)
    page = page_v1(only_leaf(node), [0] * 3, enc.plain(INT32, [1, 2, 3]))
    return build([node], [(3, [Chunk([page], file_path="elsewhere.parquet")])])


def all_cases():
    for make in (bit_packed_levels, nested, boundaries, dictionary, strange_pages, row_groups, codecs):
        make()

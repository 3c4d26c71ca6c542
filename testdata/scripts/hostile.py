"""Invalid files: each is a small lie that has crashed, hung or exhausted some reader. All of them have to be errors.

A case is the file, a sentence on what is wrong with it, the kind of error it has to be, and the place that the error has
to name: a page (its row group, column, ordinal and offset), a chunk (row group and column), a column, an offset in the
footer, or none where the file as a whole is none.
"""

import base64
import struct
from dataclasses import replace
from fnmatch import fnmatch

import pyarrow as pa

import canonical
import page_codecs
import page_encodings as enc
from builder import (
    LIST, OPTIONAL, REPEATED, REQUIRED, UTF8, Chunk, Node, Page, build, dictionary_page, group, indices, leaf, logical, only_leaf,
    page_v1, page_v2, struct as thrift,
)
from cases import required
from page_encodings import BOOLEAN, BYTE_ARRAY, DOUBLE, FIXED_LEN_BYTE_ARRAY, INT32, INT64, INT96
from thrift import varint, zigzag

MAX = 2**31 - 1
HOSTILE = {}
TOLERATED = {}
# Valid, small, and 5 GB when read: may be read in small batches, or refused by a limit, but not run out of memory.
GROWING = {}
# Which lies are no corruption, and which are not found in a page: patterns of names.
KINDS = {
    "key": "file_encrypted_footer",
    "limit exceeded": """*_plain_size_huge dictionary_of_2g_entries_* delta_byte_array_bytes_prefix_huge fixed_of_length_2g
        footer_length_huge page_header_deep page_size_huge schema_300_repeated schema_deep null_fixed_* null_lists_of_*""",
    "unsupported": """codec_unknown dictionary_missing_boolean encoding_* external_file
        int96_beyond_nanoseconds interval_beyond_arrow schema_leaf_of_repetition_minus_one schema_repetition_unknown
        schema_type_unknown""",
}
PLACES = {
    "chunk": """a_column_is_missing chunk_size_* columns_of_other_lengths external_file fewer_rows_than_promised page_offset_*
        null_key_of_a_map null_lists_of_* rows_huge siblings_disagree_* too_few_values""",
    "row group": "rows_negative",
    "column": "fixed_of_length_negative fixed_without_length schema_children_negative",
    "offset": """file_encrypted_footer file_magic_wrong footer_length_0 footer_length_beyond footer_list* footer_maps_of_2g
        footer_no_schema footer_ones footer_row_groups_2g footer_string_of_2g footer_structs_10000_deep footer_type_unknown
        footer_zeros schema_leaf_of_repetition_minus_one schema_repetition_unknown schema_root_without_name schema_type_unknown""",
    "file": "file_* footer_length_huge schema_*",
}
# Valid but for their offset index, which is read only when asked for.
INDEXES = {}


def add(name, wrong, data):
    assert name not in HOSTILE, name
    kind = next((kind for kind, names in KINDS.items() if matches(name, names)), "corrupt file")
    place = next((place for place, names in PLACES.items() if matches(name, names)), "page")
    HOSTILE[name] = (data, {"wrong": wrong, "kind": kind, "place": place})


def matches(name, patterns):
    return any(fnmatch(name, pattern) for pattern in patterns.split())


def tolerate(name, data, columns):
    """A file that may be read as well, as long as what comes out is `columns`."""
    assert name not in TOLERATED, name
    arrays = [(field, pa.array(values, field.type)) for field, values in columns]
    TOLERATED[name] = (data, canonical.expectation(arrays, len(arrays[0][1]), source="by construction", or_error=True))


def one(node, pages, rows, codec=0, **chunk):
    return build([node], [(rows, [Chunk(pages if isinstance(pages, list) else [pages], codec, **chunk)])])


def delta_header(count, block=128, minis=4, first=0):
    return varint(block) + varint(minis) + varint(count) + zigzag(first)


def levels():
    node = leaf("x", INT32, OPTIONAL)
    x = only_leaf(node)
    good = page_v2(x, [1] * 8, enc.plain(INT32, range(8)))
    for name, how in (
        ("v2_definition_bytes_beyond_page", {"definition_bytes": 30}), ("v2_definition_bytes_negative", {"definition_bytes": -1}),
        ("v2_repetition_bytes_beyond_page", {"repetition_bytes": MAX}), ("v2_repetition_bytes_negative", {"repetition_bytes": -5}),
    ):
        page = page_v2(x, [1] * 8, enc.plain(INT32, range(8)), **how)
        add(name, "the lengths of the levels do not fit the page", one(node, page, 8))
        page = page_v2(x, [1] * 8, enc.plain(INT32, range(8)), compressed=False, codec=1, **how)
        add(f"{name}_uncompressed", "the same in a compressed chunk, page not compressed", one(node, page, 8, 1))
    add("v2_body_cut", "the body ends inside the levels", one(node, replace(good, body=good.body[:1], plain_bytes=1), 8))
    short = Page(0, page_v1(x, [1] * 64, b"", level_encoding=enc.BIT_PACKED).header, b"\xff", 1, 64)
    add("v1_bit_packed_levels_short", "BIT_PACKED levels end early", one(node, short, 64))
    for name, body in (
        ("v1_level_length_beyond_page", struct.pack("<I", 1000) + b"\x02\x01"), ("v1_level_length_huge", b"\xff\xff\xff\xff\x02"),
        ("v1_no_room_for_level_length", b"\x02"), ("v1_empty_body", b""),
        ("v1_levels_end_early", struct.pack("<I", 2) + b"\x08\x01" + bytes(32)),
        ("v1_level_run_of_zero", struct.pack("<I", 2) + b"\x00\x01" + bytes(32)),
        ("v1_level_varint_unending", struct.pack("<I", 12) + b"\xff" * 12 + bytes(32)),
    ):
        add(name, "the levels of a v1 page are malformed", one(node, Page(0, good_v1_header(x, 8), body, len(body), 8), 8))
    # Width 2 can say 3, but the deepest level is 2.
    deep = group("g", OPTIONAL, leaf("x", INT32, OPTIONAL))
    page = page_v1(only_leaf(deep), [3] * 8, enc.plain(INT32, range(8)))
    add("definition_level_above_maximum", "a definition level is deeper than the column", one(deep, page, 8))
    page = page_v1(only_leaf(deep), [3] * 8, enc.plain(INT32, range(8)), shape="rle")
    add("definition_level_above_maximum_run", "the same as a run", one(deep, page, 8))
    listed = group("l", OPTIONAL, group("list", REPEATED, group("e", OPTIONAL, group("list", REPEATED, leaf("x", INT32)), converted=LIST)), converted=LIST)
    x = only_leaf(listed)
    page = page_v1(x, [4] * 4, enc.plain(INT32, range(4)), [0, 3, 1, 2])
    add("repetition_level_above_maximum", "a repetition level is deeper than the column", one(listed, page, 1))
    page = page_v1(x, [4] * 4, enc.plain(INT32, range(4)), [1, 2, 0, 1])
    add("first_repetition_level_not_zero", "a column chunk starts inside a row", one(listed, page, 2))
    page = page_v1(x, [4] * 4, enc.plain(INT32, range(4)), [0, 0, 0, 0])
    t = pa.list_(pa.list_(required("x", pa.int32())))
    tolerate("more_rows_than_promised", one(listed, page, 2), [(pa.field("l", t), [[[0]], [[1]]])])
    add("fewer_rows_than_promised", "the levels hold fewer rows than the row group", one(listed, page, 9))
    page = page_v1(x, [0, 4], enc.plain(INT32, [1]), [0, 1])
    tolerate("second_element_of_a_null_list", one(listed, page, 1), [(pa.field("l", t), [None])])
    # Levels of two leaves of one list disagree.
    pair = group("l", OPTIONAL, group("list", REPEATED, group("e", REQUIRED, leaf("a", INT32), leaf("b", INT32))), converted=LIST)
    a, b = pair.leaves()
    pages = [page_v1(a, [2, 2, 2], enc.plain(INT32, range(3)), [0, 1, 0]), page_v1(b, [2, 2, 2], enc.plain(INT32, range(3)), [0, 0, 1])]
    siblings = lambda node, rows, pages: build([node], [(rows, [Chunk([p]) for p in pages])])  # noqa: E731
    add("siblings_disagree_on_lists", "as many elements in both leaves, in other lists", siblings(pair, 2, pages))
    # No batch border between rows shows what differs within one.
    deep = group("l", OPTIONAL, group("list", REPEATED, group("m", REQUIRED, group("list", REPEATED, group("e", REQUIRED, leaf("a", INT32), leaf("b", INT32))), converted=LIST)), converted=LIST)
    a, b = deep.leaves()
    pages = [page_v1(x, [3] * 3, enc.plain(INT32, range(3)), rep) for x, rep in ((a, [0, 1, 2]), (b, [0, 2, 1]))]
    add("siblings_disagree_on_inner_lists", "as many elements in both leaves, in other lists of one row", siblings(deep, 1, pages))
    pages = [page_v1(x, [3] * 3, enc.plain(INT32, range(3)), rep) for x, rep in ((a, [0, 2, 1]), (b, [0, 2, 2]))]
    add("siblings_disagree_on_outer_lists", "the last leaf has one inner list less", siblings(deep, 1, pages))
    a, b = pair.leaves()
    pages = [page_v1(a, [1, 2], enc.plain(INT32, range(1)), [0, 0]), page_v1(b, [2, 1], enc.plain(INT32, range(1)), [0, 0])]
    add("siblings_disagree_on_empty_lists", "other lists are empty in the other leaf", siblings(pair, 2, pages))
    pages = [page_v1(a, [2] * 3, enc.plain(INT32, range(3)), [0, 0, 0]), page_v1(b, [2] * 4, enc.plain(INT32, range(4)), [0, 0, 0, 1])]
    add("siblings_disagree_on_last_list", "the last list goes on in one leaf only", siblings(pair, 3, pages))
    # The second leaf ends its pieces early, as it has long values.
    rows = 60
    long = group("l", OPTIONAL, group("list", REPEATED, group("e", REQUIRED, leaf("a", INT32), leaf("b", BYTE_ARRAY))), converted=LIST)
    a, b = long.leaves()
    lengths = [[2] * rows, [2] * 40 + [1, 3] + [2] * (rows - 42)]
    values = [enc.plain(INT32, range(2 * rows)), enc.plain(BYTE_ARRAY, [b"%03d" % i * 30 for i in range(2 * rows)])]
    pages = [page_v1(x, [2] * 2 * rows, v, [rep for n in lists for rep in [0] + [1] * (n - 1)]) for x, v, lists in zip((a, b), values, lengths)]
    add("siblings_disagree_in_the_middle", "two of sixty lists have another length in the other leaf", siblings(long, rows, pages))
    a, b = pair.leaves()
    pages = [page_v1(a, [2, 0], enc.plain(INT32, range(1)), [0, 0]), page_v1(b, [2, 2], enc.plain(INT32, range(2)), [0, 0])]
    add("siblings_disagree_on_nulls", "a list is null in one leaf only", build([pair], [(2, [Chunk([p]) for p in pages])]))


def good_v1_header(x, count, encoding=enc.PLAIN):
    return page_v1(x, [0] * count, b"", [0] * count, encoding).header


def counts():
    node = leaf("x", INT32)
    x = only_leaf(node)
    body = enc.plain(INT32, range(8))
    for name, count in (("negative", -1), ("huge", MAX), ("one_too_many", 9)):
        add(f"num_values_{name}", "a page promises more values than it holds", one(node, page_v1(x, [0] * 8, body, num_values=count), 8, num_values=8))
    add("too_few_values", "the pages hold fewer values than the row group", one(node, page_v1(x, [0] * 8, body), 20))
    tolerate("too_many_values", one(node, page_v1(x, [0] * 8, body), 5), [(required("x", pa.int32()), range(5))])
    add("rows_negative", "a row group of a negative number of rows", one(node, page_v1(x, [0] * 8, body), -8))
    add("rows_huge", "a row group of 2^62 rows", one(node, page_v1(x, [0] * 8, body), 2**62))
    # The rows of a v2 page are counted in its header: 0 of them, and yet two values.
    lists = group("l", OPTIONAL, group("list", REPEATED, leaf("x", INT32)), converted=LIST)
    x = only_leaf(lists)
    first = page_v2(x, [2, 2], enc.plain(INT32, [0, 1]), [0, 1])
    more = page_v2(x, [2, 2], enc.plain(INT32, [2, 3]), [1, 1], rows=0)
    last = page_v2(x, [2], enc.plain(INT32, [4]), [0])
    t = pa.list_(required("x", pa.int32()))
    tolerate("page_of_no_rows_but_values", one(lists, [first, more, last], 2), [(pa.field("l", t), [[0, 1, 2, 3], [4]])])
    add("no_pages_at_all", "a column chunk without pages", one(node, [], 8, num_values=8))
    nodes = [leaf("x", INT32), leaf("y", INT32)]
    chunk = [Chunk([page_v1(only_leaf(n), [0] * k, enc.plain(INT32, range(k)))]) for n, k in zip(nodes, (8, 5))]
    add("columns_of_other_lengths", "two columns of a row group hold other numbers of rows", build(nodes, [(8, chunk)]))
    add("a_column_is_missing", "a row group has fewer chunks than the schema leaves", build(nodes, [(8, chunk[:1])]))
    text = leaf("x", BYTE_ARRAY, OPTIONAL, converted=UTF8)
    x = only_leaf(text)
    null_tail = page_v2(x, [0] * 8, b"trailing bytes")
    tolerate("all_null_v2_page_with_trailing_bytes", one(text, null_tail, 8), [(pa.field("x", pa.string()), [None] * 8)])


def dictionaries():
    for name, node, value in (
        ("int32", leaf("x", INT32), 7), ("double", leaf("x", DOUBLE), 7.0), ("int96", leaf("x", INT96), struct.pack("<qi", 0, 2440588)),
        ("fixed", leaf("x", FIXED_LEN_BYTE_ARRAY, type_length=5), b"fixed"), ("string", leaf("x", BYTE_ARRAY, converted=UTF8), b"text"),
        ("boolean", leaf("x", BOOLEAN), True),
    ):
        x = only_leaf(node)
        coded = page_v1(x, [0] * 8, indices([0] * 8, 1), encoding=enc.RLE_DICTIONARY)
        add(f"dictionary_missing_{name}", "codes without a dictionary page", one(node, coded, 8))
        if name == "boolean":
            continue
        table = dictionary_page(node.physical, [value])
        for how, codes in (("packed", indices([0, 1, 1, 0, 0, 0, 0, 0], 1)), ("run", b"\x01\x10\x01"), ("wide", b"\x20\x10\xff\xff\xff\xff")):
            page = page_v1(x, [0] * 8, codes, encoding=enc.RLE_DICTIONARY)
            add(f"code_out_of_range_{name}_{how}", "a code beyond the dictionary", one(node, [table, page], 8))
        empty = dictionary_page(node.physical, [value], num_values=0)
        add(f"dictionary_of_zero_entries_{name}", "codes into a dictionary of no entries", one(node, [empty, coded], 8))
        huge = dictionary_page(node.physical, [value], num_values=MAX)
        add(f"dictionary_of_2g_entries_{name}", "a dictionary page of few bytes promises 2^31 entries", one(node, [huge, coded], 8))
        negative = dictionary_page(node.physical, [value], num_values=-1)
        add(f"dictionary_of_negative_entries_{name}", "a negative number of entries", one(node, [negative, coded], 8))
    node = leaf("x", INT32)
    x = only_leaf(node)
    table = dictionary_page(INT32, [1, 2])
    for name, body in (
        ("width_33", b"\x21" + bytes(40)), ("width_255", b"\xff" + bytes(40)), ("no_width", b""), ("no_runs", b"\x01"),
        ("runs_end_early", b"\x01\x04\x00"), ("packed_run_cut", b"\x03\x03\x00"), ("run_header_unending", b"\x01" + b"\x80" * 11),
        ("run_of_2_63", b"\x01" + b"\xfe" + b"\xff" * 8 + b"\x01"), ("run_of_zero", b"\x01\x00\x00\x00\x00"),
    ):
        page = page_v1(x, [0] * 8, body, encoding=enc.RLE_DICTIONARY)
        add(f"codes_{name}", "the codes of a page are malformed", one(node, [table, page], 8))


def delta():
    for physical, bits in ((INT32, 32), (INT64, 64)):
        node = leaf("x", physical)
        x = only_leaf(node)

        def file(body, count=8):
            return one(node, page_v1(x, [0] * count, body, encoding=enc.DELTA_BINARY_PACKED), count)  # noqa: B023

        good = enc.delta_binary_packed(list(range(200)), bits)
        for name, body in (
            ("count_huge", delta_header(MAX)), ("count_2_63", delta_header(2**63 - 1)), ("count_too_small", delta_header(3) + zigzag(0) + bytes(4)),
            ("block_zero", delta_header(8, block=0)), ("minis_zero", delta_header(8, minis=0)), ("minis_more_than_block", delta_header(8, 128, 256)),
            ("block_not_divisible", delta_header(8, 128, 3)), ("block_2_40", delta_header(8, 2**40, 1)), ("minis_2_30", delta_header(8, 2**35, 2**30)),
            ("width_too_large", delta_header(8) + zigzag(0) + bytes([65] * 4) + bytes(3000)),
            ("widths_missing", delta_header(8) + zigzag(0) + b"\x01"), ("block_missing", delta_header(8)), ("empty", b""),
            ("varint_unending", b"\xff" * 12), ("miniblock_cut", delta_header(8) + zigzag(0) + b"\x08\x00\x00\x00" + b"\x01"),
        ):
            add(f"delta_int{bits}_{name}", "DELTA_BINARY_PACKED is malformed", file(body))
        add(f"delta_int{bits}_cut", "DELTA_BINARY_PACKED ends early", file(good[:-20], 200))
    node = leaf("x", BYTE_ARRAY, converted=UTF8)
    x = only_leaf(node)

    def lengths(*values, rest=b"abcdefgh", encoding=enc.DELTA_LENGTH_BYTE_ARRAY):
        body = enc.delta_binary_packed(list(values), 32) + rest
        return one(node, page_v1(x, [0] * 8, body, encoding=encoding), 8)

    add("delta_length_negative", "a negative length", lengths(1, 1, 1, 1, -1, 1, 1, 1))
    add("delta_length_beyond_page", "lengths beyond the page", lengths(1, 1, 1, 1, 1, 1, 1, 2))
    add("delta_length_overflow", "lengths whose sum overflows", lengths(MAX, MAX, MAX, MAX, MAX, MAX, MAX, MAX))
    add("delta_length_too_few", "fewer lengths than values", lengths(1, 1, 1))
    page = page_v1(x, [0] * 8, delta_header(MAX), encoding=enc.DELTA_LENGTH_BYTE_ARRAY)
    add("delta_length_count_huge", "2^31 lengths in a few bytes", one(node, page, 8))
    page = page_v1(x, [0] * 8, delta_header(MAX), encoding=enc.DELTA_BYTE_ARRAY)
    add("delta_byte_array_count_huge", "2^31 prefixes in a few bytes", one(node, page, 8))
    for fixed in (False, True):
        node = leaf("x", FIXED_LEN_BYTE_ARRAY, type_length=2) if fixed else leaf("x", BYTE_ARRAY, converted=UTF8)
        x = only_leaf(node)
        kind = "fixed" if fixed else "bytes"
        for name, prefixes, suffixes, rest in (
            ("first_prefix", [1, 0], [1, 2], b"abc"), ("prefix_too_long", [0, 3], [2, 1], b"abc"), ("prefix_negative", [0, -1], [2, 2], b"abcd"),
            ("suffix_negative", [0, 1], [2, -1], b"abcd"), ("suffix_beyond_page", [0, 1], [2, 9], b"abc"), ("counts_differ", [0, 1], [2], b"ab"),
            ("prefix_huge", [0, MAX], [2, 1], b"abc"),
        ):
            body = enc.delta_binary_packed(prefixes, 32) + enc.delta_binary_packed(suffixes, 32) + rest
            page = page_v1(x, [0] * 2, body, encoding=enc.DELTA_BYTE_ARRAY)
            add(f"delta_byte_array_{kind}_{name}", "prefixes and suffixes do not fit together", one(node, page, 2))
    # Few bytes that grow: each value repeats the one before and adds a byte, prefixes sum to gigabytes.
    count = 100_000
    body = enc.delta_binary_packed([0, *range(1000, 1000 + count - 1)], 32)
    body += enc.delta_binary_packed([1000] + [1] * (count - 1), 32) + b"x" * (1000 + count - 1)
    node = leaf("x", BYTE_ARRAY)
    page = page_v1(only_leaf(node), [0] * count, body, encoding=enc.DELTA_BYTE_ARRAY, codec=page_codecs.ZSTD)
    GROWING["delta_byte_array_grows"] = one(node, page, count, page_codecs.ZSTD)


def values():
    text = leaf("x", BYTE_ARRAY, converted=UTF8)
    x = only_leaf(text)
    for name, body in (
        ("length_beyond_page", struct.pack("<i", 100) + b"abc"), ("length_negative", struct.pack("<i", -1) + b"abc"),
        ("length_min", struct.pack("<i", -(2**31)) + b"abc"), ("length_cut", b"\x01\x00"), ("missing", b""),
    ):
        page = page_v1(x, [0] * 1, body)
        add(f"plain_string_{name}", "a PLAIN string does not fit its page", one(text, page, 1))
    page = page_v1(x, [0] * 8, enc.plain(BYTE_ARRAY, [b"five"] * 5))
    add("plain_string_fewer_than_declared", "skipping goes beyond the values of the page", one(text, page, 8))
    # A null has no bytes in the page, but the width of its type in the array.
    wide = leaf("x", FIXED_LEN_BYTE_ARRAY, OPTIONAL, type_length=MAX)
    add("null_fixed_of_2g", "nulls of 2 GiB each", one(wide, page_v2(only_leaf(wide), [0] * 8, b""), 8))
    # The Arrow schema in the file says how many elements a null list takes.
    listed = group("l", OPTIONAL, group("list", REPEATED, leaf("element", FIXED_LEN_BYTE_ARRAY, OPTIONAL, type_length=1 << 20)), converted=LIST)
    page = page_v1(only_leaf(listed), [0] * 8, b"", [0] * 8)
    for name, t in (
        ("1000", pa.list_(pa.field("element", pa.binary(1 << 20)), 1000)),
        ("2g", pa.list_(pa.field("element", pa.binary(1 << 20)), MAX)),
    ):
        hint = base64.b64encode(pa.schema([pa.field("l", t)]).serialize().to_pybytes())
        add(f"null_lists_of_{name}", "null lists that are to have elements of 1 MiB", build(
            [listed], [(8, [Chunk([page])])], key_values={"ARROW:schema": hint}))
    for name, raw in (
        ("invalid", b"\xff\xfe"), ("cut", "é".encode()[:1]), ("surrogate", b"\xed\xa0\x80"), ("overlong", b"\xc0\x80"),
    ):
        add(f"utf8_{name}", "a STRING that is not UTF-8", one(text, page_v1(x, [0] * 2, enc.plain(BYTE_ARRAY, [b"fine", raw])), 2))
        table = dictionary_page(BYTE_ARRAY, [b"fine", raw])
        page = page_v1(x, [0] * 8, indices([0, 1] * 4, 1), encoding=enc.RLE_DICTIONARY)
        add(f"utf8_{name}_dictionary", "the same in a dictionary", one(text, [table, page], 8))
    # Two halves of one character in two values: valid as a whole, invalid each.
    split = [b"a\xc3", b"\xa9b"]
    for name, encoding, body in (
        ("plain", enc.PLAIN, enc.plain(BYTE_ARRAY, split)), ("delta_length", enc.DELTA_LENGTH_BYTE_ARRAY, enc.delta_length_byte_array(split)),
        ("delta_bytes", enc.DELTA_BYTE_ARRAY, enc.delta_byte_array(split)),
    ):
        add(f"utf8_split_over_values_{name}", "a character split over two values", one(text, page_v1(x, [0] * 2, body, encoding=encoding), 2))
    for name, node, body, encoding in (
        ("plain_int64_short", leaf("x", INT64), bytes(63), enc.PLAIN), ("plain_boolean_short", leaf("x", BOOLEAN), b"", enc.PLAIN),
        ("plain_fixed_short", leaf("x", FIXED_LEN_BYTE_ARRAY, type_length=3), bytes(23), enc.PLAIN),
        ("plain_int96_short", leaf("x", INT96), bytes(95), enc.PLAIN),
        ("split_short", leaf("x", DOUBLE), bytes(63), enc.BYTE_STREAM_SPLIT), ("split_empty", leaf("x", DOUBLE), b"", enc.BYTE_STREAM_SPLIT),
        ("split_fixed_short", leaf("x", FIXED_LEN_BYTE_ARRAY, type_length=3), bytes(23), enc.BYTE_STREAM_SPLIT),
        ("rle_boolean_short", leaf("x", BOOLEAN), struct.pack("<I", 2) + b"\x08\x01", enc.RLE),
        ("rle_boolean_length", leaf("x", BOOLEAN), struct.pack("<I", 200) + b"\x10\x01", enc.RLE),
        ("rle_boolean_no_length", leaf("x", BOOLEAN), b"\x02", enc.RLE),
        ("encoding_unknown", leaf("x", INT64), bytes(64), 42), ("encoding_for_other_type", leaf("x", DOUBLE), bytes(64), enc.DELTA_BINARY_PACKED),
        ("encoding_rle_int", leaf("x", INT32), bytes(64), enc.RLE), ("encoding_bit_packed", leaf("x", INT32), bytes(64), enc.BIT_PACKED),
        ("fixed_of_length_negative", leaf("x", FIXED_LEN_BYTE_ARRAY, type_length=-4), bytes(64), enc.PLAIN),
        ("fixed_of_length_2g", leaf("x", FIXED_LEN_BYTE_ARRAY, type_length=MAX), bytes(64), enc.PLAIN),
        ("fixed_without_length", leaf("x", FIXED_LEN_BYTE_ARRAY), bytes(64), enc.PLAIN),
    ):
        add(name, "the values section is malformed", one(node, page_v1(only_leaf(node), [0] * 8, body, encoding=encoding), 8))
    node = leaf("x", BYTE_ARRAY, converted=5, precision=38, scale=0)
    big = (2**127).to_bytes(17, "big", signed=True)
    add("decimal_overflow", "a decimal that 128 bits do not hold", one(node, page_v1(only_leaf(node), [0], enc.plain(BYTE_ARRAY, [big])), 1))
    node = leaf("x", INT96)
    beyond = struct.pack("<qi", 0, 2440588 + 300 * 366)
    add("int96_beyond_nanoseconds", "an INT96 that 64-bit nanoseconds do not hold", one(node, page_v1(only_leaf(node), [0], beyond), 1))


def alp():
    node = leaf("x", DOUBLE)
    x = only_leaf(node)
    good = enc.alp_vector(list(range(8)), 2, 1, {3: 0.5}, True)
    page = enc.alp_page([good], 3, 8)

    def patched(at, value, size=1):
        return page[:at] + value.to_bytes(size, "little") + page[at + size:]

    vector = 7 + 4
    for name, body in (
        ("empty", b""), ("header_cut", page[:5]), ("mode", patched(0, 7)), ("integer_encoding", patched(1, 9)), ("vector_size_0", patched(2, 0)),
        ("vector_size_200", patched(2, 200)), ("count_huge", patched(3, MAX, 4)), ("count_negative", patched(3, 2**32 - 1, 4)),
        ("offset_beyond", patched(7, 4000, 4)), ("offset_inside_offsets", patched(7, 0, 4)), ("exponent", patched(vector, 19)),
        ("factor_above_exponent", patched(vector + 1, 9)), ("exceptions_more_than_values", patched(vector + 2, 9, 2)),
        ("exceptions_huge", patched(vector + 2, 65535, 2)), ("width", patched(vector + 12, 65)),
        ("exception_position", page[:-10] + struct.pack("<H", 8) + page[-8:]), ("cut", page[:-1]),
    ):
        add(f"alp_{name}", "ALP is malformed", one(node, page_v1(x, [0] * 8, body, encoding=enc.ALP), 8))


def compression():
    node = leaf("x", INT64)
    x = only_leaf(node)
    good = page_v1(x, [0] * 100, enc.plain(INT64, range(100)))
    for codec, name in enumerate(("none", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4_raw")):
        packed = replace(good, body=page_codecs.compress(codec, good.body))
        if codec:
            add(f"{name}_cut", "the compressed body ends early", one(node, replace(packed, body=packed.body[:-4]), 100, codec))
            add(f"{name}_garbage", "the compressed body is garbage", one(node, replace(packed, body=b"\xa5" * 64), 100, codec))
            add(f"{name}_empty", "the compressed body is empty", one(node, replace(packed, body=b""), 100, codec))
        for how, size in (("larger", 900), ("smaller", 700), ("negative", -1), ("huge", MAX)):
            file = one(node, replace(packed, plain_bytes=size), 100, codec)
            if codec:
                add(f"{name}_plain_size_{how}", "the page does not have the promised size", file)
            else:
                tolerate(f"none_plain_size_{how}", file, [(required("x", pa.int64()), range(100))])
    for codec, name in ((2, "gzip"), (4, "brotli"), (6, "zstd")):
        bomb = page_codecs.compress(codec, bytes(16 << 20))
        add(f"{name}_bomb", "16 MiB of zeros where 800 bytes are promised", one(node, replace(good, body=bomb), 100, codec))
    add("snappy_claims_2g", "a snappy header that promises 2 GiB", one(node, replace(good, body=varint(MAX) + b"\x00a"), 100, 1))
    for name, body in (
        ("hadoop_size_huge", b"\xff\xff\xff\xff" * 2 + bytes(20)), ("hadoop_part_beyond", struct.pack(">II", 800, 5000) + bytes(30)),
        ("hadoop_part_of_zero", struct.pack(">II", 800, 0) * 20), ("hadoop_block_of_zero", struct.pack(">I", 0) * 50),
    ):
        for codec, kind in ((3, "lzo"), (5, "lz4")):
            add(f"{kind}_{name}", "the Hadoop framing is malformed", one(node, replace(good, body=body), 100, codec))
    add("codec_unknown", "a codec that nobody knows", one(node, good, 100, 77))


def pages():
    node = leaf("x", INT32)
    x = only_leaf(node)
    good = page_v1(x, [0] * 8, enc.plain(INT32, range(8)))
    add("checksum_wrong", "the checksum of a page is wrong", one(node, good.checked(wrong=True), 8))
    add("external_file", "a column chunk lies in another file", one(node, good, 8, file_path="elsewhere.parquet"))
    for name, where in (("negative", -10), ("beyond", 10**12), ("in_footer", 200), ("max", 2**63 - 1), ("min", -(2**63))):
        add(f"page_offset_{name}", "the column chunk is not in the file", one(node, good, 8, data_page_offset=where))
    for name, size in (("short", 10), ("zero", 0)):
        # Old writers forgot a header in the size of a chunk, so readers look on behind it.
        file = one(node, good, 8, total_compressed_size=size)
        tolerate(f"chunk_size_{name}", file, [(required("x", pa.int32()), range(8))])
    for name, size in (("negative", -10), ("beyond", 10**12), ("max", 2**63 - 1)):
        add(f"chunk_size_{name}", "the column chunk has another size", one(node, good, 8, total_compressed_size=size))
    for name, kind, header in (
        ("header_absent", 0, []), ("v2_header_absent", 3, []), ("dictionary_header_absent", 2, []), ("v1_header_for_v2", 3, good.header),
    ):
        add(f"page_{name}", "a page header lacks its part", one(node, Page(kind, header, good.body, len(good.body), 8), 8))
    body = page_v1(x, [0] * 8, b"").header
    raw = thrift((1, "i32", 0), (2, "i32", 32), (3, "i32", -32), *body)
    add("page_size_negative", "a page of negative size", one(node, raw_page(raw, good.body, 8), 8))
    raw = thrift((1, "i32", 0), (2, "i32", 32), (3, "i32", MAX), *body)
    add("page_size_huge", "a page larger than its chunk", one(node, raw_page(raw, good.body, 8), 8))
    add("page_header_garbage", "no page header at all", one(node, raw_page(b"\xff" * 30, b"", 8), 8))
    add("page_header_unending", "a page header with an endless field", one(node, raw_page(b"\x18" + b"\xff" * 4 + b"\x07" + bytes(40), b"", 8), 8))
    deep = b"\x1c" * 5000 + b"\x00" * 5000
    add("page_header_deep", "structs nested 5000 deep in a page header", one(node, raw_page(deep, b"", 8), 8))
    twice = [dictionary_page(INT32, [1]), good, dictionary_page(INT32, [2]), page_v1(x, [0] * 8, indices([1] * 8, 1), encoding=enc.RLE_DICTIONARY)]
    empty = Page(2, [(7, "struct", thrift((1, "i32", 0), (2, "i32", 0)))], b"", 0)
    add("third_dictionary_page", "dictionaries that nobody needs", one(node, [empty, empty, empty, good], 8))
    add("second_dictionary_page", "codes beyond a second dictionary", one(node, twice, 16))


class raw_page:
    """Bytes in place of a page."""

    kind = 0

    def __init__(self, header, body, num_values):
        self.header, self.body, self.num_values, self.plain_bytes = header, body, num_values, len(body)

    def bytes(self):
        return self.header + self.body


def schemas():
    node = leaf("x", INT32)
    page = page_v1(only_leaf(node), [0] * 8, enc.plain(INT32, range(8)))
    ok = [(8, [Chunk([page])])]
    elements = lambda *nodes, root=1: [e for n in (Node("schema", None, num_children=root), *nodes) for e in n.elements()]  # noqa: E731

    def shaped(*nodes, root=1):
        return build([node], ok, schema=elements(*nodes, root=root))

    add("schema_empty", "no schema elements at all", build([node], ok, schema=[]))
    add("schema_root_without_name", "a root without a name or children", build([node], ok, schema=[b"\x00"]))
    add("schema_children_missing", "the root promises more children than there are", shaped(node, root=2))
    add("schema_children_huge", "a group promises 2^31 children", shaped(Node("g", REQUIRED, num_children=MAX), node, root=1))
    add("schema_children_negative", "a negative number of children", shaped(Node("g", REQUIRED, num_children=-3), node, root=2))
    add("schema_element_left_over", "an element that no group holds", shaped(node, leaf("y", INT32)))
    add("schema_type_unknown", "a physical type that nobody knows", shaped(leaf("x", 12)))
    add("schema_repetition_unknown", "a repetition that nobody knows", shaped(leaf("x", INT32, 7)))
    add("schema_leaf_of_repetition_minus_one", "no repetition, which the root alone may say", shaped(leaf("x", INT32, -1)))
    chain = [Node("g", OPTIONAL, num_children=1)] * 5_000 + [node]
    add("schema_deep", "a chain of 5000 groups", shaped(*chain))
    chain = [Node("l", REPEATED, num_children=1)] * 300 + [node]
    add("schema_300_repeated", "levels beyond 255", shaped(*chain))


def footers():
    node = leaf("x", INT32)
    page = page_v1(only_leaf(node), [0] * 8, enc.plain(INT32, range(8)))
    good = one(node, page, 8)
    add("file_empty", "no bytes", b"")
    add("file_of_magic_only", "nothing but the magic", b"PAR1")
    add("file_of_two_magics", "no room for a length", b"PAR1PAR1")
    add("file_magic_wrong", "another magic at the end", good[:-4] + b"PARX")
    add("file_encrypted_footer", "an encrypted footer, no key", good[:-4] + b"PARE")
    add("footer_length_huge", "a footer of 4 GiB", good[:-8] + b"\xff\xff\xff\xffPAR1")
    add("footer_length_0", "a footer of no bytes", good[:-8] + b"\x00\x00\x00\x00PAR1")
    add("footer_length_beyond", "a footer larger than the file", good[:-8] + struct.pack("<I", len(good)) + b"PAR1")

    def footer(raw):
        return b"PAR1" + raw + struct.pack("<I", len(raw)) + b"PAR1"

    schema = (2, "list", ("struct", [thrift((4, "bytes", "schema"), (5, "i32", 0))]))
    for name, raw in (
        ("list_of_2g", b"\x15\x02\x19\xfc\xff\xff\xff\xff\x07"), ("list_of_zero_size_elements", b"\x15\x02\x19\xf1\xff\xff\xff\xff\x07"),
        ("string_of_2g", b"\x15\x02\x19\x1c\x48\xff\xff\xff\xff\x07"), ("structs_10000_deep", b"\x1c" * 10000 + b"\x00" * 10000),
        ("lists_10000_deep", b"\x19\x19" * 10000), ("maps_of_2g", b"\x1b\xff\xff\xff\xff\x07\x55"),
        ("row_groups_2g", thrift((1, "i32", 1), schema)[:-1] + b"\x16\x00\x19\xfc\xff\xff\xff\xff\x07"),
        ("no_schema", thrift((1, "i32", 1), (3, "i64", 0))), ("type_unknown", b"\x1e\x00"), ("zeros", bytes(100)), ("ones", b"\xff" * 100),
    ):
        add(f"footer_{name}", "the footer is malformed", footer(raw))


def offset_indexes():
    """Read only when asked for: the file itself is fine."""
    node = leaf("x", INT32)
    page = page_v1(only_leaf(node), [0] * 8, enc.plain(INT32, range(8)))
    location = lambda offset, size, row: thrift((1, "i64", offset), (2, "i32", size), (3, "i64", row))  # noqa: E731
    for name, raw in (
        ("list_of_2g", b"\x19\xfc\xff\xff\xff\xff\x07"),
        ("rows_descending", thrift((1, "list", ("struct", [location(4, 30, 5), location(34, 30, 0)])))),
        ("page_beyond_file", thrift((1, "list", ("struct", [location(10**12, 30, 0)])))),
        ("size_negative", thrift((1, "list", ("struct", [location(4, -30, 0)])))),
        ("row_negative", thrift((1, "list", ("struct", [location(4, 30, -1)])))),
    ):
        INDEXES[f"offset_index_{name}"] = one(node, page, 8, offset_index=raw)


def annotations():
    """Values that the annotation of their column does not allow, or that Arrow has no room for."""
    for bits, converted, number in ((8, 15, 128), (16, 16, -32769), (8, 11, 256), (16, 12, -1)):
        node = leaf("x", INT32, converted=converted)
        page = page_v1(only_leaf(node), [0, 0], enc.plain(INT32, [1, number]))
        sign = "unsigned_" if converted < 13 else ""
        add(f"{sign}integer_beyond_{bits}_bits", f"{number} in a column of integers of {bits} bits", one(node, page, 2))
    node = leaf("x", INT32, OPTIONAL, logical=logical(11))
    page = page_v1(only_leaf(node), [1, 0], enc.plain(INT32, [7]))
    add("value_where_all_are_null", "a value in a column of nulls alone", one(node, page, 2))
    node = leaf("x", FIXED_LEN_BYTE_ARRAY, type_length=12, converted=21)
    page = page_v1(only_leaf(node), [0], struct.pack("<III", 0, 2**31, 0))
    add("interval_beyond_arrow", "nothing: 2^31 days, which Arrow's signed days do not hold", one(node, page, 1))
    entries = group("key_value", REPEATED, leaf("key", INT32, OPTIONAL), leaf("value", INT32))
    node = group("m", REQUIRED, entries, converted=1)
    key, value = node.leaves()
    pages = [page_v1(key, [2, 1], enc.plain(INT32, [7]), [0, 1]), page_v1(value, [1, 1], enc.plain(INT32, [1, 2]), [0, 1])]
    add("null_key_of_a_map", "a key of a map is null", build([node], [(1, [Chunk([page]) for page in pages])]))


def all_cases():
    for make in (levels, counts, dictionaries, delta, values, annotations, alp, compression, pages, schemas, footers, offset_indexes):
        make()

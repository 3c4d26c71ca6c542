"""Files that pyarrow writes: every type x encoding x codec x page version x nulls x nesting, in tiny pages."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

import data
import canonical

SOURCE = f"pyarrow {pa.__version__}"
FLOATS = [pa.float16(), pa.float32(), pa.float64()]
INTS = list(data.INTEGER_TYPES.values())
STRINGS = [pa.string(), pa.binary(), pa.large_string(), pa.large_binary(), pa.string_view(), pa.binary_view()]
TIMES = [
    pa.date32(), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.timestamp("ms"), pa.timestamp("us", "UTC"),
    pa.timestamp("ns"), pa.timestamp("us", "Europe/Berlin"), pa.duration("ms"), pa.duration("ns"),
]
DECIMALS = [pa.decimal128(5, 2), pa.decimal128(18, 4), pa.decimal128(38, 10), pa.decimal256(60, 5), pa.decimal32(5, 2), pa.decimal64(18, 4)]
FIXED = [pa.binary(1), pa.binary(5), pa.binary(16)]
ENCODINGS = {
    "PLAIN": [pa.bool_(), *INTS, *FLOATS, *STRINGS, *TIMES, *DECIMALS, *FIXED],
    "DICTIONARY": [*INTS, *FLOATS, *STRINGS, *TIMES, *DECIMALS, *FIXED],
    "DELTA_BINARY_PACKED": [*INTS, *TIMES],
    "DELTA_LENGTH_BYTE_ARRAY": STRINGS,
    "DELTA_BYTE_ARRAY": [*STRINGS, *FIXED, pa.decimal128(38, 10)],
    "BYTE_STREAM_SPLIT": [*FLOATS, pa.int32(), pa.int64(), pa.timestamp("us", "UTC"), *FIXED, *DECIMALS[:4]],
    "RLE": [pa.bool_()],
}
CODECS = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]


def unhinted(t):
    """The Arrow type of a file that carries no Arrow schema."""
    if pa.types.is_large_string(t) or pa.types.is_string_view(t):
        return pa.string()
    if pa.types.is_large_binary(t) or pa.types.is_binary_view(t):
        return pa.binary()
    if pa.types.is_timestamp(t) and t.tz:
        return pa.timestamp(t.unit, "UTC")
    if pa.types.is_duration(t):
        return pa.int64()
    if pa.types.is_dictionary(t):
        return unhinted(t.value_type)
    if pa.types.is_decimal(t):
        return pa.decimal128(t.precision, t.scale) if t.precision <= 38 else pa.decimal256(t.precision, t.scale)
    return t


def reshaped(array, t):
    """The same values as another type that the file gives without its hint."""
    if pa.types.is_duration(array.type) and pa.types.is_int64(t):
        return pa.chunked_array([chunk.view(t) for chunk in array.chunks], t)
    return array if array.type == t else array.cast(t)


def write(out, name, arrays, hint=True, expected=None, **options):
    """`arrays` maps names to (array, nullable); `expected` overrides what the file holds."""
    schema = pa.schema([pa.field(n, a.type, nullable=nullable) for n, (a, nullable) in arrays.items()])
    table = pa.Table.from_arrays([a for a, _ in arrays.values()], schema=schema)
    options = {"data_page_size": 200, "write_batch_size": 16, "dictionary_pagesize_limit": 1 << 20, **options}
    path = out / f"{name}.parquet"
    pq.write_table(table, path, store_schema=hint, **options)
    columns = expected or [
        (field.with_type(t), reshaped(column, t))
        for field, column in zip(table.schema, table.columns)
        for t in [field.type if hint else unhinted(field.type)]
    ]
    path.with_suffix(".json").write_text(canonical.expectation(columns, table.num_rows, source=SOURCE))


def matrix(out):
    step = 0
    for encoding, types in ENCODINGS.items():
        for version, densities in (("1.0", ("required", "some")), ("2.0", ("runs", "none"))):
            arrays, shape = {}, "few" if encoding == "DICTIONARY" else "random"
            if encoding == "DELTA_BYTE_ARRAY":
                shape = "sorted"
            for i, t in enumerate(types):
                for density in (*densities, "all") if i % 5 == 0 else densities:
                    column = data.array(t, encoding, "none" if density == "required" else density, shape)
                    arrays[f"{canonical.type_text(t)} {density}"] = (column, density != "required")
            dictionary = encoding == "DICTIONARY"
            write(
                out, f"{encoding.lower()}_v{version[0]}", arrays, hint=version == "1.0",
                use_dictionary=dictionary, column_encoding=None if dictionary else dict.fromkeys(arrays, encoding),
                data_page_version=version, compression=CODECS[step % len(CODECS)], write_page_checksum=step % 3 == 0,
                write_page_index=step % 2 == 0, store_decimal_as_integer=encoding in ("PLAIN", "DICTIONARY") and version == "2.0",
                write_statistics=step % 4 == 0,
            )
            step += 1


def codecs(out):
    arrays = {
        "i": (data.array(pa.int64(), "codec", "some", "few"), True), "s": (data.array(pa.string(), "codec", "runs"), True),
        "b": (data.array(pa.bool_(), "codec"), False), "f": (data.array(pa.float64(), "codec", "none", "few"), False),
    }
    for codec in CODECS:
        for version in ("1.0", "2.0"):
            write(out, f"codec_{codec}_v{version[0]}", arrays, compression=codec, data_page_version=version, row_group_size=50)


def nested(out):
    arrays = {name: (array, name != "list_required") for name, array in data.nested_columns().items()}
    for name, options in (
        ("nested_plain_v1", {"use_dictionary": False, "compression": "none"}),
        ("nested_dictionary_v1", {"compression": "snappy", "row_group_size": 31, "write_page_checksum": True}),
        ("nested_plain_v2", {"use_dictionary": False, "data_page_version": "2.0", "compression": "zstd"}),
        ("nested_dictionary_v2", {"data_page_version": "2.0", "compression": "lz4", "data_page_size": 50}),
    ):
        write(out, name, arrays, **options)


def hinted(out):
    """Types that only the Arrow schema in the file restores."""
    source = data.array(pa.string(), "hinted", "some", "few")
    numbers = pa.array([None if i % 9 == 4 else [i, None, i * i][: i % 4] for i in range(data.ROWS)], pa.list_(pa.int32()))
    triples = pa.array([None if i % 7 == 3 else [i, i + 1, None] for i in range(data.ROWS)], pa.list_(pa.int32(), 3))
    uuid = pa.ExtensionArray.from_storage(pa.uuid(), data.array(pa.binary(16), "uuid", "some"))
    json = pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", None, "[1,2]"] * (data.ROWS // 3), pa.string()))
    arrays = {
        "dictionary": source.dictionary_encode(), "null": pa.nulls(data.ROWS), "uuid": uuid, "json": json,
        "large_list": numbers.cast(pa.large_list(pa.int32())), "list_view": pa.array(numbers.to_pylist(), pa.list_view(pa.int32())),
        "fixed_size_list": triples, "struct": pa.StructArray.from_arrays(
            [source.cast(pa.large_string()), source.dictionary_encode()], ["large", "dictionary"]),
    }
    write(out, "hinted", {name: (array, True) for name, array in arrays.items()})
    plain = {
        "dictionary": source, "null": arrays["null"], "uuid": uuid, "json": json, "large_list": numbers, "list_view": numbers,
        "fixed_size_list": pa.array(triples.to_pylist(), pa.list_(pa.int32())),
        "struct": pa.StructArray.from_arrays([source, source], ["large", "dictionary"]),
    }
    write(out, "without_hint", {name: (array, True) for name, array in arrays.items()}, hint=False,
          expected=[(pa.field(name, array.type), array) for name, array in plain.items()])
    seconds = {
        "time32_s": (data.array(pa.time32("s"), "s"), pa.time32("ms")), "timestamp_s": (data.array(pa.timestamp("s"), "s"), pa.timestamp("ms")),
    }
    write(out, "seconds_without_hint", {name: (array, True) for name, (array, _) in seconds.items()}, hint=False,
          expected=[(pa.field(name, t), array.cast(t)) for name, (array, t) in seconds.items()])


def ordered(out):
    """Dictionaries whose order means something, with a value that no row has, in two row groups."""
    sizes = pa.array(["small", "medium", "large", "huge"])
    keys = pa.array([2, 0, None, 2, 1, 0], pa.int8())
    column = pa.DictionaryArray.from_arrays(keys, sizes, ordered=True)
    nothing = pa.DictionaryArray.from_arrays(pa.array([None] * 6, pa.int8()), sizes, ordered=True)
    # pyarrow promises an order of numbers too, and does not keep it.
    numbers = pa.DictionaryArray.from_arrays(keys, pa.array([40, 10, 30, 20]), ordered=True)
    arrays = {"size": (column, True), "nothing": (nothing, True), "number": (numbers, True)}
    write(out, "ordered_dictionary", arrays, row_group_size=3)


def odd(out):
    numbers = {"x": (data.array(pa.int32(), "odd", "some"), True), "s": (data.array(pa.string(), "odd"), False)}
    write(out, "no_rows", {name: (array.slice(0, 0), nullable) for name, (array, nullable) in numbers.items()})
    write(out, "one_row", {name: (array.slice(0, 1), nullable) for name, (array, nullable) in numbers.items()})
    write(out, "row_groups_of_7", numbers, row_group_size=7, write_page_index=True)
    stamps = data.array(pa.timestamp("us"), "int96", "some", "sorted")
    write(out, "int96", {"t": (stamps, True)}, hint=False, use_deprecated_int96_timestamps=True,
          expected=[(pa.field("t", pa.timestamp("ns")), stamps.cast(pa.timestamp("ns")))])
    words = pa.array([f"word {i:06}" for i in range(600)])
    # The dictionary outgrows its limit and the column falls back.
    write(out, "dictionary_outgrown", {"s": (words, True), "i": (pa.array(range(600)), False)},
          dictionary_pagesize_limit=1000, compression="snappy")


def bloom_filters(out):
    """One of each type of value that filters are asked for."""
    rows = range(-3, 4)
    columns = {
        "small": pa.array(rows, pa.int8()),
        "whole": pa.array([i * 10**12 for i in rows], pa.int64()),
        "natural": pa.array([2**32 - 8 + i for i in rows], pa.uint32()),
        "float": pa.array([i / 4 for i in rows], pa.float32()),
        "double": pa.array([i / 4 for i in rows], pa.float64()),
        "text": pa.array([f"t{i}" for i in rows]),
        "date": pa.array(rows, pa.date32()),
        "time": pa.array([i * 86_400_000_001 for i in rows], pa.timestamp("us", "UTC")),
        "decimal": pa.array([Decimal(i).scaleb(-2) for i in rows], pa.decimal128(9, 2)),
        "uuid": pa.array([bytes([i + 3] * 16) for i in rows], pa.uuid()),
    }
    arrays = {name: (array, True) for name, array in columns.items()}
    options = {name: {"ndv": 100, "fpp": 0.001} for name in columns}
    write(out, "bloom_filters", arrays, bloom_filter_options=options)


def example(out):
    """A little table to try the command on."""
    names = ["amber", "basil", "cedar", "dill", "elder", "fennel", "garlic", "hazel", "iris", "juniper"]
    noon = 1_767_268_800_000_000
    rows = range(24)
    columns = [
        ("id", pa.int64(), rows), ("name", pa.string(), [names[i % 10] for i in rows]),
        ("price", pa.decimal128(9, 2), [Decimal(137 * i % 1000).scaleb(-2) for i in rows]),
        ("weight", pa.float64(), [None if i % 7 == 3 else i / 8 for i in rows]),
        ("organic", pa.bool_(), [i % 3 == 0 for i in rows]),
        ("harvested", pa.timestamp("us", "UTC"), [noon + i * 31 * 3_600_000_000 for i in rows]),
        ("tags", pa.list_(pa.string()), [None if i % 5 == 0 else ["herb", "fresh"][: i % 3] for i in rows]),
        ("origin", pa.struct([("country", pa.string()), ("altitude", pa.int32())]),
         [{"country": "NO", "altitude": None if i % 4 == 0 else 40 * i} for i in rows]),
    ]
    arrays = {name: (pa.array(values, t), True) for name, t, values in columns}
    write(out.parent, "example", arrays, hint=False, compression="zstd", row_group_size=16, write_page_checksum=True,
          write_page_index=True)


def lists_with_indexes(out):
    """Lists, numbers and text in stretches, many pages with indexes: filters skip some of them."""
    rows, step = range(700), 7919
    values = [[None if (i * step + k) % 5 == 0 else i // 70 * 10 + (i * step + k * 31) % 10 for k in range(i % 4)] for i in rows]
    arrays = {
        "row": (pa.array(rows, pa.int64()), False),
        "list": (pa.array([None if i % 11 == 3 else values[i] for i in rows], pa.list_(pa.int64())), True),
        "number": (pa.array([None if i % 6 == 1 else i // 70 * 10 + i * step % 10 for i in rows], pa.int64()), True),
        "text": (pa.array([f"text of more than 16 bytes {i // 70 * 10 + i * step % 10:03}" for i in rows]), True),
    }
    for version in ("1.0", "2.0"):
        write(out, f"lists_with_indexes_v{version[0]}", arrays, row_group_size=400, write_page_index=True,
              data_page_version=version, use_dictionary=version == "1.0", compression="snappy")


def write_all(out):
    for make in (example, matrix, codecs, nested, hinted, ordered, odd, bloom_filters, lists_with_indexes):
        make(out)

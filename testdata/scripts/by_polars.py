"""Files that polars writes."""

import polars
import pyarrow as pa

import data
import canonical

SOURCE = f"polars {polars.__version__}"
TYPES = {
    "bool": (pa.bool_(), polars.Boolean), "int8": (pa.int8(), polars.Int8), "int16": (pa.int16(), polars.Int16),
    "int32": (pa.int32(), polars.Int32), "int64": (pa.int64(), polars.Int64), "uint8": (pa.uint8(), polars.UInt8),
    "uint16": (pa.uint16(), polars.UInt16), "uint32": (pa.uint32(), polars.UInt32), "uint64": (pa.uint64(), polars.UInt64),
    "float32": (pa.float32(), polars.Float32), "float64": (pa.float64(), polars.Float64),
    "string": (pa.large_string(), polars.String), "binary": (pa.large_binary(), polars.Binary), "date": (pa.date32(), polars.Date),
    "time": (pa.time64("ns"), polars.Time), "datetime_ms": (pa.timestamp("ms"), polars.Datetime("ms")),
    "datetime_us_utc": (pa.timestamp("us", "UTC"), polars.Datetime("us", "UTC")),
    "datetime_ns": (pa.timestamp("ns"), polars.Datetime("ns")), "duration": (pa.duration("us"), polars.Duration("us")),
    "decimal": (pa.decimal128(20, 3), polars.Decimal(20, 3)),
}


def write(out, name, frame, columns, **options):
    path = out / f"{name}.parquet"
    frame.write_parquet(path, **options)
    path.with_suffix(".json").write_text(canonical.expectation(columns, frame.height, source=SOURCE))


def matrix(out):
    codecs = ["uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli"]
    for step, (density, shape) in enumerate(
        [("none", "random"), ("some", "few"), ("runs", "sorted"), ("some", "random"), ("runs", "few"), ("all", "random")]
    ):
        arrays = {name: data.array(t, "polars", density, shape) for name, (t, _) in TYPES.items()}
        frame = polars.from_arrow(pa.table(arrays))
        assert frame.schema == {name: kind for name, (_, kind) in TYPES.items()}, frame.schema
        columns = [(pa.field(name, array.type), array) for name, array in arrays.items()]
        write(out, f"{density}_{shape}", frame, columns, compression=codecs[step], row_group_size=50 + 35 * (step % 2),
              data_page_size=300, statistics=step % 2 == 0)


def nested(out):
    """The Arrow schema that polars writes says 64-bit offsets for strings and lists; maps are a type of their own."""
    columns = {name: array for name, array in data.nested_columns(13).items() if "map" not in name and name != "deep"}
    frame = polars.from_arrow(pa.table(columns))
    fields = [(pa.field(name, as_polars(array.type)), array) for name, array in columns.items()]
    for codec, page in (("zstd", 200), ("uncompressed", 1 << 20)):
        write(out, f"nested_{codec}", frame, fields, compression=codec, data_page_size=page, row_group_size=70)


def as_polars(t):
    if pa.types.is_list(t):
        return pa.large_list(as_polars(t.value_type))
    if pa.types.is_struct(t):
        return pa.struct([(f.name, as_polars(f.type)) for f in (t.field(i) for i in range(t.num_fields))])
    return pa.large_string() if pa.types.is_string(t) else t


def write_all(out):
    matrix(out)
    nested(out)

"""Files that duckdb writes."""

import duckdb
import pyarrow as pa

import data
import canonical

SOURCE = f"duckdb {duckdb.__version__}"
# duckdb's type, the type of the data, the Arrow type of the file.
TYPES = [
    ("BOOLEAN", pa.bool_(), pa.bool_()), ("TINYINT", pa.int8(), pa.int8()), ("SMALLINT", pa.int16(), pa.int16()),
    ("INTEGER", pa.int32(), pa.int32()), ("BIGINT", pa.int64(), pa.int64()), ("UTINYINT", pa.uint8(), pa.uint8()),
    ("USMALLINT", pa.uint16(), pa.uint16()), ("UINTEGER", pa.uint32(), pa.uint32()), ("UBIGINT", pa.uint64(), pa.uint64()),
    ("FLOAT", pa.float32(), pa.float32()), ("DOUBLE", pa.float64(), pa.float64()),
    ("DECIMAL(4,1)", pa.decimal128(4, 1), pa.decimal128(4, 1)), ("DECIMAL(9,3)", pa.decimal128(9, 3), pa.decimal128(9, 3)),
    ("DECIMAL(18,3)", pa.decimal128(18, 3), pa.decimal128(18, 3)), ("DECIMAL(38,10)", pa.decimal128(38, 10), pa.decimal128(38, 10)),
    ("VARCHAR", pa.string(), pa.string()), ("BLOB", pa.binary(), pa.binary()), ("DATE", pa.date32(), pa.date32()),
    ("TIME", pa.time64("us"), pa.time64("us")), ("TIMESTAMP", pa.timestamp("us"), pa.timestamp("us")),
    ("TIMESTAMP_MS", pa.timestamp("ms"), pa.timestamp("ms")), ("TIMESTAMP_NS", pa.timestamp("ns"), pa.timestamp("ns")),
    ("TIMESTAMPTZ", pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC")),
]


def copy(connection, out, name, columns, select, options):
    path = out / f"{name}.parquet"
    connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet{''.join(', ' + o for o in options)})")
    rows = len(columns[0][1])
    path.with_suffix(".json").write_text(canonical.expectation(columns, rows, source=SOURCE))


def matrix(connection, out):
    codecs = ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4", "lz4_raw"]
    step = 0
    for version in ("V1", "V2"):
        for density in ("none", "some", "runs"):
            shape = ("random", "few", "sorted")[step % 3]
            arrays = [data.array(t, "duckdb", density, shape) for _, t, _ in TYPES]
            names = [kind for kind, _, _ in TYPES]
            source = pa.table(arrays, names=names)
            connection.register("source", source)
            select = "SELECT " + ", ".join(f'"{n}"::{n} AS "{n}"' for n in names) + " FROM source"
            columns = [(pa.field(n, t), a) for n, a, (_, _, t) in zip(names, arrays, TYPES)]
            options = [f"PARQUET_VERSION {version}", f"COMPRESSION {codecs[step]}"]
            copy(connection, out, f"{version.lower()}_{density}_{shape}", columns, select, options)
            step += 1


def special(connection, out):
    """Types whose data has no Arrow form that duckdb takes: written as SQL."""
    uuids = ["00112233-4455-6677-8899-aabbccddeeff", None, "ffffffff-ffff-ffff-ffff-ffffffffffff"]
    intervals = [(14, 3, 5_250_000), None, (0, 0, 0)]
    moods = ["sad", None, "ok"]
    rows = []
    for uuid, interval, mood in zip(uuids, intervals, moods):
        uuid = f"'{uuid}'::UUID" if uuid else "NULL::UUID"
        interval = "NULL::INTERVAL" if interval is None else "(INTERVAL '{} months {} days {} milliseconds')".format(*interval[:2], interval[2] // 1000)
        mood = f"'{mood}'::mood" if mood else "NULL::mood"
        rows.append(f"({uuid}, {interval}, {mood})")
    connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')")
    select = f"SELECT * FROM (VALUES {', '.join(rows)}) AS t(u, i, e)"
    storage = pa.array([u and bytes.fromhex(u.replace("-", "")) for u in uuids], pa.binary(16))
    parts = [i and pa.MonthDayNano([i[0], i[1], i[2] * 1000]) for i in intervals]
    columns = [
        (pa.field("u", pa.uuid()), pa.ExtensionArray.from_storage(pa.uuid(), storage)),
        (pa.field("i", pa.month_day_nano_interval()), pa.array(parts, pa.month_day_nano_interval())),
        (pa.field("e", pa.string()), pa.array(moods)),
    ]
    copy(connection, out, "uuid_interval_enum", columns, select, [])


def nested(connection, out):
    columns = data.nested_columns(11)
    # duckdb gives the entries of a map their own null handling; lists and structs go in as they are.
    source = pa.table(list(columns.values()), names=list(columns))
    connection.register("nested", source)
    fields = [(pa.field(name, array.type), array) for name, array in columns.items()]
    fields = [(pa.field("list_required", pa.list_(pa.int32())), a) if f.name == "list_required" else (f, a) for f, a in fields]
    for version, codec in (("V1", "snappy"), ("V2", "zstd")):
        copy(connection, out, f"nested_{version.lower()}", fields, "SELECT * FROM nested",
             [f"PARQUET_VERSION {version}", f"COMPRESSION {codec}"])


def write_all(out):
    connection = duckdb.connect()
    connection.execute("SET threads = 1; SET preserve_insertion_order = true; SET TimeZone = 'UTC'")
    for make in (matrix, special, nested):
        make(connection, out)

"""Compares what other programs read from written files with what went in.

    python tests/interop_write.py [target/debug/herringbone]

pyarrow makes tables of every type, nesting and density of nulls. `herringbone rewrite` writes them with every codec,
encoding and page version; pyarrow, duckdb and polars have to read the values of the tables. Bounds, counts and bloom
filters are checked against the tables through pyarrow's metadata and duckdb's parquet_metadata and parquet_bloom_probe.
What a program cannot read is listed with the reason.
"""

import datetime as dt
import decimal
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
ROWS = 300
CODECS = ("none", "snappy", "gzip", "brotli", "zstd", "lz4_raw")
ENCODINGS = {
    "plain": ["--dictionary", "off"],
    "dictionary": [],
    "modern": ["--compatibility", "modern", "--dictionary", "off"],
    "modern, chosen": ["--compatibility", "modern"],
    "modern, small": ["--compatibility", "modern", "--prefer", "size"],
    "delta": ["--encoding", "delta_binary_packed", "--encoding", "delta_byte_array", "--encoding", "rle"],
    "length": ["--encoding", "delta_length_byte_array"],
    "split": ["--encoding", "byte_stream_split"],
}
UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1)


def moment(r):
    return EPOCH + dt.timedelta(milliseconds=r.randrange(-10**12, 4 * 10**12))


def clock(r):
    return (EPOCH + dt.timedelta(milliseconds=r.randrange(86_400_000))).time()


def number(digits, scale):
    def make(r):
        unscaled = r.randrange(-10**digits + 1, 10**digits)
        return decimal.Decimal(unscaled).scaleb(-scale, decimal.Context(prec=80))
    return make


def ints(bits, signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return lambda r: r.choice((low, high, 0, r.randint(low, high)))


def text(r):
    return r.choice(("", "日本🐟" * r.randrange(9), f"https://example.org/a/long/path/{r.randrange(99)}", "x" * 90))


def octets(r):
    return r.randbytes(r.randrange(20))


TYPES = {
    "bool": (pa.bool_(), lambda r: r.random() < 0.3),
    **{f"int{n}": (getattr(pa, f"int{n}")(), ints(n, True)) for n in (8, 16, 32, 64)},
    **{f"uint{n}": (getattr(pa, f"uint{n}")(), ints(n, False)) for n in (8, 16, 32, 64)},
    "half": (pa.float16(), lambda r: r.randrange(-1000, 1000) / 8),
    "float": (pa.float32(), lambda r: r.choice((0.0, -0.0, r.randrange(-10**6, 10**6) / 64))),
    "double": (pa.float64(), lambda r: r.choice((0.0, float("inf"), r.uniform(-1e300, 1e300)))),
    "string": (pa.string(), text),
    "large_string": (pa.large_string(), text),
    "binary": (pa.binary(), octets),
    "fixed": (pa.binary(5), lambda r: r.randbytes(5)),
    "date": (pa.date32(), lambda r: moment(r).date()),
    "time_ms": (pa.time32("ms"), clock),
    "time_us": (pa.time64("us"), clock),
    "time_ns": (pa.time64("ns"), clock),
    **{f"timestamp_{unit}": (pa.timestamp(unit), moment) for unit in ("ms", "us", "ns")},
    **{f"instant_{unit}": (pa.timestamp(unit, "UTC"), lambda r: moment(r).replace(tzinfo=UTC))
       for unit in ("ms", "us", "ns")},
    "decimal5": (pa.decimal128(5, 2), number(5, 2)),
    "decimal15": (pa.decimal128(15, 3), number(15, 3)),
    "decimal30": (pa.decimal128(30, 5), number(30, 5)),
    "decimal50": (pa.decimal256(50, 6), number(50, 6)),
}


def nested(name, t, value):
    """The column types over a type, and how to make a value of each, where `null` may give None for any part."""
    yield name, t, lambda r, null: value(r)
    yield f"{name}_list", pa.list_(t), lambda r, null: [null(r) or value(r) for _ in range(r.randrange(4))]
    yield f"{name}_struct", pa.struct([("x", t), ("y", pa.list_(t))]), lambda r, null: {
        "x": null(r) or value(r), "y": [value(r) for _ in range(r.randrange(3))]}
    yield f"{name}_map", pa.map_(pa.string(), t), lambda r, null: [
        (f"k{i}", null(r) or value(r)) for i in range(r.randrange(3))]
    yield f"{name}_lists", pa.list_(pa.list_(t)), lambda r, null: [
        [value(r) for _ in range(r.randrange(3))] for _ in range(r.randrange(3))]


class Null:
    """A null that is true, so that `null(r) or value(r)` may be one."""


NULL = Null()


def plain(value):
    if value is NULL:
        return None
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value)
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return value


def table(density, seed):
    """All types in all nestings; `density` is the share of nulls."""
    r = random.Random(seed)
    columns = {}

    def null(r):
        return NULL if r.random() < density else None

    for name, (t, value) in TYPES.items():
        for column, column_type, make in nested(name, t, value):
            values = [None if r.random() < density else plain(make(r, null)) for _ in range(ROWS)]
            columns[column] = pa.array(values, column_type)
    return pa.table(columns)


def kind(column):
    return column.split("_list")[0].split("_struct")[0].split("_map")[0]


# Decimals are FIXED_LEN_BYTE_ARRAY in files of pyarrow, whatever their precision, and stay so.
FIXED = ("fixed", "half", "decimal5", "decimal15", "decimal30", "decimal50")
DUCKDB_FAULTS = {
    "decimal50": "has decimals of 38 digits, and reads a double",
}
POLARS_FAULTS = {"decimal50": "has decimals of 38 digits"}


def skipped(reader, encoding, column):
    """Why a reader is not asked for a column; None where it is."""
    k = kind(column)
    if reader == "duckdb":
        if encoding == "split" and k in FIXED:
            return "BYTE_STREAM_SPLIT of FIXED_LEN_BYTE_ARRAY is not implemented"
        return DUCKDB_FAULTS.get(k)
    if reader == "polars":
        if encoding == "delta" and k in FIXED or encoding == "split" and k in FIXED and k != "half":
            return "encodings of FIXED_LEN_BYTE_ARRAY other than PLAIN are not implemented"
        return POLARS_FAULTS.get(k)
    return None


def read_pyarrow(path, columns):
    return pq.read_table(path, columns=columns)


def read_duckdb(path, columns):
    names = ", ".join(f'"{c}"' for c in columns)
    result = duckdb.sql(f"select {names} from read_parquet('{path}')").arrow()
    return result if isinstance(result, pa.Table) else result.read_all()


def read_polars(path, columns):
    return pl.read_parquet(path, columns=columns, glob=False).to_arrow()


READERS = {"pyarrow": read_pyarrow, "duckdb": read_duckdb, "polars": read_polars}


def values(column):
    """Values that compare across types: maps as dictionaries, times without a zone."""
    def same(value):
        if isinstance(value, dt.datetime):
            return value.replace(tzinfo=None) if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        if isinstance(value, list):
            if value and all(isinstance(v, tuple) for v in value):
                return {k: same(v) for k, v in value}
            if value and all(isinstance(v, dict) and set(v) == {"key", "value"} for v in value):
                return {v["key"]: same(v["value"]) for v in value}
            return [same(v) for v in value]
        if isinstance(value, dict):
            return {k: same(v) for k, v in value.items()}
        if hasattr(value, "to_pydatetime"):
            return same(value.to_pydatetime())
        return value
    return [same(v) for v in column.to_pylist()]


class Check:
    def __init__(self, command, folder):
        self.command, self.folder, self.faults, self.files, self.skips = command, folder, [], 0, {}

    def rewrite(self, source, name, options):
        target = self.folder / f"{name}.parquet"
        done = subprocess.run(
            [self.command, "rewrite", "-q", "--force", *options, source, target], capture_output=True, text=True)
        self.files += 1
        if done.returncode != 0:
            self.faults.append(f"{name}: exit {done.returncode}: {done.stderr.strip()}")
            return None
        return target

    def compare(self, path, name, encoding, wanted):
        """Each reader's columns against the normal values in `wanted`."""
        for reader, read in READERS.items():
            columns = []
            for column in wanted:
                reason = skipped(reader, encoding, column)
                if reason is None:
                    columns.append(column)
                else:
                    self.skips[f"{reader}, {encoding}, {kind(column)}: {reason}"] = True
            try:
                got = read(path, columns)
            except Exception as error:  # noqa: BLE001: whatever a reader throws is a fault
                self.faults.append(f"{name}: {reader}: {type(error).__name__}: {str(error)[:200]}")
                continue
            for column in columns:
                a, b = values(got[column]), wanted[column]
                if a != b:
                    row = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), len(a))
                    self.faults.append(f"{name}: {reader}: {column}, row {row}: {a[row:row + 1]}, not {b[row:row + 1]}")

    def statistics(self, path, name, source):
        """Bounds and null counts of flat columns, as pyarrow and duckdb see them."""
        metadata = pq.ParquetFile(path).metadata
        start = 0
        for group in range(metadata.num_row_groups):
            rows = metadata.row_group(group).num_rows
            part = source.slice(start, rows)
            start += rows
            for i in range(metadata.num_columns):
                chunk = metadata.row_group(group).column(i)
                column = chunk.path_in_schema
                if column not in TYPES:
                    continue
                if "modern" in name and column in ("float", "double", "half"):
                    continue  # pyarrow passes over bounds in the IEEE 754 total order
                self.chunk_statistics(f"{name}, row group {group}, {column}", chunk.statistics, part[column])
        told = duckdb.sql(
            f"select path_in_schema, sum(stats_null_count) from parquet_metadata('{path}') group by 1").fetchall()
        for column, nulls in told:
            if column in TYPES and nulls != source[column].null_count:
                self.faults.append(f"{name}: duckdb: {column} has {nulls} nulls, not {source[column].null_count}")

    def chunk_statistics(self, what, statistics, part):
        if statistics is None or statistics.null_count != part.null_count:
            self.faults.append(f"{what}: {statistics and statistics.null_count} nulls, not {part.null_count}")
            return
        if part.null_count == len(part):
            if statistics.has_min_max:
                self.faults.append(f"{what}: bounds of nothing")
            return
        if pa.types.is_float16(part.type) or not statistics.has_min_max:
            if not (pa.types.is_float16(part.type) or pa.types.is_decimal256(part.type)):
                self.faults.append(f"{what}: no bounds")
            return
        known = values(part.drop_null())
        least, greatest = min(known), max(known)
        low, high = (values(pa.array([bound], part.type)) for bound in (statistics.min, statistics.max))
        exact = not (pa.types.is_string(part.type) or pa.types.is_large_string(part.type))
        ok = low[0] <= least and high[0] >= greatest
        if exact:
            ok = ok and low[0] == least and high[0] == greatest
        if not ok:
            self.faults.append(f"{what}: bounds {low} {high}, not {least!r} {greatest!r}")

    def bloom_filters(self, path, name, source):
        """No value that is there may be excluded, and most of what is not has to be."""
        for column, absent in (("int32", range(1000, 1060)), ("int64", range(1000, 1060)), ("string", map(str, range(60)))):
            def excluded(value):
                quoted = f"'{value}'" if isinstance(value, str) else str(value)
                probe = f"select bool_and(bloom_filter_excludes) from parquet_bloom_probe('{path}', '{column}', {quoted})"
                return duckdb.sql(probe).fetchall()[0][0]
            present = set(source[column].drop_null().to_pylist())
            for value in list(present)[:20]:
                if excluded(value):
                    self.faults.append(f"{name}: duckdb: the bloom filter excludes {column} {value!r}")
            some = [value for value in absent if value not in present]
            share = sum(not excluded(value) for value in some) / len(some)
            if share > 0.1:
                self.faults.append(f"{name}: duckdb: the bloom filter of {column} knows {share:.0%} of absent values")


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "debug" / "herringbone")
    with tempfile.TemporaryDirectory() as folder:
        check = Check(command, Path(folder))
        for seed, density in enumerate((0.0, 0.15, 1.0)):
            made = table(density, seed)
            source = Path(folder) / f"source{seed}.parquet"
            pq.write_table(made, source)
            wanted = {column: values(made[column]) for column in made.schema.names}
            for i, (encoding, options) in enumerate(ENCODINGS.items()):
                for version in (1, 2):
                    # Every encoding in every version comes with three codecs, every codec with all encodings.
                    for codec in CODECS[(2 * seed + i + version) % 6::6]:
                        name = f"{encoding}_v{version}_{codec}_nulls{density}"
                        sizes = ["--page-version", str(version), "--page-rows", "40", "--row-group-rows", "130"]
                        path = check.rewrite(source, name, [*options, *sizes, "--compression", codec])
                        if path:
                            check.compare(path, name, encoding, wanted)
                            check.statistics(path, name, made)
                            path.unlink()
            name = f"bloom_nulls{density}"
            # duckdb takes the ordinal of a column for that of a leaf: there must be no nested columns before it.
            some = "int32,int64,string"
            path = check.rewrite(source, name, ["--columns", some, "--bloom-filter", some])
            if path and density < 1:
                check.bloom_filters(path, name, made)
    for skip in sorted(check.skips):
        print(f"skipped: {skip}")
    for fault in check.faults[:60]:
        print(fault)
    print(f"{check.files} files, {len(check.faults)} faults")
    sys.exit(1 if check.faults else 0)


if __name__ == "__main__":
    main()

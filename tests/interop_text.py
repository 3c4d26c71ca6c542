"""Text that the command reads and writes: parquet → csv, jsonl, ipc → parquet, and what duckdb and polars read.

    python tests/interop_text.py [target/debug/herringbone [ROUNDS]]

Random tables of all types, with extreme values and text that looks like numbers and dates, are exported and imported. With the
schema the values are equal; with inference a second export is the same text. What is refused is refused with a line and a
column. Random CSV and JSON lines, in which a value stands that some reader changes, are compared with duckdb and polars where
these keep everything, and with the text itself.
"""

import csv
import datetime as dt
import decimal
import io
import json
import math
import random
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]

LOOKS = [
    "", "0", "1", "-1", "007", "+5", "1.10", ".5", "5.", "1e5", "1e500", "-0", "0.1234567890123456789", "9223372036854775808",
    "18446744073709551616", "true", "FALSE", "NaN", "Infinity", "inf", "null", "NULL", "NA", "2024-01-02", "2024-02-30",
    "1234-56-78", "2024-01-02T03:04:05", "2024-01-02 03:04:05.5Z", "2024-01-02T24:00:00", "2024-01-02T03:04:05+05:00", "12:34:56",
    "PT1S", " 1", "1 ", "a,b", 'say "hi"', "two\nlines", "cr\r", "\r\n", "tab\t", "é€🐟", "\u2028", "\x00", "\ufeff", "[1]", "{}", "'",
    "Zg==", "1234", "#x", "\\N", "=1+1", "x" * 300,
]


def text(rng):
    return rng.choice(LOOKS) if rng.random() < 0.8 else "".join(chr(rng.randrange(1, 0xD800)) for _ in range(rng.randrange(9)))


def double(rng):
    if rng.random() < 0.3:
        return rng.choice([0.0, -0.0, 1.0, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308, 1e22, 0.1, 1e16, 1e-7])
    if rng.random() < 0.5:
        return round(rng.uniform(-1e4, 1e4), 2)
    return struct.unpack("<d", rng.randbytes(8))[0]


def single(rng):
    return struct.unpack("<f", rng.randbytes(4))[0] if rng.random() < 0.7 else rng.choice([0.0, -0.0, 0.1, math.inf, 16777216.0])


def integer(bits, signed):
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return lambda rng: rng.choice([low, high, 0, 1, rng.randint(low, high), rng.randint(max(low, -100), 100)])


def number(precision, scale):
    most = 10**precision - 1
    def make(rng):
        unscaled = rng.choice([most, -most, 0, 1, rng.randint(-most, most)])
        with decimal.localcontext() as context:
            context.prec = 80
            return decimal.Decimal(unscaled).scaleb(-scale)
    return make


def days(rng):
    return rng.choice([0, -1, 19724, -719529, 2932897, 2**31 - 1, -(2**31), rng.randint(-800000, 3000000)])


def ticks(rng):
    return rng.choice([0, -1, 1, 2**63 - 1, -(2**63), rng.randint(-(2**63), 2**63 - 1), rng.randint(-(10**18), 10**18)])


TYPES = {
    "bool": (pa.bool_(), lambda rng: rng.random() < 0.5),
    **{f"int{bits}": (getattr(pa, f"int{bits}")(), integer(bits, True)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (getattr(pa, f"uint{bits}")(), integer(bits, False)) for bits in (8, 16, 32, 64)},
    "float": (pa.float32(), single),
    "double": (pa.float64(), double),
    "text": (pa.string(), text),
    "large_text": (pa.large_string(), text),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), text),
    "binary": (pa.binary(), lambda rng: rng.choice([b"", b"f", b"\xd7\x6d\xf8", rng.randbytes(3), rng.randbytes(7)])),
    "fixed": (pa.binary(3), lambda rng: rng.choice([b"\xd7\x6d\xf8", rng.randbytes(3)])),
    "decimal9": (pa.decimal128(9, 2), number(9, 2)),
    "decimal38": (pa.decimal128(38, 10), number(38, 10)),
    "decimal76": (pa.decimal256(76, 0), number(76, 0)),
    "date": (pa.date32(), days),
    **{f"time_{unit}": (pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit),
                        lambda rng, per=per: rng.randrange(86400 * per)) for unit, per in (("ms", 1000), ("us", 10**6), ("ns", 10**9))},
    **{f"at_{unit}": (pa.timestamp(unit), ticks) for unit in ("ms", "us", "ns")},
    **{f"instant_{unit}": (pa.timestamp(unit, "UTC"), ticks) for unit in ("ms", "us", "ns")},
    "offset": (pa.timestamp("ms", "+05:30"), ticks),
    "duration": (pa.duration("us"), ticks),
    "list": (pa.list_(pa.int64()), lambda rng: [maybe(rng, integer(64, True)) for _ in range(rng.randrange(4))]),
    "texts": (pa.list_(pa.string()), lambda rng: [maybe(rng, text) for _ in range(rng.randrange(4))]),
    "struct": (pa.struct([("a", pa.float64()), ("b", pa.string())]), lambda rng: {"a": maybe(rng, double), "b": maybe(rng, text)}),
    "map": (pa.map_(pa.string(), pa.int64()), lambda rng: [(text(rng), maybe(rng, integer(64, True))) for _ in range(rng.randrange(3))]),
    "counts": (pa.map_(pa.int64(), pa.float64()), lambda rng: [(integer(64, True)(rng), maybe(rng, double)) for _ in range(rng.randrange(3))]),
}


def maybe(rng, make):
    return None if rng.random() < 0.2 else make(rng)


def column(data_type, values):
    if pa.types.is_dictionary(data_type):
        return pa.array(values, data_type.value_type).dictionary_encode()
    if pa.types.is_temporal(data_type):
        whole = pa.int32() if data_type.bit_width == 32 else pa.int64()
        return pa.array(values, whole).cast(data_type)
    return pa.array(values, data_type)


def table(rng):
    names = rng.sample(sorted(TYPES), rng.randrange(1, 8))
    rows = rng.choice([1, 2, 5, 30])
    arrays = {}
    for name in names:
        data_type, make = TYPES[name]
        label = name if rng.random() < 0.8 else f"{name} {rng.choice(['a,b', chr(34), 'x', '1'])}"
        arrays[label] = column(data_type, [maybe(rng, make) for _ in range(rows)])
    return pa.table(arrays)


class Command:
    def __init__(self, command, folder):
        self.command, self.folder, self.refused = command, Path(folder), 0

    def run(self, *arguments):
        done = subprocess.run([self.command, *map(str, arguments)], capture_output=True, check=False)
        assert b"panicked" not in done.stderr, done.stderr
        return done

    def convert(self, *arguments):
        """Whether it went well; otherwise the error has a place."""
        done = self.run("convert", "-f", *arguments)
        if done.returncode == 0:
            return True
        assert re.search(rb"line \d+: (column `|the key `|expected )|column `.*`: line \d+", done.stderr, re.S), done.stderr
        self.refused += 1
        return False

    def rows(self, file):
        done = self.run("cat", "--format", "jsonl", file)
        assert done.returncode == 0, done.stderr
        return done.stdout


def round_trip(check, made):
    source, back = check.folder / "source.parquet", check.folder / "back.parquet"
    pq.write_table(made, source)
    rows = check.rows(source)
    for name in ("x.csv", "x.jsonl", "x.arrow", "x.arrows"):
        middle, again = check.folder / name, check.folder / f"again-{name}"
        assert check.run("convert", "-f", source, middle).returncode == 0
        given = ["--schema", source] if name in ("x.csv", "x.jsonl") else []
        done = check.run("convert", "-f", *given, middle, back)
        assert done.returncode == 0, (name, done.stderr, made.schema)
        assert check.rows(back) == rows, (name, made.schema)
        if name == "x.arrows":
            assert pq.read_schema(back).equals(pq.read_schema(source)), made.schema
        elif given and check.convert(middle, back):
            assert check.run("convert", "-f", back, again).returncode == 0
            if name == "x.csv":
                # Timestamps with an offset are read as instants in UTC.
                pq.write_table(in_utc(made), source)
                assert check.run("convert", "-f", source, middle).returncode == 0
                pq.write_table(made, source)
            assert middle.read_bytes() == again.read_bytes(), (name, middle.read_bytes(), again.read_bytes(), made.schema)


def in_utc(made):
    """The same instants, in the zone UTC."""
    for at, field in enumerate(made.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz:
            utc = pa.timestamp(field.type.unit, "UTC")
            made = made.set_column(at, field.name, made.column(at).cast(utc))
    return made


def imported(check, name, content, *options):
    file, out = check.folder / name, check.folder / "out.parquet"
    file.write_text(content, newline="")
    return pq.read_table(out) if check.convert(file, out, *options) else None


def same_number(ours, token):
    """Whether a value says what the text of a number does."""
    with decimal.localcontext() as context:
        context.prec = 400
        wanted = decimal.Decimal(token)
        if isinstance(ours, float):
            all_digits = wanted in (decimal.Decimal(repr(ours)), decimal.Decimal(ours))
            return all_digits and math.copysign(1, ours) == math.copysign(1, float(token))
        if wanted.is_zero() and wanted.is_signed():
            return False
        return isinstance(ours, (int, decimal.Decimal)) and decimal.Decimal(ours) == wanted


def json_token(rng):
    return rng.choice([
        "null", "true", "1", "-7", "0.5", "19.99", "1e3", "-0.0", "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "1" * 40, "1e500", "0.1234567890123456789", '"x"', '"1"', '"2024-01-02"', '"\\u00e9\\ud83d\\udc1f"', '"NaN"',
        "[]", "[1,2]", "[1,0.5]", '["a",null]', "{}", '{"b":1}', '{"b":0.5,"c":null}',
    ])


def holds(ours, token, mixed):
    """Whether a value of ours is what a token of JSON says."""
    theirs = json.loads(token, parse_int=str, parse_float=str) if token[0] in "-0123456789" else json.loads(token)
    if token[0] in "-0123456789":
        return same_number(ours, token) or mixed and ours == token
    if isinstance(theirs, bool):
        return ours is theirs or mixed and ours == token
    if theirs == "NaN":
        return ours == "NaN" or isinstance(ours, float) and math.isnan(ours)
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(holds(a, json.dumps(b), mixed) for a, b in zip(ours, theirs))
    if isinstance(theirs, dict):
        return all(holds(ours[key], json.dumps(value), mixed) for key, value in theirs.items()) and all(
            value is None for key, value in ours.items() if key not in theirs)
    # A text that is a date in JSON must read back as the same text.
    return (ours.isoformat() if isinstance(ours, dt.date) else ours) == theirs


def random_json(check, rng):
    pool = [json_token(rng) for _ in range(rng.choice([1, 2, 3]))]
    tokens = [rng.choice(pool) for _ in range(rng.randrange(1, 6))]
    content = "".join(f'{{"a":{token},"n":{at}}}\n' for at, token in enumerate(tokens))
    filled = "--fill-empty-structs"
    for options in ([filled], [filled, "--infer-rows", "1"]):
        ours = imported(check, "random.jsonl", content, *options)
        if ours is None:
            continue
        values = ours["a"].to_pylist() if "{}" not in tokens else None
        if values is not None:
            kept = [holds(value, token, True) for value, token in zip(values, tokens)]
            assert all(kept), (content, values)
        # What both of them keep, that is, read alike and as we do.
        try:
            theirs = duckdb.read_json(str(check.folder / "random.jsonl"), format="newline_delimited").arrow().read_all()
            others = pl.read_ndjson(check.folder / "random.jsonl", infer_schema_length=None).to_arrow()
        except Exception:  # noqa: BLE001: they refuse what we read
            continue
        a, b = theirs["a"].to_pylist(), others["a"].to_pylist()
        if values is not None and a == b and all(holds(value, token, False) for value, token in zip(a, tokens)):
            assert all(same(x, y) for x, y in zip(values, a)), (content, values, a)


def same(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return a == b


def random_csv(check, rng):
    pool = [text(rng) for _ in range(rng.choice([1, 2, 3]))]
    rows = [[rng.choice(pool), str(at)] for at in range(rng.randrange(1, 6))]
    out = io.StringIO()
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
    writer = csv.writer(out, quoting=quoting, lineterminator=rng.choice(["\n", "\r\n"]))
    writer.writerows([["a", "n"], *rows])
    content = out.getvalue()
    for options in ([], ["--infer-rows", "1"], ["--infer-rows", "0"]):
        ours = imported(check, "random.csv", content, *options)
        if ours is None:
            continue
        values = ours["a"].to_pylist()
        for value, (cell, _) in zip(values, rows):
            assert cell_holds(value, cell, quoting == csv.QUOTE_ALL, ours.schema.field("a").type), (content, value, cell)
    try:
        theirs = duckdb.read_csv(str(check.folder / "random.csv"), header=True).arrow().read_all()
    except Exception:  # noqa: BLE001: it refuses what we read
        return
    ours = imported(check, "random.csv", content)
    if ours is None or theirs.num_rows != ours.num_rows or theirs.schema.names != ours.schema.names:
        return
    if pa.types.is_integer(theirs["a"].type) and pa.types.is_integer(ours["a"].type):
        assert theirs["a"].to_pylist() == ours["a"].to_pylist(), content


def cell_holds(value, cell, quoted, data_type):
    if value is None:
        return cell == ""
    if isinstance(value, str):
        return value == cell
    if isinstance(value, bool):
        return cell.lower() == str(value).lower()
    if isinstance(value, float) and not math.isfinite(value):
        return same(value, float(cell))
    if isinstance(value, (int, float)):
        return same_number(value, cell)
    if isinstance(value, dt.datetime):
        wanted = dt.datetime.fromisoformat(cell)
        return value == wanted and (value.tzinfo is None) == (wanted.tzinfo is None)
    return value == dt.date.fromisoformat(cell)


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "debug" / "herringbone")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    with tempfile.TemporaryDirectory() as folder:
        check = Command(command, folder)
        for seed in range(rounds):
            try:
                rng = random.Random(seed)
                round_trip(check, table(rng))
                random_json(check, rng)
                random_csv(check, rng)
            except AssertionError:
                print(f"seed {seed}", file=sys.stderr)
                raise
    print(f"{rounds} rounds of text, {check.refused} refusals with their places")


if __name__ == "__main__":
    main()

"""Asks other programs to open files of every Arrow type.

    python tests/interop_types.py [target/debug/herringbone]

pyarrow makes a column of each type, bare and nested, as an Arrow file; `herringbone convert` writes it to Parquet, and pyarrow,
polars, duckdb and DataFusion (which reads by arrow-rs) read it, each in a process of its own, as some panic. None may refuse a
file for its Arrow schema; what a program has no type for is in REFUSED. The type that went in has to come back to ourselves,
whatever of it is hidden from the others.
"""

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc

ROOT = Path(__file__).resolve().parents[1]
READERS = {
    "pyarrow": "import pyarrow.parquet as pq; pq.read_table(path)",
    "polars": "import polars as pl; pl.read_parquet(path, glob=False)",
    "duckdb": "import duckdb; duckdb.sql(f\"create or replace temp table t as from read_parquet('{path}')\")",
    "datafusion": "import datafusion; datafusion.SessionContext().read_parquet(path).collect()",
}
# By reader and part of a type: why it refuses files.
REFUSED = {
    "polars": {
        "month_day_nano_interval": "it panics on INTERVAL, whoever wrote it and with any Arrow schema",
        "decimal256(60": "its decimals have 38 digits",
    },
    "datafusion": {
        "month_day_nano_interval": "arrow-rs does not implement it but in columns at the top; were the type not in the Arrow "
                                   "schema, it would read days and milliseconds, and drop the months without a word",
    },
}


def leaves():
    """Types without fields, each with a value."""
    import datetime as dt
    import decimal
    moment = dt.datetime(2024, 1, 2, 3, 4, 5)
    yield from ((getattr(pa, f"{sign}int{n}")(), 7) for sign in ("", "u") for n in (8, 16, 32, 64))
    yield pa.null(), None
    yield pa.bool_(), True
    yield from ((t, 0.5) for t in (pa.float16(), pa.float32(), pa.float64()))
    yield from ((t, "a") for t in (pa.string(), pa.large_string(), pa.string_view()))
    yield from ((t, b"a") for t in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(1)))
    yield from ((t, moment.date()) for t in (pa.date32(), pa.date64()))
    yield from ((t, moment.time()) for t in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")))
    yield from ((pa.timestamp(unit, zone), moment)
                for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Europe/Oslo", "+01:00"))
    yield from ((pa.duration(unit), dt.timedelta(seconds=3)) for unit in ("s", "ms", "us", "ns"))
    yield pa.month_day_nano_interval(), pa.MonthDayNano([1, 2, 3_000_000])
    yield from ((make(digits, scale), decimal.Decimal(5) * 100 if scale < 0 else decimal.Decimal(5))
                for make, digits in ((pa.decimal32, 5), (pa.decimal64, 12), (pa.decimal128, 30), (pa.decimal256, 60))
                for scale in (2, 0, -2))


def nested(t, value):
    """A type bare and inside of others."""
    yield t, value
    yield pa.list_(t), [value]
    yield pa.large_list(t), [value]
    yield pa.list_(t, 2), [value, value]
    yield pa.list_view(t), [value]
    yield pa.large_list_view(t), [value]
    yield pa.struct([("x", t)]), {"x": value}
    yield pa.struct([("x", pa.list_view(t))]), {"x": [value]}
    yield pa.map_(pa.string(), t), [("k", value)]
    if t != pa.null():
        yield pa.dictionary(pa.int16(), t), value
        yield pa.run_end_encoded(pa.int32(), t), value
        yield pa.list_(pa.dictionary(pa.int8(), t)), [value]
        yield pa.dictionary(pa.int32(), pa.run_end_encoded(pa.int32(), t)), value


def array(t, value):
    """Three rows of it, one of them null; None where pyarrow cannot make the type."""
    try:
        if pa.types.is_dictionary(t):
            return pa.DictionaryArray.from_arrays(pa.array([0, None, 0], t.index_type), array(t.value_type, value)[:1])
        if pa.types.is_run_end_encoded(t):
            return pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3], t.run_end_type), array(t.value_type, value))
        if pa.types.is_list(t) and pa.types.is_dictionary(t.value_type):
            return pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), array(t.value_type, value[0]))
        return pa.array([value, None, value], t)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None


def extensions():
    """Types with an extension name."""
    yield pa.uuid(), pa.array([bytes(16), None, bytes(16)], pa.uuid())
    yield pa.json_(), pa.array(["{}", None, "[]"], pa.json_())
    yield pa.bool8(), pa.ExtensionArray.from_storage(pa.bool8(), pa.array([1, None, 0], pa.int8()))
    tensor = pa.fixed_shape_tensor(pa.int32(), [2])
    yield tensor, pa.ExtensionArray.from_storage(tensor, pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int32(), 2)))


def columns():
    """All columns by the text of their type."""
    made = {}
    for t, value in leaves():
        for outer, whole in nested(t, value):
            made.setdefault(str(outer), array(outer, whole))
    for t, values in extensions():
        made.setdefault(str(t), values)
    return {name: values for name, values in made.items() if values is not None}


def asked(reader, folder, names):
    """What a reader says of each file: None where it reads it. A process takes many files until it dies."""
    answers, left = {}, list(names)
    while left:
        script = (
            "import sys\n"
            "for line in sys.stdin:\n"
            "    path = line.strip()\n"
            "    try:\n"
            f"        {READERS[reader]}\n"
            "        print('ok', flush=True)\n"
            "    except BaseException as error:\n"
            "        print(type(error).__name__ + ': ' + ' '.join(str(error).split())[:160], flush=True)\n")
        lines = "".join(f"{folder / name}.parquet\n" for name in left)
        done = subprocess.run([sys.executable, "-c", script], input=lines, capture_output=True, text=True)
        said = done.stdout.splitlines()
        for name, answer in zip(left, said):
            answers[name] = None if answer == "ok" else answer
        left = left[len(said):]
        if left:
            answers[left.pop(0)] = f"exit {done.returncode}: {done.stderr.strip()[-160:]}"
    return answers


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "debug" / "herringbone")
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        made = columns()
        names = {}
        for i, (text, values) in enumerate(made.items()):
            table = pa.table({"c": values})
            with pa.OSFile(str(folder / f"{i}.arrow"), "wb") as out, pa.ipc.new_file(out, table.schema) as writer:
                writer.write_table(table)
            source, target, back = (folder / f"{i}.{suffix}" for suffix in ("arrow", "parquet", "back.arrows"))
            done = subprocess.run([command, "convert", "-q", source, target], capture_output=True, text=True)
            if done.returncode != 0:
                faults.append(f"{text}: not written: {done.stderr.strip()}")
                continue
            names[str(i)] = text
            done = subprocess.run([command, "convert", "-q", target, back], capture_output=True, text=True)
            if done.returncode != 0:
                faults.append(f"{text}: not read: {done.stderr.strip()}")
                continue
            with pa.OSFile(str(back)) as file:
                read = pa.ipc.open_stream(file).read_all()
            if read.schema.field(0).type != values.type:
                faults.append(f"{text}: came back as {read.schema.field(0).type}")
        with ThreadPoolExecutor(2) as pool:
            answers = dict(zip(READERS, pool.map(lambda reader: asked(reader, folder, names), READERS)))
    num_refused = 0
    for reader, of_files in answers.items():
        unused = dict(REFUSED.get(reader, {}))
        for i, answer in of_files.items():
            known = [part for part in REFUSED.get(reader, {}) if part in names[i]]
            if answer and not known:
                faults.append(f"{reader}: {names[i]}: {answer}")
            elif answer:
                num_refused += 1
                unused.pop(known[0], None)
        faults.extend(f"{reader} reads {part} now: take it out of REFUSED" for part in unused)
        for part, reason in REFUSED.get(reader, {}).items():
            print(f"refused: {reader}: {part}: {reason}")
    for fault in faults:
        print(fault)
    print(f"{len(names)} types, {num_refused} times refused as listed, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

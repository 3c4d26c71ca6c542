"""Compares VARIANT columns with what DuckDB, pyarrow and Spark read and write.

    python tests/interop_variant.py [target/debug/herringbone] [--spark] [--cases FOLDER]

JSON lines become VARIANT columns in every shredding of `convert --variant`; the others have to read the same JSON. What
they write of the same lines has to come back through `herringbone cat`. `--spark` adds Spark, which needs pyspark 4 and
Java 17. `--cases` takes `shredded_variant` of apache/parquet-testing: each case that is read is written again by
`rewrite`, and a table says which of the copies the others refuse or read otherwise, next to the same of the originals.
"""

import argparse
import json
import subprocess
import tempfile
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

ROWS = [
    {"a": 1, "b": "x", "c": [1, 2.5, None], "d": {"e": True, "f": "y"}},
    {"a": -7, "b": "", "d": {"e": False}},
    {"a": "one", "b": None, "c": [], "d": 5},
    {"b": "é\U0001f642", "z": 12345678901234, "d": {"f": "\u007f\n\""}},
    [1, [2, {"a": 3}], "x"],
    "text",
    12.25,
    True,
    {},
    None,
] + [{"a": i, "b": str(i % 7), "c": list(range(i % 4)), "d": {"e": i % 2 == 0, "f": "x" * (i % 90)}} for i in range(300)]
SHREDDINGS = [
    "none",
    "auto",
    "Int64",
    'Struct("a": Int64, "b": Utf8)',
    'Struct("a": Utf8, "c": List(Decimal128(9, 2)), "d": Struct("e": Boolean, "g": Date32))',
    "List(Int8)",
]


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", nargs="?", default="target/debug/herringbone")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--cases", type=Path)
    return parser.parse_args()


def value(text):
    """JSON with all digits; numbers of one value are one number."""
    return None if text is None else json.loads(text, parse_float=Decimal, parse_int=Decimal)


class Herringbone:
    def __init__(self, command):
        self.command = command

    def run(self, *arguments):
        return subprocess.run([self.command, *map(str, arguments)], check=True, capture_output=True, text=True).stdout

    def read(self, path, column="v"):
        lines = self.run("cat", path).splitlines()
        return [json.loads(line, parse_float=Decimal, parse_int=Decimal)[column] for line in lines]


class DuckDb:
    name = f"DuckDB {duckdb.__version__}"

    def __init__(self):
        self.connection = duckdb.connect()

    def read(self, path, column="v"):
        rows = self.connection.sql(f"select {column}::JSON from read_parquet('{path}')").fetchall()
        return [value(row[0]) for row in rows]

    def write(self, lines, path):
        self.connection.sql(
            f"copy (select i, v::JSON::VARIANT as v from read_json('{lines}', columns={{i: 'INT', v: 'JSON'}}) order by i)"
            f" to '{path}'"
        )


class Spark:
    def __init__(self):
        import pyspark
        from pyspark.sql import SparkSession

        self.name = f"Spark {pyspark.__version__}"
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.session.timeZone", "UTC")
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")

    def read(self, path, column="v"):
        rows = self.session.read.parquet(str(path)).selectExpr(f"to_json({column}) as j").collect()
        return [value(row.j) for row in rows]

    def write(self, lines, path):
        table = self.session.read.schema("i INT, v VARIANT").json(str(lines)).coalesce(1).sortWithinPartitions("i")
        folder = f"{path}.folder"
        table.write.mode("overwrite").parquet(folder)
        next(Path(folder).glob("part-*.parquet")).rename(path)


def different(expected, found):
    for row, (a, b) in enumerate(zip(expected, found, strict=True)):
        if a != b:
            return f"row {row}: {str(b)[:60]}, not {str(a)[:60]}"
    return None


def ours_to_theirs(ours, peers, folder):
    """A null is one of SQL: JSON does not tell it from that of variants."""
    lines = folder / "in.jsonl"
    lines.write_text("".join(json.dumps({"i": i, "v": row}) + "\n" for i, row in enumerate(ROWS)))
    expected = [value(json.dumps(row)) for row in ROWS]
    faults = 0
    for number, shredding in enumerate(SHREDDINGS):
        file = folder / f"ours-{number}.parquet"
        ours.run("convert", lines, file, "--type", "i=Int32", "--variant", f"v={shredding}", "--row-group-rows", 100)
        assert ours.read(file) == expected, shredding
        assert pq.read_table(file).num_rows == len(ROWS)
        for peer in peers:
            fault = different(expected, peer.read(file))
            faults += fault is not None
            print(f"{peer.name} reads v={shredding}: {fault or 'the same'}")
    for peer in peers:
        file = folder / "theirs.parquet"
        file.unlink(missing_ok=True)
        peer.write(lines, file)
        shredded = "typed_value" in ours.run("schema", file)
        fault = different(expected, ours.read(file))
        faults += fault is not None
        print(f"written by {peer.name}, {'shredded' if shredded else 'not shredded'}: {fault or 'the same'}")
        copy = folder / "copy.parquet"
        ours.run("rewrite", file, copy, "--force")
        again = different(expected, peer.read(copy))
        faults += again is not None or (shredded and "typed_value" not in ours.run("schema", copy))
        print(f"and written again by rewrite, read by {peer.name}: {again or 'the same'}")
    return faults


def cases(ours, peers, folder, official):
    """Which official cases the others refuse, as they are and as `rewrite` writes them."""
    refused = {(peer.name, kind): ([], []) for peer in peers for kind in ("original", "rewritten")}
    read = 0
    for file in sorted(official.glob("case-*.parquet")):
        number = int(file.stem.split("-")[1])
        try:
            expected = ours.read(file, "var")
        except subprocess.CalledProcessError:
            continue
        read += 1
        copy = folder / "copy.parquet"
        ours.run("rewrite", file, copy, "--force")
        assert ours.read(copy, "var") == expected, file
        for peer in peers:
            for kind, path in (("original", file), ("rewritten", copy)):
                errors, others = refused[peer.name, kind]
                try:
                    found = peer.read(path, "var")
                except Exception:
                    errors.append(number)
                    continue
                # Peers print instants and bytes in their own ways: nulls and shapes are compared.
                if [shape(row) for row in found] != [shape(row) for row in expected]:
                    others.append(number)
    print(f"\n{read} official cases")
    for (name, kind), (errors, others) in refused.items():
        print(f"| {name} | {kind} | refused {len(errors)}: {errors} | otherwise {len(others)}: {others} |")
    return 0


def shape(row):
    if isinstance(row, dict):
        return {name: shape(it) for name, it in row.items()}
    if isinstance(row, list):
        return [shape(it) for it in row]
    return "null" if row is None else "value"


def main():
    options = arguments()
    ours = Herringbone(options.command)
    peers = [DuckDb()] + ([Spark()] if options.spark else [])
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        faults = ours_to_theirs(ours, peers, folder)
        if options.cases:
            cases(ours, peers, folder, options.cases)
    if faults:
        raise SystemExit(f"{faults} faults")
    print("VARIANT: all the same")


if __name__ == "__main__":
    main()

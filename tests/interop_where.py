"""Compares `count --where` with the answers of DuckDB for random conditions, the same ones for a seed.

    tests/interop_where.py COMMAND [number of conditions] [seed]

NaN equals itself and is above all numbers in both.
"""

import datetime as dt
import os
import random
import subprocess
import sys
import tempfile

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 400


def table(rng):
    """Returns rows of most types, with nulls, NaN, infinities, empty lists and null structs."""

    def some(make, nulls=0.15):
        return [None if rng.random() < nulls else make() for _ in range(ROWS)]

    start = dt.datetime(2024, 1, 1)
    moment = lambda: start + dt.timedelta(seconds=rng.randrange(10**6))
    text = lambda: "".join(rng.choice("ab%_É") for _ in range(rng.randrange(5)))
    special = [float("nan"), float("inf"), float("-inf"), -0.0]
    number = lambda: rng.choice(special) if rng.random() < 0.2 else rng.randrange(-40, 40) / 4
    struct = lambda: {"x": rng.choice([None, 1, 2]), "y": rng.choice([None, "a", "b"])}
    of = lambda make, n: [make() for _ in range(rng.randrange(n))]
    return pa.table(
        {
            "i": pa.array(some(lambda: rng.randrange(-9, 9)), pa.int32()),
            "u": pa.array(some(lambda: rng.randrange(2**64)), pa.uint64()),
            "f": pa.array(some(number), pa.float64()),
            "d": pa.array(some(lambda: rng.randrange(-999, 999)), pa.int64()).cast(pa.decimal128(19, 0)).cast(pa.decimal128(21, 2)),
            "t": pa.array(some(text), pa.string()),
            "b": pa.array(some(lambda: rng.random() < 0.5), pa.bool_()),
            "day": pa.array(some(lambda: moment().date()), pa.date32()),
            "moment": pa.array(some(moment), pa.timestamp("us")),
            "utc": pa.array(some(moment), pa.timestamp("us", "UTC")),
            "s": pa.array(some(struct), pa.struct({"x": pa.int32(), "y": pa.string()})),
            "l": pa.array(some(lambda: of(lambda: rng.randrange(4), 4)), pa.list_(pa.int32())),
            "m": pa.array(some(lambda: [(k, rng.randrange(3)) for k in "ab"[: rng.randrange(3)]]), pa.map_(pa.string(), pa.int32())),
            "interval": pa.array(some(lambda: rng.randrange(5)), pa.int32()),
            # DuckDB reads a duration as its number of microseconds.
            "took": pa.array(some(lambda: rng.randrange(-9, 9) * 500_000), pa.duration("us")),
        }
    )


class Conditions:
    """Random conditions, in the words of the command and in those of DuckDB."""

    def __init__(self, rng):
        self.rng = rng

    def quoted(self, text):
        return "'" + text.replace("'", "''") + "'"

    def literal(self, column):
        rng = self.rng
        if rng.random() < 0.03:
            return "null", "null"
        if column in ("i", "s.x", '"interval"'):
            text = str(rng.randrange(-9, 9))
        elif column == "u":
            text = str(rng.randrange(2**64))
        elif column == "f":
            name = rng.choice(["NaN", "Infinity", "-Infinity"])
            if rng.random() < 0.3:
                ours = rng.choice([name, f"'{name}'", f"double '{name}'", f"'{name}'::double"])
                if ours == "double '-Infinity'":
                    ours = "-Infinity"
                return ours, f"'{name}'::double"
            number = rng.randrange(-40, 40) / 4
            return str(number), f"{number}::double"
        elif column == "d":
            text = f"{rng.randrange(-999, 999)}.{rng.choice(['0', '25'])}"
        elif column == "b":
            text = rng.choice(["true", "false"])
        elif column == "took":
            halves = rng.randrange(-9, 9)
            sign, whole, half = "-" if halves < 0 else "", abs(halves) // 2, ".5" * (halves % 2)
            return f"'PT{sign}{whole}{half}S'", str(halves * 500_000)
        elif column == "gap":
            months, days, seconds = (rng.randrange(3) for _ in range(3))
            date = "".join(f"{n}{unit}" for n, unit in [(months, "M"), (days, "D")] if n)
            time = f"T{seconds}S" if seconds or not date else ""
            return f"'P{date}{time}'", f"interval '{months} months {days} days {seconds} seconds'"
        elif column in ("t", "s.y"):
            text = self.quoted("".join(rng.choice("ab%_É") for _ in range(rng.randrange(4))))
        else:
            at = dt.datetime(2024, 1, 1) + dt.timedelta(seconds=rng.randrange(10**6))
            if column == "day":
                return f"'{at.date()}'", f"date '{at.date()}'"
            if column == "moment":
                return f"'{at.isoformat()}'", f"timestamp '{at.isoformat(' ')}'"
            offset = rng.choice(["Z", "+02:00", "+0200", "-0130"])
            with_colon = {"Z": "+00:00", "+0200": "+02:00", "-0130": "-01:30"}.get(offset, offset)
            return f"'{at.isoformat()}{offset}'", f"timestamptz '{at.isoformat(' ')}{with_colon}'"
        return text, text

    def test(self):
        rng = self.rng
        kind = rng.randrange(12)
        if kind == 0:
            column = rng.choice(["i", "f", "t", "day", "took", "s", "s.x", "s.y", "l", "m", "b"])
            text = f"{column} is {rng.choice(['', 'not '])}null"
            return text, text
        if kind == 1:
            return self.of_list()
        if kind == 2:
            return self.like()
        if kind == 3:
            word = rng.choice(["b", "not b", "b is true", "b is not true", "b is false", "b is not false"])
            return word, word
        column = rng.choice(["i", "u", "f", "d", "t", "day", "moment", "utc", "took", "s.x", "s.y", '"interval"'])
        literal = lambda: self.literal(column)
        if kind in (4, 5):
            (a, b), (c, d) = literal(), literal()
            word = rng.choice(["between", "not between"])
            return f"{column} {word} {a} and {c}", f"{column} {word} {b} and {d}"
        if kind == 6:
            values = [literal() for _ in range(rng.randrange(1, 4))]
            word = rng.choice(["in", "not in"])
            join = lambda at: f"{column} {word} ({', '.join(v[at] for v in values)})"
            return join(0), join(1)
        ours, theirs = literal()
        if kind == 7:
            word = rng.choice(["is distinct from", "is not distinct from"])
            return f"{column} {word} {ours}", f"{column} {word} {theirs}"
        word = rng.choice(["=", "<>", "<", "<=", ">", ">="])
        if kind == 8:
            return f"{ours} {word} {column}", f"{theirs} {word} {column}"
        if kind == 9:
            return f"{column.upper() if column.isalpha() else column} {word} {ours}", f"{column} {word} {theirs}"
        return f"{column} {word} {ours}", f"{column} {word} {theirs}"

    def of_list(self):
        rng = self.rng
        number, word = rng.randrange(4), rng.choice(["=", "<>", "<", ">", "<=", ">="])
        turned = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}[word]
        if rng.random() < 0.5:
            ours = rng.choice([f"any(l) {word} {number}", f"{number} {turned} any(l)"])
            theirs = f"list_bool_or(list_transform(l, lambda x: coalesce(x {word} {number}, false)))"
            # No element of an empty list passes.
            return ours, f"(case when l is null then null else coalesce({theirs}, false) end)"
        ours = rng.choice([f"all(l) {word} {number}", f"{number} {turned} all(l)"])
        theirs = f"list_bool_and(list_transform(l, lambda x: x {word} {number}))"
        return ours, f"(case when l is null then null else coalesce({theirs}, true) end)"

    def like(self):
        rng = self.rng
        pattern = "".join(rng.choice("aB%_É!") for _ in range(rng.randrange(5)))
        word = rng.choice(["like", "not like", "ilike", "not ilike"])
        column = rng.choice(["t", "s.y"])
        if rng.random() < 0.5:
            pattern = pattern.replace("!", "") + rng.choice(["!%", "!_", "!!a", ""])
            text = f"{column} {word} {self.quoted(pattern)} escape '!'"
        else:
            text = f"{column} {word} {self.quoted(pattern)}"
        return text, text

    def condition(self, depth):
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return self.test()
        if rng.random() < 0.2:
            a, b = self.condition(depth - 1)
            return f"not ({a})", f"not ({b})"
        word = rng.choice(["and", "or"])
        parts = [self.condition(depth - 1) for _ in range(rng.randrange(2, 4))]
        join = lambda at: "(" + f" {word} ".join(part[at] for part in parts) + ")"
        return join(0), join(1)


class Intervals(Conditions):
    """Conditions on intervals, which have no order."""

    def test(self):
        rng = self.rng
        kind = rng.randrange(5)
        if kind == 0:
            # DuckDB has written the durations as numbers.
            while "took" in (test := super().test())[0].lower():
                pass
            return test
        if kind == 1:
            text = f"gap is {rng.choice(['', 'not '])}null"
            return text, text
        ours, theirs = self.literal("gap")
        if kind == 2:
            (more, another), word = self.literal("gap"), rng.choice(["in", "not in"])
            return f"gap {word} ({ours}, {more})", f"gap {word} ({theirs}, {another})"
        if kind == 3:
            word = rng.choice(["is distinct from", "is not distinct from"])
            return f"gap {word} {ours}", f"gap {word} {theirs}"
        word = rng.choice(["=", "<>"])
        ours, theirs, left, right = rng.choice([("gap", "gap", ours, theirs), (ours, theirs, "gap", "gap")])
        return f"{ours} {word} {left}", f"{theirs} {word} {right}"


def compare(command, peer, conditions, count, path):
    """Returns the number of conditions on a file with another answer than that of DuckDB."""
    peer.execute(f"create or replace table rows as from '{path}'")
    wrong = 0
    for number in range(count):
        ours, theirs = conditions.condition(conditions.rng.randrange(3))
        expected = peer.execute(f"select count(*) from rows where {theirs}").fetchone()[0]
        run = subprocess.run([command, "count", "--where", ours, path], capture_output=True, text=True)
        if run.stdout.strip() != str(expected):
            wrong += 1
            print(f"{number}: {ours}\n  {run.stdout.strip() or run.stderr.strip()}, but duckdb: {expected}")
    return wrong


def main():
    command = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.parquet")
        pq.write_table(table(rng), path, row_group_size=150, data_page_size=512, write_page_index=True)
        peer = duckdb.connect()
        peer.execute("set timezone = 'UTC'")
        wrong = compare(command, peer, Conditions(rng), count, path)
        gaps = os.path.join(folder, "intervals.parquet")
        gap = "to_months(row % 3) + to_days(row // 3 % 3) + to_seconds(row // 9 % 3)"
        peer.execute(
            f"copy (select *, case when row % 7 > 0 then {gap} end as gap from (select *, row_number() over () as row "
            f"from rows)) to '{gaps}' (row_group_size 150)"
        )
        more = count // 5
        wrong += compare(command, peer, Intervals(rng), more, gaps)
        print(f"{count + more} conditions, {wrong} with another answer than duckdb {duckdb.__version__}")
        sys.exit(wrong > 0)


main()

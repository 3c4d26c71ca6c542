"""Compares the answers that `herringbone-datafusion-bench FOLDER answers` wrote with those of DuckDB.

usage: compare_duckdb.py TABLES ANSWERS
"""

import csv
import pathlib
import sys

import duckdb


def cell(value):
    """Numbers are compared with a tolerance: averages of decimals have six digits here, and are floats in DuckDB."""
    text = "" if value is None else str(value)
    try:
        return float(text)
    except ValueError:
        return text


def is_equal(one, other):
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 1e-6 * max(1, abs(one), abs(other))
    return one == other


def is_equal_row(one, other):
    return len(one) == len(other) and all(map(is_equal, one, other))


tables, answers = map(pathlib.Path, sys.argv[1:])
connection = duckdb.connect()
for path in tables.glob("*.parquet"):
    connection.execute(f"create view {path.stem} as select * from '{path}'")
queries = pathlib.Path(__file__).parents[1] / "tests/it/tpch.sql"
unequal = []
for number, query in enumerate(queries.read_text().split("--------\n"), 1):
    found = [[cell(value) for value in row] for row in csv.reader((answers / f"Q{number}.csv").open())]
    expected = [[cell(value) for value in row] for row in connection.execute(query).fetchall()]
    # ORDER BY leaves the order of equal rows open.
    found, expected = (sorted(rows, key=repr) for rows in (found, expected))
    if len(found) != len(expected) or not all(map(is_equal_row, found, expected)):
        unequal.append(number)
    print(f"Q{number}: {len(found)} rows, DuckDB: {len(expected)}")
print(f"queries that differ: {unequal or 'none'}")
sys.exit(bool(unequal))

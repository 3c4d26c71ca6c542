"""Random tables and filters next to pyarrow, polars and DuckDB: 10 tables and 4 files of 10 filters, times HERRINGBONE_CASES.

With HERRINGBONE_CASES=200, they are 2,000 tables and 8,000 filters. A failure names its seed.
"""

import functools
import operator
import os

import pytest

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
import pyarrow.compute as pc
import pyarrow.parquet as pq

import herringbone as hb
import herringbone.pyarrow as hpq
import randoms

CASES = int(os.environ.get("HERRINGBONE_CASES", "1"))


def same(one, other):
    """Return True for equal types and values. NaN equals NaN, and 0.0 is not -0.0."""
    return hb.Table(one).equals(hb.Table(other))


def without_dictionaries(table):
    """Return a table of pyarrow with values in the place of dictionaries."""
    # pyarrow 26.0.1 fails to cast some slices of nested columns to their own type.
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = field.type.value_type
            table = table.set_column(place, field.with_type(plain), table.column(place).cast(plain))
    return table


def read_by_theirs(read, path):
    """Return what another library reads, or None if it does not read the file."""
    try:
        return read(path)
    except Exception:
        return None


def rows_of_duckdb(path):
    return repr(duckdb.sql(f"select * from '{path}'").fetchall())


@pytest.mark.parametrize("seed", range(10 * CASES))
def test_written_tables(seed, tmp_path):
    rng = randoms.seeded(seed)
    table, options = randoms.table(rng), randoms.options(rng)
    ours, theirs = str(tmp_path / "ours.parquet"), str(tmp_path / "theirs.parquet")
    hb.write_table(table, ours, **options)
    found = hb.read_table(ours)
    if options.get("use_dictionary") is False:
        # The number of different values is not known, so that the indices may have more bits.
        assert same(without_dictionaries(found.to_pyarrow()), without_dictionaries(table)), (seed, options)
    else:
        assert same(found, table), (seed, options)
    assert hb.verify(ours) == [], (seed, options)
    try:
        pq.write_table(table, theirs)
    except Exception:
        # pyarrow does not write this table, so that the others have nothing to compare with.
        return
    read = read_by_theirs(pq.read_table, theirs)
    if read is not None:
        # Views and dictionaries are stored as other types by either.
        assert read_by_theirs(pq.read_table, ours).to_pydict().__repr__() == read.to_pydict().__repr__(), (seed, options)
        found = hpq.read_table(theirs)
        assert found.schema.equals(read.schema) and found.to_pydict().__repr__() == read.to_pydict().__repr__(), seed
    assert hb.read_table(theirs).to_pyarrow().to_pydict().__repr__() == table.to_pydict().__repr__(), seed
    frame = read_by_theirs(pl.read_parquet, theirs)
    if frame is not None:
        found = pl.read_parquet(ours)
        assert found.to_dict(as_series=False).__repr__() == frame.to_dict(as_series=False).__repr__(), (seed, options)
    rows = read_by_theirs(rows_of_duckdb, theirs)
    if rows is not None:
        assert rows_of_duckdb(ours) == rows, (seed, options)


def in_pyarrow(node, table):
    """Return a tree of conditions as an expression of pyarrow."""
    if node[0] == "not":
        return ~in_pyarrow(node[1], table)
    if node[0] in ("and", "or"):
        join = operator.and_ if node[0] == "and" else operator.or_
        return functools.reduce(join, [in_pyarrow(part, table) for part in node[1]])
    name, operation, value = node
    field, kind = pc.field(name), table[name].type
    if operation in ("in", "not in"):
        inside = field.isin(pa.array(value, kind))
        return inside if operation == "in" else ~inside
    return randoms.OPERATIONS[operation](field, pa.scalar(value, kind))


def in_python(node, column, join=lambda operation: operator.and_ if operation == "and" else operator.or_):
    """Return a tree of conditions as one of ours or of polars: `column` returns a column by its name."""
    if node[0] == "not":
        return ~in_python(node[1], column)
    if node[0] in ("and", "or"):
        return functools.reduce(join(node[0]), [in_python(part, column) for part in node[1]])
    name, operation, value = node
    if operation in ("in", "not in"):
        of = column(name)
        inside = of.isin(value) if isinstance(of, type(hb.col("a"))) else of.is_in(value)
        return inside if operation == "in" else ~inside
    operations = {"=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
    return operations[operation](column(name), value)


#: The columns whose values have the same text in both dialects of SQL.
IN_SQL = ("i8", "u8", "i32", "i64", "s", "dec", "flag", "big")


def in_sql(node):
    """Return a tree of conditions in SQL, or None if a value has no common text."""
    if node[0] == "not":
        inner = in_sql(node[1])
        return None if inner is None else f"not ({inner})"
    if node[0] in ("and", "or"):
        parts = [in_sql(part) for part in node[1]]
        return None if None in parts else f" {node[0]} ".join(f"({part})" for part in parts)
    name, operation, value = node
    if name not in IN_SQL:
        return None
    text = lambda value: f"'{value}'" if isinstance(value, str) else str(value).lower()
    shown = f"({', '.join(map(text, value))})" if isinstance(value, list) else text(value)
    return f"{name} {'<>' if operation == '!=' else operation} {shown}"


@pytest.mark.parametrize("seed", range(4 * CASES))
def test_filters(seed, tmp_path):
    rng = randoms.seeded(10_000_000 + seed)
    table = randoms.tested_table(rng)
    path = str(tmp_path / "a.parquet")
    hb.write_table(table, path, row_group_size=rng.choice((30, 100)), max_rows_per_page=rng.choice((4, 20)), compression="snappy")
    frame = pl.DataFrame(table)
    ids = lambda found: found["id"].to_pylist()
    for _ in range(10):
        node = randoms.tree(rng, table)
        expression = in_pyarrow(node, table)
        expected = ids(table.filter(expression))
        for filters in (expression, in_python(node, hb.col)):
            assert ids(hb.read_table(path, filters=filters)) == expected, (seed, node)
        assert ids(hpq.read_table(path, filters=expression, columns=["id"])) == expected, (seed, node)
        assert hb.dataset(path).count_rows(filter=expression) == len(expected), (seed, node)
        rows = [[randoms.condition(rng, table) for _ in range(rng.randrange(1, 4))] for _ in range(rng.randrange(1, 4))]
        expected = ids(table.filter(in_pyarrow(("or", [("and", part) for part in rows]), table)))
        assert ids(hb.read_table(path, filters=rows)) == expected, (seed, rows)
        # pyarrow's lists of conditions do not take integers above 64 bits with a sign.
        if not any(name == "big" for part in rows for name, _, _ in part):
            assert ids(hpq.read_table(path, filters=rows)) == expected, (seed, rows)
        condition = in_python(node, pl.col)
        selected = hb.scan_polars(path).filter(condition).select("id").collect()
        assert selected["id"].to_list() == frame.filter(condition)["id"].to_list(), (seed, node)
        text = in_sql(node)
        if text is not None:
            expected = [row[0] for row in duckdb.sql(f"select id from '{path}' where {text} order by id").fetchall()]
            assert ids(hb.read_table(path, filters=text)) == expected, (seed, text)

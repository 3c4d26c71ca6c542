"""A lazy frame of polars that pushes columns, conditions and limits down. It needs polars, and not pyarrow."""

from __future__ import annotations

import io
import json
import os
import stat
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars
from polars.io.plugins import register_io_source

from . import _read
from ._core import ChunkedArray, RecordBatchReader, Table
from ._filters import Expression

_OPERATIONS = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtEq": "le", "Gt": "gt", "GtEq": "ge"}
_TURNED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
#: The operations at the ends of a range.
_RANGES = {"Both": ("ge", "le"), "Left": ("ge", "lt"), "Right": ("gt", "le"), "None": ("gt", "lt")}
#: The deepest condition that is translated. polars tests the others.
_MAX_DEPTH = 100
#: The integers up to which all are floating-point numbers of 64 bits.
_EXACT = 1 << 53


class _Scan:
    """What polars calls with the columns and conditions of a query. It can be pickled."""

    def __init__(self, source: Any, options: dict[str, Any]) -> None:
        self.source = source
        self.options = options
        self._opened: _Opened | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None}

    def opened(self) -> _Opened:
        """Return the files. A single file of this machine stays open until it changes, and others are found for each query."""
        opened, state = self._opened, _state(self.source)
        if opened is None or state is None or state != opened.state:
            files = _read.ParquetDataset(self.source, **self.options)
            schema = polars.DataFrame(RecordBatchReader.from_parts(files.schema, [])).schema
            opened = _Opened(files, schema, state)
            self._opened = opened if state is not None else None
        return opened

    def __call__(
        self, with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[Any]:
        files, schema, _ = self.opened()
        columns = with_columns
        options: dict[str, Any] = {"batch_size": batch_size}
        # polars counts the rows before it tests them. A limit of ours counts those that a filter selects.
        pushed = None if predicate is None or n_rows is not None else pushed_down(predicate, schema)
        if n_rows is not None:
            options["limit"] = n_rows
        elif pushed is not None:
            options["filters"] = pushed.condition
        is_tested = predicate is None or (pushed is not None and pushed.is_whole)
        if with_columns is not None and not (is_tested and with_columns):
            columns = list(dict.fromkeys([*with_columns, *([] if predicate is None else predicate.meta.root_names())]))
        for table in files._stream(columns, True, False, options):
            frame = polars.DataFrame(table)
            if not is_tested:
                frame = frame.filter(predicate)
            yield frame if columns is with_columns else frame.select(with_columns)


class _Opened(NamedTuple):
    """Open files, and what they looked like when they were opened."""

    files: _read.ParquetDataset
    #: The columns and types of the files in polars.
    schema: Any
    #: None unless the source is a file of this machine.
    state: tuple[int, ...] | None


def _state(source: Any) -> tuple[int, ...] | None:
    """Return numbers that differ if the file of a path was written or replaced, or None for other sources."""
    try:
        found = os.stat(source) if isinstance(source, (str, os.PathLike)) else None
    except (OSError, ValueError):
        return None
    if found is None or not stat.S_ISREG(found.st_mode):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


class Pushed(NamedTuple):
    """The part of a condition that is understood. It selects at least the rows of the whole condition."""

    condition: Expression
    #: True if it selects these rows alone.
    is_whole: bool


def pushed_down(predicate: Any, schema: Mapping[str, Any]) -> Pushed | None:
    """Return the part of a condition of polars that is understood, or None."""
    with warnings.catch_warnings():
        # The form of a serialised expression may change. Other forms are not understood.
        warnings.simplefilter("ignore")
        translation = _Translation(schema)
        try:
            tree = translation.condition(json.loads(predicate.meta.serialize(format="json")), 0)
        except (_NotUnderstood, RecursionError):
            return None
    # In polars, NaN equals itself and is above all numbers.
    return Pushed(Expression(("total", tree)), translation.is_whole)


class _NotUnderstood(Exception):
    """A part of a condition has no form as a filter of ours."""


class _Translation:
    """The translation of a condition over columns with these types."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        #: False if a part of a conjunction was left out.
        self.is_whole = True

    def condition(self, node: Any, depth: int, is_negated: bool = False) -> tuple[Any, ...]:
        kind, inner = _only(node)
        if depth > _MAX_DEPTH:
            raise _NotUnderstood
        if kind == "BinaryExpr":
            return self._binary(inner, depth, is_negated)
        if kind == "Column" or (kind == "Function" and "StructExpr" in inner["function"]):
            path, found = self._column(node)
            if found != polars.Boolean:
                raise _NotUnderstood
            return ("eq", path, True)
        if kind == "Function":
            return self._function(inner, depth)
        raise _NotUnderstood

    def _binary(self, inner: Any, depth: int, is_negated: bool) -> tuple[Any, ...]:
        left, right, operation = inner["left"], inner["right"], inner["op"]
        if operation in ("And", "LogicalAnd"):
            return self._joined("and", ("And", "LogicalAnd"), [left, right], depth, is_negated)
        if operation in ("Or", "LogicalOr"):
            return self._joined("or", ("Or", "LogicalOr"), [left, right], depth, is_negated)
        if operation in ("EqValidity", "NotEqValidity"):
            # Never null: a null differs from each value.
            is_equal = operation == "EqValidity"
            test = self._comparison("eq" if is_equal else "ne", left, right)
            return ("and", [test, ("is_valid", test[1])]) if is_equal else ("or", [test, ("is_null", test[1])])
        if operation not in _OPERATIONS:
            raise _NotUnderstood
        return self._comparison(_OPERATIONS[operation], left, right)

    def _joined(
        self, operation: str, names: tuple[str, ...], nodes: list[Any], depth: int, is_negated: bool
    ) -> tuple[Any, ...]:
        """Return a chain of one operation. A conjunction may lack a part, unless it is negated."""
        parts = []
        while nodes:
            node = nodes.pop()
            inner = node.get("BinaryExpr") if isinstance(node, dict) else None
            if inner is not None and inner["op"] in names:
                nodes += [inner["left"], inner["right"]]
                continue
            try:
                parts.append(self.condition(node, depth + 1, is_negated))
            except _NotUnderstood:
                if operation == "or" or is_negated:
                    raise
                self.is_whole = False
        if not parts:
            raise _NotUnderstood
        return (operation, parts[::-1])

    def _function(self, inner: Any, depth: int) -> tuple[Any, ...]:
        first, *rest = inner["input"]
        name, details = _only(inner["function"])
        if name == "Boolean" and details == "Not":
            return ("not", self.condition(first, depth + 1, True))
        path, found = self._column(first)
        if name == "Boolean" and details in ("IsNull", "IsNotNull"):
            return ("is_null" if details == "IsNull" else "is_valid", path)
        if name == "Boolean" and details in ("IsNan", "IsNotNan"):
            return ("is_nan", path) if details == "IsNan" else ("not", ("is_nan", path))
        if name == "StringExpr" and details == "StartsWith" and found == polars.String:
            return ("starts_with", path, _series(rest[0])[0])
        option, details = _only(details)
        if option == "IsBetween":
            low, high = _RANGES[details["closed"]]
            return ("and", [self._comparison(low, first, rest[0]), self._comparison(high, first, rest[1])])
        if option == "IsIn":
            return self._is_in(path, found, rest[0], details["nulls_equal"])
        raise _NotUnderstood

    def _is_in(self, path: tuple[str, ...], found: Any, node: Any, nulls_equal: bool) -> tuple[Any, ...]:
        values = _list(node)
        _check(found, values.dtype, False)
        test = ("one_of", path, _column(values))
        if not nulls_equal:
            return test
        return ("or", [test, ("is_null", path)]) if values.null_count() else ("and", [test, ("is_valid", path)])

    def _comparison(self, operation: str, left: Any, right: Any) -> tuple[Any, ...]:
        if "Literal" in left:
            left, right, operation = right, left, _TURNED[operation]
        value = _series(right)
        if value[0] is None:
            raise _NotUnderstood
        path, found = self._column(left, value[0])
        _check(found, value.dtype, operation not in ("eq", "ne"))
        return (operation, path, _column(value))

    def _column(self, node: Any, value: Any = None) -> tuple[tuple[str, ...], Any]:
        """Return the path of a column, and its type. A conversion that changes no result of a comparison is left out."""
        kind, inner = _only(node)
        if kind == "Column":
            return (inner,), self.schema[inner]
        if kind == "Function" and "StructExpr" in inner["function"]:
            path, found = self._column(inner["input"][0])
            option, name = _only(inner["function"]["StructExpr"])
            fields = dict(found) if isinstance(found, polars.Struct) and option == "FieldByName" else {}
            if name not in fields:
                raise _NotUnderstood
            return (*path, name), fields[name]
        if kind == "Cast":
            path, found = self._column(inner["expr"])
            wanted = getattr(polars, str(_only(inner["dtype"])[1]), None)
            small = isinstance(value, (int, float)) and abs(value) < _EXACT
            if found.is_integer() and ((wanted is not None and wanted in _wider(found)) or (wanted == polars.Float64 and small)):
                return path, wanted
        raise _NotUnderstood


def _wider(kind: Any) -> list[Any]:
    """Return the types of integers with all numbers of one."""
    signed, unsigned = [polars.Int8, polars.Int16, polars.Int32, polars.Int64], [polars.UInt8, polars.UInt16, polars.UInt32, polars.UInt64]
    if kind in signed:
        return signed[signed.index(kind) :]
    return [*unsigned[unsigned.index(kind) :], *signed[unsigned.index(kind) + 1 :]]


def _only(node: Any) -> tuple[str, Any]:
    """Return the name and the contents of a node. A name alone has no contents."""
    if isinstance(node, dict) and len(node) == 1:
        return next(iter(node.items()))
    if isinstance(node, str):
        return node, None
    raise _NotUnderstood


def _list(node: Any) -> Any:
    """Return the values of a list."""
    kind, inner = _only(node)
    if kind == "Alias":
        return _list(inner[0])
    if kind != "Literal":
        raise _NotUnderstood
    kind, inner = _only(inner)
    # A scalar has the values themselves, and a series has one row with them.
    is_series = kind == "Series"
    stream = inner if is_series else inner.get("List")
    if not isinstance(stream, list):
        raise _NotUnderstood
    values = polars.read_ipc_stream(io.BytesIO(bytes(stream))).to_series()
    if not is_series:
        return values
    if len(values) != 1 or not isinstance(values.dtype, polars.List) or values[0] is None:
        raise _NotUnderstood
    return values[0]


def _series(node: Any) -> Any:
    """Return a literal as a series of one value."""
    if _only(node)[0] != "Literal":
        raise _NotUnderstood
    try:
        found = polars.select(polars.Expr.deserialize(io.StringIO(json.dumps(node)), format="json")).to_series()
    except polars.exceptions.PolarsError:
        # NaN and infinity are null in JSON.
        raise _NotUnderstood from None
    if len(found) != 1:
        raise _NotUnderstood
    return found


def _column(values: Any) -> ChunkedArray:
    return Table(values.to_frame("value")).column(0)


def _check(column: Any, value: Any, is_ordered: bool) -> None:
    """Fail unless ours compares a column with a value of a type like polars does."""
    if isinstance(column, polars.Enum) or (isinstance(column, polars.Categorical) and is_ordered):
        # polars compares the places of the categories of an Enum.
        if is_ordered or value not in (polars.String, column):
            raise _NotUnderstood
        return
    if isinstance(column, polars.Categorical):
        if value not in (polars.String, polars.Categorical):
            raise _NotUnderstood
        return
    if isinstance(column, polars.Decimal) and isinstance(value, polars.Decimal):
        return
    if column != value or column.is_nested():
        raise _NotUnderstood


def scan_polars(source: Any, **options: Any) -> Any:
    """Return a `polars.LazyFrame` of a file, several files, a pattern or a directory.

    `options` are those of `ParquetDataset`.
    """
    # These are the layouts of polars. It copies texts, and the offsets of lists, of all others.
    for name, layout in (("binary_type", "binary_view"), ("list_type", "large_list")):
        if options.get(name) is None:
            options[name] = layout
    scan = _Scan(source, options)
    return register_io_source(scan, schema=scan.opened().schema, is_pure=True)

"""A lazy frame of polars that pushes columns, conditions and limits down. It needs polars, and not pyarrow."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from typing import Any

import polars
from polars.io.plugins import register_io_source

from . import _read
from ._core import RecordBatchReader
from ._filters import Expression

_OPERATIONS = {"Eq": "eq", "NotEq": "ne", "Lt": "lt", "LtEq": "le", "Gt": "gt", "GtEq": "ge"}
_TURNED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


class _Scan:
    """What polars calls with the columns and conditions of a query. It can be pickled."""

    def __init__(self, source: Any, options: dict[str, Any]) -> None:
        self.source = source
        self.options = options

    def __call__(
        self, with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[Any]:
        files = _read.ParquetDataset(self.source, **self.options)
        columns = with_columns
        tree = None if predicate is None else _condition(predicate, _schema(files))
        if predicate is not None and with_columns is not None:
            # polars tests the rows again, so that a condition that is only understood in part is right too.
            columns = list(dict.fromkeys([*with_columns, *predicate.meta.root_names()]))
        options: dict[str, Any] = {"batch_size": batch_size}
        if n_rows is None:
            options["filters"] = tree
        else:
            # polars counts the rows before it tests them. A limit of ours counts those that a filter selects.
            options["limit"] = n_rows
        for table in files._stream(columns, True, False, options):
            frame = polars.DataFrame(table)
            if predicate is not None:
                frame = frame.filter(predicate)
            yield frame if with_columns is None else frame.select(with_columns)


def _schema(files: _read.ParquetDataset) -> Any:
    """Return the columns and types of the files in polars."""
    return polars.DataFrame(RecordBatchReader.from_parts(files.schema, [])).schema


def _condition(predicate: Any, schema: Any) -> Expression | None:
    """Return the part of a condition that is understood. It selects at least the rows of the whole condition."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = _tree(json.loads(predicate.meta.serialize(format="json")), schema)
    # In polars, NaN equals itself and is above all numbers.
    return None if tree is None else Expression(("total", tree))


def _tree(node: Any, schema: Any) -> tuple[Any, ...] | None:
    if not isinstance(node, dict) or "BinaryExpr" not in node:
        return None
    inner = node["BinaryExpr"]
    left, right, operation = inner["left"], inner["right"], inner["op"]
    if operation in ("And", "LogicalAnd", "Or", "LogicalOr"):
        parts = [tree for tree in (_tree(left, schema), _tree(right, schema)) if tree is not None]
        if operation.endswith("Or") and len(parts) < 2:
            return None
        return ("or" if operation.endswith("Or") else "and", parts) if parts else None
    operation = _OPERATIONS.get(operation)
    if "Literal" in left and operation is not None:
        left, right, operation = right, left, _TURNED[operation]
    value = _value(right)
    if operation is None or value is None or "Column" not in left:
        return None
    name = left["Column"]
    if operation not in ("eq", "ne") and "Enum" in str(schema.get(name)):
        # polars compares the places of categories.
        return None
    return (operation, (name,), value)


def _value(node: Any) -> Any:
    """Return a number or text, or None if the value is of another type."""
    node = node.get("Literal") if isinstance(node, dict) else None
    while isinstance(node, dict) and len(node) == 1:
        kind, node = next(iter(node.items()))
        if kind not in ("Scalar", "Dyn", "Int", "Float", "Str", "String", "Boolean", "Int8", "Int16", "Int32", "Int64",
                        "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64"):
            return None
    return node if isinstance(node, (bool, int, float, str)) else None


def scan_polars(source: Any, **options: Any) -> Any:
    """Return a `polars.LazyFrame` of a file, several files, a pattern or a directory.

    `options` are those of `ParquetDataset`.
    """
    schema = _schema(_read.ParquetDataset(source, **options))
    return register_io_source(_Scan(source, options), schema=schema, is_pure=True)

"""Tables in other forms than the Arrow capsules: rows as dicts, columns, batches, lazy frames, scanners and datasets."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from ._core import RecordBatchReader, Schema, Table


def has_capsule(data: Any) -> bool:
    """Return True for an object with one of the Arrow capsules of data."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def as_stream(data: Any) -> Any:
    """Return an object with a capsule, whose rows are those of the data."""
    if has_capsule(data):
        return data
    if hasattr(data, "to_reader"):
        # A scanner of pyarrow.
        return data.to_reader()
    if hasattr(data, "scanner"):
        return data.scanner().to_reader()
    if hasattr(data, "collect_schema"):
        return _of_lazy_frame(data)
    if isinstance(data, Mapping):
        return _pyarrow("a dict of columns").table(dict(data))
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes, bytearray, memoryview)):
        return _of_parts(data)
    raise TypeError(
        f"expected a table with __arrow_c_stream__ or __arrow_c_array__, rows as dicts, or batches, found {type(data).__name__}"
    )


def _pyarrow(what: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise TypeError(f"{what} needs the package pyarrow, which chooses the types; tables of Arrow do not") from None
    return pyarrow


def _of_lazy_frame(frame: Any) -> Any:
    """Return the rows of a lazy frame of polars, as they are computed."""
    import polars

    if not hasattr(frame, "collect_batches"):
        return frame.collect()
    schema = Schema(_schema_of(polars.DataFrame(schema=frame.collect_schema())))
    return RecordBatchReader.from_parts(schema, frame.collect_batches())


def _of_parts(parts: Iterable[Any]) -> Any:
    """Return the rows of batches or of dicts. The first one decides which."""
    rest = iter(parts)
    first = next(rest, None)
    if first is None:
        raise TypeError("expected at least one batch, because the first one has the schema; ParquetWriter takes a schema")
    if isinstance(first, Mapping):
        return _of_rows([first, *rest])
    if not has_capsule(first):
        raise TypeError(f"expected tables, batches or dicts in the {type(parts).__name__}, found {type(first).__name__}")
    schema = _schema_of(first)
    if schema is None:
        first = Table(first)
        schema = first.schema
    return RecordBatchReader.from_parts(schema, itertools.chain([first], rest))


def _of_rows(rows: list[Any]) -> Any:
    """Return a table of dicts. A column that a row lacks is null there."""
    names: dict[str, None] = {}
    for row in rows:
        if not isinstance(row, Mapping):
            raise TypeError(f"expected rows as dicts, found {type(row).__name__}")
        names.update(dict.fromkeys(row))
    return _pyarrow("a list of dicts").table({name: [row.get(name) for row in rows] for name in names})


def _schema_of(data: Any) -> Any:
    """Return the schema of a table or stream, or None if only its rows have it."""
    schema = getattr(data, "schema", None)
    if hasattr(schema, "__arrow_c_schema__"):
        return schema
    return data if hasattr(data, "__arrow_c_schema__") else None


def with_schema(data: Any) -> tuple[Any, Any]:
    """Return the schema of data, and the data, which may be a stream."""
    data = as_stream(data)
    schema = _schema_of(data)
    try:
        if schema is not None:
            return Schema(schema), data
    except (TypeError, ValueError):
        if schema is not data:
            raise
    # Streams without a schema are read once: into memory. `Table` refuses a single column, whose schema is not that of a table.
    table = Table(data)
    return table.schema, table

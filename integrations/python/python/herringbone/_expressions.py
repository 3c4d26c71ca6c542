"""Expressions of pyarrow as filters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from . import _core
from ._core import NotUnderstood, RecordBatchReader

__all__ = ["NotUnderstood", "expression_tree", "tested_by_pyarrow"]


def expression_tree(expression: Any, schema: Any) -> tuple[Any, ...]:
    """Return the filter of a `pyarrow.compute.Expression` over the columns of an Arrow schema.

    The extension module reads what pyarrow pickles, whose size is proportional to that of the expression.
    """
    try:
        return ("condition", _core.pyarrow_condition(_pickled(expression), schema))
    except (NotUnderstood, NotImplementedError) as error:
        text = str(expression)
        shown = text if len(text) <= 200 else f"{text[:200]}…"
        raise NotUnderstood(
            f"the filter {shown} is not understood: {error}"
        ) from None


def _pickled(expression: Any) -> bytes:
    return bytes(expression.__reduce__()[1][0])


def tested_by_pyarrow(
    error: NotUnderstood,
    expression: Any,
    columns: Sequence[Any] | None,
    options: Mapping[str, Any],
    names: Sequence[str],
    read: Callable[[list[Any] | None, dict[str, Any]], RecordBatchReader],
) -> RecordBatchReader:
    """Return the rows that pyarrow selects among all rows of the columns, and of those of the expression.

    `names` are those of the file. The error is raised if pyarrow cannot select the rows of this read.
    """
    for name, value in options.items():
        if name in ("wanted_schema", "on_error", "deleted_rows") and value not in (None, "fail"):
            raise NotUnderstood(f"{error}; with {name}=, pyarrow cannot test it") from None
    if columns is not None and not set(columns) <= set(names):
        raise NotUnderstood(f"{error}; pyarrow tests it if columns= has whole columns") from None
    needed = None if columns is None else list(dict.fromkeys([*columns, *_core.pyarrow_columns(_pickled(expression))]))
    options = dict(options)
    offset, limit = options.pop("offset", None) or 0, options.pop("limit", None)
    reader = read(needed, options)
    whole = reader.schema.to_pyarrow()
    shown = [name for name in whole.names if needed is None or name not in needed[len(columns or ()) :]]

    def parts() -> Iterator[Any]:
        before, most = offset, limit
        for table in reader:
            found = table.to_pyarrow().filter(expression).select(shown)
            found, before = found.slice(before), max(before - len(found), 0)
            if most is not None:
                found = found.slice(0, most)
                most -= len(found)
            yield found
            if most == 0:
                return

    return RecordBatchReader.from_parts(_selected(whole, shown), parts())


def _selected(schema: Any, names: Sequence[str]) -> Any:
    import pyarrow

    return pyarrow.schema([schema.field(name) for name in names], schema.metadata)

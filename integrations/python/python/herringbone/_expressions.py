"""Expressions of pyarrow as filters."""

from __future__ import annotations

from typing import Any

from . import _core
from ._core import NotUnderstood

__all__ = ["NotUnderstood", "expression_tree"]


def expression_tree(expression: Any, schema: Any) -> tuple[Any, ...]:
    """Return the filter of a `pyarrow.compute.Expression` over the columns of an Arrow schema.

    The extension module reads what pyarrow pickles, whose size is proportional to that of the expression.
    """
    try:
        return ("condition", _core.pyarrow_condition(bytes(expression.__reduce__()[1][0]), schema))
    except (NotUnderstood, NotImplementedError) as error:
        text = str(expression)
        shown = text if len(text) <= 200 else f"{text[:200]}…"
        raise NotUnderstood(
            f"the filter {shown} is not understood: {error}; hb.dataset and herringbone.pyarrow leave it to pyarrow"
        ) from None

"""Filters: which rows are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import _core

_OPERATIONS = {
    "=": "eq", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge",
}


class Expression:
    """A condition on rows. Conditions are combined with ``&``, ``|`` and ``~``.

    A row is read if the condition is true for it; if it is null, the row is left out.

    >>> (col("a") > 5) & ~col("b").like("x%")
    <herringbone.Expression (a > 5 and not b like 'x%')>
    """

    __slots__ = ("_tree",)

    def __init__(self, tree: tuple[Any, ...]) -> None:
        self._tree = tree

    def __and__(self, other: Expression) -> Expression:
        joined: Expression = _joined("and", self, other)
        return joined

    def __or__(self, other: Expression) -> Expression:
        joined: Expression = _joined("or", self, other)
        return joined

    def __invert__(self) -> Expression:
        return Expression(("not", self._tree))

    def __bool__(self) -> bool:
        raise ValueError("a condition is neither true nor false; combine conditions with & | ~, not with and, or, not")

    def __repr__(self) -> str:
        return f"<herringbone.Expression {_core.check_filter(self._tree)}>"

    def __reduce__(self) -> tuple[type[Expression], tuple[tuple[Any, ...]]]:
        return Expression, (self._tree,)


def _joined(operation: str, left: Expression, right: object) -> Any:
    if not isinstance(right, Expression):
        return NotImplemented
    parts: list[tuple[Any, ...]] = []
    for tree in (left._tree, right._tree):
        parts.extend(tree[1] if tree[0] == operation else [tree])
    return Expression((operation, parts))


class Column:
    """A column in a condition; `col` makes one."""

    __slots__ = ("_path",)

    def __init__(self, path: str | tuple[str, ...]) -> None:
        self._path = path

    def _test(self, operation: str, *value: Any) -> Expression:
        tree = (operation, self._path, *value)
        _core.check_filter(tree)
        return Expression(tree)

    def __eq__(self, value: object) -> Expression:  # type: ignore[override]
        return self._test("eq", value)

    def __ne__(self, value: object) -> Expression:  # type: ignore[override]
        return self._test("ne", value)

    def __lt__(self, value: object) -> Expression:
        return self._test("lt", value)

    def __le__(self, value: object) -> Expression:
        return self._test("le", value)

    def __gt__(self, value: object) -> Expression:
        return self._test("gt", value)

    def __ge__(self, value: object) -> Expression:
        return self._test("ge", value)

    __hash__ = None  # type: ignore[assignment]

    def isin(self, values: Iterable[Any]) -> Expression:
        """Return the test for one of several values. None among them selects nulls.

        As in pyarrow, the test is never null: without None among the values, ``~`` selects nulls, too.
        """
        return self._test("in", list(values))

    def is_null(self) -> Expression:
        """Return the test for nulls."""
        return self._test("is_null")

    def is_valid(self) -> Expression:
        """Return the test for values that are not null."""
        return self._test("is_valid")

    def is_nan(self) -> Expression:
        """Return the test for NaN."""
        return self._test("is_nan")

    def like(self, pattern: str) -> Expression:
        """Return the test for an SQL pattern, with ``%`` and ``_``."""
        return self._test("like", pattern)

    def starts_with(self, prefix: str) -> Expression:
        """Return the test for a prefix."""
        return self._test("starts_with", prefix)

    def __repr__(self) -> str:
        return f"herringbone.col({self._path!r})"


def col(path: str | tuple[str, ...]) -> Column:
    """Return a column for a condition. Fields of structs are separated by dots, or given as a tuple.

    >>> col("origin.country") == "NO"
    <herringbone.Expression origin.country = 'NO'>
    """
    return Column(path)


def sql(text: str) -> Expression:
    """Return a condition in SQL, in the grammar of the command's ``--where``.

    >>> sql("a > 5 and b like 'x%'")
    <herringbone.Expression (a > 5 and b like 'x%')>
    """
    tree = ("sql", text)
    _core.check_filter(tree)
    return Expression(tree)


def filter_tree(filters: Any, schema: Callable[[], Any]) -> tuple[Any, ...] | None:
    """Return the nested tuples of a filter in any of its forms.

    `schema` returns the Arrow schema of the columns, for expressions of pyarrow.

    A list of tuples ``(column, operation, value)`` joins them by *and*, a list of such lists by *or*.
    """
    if filters is None or isinstance(filters, Expression):
        return None if filters is None else filters._tree
    if isinstance(filters, str):
        return sql(filters)._tree
    if type(filters).__module__.startswith("pyarrow"):
        from ._expressions import expression_tree

        return expression_tree(filters, schema())
    if not isinstance(filters, (list, tuple)) or not filters:
        raise ValueError(f"filters is an expression, SQL text, or a list of (column, operation, value), not {filters!r}")
    if isinstance(filters[0], str):
        raise ValueError("filters is a list of (column, operation, value); put the tuple into a list")
    if _is_condition(filters[0]):
        return _conjunction(filters)
    return ("or", [_conjunction(part) for part in filters])


def filter_columns(filters: Any) -> set[Any]:
    """Return the columns of a list of conditions, or of a list of such lists."""
    if _is_condition(filters):
        return {filters[0]}
    return set().union(*map(filter_columns, filters)) if isinstance(filters, (list, tuple)) else set()


def _is_condition(part: Any) -> bool:
    """Return True for a condition, which is not a list of conditions."""
    return isinstance(part, (list, tuple)) and len(part) == 3 and isinstance(part[1], str)


def _conjunction(conditions: Any) -> tuple[Any, ...]:
    if not isinstance(conditions, (list, tuple)) or not conditions:
        raise ValueError(f"a list of conditions is expected in filters, found {conditions!r}")
    return ("and", [_condition(condition) for condition in conditions])


def _condition(condition: Any) -> tuple[Any, ...]:
    if not isinstance(condition, (list, tuple)) or len(condition) != 3:
        raise ValueError(f"a condition in filters is (column, operation, value), found {condition!r}")
    column, operation, value = condition
    if operation in ("in", "not in"):
        if not isinstance(value, Iterable):
            raise TypeError(f"{operation!r} needs a collection of values, found {value!r}")
        tree = ("in", column, list(value))
        return tree if operation == "in" else ("not", tree)
    if operation not in _OPERATIONS:
        raise ValueError(f"unknown operation {operation!r} in filters; use {', '.join(_OPERATIONS)}, in, not in")
    return (_OPERATIONS[operation], column, value)

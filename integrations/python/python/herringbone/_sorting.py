"""The columns by which the rows of a row group are sorted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class SortingColumn(NamedTuple):
    """A column by which rows are sorted.

    >>> SortingColumn(0, descending=True)
    SortingColumn(column_index=0, descending=True, nulls_first=False)
    """

    column_index: int
    descending: bool = False
    nulls_first: bool = False

    @classmethod
    def from_ordering(
        cls, schema: Any, sort_keys: Sequence[str | tuple[str, str]], null_placement: str = "at_end"
    ) -> tuple[SortingColumn, ...]:
        """Return the sorting columns for names, or pairs of a name and 'ascending' or 'descending'."""
        if null_placement not in ("at_start", "at_end"):
            raise ValueError(f"null_placement is 'at_start' or 'at_end', not {null_placement!r}")
        names = _leaf_names(schema)
        columns = []
        for key in sort_keys:
            name, order = (key, "ascending") if isinstance(key, str) else key
            if order not in ("ascending", "descending"):
                raise ValueError(f"the order of {name!r} is 'ascending' or 'descending', not {order!r}")
            if name not in names:
                raise ValueError(f"the sort key {name!r} is not a column: {', '.join(names)}")
            columns.append(cls(names.index(name), order == "descending", null_placement == "at_start"))
        return tuple(columns)

    @staticmethod
    def to_ordering(
        schema: Any, sorting_columns: Sequence[SortingColumn]
    ) -> tuple[tuple[tuple[str, str], ...], str]:
        """Return pairs of names and orders, and the place of nulls."""
        placements = {column.nulls_first for column in sorting_columns}
        if len(placements) > 1:
            raise ValueError("the sorting columns place nulls differently, which a list of sort keys cannot express")
        names = _leaf_names(schema)
        keys = tuple(
            (names[column.column_index], "descending" if column.descending else "ascending")
            for column in sorting_columns
        )
        return keys, "at_start" if True in placements else "at_end"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dict."""
        return self._asdict()


def _leaf_names(schema: Any) -> list[str]:
    """Return the paths of the leaves of an Arrow schema."""
    if hasattr(schema, "to_arrow_schema"):
        return [schema.column(i).path for i in range(len(schema))]
    from . import _core

    return _core.leaf_paths(schema)

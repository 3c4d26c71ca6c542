"""Tables and columns as text and HTML, for people."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from ._core import ChunkedArray, Table

_ROWS = 5
_HTML_ROWS = 10
_HTML_COLUMNS = 20
#: The widest cell and the widest line of text, and the widest cell of HTML, in characters.
_CELL = 28
_LINE = 118
_HTML_CELL = 200


def table_text(table: Table) -> str:
    """Return the size of a table, its columns and its first rows."""
    size = f"herringbone.Table ({_count(len(table), 'row')}, {_count(table.num_columns, 'column')})"
    columns = [_text_column(column) for column in table.columns[:_LINE]]
    shown: list[list[str]] = []
    width = 0
    for cells in columns:
        width += max(map(len, cells)) + 2
        if shown and width > _LINE:
            break
        shown.append([cell.ljust(max(map(len, cells))) for cell in cells])
    lines = [size, *("  ".join(line).rstrip() for line in zip(*shown))]
    return "\n".join([*lines, *_left(len(table) - _ROWS, [column.name for column in table.columns[len(shown):]])])


def _text_column(column: ChunkedArray) -> list[str]:
    """Return the lines of a column: its name, its type and its first values."""
    return [_short(text, _CELL) for text in (column.name, column.type, *column._texts(_ROWS))]


def _left(rows: int, columns: Sequence[str]) -> Iterable[str]:
    """Yield the lines about rows and columns that are not shown."""
    if rows > 0:
        yield f"… and {_count(rows, 'more row')}"
    if columns:
        names = _short(", ".join(columns[:_LINE]), _LINE)
        yield f"… and {_count(len(columns), 'more column')}: {names}"


def column_text(column: ChunkedArray) -> str:
    """Return the length of a column, its type and its first values."""
    size = f"herringbone.ChunkedArray ({_count(len(column), 'row')})"
    name = _short(f"{column.name}: {column.type}", _LINE)
    texts = (_short(text, _LINE) for text in column._texts(_ROWS))
    return "\n".join([size, name, *texts, *_left(len(column) - _ROWS, [])])


def table_html(table: Table) -> str:
    """Return a table of HTML with the first rows."""
    columns = table.columns[:_HTML_COLUMNS]
    cells = [column._texts(_HTML_ROWS) for column in columns]
    names = _row(f"<th>{_escaped(column.name)}<br><small>{_escaped(column.type)}</small></th>" for column in columns)
    rows = (_row(f"<td>{_escaped(cell)}</td>" for cell in line) for line in zip(*cells))
    size = f"{_count(len(table), 'row')}, {_count(table.num_columns, 'column')}"
    left = _left(len(table) - _HTML_ROWS, [column.name for column in table.columns[_HTML_COLUMNS:]])
    notes = "".join(f"<br>{html.escape(note)}" for note in left)
    return f"<table><thead>{names}</thead><tbody>{''.join(rows)}</tbody></table><small>{size}{notes}</small>"


def _row(cells: Iterable[str]) -> str:
    return f"<tr>{''.join(cells)}</tr>"


def _escaped(text: str) -> str:
    return html.escape(_short(text, _HTML_CELL))


def _short(text: str, width: int) -> str:
    """Return the beginning of a text, without signs that change the terminal or the line."""
    text = "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text[: width + 1])
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"

#!/usr/bin/env python3
"""Writes the types of the table of options, `herringbone._keywords`, for type checkers: options.py > _options.py.

`tests/test_options.py` fails if the file is not up to date.
"""

from herringbone import _keywords

HEADER = '''"""The types of options, for type checkers and editors. Written by options.py: change `_keywords.py`, and run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from ._core import FileMetaData
'''

#: The classes: name, bases, options and purpose.
CLASSES = (
    ("FileOptions", (), _keywords.FILE, "The options with which a file is opened."),
    ("FooterOptions", (), _keywords.FOOTER, "The metadata that a caller of a single file has already."),
    ("RowOptions", (), _keywords.ROWS, "The options for the rows of a read."),
    ("ReadOptions", ("RowOptions",), _keywords.PARTS, "The options of `ParquetFile.read`."),
    ("OpenOptions", ("FileOptions", "FooterOptions"), (), "The options of functions that open one file."),
    ("SourceOptions", ("OpenOptions",), _keywords.MEMORY_MAP, "All options with which one file is opened."),
    ("FilesOptions", ("FileOptions",), _keywords.MEMORY_MAP, "The options with which several files are opened."),
    ("TableOptions", ("SourceOptions", "ReadOptions"), (), "The options of `read_table`."),
    (
        "PandasOptions", ("TableOptions",), (*_keywords.PLACE, *_keywords.DATASET, *_keywords.THREADS),
        "The options of `read_pandas`.",
    ),
    ("ScanOptions", ("FilesOptions",), (*_keywords.PLACE, *_keywords.DATASET), "The options of `scan_polars`."),
    ("WriteOptions", (), _keywords.WRITE, "The options of writing."),
    ("PyarrowOptions", (), _keywords.PYARROW_WRITE, "The options of writing in `herringbone.pyarrow`."),
    ("CollectingOptions", ("PyarrowOptions",), _keywords.COLLECTOR, "These options, and the list of metadata."),
)


def text():
    """Return the file."""
    parts = [HEADER]
    for name, bases, keywords, purpose in CLASSES:
        parts.append(f'\n\nclass {name}({", ".join(bases or ("TypedDict",))}, total=False):\n    """{purpose}"""\n')
        for one in keywords:
            parts.append(f'\n    {one.name}: {one.kind}\n    """{one.help} Default: {one.default!r}."""\n')
    return "".join(parts)


if __name__ == "__main__":
    print(text(), end="")

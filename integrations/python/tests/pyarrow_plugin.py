"""A pytest plugin that puts our functions in the place of pyarrow's, for pyarrow's own tests.

Nothing is passed on to pyarrow: an unsupported call fails its test. With HERRINGBONE_INSTALL=1, `install` puts them
there, and the calls that it passed on are counted at the end.
"""

import os

import pyarrow.parquet
import pyarrow.parquet.core

import herringbone.pyarrow as ours

IS_INSTALLED = os.environ.get("HERRINGBONE_INSTALL") == "1"


def pytest_configure(config):
    if IS_INSTALLED:
        ours.install()
        return
    for name, kind in ours._CLASSES.items():
        standing = ours._in_place(name, kind, getattr(pyarrow.parquet, name))
        setattr(pyarrow.parquet, name, standing)
    for name, function in ours._FUNCTIONS.items():
        setattr(pyarrow.parquet, name, function)
        setattr(pyarrow.parquet.core, name, function)


def pytest_terminal_summary(terminalreporter):
    for (function, keyword), calls in sorted(ours.passed_on().items()):
        terminalreporter.write_line(f"passed on: {function} {keyword} {calls}")

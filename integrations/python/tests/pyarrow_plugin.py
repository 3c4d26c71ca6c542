"""A pytest plugin that puts our functions in the place of pyarrow's, for pyarrow's own tests.

Nothing is passed on to pyarrow: an unsupported call fails its test.
"""

import pyarrow.parquet
import pyarrow.parquet.core

import herringbone.pyarrow as ours


def pytest_configure(config):
    for name, function in ours._FUNCTIONS.items():
        setattr(pyarrow.parquet, name, function)
        setattr(pyarrow.parquet.core, name, function)

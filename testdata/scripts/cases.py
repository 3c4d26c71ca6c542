"""Where the hand-built files are collected: a case is a name, a file and what it holds."""

import pyarrow as pa

import canonical

BUILT = {}


def add(name, data, columns, rows=None, **notes):
    """`columns` is a list of (field, list of Python values or Arrow array)."""
    assert name not in BUILT, name
    arrays = [
        (field, values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values, field.type))
        for field, values in columns
    ]
    if rows is None:
        rows = len(arrays[0][1])
    assert all(len(array) == rows for _, array in arrays), name
    BUILT[name] = (data, canonical.expectation(arrays, rows, source="by construction", **notes))


def required(name, t):
    return pa.field(name, t, nullable=False)

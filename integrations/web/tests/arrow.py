"""Compares rows as Arrow IPC with those that pyarrow reads: arrow.py FOLDER, in which X.arrow has the rows of the file named in X.path."""

import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq



def is_same(found: pa.ChunkedArray, wanted: pa.ChunkedArray) -> bool:
    # Types may differ in views or in the width of offsets.
    if found.type != wanted.type:
        found = found.cast(wanted.type)
    # NaN equals nothing, so that texts compare what has it.
    return found.equals(wanted) or str(found.to_pylist()) == str(wanted.to_pylist())


compared = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.path")):
    file = path.read_text()
    rows = pa.ipc.open_stream(path.with_suffix(".arrow").read_bytes()).read_all()
    expected = pq.read_table(file)
    assert rows.num_rows == expected.num_rows, file
    for name in expected.column_names:
        assert is_same(rows.column(name), expected.column(name)), f"{file}: {name}"
        compared += 1
assert compared > 100, f"{compared} columns"
print(f"{compared} columns of Arrow IPC are those of pyarrow")

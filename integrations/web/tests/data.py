"""Writes the files of the tests that are too large to keep: data.py FOLDER."""

import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def table(rows: range) -> pa.Table:
    return pa.table(
        {
            "id": pa.array(rows, pa.int64()),
            "text": pa.array([f"row {id * 2654435761 % 2**32}" for id in rows]),
            "fare": pa.array([id % 1000 / 10 for id in rows]),
            "big": pa.array([2**62 + id for id in rows], pa.int64()),
        }
    )


options = {"row_group_size": 50_000, "write_page_index": True, "data_page_size": 64 * 1024, "use_dictionary": False}
pq.write_table(table(range(200_000)), folder / "large.parquet", **options)
pq.write_table(table(range(1_000_000)), folder / "million.parquet", **options)
hostile = {
    "<img src=x onerror=\"document.title='hostile'\">": [1],
    "</script><script>document.title='hostile'</script>": ["<b>bold</b>"],
    "\u202egnp.exe": ["a\u202eb"],
    "": [None],
    "__proto__": ["own"],
}
pq.write_table(pa.table(hostile, metadata={"<i>": "<u>"}), folder / "hostile.parquet")

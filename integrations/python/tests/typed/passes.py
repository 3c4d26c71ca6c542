"""A program that type checkers accept."""

import polars

import herringbone as hb
import herringbone.pyarrow as pq

table: hb.Table = hb.read_table("a", columns=["a"], filters=hb.col("a") > 1, limit=5, on_error="null_page", row_numbers="n")
same: bool = table.equals(table.select(["a"]).slice(0, 5).head(3)) or table == table
names: list[str] = [column.name for column in table] + [field.name for field in table.schema]
part: hb.Table = table[1:5][["a", "b"]]
column: hb.ChunkedArray = table["a"][1:]
field: hb.Field = table.schema["a"]
frame: polars.DataFrame = table.to_polars()
lazy: polars.LazyFrame = hb.scan_polars("a", schema="union", keys={"footer": b""})
with hb.ParquetFile("a", coerce_int96_timestamp_unit="ms", limits={"memory_bytes": 1}) as file:
    file.read(["a"], offset=1, match_fields="name", variants={"n": ("c", "$.p", "int64")})
    for batch in file.iter_batches(10, filters="a > 1", limit=7):
        batch.num_rows + 1
metadata: hb.FileMetaData = hb.write_table(table, "b", compression={"a": "zstd:3"}, encoding="alp", page_bytes="64KiB", sort_by=["a"])
with hb.ParquetWriter("c", table.schema, row_group_size=5, bloom_filter={"a": 0.01}, statistics="page") as writer:
    writer.write(table)
hb.write_to_dataset([{"a": 1}], "d", ["a"], created_by="x", storage_options={"anon": True})
hb.read_metadata("a", storage_options={"anon": True}, thrift_string_size_limit=5)
pq.write_table(table.to_pyarrow(), "e", compression="snappy", coerce_timestamps="ms", metadata_collector=[])

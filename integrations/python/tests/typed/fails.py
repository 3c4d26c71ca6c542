"""A program whose marked lines type checkers refuse."""

import herringbone as hb
import herringbone.pyarrow as pq

hb.read_table("a", colums=["a"])  # wrong
hb.read_table("a", limit="5")  # wrong
hb.read_table("a", columns=5)  # wrong
hb.read_table("a", on_error="ignore")  # wrong
hb.ParquetFile("a", page_checksum_verification="yes")  # wrong
hb.ParquetFile("a").read(filter="a > 1")  # wrong
hb.ParquetFile("a").iter_batches(limit="x")  # wrong
hb.ParquetDataset("a", on_eror="fail")  # wrong
hb.read_metadata("a", memory_mapp=True)  # wrong
hb.verify("a", keys=5)  # wrong
hb.scan_polars("a", columns=["a"])  # wrong
hb.dataset("a", filters="a > 1")  # wrong
hb.write_table(5, "b", compresion="zstd")  # wrong
hb.write_table(5, "b", encoding="alpha")  # wrong
hb.write_table(5, "b", page_rows="many")  # wrong
hb.write_table(5, "b", compression={"a": 5})  # wrong
hb.ParquetWriter("b", 5, statistics="chunks")  # wrong
hb.write_to_dataset(5, "b", ["a"], row_group_size="5")  # wrong
hb.Table(5).select("a").colunm("a")  # wrong
hb.Table(5)[1.5]  # wrong
pq.write_table(5, "e", coerce_timestamps="minutes")  # wrong
pq.ParquetWriter("e", 5, compresion="snappy")  # wrong

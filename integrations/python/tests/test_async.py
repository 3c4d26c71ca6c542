"""Reads local files in coroutines. `test_urls.py` reads URLs."""

import asyncio

import pytest

import herringbone as hb


def test_tables_and_batches(example, tmp_path):
    whole = hb.read_table(example)
    for name in "ab":
        hb.write_table(whole, tmp_path / f"{name}.parquet")

    async def reads():
        one = hb.read_table_async(example, columns=["id"], filters="id >= 22")
        many = hb.read_table_async(str(tmp_path), columns=["id"], limit=30)
        return await asyncio.gather(one, many, hb.read_table_async(example, row_groups=[1], row_numbers="row"))

    one, many, group = asyncio.run(reads())
    assert one.to_pydict() == {"id": [22, 23]}
    assert many.to_pydict() == {"id": [*range(24), *range(6)]}
    assert group.to_pydict()["row"] == list(range(16, 24))

    async def batches():
        with hb.ParquetFile(example) as file:
            return [batch.num_rows async for batch in file.iter_batches(batch_size=10, columns=["id"])]

    assert asyncio.run(batches()) == [10, 6, 8]


def test_errors_are_those_of_other_reads(example):
    with pytest.raises(FileNotFoundError):
        asyncio.run(hb.read_table_async("nothing.parquet"))
    with pytest.raises(TypeError, match=r"read_table_async\(\) has no option 'colums'; did you mean 'columns'"):
        hb.read_table_async(example, colums=["id"])
    with pytest.raises(hb.ParquetError, match="missing"):
        asyncio.run(hb.read_table_async(example, columns=["missing"]))

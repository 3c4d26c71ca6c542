"""Pages that end by their content, compared with those of pyarrow."""

from __future__ import annotations

import io
import random
import struct
from typing import Any

import pytest

import herringbone as hb

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SIZES = [
    {"min_chunk_size": 4096, "max_chunk_size": 16384},
    {"min_chunk_size": 1000, "max_chunk_size": 30000, "norm_level": 2},
    {"min_chunk_size": 1, "max_chunk_size": 9000, "norm_level": -1},
]
#: No other limits of pages.
THEIRS: dict[str, Any] = {"data_page_size": 1 << 30, "max_rows_per_page": 1 << 30, "use_dictionary": False}


def table(rows: int) -> Any:
    """Return columns of every kind of levels and of values."""
    rng = random.Random(7)

    def maybe(make: Any, nulls: float = 0.2) -> list[Any]:
        return [None if rng.random() < nulls else make() for _ in range(rows)]

    def integer() -> int:
        return rng.randrange(1 << 40)

    columns = {
        "int32": pa.array(maybe(lambda: rng.randrange(1 << 30)), pa.int32()),
        "boolean": pa.array(maybe(lambda: rng.random() < 0.5)),
        "double": pa.array(maybe(rng.random)),
        "string": pa.array(maybe(lambda: "x" * rng.randrange(20) + str(rng.randrange(1000)))),
        "binary": pa.array([rng.randbytes(rng.randrange(9)) for _ in range(rows)], pa.binary()),
        "fixed": pa.array(maybe(lambda: rng.randbytes(5)), pa.binary(5)),
        "struct": pa.array(maybe(lambda: {"x": integer(), "y": rng.choice(["a", None])})),
        "list": pa.array(maybe(lambda: [rng.choice([None, integer()]) for _ in range(rng.randrange(4))])),
        "lists": pa.array(maybe(lambda: [[integer()] * rng.randrange(3) for _ in range(rng.randrange(3))])),
        "nulls": pa.array([None] * rows, pa.int64()),
    }
    required = pa.array([integer() for _ in range(rows)])
    schema = pa.schema([pa.field("required", pa.int64(), nullable=False)])
    result = pa.table([required], schema=schema)
    for name, column in columns.items():
        result = result.append_column(name, column)
    return result


def written(data: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    hb.write_table(data, sink, **options)
    return sink.getvalue()


def written_by_pyarrow(data: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(data, sink, **options)
    return sink.getvalue()


def pages(file: bytes) -> list[list[list[int]]]:
    """Return the numbers of rows of the pages, by row group and column."""
    parquet = hb.ParquetFile(file)
    metadata = parquet.metadata
    found = []
    for group in range(metadata.num_row_groups):
        paths = [metadata.row_group(group).column(leaf).path_in_schema for leaf in range(metadata.num_columns)]
        bounds = [parquet.page_bounds(group, path) for path in paths]
        found.append([[] if of_column is None else of_column.to_pydict()["row_count"] for of_column in bounds])
    return found


@pytest.mark.parametrize("sizes", SIZES)
def test_pages_end_where_those_of_pyarrow_do(sizes):
    data = table(20_000)
    theirs = written_by_pyarrow(
        data, use_content_defined_chunking=sizes, row_group_size=8000, write_page_index=True, **THEIRS
    )
    expected = pages(theirs)
    assert len(expected) == 3 and sum(len(column) for group in expected for column in group) > 200
    ours = written(data, use_content_defined_chunking=sizes, row_group_size=8000, use_dictionary=False)
    assert pages(ours) == expected
    assert pq.read_table(io.BytesIO(ours)).equals(data)


def test_pages_continue_across_batches():
    data = table(5000)
    options = {"use_content_defined_chunking": SIZES[0], "use_dictionary": False}
    sink = io.BytesIO()
    with hb.ParquetWriter(sink, data.schema, **options) as writer:
        for batch in data.to_batches(max_chunksize=77):
            writer.write_batch(batch)
    assert sink.getvalue() == written(data, **options)


def test_rows_come_back_from_any_encoding():
    data = table(5000)
    data = data.append_column("dictionary", data["string"].dictionary_encode())
    for use_dictionary in (None, True, False):
        file = written(data, use_content_defined_chunking=SIZES[2], use_dictionary=use_dictionary)
        assert all(len(column) > 1 for column in pages(file)[0])
        assert pq.read_table(io.BytesIO(file)).to_pydict() == data.to_pydict()
        assert hb.read_table(file).to_pydict() == data.to_pydict()


def test_an_insertion_changes_few_pages():
    rng = random.Random(1)
    values = [rng.randrange(1 << 40) for _ in range(200_000)]
    inserted = values[:100_000] + [rng.randrange(1 << 40) for _ in range(10)] + values[100_000:]

    def bodies(values: list[int], **options: Any) -> list[bytes]:
        schema = pa.schema([pa.field("a", pa.int64(), nullable=False)])
        data = pa.table([pa.array(values)], schema=schema)
        file = written(data, compression="none", use_dictionary=False, **options)
        # Pages are PLAIN values without levels, so their bytes are the slices of the column.
        plain, at, found = struct.pack(f"<{len(values)}q", *values), 0, []
        for rows in pages(file)[0][0]:
            body = plain[at : at + 8 * rows]
            assert body in file
            found.append(body)
            at += 8 * rows
        assert at == len(plain)
        return found

    def kept(**options: Any) -> tuple[int, int]:
        before, after = bodies(values, **options), bodies(inserted, **options)
        return len(after), len(set(before) & set(after))

    # The pages after the insertion change, except with content-defined chunking.
    assert kept(max_rows_per_page=4000) == (51, 25)
    sizes = {"min_chunk_size": 16 << 10, "max_chunk_size": 64 << 10}
    num_pages, same = kept(use_content_defined_chunking=sizes)
    assert num_pages > 30 and num_pages - same <= 3
    lengths = [len(body) for body in bodies(values, use_content_defined_chunking=sizes)]
    assert all(16 << 10 <= length <= 64 << 10 for length in lengths[:-1]) and lengths[-1] <= 64 << 10


def test_limits_of_pages_hold_too():
    file = written(table(5000), use_content_defined_chunking=True, max_rows_per_page=1000, use_dictionary=False)
    assert pages(file)[0][0] == [1000] * 5


def test_defaults_are_those_of_pyarrow():
    values = pa.array(random.Random(3).choices(range(1 << 40), k=600_000))
    data = pa.table({"a": values})
    theirs = written_by_pyarrow(data, use_content_defined_chunking=True, write_page_index=True, **THEIRS)
    assert pages(written(data, use_content_defined_chunking=True, use_dictionary=False)) == pages(theirs)


@pytest.mark.parametrize(
    ("sizes", "error"),
    [
        ({"min_chunk_size": 1000, "max_chunk_size": 1000}, ValueError),
        ({"min_chunk_size": 2000, "max_chunk_size": 1000}, ValueError),
        ({"min_chunk_size": -1, "max_chunk_size": 1000}, ValueError),
        ({"min_chunk_size": 1000, "max_chunk_size": 1010}, ValueError),
        ({"norm_level": 15}, ValueError),
        ({"norm_level": -49}, ValueError),
        ({"chunk_size": 1000}, ValueError),
        (3, TypeError),
    ],
)
def test_options_that_contradict_each_other_are_errors(sizes, error):
    with pytest.raises(error, match="chunk|norm_level"):
        written(pa.table({"a": [1]}), use_content_defined_chunking=sizes)

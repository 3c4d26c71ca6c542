"""What works without any other package: run in an environment with pytest alone."""

import copy
import datetime
import decimal
import doctest
import importlib
import io
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import threading
import uuid

import pytest

import herringbone as hb


def written(**options):
    """Return the bytes of the example, written again."""
    file = io.BytesIO()
    hb.write_table(hb.read_table("testdata/example.parquet"), file, **options)
    return file.getvalue()


def test_import_takes_no_package():
    code = "import sys, herringbone; print([m for m in ('asyncio', 'numpy', 'pyarrow', 'pandas', 'polars') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("module", ["", "_filters", "_functions", "_read", "_sorting", "_write"])
def test_examples(module):
    found = importlib.import_module(f"herringbone.{module}".rstrip("."))
    names = {name: getattr(hb, name) for name in hb.__all__}
    assert doctest.testmod(found, extraglobs=names).failed == 0


@pytest.mark.parametrize("name", ["docs/python.md", "integrations/python/README.md"])
def test_examples_of_documents(name, tmp_path, monkeypatch):
    text = pathlib.Path(name).read_text()
    for part in text.split("```python\n")[1:]:
        code = part.split("```")[0]
        if "pyarrow" in code or "polars" in code or "duckdb" in code or "pandas" in code:
            pytest.importorskip("pyarrow")
            pytest.importorskip("polars")
            pytest.importorskip("duckdb")
        monkeypatch.setenv("HOME", str(tmp_path))
        exec(compile(code.replace("out/", f"{tmp_path}/"), name, "exec"), {})


def test_columns_have_the_order_of_the_request(example):
    table = hb.read_table(example, columns=["name", "id", "origin.country"])
    assert table.column_names == ["name", "id", "origin"]
    assert table.num_rows == len(table) == 24
    assert hb.read_table(example, columns=["id"], limit=2, offset=1).to_pydict() == {"id": [1, 2]}


def test_sources(example, tmp_path):
    data = pathlib.Path(example).read_bytes()
    expected = hb.read_table(example, columns=["id"]).to_pydict()
    number = os.open(example, os.O_RDONLY)
    sources = [
        example, pathlib.Path(example), data, bytearray(data), memoryview(data), io.BytesIO(data), open(example, "rb"),
        open(example, "rb", buffering=0), number, f"file://{os.path.abspath(example)}",
    ]
    for source in sources:
        assert hb.read_table(source, columns=["id"]).to_pydict() == expected
    os.fstat(number)
    os.close(number)


def test_bytes_are_not_copied():
    data = written(compression="none", use_dictionary=False)
    before = sys.getrefcount(data)
    file = hb.ParquetFile(data)
    assert sys.getrefcount(data) > before
    del file
    assert sys.getrefcount(data) == before


def test_sinks(example, tmp_path):
    table = hb.read_table(example)
    path = tmp_path / "a.parquet"
    with open(tmp_path / "b.parquet", "wb") as file:
        number = os.open(tmp_path / "c.parquet", os.O_WRONLY | os.O_CREAT)
        for sink in (path, file, number):
            assert hb.write_table(table, sink).num_rows == 24
        os.close(number)
    for name in "abc":
        assert hb.read_table(tmp_path / f"{name}.parquet", columns=["id"]).num_rows == 24


def test_a_path_appears_when_the_file_is_complete(example, tmp_path):
    table = hb.read_table(example)
    path = tmp_path / "a.parquet"
    with hb.ParquetWriter(path, table.schema) as writer:
        writer.write(table)
        assert not path.exists()
    assert path.exists()
    with pytest.raises(ZeroDivisionError):
        with hb.ParquetWriter(tmp_path / "b.parquet", table.schema) as writer:
            writer.write(table)
            1 / 0
    assert os.listdir(tmp_path) == ["a.parquet"]


def test_filters(example):
    ids = lambda filters: hb.read_table(example, columns=["id"], filters=filters).to_pydict()["id"]
    assert ids([("id", ">=", 22)]) == [22, 23]
    assert ids([[("id", "<", 1)], [("id", "in", [5, 7])]]) == [0, 5, 7]
    assert ids([("id", "not in", range(2, 24))]) == [0, 1]
    assert ids(hb.col("id") > 21) == ids("id > 21") == ids(hb.sql("22 <= id")) == [22, 23]
    assert ids((hb.col("name") == "amber") | hb.col("name").isin(["basil"])) == [0, 1, 10, 11, 20, 21]
    assert ids(hb.col("name").starts_with("am") & ~hb.col("id").is_null()) == [0, 10, 20]
    assert ids(hb.col("name").like("%asil")) == [1, 11, 21]
    assert ids(hb.col("price") < decimal.Decimal("0.01"))[:1] == [0]
    assert ids(pickle.loads(pickle.dumps(hb.col("id") == 3))) == [3]
    assert ids(hb.col("harvested") < datetime.datetime(2026, 1, 1, 13, tzinfo=datetime.timezone.utc))[0] == 0
    for wrong in ([], "id >", [("id", "~", 1)], ("id", "=", 1), [("id", "=")], 5):
        with pytest.raises(ValueError):
            ids(wrong)
    with pytest.raises(ValueError, match="colour"):
        ids(hb.col("colour") == 1)
    with pytest.raises(ValueError, match="&"):
        ids(hb.col("id") > 1 and hb.col("id") < 5)


def test_many_conditions_are_not_deep(example):
    condition = hb.col("id") == 0
    for number in range(1, 5000):
        condition |= hb.col("id") == number
    assert hb.read_table(example, columns=["id"], filters=condition).num_rows == 24
    for _ in range(1000):
        condition = ~condition
    with pytest.raises(ValueError, match="200 levels"):
        hb.read_table(example, filters=condition)


def test_nan_is_not_above_numbers():
    literal = hb.col("weight") > 1e300
    assert hb.read_table("testdata/example.parquet", filters=literal).num_rows == 0


def test_metadata(example):
    metadata = hb.read_metadata(example)
    assert (metadata.num_rows, metadata.num_row_groups) == (24, 2)
    chunk = metadata.row_group(0).column(0)
    assert chunk.path_in_schema == "id"
    assert (chunk.statistics.min, chunk.statistics.max, chunk.statistics.null_count) == (0, 15, 0)
    as_dict = metadata.to_dict()
    assert as_dict["row_groups"][1]["columns"][0]["statistics"]["max"] == 23
    assert pickle.loads(pickle.dumps(metadata)) == metadata
    for index in (2, -1):
        with pytest.raises(IndexError):
            metadata.row_group(index)
    assert "optional" in repr(metadata.schema)
    schema = hb.read_schema(example)
    assert [metadata.schema.column(i).path for i in range(2)] == schema.names[:2] == ["id", "name"]


def test_metadata_files(example, tmp_path):
    table = hb.read_table(example)
    first = hb.write_table(table, tmp_path / "a.parquet")
    second = hb.write_table(table, tmp_path / "b.parquet")
    first.set_file_path("a.parquet")
    second.set_file_path("b.parquet")
    hb.write_metadata(table.schema, tmp_path / "_metadata", [first, second])
    both = hb.read_metadata(tmp_path / "_metadata")
    assert both.num_rows == 48
    assert both.row_group(1).column(0).file_path == "b.parquet"
    assert first.num_rows == 24
    hb.write_metadata(table.schema, tmp_path / "_common_metadata")
    assert hb.read_schema(tmp_path / "_common_metadata").names == table.column_names


def test_write_options(example):
    data = written(
        compression={"id": "gzip"}, row_group_size=10, use_dictionary=["name"], write_page_index=False,
        column_encoding={"id": "DELTA_BINARY_PACKED"}, sorting_columns=[hb.SortingColumn(0)],
        bloom_filter_options={"id": {"fpp": 0.01}}, key_value_metadata={"a": "b"}, max_rows_per_page=5,
    )
    metadata = hb.read_metadata(data)
    group = metadata.row_group(0)
    assert (metadata.num_row_groups, group.num_rows) == (3, 10)
    assert group.column(0).compression == "GZIP"
    assert "DELTA_BINARY_PACKED" in group.column(0).encodings
    assert group.column(0).bloom_filter_offset is not None
    assert not group.column(0).has_column_index
    assert group.sorting_columns == (hb.SortingColumn(0),)
    assert metadata.metadata[b"a"] == b"b"
    for wrong in (
        {"compression": "zip"}, {"compression_level": 3}, {"compression": "snappy", "compression_level": 3},
        {"use_dictionary": ["colour"]}, {"row_group_size": 0}, {"sorting_columns": [hb.SortingColumn(99)]},
        {"data_page_version": "3.0"},
    ):
        with pytest.raises(ValueError):
            written(**wrong)
    with pytest.raises(TypeError, match="colour"):
        written(colour=1)
    with pytest.raises(NotImplementedError, match="version"):
        written(version="1.0")


def test_keys(example):
    keys = {"footer": b"0123456789012345", "columns": {"id": b"abcdefghijklmnop"}}
    data = written(keys=keys)
    assert data[:4] == b"PARE"
    assert hb.read_table(data, keys=keys, columns=["id"]).num_rows == 24
    with pytest.raises(hb.ParquetError, match="keys=") as error:
        hb.read_table(data)
    assert error.value.kind == "key"
    with pytest.raises(hb.ParquetError):
        hb.read_table(data, keys={"footer": b"x" * 16})
    with pytest.raises(TypeError, match="foter"):
        hb.read_table(data, keys={"foter": b"x" * 16})
    named = {"footer": (keys["footer"], b"k1")}
    retrieve = {"k1": keys["footer"]}.__getitem__
    assert hb.read_table(written(keys=named), keys={"retrieve": retrieve}).num_rows == 24
    with pytest.raises(KeyError):
        hb.read_table(written(keys={"footer": (keys["footer"], b"k2")}), keys={"retrieve": retrieve})


def test_errors(example, tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        hb.read_table(tmp_path / "a.parquet")
    assert error.value.filename == str(tmp_path / "a.parquet")
    with pytest.raises(FileNotFoundError):
        hb.write_table(hb.read_table(example), tmp_path / "missing" / "a.parquet")
    for wrong in (5.5, None, object()):
        with pytest.raises((TypeError, ValueError)):
            hb.read_table(wrong)
    data = bytearray(written())
    for wrong in (b"", b"PAR1", data[:-1], b"x" * 100):
        with pytest.raises(hb.ParquetError) as error:
            hb.read_table(bytes(wrong))
        assert error.value.kind == "corrupt"
    assert issubclass(hb.ParquetError, ValueError)
    with pytest.raises(hb.ParquetError, match="colour"):
        hb.read_table(example, columns=["colour"])
    with pytest.raises(TypeError, match="colour"):
        hb.read_table(example, colour=1)
    with pytest.raises(hb.ParquetError) as error:
        hb.read_table(example, limits={"memory_bytes": 100})
    assert (error.value.kind, "memory_bytes" in error.value.option) == ("limit", True)
    with pytest.raises(ValueError, match="^row_groups: -1 is negative"):
        hb.read_table(example, row_groups=[-1])
    with pytest.raises(TypeError, match="^the option row_numbers"):
        hb.read_table(example, row_numbers=5)
    with pytest.raises(hb.ParquetError, match="memory_byte"):
        hb.read_table(example, limits={"memory_byte": 100})


def test_damage(example):
    data = bytearray(written(compression="none"))
    chunk = hb.read_metadata(bytes(data)).row_group(0).column(0)
    at = chunk.dictionary_page_offset or chunk.data_page_offset
    data[at + 2] ^= 0xFF
    with pytest.raises(hb.ParquetError) as error:
        hb.read_table(bytes(data))
    assert (error.value.kind, error.value.column, error.value.row_group) == ("corrupt", "id", 0)
    with pytest.warns(hb.LossWarning):
        table = hb.read_table(bytes(data), on_error="skip_row_group")
    assert table.losses[0][:2] == ("rows", 24 - table.num_rows)
    assert {finding["column"] for finding in hb.verify(bytes(data))} >= {"id"}
    sink = io.BytesIO()
    report = hb.repair(bytes(data), sink)
    assert report["lost"]


def test_file_objects_that_fail(example):
    class Raises(io.BytesIO):
        def read(self, *_):
            raise RuntimeError("no")

    class Text(io.BytesIO):
        def read(self, *_):
            return "text"

    class Long(io.BytesIO):
        def read(self, n=-1):
            return super().read(n) + b"x"

    class Empty(io.BytesIO):
        def read(self, *_):
            return b""

    class Short(io.BytesIO):
        def read(self, n=-1):
            return super().read(min(n, 7))

    data = pathlib.Path(example).read_bytes()
    for kind, error in ((Raises, RuntimeError), (Text, TypeError), (Long, ValueError), (Empty, OSError)):
        with pytest.raises(error):
            hb.read_table(kind(data))
    assert hb.read_table(Short(data)).num_rows == 24

    class Full(io.BytesIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError) as error:
        hb.write_table(hb.read_table(example), Full())
    assert error.value.errno == 28


def test_streams(example):
    with hb.ParquetFile(example) as file:
        sizes = [len(batch) for batch in file.iter_batches(batch_size=5, columns=["id"])]
        assert sum(sizes) == 24 and max(sizes) == 5
        assert file.read_row_group(1, columns=["id"]).to_pydict()["id"][0] == 16
        assert file.read_row_groups([1, 0], columns=["id"]).num_rows == 24
        assert file.scan_contents() == 24
    with pytest.raises(ValueError, match="closed"):
        file.read()
    reader = hb.ParquetFile(example).iter_batches()
    hb.Table(reader)
    with pytest.raises(ValueError):
        hb.Table(reader)


def test_what_only_we_have(example):
    with hb.ParquetFile(example) as file:
        table = file.read(["id"], row_numbers="row", deleted_rows=[0, 1, 5], filters=hb.col("id") < 7)
        assert table.to_pydict() == {"id": [2, 3, 4, 6], "row": [2, 3, 4, 6]}
        explained = file.explain("id >= 22")
        assert explained[0]["steps"][0]["ruled_out"] == 16
        assert file.row_group_bounds("id").to_pydict()["max"] == [15, 23]
        wanted = file.read(["name"]).schema
        assert file.read(wanted_schema=wanted).column_names == ["name"]
    data = written(max_rows_per_page=6)
    pages = hb.ParquetFile(data).page_bounds(0, "id").to_pydict()
    assert (sum(pages["row_count"]), max(pages["row_count"]), pages["max"][-1]) == (24, 6, 23)


def test_datasets(example, tmp_path):
    table = hb.read_table(example)
    for year in (2025, 2026):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        hb.write_table(table, folder / "a.parquet")
    (tmp_path / "_SUCCESS").touch()
    read = hb.read_table(tmp_path, columns=["year", "id"], filters="year = 2026 and id < 2")
    assert read.to_pydict() == {"year": [2026, 2026], "id": [0, 1]}
    assert hb.read_table(f"{tmp_path}/*/*.parquet").num_rows == 48
    hb.write_table(table, tmp_path / "b.parquet")
    # Like pyarrow: the file next to the folders has nulls in the partition column.
    years = hb.read_table(tmp_path, columns=["year"]).to_pydict()["year"]
    assert years == [None] * 24 + [2025] * 24 + [2026] * 24
    assert hb.read_table(tmp_path, partitioning=None).num_rows == 72
    assert hb.read_table([tmp_path / "year=2025" / "a.parquet"], partitioning=None).num_columns == table.num_columns
    files = hb.write_to_dataset(hb.read_table(example, columns=["id", "name"]), tmp_path / "names", ["name"])
    assert len(files) == 10 and files[0][1].num_rows == 3


def test_partitions_by_names_of_directories(example, tmp_path):
    table = hb.read_table(example, columns=["id"], limit=1)
    for folder in ("2025/05", "2025/x%2Fy", "2026", "."):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        hb.write_table(table, tmp_path / folder / "a.parquet")
    for names in (["year", "month"], ("year", "month")):
        found = hb.read_table(tmp_path, partitioning=names).to_pydict()
        assert found == {"id": [0] * 4, "year": [2025, 2025, 2026, None], "month": ["05", "x/y", None, None]}
    assert hb.read_table(tmp_path, partitioning=["year"], filters="year = 2025").num_rows == 2
    assert hb.read_table(tmp_path, partitioning=None).column_names == ["id"]
    for wrong in (["year", 5], "filename", 5):
        with pytest.raises(NotImplementedError, match="'hive', a list of names"):
            hb.read_table(tmp_path, partitioning=wrong)
    with pytest.raises(ValueError, match="partitioning= with names of columns needs the directory above"):
        hb.ParquetDataset(tmp_path / "2026" / "a.parquet", partitioning=["year"])


def test_fsspec(example):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    table = hb.read_table(example, columns=["id"])
    hb.write_table(table, "memory://data/m=1/a.parquet")
    hb.write_table(table, "data/m=2/b.parquet", filesystem=memory)
    assert hb.read_table("memory://data/m=1/a.parquet").num_rows == 24
    both = hb.read_table("/data", filesystem=memory, filters=[("id", "<", 1)])
    assert both.to_pydict() == {"id": [0, 0], "m": [1, 2]}
    hb.write_table(table, "memory://plain/7/5/a.parquet")
    hb.write_table(table, "memory://plain/8/b.parquet")
    both = hb.read_table("memory://plain", partitioning=["y", "m"], filters=[("id", "<", 1)])
    assert both.to_pydict() == {"id": [0, 0], "y": [7, 8], "m": [5, None]}


def test_threads(example):
    results = []
    file = hb.ParquetFile(example)
    threads = [threading.Thread(target=lambda: results.append(file.read().num_rows)) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == [24] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork(example):
    hb.read_table(example)
    child = os.fork()
    if child == 0:
        os._exit(0 if hb.read_table(example).num_rows == 24 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_an_interrupt_ends_a_read(tmp_path):
    code = f"""
import io, os, signal, threading, herringbone as hb
# A shell without job control starts its background jobs without it.
signal.signal(signal.SIGINT, signal.default_int_handler)
table = hb.read_table({str(pathlib.Path('testdata/example.parquet').absolute())!r})
file = io.BytesIO()
with hb.ParquetWriter(file, table.schema, row_group_size=24) as writer:
    for _ in range(2000): writer.write(table)
data = file.getvalue()
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True: hb.read_table(data, filters="id > 100 or weight < 0")
except KeyboardInterrupt:
    print("interrupted")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert run.stdout == "interrupted\n", run.stderr


def test_the_command(example):
    command = [sys.executable, "-c", "import sys; from herringbone._core import main; sys.exit(main())"]
    run = subprocess.run([*command, "count", example], capture_output=True, text=True)
    assert (run.returncode, "24" in run.stdout) == (0, True), run.stderr
    assert subprocess.run([*command, "coun"], capture_output=True).returncode == 2


def test_hostile_bytes():
    data = written()
    for at in range(0, len(data), 37):
        wrong = bytearray(data)
        wrong[at] ^= 0x55
        try:
            hb.read_table(bytes(wrong))
        except (hb.ParquetError, MemoryError):
            pass


def test_pickled_and_copied(example):
    table = hb.read_table(example)
    again = pickle.loads(pickle.dumps(table))
    assert (again.to_pydict(), again.schema) == (table.to_pydict(), table.schema)
    assert pickle.loads(pickle.dumps(table.schema)) == table.schema
    for one in (table, table.schema):
        assert copy.copy(one) is one and copy.deepcopy(one) is one
    restore, (stream, losses, _) = table.__reduce__()
    assert again.nbytes == restore(stream, losses).nbytes < len(stream)
    for end in range(0, len(stream) - 8, 97):
        with pytest.raises(ValueError):
            restore(stream[:end], losses)


def test_literals():
    for value in (
        None, True, 5, 2**100, 1.5, "a", b"a", datetime.date(2020, 1, 1), datetime.time(1, 2), decimal.Decimal("1e5"),
        datetime.datetime(1, 1, 1), datetime.datetime(9999, 1, 1, tzinfo=datetime.timezone.utc), uuid.UUID(int=5),
    ):
        repr(hb.col("a") == value)
    for value in (object(), [1], decimal.Decimal("nan"), 10**200):
        with pytest.raises((TypeError, ValueError)):
            hb.col("a") == value


def test_sorting_columns():
    schema = hb.read_schema("testdata/example.parquet")
    columns = hb.SortingColumn.from_ordering(schema, [("name", "descending")], "at_start")
    assert columns == (hb.SortingColumn(1, True, True),)
    assert hb.SortingColumn.to_ordering(schema, columns) == ((("name", "descending"),), "at_start")

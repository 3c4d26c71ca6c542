"""Datasets of several files next to pyarrow's: names, sizes, fragments, and processes of Dask."""

import datetime
import os
import pickle

import pytest

import herringbone as hb

pa = pytest.importorskip("pyarrow")
import pyarrow.dataset as ds
import pyarrow.fs
import pyarrow.parquet as pq

import herringbone.pyarrow as hpq


@pytest.fixture
def table():
    return pa.table({"id": list(range(10)), "k": ["a", "b"] * 5})


#: The arguments of `write_to_dataset`, with which both write files of the same names and rows.
WRITES = (
    {"basename_template": "day-{i}.parquet"},
    {"basename_template": "{i}", "max_rows_per_file": 2, "row_group_size": 2, "max_open_files": 5},
    {"basename_template": "x{i}", "row_group_size": 3},
    {"basename_template": "x{i}", "chunk_size": 2, "existing_data_behavior": "error"},
    {"basename_template": "x{i}", "existing_data_behavior": "delete_matching", "max_rows_per_file": 0},
    {"basename_template": "x{i}", "existing_data_behavior": "overwrite_or_ignore", "create_dir": True},
)


@pytest.mark.parametrize("options", WRITES)
@pytest.mark.parametrize("columns", [["k"], None])
@pytest.mark.parametrize("place", ["path", "arrow", "fsspec"])
def test_writes_have_the_options_of_pyarrow(table, tmp_path, options, columns, place):
    found = {}
    for name, module in (("ours", hpq), ("theirs", pq)):
        root = tmp_path / name
        root.mkdir()
        where = str(root)
        filesystem = {
            "path": lambda: None, "arrow": lambda: pyarrow.fs.LocalFileSystem(), "fsspec": lambda: pytest.importorskip("fsspec").filesystem("file"),
        }[place]()
        if options.get("existing_data_behavior") != "error":
            (root / "k=a").mkdir()
            pq.write_table(table.select(["id"])[:1], root / "k=a" / "old")
            pq.write_table(table.select(["id"])[:1], root / "x0")
        collected = []
        module.write_to_dataset(table, where, columns, filesystem, metadata_collector=collected, **options)
        files = {}
        for file in sorted(root.rglob("*")):
            if file.is_file():
                metadata = pq.read_metadata(file)
                groups = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
                files[str(file.relative_to(root))] = (groups, pq.ParquetFile(file).read())
        found[name] = files, sorted(one.row_group(0).column(0).file_path for one in collected)
    assert found["ours"] == found["theirs"]


def test_a_directory_with_files_is_an_error_as_in_pyarrow(table, tmp_path):
    for module in (pq, hpq):
        module.write_to_dataset(table, tmp_path / module.__name__)
        with pytest.raises(pa.ArrowInvalid, match="existing_data_behavior|error"):
            module.write_to_dataset(table, tmp_path / module.__name__, existing_data_behavior="error")
        with pytest.raises(pa.ArrowInvalid, match="{i}"):
            module.write_to_dataset(table, tmp_path / module.__name__, basename_template="x")


def test_visitors_see_the_files_of_pyarrow(table, tmp_path):
    seen = {}
    for name, module in (("ours", hpq), ("theirs", pq)):
        files = []
        root = str(tmp_path / name)
        module.write_to_dataset(table, root, ["k"], file_visitor=files.append, basename_template="{i}")
        assert [one.size for one in files] == [os.path.getsize(one.path) for one in files]
        seen[name] = sorted((os.path.relpath(one.path, root), one.metadata.num_rows, one.metadata.row_group(0).column(0).file_path) for one in files)
    assert seen["ours"] == seen["theirs"] == [("k=a/0", 5, "k=a/0"), ("k=b/0", 5, "k=b/0")]


def test_a_closed_writer_has_metadata_where_pyiceberg_looks(table, tmp_path):
    for module in (hpq, pq):
        with module.ParquetWriter(tmp_path / "a.parquet", table.schema) as writer:
            writer.write(table)
            with pytest.raises(RuntimeError):
                writer.writer.metadata
        assert (writer.writer.metadata.num_rows, writer.writer.metadata.num_columns) == (10, 2)


def test_other_options_are_passed_on(table, tmp_path, monkeypatch):
    monkeypatch.setattr("herringbone._pyarrow_install._passed_on", {})
    with hpq.installed(), pytest.warns(UserWarning, match="does not support"):
        pq.write_to_dataset(table, tmp_path / "a", ["k"], max_partitions=2)
        pq.write_to_dataset(table, tmp_path / "b", ["k"], basename_template="_{i}")
        pq.write_to_dataset(table, tmp_path / "c", partitioning=ds.partitioning(pa.schema([("k", pa.string())])))
    expected = {("write_to_dataset", name): 1 for name in ("max_partitions", "basename_template", "partitioning")}
    assert hpq.passed_on() == expected
    assert len(list((tmp_path / "b").rglob("_0"))) == 2


def test_fragments_are_those_of_pyarrow(table, tmp_path):
    pq.write_to_dataset(table, tmp_path, ["k"])
    pq.write_to_dataset(pa.table({"id": [10], "k": pa.array([None], pa.string())}), tmp_path, ["k"])
    files = sorted(str(path) for path in tmp_path.rglob("*.parquet"))
    fsspec = pytest.importorskip("fsspec")
    cases = [
        (str(tmp_path), None, None), (files, None, None), (files, pyarrow.fs.LocalFileSystem(), [("k", "=", "a")]),
        (files[0], None, None), (files, fsspec.filesystem("file"), [("id", "<", 5)]), (str(tmp_path), None, [("k", "!=", "a")]),
    ]
    for source, filesystem, filters in cases:
        ours = hpq.ParquetDataset(source, filesystem, filters=filters).fragments
        theirs = pq.ParquetDataset(source, filesystem, filters=filters).fragments
        assert all(type(one.filesystem) is type(theirs[0].filesystem) for one in ours)
        schema = hpq.ParquetDataset(source, filesystem).schema
        condition = None if filters is None else pq.filters_to_expression(filters)
        rows = lambda fragments: sorted(
            (one.path, str(row)) for one in fragments for row in one.to_table(schema=schema, filter=condition).to_pylist()
        )
        assert rows(ours) == rows(theirs), (source, filters)
        if filters is None:
            assert sorted(one.path for one in ours) == sorted(one.path for one in theirs)


def sent_datasets(table, folder):
    """Return datasets to send to other processes, a function that returns the process and the numbers of each, and these numbers."""
    pq.write_to_dataset(table, folder, ["k"])
    data = [hb.ParquetDataset(str(folder), filters=[("k", "=", key)]) for key in "ab"]
    data += [hb.dataset(str(folder)), hpq.ParquetDataset(str(folder))]

    def ids(dataset):
        table = dataset.to_table() if hasattr(dataset, "to_table") else dataset.read()
        return os.getpid(), (table.to_pydict() if hasattr(table, "to_pydict") else table.to_pylist())["id"]

    return data, ids, [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9], list(range(10)), list(range(10))]


def test_datasets_in_processes_of_dask(table, tmp_path):
    dask = pytest.importorskip("dask")
    data, ids, expected = sent_datasets(table, tmp_path)
    found = dask.compute(*[dask.delayed(ids)(one) for one in data], scheduler="processes", num_workers=2)
    assert all(process != os.getpid() for process, _ in found)
    assert [sorted(values) for _, values in found] == expected
    # A lazy frame of polars is sent in the same way.
    polars = pytest.importorskip("polars")
    lazy = pickle.loads(pickle.dumps(hb.scan_polars(str(tmp_path))))
    assert lazy.filter(polars.col("k") == "a").select("id").collect().to_series().to_list() == [0, 2, 4, 6, 8]


def test_datasets_in_workers_of_ray(table, tmp_path):
    # Ray is too large for CI: it runs if you install it.
    ray = pytest.importorskip("ray")
    polars = pytest.importorskip("polars")
    data, ids, expected = sent_datasets(table, tmp_path)
    lazy = hb.scan_polars(str(tmp_path)).filter(polars.col("k") == "a").select("id")
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        work = ray.remote(ids)
        found = ray.get([work.remote(one) for one in data])
        # As objects of the store of Ray, and as parts of another object.
        stored = ray.get([work.remote(ray.put(one)) for one in data])
        table = ray.get(ray.remote(lambda parts: [hb.Table(part.read()) for part in parts]).remote(data[:2]))
        frame = ray.get(ray.remote(lambda query: query.collect()).remote(lazy))
    finally:
        ray.shutdown()
    for answers in (found, stored):
        assert all(process != os.getpid() for process, _ in answers)
        assert [sorted(values) for _, values in answers] == expected
    assert [sorted(part["id"].to_pylist()) for part in table] == expected[:2]
    assert frame.to_series().to_list() == expected[0]


def test_times_of_day_in_dates_are_dropped_by_pyarrow_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("herringbone._pyarrow_install._passed_on", {})
    path = tmp_path / "a.parquet"
    whole = pa.table({"d": pa.array([0, 86_400_000, None], pa.date64())})
    hpq.write_table(whole, path)
    assert pq.read_table(path).column("d").to_pylist() == whole.column("d").to_pylist()
    odd = pa.table({"d": pa.array([1, None], pa.date64())})
    with pytest.raises(hpq.Unsupported, match="times of day in the date64 column d"):
        hpq.write_table(odd, path)
    with hpq.installed(), pytest.warns(UserWarning, match="date64"):
        pq.write_table(odd, path)
        pq.write_to_dataset(odd, tmp_path / "b")
    assert hpq.passed_on() == {("write_table", "table"): 1, ("write_to_dataset", "table"): 1}


def test_moments_of_96_bits_beyond_nanoseconds(tmp_path):
    moments = [datetime.datetime(3000, 1, 1), datetime.datetime(2020, 1, 1)]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"ts": pa.array(moments, pa.timestamp("us"))}), path, use_deprecated_int96_timestamps=True, store_schema=False)
    with pytest.raises(hb.ParquetError, match="coerce_int96_timestamp_unit='ms'") as raised:
        hb.read_table(path)
    assert raised.value.option == "coerce_int96_timestamp_unit='ms'" and raised.value.column == "ts"
    assert hb.read_table(path, coerce_int96_timestamp_unit="ms").to_pydict()["ts"] == moments
    assert hb.read_table(path, int96_overflow="null").to_pylist()[0] == {"ts": None}


def test_json_is_json_in_polars_and_duckdb(tmp_path):
    polars = pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    texts = ['{"a": 1}', None, "[2]"]
    json = pa.array(texts, pa.json_(pa.string()))
    table = pa.table({"j": json, "n": pa.StructArray.from_arrays([json], ["j"]), "id": [1, 2, 3]})
    path = str(tmp_path / "a.parquet")
    hb.write_table(table, path)
    theirs = str(tmp_path / "b.parquet")
    pq.write_table(table, theirs)
    assert polars.read_parquet(path).schema == polars.read_parquet(theirs).schema
    assert polars.read_parquet(path)["j"].to_list() == texts
    assert str(duckdb.sql(f"select j from '{path}'").types[0]) == "JSON"
    assert pq.read_table(path) == table and hb.read_table(path).to_pyarrow() == table

"""Paths, URLs and filesystems that files are read from and written to."""

import io
import os
import pathlib
import pickle

import pytest

import herringbone as hb


@pytest.fixture
def table(example):
    return hb.read_table(example, columns=["id"], limit=3)


def test_urls_of_local_files(table, tmp_path):
    path = tmp_path / "a b%.parquet"
    hb.write_table(table, path.as_uri())
    assert path.exists()
    name = path.as_uri().removeprefix("file://")
    for url in (f"file:{name}", f"file://{name}", f"file://localhost{name}"):
        assert hb.read_table(url).to_pydict() == {"id": [0, 1, 2]}, url
    with pytest.raises(hb.ParquetError, match="no host"):
        hb.read_table(f"file://elsewhere{name}")


def test_signs_of_patterns_in_paths(table, tmp_path):
    folder = tmp_path / "a[1]*" / "x=b?"
    folder.mkdir(parents=True)
    (tmp_path / "a1").mkdir()
    hb.write_table(table, tmp_path / "a1" / "other.parquet")
    file = folder / "c[2].parquet"
    hb.write_table(table, file)
    for source in (file, tmp_path / "a[1]*", str(tmp_path / "a[1]*"), [file], [folder], [str(file)]):
        assert hb.read_table(source, columns=["id"]).to_pydict() == {"id": [0, 1, 2]}, source
    assert hb.read_table(tmp_path / "a[1]*").to_pydict()["x"] == ["b?"] * 3
    # Only a path that does not exist is a pattern.
    assert hb.ParquetDataset(f"{tmp_path}/a[1]").files == [str(tmp_path / "a1" / "other.parquet")]
    for source in (f"{tmp_path}/nothing*", [f"{tmp_path}/*.csv"]):
        with pytest.raises(FileNotFoundError, match="no file matches"):
            hb.read_table(source)
    (tmp_path / "empty").mkdir()
    assert hb.read_table(tmp_path / "empty").num_rows == 0


def test_options_of_one_file_have_their_names_in_python(table, tmp_path):
    for name in "ab":
        hb.write_table(table, tmp_path / f"{name}.parquet")
    for option in ({"deleted_rows": [0]}, {"row_groups": [0]}, {"wanted_schema": table.schema}):
        with pytest.raises(NotImplementedError, match=f"{next(iter(option))}= for several files"):
            hb.read_table(tmp_path, **option)
    metadata = hb.read_metadata(tmp_path / "a.parquet")
    metadata.set_file_path("a.parquet")
    hb.write_metadata(table.schema, tmp_path / "_metadata", [metadata])
    with pytest.raises(hb.ParquetError, match="try the path of its directory"):
        hb.read_table(tmp_path / "_metadata")
    (tmp_path / "empty").mkdir()
    with pytest.raises(hb.ParquetError, match=r"\(schema=\)"):
        hb.read_table(tmp_path / "empty", columns=["id"])


def failing(pyarrow):
    """Return a stream that ends with an error."""
    schema = pyarrow.schema([("id", pyarrow.int64())])

    def batches():
        yield pyarrow.record_batch([[1, 2]], schema=schema)
        raise RuntimeError("no more rows")

    return pyarrow.RecordBatchReader.from_batches(schema, batches())


def test_a_failed_write_leaves_no_file_on_other_filesystems(tmp_path):
    pa = pytest.importorskip("pyarrow")
    fsspec = pytest.importorskip("fsspec")
    import pyarrow.fs

    memory = fsspec.filesystem("memory")
    local = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    for where, filesystem in (("memory://failed/a.parquet", None), ("/failed/b.parquet", memory), ("c.parquet", local)):
        with pytest.raises(ValueError, match="no more rows"):
            hb.write_table(failing(pa), where, filesystem=filesystem)
    assert memory.glob("/failed/*") == [] and os.listdir(tmp_path) == []
    with pytest.raises(ZeroDivisionError):
        with hb.ParquetWriter("d.parquet", pa.schema([("id", pa.int64())]), local):
            1 / 0
    assert os.listdir(tmp_path) == []


def test_partition_columns_of_other_filesystems(table):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("fsspec")
    import pyarrow.compute as pc

    for year, name in ((2025, "a%2Fb"), (2026, "c"), (2026, "__HIVE_DEFAULT_PARTITION__")):
        hb.write_table(table, f"memory://parts/year={year}/name={name}/a.parquet")
    source = "memory://parts"
    for filters, expected in (
        ("year = 2026 and id = 1", [(2026, None), (2026, "c")]), ([("name", "==", "a/b"), ("id", "<", 1)], [(2025, "a/b")]),
        ((pc.field("year") == 2025) & (pc.field("id") == 2), [(2025, "a/b")]), (hb.col("name").is_null() & (hb.col("id") == 0), [(2026, None)]),
        ("year > 2026", []),
    ):
        found = hb.read_table(source, columns=["name", "year"], filters=filters)
        assert found.column_names == ["name", "year"]
        assert sorted(zip(*reversed(found.to_pydict().values())), key=str) == sorted(expected, key=str), filters
        assert hb.ParquetDataset(source, filters=filters).read().num_rows == len(expected)
    data = pickle.loads(pickle.dumps(hb.dataset(source)))
    assert data.to_table(columns=["id"], filter=pc.field("name") == "c").to_pydict() == {"id": [0, 1, 2]}
    assert hb.ParquetDataset(source).schema.names == ["id", "year", "name"]
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql("select sum(id) from data where year = 2026 and name is not null").fetchall() == [(3,)]
    polars = pytest.importorskip("polars")
    lazy = hb.scan_polars(source).filter(polars.col("year") == 2025).select("id", "name")
    assert lazy.collect().rows() == [(0, "a/b"), (1, "a/b"), (2, "a/b")]


def test_partitions_are_written_to_other_filesystems(table, tmp_path):
    pytest.importorskip("pyarrow")
    fsspec = pytest.importorskip("fsspec")
    import pyarrow.fs

    memory = fsspec.filesystem("memory")
    local = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    for root, filesystem in (("memory://new/one", None), ("/new/two", memory), ("three", local)):
        files = hb.write_to_dataset(table.to_polars().with_columns(k=polars_text()), root, ["k"], filesystem=filesystem)
        assert [path.partition("/")[0] for path, _ in files] == ["k=a", "k=b"]
        assert hb.read_table(root, filesystem=filesystem).to_pydict() == {"id": [0, 2, 1], "k": ["a", "a", "b"]}
    assert len(list(tmp_path.rglob("*.parquet"))) == 2

    class Full(type(memory)):
        cachable = False

        def open(self, path, mode="rb", **options):
            raise OSError(28, "no space", path)

    with pytest.raises(OSError, match="no space"):
        hb.write_to_dataset(table.to_polars().with_columns(k=polars_text()), "/full", ["k"], filesystem=Full())


def test_names_and_sizes_of_written_files(table, tmp_path):
    pytest.importorskip("pyarrow")
    fsspec = pytest.importorskip("fsspec")
    import pyarrow.fs

    rows = table.to_polars().with_columns(k=polars_text())
    local = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    for root, filesystem in ((str(tmp_path / "a b"), None), ("memory://sizes", None), ("/sized", fsspec.filesystem("memory")), ("c", local)):
        options = {"filesystem": filesystem, "basename_template": "day-{i}.parquet", "max_rows_per_file": 1}
        names = ["k=a/day-0.parquet", "k=a/day-1.parquet", "k=b/day-0.parquet"]
        assert [path for path, _ in hb.write_to_dataset(rows, root, ["k"], **options)] == names
        # One of two partitions is written again, with a file of an existing name.
        again = rows[[0]]
        assert len(hb.write_to_dataset(again, root, ["k"], **options)) == 1
        assert hb.read_table(root, filesystem=filesystem).to_pydict() == {"id": [0, 2, 1], "k": ["a", "a", "b"]}
        with pytest.raises(hb.ParquetError, match="has 3 files, such as .*k=.*delete_matching"):
            hb.write_to_dataset(again, root, ["k"], existing_data_behavior="error", **options)
        hb.write_to_dataset(again, root, ["k"], existing_data_behavior="delete_matching", **options)
        assert hb.read_table(root, filesystem=filesystem).to_pydict() == {"id": [0, 1], "k": ["a", "b"]}
        hb.write_to_dataset(again, root, existing_data_behavior="delete_matching", filesystem=filesystem)
        assert hb.read_table(root, filesystem=filesystem).to_pydict() == {"id": [0], "k": ["a"]}
        new = f"{root}/new"
        assert len(hb.write_to_dataset(rows[[0, 1, 2]], new, ["k"], max_open_files=1, existing_data_behavior="error", filesystem=filesystem)) == 2
    with pytest.raises(ValueError, match="expected one of overwrite_or_ignore, error, delete_matching"):
        hb.write_to_dataset(rows, "x", existing_data_behavior="append")
    for option in ("max_rows_per_file", "max_open_files"):
        with pytest.raises(ValueError, match=f"{option} is a positive number, not 0"):
            hb.write_to_dataset(rows, "x", **{option: 0})
    for names, reason in (("a.parquet", "{i}"), ("x/{i}", "without directories"), ("_{i}", "skip")):
        with pytest.raises(hb.ParquetError, match=reason):
            hb.write_to_dataset(rows, str(tmp_path / "wrong"), basename_template=names)


def test_open_files_are_bounded(table, tmp_path):
    pa = pytest.importorskip("pyarrow")
    parts = pa.Table.from_batches([pa.record_batch({"id": [i], "k": [k]}) for i, k in enumerate("aba")])
    for most, expected in ((None, ["a", "b"]), (1, ["a", "a", "b"])):
        files = hb.write_to_dataset(parts, tmp_path / str(most), ["k"], max_open_files=most)
        assert [path[2] for path, _ in files] == expected


def test_files_of_others_are_seen_in_a_listing_that_is_kept(table):
    fsspec = pytest.importorskip("fsspec")

    class Keeping(type(fsspec.filesystem("memory"))):
        cachable = False
        kept = None

        def find(self, path, **options):
            self.kept = super().find(path, **options) if self.kept is None else self.kept
            return self.kept

        def invalidate_cache(self, path=None):
            self.kept = None

    kept = Keeping()
    assert kept.find("/kept") == []
    hb.write_table(table, "memory://kept/a.parquet")
    hb.write_to_dataset(table, "/kept", filesystem=kept, existing_data_behavior="delete_matching")
    assert hb.read_table("/kept", filesystem=kept).num_rows == 3


def test_old_files_stay_if_a_write_fails(table, tmp_path):
    pa = pytest.importorskip("pyarrow")
    hb.write_to_dataset(table, tmp_path, basename_template="{i}.parquet")
    with pytest.raises(ValueError, match="no more rows"):
        hb.write_to_dataset(failing(pa), tmp_path, basename_template="{i}.parquet", existing_data_behavior="delete_matching")
    assert hb.read_table(tmp_path).to_pydict() == {"id": [0, 1, 2]}


def polars_text():
    return pytest.importorskip("polars").Series(["a", "b", "a"])


def test_tables_are_the_same_in_all_places(table, tmp_path):
    """Hidden names, the order of files, and the types of partition columns do not depend on the filesystem."""
    fsspec = pytest.importorskip("fsspec")
    fs = pytest.importorskip("pyarrow.fs")
    tables = {
        # Names, in the order of their components, with the values of the partition column `p` and its type.
        "hidden": ({"a": None, "_SUCCESS": None, ".x/a": None, "_tmp/a": None}, [("a", None)], None),
        "order": ({"a-10": None, "a-2": None, "b-x": None, "b/a": None}, [("a-10", 0), ("a-2", 0), ("b/a", 0), ("b-x", 0)], None),
        "days": ({"p=2024-01-01/a": 0, "p=2024-01-02/a": 0}, [("p=2024-01-01/a", "2024-01-01"), ("p=2024-01-02/a", "2024-01-02")], "date32[day]"),
        "zeros": ({"p=01/a": 0, "p=10/a": 0}, [("p=01/a", "01"), ("p=10/a", "10")], "string"),
        "large": ({"p=99999999999999999999/a": 0, "p=1/a": 0}, [("p=1/a", "1"), ("p=99999999999999999999/a", "99999999999999999999")], "string"),
        "nulls": ({"p=2/a": 0, "p=__HIVE_DEFAULT_PARTITION__/a": 0}, [("p=2/a", "2"), ("p=__HIVE_DEFAULT_PARTITION__/a", "None")], "int64"),
    }
    memory = fsspec.filesystem("memory")
    for name, (files, expected, kind) in tables.items():
        for file in files:
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            hb.write_table(table, path)
            hb.write_table(table, f"memory://places/{name}/{file}")
        tree = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
        places = [(tmp_path / name, None), (f"memory://places/{name}", None), (f"/places/{name}", memory), (name, tree)]
        for source, filesystem in places:
            data = hb.ParquetDataset(source, filesystem)
            assert [file.split(f"{name}/", 1)[1] for file in data.files] == [file for file, _ in expected], source
            found = data.read()
            if kind is not None:
                assert str(found.to_pyarrow().schema.field("p").type) == kind, source
                values = [str(value) for value in found.to_pydict()["p"][::3]]
                assert values == [value for _, value in expected], source


def test_other_filesystems_have_the_options_of_local_files(table):
    pytest.importorskip("fsspec")
    for name in "ab":
        hb.write_table(table, f"memory://options/p={name}/1.parquet")
    source = "memory://options"
    assert hb.read_table(source, offset=2, limit=2).to_pydict() == {"id": [2, 0], "p": ["a", "b"]}
    assert hb.ParquetDataset(source).explain("p = 'a'")["files_ruled_out"] == 1
    assert hb.read_table(source, partitioning=None).column_names == ["id"]
    fs = pytest.importorskip("pyarrow.fs")
    tree = fs.PyFileSystem(fs.FSSpecHandler(pytest.importorskip("fsspec").filesystem("memory")))
    assert hb.read_table("options/p=[a]/*.parquet", filesystem=tree).to_pydict() == {"id": [0, 1, 2], "p": ["a"] * 3}
    buffers = [io.BytesIO() for _ in range(2)]
    for buffer in buffers:
        hb.write_table(table, buffer)
    assert hb.read_table(buffers).to_pydict() == {"id": [0, 1, 2, 0, 1, 2]}
    assert hb.read_table([buffers[0].getvalue(), f"{source}/p=a/1.parquet"], partitioning=None).num_rows == 6


def test_texts_of_digits_compare_with_numbers_by_value(table, tmp_path):
    """A folder `month=03` stays text. A whole number is compared with it by value."""
    months = [("03", 3), ("10", 10), ("12", 12)]
    for place in (str(tmp_path), "memory://months"):
        if place.startswith("memory"):
            pytest.importorskip("fsspec")
        for text, _ in months:
            (tmp_path / f"month={text}").mkdir(exist_ok=True)
            hb.write_table(table, f"{place}/month={text}/a.parquet")
        tests = [
            (lambda month: month == 3, "month = 3", [("month", "=", 3)], hb.col("month") == 3),
            (lambda month: month != 3, "month <> 3", [("month", "!=", 3)], hb.col("month") != 3),
            (lambda month: month > 3, "month > 3", [("month", ">", 3)], hb.col("month") > 3),
            (lambda month: month in (10, 11), "month in (10, 11)", [("month", "in", [10, 11])], hb.col("month").isin([10, 11])),
            (lambda month: month not in (10, 11), "month not in (10, 11)", [("month", "not in", [10, 11])], ~hb.col("month").isin([10, 11])),
        ]
        for passes, *filters in tests:
            expected = [text for text, month in months if passes(month)]
            for one in filters:
                found = hb.read_table(place, filters=one)
                assert found.to_pydict() == {"id": [0, 1, 2] * len(expected), "month": [text for text in expected for _ in range(3)]}, one
        assert hb.read_table(place, filters="month = '03'").num_rows == 3
        assert hb.read_table(place, filters="month = '3'").num_rows == 0
        assert hb.read_table(place, filters="month = 3 and id = 1").num_rows == 1


def test_row_numbers_and_unions_in_other_places(table):
    pytest.importorskip("fsspec")
    pa = pytest.importorskip("pyarrow")
    hb.write_table(table, "memory://unions/1.parquet")
    hb.write_table(pa.table({"id": [5], "more": ["x"]}), "memory://unions/2.parquet")
    found = hb.read_table("memory://unions", schema="union", row_numbers="row", offset=1, limit=3)
    # Each file counts its own rows.
    assert found.to_pydict() == {"id": [1, 2, 5], "more": [None, None, "x"], "row": [1, 2, 0]}


def test_an_exception_of_a_filesystem_is_raised_as_it_is(table):
    fsspec = pytest.importorskip("fsspec")
    from fsspec.implementations.memory import MemoryFileSystem

    class Refused(Exception):
        pass

    class Refusing(MemoryFileSystem):
        cachable = False

        def open(self, path, *args, **kwargs):
            raise Refused(path)

    hb.write_table(table, "memory://refusing/a.parquet")
    with pytest.raises(Refused, match="refusing/a.parquet"):
        hb.read_table("/refusing", filesystem=Refusing())
    with pytest.raises(FileNotFoundError):
        hb.read_table("memory://nowhere/*.parquet")


def test_later_files_of_other_filesystems_may_have_nulls(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("fsspec")

    def schema(nullable):
        field = lambda name, kind: pa.field(name, kind, nullable)
        inner = [field("id", pa.int64()), field("list", pa.list_(field("item", pa.int32())))]
        return pa.schema([*inner, field("s", pa.struct(inner))])

    rows = [{"id": 1, "list": [1], "s": {"id": 1, "list": [1]}}]
    # Each column and each field below is null in a row of the second file.
    nulls = [{"id": None, "list": None, "s": None}, {"id": 2, "list": [None], "s": {"id": None, "list": [None]}}]
    for place in ("memory://nulls", str(tmp_path)):
        hb.write_table(pa.Table.from_pylist(rows, schema=schema(False)), f"{place}/1.parquet")
        hb.write_table(pa.Table.from_pylist(nulls, schema=schema(True)), f"{place}/2.parquet")
    found = hb.read_table("memory://nulls")
    assert found.to_pyarrow().to_pylist() == rows + nulls
    assert found.schema == hb.read_table(tmp_path).schema == hb.ParquetDataset("memory://nulls").schema
    assert found.to_pyarrow().schema == schema(True)
    # A file alone keeps its own.
    assert hb.read_table(["memory://nulls/1.parquet"]).to_pyarrow().schema == schema(False)


def test_urls_with_signs(table, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    hb.write_table(table, "memory://signs/a[1]?.parquet")
    assert hb.read_table("memory://signs/a[1]?.parquet").num_rows == 3
    assert hb.read_table("memory://signs/*.parquet").num_rows == 3
    hb.write_table(table, tmp_path / "a.parquet")
    archive = fsspec.filesystem("zip", fo=str(tmp_path / "z.zip"), mode="w")
    with archive.open("a.parquet", "wb") as file:
        file.write(pathlib.Path(tmp_path / "a.parquet").read_bytes())
    archive.close()
    assert hb.read_table(f"zip://a.parquet::{tmp_path}/z.zip").num_rows == 3
    assert hb.read_table("simplecache::memory://signs/a[1]?.parquet").num_rows == 3


@pytest.mark.parametrize("answer", [-1, "many", 1 << 40, 1.5])
def test_file_objects_that_do_not_count_bytes(table, answer):
    class Lies(io.BytesIO):
        def write(self, data):
            return answer

    with pytest.raises(ValueError, match="`write` returned"):
        hb.write_table(table, Lies())

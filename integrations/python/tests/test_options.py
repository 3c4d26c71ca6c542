"""The keywords of the writer: those of the library's table, and pyarrow's, some of which mean something else."""

import inspect
import io

import pytest

import herringbone as hb
from herringbone import _write


def metadata(**options):
    """Return the metadata of the example, written again."""
    file = io.BytesIO()
    hb.write_table(hb.read_table("testdata/example.parquet"), file, **options)
    return hb.read_metadata(file.getvalue())


def column(name="id", **options):
    group = metadata(**options).row_group(0)
    return next(chunk for chunk in map(group.column, range(group.num_columns)) if chunk.path_in_schema == name)


VALUES = {"count": 7, "bytes": "64KiB", "sizes": "1KiB..2KiB", "share": 0.25, "text": "test", "switch": True}


@pytest.mark.parametrize("option", hb.write_options(), ids=lambda option: option.name)
def test_each_option_of_the_library_is_a_keyword(option):
    # BYTE_STREAM_SPLIT and others serve some types only.
    choices = ["plain"] if option.name == "encoding" else option.choices
    for value in choices or [VALUES[option.kind]]:
        metadata(**{option.name: value})
    assert option.help and option.default
    if option.kind != "text":
        with pytest.raises(ValueError, match=option.name):
            metadata(**{option.name: "?"})
    of_column = {"id": (choices or [VALUES[option.kind]])[0]}
    if option.of_columns:
        metadata(**{option.name: of_column})
        with pytest.raises(ValueError, match="colour"):
            metadata(**{option.name: {"colour": of_column["id"]}})
    else:
        with pytest.raises(TypeError, match="option of files"):
            metadata(**{option.name: of_column})


def test_exceptions_name_keywords():
    keywords = [name for _, names, _ in _write.EXCEPTIONS for name in names]
    assert {*keywords, *_write.RENAMED} <= {*_write.DEFAULTS}
    assert {*_write.RENAMED.values()} <= {*_write.OPTIONS}
    for function, names, reason in _write.EXCEPTIONS:
        source = inspect.getsource(function)
        assert reason and any(f'"{name}"' in source for name in names)


def test_encodings_are_those_of_the_library():
    split = dict(use_dictionary=False, compatibility="newest")
    assert "ALP" in column("weight", column_encoding={"weight": "ALP"}, **split).encodings
    assert "ALP" in column("weight", encoding={"weight": "alp"}, dictionary="off", compatibility="newest").encodings
    assert "BYTE_STREAM_SPLIT" in column("weight", use_byte_stream_split=["weight"], **split).encodings
    with pytest.raises(ValueError, match="column_encoding.*delta_binary_packed"):
        metadata(column_encoding="RLE_DICTIONARY")


@pytest.mark.parametrize(
    ("options", "codec"),
    [
        ({"compression": "zstd:3"}, "ZSTD"),
        ({"compression": "zstd", "compression_level": 3}, "ZSTD"),
        ({"compression": {"id": "GZIP:9"}}, "GZIP"),
        ({"compression": {"id": "gzip"}, "compression_level": {"id": 9}}, "GZIP"),
        # pyarrow's name: its files have LZ4_RAW, too.
        ({"compression": "lz4"}, "LZ4_RAW"),
        ({"compression": {"id": None}}, "UNCOMPRESSED"),
    ],
)
def test_codecs_have_the_texts_of_the_library_and_of_pyarrow(options, codec):
    assert column(**options).compression.replace("LZ4_RAW", "LZ4") == codec.replace("LZ4_RAW", "LZ4")


def test_wrong_values_name_the_keyword():
    for options, text in [
        ({"compression": "zip"}, "compression: unknown codec `zip`; use one of: none, "),
        ({"compression": "zstd", "compression_level": 99}, "22"),
        ({"prefer": "speed"}, "size, balanced, read_speed"),
        ({"data_page_version": "3.0"}, "use one of: 1, 2"),
        ({"data_page_size": -1}, "data_page_size: `-1`"),
    ]:
        with pytest.raises(ValueError, match=text):
            metadata(**options)
    with pytest.raises(TypeError, match="integer"):
        metadata(data_page_size="64KiB")
    with pytest.raises(TypeError, match="row_group_size and row_group_rows"):
        metadata(row_group_size=5, row_group_rows=5)


def test_names_of_pyarrow_mean_options_of_the_library():
    assert metadata(row_group_size=10).num_row_groups == metadata(row_group_rows=10).num_row_groups == 3
    assert column(write_statistics=False).statistics is None
    assert column(statistics="none").statistics is None
    assert column(statistics={"id": "none"}).statistics is None
    assert column("name", statistics={"id": "none"}).statistics is not None
    assert column(bloom_filter={"id": 0.01}).bloom_filter_offset is not None
    assert column(bloom_filter_options={"id": {"ndv": 24, "fpp": 1e-5}}).bloom_filter_offset is not None
    assert metadata(created_by="test").created_by == "test"

"""Writing: `write_table`, `ParquetWriter` and `write_metadata`."""

from __future__ import annotations

import io
import operator
import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from . import _core, _files, _keywords
from ._core import FileMetaData, ParquetError
from ._inputs import with_schema
from ._keywords import with_options
from ._read import ParquetFile, _warn

if TYPE_CHECKING:
    from typing import Unpack

    from ._options import WriteOptions

#: A value of an option: the keyword, the column if it is for one, the option in the table of the library, and the value.
Chosen: TypeAlias = "tuple[str, str | None, str, Any]"


class WriteOption(NamedTuple):
    """An option of the library for writing."""

    name: str
    #: True if a dict of columns is allowed.
    of_columns: bool
    #: The kind of its value: switch, count, bytes, choice, codec, sizes, share or text.
    kind: str
    #: The possible values if they are few, or nothing.
    choices: list[str]
    #: The default, or how the writer chooses.
    default: str
    #: Its purpose.
    help: str


#: The options of the library, by name. Each name is also a keyword.
OPTIONS = {row[0]: WriteOption(*row) for row in _core.write_options()}


def write_options() -> tuple[WriteOption, ...]:
    """Return the options of the library for writing, which `write_table` takes as keywords.

    >>> {option.name: option.default for option in write_options()}["statistics"]
    'page'
    """
    return tuple(OPTIONS.values())


#: The options that pyarrow has by another name. Their values mean the same.
RENAMED = {
    "row_group_size": "row_group_rows",
    "data_page_size": "page_bytes",
    "max_rows_per_page": "page_rows",
    "dictionary_pagesize_limit": "dictionary_bytes",
    "column_encoding": "encoding",
    "write_page_index": "page_index",
    "write_page_checksum": "crc",
    "use_deprecated_int96_timestamps": "int96_timestamps",
    "write_time_adjusted_to_utc": "times_adjusted_to_utc",
}


def _compression(options: Mapping[str, Any]) -> Iterator[Chosen]:
    codec, level = options["compression"], options["compression_level"]
    levels = level if isinstance(level, Mapping) else {}
    if isinstance(codec, Mapping):
        for name, own_codec in codec.items():
            own_level = None if name is None else levels.get(name) if levels else level
            yield "compression", name, "compression", _codec(own_codec, own_level)
    elif codec is None:
        if level is not None:
            raise ValueError(f"compression_level={level!r} needs compression=")
    else:
        yield "compression", None, "compression", _codec(codec, None if levels else level)
        for name, own_level in levels.items():
            yield "compression_level", name, "compression", _codec(codec, own_level)


def _codec(codec: Any, level: Any) -> str:
    text = "none" if codec is None else str(codec)
    text = "lz4_raw" if text.lower() == "lz4" else text
    return text if level is None else f"{text}:{level}"


def _dictionaries(options: Mapping[str, Any]) -> Iterator[Chosen]:
    columns = options["use_dictionary"]
    if columns is None or isinstance(columns, bool):
        yield "use_dictionary", None, "dictionary", columns
        return
    yield "use_dictionary", None, "dictionary", False
    for name in columns:
        yield "use_dictionary", name, "dictionary", True


def _splits(options: Mapping[str, Any]) -> Iterator[Chosen]:
    split = options["use_byte_stream_split"]
    if split and options["column_encoding"] is not None:
        raise ValueError("'use_byte_stream_split' cannot be passed together with 'column_encoding'")
    for name in split if split and split is not True else ():
        yield "use_byte_stream_split", name, "encoding", "byte_stream_split"


def _statistics(options: Mapping[str, Any]) -> Iterator[Chosen]:
    columns = options["write_statistics"]
    level = "page" if options["write_page_index"] else "chunk"
    yield "write_statistics", None, "statistics", level if columns is True else "none"
    for name in columns if not isinstance(columns, bool) else ():
        yield "write_statistics", name, "statistics", level


def _bloom_filters(options: Mapping[str, Any]) -> Iterator[Chosen]:
    columns = options["bloom_filter_options"] or {}
    if not isinstance(columns, Mapping):
        raise TypeError(f"'bloom_filter_options' must be a dictionary, not {columns!r}")
    for name, choice in columns.items():
        if choice is not False:
            yield "bloom_filter_options", name, "bloom_filter", _bloom_filter(name, choice)


def _bloom_filter(column: str, options: Any) -> str:
    """Return the share of false positives, and the number of distinct values if given. The texts are pyarrow's."""
    if options is True:
        options = {}
    if not isinstance(options, Mapping):
        raise TypeError(f"'bloom_filter_options' for column {column!r} must be a boolean or a dictionary")
    for name in options:
        if name not in ("ndv", "fpp"):
            raise ValueError(f"unknown name {name!r} in bloom_filter_options; the names are ndv and fpp")
    values, share = options.get("ndv"), options.get("fpp", 0.05)
    if values is not None and (not isinstance(values, int) or isinstance(values, bool)):
        raise TypeError(f"'bloom_filter_options:ndv' for column {column!r} must be an int, got {values!r}")
    if values is not None and values <= 0:
        raise ValueError(f"'bloom_filter_options:ndv' for column {column!r} must be greater than zero, got {values}")
    if not isinstance(share, (int, float)) or isinstance(share, bool):
        raise TypeError(f"'bloom_filter_options:fpp' for column {column!r} must be a float, got {share!r}")
    if not 0 < share < 1:
        raise ValueError(f"'bloom_filter_options:fpp' for column {column!r} must be in (0.0, 1.0), got {share}")
    return f"{share}" if values is None else f"{share}:{values}"


def _chunking(options: Mapping[str, Any]) -> Iterator[Chosen]:
    chunking = options["use_content_defined_chunking"]
    if chunking is None or chunking is False:
        return
    sizes = {"min_chunk_size": 256 * 1024, "max_chunk_size": 1024 * 1024, "norm_level": 0}
    if isinstance(chunking, Mapping):
        for name, value in chunking.items():
            if name not in sizes:
                raise ValueError(f"use_content_defined_chunking has {name!r}; its options are {', '.join(sizes)}")
            sizes[name] = value
    elif chunking is not True:
        raise TypeError(f"use_content_defined_chunking={chunking!r}: expected True, False or a dict of {', '.join(sizes)}")
    for name in ("min_chunk_size", "max_chunk_size"):
        if sizes[name] < 0:
            raise ValueError(f"{name}={sizes[name]} of use_content_defined_chunking is negative")
    text = f"{sizes['min_chunk_size']}..{sizes['max_chunk_size']}:{sizes['norm_level']}"
    yield "use_content_defined_chunking", None, "content_defined_chunking", text


def _others(options: Mapping[str, Any]) -> Iterator[Chosen]:
    fixed = not options["store_decimal_as_integer"]
    yield "store_decimal_as_integer", None, "decimals_as_fixed", fixed
    if options["store_schema"] is not None:
        yield "store_schema", None, "arrow_schema_hint", "all" if options["store_schema"] else "none"
    if not options["use_threads"]:
        yield "use_threads", None, "threads", 1


#: The keywords whose values mean something else than those of our options, with the reason.
EXCEPTIONS: tuple[tuple[Callable[[Mapping[str, Any]], Iterator[Chosen]], tuple[str, ...], str], ...] = (
    (_compression, ("compression", "compression_level"), "the level has a keyword of its own, and lz4 is LZ4_RAW"),
    (_dictionaries, ("use_dictionary",), "a list of columns excludes the others"),
    (_splits, ("use_byte_stream_split",), "it lists columns; True means all whose type allows it"),
    (_statistics, ("write_statistics",), "a list of columns excludes the others, and page indexes decide the level"),
    (_bloom_filters, ("bloom_filter_options",), "the share and the number of values are a dict, and the share is 0.05"),
    (_chunking, ("use_content_defined_chunking",), "the sizes are a dict"),
    (_others, ("store_decimal_as_integer", "store_schema", "use_threads"), "they are switches"),
)

#: The keywords other than the names of our options, with their defaults.
DEFAULTS: dict[str, Any] = {
    "compression": None,
    **_keywords.defaults([*_keywords.PYARROW_FORMS, *_keywords.OWN_FORMS, _keywords.ROW_GROUP]),
}


def core_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as the extension module takes them."""
    for name, ours in RENAMED.items():
        if given.get(name) is not None and given.get(ours) is not None:
            raise TypeError(f"{name} and {ours} are the same option; give one of them")
    options = {**DEFAULTS, **given}
    _refuse(options)
    chosen = [value for find, _, _ in EXCEPTIONS for value in find(options)]
    # An encoding after a dictionary would take its place, so that they are in the order of our table.
    order = list(OPTIONS)
    names = {name: RENAMED.get(name, name) for name in options if name != "compression"}
    for name in sorted((name for name in names if names[name] in OPTIONS), key=lambda name: order.index(names[name])):
        chosen += _values(name, names[name], options[name])
    found = {
        "options": [(*names, _written(value)) for *names, value in chosen if value is not None],
        "byte_stream_split": options["use_byte_stream_split"] is True,
        "sorting_columns": [tuple(column) for column in options["sorting_columns"] or ()],
        "sort_by": [_sort_key(key) for key in options["sort_by"] or ()],
        "key_value_metadata": _pairs(options["key_value_metadata"] or {}),
        "keys": None if options["keys"] is None else dict(options["keys"]),
    }
    return {name: value for name, value in found.items() if value is not None}


def _values(keyword: str, ours: str, value: Any) -> Iterator[Chosen]:
    """Yield the values of one of our options: one for all columns, or those of a dict of columns."""
    if not isinstance(value, Mapping):
        if keyword != ours and value is not None and OPTIONS[ours].kind in ("count", "bytes"):
            # pyarrow takes numbers only, while ours may be `64KiB`.
            value = operator.index(value)
        yield keyword, None, ours, value
        return
    if not OPTIONS[ours].of_columns:
        raise TypeError(f"{keyword}={value!r}: columns cannot have values of their own, because it is an option of files")
    for column, own in value.items():
        yield keyword, column, ours, own


def _written(value: Any) -> str:
    """Return a value as the text of an option."""
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _refuse(options: Mapping[str, Any]) -> None:
    if options["version"] not in ("2.6", "2.4"):
        raise NotImplementedError(f"version={options['version']!r}: only '2.6' and '2.4' are written")
    if not options["use_compliant_nested_type"]:
        raise NotImplementedError("use_compliant_nested_type=False: only the list form of the specification is written")


def _sort_key(key: Any) -> tuple[str, bool, bool]:
    name, order = (key, "ascending") if isinstance(key, str) else key
    if order not in ("ascending", "descending"):
        raise ValueError(f"the order of {name!r} in sort_by is 'ascending' or 'descending', not {order!r}")
    return name, order == "descending", False


def _pairs(metadata: Mapping[Any, Any]) -> list[tuple[str, bytes | None]]:
    """Return metadata as text and bytes."""
    return [(_text(key), None if value is None else _bytes(value)) for key, value in metadata.items()]


def _bytes(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


class ParquetWriter:
    """A Parquet file under construction.

    `where` is a path, a URL, a file object with `write`, or a file descriptor. A path appears when the writer is
    closed. If the ``with`` block raises an exception, it does not appear.

    The options are those of pyarrow, and those of the library, which `write_options()` lists. `storage_options` are settings of the
    store of a URL, such as ``{"aws_region": "eu-north-1"}``.

    An option of columns takes a single value or a dict: ``encoding={"fare": "alp"}``.

    Defaults differ from pyarrow's in this: ZSTD, encodings by a sample of the values, page indexes, checksums, and row
    groups that end by rows and not with each call.
    """

    @with_options(_keywords.WRITE)
    def __init__(
        self, where: Any, schema: Any, filesystem: Any = None, storage_options: _files.StorageOptions = None, *,
        row_group_size: int | None = None, **options: Unpack[WriteOptions],
    ) -> None:
        core = core_options({"row_group_size": row_group_size, **options})
        self._start(where, filesystem, storage_options, schema, lambda sink: _core.Writer(sink, schema, core))

    def _start(
        self, where: Any, filesystem: Any, storage_options: _files.StorageOptions, schema: Any,
        open_writer: Callable[[Any], _core.Writer],
    ) -> None:
        self.schema = schema
        self.where = where
        self.is_open = False
        self._sink, self._file = _files.open_output(where, filesystem, storage_options)
        try:
            self._writer = open_writer(self._sink)
        except BaseException:
            if self._file is not None:
                self._file.discard()
            raise
        self.is_open = True
        #: The metadata of the file, once it is closed.
        self.metadata: FileMetaData | None = None

    def __enter__(self) -> ParquetWriter:
        return self

    def __exit__(self, kind: object, *_exception: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()

    def __repr__(self) -> str:
        state = "open" if self.is_open else "closed"
        if self.metadata is not None:
            state = f"{self.metadata.num_rows:,} rows"
        return f"<herringbone.ParquetWriter {_files.shown(self.where)}: {state}>"

    def write(self, table_or_batch: Any, row_group_size: int | None = None) -> None:
        """Append the rows of anything that `write_table` takes."""
        self._append(table_or_batch, row_group_size)

    def write_table(self, table: Any, row_group_size: int | None = None) -> None:
        """Append a table. With `row_group_size`, it has row groups of its own."""
        self._append(table, row_group_size)

    def write_batch(self, batch: Any, row_group_size: int | None = None) -> None:
        """Append a record batch. With `row_group_size`, it has row groups of its own."""
        self._append(batch, row_group_size)

    def _append(self, data: Any, row_group_size: int | None, ends_row_group: bool = False) -> None:
        if row_group_size is not None and row_group_size <= 0:
            raise ValueError(f"row_group_size is a positive number, not {row_group_size}")
        has_rows = row_group_size is not None and getattr(data, "num_rows", 1) > 0
        self._writer.write(data, row_group_size, ends_row_group or has_rows)

    def add_key_value_metadata(self, key_value_metadata: Mapping[Any, Any]) -> None:
        """Add pairs to the metadata of the file."""
        self._writer.add_key_value_metadata(_pairs(key_value_metadata))

    def close(self) -> None:
        """End the file. Closing a second time does nothing."""
        if not self.is_open:
            return
        self._writer.check_not_in_use()
        self.is_open = False
        try:
            self.metadata = self._writer.finish()
        except BaseException:
            if self._file is not None:
                self._file.discard()
            raise
        if self._file is not None:
            self._file.close()

    def abort(self) -> None:
        """Drop the file. A path does not appear."""
        self._writer.check_not_in_use()
        self.is_open = False
        self._writer.abort()
        if self._file is not None:
            self._file.discard()


@with_options(_keywords.WRITE)
def write_table(
    table: Any, where: Any, row_group_size: int | None = None, filesystem: Any = None, *,
    storage_options: _files.StorageOptions = None, **options: Unpack[WriteOptions],
) -> FileMetaData:
    """Write a table, and return the metadata of the file.

    A table is any object with ``__arrow_c_stream__`` or ``__arrow_c_array__``, an iterable of them, a lazy frame of polars,
    or a scanner or dataset of pyarrow. Dicts, one for each row, and a dict of columns need pyarrow.

    >>> import io
    >>> table = read_table("testdata/example.parquet")
    >>> write_table(table, io.BytesIO(), compression="snappy").num_rows
    24
    """
    schema, table = with_schema(table)
    if row_group_size is not None and row_group_size <= 0:
        raise ValueError(f"row_group_size is a positive number, not {row_group_size}")
    writer = ParquetWriter(where, schema, filesystem, storage_options, row_group_size=row_group_size, **options)
    with writer:
        writer.write(table)
    assert writer.metadata is not None
    return writer.metadata


@with_options(_keywords.WRITE)
def append_table(
    table: Any, where: Any, row_group_size: int | None = None, *, storage_options: _files.StorageOptions = None,
    **options: Unpack[WriteOptions],
) -> FileMetaData:
    """Append the rows of a table to a file, in row groups of their own, and return the metadata of the file.

    `where` is a path or a URL. A copy with the new row groups replaces the file when it is complete; pages are not encoded again. The
    table has the names and types of the file's columns. The file's metadata are kept.

    >>> import shutil, tempfile
    >>> path = shutil.copy("testdata/example.parquet", tempfile.mkdtemp())
    >>> append_table(read_table(path, limit=2), path).num_rows
    26
    """
    _, table = with_schema(table)
    path, filesystem = _files.resolve(where, None, storage_options)
    if filesystem is not None or not (_files.is_path(path) or isinstance(path, _core.Url)):
        raise NotImplementedError(f"{_files.shown(where)}: append_table needs a path, or a URL of our own stores")
    core = core_options({"row_group_size": row_group_size, **options})
    with ParquetFile(path, storage_options=storage_options) as file:
        writer = ParquetWriter.__new__(ParquetWriter)
        found = file.schema_arrow
        writer._start(where, None, storage_options, found, lambda sink: _core.Writer.after(file._open(), sink, found, core))
        for note in writer._writer.notes:
            _warn(note)
        with writer:
            writer.write(table)
    assert writer.metadata is not None
    return writer.metadata


@with_options(_keywords.WRITE)
def write_metadata(
    schema: Any, where: Any, metadata_collector: Sequence[FileMetaData] | None = None, filesystem: Any = None,
    storage_options: _files.StorageOptions = None, **options: Unpack[WriteOptions],
) -> None:
    """Write a file without rows: ``_common_metadata``, or ``_metadata`` with the row groups of other files."""
    if not metadata_collector:
        with ParquetWriter(where, schema, filesystem, storage_options, **options):
            return
    buffer = io.BytesIO()
    with ParquetWriter(buffer, schema, **options) as writer:
        pass
    whole = writer.metadata
    assert whole is not None
    for one in metadata_collector:
        whole.append_row_groups(one)
    sink, file = _files.open_output(where, filesystem, storage_options)
    try:
        whole.write_metadata_file(sink)
    except BaseException:
        if file is not None:
            file.discard()
        raise
    if file is not None:
        file.close()


#: What a write does with the files that a directory has.
_BEHAVIORS = ("overwrite_or_ignore", "error", "delete_matching")


@with_options(_keywords.WRITE)
def write_to_dataset(
    table: Any, root_path: Any, partition_cols: Sequence[str] | None = None, filesystem: Any = None,
    storage_options: _files.StorageOptions = None, *, row_group_size: int | None = None, basename_template: str | None = None,
    existing_data_behavior: str = "overwrite_or_ignore", max_rows_per_file: int | None = None, max_open_files: int | None = None,
    **options: Unpack[WriteOptions],
) -> list[tuple[str, FileMetaData]]:
    """Write a table to files below a directory, in folders such as ``year=2026`` by the values of columns.

    The directory may be at a URL, or in a filesystem. The result has the path below `root_path` and the metadata of each new
    file.

    - `basename_template`: the names of files, such as ``"day-{i}.parquet"``, with the number of the file in its folder. Files of
      these names are replaced. Without it, no file has the name of another.
    - `existing_data_behavior`: ``"overwrite_or_ignore"`` keeps other files, ``"error"`` fails if the directory has files, and
      ``"delete_matching"`` removes the other files in the written folders, once the new ones are complete.
    - `max_rows_per_file`: the largest number of rows in a file.
    - `max_open_files`: the largest number of open files. If one more is needed, the least recently used is finished.
    """
    written = written_files(
        table, root_path, partition_cols, filesystem, storage_options, row_group_size=row_group_size, basename_template=basename_template,
        existing_data_behavior=existing_data_behavior, max_rows_per_file=max_rows_per_file, max_open_files=max_open_files, **options,
    )
    return [(path, metadata) for path, metadata, _ in written]


def written_files(
    table: Any, root_path: Any, partition_cols: Sequence[str] | None, filesystem: Any, storage_options: _files.StorageOptions = None, *,
    row_group_size: int | None, basename_template: str | None, existing_data_behavior: str, max_rows_per_file: int | None,
    max_open_files: int | None, **options: Any,
) -> list[tuple[str, FileMetaData, int]]:
    """Write a dataset. Return the path, the metadata and the number of bytes of each file."""
    if existing_data_behavior not in _BEHAVIORS:
        raise ValueError(f"existing_data_behavior={existing_data_behavior!r}: expected one of {', '.join(_BEHAVIORS)}")
    for name, count in (("max_rows_per_file", max_rows_per_file), ("max_open_files", max_open_files)):
        if count is not None and count <= 0:
            raise ValueError(f"{name} is a positive number, not {count}")
    path, found = _files.resolve(root_path, filesystem, storage_options)
    if not (_files.is_path(path) or isinstance(path, _core.Url)):
        raise NotImplementedError(f"{root_path!r}: write_to_dataset needs a directory")
    place: Any = path
    if found is not None:
        place = path = _files.Directory(path, found)
    elif not isinstance(path, _core.Url):
        place = _files.LocalDirectory(path)
    if existing_data_behavior == "error" and (existing := place.files_below("")):
        raise ParquetError(
            f"{_files.shown(root_path)} has {len(existing)} files, such as {existing[0]}; existing_data_behavior= "
            "'overwrite_or_ignore' keeps them, and 'delete_matching' replaces those in the written folders"
        )
    files = {"names": basename_template, "max_rows": max_rows_per_file, "max_open": max_open_files}
    core = core_options({"row_group_size": row_group_size, **options})
    written = _core.write_dataset(table, path, list(partition_cols or ()), core, files)
    if existing_data_behavior == "delete_matching":
        _remove_others(place, {path for path, _, _ in written})
    return written


def _remove_others(place: Any, written: set[str]) -> None:
    """Remove the files in the folders of these files, except the files themselves."""
    for folder in sorted({posixpath.dirname(path) for path in written}):
        for name in place.files_below(folder):
            path = posixpath.join(folder, name)
            if path not in written:
                place.remove(path)

"""Writing: `write_table`, `ParquetWriter` and `write_metadata`."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _core, _files
from ._core import FileMetaData

#: The options of a written file, with their defaults.
DEFAULTS: dict[str, Any] = {
    "row_group_size": None,
    "version": "2.6",
    "use_dictionary": None,
    "compression": None,
    "compression_level": None,
    "write_statistics": True,
    "distinct_counts": None,
    "use_deprecated_int96_timestamps": False,
    "data_page_size": None,
    "dictionary_pagesize_limit": None,
    "use_byte_stream_split": False,
    "column_encoding": None,
    "data_page_version": None,
    "use_compliant_nested_type": True,
    "use_content_defined_chunking": False,
    "store_schema": None,
    "write_page_index": True,
    "write_page_checksum": True,
    "sorting_columns": None,
    "store_decimal_as_integer": True,
    "write_time_adjusted_to_utc": False,
    "max_rows_per_page": None,
    "bloom_filter_options": None,
    "format_version": None,
    "keys": None,
    "compatibility": None,
    "prefer": None,
    "sort_by": None,
    "key_value_metadata": None,
    "row_group_bytes": None,
    "allow_out_of_range": False,
    "use_threads": True,
}


def core_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as the extension module takes them."""
    for name in given:
        if name not in DEFAULTS:
            raise TypeError(f"unknown option {name!r}; the options are {', '.join(sorted(DEFAULTS))}")
    options = {**DEFAULTS, **given}
    _refuse(options)
    everywhere: dict[str, Any] = {
        "page_bytes": options["data_page_size"],
        "page_rows": options["max_rows_per_page"],
        "dictionary_bytes": options["dictionary_pagesize_limit"],
        "distinct_counts": options["distinct_counts"],
    }
    columns: list[tuple[str, str, dict[str, Any]]] = []
    _compression(options, everywhere, columns)
    _encodings(options, everywhere, columns)
    _statistics(options, everywhere, columns)
    for name, of_column in _bloom_filters(options["bloom_filter_options"]):
        if of_column is not False:
            columns.append(("bloom_filter_options", name, {"bloom_filter": _bloom_filter(name, of_column)}))
    found = {
        "all": {"compression": None, **_present(everywhere)},
        "columns": [(option, name, {"compression": None, **column}) for option, name, column in columns],
        "byte_stream_split": options["use_byte_stream_split"] is True,
        "row_group_rows": options["row_group_size"],
        "row_group_bytes": options["row_group_bytes"],
        "data_page_version": options["data_page_version"],
        "content_defined_chunking": _chunking(options["use_content_defined_chunking"]),
        "page_index": bool(options["write_page_index"]),
        "format_version": options["format_version"],
        "crc": bool(options["write_page_checksum"]),
        "compatibility": options["compatibility"],
        "prefer": options["prefer"],
        "sorting_columns": [tuple(column) for column in options["sorting_columns"] or ()],
        "sort_by": [_sort_key(key) for key in options["sort_by"] or ()],
        "key_value_metadata": _pairs(options["key_value_metadata"] or {}),
        "store_schema": options["store_schema"],
        "int96_timestamps": bool(options["use_deprecated_int96_timestamps"]),
        "decimals_as_fixed": not options["store_decimal_as_integer"],
        "times_adjusted_to_utc": bool(options["write_time_adjusted_to_utc"]),
        "allow_out_of_range": bool(options["allow_out_of_range"]),
        "threads": None if options["use_threads"] else 1,
        "keys": None if options["keys"] is None else dict(options["keys"]),
    }
    return _present(found)


def _present(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _refuse(options: Mapping[str, Any]) -> None:
    if options["version"] not in ("2.6", "2.4"):
        raise NotImplementedError(f"version={options['version']!r}: only '2.6' and '2.4' are written")
    if not options["use_compliant_nested_type"]:
        raise NotImplementedError("use_compliant_nested_type=False: only the list form of the specification is written")


def _chunking(chunking: Any) -> tuple[int, int, int] | None:
    """Return the minimum and the maximum size of chunks, and the normalization level."""
    if chunking is None or chunking is False:
        return None
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
    return sizes["min_chunk_size"], sizes["max_chunk_size"], sizes["norm_level"]


def _compression(options: Mapping[str, Any], everywhere: dict[str, Any], columns: list[Any]) -> None:
    codec, level = options["compression"], options["compression_level"]
    levels = level if isinstance(level, Mapping) else None
    if isinstance(codec, Mapping):
        for name, of_column in codec.items():
            of_column = "none" if of_column is None else of_column
            if name is None:
                everywhere["compression"] = of_column
                continue
            of_level = levels.get(name) if levels is not None else level
            columns.append(("compression", name, _present({"compression": of_column, "compression_level": of_level})))
        return
    if codec is None and level is not None:
        raise ValueError(f"compression_level={level!r} needs compression=")
    everywhere["compression"] = codec
    if levels is None:
        everywhere["compression_level"] = level
        return
    for name, of_level in levels.items():
        columns.append(("compression_level", name, {"compression": codec, "compression_level": of_level}))


def _encodings(options: Mapping[str, Any], everywhere: dict[str, Any], columns: list[Any]) -> None:
    dictionary = options["use_dictionary"]
    if dictionary is None or isinstance(dictionary, bool):
        everywhere["dictionary"] = dictionary
    else:
        everywhere["dictionary"] = False
        columns += [("use_dictionary", name, {"dictionary": True}) for name in dictionary]
    split = options["use_byte_stream_split"]
    encoding = options["column_encoding"]
    if encoding is not None and split:
        raise ValueError("'use_byte_stream_split' cannot be passed together with 'column_encoding'")
    if isinstance(encoding, str):
        everywhere["encoding"] = encoding
    elif encoding is not None:
        columns += [("column_encoding", name, {"encoding": kind}) for name, kind in encoding.items()]
    if split and split is not True:
        columns += [("use_byte_stream_split", name, {"encoding": "BYTE_STREAM_SPLIT"}) for name in split]


def _statistics(options: Mapping[str, Any], everywhere: dict[str, Any], columns: list[Any]) -> None:
    statistics = options["write_statistics"]
    level = "page" if options["write_page_index"] else "chunk"
    if isinstance(statistics, bool):
        everywhere["statistics"] = level if statistics else "none"
        return
    everywhere["statistics"] = "none"
    columns += [("write_statistics", name, {"statistics": level}) for name in statistics]


def _bloom_filters(options: Any) -> Iterable[tuple[str, Any]]:
    if options is None:
        return ()
    if not isinstance(options, Mapping):
        raise TypeError(f"'bloom_filter_options' must be a dictionary, not {options!r}")
    return options.items()


def _bloom_filter(column: str, options: Any) -> tuple[int | None, float]:
    """Return the number of distinct values, if given, and the share of false positives. The texts are pyarrow's."""
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
    return values, float(share)


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

    The options are those of pyarrow, and these:

    - `keys` encrypts the file: ``{"footer": b"…", "columns": {"salary": b"…"}}``.
    - `compatibility`: 'widest' (all readers of the last ten years), 'modern' or 'newest'.
    - `prefer`: 'size', 'balanced' or 'read_speed', for the choice of encodings.
    - `format_version`, the number in the footer: 1 or 2. Readers ignore it.
    - `distinct_counts=False` leaves out the numbers of distinct values.
    - `sort_by` sorts the rows: names, or pairs of a name and 'ascending' or 'descending'.
    - `key_value_metadata`, `row_group_bytes`, `allow_out_of_range`.

    Defaults differ from pyarrow's in this: ZSTD, encodings by a sample of the values, page indexes, checksums, and row
    groups that end by rows and not with each call.
    """

    def __init__(self, where: Any, schema: Any, filesystem: Any = None, **options: Any) -> None:
        core = core_options(options)
        self.schema = schema
        self.where = where
        self.is_open = False
        self._sink, self._file = _files.open_output(where, filesystem)
        try:
            self._writer = _core.Writer(self._sink, schema, core)
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

    def write(self, table_or_batch: Any, row_group_size: int | None = None) -> None:
        """Append the rows of an object with ``__arrow_c_stream__`` or ``__arrow_c_array__``."""
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


def _schema_of(table: Any) -> Any:
    """Return the schema of a table, and the table, which may be a stream."""
    schema = getattr(table, "schema", None)
    if hasattr(schema, "__arrow_c_schema__"):
        return schema, table
    if hasattr(table, "__arrow_c_schema__"):
        return table, table
    # Streams without a schema are read once: into memory.
    table = _core.Table(table)
    return table.schema, table


def write_table(
    table: Any, where: Any, row_group_size: int | None = None, filesystem: Any = None, **options: Any
) -> FileMetaData:
    """Write any object with ``__arrow_c_stream__`` or ``__arrow_c_array__``, and return the metadata of the file.

    The options are those of `ParquetWriter`.

    >>> import io
    >>> table = read_table("testdata/example.parquet")
    >>> write_table(table, io.BytesIO(), compression="snappy").num_rows
    24
    """
    schema, table = _schema_of(table)
    if row_group_size is not None and row_group_size <= 0:
        raise ValueError(f"row_group_size is a positive number, not {row_group_size}")
    writer = ParquetWriter(where, schema, filesystem, row_group_size=row_group_size, **options)
    with writer:
        writer.write(table)
    assert writer.metadata is not None
    return writer.metadata


def write_metadata(
    schema: Any, where: Any, metadata_collector: Sequence[FileMetaData] | None = None, filesystem: Any = None,
    **options: Any,
) -> None:
    """Write a file without rows: ``_common_metadata``, or ``_metadata`` with the row groups of other files."""
    if not metadata_collector:
        with ParquetWriter(where, schema, filesystem, **options):
            return
    buffer = io.BytesIO()
    with ParquetWriter(buffer, schema, **options) as writer:
        pass
    whole = writer.metadata
    assert whole is not None
    for one in metadata_collector:
        whole.append_row_groups(one)
    sink, file = _files.open_output(where, filesystem)
    try:
        whole.write_metadata_file(sink)
    except BaseException:
        if file is not None:
            file.discard()
        raise
    if file is not None:
        file.close()


def write_to_dataset(
    table: Any, root_path: Any, partition_cols: Sequence[str] | None = None, **options: Any
) -> list[tuple[str, FileMetaData]]:
    """Write a table to files below a directory, in folders such as ``year=2026`` by the values of columns.

    No file is replaced. The result has the path below `root_path` and the metadata of each new file. The options are
    those of `ParquetWriter`.
    """
    path, filesystem = _files.resolve(root_path)
    if filesystem is not None or not _files.is_path(path):
        raise NotImplementedError(f"{root_path!r}: write_to_dataset needs a local directory")
    return _core.write_dataset(table, path, list(partition_cols or ()), core_options(options))

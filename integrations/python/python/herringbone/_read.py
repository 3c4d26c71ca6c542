"""Reading: `ParquetFile` and `ParquetDataset`."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _core, _files, _keywords, _partitioning
from ._core import FileMetaData, NotUnderstood, ParquetSchema, RecordBatchReader, Schema, Table
from ._filters import filter_tree
from ._keywords import with_options
from ._partitioning import Keys, Partitioning

if TYPE_CHECKING:
    from typing import Unpack

    from ._options import FilesOptions, ReadOptions, RowOptions


class LossWarning(UserWarning):
    """Damaged parts of a file were left out, because ``on_error`` allows it."""


def _schema_options(
    read_dictionary: Sequence[str] | None,
    binary_type: Any,
    list_type: Any,
    int96_unit: str | None,
    int96_overflow: str | None,
    ignore_arrow_schema: bool,
    arrow_schema: Any,
    ignore_annotations: Sequence[str],
) -> dict[str, Any]:
    options: dict[str, Any] = {
        "dictionary": None if read_dictionary is None else list(read_dictionary),
        "binary_type": _type_name(binary_type),
        "list_type": _type_name(list_type),
        "int96_unit": int96_unit,
        "int96_overflow": int96_overflow,
        "ignore_arrow_schema": ignore_arrow_schema,
        "arrow_schema": arrow_schema,
        "ignore_annotations": list(ignore_annotations),
    }
    return {name: value for name, value in options.items() if value is not None}


def _type_name(kind: Any) -> str | None:
    """Return the name of a type, which may be a class of pyarrow such as LargeListType."""
    if kind is None or isinstance(kind, str):
        return kind
    names = {
        "binary": "binary", "large_binary": "large_binary", "binary_view": "binary_view",
        "ListType": "list", "LargeListType": "large_list", "ListViewType": "list_view",
    }
    name = getattr(kind, "__name__", str(kind))
    if name not in names:
        raise ValueError(f"expected one of {', '.join(names)}, found {kind!r}")
    return names[name]


def _present(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def _columns(columns: Any) -> list[Any] | None:
    if columns is None:
        return None
    if isinstance(columns, str):
        raise TypeError(f"columns is a list of names; write [{columns!r}]")
    found: list[Any] = list(columns)
    for column in found:
        if not isinstance(column, (str, tuple, list)):
            raise TypeError(f"columns has {column!r}; a column is given by its name, or by a tuple of the names of fields")
    return found


def _check_counts(options: Mapping[str, Any]) -> None:
    """Fail for numbers of rows and row groups that cannot be."""
    counts = [(name, options[name]) for name in ("offset", "limit", "batch_size") if options.get(name) is not None]
    counts += [("row_groups", number) for number in options.get("row_groups") or ()]
    for name, value in counts:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"{name} takes whole numbers, not {value!r}")
        if value < 0:
            raise ValueError(f"{name}: {value} is negative; " + ("row groups are counted from 0" if name == "row_groups" else "use 0 or more"))


#: The default limit of the same name.
_FOOTER_BYTES = 1 << 30


def _limits(
    limits: Mapping[str, int] | None,
    string_size: int | None,
    container_size: int | None,
    schema_depth: int | None,
) -> dict[str, int]:
    found = dict(limits or {})
    if string_size is not None and string_size > _FOOTER_BYTES:
        found.setdefault("footer_bytes", string_size)
    if container_size is not None:
        found.setdefault("schema_nodes", container_size)
        found.setdefault("row_groups", container_size)
    if schema_depth is not None:
        # pyarrow counts the column too.
        found.setdefault("schema_depth", max(schema_depth - 1, 0))
    return found


def _check_strings(metadata: FileMetaData, limit: int) -> None:
    for pair in (metadata.metadata or {}).items():
        longest = max(map(len, pair))
        if longest > limit:
            raise ValueError(
                f"the metadata has a text of {longest} bytes, which exceeds thrift_string_size_limit={limit}"
            )


class ParquetFile:
    """An open Parquet file.

    `source` is a path, a URL, bytes, a buffer, a file object or a file descriptor. The arguments are those of
    pyarrow, and these:

    - `storage_options`: settings of the store of a URL, such as ``{"aws_region": "eu-north-1"}`` or ``{"anon": True}``.
    - `keys`: the keys of an encrypted file, such as ``{"footer": b"…", "columns": {"salary": b"…"}}``.
    - `limits`: bounds for hostile files by name, such as ``{"memory_bytes": 1 << 30}``.
    - `on_error`: 'fail', 'null_page' or 'skip_row_group'. The losses of a read are listed in its result.
    - `arrow_schema`: an Arrow schema that is used instead of the one in the file's metadata. `ignore_arrow_schema=True`
      uses none.
    - `ignore_annotations`: columns that are read as their physical type.

    `memory_map`, `buffer_size` and `pre_buffer` exist for pyarrow's callers. The bytes that a read needs are known in
    advance here, so these arguments change nothing.

    >>> with ParquetFile("testdata/example.parquet") as file:
    ...     file.num_row_groups, file.metadata.num_rows
    (2, 24)
    """

    @with_options()
    def __init__(
        self,
        source: Any,
        *,
        metadata: FileMetaData | None = None,
        common_metadata: FileMetaData | None = None,
        read_dictionary: Sequence[str] | None = None,
        binary_type: Any = None,
        list_type: Any = None,
        memory_map: bool = False,
        buffer_size: int = 0,
        pre_buffer: bool = True,
        coerce_int96_timestamp_unit: str | None = None,
        thrift_string_size_limit: int | None = None,
        thrift_container_size_limit: int | None = None,
        schema_depth_limit: int | None = None,
        filesystem: Any = None,
        storage_options: _files.StorageOptions = None,
        page_checksum_verification: bool = False,
        arrow_extensions_enabled: bool = True,
        keys: Mapping[str, Any] | None = None,
        limits: Mapping[str, int] | None = None,
        on_error: str = "fail",
        int96_overflow: str | None = None,
        ignore_arrow_schema: bool = False,
        arrow_schema: Any = None,
        ignore_annotations: Sequence[str] = (),
    ) -> None:
        if not arrow_extensions_enabled:
            raise NotImplementedError("arrow_extensions_enabled=False; ignore_annotations= reads columns as stored")
        schema = _schema_options(
            read_dictionary, binary_type, list_type, coerce_int96_timestamp_unit, int96_overflow,
            ignore_arrow_schema, arrow_schema, ignore_annotations,
        )
        self._options: dict[str, Any] = {
            "schema": schema,
            "page_checksum_verification": page_checksum_verification,
            "on_error": on_error,
        }
        self._name = source.name if isinstance(source, _core.Url) else _files.shown(source)
        path, filesystem = _files.resolve(source, filesystem, storage_options)
        self._input = _files.open_input(path, filesystem)
        self._owns_input = self._input is not source and hasattr(self._input, "close")
        self._closed = False
        self.common_metadata = common_metadata
        try:
            self._file = _core.File(
                self._input,
                keys=None if keys is None else dict(keys),
                path=path if _files.is_path(path) else None,
                limits=_limits(
                    limits, thrift_string_size_limit, thrift_container_size_limit, schema_depth_limit
                ),
                metadata=metadata,
            )
            if thrift_string_size_limit is not None:
                _check_strings(self._file.metadata, thrift_string_size_limit)
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        metadata = self.metadata
        sizes = f"{metadata.num_rows:,} rows, {metadata.num_row_groups:,} row groups, {metadata.num_columns:,} columns"
        return f"<herringbone.ParquetFile {self._name}: {sizes}{', closed' if self.closed else ''}>"

    def __enter__(self) -> ParquetFile:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self, force: bool = False) -> None:
        """Close the file. A file object of the caller stays open, unless `force` is set."""
        self._closed = True
        if (self._owns_input or force) and hasattr(self._input, "close"):
            self._input.close()

    @property
    def closed(self) -> bool:
        """True once the file is closed. A file object of the caller is closed by the caller."""
        if self._owns_input or not hasattr(self._input, "closed"):
            return self._closed
        return bool(self._input.closed)

    def _open(self) -> _core.File:
        if self.closed:
            raise ValueError("the file is closed")
        return self._file

    @property
    def metadata(self) -> FileMetaData:
        """The metadata in the footer."""
        return self._file.metadata

    @property
    def schema(self) -> ParquetSchema:
        """The Parquet schema."""
        return self.metadata.schema

    @property
    def schema_arrow(self) -> Schema:
        """The Arrow schema that the file is read with."""
        return self._file.schema_arrow(self._options)

    @property
    def num_row_groups(self) -> int:
        """The number of row groups."""
        return self.metadata.num_row_groups

    def _schema_with(self, **changes: Any) -> Schema:
        """Return the Arrow schema with other choices of types."""
        schema = {**self._options["schema"], **changes}
        return self._file.schema_arrow({**self._options, "schema": schema})

    def _reader(self, use_threads: bool, use_pandas_metadata: bool, options: dict[str, Any]) -> RecordBatchReader:
        columns = _columns(options.pop("columns", None))
        _check_counts(options)
        if options.get("batch_size") == 0:
            raise ValueError("batch_size cannot be 0")
        if options.get("batch_size") is None:
            options["batch_size"] = _BATCH_ROWS
        if columns is not None and use_pandas_metadata:
            columns += _index_columns(self.schema_arrow.metadata, columns)
        _check_names(options, columns, lambda: self.schema_arrow.names)
        options["columns"] = columns
        options["row_groups"] = _list(options.get("row_groups"))
        filters = options.pop("filters", None)
        try:
            options["filter"] = filter_tree(filters, lambda: self.schema_arrow)
        except NotUnderstood as error:
            from ._expressions import tested_by_pyarrow

            chosen = {**options, "on_error": self._options["on_error"]}
            del chosen["columns"]

            def read(needed: list[Any] | None, rest: dict[str, Any]) -> RecordBatchReader:
                del rest["on_error"]
                return self._reader(use_threads, False, {**rest, "columns": needed})

            return tested_by_pyarrow(error, filters, columns, chosen, self.schema_arrow.names, read)
        if not use_threads:
            options["threads"] = 1
        return self._begin(_present({**self._options, **options}))

    def _begin(self, options: dict[str, Any]) -> RecordBatchReader:
        """Start a read."""
        return self._open().read(options)

    @with_options(_keywords.ROWS)
    def iter_batches(
        self,
        batch_size: int = 65536,
        row_groups: Sequence[int] | None = None,
        columns: Sequence[str] | None = None,
        use_threads: bool = True,
        use_pandas_metadata: bool = False,
        *,
        filters: Any = None,
        **options: Unpack[RowOptions],
    ) -> RecordBatchReader:
        """Return a stream of tables of at most `batch_size` rows. It holds one of them at a time."""
        chosen = {"columns": columns, "filters": filters, "batch_size": batch_size, "row_groups": row_groups, **options}
        return self._reader(use_threads, use_pandas_metadata, chosen)

    @with_options(_keywords.ROWS, _keywords.PARTS)
    def read(
        self,
        columns: Sequence[str] | None = None,
        use_threads: bool = True,
        use_pandas_metadata: bool = False,
        *,
        filters: Any = None,
        **options: Unpack[ReadOptions],
    ) -> Table:
        """Read the file, or some columns and rows of it. `filters` choose the rows: see `read_table`."""
        chosen = {"columns": columns, "filters": filters, **options}
        return _read_all(self._reader(use_threads, use_pandas_metadata, chosen))

    def read_row_group(
        self,
        i: int,
        columns: Sequence[str] | None = None,
        use_threads: bool = True,
        use_pandas_metadata: bool = False,
    ) -> Table:
        """Read one row group."""
        return self.read_row_groups([i], columns, use_threads, use_pandas_metadata)

    def read_row_groups(
        self,
        row_groups: Sequence[int],
        columns: Sequence[str] | None = None,
        use_threads: bool = True,
        use_pandas_metadata: bool = False,
    ) -> Table:
        """Read several row groups."""
        options = {"columns": columns, "row_groups": row_groups}
        return _read_all(self._reader(use_threads, use_pandas_metadata, options))

    def scan_contents(self, columns: Sequence[str] | None = None, batch_size: int = 65536) -> int:
        """Read columns without keeping them, and return the number of rows."""
        return sum(len(batch) for batch in self.iter_batches(batch_size, columns=columns))

    def explain(self, filters: Any = None, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Return what pruning rules out, and the bytes to fetch, as one dict for each row group."""
        options = {"filter": filter_tree(filters, lambda: self.schema_arrow), "columns": _columns(columns)}
        return self._open().explain(_present({**self._options, **options}))

    def verify(self, use_threads: bool = True) -> list[dict[str, Any]]:
        """Check all that the file claims about itself against its data, and return the findings."""
        return self._open().verify(0 if use_threads else 1)

    def row_group_bounds(self, column: str) -> Table:
        """Return the bounds and counts of a column, one row for each row group."""
        return self._open().row_group_bounds(column)

    def page_bounds(self, row_group: int, column: str) -> Table | None:
        """Return the bounds and counts of a column, one row for each page, or None without a page index."""
        return self._open().page_bounds(row_group, column)


#: The rows of a batch, as in pyarrow. Tables of larger batches are read more slowly, and smaller ones are slower to use.
_BATCH_ROWS = 65536


def _check_names(options: Mapping[str, Any], columns: Sequence[Any] | None, names: Callable[[], list[str]]) -> None:
    """Fail if a column that a read adds has the name of another column that is read."""
    added = {*(options.get("variants") or ()), options.get("row_numbers")} - {None}
    same = added.intersection(names()) if added else added
    for name in same if columns is None else same.intersection(columns):
        raise ValueError(f"the files have a column {name!r}; choose another name in row_numbers= or variants=")


def _list(numbers: Sequence[int] | None) -> list[int] | None:
    return None if numbers is None else list(numbers)


def _read_all(reader: RecordBatchReader) -> Table:
    table = reader.read_all()
    _warn_of(table)
    return table


def _warn_of(table: Table) -> None:
    """Warn about the losses of a read."""
    for what, count, error in table.losses:
        _warn(f"{count} {what} were left out: {error}")


def _warn(text: str) -> None:
    """Warn about losses, at the line of the program that called this package."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("herringbone"):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, LossWarning, stacklevel=level)


def _index_columns(metadata: Mapping[bytes, bytes], columns: Sequence[str]) -> list[str]:
    """Return the columns of the pandas index that are not among the columns."""
    text = metadata.get(b"pandas")
    if text is None:
        return []
    import json

    index = json.loads(text).get("index_columns", [])
    return [name for name in index if isinstance(name, str) and name not in columns]


class ParquetDataset:
    """Several files that are read as one table: a list, a pattern, or a directory.

    The schema is that of the first file, `schema`, or the union of all files (``schema="union"``). Missing columns are
    null. Directories such as ``year=2026`` are columns, which come last; ``partitioning=None`` gives them no meaning.
    With ``partitioning=["year", "month"]``, the columns of ``2026/05`` have these names. Partitionings of pyarrow by hive
    names and by directories can be passed, too.
    """

    @with_options(_keywords.FILE, _keywords.MEMORY_MAP)
    def __init__(
        self,
        path_or_paths: Any,
        filesystem: Any = None,
        schema: Any = None,
        *,
        filters: Any = None,
        partitioning: Any = "hive",
        storage_options: _files.StorageOptions = None,
        **options: Unpack[FilesOptions],
    ) -> None:
        columns = _partitioning.parse(partitioning)
        self._arguments = (path_or_paths, filesystem, schema, filters, partitioning, storage_options, options)
        self._options = options
        self._filters = filters
        self._paths, self._listing = _files.find(path_or_paths, filesystem, storage_options)
        self._dataset = _open(self._paths, self._listing, schema, columns, options)

    def __repr__(self) -> str:
        count = len(self.files)
        return f"<herringbone.ParquetDataset: {count:,} file{'' if count == 1 else 's'}, {len(self.schema):,} columns>"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return _dataset_again, self._arguments

    @property
    def files(self) -> list[str]:
        """The paths of the files."""
        return self._dataset.files

    def _first(self) -> tuple[Any, Any]:
        """Return the first file, and its filesystem."""
        url = self._dataset.first_url()
        if url is not None:
            return url, None
        first = self.files[0]
        return (first, None) if self._listing is None else self._listing._source(first)

    def _partitions(self) -> list[Keys]:
        """Return the names of the partition columns of each file, and the texts of their values."""
        return [tuple(keys) for keys in self._dataset.partitions]

    @property
    def schema(self) -> Schema:
        """The Arrow schema of the table."""
        return self._dataset.schema

    def read(
        self, columns: Sequence[str] | None = None, use_threads: bool = True, use_pandas_metadata: bool = False
    ) -> Table:
        """Read the files as one table."""
        return _read_all(self._stream(columns, use_threads, use_pandas_metadata, {}))

    def explain(self, filters: Any = None, columns: Sequence[str] | None = None) -> dict[str, Any]:
        """Return what pruning rules out, and the bytes to fetch, as sums over all files."""
        options = {"filter": filter_tree(filters, lambda: self.schema), "columns": _columns(columns)}
        return self._dataset.explain(_present({**options, "schema": {"ignore_arrow_schema": False}}))

    def _stream(
        self, columns: Any, use_threads: bool, use_pandas_metadata: bool, options: dict[str, Any]
    ) -> RecordBatchReader:
        _check_counts(options)
        options = {**options, "columns": _columns(columns)}
        filters = options.pop("filters", self._filters)
        for name in ("row_groups", "deleted_rows", "wanted_schema", "variants"):
            if options.get(name) is not None:
                raise NotImplementedError(f"{name}= for several files; read each file alone")
        if options["columns"] is not None and use_pandas_metadata:
            options["columns"] += _index_columns(self._dataset.schema.metadata, options["columns"])
        _check_names(options, options["columns"], lambda: self.schema.names)
        try:
            options["filter"] = filter_tree(filters, lambda: self.schema)
        except NotUnderstood as error:
            from ._expressions import tested_by_pyarrow

            columns = options.pop("columns")
            chosen = {**options, "on_error": self._options.get("on_error")}

            def read(needed: list[Any] | None, rest: dict[str, Any]) -> RecordBatchReader:
                del rest["on_error"]
                return self._stream(needed, use_threads, False, {**rest, "filters": None})

            return tested_by_pyarrow(error, filters, columns, chosen, self.schema.names, read)
        options["threads"] = None if use_threads else 1
        if options.get("batch_size") is None:
            options["batch_size"] = _BATCH_ROWS
        options["schema"] = {
            "ignore_arrow_schema": self._options.get("ignore_arrow_schema", False),
            "ignore_annotations": list(self._options.get("ignore_annotations") or ()),
        }
        for name in ("on_error", "page_checksum_verification"):
            options[name] = self._options.get(name)
        return self._dataset.read(_present(options))


def _dataset_again(
    paths: Any, filesystem: Any, schema: Any, filters: Any, partitioning: Any, storage_options: _files.StorageOptions,
    options: dict[str, Any],
) -> ParquetDataset:
    """Open a pickled dataset."""
    return ParquetDataset(
        paths, filesystem, schema, filters=filters, partitioning=partitioning, storage_options=storage_options, **options
    )


def _open(
    paths: list[Any],
    listing: _files.Listing | None,
    schema: Any,
    partitioning: Partitioning | None,
    options: Mapping[str, Any],
) -> _core.Dataset:
    types = _schema_options(
        options.get("read_dictionary"), options.get("binary_type"), options.get("list_type"),
        options.get("coerce_int96_timestamp_unit"), options.get("int96_overflow"),
        options.get("ignore_arrow_schema", False), options.get("arrow_schema"), options.get("ignore_annotations", ()),
    )
    dataset = _core.Dataset(
        paths,
        listing=listing,
        schema=None if isinstance(schema, str) else schema,
        partitioning=None if partitioning is None else {"names": partitioning.names, "types": partitioning.types},
        union=_is_union(schema),
        types=types,
        keys=options.get("keys"),
        limits=_limits(
            options.get("limits"), options.get("thrift_string_size_limit"),
            options.get("thrift_container_size_limit"), options.get("schema_depth_limit"),
        ),
    )
    count, first = dataset.left_out
    if count:
        _warn(
            f"{count} keys were left out of the listing, because keys with empty parts, `.`, `..` or control characters cannot "
            f"be read: {first[:3]!r}"
        )
    if not dataset.files:
        _files.check_found(paths, listing)
    return dataset


def _is_union(schema: Any) -> bool:
    if isinstance(schema, str) and schema != "union":
        raise ValueError(f"schema is an Arrow schema or 'union', not {schema!r}")
    return isinstance(schema, str)

"""The functions of `pyarrow.parquet`, with its defaults and its objects, on Herringbone.

>>> import herringbone.pyarrow as pq
>>> pq.read_table("testdata/example.parquet", columns=["id"]).num_rows
24

A keyword that is not supported is an error with its name. `install` puts these functions in place of those of
`pyarrow.parquet`, for code that calls them there; there, unsupported calls go to pyarrow's own function.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as _pq

from pyarrow.parquet import SortingColumn, filters_to_expression

from . import _core, _files, _functions, _partitioning, _read
from ._core import (
    ColumnChunkMetaData,
    ColumnSchema,
    FileMetaData,
    ParquetLogicalType,
    ParquetSchema,
    RecordBatchReader,
    RowGroupMetaData,
    Statistics,
)
from ._expressions import NotUnderstood
from ._filters import filter_tree
from ._pyarrow_errors import ParquetError, Unsupported, _class_raising, _keys, _only, _raising
from ._pyarrow_install import _CLASSES, _in_place, _originals, _PassingOn, passed_on
from ._pyarrow_types import (
    _as_stored, _compared_as_in_pyarrow, _field_path, _filesystem_of_pyarrow, _has_fields, _open_dataset, _parsed, _selected,
    _to_pyarrow, _use_pyarrow_types,
)
from ._pyarrow_write import ParquetWriter, write_metadata, write_table, write_to_dataset

__all__ = [
    "ColumnChunkMetaData",
    "ColumnSchema",
    "FileMetaData",
    "ParquetDataset",
    "ParquetError",
    "ParquetFile",
    "ParquetLogicalType",
    "ParquetSchema",
    "ParquetWriter",
    "RowGroupMetaData",
    "SortingColumn",
    "Statistics",
    "Unsupported",
    "filters_to_expression",
    "install",
    "installed",
    "passed_on",
    "read_metadata",
    "read_pandas",
    "read_schema",
    "read_table",
    "uninstall",
    "write_metadata",
    "write_table",
    "write_to_dataset",
]


@_class_raising
class ParquetFile(_PassingOn):
    """`pyarrow.parquet.ParquetFile`."""

    def __init__(
        self,
        source: Any,
        *,
        metadata: Any = None,
        common_metadata: Any = None,
        read_dictionary: Sequence[str] | None = None,
        binary_type: Any = None,
        list_type: Any = None,
        memory_map: bool = False,
        buffer_size: int = 0,
        pre_buffer: bool = True,
        coerce_int96_timestamp_unit: str | None = None,
        decryption_properties: Any = None,
        thrift_string_size_limit: int | None = None,
        thrift_container_size_limit: int | None = None,
        schema_depth_limit: int | None = None,
        filesystem: Any = None,
        page_checksum_verification: bool = False,
        arrow_extensions_enabled: bool = True,
    ) -> None:
        if metadata is not None and not isinstance(metadata, FileMetaData):
            raise Unsupported("ParquetFile", "metadata", metadata)
        self._arguments = (source,)
        self._keywords = {
            "read_dictionary": read_dictionary,
            "binary_type": binary_type,
            "list_type": list_type,
            "coerce_int96_timestamp_unit": coerce_int96_timestamp_unit,
            "decryption_properties": decryption_properties,
            "thrift_string_size_limit": thrift_string_size_limit,
            "thrift_container_size_limit": thrift_container_size_limit,
            "schema_depth_limit": schema_depth_limit,
            "filesystem": filesystem,
            "page_checksum_verification": page_checksum_verification,
            "arrow_extensions_enabled": arrow_extensions_enabled,
        }
        self._file = _read.ParquetFile(
            source,
            metadata=metadata,
            common_metadata=common_metadata,
            read_dictionary=read_dictionary,
            binary_type=binary_type,
            list_type=list_type,
            coerce_int96_timestamp_unit=coerce_int96_timestamp_unit,
            thrift_string_size_limit=thrift_string_size_limit,
            thrift_container_size_limit=thrift_container_size_limit,
            schema_depth_limit=schema_depth_limit,
            filesystem=filesystem,
            page_checksum_verification=page_checksum_verification,
            keys=_keys("ParquetFile", "decryption_properties", decryption_properties),
            # pyarrow wraps timestamps around that do not fit.
            int96_overflow="wrap",
        )
        self._has_extensions = _use_pyarrow_types(self._file, arrow_extensions_enabled)
        self.common_metadata = common_metadata

    def __enter__(self) -> ParquetFile:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self, force: bool = False) -> None:
        self._file.close(force)

    @property
    def closed(self) -> bool:
        return self._file.closed

    @functools.cached_property
    def metadata(self) -> FileMetaData:
        return self._file.metadata.for_pyarrow()

    @property
    def schema(self) -> _core.ParquetSchema:
        return self.metadata.schema

    @property
    def schema_arrow(self) -> Any:
        return _as_stored(self._file.schema_arrow.to_pyarrow(), self._has_extensions)

    @property
    def num_row_groups(self) -> int:
        return self._file.num_row_groups

    def _columns(self, columns: Sequence[str] | None) -> list[str] | None:
        """Leave out names without a column, as pyarrow does."""
        if columns is None:
            return None
        known = self._file.schema
        paths = [known.column(i).path for i in range(len(known))]
        return [name for name in columns if any(path == name or path.startswith(f"{name}.") for path in paths)]

    def _places(self, columns: Sequence[str] | None) -> list[int] | None:
        """Return the places of columns if several have one of the names: pyarrow reads all of them."""
        names = self._file.schema_arrow.names
        wanted = [] if columns is None else list(dict.fromkeys(columns))
        if all(names.count(name) == 1 for name in wanted) or not set(wanted) <= set(names):
            return None
        return [at for name in wanted for at, found in enumerate(names) if found == name]

    def _stream(
        self, columns: Any, use_threads: bool, use_pandas_metadata: bool, options: dict[str, Any]
    ) -> tuple[RecordBatchReader, Callable[[Any], Any]]:
        """Return a stream, and a function that makes tables of pyarrow of its tables."""
        places = self._places(columns)
        options["columns"] = None if places else self._columns(columns)
        stream = self._file._reader(use_threads, use_pandas_metadata, options)

        def converted(table: Any) -> Any:
            found = _as_stored(table.to_pyarrow(), self._has_extensions)
            return found.select(places) if places else found

        return stream, converted

    def read(
        self, columns: Sequence[str] | None = None, use_threads: bool = True, use_pandas_metadata: bool = False
    ) -> Any:
        stream, converted = self._stream(columns, use_threads, use_pandas_metadata, {})
        return converted(_read._read_all(stream))

    def read_row_group(
        self,
        i: int,
        columns: Sequence[str] | None = None,
        use_threads: bool = True,
        use_pandas_metadata: bool = False,
    ) -> Any:
        return self.read_row_groups([i], columns, use_threads, use_pandas_metadata)

    def read_row_groups(
        self,
        row_groups: Sequence[int],
        columns: Sequence[str] | None = None,
        use_threads: bool = True,
        use_pandas_metadata: bool = False,
    ) -> Any:
        options = {"row_groups": list(row_groups)}
        stream, converted = self._stream(columns, use_threads, use_pandas_metadata, options)
        return converted(_read._read_all(stream))

    def iter_batches(
        self,
        batch_size: int = 65536,
        row_groups: Sequence[int] | None = None,
        columns: Sequence[str] | None = None,
        use_threads: bool = True,
        use_pandas_metadata: bool = False,
    ) -> Iterator[Any]:
        groups = None if row_groups is None else list(row_groups)
        options = {"row_groups": groups, "batch_size": batch_size}
        stream, converted = self._stream(columns, use_threads, use_pandas_metadata, options)
        return self._full_batches(stream, converted, batch_size)

    def _full_batches(
        self, stream: RecordBatchReader, converted: Callable[[Any], Any], batch_size: int
    ) -> Iterator[Any]:
        rest: list[Any] = []
        for table in stream:
            if table.num_columns == 0:
                # pyarrow joins tables without columns to one without rows.
                yield pa.RecordBatch.from_struct_array(pa.array([{}] * len(table), pa.struct([])))
                continue
            rest.append(converted(table))
            rows = sum(len(one) for one in rest)
            # pyarrow's batches have this size across row groups.
            if rows >= batch_size:
                joined = pa.concat_tables(rest).combine_chunks()
                full = rows - rows % batch_size
                yield from joined.slice(0, full).to_batches(max_chunksize=batch_size)
                rest = [joined.slice(full)] if full < rows else []
        if rest:
            yield from pa.concat_tables(rest).combine_chunks().to_batches()

    def scan_contents(self, columns: Sequence[str] | None = None, batch_size: int = 65536) -> int:
        return self._file.scan_contents(self._columns(columns), batch_size)


@_raising
def read_table(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    use_threads: bool = True,
    schema: Any = None,
    use_pandas_metadata: bool = False,
    read_dictionary: Sequence[str] | None = None,
    binary_type: Any = None,
    list_type: Any = None,
    memory_map: bool = False,
    buffer_size: int = 0,
    partitioning: Any = "hive",
    filesystem: Any = None,
    filters: Any = None,
    ignore_prefixes: Sequence[str] | None = None,
    pre_buffer: bool = True,
    coerce_int96_timestamp_unit: str | None = None,
    decryption_properties: Any = None,
    thrift_string_size_limit: int | None = None,
    thrift_container_size_limit: int | None = None,
    schema_depth_limit: int | None = None,
    page_checksum_verification: bool = False,
    arrow_extensions_enabled: bool = True,
) -> Any:
    """`pyarrow.parquet.read_table`."""
    dataset = ParquetDataset(
        source,
        filesystem,
        schema,
        filters=filters,
        read_dictionary=read_dictionary,
        binary_type=binary_type,
        list_type=list_type,
        partitioning=partitioning,
        ignore_prefixes=ignore_prefixes,
        coerce_int96_timestamp_unit=coerce_int96_timestamp_unit,
        decryption_properties=decryption_properties,
        thrift_string_size_limit=thrift_string_size_limit,
        thrift_container_size_limit=thrift_container_size_limit,
        schema_depth_limit=schema_depth_limit,
        page_checksum_verification=page_checksum_verification,
        arrow_extensions_enabled=arrow_extensions_enabled,
        _function="read_table",
    )
    return dataset.read(columns, use_threads, use_pandas_metadata)


class _Dataset:
    """What callers take for pyarrow's dataset of a `ParquetDataset`: reads are ours, and all else is pyarrow's."""

    def __init__(self, owner: ParquetDataset) -> None:
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_owner" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._owner._theirs._dataset, name)

    @property
    def schema(self) -> Any:
        """The Arrow schema of the table."""
        return self._owner.schema

    def to_table(self, columns: Any = None, filter: Any = None, use_threads: bool = True, **options: Any) -> Any:
        """Read the dataset as a `pyarrow.Table`."""
        if options or isinstance(columns, Mapping):
            return self._owner._theirs._dataset.to_table(columns, filter=filter, use_threads=use_threads, **options)
        keywords = {**self._owner._keywords, "filters": filter}
        return ParquetDataset(*self._owner._arguments, **keywords).read(columns, use_threads)


@_class_raising
class ParquetDataset(_PassingOn):
    """`pyarrow.parquet.ParquetDataset`."""

    def __init__(
        self,
        path_or_paths: Any,
        filesystem: Any = None,
        schema: Any = None,
        *,
        filters: Any = None,
        read_dictionary: Sequence[str] | None = None,
        binary_type: Any = None,
        list_type: Any = None,
        memory_map: bool = False,
        buffer_size: int | None = None,
        partitioning: Any = "hive",
        ignore_prefixes: Sequence[str] | None = None,
        pre_buffer: bool = True,
        coerce_int96_timestamp_unit: str | None = None,
        decryption_properties: Any = None,
        thrift_string_size_limit: int | None = None,
        thrift_container_size_limit: int | None = None,
        schema_depth_limit: int | None = None,
        page_checksum_verification: bool = False,
        arrow_extensions_enabled: bool = True,
        _function: str = "ParquetDataset",
    ) -> None:
        _only(_function, ignore_prefixes=(ignore_prefixes, (None,)))
        columns = _parsed(_function, partitioning)
        choices = {
            "read_dictionary": read_dictionary,
            "binary_type": binary_type,
            "list_type": list_type,
            "coerce_int96_timestamp_unit": coerce_int96_timestamp_unit,
            "thrift_string_size_limit": thrift_string_size_limit,
            "thrift_container_size_limit": thrift_container_size_limit,
            "schema_depth_limit": schema_depth_limit,
            "page_checksum_verification": page_checksum_verification,
        }
        more = {
            "filters": filters,
            "partitioning": partitioning,
            "decryption_properties": decryption_properties,
            "arrow_extensions_enabled": arrow_extensions_enabled,
        }
        self._function = _function
        self._arguments = (path_or_paths, filesystem, schema)
        self._keywords = {**choices, **more}
        self._filters = filters
        self._source = path_or_paths
        self._filesystem = filesystem
        keys = _keys(_function, "decryption_properties", decryption_properties)
        options = {**choices, "keys": keys, "int96_overflow": "wrap"}
        self._schema = schema
        self._file: _read.ParquetFile | None = None
        found, place = _files.resolve(path_or_paths, filesystem)
        if _files.is_many(found, place):
            self._several, self._has_extensions = _open_dataset(
                path_or_paths, filesystem, schema, partitioning, options, arrow_extensions_enabled
            )
            # The partition columns whose types are inferred.
            self._partitions = set() if columns is None or columns.types is not None else self._partition_names()
        else:
            self._file = _read.ParquetFile(found if place is None else path_or_paths, filesystem=filesystem, **options)
            self._has_extensions = _use_pyarrow_types(self._file, arrow_extensions_enabled)
            self._partitions = set()
        self._is_dictionary = columns is not None and columns.is_dictionary

    def __reduce__(self) -> tuple[Any, ...]:
        return functools.partial(type(self), **self._keywords), self._arguments

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ParquetDataset) and self.equals(other)

    def equals(self, other: ParquetDataset) -> bool:
        """Return True if two datasets have the same files and columns."""
        return bool(self.files == other.files and self.schema == other.schema)

    def _partition_names(self) -> set[str]:
        return {name for keys in self._several._partitions() for name, _ in keys}

    @property
    def files(self) -> list[str]:
        """The paths of the files."""
        return [str(self._source)] if self._file is not None else self._several.files

    @property
    def schema(self) -> Any:
        """The Arrow schema of the table."""
        if self._schema is not None:
            return self._schema
        found = self._file.schema_arrow if self._file is not None else self._several.schema
        found = _as_stored(found.to_pyarrow(), self._has_extensions)
        return pa.schema([self._typed(field) for field in found], metadata=found.metadata)

    def _typed(self, field: Any) -> Any:
        """Return the field of a partition column with pyarrow's type."""
        if field.name not in self._partitions:
            return field
        values = pa.int32() if pa.types.is_integer(field.type) else pa.string()
        return pa.field(field.name, pa.dictionary(pa.int32(), values) if self._is_dictionary else values)

    def read(
        self, columns: Sequence[str] | None = None, use_threads: bool = True, use_pandas_metadata: bool = False
    ) -> Any:
        """Read the files as one table."""
        rest = None
        columns = _read._columns(columns)
        wanted = None if columns is None else list(columns)
        filters: Any = _compared_as_in_pyarrow(self._filters, lambda: self.schema)
        try:
            if filters is not None:
                filter_tree(filters, lambda: self.schema)
        except NotUnderstood:
            # pyarrow tests the rows instead.
            rest, filters, wanted = filters, None, None
        common = self._common_pandas_metadata() if use_pandas_metadata else None
        if common is not None and wanted is not None:
            wanted += _read._index_columns({b"pandas": common}, wanted)
        try:
            table = self._read(wanted, filters, use_threads, use_pandas_metadata)
        except _core.ParquetError as error:
            if self._schema is None or "cannot be cast to the wanted" not in str(error):
                raise
            # pyarrow casts types that we do not.
            raise Unsupported(self._function, "schema", self._schema) from error
        if common is not None:
            table = table.replace_schema_metadata({**(table.schema.metadata or {}), b"pandas": common})
        if rest is not None:
            table = table.filter(rest)
            if columns is not None:
                index = _read._index_columns(table.schema.metadata or {}, columns) if use_pandas_metadata else []
                table = _selected(table, [*columns, *index])
        elif columns is not None and (len(set(columns)) < len(columns) or _has_fields(table.schema, columns)):
            paths = [_field_path(table.schema, name) or [name] for name in columns]
            index = [name for name in table.column_names if [name] not in [path[:1] for path in paths]]
            table = _selected(table, [*columns, *index])
        return table

    def _common_pandas_metadata(self) -> bytes | None:
        """Return what `_common_metadata` or `_metadata` of a directory say about pandas, if its files do not."""
        if self._file is not None or b"pandas" in self._several.schema.metadata:
            return None
        path, filesystem = _files.resolve(self._source, self._filesystem)
        if not _files.is_path(path) or filesystem is not None or not os.path.isdir(path):
            return None
        for name in ("_common_metadata", "_metadata"):
            file = os.path.join(path, name)
            found = _functions.read_metadata(file).metadata if os.path.isfile(file) else None
            if found is not None and b"pandas" in found:
                return found[b"pandas"]
        return None

    @property
    def fragments(self) -> list[Any]:
        """The files as fragments of `pyarrow.dataset`, which pyarrow reads. Nothing is listed or opened again.

        Those of files at our own URLs, and of file objects, are fragments of pyarrow's own dataset: see `install`.
        """
        import pyarrow.dataset as ds

        found, place = _files.resolve(self._source, self._filesystem)
        is_local = place is None and (_files.is_path(found) or (isinstance(found, list) and all(map(_files.is_path, found))))
        if not is_local and self._filesystem is None:
            # `__getattr__` answers.
            raise AttributeError("fragments")
        file_format, filesystem = ds.ParquetFileFormat(), _filesystem_of_pyarrow(self._filesystem)
        keys = [()] * len(self.files) if self._file is not None else self._several._partitions()
        fragments = [
            file_format.make_fragment(path, filesystem, self._expression(values)) for path, values in zip(self.files, keys)
        ]
        if self._filters is None:
            return fragments
        whole = ds.FileSystemDataset(fragments, self.schema, file_format, filesystem)
        is_list = isinstance(self._filters, (list, tuple))
        return list(whole.get_fragments(filter=filters_to_expression(self._filters) if is_list else self._filters))

    def _expression(self, keys: _partitioning.Keys) -> Any:
        """Return the condition that all rows of a file with these partition values satisfy, or None."""
        found = None
        for name, text in keys:
            kind = self.schema.field(name).type
            is_dictionary = pa.types.is_dictionary(kind)
            values = pa.array([text], pa.string()).cast(kind.value_type if is_dictionary else kind)
            value = (values.dictionary_encode() if is_dictionary else values)[0]
            test = pc.field(name).is_null() if text is None else pc.field(name) == value
            found = test if found is None else found & test
        return found

    @property
    def _dataset(self) -> Any:
        """The dataset of pyarrow's class, from which geopandas reads. It exists after `install`."""
        if "ParquetDataset" not in _originals:
            raise AttributeError("herringbone.pyarrow.ParquetDataset has a `_dataset` after install() only")
        return _Dataset(self)

    def read_pandas(self, **kwargs: Any) -> Any:
        """Read the files with the columns of their pandas index."""
        return self.read(use_pandas_metadata=True, **kwargs)

    def _read(self, columns: Any, filters: Any, use_threads: bool, use_pandas_metadata: bool) -> Any:
        options: dict[str, Any] = {"filters": filters}
        if self._file is not None:
            if self._schema is not None:
                options["wanted_schema"] = self._schema
            stream = self._file._reader(use_threads, use_pandas_metadata, {**options, "columns": columns})
            return _to_pyarrow(stream, self._has_extensions)
        if columns is not None and _has_fields(self.schema, columns):
            columns = list(dict.fromkeys((_field_path(self.schema, name) or [name])[0] for name in columns))
        stream = self._several._stream(columns, use_threads, use_pandas_metadata, options)
        table = _to_pyarrow(stream, self._has_extensions)
        for at, field in enumerate(table.schema):
            if field.name in self._partitions and self._schema is None:
                typed = self._typed(field)
                if self._is_dictionary:
                    column = table.column(at).cast(typed.type.value_type).dictionary_encode()
                else:
                    column = table.column(at).cast(typed.type)
                table = table.set_column(at, typed, column)
        return table


def read_pandas(source: Any, columns: Sequence[str] | None = None, **kwargs: Any) -> Any:
    """`pyarrow.parquet.read_pandas`."""
    return read_table(source, columns=columns, use_pandas_metadata=True, **kwargs)


def read_metadata(
    where: Any,
    memory_map: bool = False,
    decryption_properties: Any = None,
    filesystem: Any = None,
    arrow_extensions_enabled: bool = True,
) -> FileMetaData:
    """`pyarrow.parquet.read_metadata`."""
    with ParquetFile(
        where,
        filesystem=filesystem,
        decryption_properties=decryption_properties,
        arrow_extensions_enabled=arrow_extensions_enabled,
    ) as file:
        return file.metadata


def read_schema(
    where: Any,
    memory_map: bool = False,
    decryption_properties: Any = None,
    filesystem: Any = None,
    arrow_extensions_enabled: bool = True,
) -> Any:
    """`pyarrow.parquet.read_schema`."""
    with ParquetFile(
        where,
        filesystem=filesystem,
        decryption_properties=decryption_properties,
        arrow_extensions_enabled=arrow_extensions_enabled,
    ) as file:
        return file.schema_arrow


_FUNCTIONS: dict[str, Any] = {
    "ParquetDataset": ParquetDataset,
    "ParquetFile": ParquetFile,
    "ParquetWriter": ParquetWriter,
    "read_metadata": read_metadata,
    "read_pandas": read_pandas,
    "read_schema": read_schema,
    "read_table": read_table,
    "write_metadata": write_metadata,
    "write_table": write_table,
    "write_to_dataset": write_to_dataset,
}


def install() -> None:
    """Put our functions in the place of those of `pyarrow.parquet`. `uninstall` undoes it.

    pandas, polars with ``use_pyarrow=True`` and Dask then read and write with Herringbone.
    """
    import pyarrow.parquet.core as core

    for name, ours in {**_FUNCTIONS, **_CLASSES}.items():
        if name not in _originals:
            _originals[name] = getattr(_pq, name)
        standing = _in_place(name, ours, _originals[name])
        setattr(_pq, name, standing)
        setattr(core, name, standing)


def uninstall() -> None:
    """Put the functions of `pyarrow.parquet` back."""
    import pyarrow.parquet.core as core

    for name, original in _originals.items():
        setattr(_pq, name, original)
        setattr(core, name, original)
    _originals.clear()


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """Run a ``with`` block in which our functions are in the place of those of `pyarrow.parquet`.

    If they were there before, they stay.
    """
    was_installed = bool(_originals)
    install()
    try:
        yield
    finally:
        if not was_installed:
            uninstall()

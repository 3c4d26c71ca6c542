"""The functions of `pyarrow.parquet`, with its defaults and its objects, on Herringbone.

>>> import herringbone.pyarrow as pq
>>> pq.read_table("testdata/example.parquet", columns=["id"]).num_rows
24

A keyword that is not supported is an error with its name. `install` puts these functions in place of those of
`pyarrow.parquet`, for code that calls them there; there, unsupported calls go to pyarrow's own function.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as _pq

from . import _core, _files, _read, _write
from ._core import FileMetaData, RecordBatchReader
from ._filters import filter_tree
from ._sorting import SortingColumn
from ._substrait import NotUnderstood

__all__ = [
    "ParquetDataset",
    "ParquetFile",
    "ParquetWriter",
    "SortingColumn",
    "Unsupported",
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


class Unsupported(NotImplementedError):
    """A call with an argument that only pyarrow itself supports. `keyword` is its name."""

    def __init__(self, function: str, keyword: str, value: Any) -> None:
        super().__init__(f"herringbone.pyarrow.{function} does not support {keyword}={value!r}")
        self.function = function
        self.keyword = keyword


def _only(function: str, **checks: tuple[Any, tuple[Any, ...]]) -> None:
    """Fail if an argument has a value that is not among those supported."""
    for keyword, (value, supported) in checks.items():
        if not any(value is one or (type(value) is type(one) and value == one) for one in supported):
            raise Unsupported(function, keyword, value)


def _keys(function: str, keyword: str, properties: Any) -> Any:
    """Return keys as a dict. The classes of pyarrow keep theirs to themselves."""
    if properties is not None and not isinstance(properties, Mapping):
        raise Unsupported(function, keyword, properties)
    return properties


def _to_pyarrow(reader: RecordBatchReader) -> Any:
    """Read the rest of a stream as a table of pyarrow."""
    return pa.table(_read._read_all(reader))


class ParquetFile:
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
        _only("ParquetFile", arrow_extensions_enabled=(arrow_extensions_enabled, (True,)))
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
        return pa.schema(self._file.schema_arrow)

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

    def _stream(
        self, columns: Any, use_threads: bool, use_pandas_metadata: bool, options: dict[str, Any]
    ) -> RecordBatchReader:
        options["columns"] = self._columns(columns)
        options["in_file_order"] = True
        return self._file._reader(use_threads, use_pandas_metadata, options)

    def read(
        self, columns: Sequence[str] | None = None, use_threads: bool = True, use_pandas_metadata: bool = False
    ) -> Any:
        return _to_pyarrow(self._stream(columns, use_threads, use_pandas_metadata, {}))

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
        return _to_pyarrow(self._stream(columns, use_threads, use_pandas_metadata, options))

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
        stream = self._stream(columns, use_threads, use_pandas_metadata, options)
        return self._full_batches(stream, batch_size)

    def _full_batches(self, stream: RecordBatchReader, batch_size: int) -> Iterator[Any]:
        rest: list[Any] = []
        for table in stream:
            rest.append(pa.table(table))
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


class ParquetDataset:
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
        _only(
            _function,
            partitioning=(partitioning, ("hive", None)),
            ignore_prefixes=(ignore_prefixes, (None,)),
            arrow_extensions_enabled=(arrow_extensions_enabled, (True,)),
        )
        self._function = _function
        self._filters = filters
        self._source = path_or_paths
        options = {
            "read_dictionary": read_dictionary,
            "binary_type": binary_type,
            "list_type": list_type,
            "coerce_int96_timestamp_unit": coerce_int96_timestamp_unit,
            "thrift_string_size_limit": thrift_string_size_limit,
            "thrift_container_size_limit": thrift_container_size_limit,
            "schema_depth_limit": schema_depth_limit,
            "page_checksum_verification": page_checksum_verification,
            "keys": _keys(_function, "decryption_properties", decryption_properties),
            "int96_overflow": "wrap",
        }
        self._schema = schema
        self._file: _read.ParquetFile | None = None
        if _files.is_many(path_or_paths, filesystem):
            self._dataset = _read.ParquetDataset(
                path_or_paths, filesystem, schema, partitioning=partitioning, **options
            )
            self._partitions = self._partition_names()
        else:
            self._file = _read.ParquetFile(path_or_paths, filesystem=filesystem, **options)
            self._partitions = set()

    def _partition_names(self) -> set[str]:
        names: set[str] = set()
        for path in self._dataset.files:
            names.update(name for name, _ in _files._keys(str(path)))
        return names

    @property
    def files(self) -> list[str]:
        """The paths of the files."""
        return [str(self._source)] if self._file is not None else self._dataset.files

    @property
    def schema(self) -> Any:
        """The Arrow schema of the table."""
        if self._schema is not None:
            return self._schema
        found = pa.schema((self._file.schema_arrow if self._file is not None else self._dataset.schema))
        return pa.schema([self._typed(field) for field in found], metadata=found.metadata)

    def _typed(self, field: Any) -> Any:
        """Return the field of a partition column with pyarrow's type: a dictionary."""
        if field.name not in self._partitions:
            return field
        values = pa.int32() if pa.types.is_integer(field.type) else pa.string()
        return pa.field(field.name, pa.dictionary(pa.int32(), values))

    def read(
        self, columns: Sequence[str] | None = None, use_threads: bool = True, use_pandas_metadata: bool = False
    ) -> Any:
        """Read the files as one table."""
        rest = None
        wanted = None if columns is None else list(columns)
        filters: Any = self._filters
        try:
            if filters is not None:
                filter_tree(filters, lambda: self.schema)
        except NotUnderstood:
            # pyarrow tests the rows instead.
            rest, filters, wanted = filters, None, None
        table = self._read(wanted, filters, use_threads, use_pandas_metadata)
        if rest is not None:
            table = table.filter(rest)
            table = table if columns is None else table.select(list(columns))
        elif columns is not None and len(set(columns)) < len(list(columns)):
            table = table.select(list(columns))
        return table

    def read_pandas(self, **kwargs: Any) -> Any:
        """Read the files with the columns of their pandas index."""
        return self.read(use_pandas_metadata=True, **kwargs)

    def _read(self, columns: Any, filters: Any, use_threads: bool, use_pandas_metadata: bool) -> Any:
        options: dict[str, Any] = {"filters": filters}
        if self._file is not None:
            if self._schema is not None:
                options["wanted_schema"] = self._schema
            return _to_pyarrow(self._file._reader(use_threads, use_pandas_metadata, {**options, "columns": columns}))
        table = _to_pyarrow(self._dataset._stream(columns, use_threads, use_pandas_metadata, options))
        for at, field in enumerate(table.schema):
            if field.name in self._partitions and self._schema is None:
                typed = self._typed(field)
                plain = table.column(at).cast(typed.type.value_type)
                table = table.set_column(at, typed, plain.dictionary_encode())
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


#: The options of pyarrow's writer, with its defaults.
_WRITE_DEFAULTS: dict[str, Any] = {
    "version": "2.6",
    "use_dictionary": True,
    "compression": "snappy",
    "write_statistics": True,
    "use_deprecated_int96_timestamps": None,
    "coerce_timestamps": None,
    "allow_truncated_timestamps": False,
    "data_page_size": None,
    "compression_level": None,
    "use_byte_stream_split": False,
    "column_encoding": None,
    "data_page_version": "1.0",
    "use_compliant_nested_type": True,
    "encryption_properties": None,
    "write_batch_size": None,
    "dictionary_pagesize_limit": None,
    "store_schema": True,
    "write_page_index": False,
    "write_page_checksum": False,
    "sorting_columns": None,
    "store_decimal_as_integer": False,
    "write_time_adjusted_to_utc": False,
    "max_rows_per_page": None,
    "bloom_filter_options": None,
    "use_content_defined_chunking": False,
    "writer_engine_version": None,
}

#: Options that are handled here, and not passed to the writer.
_HANDLED = frozenset(
    [
        "version", "coerce_timestamps", "allow_truncated_timestamps", "encryption_properties", "write_batch_size",
        "use_content_defined_chunking", "writer_engine_version",
    ]
)


def _core_options(function: str, flavor: Any, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of our writer, and all options of pyarrow's."""
    for keyword, value in given.items():
        if keyword not in _WRITE_DEFAULTS:
            raise Unsupported(function, keyword, value)
    options = {**_WRITE_DEFAULTS, **given}
    if options["version"] not in ("1.0", "2.4", "2.6"):
        raise ValueError(f"Unsupported Parquet format version: {options['version']}")
    _only(
        function,
        use_content_defined_chunking=(options["use_content_defined_chunking"], (False, None)),
        use_compliant_nested_type=(options["use_compliant_nested_type"], (True,)),
        flavor=(flavor, (None, "spark")),
    )
    if flavor == "spark" and options["use_deprecated_int96_timestamps"] is None:
        options["use_deprecated_int96_timestamps"] = True
    if options["column_encoding"] is not None and options["use_dictionary"] is not False:
        if options["use_dictionary"] is True or isinstance(options["column_encoding"], str):
            raise ValueError("To use 'column_encoding' set 'use_dictionary' to False")
    core = {name: value for name, value in options.items() if name not in _HANDLED}
    core["sorting_columns"] = [
        SortingColumn(column.column_index, column.descending, column.nulls_first)
        for column in options["sorting_columns"] or ()
    ]
    core["keys"] = _keys(function, "encryption_properties", options["encryption_properties"])
    if core["compression"] is None:
        core["compression"] = "none"
    return core, options


def _unit(options: Mapping[str, Any]) -> str | None:
    """Return the unit that timestamps are cast to."""
    unit = options["coerce_timestamps"]
    if unit not in (None, "ms", "us"):
        raise ValueError(f"Invalid value for coerce_timestamps: {unit}")
    return None if unit is None else str(unit)


class _Cast:
    """The changes of types that pyarrow makes before it writes."""

    def __init__(self, schema: Any, flavor: Any, options: Mapping[str, Any]) -> None:
        self.unit = _unit(options)
        self.is_old = options["version"] == "1.0"
        self.nanos = options["version"] == "2.6" or bool(options["use_deprecated_int96_timestamps"])
        self.is_int96 = bool(options["use_deprecated_int96_timestamps"])
        self.safe = not options["allow_truncated_timestamps"]
        self.is_spark = flavor == "spark"
        self.schema = pa.schema([self._field(field) for field in schema], metadata=schema.metadata)
        self.is_needed = not self.schema.equals(schema, check_metadata=False)

    def _field(self, field: Any) -> Any:
        name = field.name
        if self.is_spark:
            name = "".join("_" if sign in " ,;{}()\n\t=" else sign for sign in name)
        return pa.field(name, self._type(field.type), field.nullable, field.metadata)

    def _type(self, kind: Any) -> Any:
        if pa.types.is_timestamp(kind) and not self.is_int96:
            if self.unit is not None:
                return pa.timestamp(self.unit, kind.tz)
            return pa.timestamp("us", kind.tz) if kind.unit == "ns" and not self.nanos else kind
        if self.is_old and kind == pa.uint32():
            return pa.int64()
        if pa.types.is_list(kind):
            return pa.list_(self._inner(kind.value_field))
        if pa.types.is_large_list(kind):
            return pa.large_list(self._inner(kind.value_field))
        if pa.types.is_struct(kind):
            return pa.struct([self._inner(field) for field in kind])
        return kind

    def _inner(self, field: Any) -> Any:
        return field.with_type(self._type(field.type))

    def __call__(self, table: Any) -> Any:
        if not self.is_needed:
            return table
        if self.is_spark:
            table = table.rename_columns(self.schema.names)
        return table.cast(self.schema, safe=self.safe)


class ParquetWriter:
    """`pyarrow.parquet.ParquetWriter`."""

    def __init__(self, where: Any, schema: Any, filesystem: Any = None, flavor: Any = None, **options: Any) -> None:
        self._metadata_collector = options.pop("metadata_collector", None)
        core, all_options = _core_options("ParquetWriter", flavor, options)
        self._cast = _Cast(schema, flavor, all_options)
        if filesystem is not None and not _files.is_path(where):
            raise ValueError("filesystem passed but where is file-like, so there is nothing to open with filesystem.")
        self.where = where
        self.flavor = flavor
        self.schema = self._cast.schema
        self._given = schema
        self._writer = _write.ParquetWriter(where, self.schema, filesystem, **core)

    @property
    def is_open(self) -> bool:
        return self._writer.is_open

    def __enter__(self) -> ParquetWriter:
        return self

    def __exit__(self, *exception: Any) -> None:
        if exception[0] is None:
            self.close()
        else:
            self._writer.abort()

    def write(self, table_or_batch: Any, row_group_size: int | None = None) -> None:
        if isinstance(table_or_batch, pa.RecordBatch):
            self.write_batch(table_or_batch, row_group_size)
        elif isinstance(table_or_batch, pa.Table):
            self.write_table(table_or_batch, row_group_size)
        else:
            raise TypeError(type(table_or_batch))

    def write_batch(self, batch: Any, row_group_size: int | None = None) -> None:
        self.write_table(pa.Table.from_batches([batch], batch.schema), row_group_size)

    def write_table(self, table: Any, row_group_size: int | None = None) -> None:
        if not self.is_open:
            raise ValueError("the writer is closed")
        if not table.schema.equals(self._given, check_metadata=False):
            raise ValueError(
                f"Table schema does not match schema used to create file: \ntable:\n{table.schema!s} vs. \nfile:\n"
                f"{self._given!s}"
            )
        if row_group_size == 0:
            raise ValueError("row_group_size cannot be 0")
        # A negative size stands for the default.
        size = None if row_group_size is None or row_group_size < 0 else int(row_group_size)
        self._writer._append(self._cast(table), size, ends_row_group=True)

    def add_key_value_metadata(self, key_value_metadata: Mapping[Any, Any]) -> None:
        self._writer.add_key_value_metadata(key_value_metadata)

    def close(self) -> None:
        if not self.is_open:
            return
        self._writer.close()
        if self._metadata_collector is not None and self._writer.metadata is not None:
            self._metadata_collector.append(self._writer.metadata.for_pyarrow())


def write_table(
    table: Any,
    where: Any,
    row_group_size: int | None = None,
    *,
    filesystem: Any = None,
    flavor: Any = None,
    **options: Any,
) -> None:
    """`pyarrow.parquet.write_table`."""
    if "chunk_size" in options:
        row_group_size = options.pop("chunk_size")
    if not isinstance(table, pa.Table):
        raise TypeError(f"expected a pyarrow.Table, found {type(table)}")
    with ParquetWriter(where, table.schema, filesystem, flavor, **options) as writer:
        writer.write_table(table, row_group_size)


def write_metadata(
    schema: Any, where: Any, metadata_collector: Any = None, filesystem: Any = None, **kwargs: Any
) -> None:
    """`pyarrow.parquet.write_metadata`."""
    if metadata_collector is not None and any(not isinstance(one, FileMetaData) for one in metadata_collector):
        raise Unsupported("write_metadata", "metadata_collector", metadata_collector)
    core, _ = _core_options("write_metadata", kwargs.pop("flavor", None), kwargs)
    _write.write_metadata(schema, where, metadata_collector, filesystem, **core)


def write_to_dataset(
    table: Any,
    root_path: Any,
    partition_cols: Sequence[str] | None = None,
    filesystem: Any = None,
    schema: Any = None,
    partitioning: Any = None,
    basename_template: str | None = None,
    use_threads: bool | None = None,
    file_visitor: Callable[[Any], None] | None = None,
    existing_data_behavior: str | None = None,
    **kwargs: Any,
) -> None:
    """`pyarrow.parquet.write_to_dataset`."""
    root_path, filesystem = _files.resolve(root_path, filesystem)
    _only(
        "write_to_dataset",
        filesystem=(filesystem, (None,)),
        partitioning=(partitioning, (None,)),
        basename_template=(basename_template, (None,)),
        file_visitor=(file_visitor, (None,)),
        existing_data_behavior=(existing_data_behavior, (None, "overwrite_or_ignore")),
    )
    collector = kwargs.pop("metadata_collector", None)
    core, options = _core_options("write_to_dataset", kwargs.pop("flavor", None), kwargs)
    if schema is not None:
        table = table.cast(schema)
    for name in partition_cols or ():
        table = _as_partition(table, name)
    cast = _Cast(table.schema, None, options)
    os.makedirs(root_path, exist_ok=True)
    for path, metadata in _write.write_to_dataset(cast(table), root_path, partition_cols, **core):
        if collector is not None:
            metadata = metadata.for_pyarrow()
            metadata.set_file_path(path)
            collector.append(metadata)


def _as_partition(table: Any, name: str) -> Any:
    """Return the table with a column that can be written as folders: without dictionaries and fractions."""
    at = table.schema.get_field_index(name)
    kind = table.schema.field(at).type if at >= 0 else pa.null()
    if pa.types.is_dictionary(kind):
        return table.set_column(at, name, table.column(at).cast(kind.value_type))
    if pa.types.is_floating(kind):
        return table.set_column(at, name, table.column(at).cast(pa.string()))
    return table


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
_originals: dict[str, Any] = {}
_passed_on: dict[tuple[str, str], int] = {}


def passed_on() -> dict[tuple[str, str], int]:
    """Return the number of calls that went to pyarrow's own functions, by function and keyword."""
    return dict(_passed_on)


#: True while a function of pyarrow's own runs, which calls others of them.
_is_passed_on = contextvars.ContextVar("_is_passed_on", default=False)


def _call(name: str, ours: Any, original: Any, arguments: Any, keywords: Any) -> Any:
    """Call our function, or pyarrow's own if ours does not support the arguments."""
    if not _is_passed_on.get():
        try:
            return ours(*arguments, **keywords)
        except Unsupported as error:
            _note(error, name)
    token = _is_passed_on.set(True)
    try:
        return original(*arguments, **keywords)
    finally:
        _is_passed_on.reset(token)


def _note(error: Unsupported, name: str) -> None:
    key = (name, error.keyword)
    if key not in _passed_on:
        warnings.warn(f"{error}; pyarrow's own function is called", stacklevel=5)
    _passed_on[key] = _passed_on.get(key, 0) + 1


def _in_place(name: str, ours: Any, original: Any) -> Any:
    """Return what stands in for a function or a class of pyarrow."""
    if inspect.isclass(ours):
        return _Standing(name, (ours,), {"_ours": ours, "_original": original, "__module__": __name__})

    @functools.wraps(original)
    def function(*arguments: Any, **keywords: Any) -> Any:
        return _call(name, ours, original, arguments, keywords)

    return function


class _Standing(type):
    """A class of ours in the place of one of pyarrow, which makes pyarrow's objects for unsupported arguments."""

    _ours: Any
    _original: Any

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        return _call(cls.__name__, cls._ours, cls._original, arguments, keywords)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (cls._ours, cls._original))


def install() -> None:
    """Put our functions in the place of those of `pyarrow.parquet`. `uninstall` undoes it.

    pandas, polars with ``use_pyarrow=True`` and Dask then read and write with Herringbone.
    """
    import pyarrow.parquet.core as core

    for name, ours in _FUNCTIONS.items():
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
    """Run a ``with`` block in which our functions are in the place of those of `pyarrow.parquet`."""
    install()
    try:
        yield
    finally:
        uninstall()

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
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs
import pyarrow.parquet as _pq

from pyarrow.parquet import SortingColumn, filters_to_expression

from . import _core, _files, _functions, _keywords, _metadata, _partitioning, _read, _write
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
from ._filters import filter_columns, filter_tree
from ._expressions import NotUnderstood
from ._keywords import with_options

if TYPE_CHECKING:
    from typing import Unpack

    from ._options import CollectingOptions, PyarrowOptions

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


class Unsupported(NotImplementedError):
    """A call with an argument that only pyarrow itself supports. `keyword` is its name."""

    def __init__(self, function: str, keyword: str, value: Any) -> None:
        super().__init__(f"herringbone.pyarrow.{function} does not support {keyword}={value!r}")
        self.function = function
        self.keyword = keyword
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.function, self.keyword, self.value)


class ParquetError(_core.ParquetError, pa.ArrowInvalid, OSError):  # type: ignore[misc]
    """The errors of `herringbone`, which ``except`` clauses for pyarrow's errors catch as well.

    For a damaged file, pyarrow raises `ArrowInvalid` or `OSError`.
    """


_Function = TypeVar("_Function", bound=Callable[..., Any])
_Class = TypeVar("_Class")


def _raising(function: _Function) -> _Function:
    """Return a function that raises our errors as errors of pyarrow."""

    @functools.wraps(function)
    def raising(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except _core.ParquetError as error:
            if isinstance(error, ParquetError):
                raise
            text = str(error)
            if error.option == "keys=":
                text = "could not read encrypted metadata, because no decryption_properties= were given"
            raised = ParquetError(text)
            raised.__dict__.update(error.__dict__)
            raise raised.with_traceback(error.__traceback__) from None

    return raising  # type: ignore[return-value]


def _class_raising(kind: type[_Class]) -> type[_Class]:
    """Let the methods of a class raise our errors as errors of pyarrow."""
    for name, function in list(vars(kind).items()):
        if inspect.isfunction(function) and (name == "__init__" or not name.startswith("_")):
            setattr(kind, name, _raising(function))
    return kind


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


_LISTS = (
    (pa.types.is_list, pa.list_), (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view), (pa.types.is_large_list_view, pa.large_list_view),
)


def _to_pyarrow(reader: RecordBatchReader, has_extensions: bool) -> Any:
    """Read the rest of a stream as a table of pyarrow."""
    return _as_stored(_read._read_all(reader).to_pyarrow(), has_extensions)


def _as_stored(table: Any, has_extensions: bool) -> Any:
    """Return a table, or a schema, without extension types if there are none in pyarrow."""
    if has_extensions:
        return table
    schema = table if isinstance(table, pa.Schema) else table.schema
    plain = pa.schema([_stored_field(field) for field in schema], schema.metadata)
    if plain.equals(schema):
        return table
    return plain if isinstance(table, pa.Schema) else table.cast(plain)


def _storage(kind: Any) -> Any:
    """Return a type without extension types."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return _storage(kind.storage_type)
    if types.is_struct(kind):
        return pa.struct([_stored_field(field) for field in kind])
    if types.is_map(kind):
        return pa.map_(_stored_field(kind.key_field), _stored_field(kind.item_field), kind.keys_sorted)
    for is_list, list_of in _LISTS:
        if is_list(kind):
            return list_of(_stored_field(kind.value_field))
    return kind


def _stored_field(field: Any) -> Any:
    return field.with_type(_storage(field.type))


class _Types:
    """The types that pyarrow reads for those of a stored Arrow schema.

    pyarrow does not restore dates of 64 bits, seconds, dictionaries of other values than text and bytes, and their
    large types.
    """

    def __init__(self, read_dictionary: Sequence[str], has_extensions: bool) -> None:
        self.read_dictionary = read_dictionary
        self.has_extensions = has_extensions

    def field(self, field: Any, in_file: Any, path: str) -> Any:
        """Return a field for the stored one, and the one that is read without the stored schema."""
        return field.with_type(self.type(field.type, in_file.type, path))

    def type(self, kind: Any, in_file: Any, path: str) -> Any:
        types = pa.types
        if isinstance(kind, pa.BaseExtensionType):
            is_text = types.is_string(kind.storage_type) and not self.has_extensions
            return pa.dictionary(pa.int32(), pa.string()) if is_text and path in self.read_dictionary else kind
        if types.is_dictionary(kind) or path in self.read_dictionary:
            if not types.is_string(in_file) and not types.is_binary(in_file):
                return in_file
            is_stored = types.is_dictionary(kind)
            return pa.dictionary(kind.index_type if is_stored else pa.int32(), in_file, is_stored and kind.ordered)
        if types.is_timestamp(kind) and types.is_timestamp(in_file):
            return pa.timestamp(in_file.unit, kind.tz if in_file.tz else None)
        if types.is_date64(kind) or types.is_time32(kind):
            return in_file
        if types.is_struct(kind) and types.is_struct(in_file) and kind.num_fields == in_file.num_fields:
            return pa.struct([self.field(one, other, f"{path}.{one.name}") for one, other in zip(kind, in_file)])
        if types.is_map(kind) and types.is_map(in_file):
            key = self.field(kind.key_field, in_file.key_field, f"{path}.key_value.key")
            item = self.field(kind.item_field, in_file.item_field, f"{path}.key_value.value")
            return pa.map_(key, item, kind.keys_sorted)
        for is_list, list_of in _LISTS:
            if is_list(kind) and hasattr(in_file, "value_field"):
                name = in_file.value_field.name
                return list_of(self.field(kind.value_field, in_file.value_field, f"{path}.list.{name}").with_name(name))
        return kind


def _is_simple(kind: Any) -> bool:
    """Return True if pyarrow reads a type as we do, whatever the file stores."""
    types = pa.types
    is_changed = types.is_timestamp(kind) or types.is_date64(kind) or types.is_time32(kind) or types.is_dictionary(kind)
    return not is_changed and not types.is_nested(kind) and not types.is_interval(kind)


def _without_json(names: Sequence[str], schema: ParquetSchema) -> list[str]:
    """Leave out columns of JSON, which pyarrow does not read as dictionaries if it reads extension types."""
    columns = [schema.column(i) for i in range(len(schema))] if names else []
    json = {column.path for column in columns if column.logical_type.type == "JSON"}
    return [name for name in names if name not in json]


def _intervals(file: _read.ParquetFile) -> list[str]:
    """Return the columns of intervals, which pyarrow reads as their 12 bytes."""
    if not any("Interval" in kind for kind in file.schema_arrow.types):
        return []
    columns = (file.schema.column(i) for i in range(len(file.schema)))
    return [column.path for column in columns if column.converted_type == "INTERVAL"]


def _use_pyarrow_types(file: _read.ParquetFile, has_extensions: bool) -> bool:
    """Change the types that a file is read with to those of pyarrow. Return True if it is read with extension types.

    A stored Arrow schema has its extension types in any case.
    """
    schema = file._options["schema"]
    schema["ignore_annotations"] = _intervals(file)
    if b"ARROW:schema" not in (file.metadata.metadata or {}):
        if has_extensions and "dictionary" in schema:
            schema["dictionary"] = _without_json(schema["dictionary"], file.schema)
        return has_extensions
    names = schema.pop("dictionary", ())
    # The stored types are used instead.
    chosen = {name: schema.pop(name) for name in ("binary_type", "list_type") if name in schema}
    ours = pa.schema(file.schema_arrow)
    if names or not all(map(_is_simple, ours.types)):
        in_file = pa.schema(file._schema_with(ignore_arrow_schema=True, **chosen))
        types = _Types(names, has_extensions)
        fields = [types.field(one, other, one.name) for one, other in zip(ours, in_file)]
        theirs = pa.schema(fields, ours.metadata)
        if not theirs.equals(ours, check_metadata=True):
            schema["arrow_schema"] = theirs
    return True


#: The texts that pyarrow reads as integers, if they are integers of 32 bits.
_INTEGER = re.compile("-?[0-9]+")
_HEXADECIMAL = re.compile("-?0[xX][0-9a-fA-F]+")


def _partition_type(name: str, texts: set[str]) -> Any:
    """Return the type that pyarrow gives a partition column with these texts."""
    if any(map(_HEXADECIMAL.fullmatch, texts)):
        raise Unsupported("ParquetDataset", "partitioning", f"the hexadecimal numbers of {name}")
    is_integer = all(_INTEGER.fullmatch(text) and -(1 << 31) <= int(text) < 1 << 31 for text in texts)
    return pa.int32() if is_integer and texts else pa.string()


def _use_partition_types(dataset: _read.ParquetDataset, partitioning: Any) -> Any:
    """Return the partitioning with the types that pyarrow infers, if ours are others: its `01` is a number."""
    found = _partitioning.parse(partitioning)
    if found is None or found.types is not None:
        return partitioning
    texts: dict[str, set[str]] = {}
    for keys in dataset._partitions():
        for name, text in keys:
            texts.setdefault(name, set()).update(() if text is None else (text,))
    types = {name: _partition_type(name, column) for name, column in texts.items()}
    ours = pa.schema(dataset._dataset.schema)
    is_alike = {pa.int32(): pa.types.is_integer, pa.string(): pa.types.is_string}
    if all(is_alike[kind](ours.field(name).type) for name, kind in types.items()):
        return partitioning
    return found._replace(types=pa.schema(list(types.items())))


def _open_dataset(
    paths: Any, filesystem: Any, schema: Any, partitioning: Any, options: dict[str, Any], has_extensions: bool
) -> tuple[_read.ParquetDataset, bool]:
    """Open several files, which are read with the types that pyarrow has for the first one.

    Return whether they have extension types, too.
    """
    dataset = _read.ParquetDataset(paths, filesystem, schema, partitioning=partitioning, **options)
    partitioning = _use_partition_types(dataset, partitioning)
    if dataset._arguments[4] is not partitioning:
        dataset = _read.ParquetDataset(paths, filesystem, schema, partitioning=partitioning, **options)
    has_choice = any(options[name] is not None for name in ("binary_type", "list_type", "read_dictionary"))
    if schema is not None or (has_extensions and not has_choice and all(map(_is_simple, pa.schema(dataset.schema).types))):
        return dataset, True
    source, found = dataset._first()
    with _read.ParquetFile(source, filesystem=found, **options) as first:
        has_extensions = _use_pyarrow_types(first, has_extensions)
        schema_options = first._options["schema"]
    options = {**options, "read_dictionary": schema_options.get("dictionary")}
    options |= {name: schema_options.get(name) for name in ("binary_type", "list_type", "arrow_schema")}
    options["ignore_annotations"] = schema_options["ignore_annotations"]
    return _read.ParquetDataset(paths, filesystem, schema, partitioning=partitioning, **options), has_extensions


class _PassingOn:
    """A class whose other attributes are those of pyarrow's own object, which `install` allows us to make."""

    _arguments: tuple[Any, ...]
    _keywords: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_keywords" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if type(self).__name__ not in _originals:
            raise AttributeError(
                f"herringbone.pyarrow.{type(self).__name__} does not have the attribute {name!r}; after install(), it is "
                "that of pyarrow's own object"
            )
        found = getattr(self._theirs, name)
        _note(Unsupported(type(self).__name__, name, "attribute"), type(self).__name__)
        return found

    @functools.cached_property
    def _theirs(self) -> Any:
        """The object that pyarrow makes of the same arguments."""
        return _originals[type(self).__name__](*self._arguments, **self._keywords)


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


def _field_path(schema: Any, column: str) -> list[str] | None:
    """Return the names of a column of a schema, or of a field of its structs, or None for a part of a list."""
    if column in schema.names:
        return [column]
    path = column.split(".")
    kind = schema
    for name in path:
        if not (isinstance(kind, pa.Schema) or pa.types.is_struct(kind)) or kind.get_field_index(name) < 0:
            return None
        kind = kind.field(name).type
    return path


def _has_fields(schema: Any, columns: Sequence[Any]) -> bool:
    """Return True if one of the columns is a field of a struct."""
    return any(len(_field_path(schema, name) or ()) > 1 for name in columns if isinstance(name, str) and "." in name)


def _selected(table: Any, columns: Sequence[str]) -> Any:
    """Return columns of a table. A field of a struct is a column of its own, as in pyarrow."""
    if not columns:
        # A table that is made of no arrays has no rows.
        return table.select([])
    fields, arrays = [], []
    for name in columns:
        path = _field_path(table.schema, name) or [name.split(".")[0]]
        field, array = table.schema.field(path[0]), table.column(path[0])
        if len(path) > 1:
            array = pc.struct_field(array, path[1:])
            field = pa.field(path[-1], array.type)
        fields.append(field)
        arrays.append(array)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=table.schema.metadata))


#: The types that pyarrow compares in another way: halves and floats as doubles, values of any length with bytes of a fixed
#: length, and durations with durations alone.
_COMPARED_OTHERWISE = (
    pa.types.is_float16, pa.types.is_float32, pa.types.is_duration, pa.types.is_fixed_size_binary,
)


def _compared_as_in_pyarrow(filters: Any, schema: Callable[[], Any]) -> Any:
    """Return an expression for a list of conditions, if one of its columns has a type that pyarrow compares otherwise."""
    if not isinstance(filters, (list, tuple)):
        return filters
    names = filter_columns(filters)
    fields = [field for field in schema() if field.name in names]
    if any(is_type(field.type) for field in fields for is_type in _COMPARED_OTHERWISE):
        return filters_to_expression(filters)
    return filters


def _filesystem_of_pyarrow(filesystem: Any) -> Any:
    """Return a filesystem of pyarrow for one of fsspec, and for the local one."""
    if filesystem is None or isinstance(filesystem, str) or type(filesystem).__name__ == "LocalFileSystem":
        return pa.fs.LocalFileSystem()
    return filesystem if isinstance(filesystem, pa.fs.FileSystem) else pa.fs.PyFileSystem(pa.fs.FSSpecHandler(filesystem))


def _parsed(function: str, partitioning: Any) -> _partitioning.Partitioning | None:
    """Return the partitioning of an argument."""
    try:
        return _partitioning.parse(partitioning)
    except NotImplementedError:
        raise Unsupported(function, "partitioning", partitioning) from None


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


#: The options of pyarrow's writer, with its defaults.
_WRITE_DEFAULTS = _keywords.defaults(_keywords.PYARROW_WRITE)

#: Options that are handled here, and not passed to the writer.
_HANDLED = frozenset(
    [
        "version", "coerce_timestamps", "allow_truncated_timestamps", "encryption_properties", "write_batch_size",
        "writer_engine_version",
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
        use_compliant_nested_type=(options["use_compliant_nested_type"], (True,)),
        flavor=(flavor, (None, "spark")),
    )
    if flavor == "spark" and options["use_deprecated_int96_timestamps"] is None:
        options["use_deprecated_int96_timestamps"] = True
    if options["column_encoding"] is not None and options["use_dictionary"] is not False:
        if options["use_dictionary"] is True or isinstance(options["column_encoding"], str):
            raise ValueError("To use 'column_encoding' set 'use_dictionary' to False")
    if options["compression_level"] is not None and "lz4" in str(options["compression"]).lower():
        raise Unsupported(function, "compression_level", options["compression_level"])
    if options["data_page_version"] not in ("1.0", "2.0"):
        raise ValueError(f"Unsupported Parquet data page version: {options['data_page_version']}")
    core = {name: value for name, value in options.items() if name not in _HANDLED}
    # pyarrow does not count distinct values.
    core |= {"distinct_counts": False, "format_version": 1 if options["version"] == "1.0" else 2}
    is_everywhere = options["use_byte_stream_split"] is True and options["use_dictionary"] is False
    if is_everywhere and options["column_encoding"] is None:
        # A column of another type is an error.
        core |= {"use_byte_stream_split": False, "column_encoding": "BYTE_STREAM_SPLIT"}
    core["sorting_columns"] = [
        (column.column_index, column.descending, column.nulls_first) for column in options["sorting_columns"] or ()
    ]
    core["keys"] = _keys(function, "encryption_properties", options["encryption_properties"])
    if core["compression"] is None:
        core["compression"] = "none"
    elif isinstance(core["compression"], Mapping):
        # pyarrow does not compress columns without a codec of their own.
        core["compression"] = {None: "none", **core["compression"]}
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


@_class_raising
class ParquetWriter:
    """`pyarrow.parquet.ParquetWriter`."""

    @with_options(_keywords.PYARROW_WRITE, _keywords.COLLECTOR, refuses=False)
    def __init__(
        self, where: Any, schema: Any, filesystem: Any = None, flavor: Any = None, **options: Unpack[CollectingOptions]
    ) -> None:
        given: dict[str, Any] = dict(options)
        self._metadata_collector = given.pop("metadata_collector", None)
        core, all_options = _core_options("ParquetWriter", flavor, given)
        try:
            _metadata.check_fields(schema)
        except ValueError as error:
            raise Unsupported("ParquetWriter", "schema", str(error)) from error
        self._cast = _Cast(schema, flavor, all_options)
        if filesystem is not None and not _files.is_path(where):
            raise ValueError(f"filesystem= is passed, but the specified path is file-like: {where!r}")
        self.where = where
        self.flavor = flavor
        self.schema = self._cast.schema
        self._given = schema
        self._writer = _write.ParquetWriter(where, self.schema, filesystem, **core)

    @property
    def is_open(self) -> bool:
        return self._writer.is_open

    @property
    def writer(self) -> ParquetWriter:
        """The writer itself. pyiceberg takes the `metadata` from here."""
        return self

    @property
    def metadata(self) -> FileMetaData:
        """The metadata of the file, once it is closed."""
        if self._writer.metadata is None:
            raise RuntimeError("the file has metadata once it is closed")
        return self._writer.metadata.for_pyarrow()

    def __enter__(self) -> ParquetWriter:
        return self

    def __exit__(self, *exception: Any) -> None:
        # As in pyarrow, a file object has the rows that were written before an exception. A path does not appear.
        if exception[0] is None or not _files.is_path(self.where):
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
        # A negative size means the default.
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


@with_options(_keywords.PYARROW_WRITE, _keywords.COLLECTOR, refuses=False)
def write_table(
    table: Any,
    where: Any,
    row_group_size: int | None = None,
    *,
    filesystem: Any = None,
    flavor: Any = None,
    chunk_size: int | None = None,
    **options: Unpack[CollectingOptions],
) -> None:
    """`pyarrow.parquet.write_table`."""
    if chunk_size is not None:
        row_group_size = chunk_size
    if not isinstance(table, pa.Table):
        raise TypeError(f"expected a pyarrow.Table, found {type(table)}")
    with ParquetWriter(where, table.schema, filesystem, flavor, **options) as writer:
        writer.write_table(table, row_group_size)


@_raising
def write_metadata(
    schema: Any, where: Any, metadata_collector: Any = None, filesystem: Any = None, **kwargs: Any
) -> None:
    """`pyarrow.parquet.write_metadata`."""
    if metadata_collector is not None and any(not isinstance(one, FileMetaData) for one in metadata_collector):
        raise Unsupported("write_metadata", "metadata_collector", metadata_collector)
    core, _ = _core_options("write_metadata", kwargs.pop("flavor", None), kwargs)
    _write.write_metadata(schema, where, metadata_collector, filesystem, **core)


@_raising
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
    _only(
        "write_to_dataset",
        partitioning=(partitioning, (None,)),
        create_dir=(kwargs.pop("create_dir", True), (True,)),
    )
    if basename_template is not None and basename_template.startswith((".", "_")):
        # Readers of directories skip such files.
        raise Unsupported("write_to_dataset", "basename_template", basename_template)
    collector = kwargs.pop("metadata_collector", None)
    sizes = {
        # In pyarrow, 0 is the sign of no limit.
        "max_rows_per_file": kwargs.pop("max_rows_per_file", 0) or None,
        "max_open_files": kwargs.pop("max_open_files", None),
        "row_group_size": _first_given(kwargs, "row_group_size", "chunk_size"),
    }
    core, options = _core_options("write_to_dataset", kwargs.pop("flavor", None), kwargs)
    core |= sizes
    if schema is not None:
        table = table.cast(schema)
    for name in partition_cols or ():
        table = _as_partition(table, name)
    cast = _Cast(table.schema, None, options)
    path, found = _files.resolve(root_path, filesystem)
    if found is None and _files.is_path(path):
        os.makedirs(path, exist_ok=True)
    written = _write.written_files(
        cast(table), root_path, partition_cols, filesystem, basename_template=basename_template,
        existing_data_behavior=existing_data_behavior or "overwrite_or_ignore", **core,
    )
    for path, metadata, size in written:
        metadata = metadata.for_pyarrow()
        metadata.set_file_path(path)
        if collector is not None:
            collector.append(metadata)
        if file_visitor is not None:
            file_visitor(_WrittenFile(f"{os.fspath(root_path).rstrip('/')}/{path}", metadata, size))


class _WrittenFile(NamedTuple):
    """What `file_visitor` gets: the attributes of `pyarrow.dataset.WrittenFile`."""

    path: str
    metadata: FileMetaData
    size: int


def _first_given(keywords: dict[str, Any], *names: str) -> Any:
    """Take keywords of one meaning, and return the first given value."""
    given = [keywords.pop(name, None) for name in names]
    return next((value for value in given if value is not None), None)


def _as_partition(table: Any, name: str) -> Any:
    """Return the table with a column that can be written as folders, with the texts of pyarrow."""
    at = table.schema.get_field_index(name)
    kind = table.schema.field(at).type if at >= 0 else pa.null()
    if pa.types.is_dictionary(kind):
        return table.set_column(at, name, table.column(at).cast(kind.value_type))
    types = pa.types
    as_text = (types.is_floating, types.is_time, types.is_binary, types.is_large_binary)
    changed = kind
    if any(is_kind(kind) for is_kind in as_text) or (types.is_null(kind) and at >= 0):
        changed = pa.string()
    elif types.is_duration(kind):
        changed = pa.int64()
    elif types.is_date64(kind):
        changed = pa.date32()
    return table if changed == kind else table.set_column(at, name, table.column(at).cast(changed))


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
#: The classes of metadata, for `isinstance`.
_CLASSES: dict[str, type] = {
    "ColumnChunkMetaData": ColumnChunkMetaData,
    "ColumnSchema": ColumnSchema,
    "FileMetaData": FileMetaData,
    "ParquetLogicalType": ParquetLogicalType,
    "ParquetSchema": ParquetSchema,
    "RowGroupMetaData": RowGroupMetaData,
    "Statistics": Statistics,
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
        # The classes of metadata are final, and are not made by calls.
        bases = () if name in _CLASSES else (ours,)
        ours = original if name in _CLASSES else ours
        both = (_CLASSES.get(name, ours), original)
        return _Standing(
            name, bases, {"_ours": ours, "_original": original, "_both": both, "__module__": __name__}
        )

    @functools.wraps(original)
    def function(*arguments: Any, **keywords: Any) -> Any:
        return _call(name, ours, original, arguments, keywords)

    return function


class _Standing(type):
    """A class of ours in the place of one of pyarrow, which makes pyarrow's objects for unsupported arguments."""

    _ours: Any
    _original: Any
    _both: tuple[type, type]

    def __call__(cls, *arguments: Any, **keywords: Any) -> Any:
        if "_original" not in vars(cls):
            # A subclass of the caller.
            return super().__call__(*arguments, **keywords)
        return _call(cls.__name__, cls._ours, cls._original, arguments, keywords)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._both)


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

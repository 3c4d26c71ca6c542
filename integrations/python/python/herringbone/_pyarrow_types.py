"""The types and columns that pyarrow reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs

from pyarrow.parquet import filters_to_expression

from . import _partitioning, _read
from ._core import ParquetSchema, RecordBatchReader
from ._filters import filter_columns
from ._pyarrow_errors import Unsupported


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
    """The types that pyarrow reads instead of the types in a stored Arrow schema.

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
    """Change the types that a file is read with to pyarrow's types. Return True if it is read with extension types.

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


def _field_path(schema: Any, column: str) -> list[str] | None:
    """Return the names that lead to a column or a field of its structs, or None for a part of a list."""
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

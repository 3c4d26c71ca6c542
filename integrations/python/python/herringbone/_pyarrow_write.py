"""The functions and the class of `herringbone.pyarrow` that write."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from . import _files, _keywords, _metadata, _write
from ._core import FileMetaData
from ._keywords import with_options
from ._pyarrow_errors import Unsupported, _class_raising, _keys, _only, _raising

if TYPE_CHECKING:
    from typing import Unpack

    from ._options import CollectingOptions

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
    _check_days("write_table", table)
    with ParquetWriter(where, table.schema, filesystem, flavor, **options) as writer:
        writer.write_table(table, row_group_size)


def _check_days(function: str, table: Any) -> None:
    """Fail for times of day in columns of `date64`, which pyarrow drops and ours refuses."""
    for name, column in zip(table.column_names, table.columns):
        if pa.types.is_date64(column.type):
            try:
                column.cast(pa.date32())
            except pa.ArrowInvalid:
                raise Unsupported(function, "table", f"the times of day in the date64 column {name}") from None


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
    _check_days("write_to_dataset", table)
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

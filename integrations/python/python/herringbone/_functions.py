"""The functions that read tables or metadata, and that check and repair files."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from . import _core, _files, _keywords
from ._core import FileMetaData, RecordBatchReader, Schema, Table
from ._keywords import with_options
from ._read import ParquetDataset, ParquetFile, _read_all, _warn_of

if TYPE_CHECKING:
    from typing import Unpack

    from ._options import FilesOptions, OpenOptions, PandasOptions, SourceOptions, TableOptions

_READ_OPTIONS = _keywords.names(_keywords.ROWS, _keywords.PARTS)


@with_options(_keywords.FILE, _keywords.FOOTER, _keywords.MEMORY_MAP, _keywords.ROWS, _keywords.PARTS)
def read_table(
    source: Any,
    *,
    columns: Sequence[str] | None = None,
    use_threads: bool = True,
    schema: Any = None,
    use_pandas_metadata: bool = False,
    partitioning: Any = "hive",
    filesystem: Any = None,
    filters: Any = None,
    storage_options: _files.StorageOptions = None,
    **options: Unpack[TableOptions],
) -> Table:
    """Read a file, or several files as one table.

    `source` is a path, a URL, bytes, a buffer, a file object, a list of them, a pattern, or a directory. `filters` choose the
    rows: conditions of `col`, a list of (column, operation, value), SQL, or an expression of pyarrow. `schema` is the Arrow schema
    of the table. `partitioning` gives directories their meaning: 'hive', names of columns, or None.

    >>> table = read_table("testdata/example.parquet", columns=["name", "id"], filters="id >= 22")
    >>> table.to_pydict()
    {'name': ['cedar', 'dill'], 'id': [22, 23]}
    """
    reader, file = _start(
        ParquetFile, source, columns=columns, use_threads=use_threads, schema=schema, use_pandas_metadata=use_pandas_metadata,
        partitioning=partitioning, filesystem=filesystem, filters=filters, storage_options=storage_options, **options,
    )
    try:
        return _read_all(reader)
    finally:
        if file is not None:
            file.close()


def _start(
    kind: type[ParquetFile], source: Any, *, columns: Any = None, use_threads: bool = True, schema: Any = None,
    use_pandas_metadata: bool = False, partitioning: Any = "hive", filesystem: Any = None, filters: Any = None,
    storage_options: _files.StorageOptions = None, **options: Any,
) -> tuple[RecordBatchReader, ParquetFile | None]:
    """Start to read a table. Return its reader, and the file to close after that, if it is one file."""
    rows: dict[str, Any] = {name: value for name, value in options.items() if name in _READ_OPTIONS}
    opening = cast("SourceOptions", {name: value for name, value in options.items() if name not in _READ_OPTIONS})
    found, place = _files.resolve(source, filesystem, storage_options)
    if _files.is_many(found, place):
        for name in _keywords.names(_keywords.FOOTER).intersection(opening):
            raise NotImplementedError(f"{name}= for several files; read each file alone")
        dataset = ParquetDataset(
            source, filesystem, schema, filters=filters, partitioning=partitioning, storage_options=storage_options,
            **cast("FilesOptions", opening),
        )
        return dataset._stream(columns, use_threads, use_pandas_metadata, rows), None
    if schema is not None:
        rows.setdefault("wanted_schema", schema)
    if isinstance(found, _core.Url):
        # Its end has been read.
        source = found
    file = kind(source, filesystem=filesystem, storage_options=storage_options, **opening)
    rows.update(columns=columns, filters=filters)
    try:
        return file._reader(use_threads, use_pandas_metadata, rows), file
    except BaseException:
        file.close()
        raise


class _FileOfRequests(ParquetFile):
    """A file whose reads do not wait for requests, if it is at a URL."""

    def _begin(self, options: dict[str, Any]) -> RecordBatchReader:
        return self._open().stream(options) or super()._begin(options)


@with_options(
    _keywords.FILE, _keywords.FOOTER, _keywords.MEMORY_MAP, _keywords.ROWS, _keywords.PARTS, _keywords.PLACE, _keywords.DATASET,
    _keywords.THREADS,
)
async def read_table_async(
    source: Any, columns: Sequence[str] | None = None, use_pandas_metadata: bool = False, **options: Unpack[PandasOptions]
) -> Table:
    """Read one table in a coroutine. See `read_table`.

    The event loop is free during the read. Requests to URLs do not take a thread each: many reads may wait at the same time. Footers, and
    files of other places, are read in a thread of asyncio.
    """
    # It is not needed to import this package.
    import asyncio

    start = functools.partial(_start, _FileOfRequests, source, columns=columns, use_pandas_metadata=use_pandas_metadata, **options)
    reader, file = await asyncio.to_thread(start)
    try:
        table = reader._joined([part async for part in reader])
    finally:
        if file is not None:
            file.close()
    _warn_of(table)
    return table


@with_options(
    _keywords.FILE, _keywords.FOOTER, _keywords.MEMORY_MAP, _keywords.ROWS, _keywords.PARTS, _keywords.PLACE, _keywords.DATASET,
    _keywords.THREADS,
)
def read_pandas(source: Any, columns: Sequence[str] | None = None, **options: Unpack[PandasOptions]) -> Table:
    """Read a file with the columns of its pandas index. See `read_table`."""
    return read_table(source, columns=columns, use_pandas_metadata=True, **options)


@with_options(_keywords.FILE, _keywords.FOOTER)
def read_metadata(
    source: Any, memory_map: bool = False, filesystem: Any = None, *, storage_options: _files.StorageOptions = None,
    **options: Unpack[OpenOptions],
) -> FileMetaData:
    """Return the metadata in the footer of a file.

    >>> read_metadata("testdata/example.parquet").row_group(0).column(0).statistics.max
    15
    """
    with ParquetFile(source, filesystem=filesystem, storage_options=storage_options, **options) as file:
        return file.metadata


@with_options(_keywords.FILE, _keywords.FOOTER)
def read_schema(
    source: Any, memory_map: bool = False, filesystem: Any = None, *, storage_options: _files.StorageOptions = None,
    **options: Unpack[OpenOptions],
) -> Schema:
    """Return the Arrow schema of a file.

    >>> read_schema("testdata/example.parquet").names[:2]
    ['id', 'name']
    """
    with ParquetFile(source, filesystem=filesystem, storage_options=storage_options, **options) as file:
        return file.schema_arrow


@with_options(_keywords.FILE, _keywords.FOOTER, _keywords.MEMORY_MAP)
def explain(
    source: Any, filters: Any = None, columns: Sequence[str] | None = None, *, filesystem: Any = None,
    storage_options: _files.StorageOptions = None, **options: Unpack[SourceOptions],
) -> list[dict[str, Any]]:
    """Return what pruning rules out, and the bytes to fetch. See `ParquetFile.explain`."""
    with ParquetFile(source, filesystem=filesystem, storage_options=storage_options, **options) as file:
        return file.explain(filters, columns)


@with_options(_keywords.FILE, _keywords.FOOTER, _keywords.MEMORY_MAP)
def verify(
    source: Any, use_threads: bool = True, *, filesystem: Any = None, storage_options: _files.StorageOptions = None,
    **options: Unpack[SourceOptions],
) -> list[dict[str, Any]]:
    """Check all that a file claims about itself against its data, and return the findings.

    >>> verify("testdata/example.parquet")
    []
    """
    with ParquetFile(source, filesystem=filesystem, storage_options=storage_options, **options) as file:
        return file.verify(use_threads)


@with_options()
def repair(
    source: Any,
    where: Any,
    *,
    schema: Any = None,
    row_group_rows: int | None = None,
    ignore_footer: bool = False,
    limits: Mapping[str, int] | None = None,
    filesystem: Any = None,
    storage_options: _files.StorageOptions = None,
) -> dict[str, Any]:
    """Write the readable part of a damaged file to a new one, and return what was lost.

    `schema` is the Arrow schema of the file, for a file without a footer.
    """
    path, found = _files.resolve(source, filesystem, storage_options)
    sink, file = _files.open_output(where, filesystem, storage_options)
    try:
        report = _core.repair(
            _files.open_input(path, found), sink, schema=schema, row_group_rows=row_group_rows,
            ignore_footer=ignore_footer, limits=dict(limits or {}),
        )
    except BaseException:
        if file is not None:
            file.discard()
        raise
    if file is not None:
        file.close()
    return report

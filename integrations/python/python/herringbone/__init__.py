"""Apache Parquet, with the calls of `pyarrow.parquet`, for any table.

>>> import herringbone as hb
>>> table = hb.read_table("testdata/example.parquet", columns=["id", "name"], filters=hb.col("id") >= 22)
>>> table.to_pydict()
{'id': [22, 23], 'name': ['cedar', 'dill']}

Tables and streams have the Arrow capsules: polars, DuckDB, pandas and pyarrow take them without copying.
`herringbone.pyarrow` has pyarrow's defaults and returns pyarrow's objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _keywords
from ._core import (
    ChunkedArray,
    ColumnChunkMetaData,
    ColumnSchema,
    Field,
    FileMetaData,
    ParquetError,
    ParquetLogicalType,
    ParquetSchema,
    RecordBatchReader,
    RowGroupMetaData,
    Schema,
    Statistics,
    Table,
    __version__,
)
from ._filters import Expression, col, sql
from ._functions import (
    explain, read_metadata, read_pandas, read_schema, read_table, read_table_async, repair, verify,
)
from ._read import LossWarning, ParquetDataset, ParquetFile
from ._sorting import SortingColumn
from ._values import MonthDayNano
from ._write import ParquetWriter, WriteOption, append_table, write_metadata, write_options, write_table, write_to_dataset

if TYPE_CHECKING:
    from typing import Unpack

    import polars
    import pyarrow.dataset

    from ._options import ScanOptions


@_keywords.with_options(_keywords.FILE, _keywords.MEMORY_MAP, _keywords.PLACE, _keywords.DATASET)
def scan_polars(source: Any, **options: Unpack[ScanOptions]) -> polars.LazyFrame:
    """Return a `polars.LazyFrame` of a file, several files, a pattern or a directory. It needs polars.

    Columns, conditions and limits of the query are applied while reading.
    """
    try:
        from ._polars import scan_polars
    except ModuleNotFoundError as error:
        raise _missing("scan_polars", error) from None

    frame: polars.LazyFrame = scan_polars(source, **options)
    return frame


@_keywords.with_options()
def dataset(
    source: Any, *, filesystem: Any = None, schema: Any = None, partitioning: Any = "hive",
    storage_options: Mapping[str, Any] | None = None,
) -> pyarrow.dataset.Dataset:
    """Return a `pyarrow.dataset.Dataset` of a file, several files, a pattern or a directory. It needs pyarrow.

    DuckDB, polars and DataFusion push columns and filters down to it.
    """
    try:
        from ._dataset import dataset
    except ModuleNotFoundError as error:
        raise _missing("dataset", error) from None

    return dataset(
        source, filesystem=filesystem, schema=schema, partitioning=partitioning, storage_options=storage_options
    )


def _missing(function: str, error: ModuleNotFoundError) -> ModuleNotFoundError:
    return ModuleNotFoundError(f"{function}() needs the package {error.name}, which is not installed", name=error.name)


__all__ = [
    "ChunkedArray",
    "ColumnChunkMetaData",
    "ColumnSchema",
    "Expression",
    "Field",
    "FileMetaData",
    "LossWarning",
    "MonthDayNano",
    "ParquetDataset",
    "ParquetError",
    "ParquetFile",
    "ParquetLogicalType",
    "ParquetSchema",
    "ParquetWriter",
    "RecordBatchReader",
    "RowGroupMetaData",
    "Schema",
    "SortingColumn",
    "Statistics",
    "Table",
    "WriteOption",
    "__version__",
    "append_table",
    "col",
    "dataset",
    "explain",
    "read_metadata",
    "read_pandas",
    "read_schema",
    "read_table",
    "read_table_async",
    "repair",
    "scan_polars",
    "sql",
    "verify",
    "write_metadata",
    "write_options",
    "write_table",
    "write_to_dataset",
]

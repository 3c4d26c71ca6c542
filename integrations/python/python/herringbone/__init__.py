"""Apache Parquet, with the calls of `pyarrow.parquet`, for any table.

>>> import herringbone as hb
>>> table = hb.read_table("testdata/example.parquet", columns=["id", "name"], filters=hb.col("id") >= 22)
>>> table.to_pydict()
{'id': [22, 23], 'name': ['cedar', 'dill']}

Tables and streams have the Arrow capsules: polars, DuckDB, pandas and pyarrow take them without copying.
`herringbone.pyarrow` has pyarrow's defaults and returns pyarrow's objects.
"""

from __future__ import annotations

from typing import Any

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
from ._read import (
    LossWarning,
    ParquetDataset,
    ParquetFile,
    explain,
    read_metadata,
    read_pandas,
    read_schema,
    read_table,
    repair,
    verify,
)
from ._sorting import SortingColumn
from ._values import MonthDayNano
from ._write import ParquetWriter, WriteOption, write_metadata, write_options, write_table, write_to_dataset

def scan_polars(source: Any, **options: Any) -> Any:
    """Return a `polars.LazyFrame` of a file, several files, a pattern or a directory. It needs polars.

    Columns, conditions and limits of the query are applied while reading. `options` are those of `ParquetDataset`.
    """
    from ._polars import scan_polars

    return scan_polars(source, **options)


def dataset(source: Any, **options: Any) -> Any:
    """Return a `pyarrow.dataset.Dataset` of a file, several files, a pattern or a directory. It needs pyarrow.

    DuckDB, polars and DataFusion push columns and filters down to it. `options` are `filesystem`, `schema`,
    `partitioning` and `storage_options`.
    """
    from ._dataset import dataset

    return dataset(source, **options)


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
    "col",
    "dataset",
    "explain",
    "read_metadata",
    "read_pandas",
    "read_schema",
    "read_table",
    "repair",
    "scan_polars",
    "sql",
    "verify",
    "write_metadata",
    "write_options",
    "write_table",
    "write_to_dataset",
]

"""A dataset for engines that push columns and filters down to `pyarrow.dataset.Dataset`. It needs pyarrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs

from . import _read
from ._core import Schema
from ._files import StorageOptions
from ._filters import filter_tree
from ._expressions import NotUnderstood


def dataset(
    source: Any, *, filesystem: Any = None, schema: Any = None, partitioning: Any = "hive",
    storage_options: StorageOptions = None,
) -> Dataset:
    """Return a dataset of a file, several files, a pattern or a directory, for DuckDB, polars and DataFusion.

    Columns and filters that the engine pushes down are applied while reading.
    """
    return Dataset((source, filesystem, schema, partitioning, storage_options))


#: What functions of pyarrow in C++ open, which do not call `scanner`: a path that does not exist.
_NO_FILE = "a herringbone dataset, which is read by its methods scanner, to_table and to_batches alone"


class Dataset(ds.FileSystemDataset):  # type: ignore[misc]
    """A `pyarrow.dataset.Dataset` whose scanners read with Herringbone. It can be pickled."""

    def __init__(self, arguments: tuple[Any, Any, Any, Any, StorageOptions]) -> None:
        self._arguments = arguments
        source, filesystem, schema, partitioning, storage_options = arguments
        self._files = _read.ParquetDataset(
            source, filesystem, schema, partitioning=partitioning, storage_options=storage_options
        )
        self._schema = self._files.schema.to_pyarrow()
        parquet, local = ds.ParquetFileFormat(), pa.fs.LocalFileSystem()
        super().__init__([parquet.make_fragment(_NO_FILE, local)], self._schema, parquet, local)

    def __reduce__(self) -> tuple[type[Dataset], tuple[Any, ...]]:
        return Dataset, (self._arguments,)

    def __repr__(self) -> str:
        return f"<herringbone.Dataset of {len(self._files.files)} files>"

    @property
    def schema(self) -> Any:
        """The Arrow schema of the table."""
        return self._schema

    @property
    def files(self) -> list[str]:
        """The paths of the files."""
        return self._files.files

    def replace_schema(self, schema: Any) -> Dataset:
        """Return a dataset that is read with another schema."""
        source, filesystem, _, partitioning, storage_options = self._arguments
        return Dataset((source, filesystem, Schema(schema), partitioning, storage_options))

    def scanner(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """Return a scanner of pyarrow over the columns and rows that are read."""
        batch_size = options.get("batch_size")
        use_threads = options.get("use_threads", True)
        if isinstance(columns, dict):
            # pyarrow computes the columns from all that they may name.
            return ds.Scanner.from_batches(self._batches(None, filter, use_threads, batch_size), columns=columns)
        try:
            filter_tree(filter, lambda: self._schema)
        except NotUnderstood:
            batches = self._batches(None, None, use_threads, batch_size)
            return ds.Scanner.from_batches(batches, columns=columns, filter=filter)
        return ds.Scanner.from_batches(self._batches(columns, filter, use_threads, batch_size))

    def _batches(self, columns: Any, filter: Any, use_threads: bool, batch_size: int | None) -> Any:
        options: dict[str, Any] = {"filters": filter, "batch_size": batch_size}
        return self._files._stream(columns, use_threads, False, options).to_pyarrow()

    def to_table(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """Read the dataset as a `pyarrow.Table`."""
        return self.scanner(columns, filter, **options).to_table()

    def to_batches(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """Read the dataset as record batches."""
        return self.scanner(columns, filter, **options).to_batches()

    def head(self, num_rows: int, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """Read the first rows."""
        return self.scanner(columns, filter, **options).head(num_rows)

    def count_rows(self, filter: Any = None, **options: Any) -> int:
        """Count the rows."""
        return int(self.scanner([], filter, **options).count_rows())

    def take(self, indices: Any, **options: Any) -> Any:
        """Read the rows with these numbers."""
        return self.to_table(**options).take(indices)

    def get_fragments(self, filter: Any = None) -> Any:
        """Return one fragment, which reads all files. DataFusion reads fragments."""
        return iter([Fragment(self)])

    @property
    def partition_expression(self) -> Any:
        """The condition that all rows satisfy."""
        return pc.scalar(True)

    def filter(self, expression: Any) -> Any:
        """Return a dataset of the rows that satisfy an expression."""
        raise NotImplementedError("pass the filter to scanner, to_table or to_batches")

    def sort_by(self, sorting: Any, **options: Any) -> Any:
        """Read the dataset, and return it sorted."""
        return ds.InMemoryDataset(self.to_table()).sort_by(sorting, **options)

    def join(self, *arguments: Any, **options: Any) -> Any:
        """Read the dataset, and join it with another one."""
        return ds.InMemoryDataset(self.to_table()).join(*arguments, **options)

    def join_asof(self, *arguments: Any, **options: Any) -> Any:
        """Read the dataset, and join it with another one by the nearest key."""
        return ds.InMemoryDataset(self.to_table()).join_asof(*arguments, **options)


class Fragment:
    """All files of a dataset as one fragment of it."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    @property
    def physical_schema(self) -> Any:
        """The Arrow schema of the table."""
        return self.dataset.schema

    @property
    def partition_expression(self) -> Any:
        """The condition that all rows satisfy."""
        return self.dataset.partition_expression

    def scanner(self, schema: Any = None, **options: Any) -> Any:
        """Return a scanner. `options` are those of `Dataset.scanner`."""
        return self.dataset.scanner(**options)

    def count_rows(self, **options: Any) -> int:
        """Count the rows."""
        return self.dataset.count_rows(**options)

"""Tables of pyarrow whose slices Arrow for Rust can import.

Its version 59 applies the offset of a struct twice to the fields of a struct, or of a list of fixed size, below it.
"""

from __future__ import annotations

from typing import Any


def unsliced(data: Any) -> Any:
    """Return a table, batch or stream of pyarrow in which all structs below others begin at slot 0."""
    import pyarrow as pa

    if not isinstance(data, (pa.Table, pa.RecordBatch, pa.RecordBatchReader)):
        return data
    schema = data.schema
    deep = [at for at, field in enumerate(schema) if _is_deep(field.type, False)]
    if not deep:
        return data
    if isinstance(data, pa.RecordBatch):
        return _copied(data, deep)
    batches = data.to_batches() if isinstance(data, pa.Table) else data
    return pa.RecordBatchReader.from_batches(schema, (_copied(batch, deep) for batch in batches))


def _is_deep(kind: Any, is_sliced_by_parent: bool) -> bool:
    """Return True if a type has a struct below another one, or below a list of fixed size."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return _is_deep(kind.storage_type, is_sliced_by_parent)
    if pa.types.is_dictionary(kind):
        return _is_deep(kind.value_type, False)
    is_struct = pa.types.is_struct(kind)
    if is_struct and is_sliced_by_parent:
        return True
    slices = is_struct or pa.types.is_fixed_size_list(kind)
    return any(_is_deep(kind.field(at).type, slices) for at in range(kind.num_fields))


def _copied(batch: Any, deep: list[int]) -> Any:
    """Return a batch with copies of some columns, which have the rows of the batch alone."""
    import pyarrow as pa

    part = pa.RecordBatch.from_arrays([batch.column(at) for at in deep], schema=pa.schema([batch.schema.field(at) for at in deep]))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, part.schema) as writer:
        writer.write_batch(part)
    copy = pa.ipc.open_stream(sink.getvalue()).read_next_batch()
    columns = batch.columns
    for at, column in zip(deep, copy.columns):
        columns[at] = column
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)

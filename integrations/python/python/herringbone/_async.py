"""Batches in coroutines."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator

from ._core import RecordBatchReader, Table


async def batches(reader: RecordBatchReader) -> AsyncIterator[Table]:
    """Yield the tables of a reader. Requests to URLs run meanwhile; other readers are read in a thread of asyncio."""
    if not reader._has_requests:
        while (table := await asyncio.to_thread(next, reader, None)) is not None:
            yield table
        return
    ready = asyncio.Event()
    wake = functools.partial(asyncio.get_running_loop().call_soon_threadsafe, ready.set)
    try:
        while True:
            ready.clear()
            is_due, table = reader._poll(wake)
            if not is_due:
                await ready.wait()
            elif table is None:
                return
            else:
                yield table
    finally:
        # If the coroutine is cancelled, its requests are, too.
        reader.close()

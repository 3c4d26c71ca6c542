"""Calls that are part of another call of the same object, and calls that Ctrl-C ends."""

import io
import subprocess
import sys
import textwrap

import pytest

pa = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")

import pyarrow.parquet as pq

import herringbone as hb

BATCH = pa.record_batch({"a": [1, 2, 3]})


def while_reading(call):
    """Return a stream that makes a call while it is read."""

    def batches():
        yield BATCH
        call()
        yield BATCH

    return pa.RecordBatchReader.from_batches(BATCH.schema, batches())


@pytest.mark.parametrize("name", ["write", "close", "abort", "add_key_value_metadata"])
def test_a_writer_that_is_used_by_its_rows(tmp_path, name):
    path = tmp_path / "a.parquet"
    arguments = {"write": [BATCH], "add_key_value_metadata": [{"key": "value"}]}.get(name, [])
    with hb.ParquetWriter(path, BATCH.schema) as writer:
        with pytest.raises(ValueError, match="the writer is in use"):
            writer.write(while_reading(lambda: getattr(writer, name)(*arguments)))
        # The writer is as open as before.
        writer.write(BATCH)
    assert pq.read_table(path)["a"].to_pylist() == [1, 2, 3] * 2
    assert not (pq.read_metadata(path).metadata or {}).get(b"key")


@pytest.mark.parametrize("use", [next, lambda reader: reader.close(), pa.table], ids=["next", "close", "take"])
def test_a_reader_that_is_used_by_its_parts(use):
    def parts():
        yield hb.Table(BATCH)
        with pytest.raises(ValueError, match="the reader is in use"):
            use(reader)
        yield hb.Table(BATCH)

    reader = hb.RecordBatchReader.from_parts(BATCH.schema, parts())
    assert len(reader.read_all()) == 6


def test_a_file_object_that_reads_its_own_file():
    file = io.BytesIO()
    numbers = np.random.default_rng(1).integers(0, 1 << 60, 200_000)
    hb.write_table(pa.table({"a": numbers}), file, row_group_size=50_000)

    class Source(io.BytesIO):
        inner = None

        def read(self, size=-1):
            opened, Source.inner = Source.inner, None
            if opened is not None:
                opened.read(use_threads=False)
            return super().read(size)

    source = Source(file.getvalue())
    opened = hb.ParquetFile(source)
    Source.inner = opened
    with pytest.raises(ValueError, match="the file object is in use"):
        opened.read(use_threads=False)
    assert len(opened.read()) == 200_000


SETUP = """
import numpy as np, os, pyarrow as pa, signal, sys, threading, time, herringbone as hb
folder = sys.argv[1]
numbers = np.random.default_rng(1).integers(0, 1 << 60, 1 << 18)
table = pa.table({f"c{at}": numbers for at in range(8)})
"""
CALLS = {
    "read": """
        paths = [f"{folder}/{at}.parquet" for at in range(4)]
        for path in paths: hb.write_table(table, path, compression="none", use_dictionary=False)
        call = lambda: hb.read_table(paths * 500).num_rows
    """,
    "write": """
        table = pa.concat_tables([table] * 100).combine_chunks()
        call = lambda: hb.write_table(table, f"{folder}/out.parquet", compression="zstd", compression_level=19)
    """,
    "partitions": """
        table = pa.concat_tables([table] * 100).combine_chunks().append_column("k", [np.arange(100 << 18) % 3])
        call = lambda: hb.write_to_dataset(table, f"{folder}/out", ["k"])
    """,
}


@pytest.mark.parametrize("name", CALLS)
def test_an_interrupt_ends_a_long_call(tmp_path, name):
    code = SETUP + textwrap.dedent(CALLS[name]) + textwrap.dedent("""
        # A shell without job control starts its background jobs without it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sent = []
        def send():
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(1, send).start()
        try:
            call()
            print("complete")
        except KeyboardInterrupt:
            print(time.perf_counter() - sent[0])
    """)
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=300)
    # A loaded machine without optimization takes seconds for a page. The whole calls take minutes.
    assert float(run.stdout) < 20, run.stderr
    assert not list(tmp_path.glob("out*.parquet"))

"""Memory, descriptors and threads after many reads, in a process of its own."""

import os
import subprocess
import sys

import pytest

#: The number of reads, in ten rounds of all kinds.
READS = 10_000
#: The growth of the resident memory from the second round to the last, in KiB. A leak of a footer in each read of one kind
#: would be ten times as much.
GROWTH_KIB = 512

PROGRAM = """
import gc, io, os, sys, threading, warnings
import herringbone as hb

path, folder, reads = sys.argv[1], sys.argv[2], int(sys.argv[3])
warnings.simplefilter("ignore")
data = open(path, "rb").read()
buffer = io.BytesIO()
hb.write_table(hb.read_table(path), buffer, compression="none", use_dictionary=False, row_group_size=8)
wrong = bytearray(buffer.getvalue())
wrong[4:400] = bytes(396)
wrong = bytes(wrong)


class Failing(io.BytesIO):
    def read(self, size=-1):
        if self.tell() < 100:
            raise RuntimeError("no more")
        return super().read(size)


def fails(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError(kind)


def left_half_way():
    file = hb.ParquetFile(path)
    for batch in file.iter_batches(batch_size=5):
        break


def closed_half_way():
    with hb.ParquetFile(data) as file:
        with file.iter_batches(batch_size=5, use_threads=True) as stream:
            next(stream)


def stream_left():
    hb.ParquetFile(io.BytesIO(data)).iter_batches(columns=["id"]).__arrow_c_stream__()


def listed():
    hb.ParquetFile(data).metadata.to_dict()


kinds = [
    lambda: hb.read_table(path),
    lambda: hb.read_table(data, columns=["id"], filters=hb.col("id") > 5),
    lambda: hb.read_table(io.BytesIO(data), use_threads=False),
    lambda: hb.read_table([path, path], columns=["name"]),
    lambda: hb.read_table(open(path, "rb")).to_pydict(),
    listed,
    left_half_way,
    closed_half_way,
    stream_left,
    lambda: hb.write_table(hb.read_table(data), io.BytesIO()),
    lambda: fails(ValueError, lambda: hb.read_table(wrong)),
    lambda: hb.read_table(wrong, on_error="skip_row_group"),
    lambda: fails(RuntimeError, lambda: hb.read_table(Failing(data))),
    lambda: fails(FileNotFoundError, lambda: hb.read_table(os.path.join(folder, "none"))),
    lambda: fails(ValueError, lambda: hb.read_table(data[:-9])),
    lambda: fails(ValueError, lambda: hb.read_table(data, columns=["id"], filters="none > 5")),
]


def resident_kib():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def counts():
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), threading.active_count()


seen = []
for _ in range(10):
    for _ in range(reads // 10 // len(kinds) + 1):
        for kind in kinds:
            kind()
    seen.append((resident_kib(), *counts()))
print(seen)
"""


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the counts are those of Linux")
def test_reads_do_not_leak(example, tmp_path):
    ran = subprocess.run([sys.executable, "-c", PROGRAM, example, tmp_path, str(READS)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    memory, descriptors, tasks, threads = zip(*eval(ran.stdout))
    assert memory[-1] - memory[1] < GROWTH_KIB, memory
    assert descriptors[-1] == descriptors[0], descriptors
    # Threads of the pool stay, and end after a while.
    assert max(tasks[1:]) <= tasks[0] + os.cpu_count(), tasks
    assert threads[-1] == threads[0], threads

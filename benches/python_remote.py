"""Times the Python package against polars and pyarrow on S3, in turns, in one process.

Usage: python_remote.py [--rows ROWS] [--rounds ROUNDS] [--delay MILLISECONDS] [PART_OF_A_NAME ...]

A server of moto has the files. Between it and the libraries, a server delays each request, and counts it. Each library uses its own
client. A line has the median milliseconds of each library and its requests, and the median of the ratios to polars of neighbouring turns.

    .venv/bin/pip install polars pyarrow numpy 'moto[server]' boto3
    POLARS_MAX_THREADS=2 .venv/bin/python benches/python_remote.py
"""

import argparse
import http.client
import http.server
import multiprocessing
import os
import statistics
import threading
import time
import urllib.request

KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
#: The number of small files.
SMALL = 100


class Delayed(http.server.BaseHTTPRequestHandler):
    """Delays requests, and passes them on to moto. `/requests` returns and clears their number."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    port = 0
    delay = 0.0
    count = 0
    lock = threading.Lock()
    own = threading.local()

    def pass_on(self):
        if self.path == "/requests":
            with self.lock:
                body, Delayed.count = str(Delayed.count).encode(), 0
            return self.answer(200, [], body)
        with self.lock:
            Delayed.count += 1
        body = self.body()
        time.sleep(self.delay)
        if not hasattr(self.own, "moto"):
            self.own.moto = http.client.HTTPConnection("127.0.0.1", self.port)
        sent = {name: value for name, value in self.headers.items() if name.lower() not in ("expect", "transfer-encoding")}
        self.own.moto.request(self.command, self.path, body, sent)
        response = self.own.moto.getresponse()
        content = response.read()
        length = [("Content-Length", response.headers["Content-Length"])] if self.command == "HEAD" else []
        skipped = ("content-length", "transfer-encoding", "connection", "date", "server")
        headers = [(name, value) for name, value in response.getheaders() if name.lower() not in skipped]
        self.answer(response.status, headers + length, content)

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = []
        while length := int(self.rfile.readline().split(b";")[0], 16):
            parts.append(self.rfile.read(length))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(parts)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = pass_on

    def answer(self, status, headers, body):
        self.send_response(status)
        names = {name.lower() for name, _ in headers}
        if "content-length" not in names and status != 204:
            headers = [*headers, ("Content-Length", str(len(body)))]
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def handle_expect_100(self):
        proceed = super().handle_expect_100()
        self.wfile.flush()
        return proceed

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    """A server that accepts many connections at once."""

    request_queue_size = 256
    daemon_threads = True

    def handle_error(self, *arguments):
        """Ignore clients that leave before the end of an answer."""


def serve_moto(found):
    import logging

    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    found.put(server.get_host_and_port()[1])
    threading.Event().wait()


def serve_delayed(found, port, delay):
    Delayed.port, Delayed.delay = port, delay
    server = Server(("127.0.0.1", 0), Delayed)
    found.put(server.server_port)
    server.serve_forever()


def start(serve, *arguments):
    found = multiprocessing.get_context("spawn").Queue()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(found, *arguments), daemon=True)
    process.start()
    return found.get(timeout=60)


def upload(port, rows):
    """Write the files of the cases by pyarrow, without a delay. Return the table that is written by partition."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(1)
    filesystem = s3_of_pyarrow(port)
    filesystem.create_dir("bucket")
    text = pa.array([f"category {i}" for i in range(100)]).take(pa.array(random.integers(0, 100, rows)))
    columns = {"id": np.arange(rows), "k": random.permutation(rows // 100).repeat(100), "text": text}
    columns |= {f"f{i}": random.random(rows) for i in range(6)} | {f"i{i}": random.integers(0, 1 << 40, rows) for i in range(6)}
    pq.write_table(pa.table(columns), "bucket/large.parquet", filesystem=filesystem, row_group_size=max(rows // 8, 1000), write_page_index=True)
    for number in range(SMALL):
        small = pa.table({"id": np.arange(1000) + number, "value": random.random(1000)})
        pq.write_table(small, f"bucket/small/{number:03}.parquet", filesystem=filesystem)
    count = max(rows // 10, 1000)
    return pa.table({"part": np.arange(count) % 20, "id": np.arange(count), "value": random.random(count)})


def s3_of_pyarrow(port):
    from pyarrow.fs import S3FileSystem

    return S3FileSystem(
        access_key="testing", secret_key="testing", endpoint_override=f"http://127.0.0.1:{port}", region="us-east-1",
        allow_bucket_creation=True, request_timeout=60,
    )


def cases(port, table):
    """Return the calls of each library, by the name of the case."""
    import polars as pl
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    import herringbone as hb

    options = {**KEYS, "aws_endpoint_url": f"http://127.0.0.1:{port}", "aws_region": "us-east-1", "aws_allow_http": "true"}
    fs = s3_of_pyarrow(port)
    large, small, three = "s3://bucket/large.parquet", "s3://bucket/small/", ["id", "f1", "i3"]
    ours, frame, number = hb.Table(table), pl.from_arrow(table), iter(range(1 << 30))
    return {
        "three columns": {
            "herringbone": lambda: hb.read_table(large, columns=three, storage_options=options).num_rows,
            "polars": lambda: pl.scan_parquet(large, storage_options=options).select(three).collect().height,
            "pyarrow": lambda: pq.read_table("bucket/large.parquet", columns=three, filesystem=fs).num_rows,
        },
        "all columns": {
            "herringbone": lambda: hb.read_table(large, storage_options=options).num_rows,
            "polars": lambda: pl.scan_parquet(large, storage_options=options).collect().height,
            "pyarrow": lambda: pq.read_table("bucket/large.parquet", filesystem=fs).num_rows,
        },
        "1 % of the rows": {
            "herringbone": lambda: hb.read_table(large, filters=hb.col("k") < table.num_rows // 1000, storage_options=options).num_rows,
            "polars": lambda: pl.scan_parquet(large, storage_options=options).filter(pl.col("k") < table.num_rows // 1000).collect().height,
            "pyarrow": lambda: pq.read_table("bucket/large.parquet", filters=pc.field("k") < table.num_rows // 1000, filesystem=fs).num_rows,
        },
        f"{SMALL} small files": {
            "herringbone": lambda: hb.read_table(small, storage_options=options).num_rows,
            "polars": lambda: pl.scan_parquet(small, storage_options=options).collect().height,
            "pyarrow": lambda: pq.read_table("bucket/small", filesystem=fs).num_rows,
        },
        "a partitioned write": {
            "herringbone": lambda: hb.write_to_dataset(ours, f"s3://bucket/ours-{next(number)}/", ["part"], storage_options=options) and None,
            "polars": lambda: frame.lazy().sink_parquet(
                pl.PartitionBy(f"s3://bucket/polars-{next(number)}/", key="part", include_key=False), storage_options=options
            ),
            "pyarrow": lambda: pq.write_to_dataset(table, f"bucket/pyarrow-{next(number)}", partition_cols=["part"], filesystem=fs),
        },
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--delay", type=float, default=50)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"
    moto = start(serve_moto)
    port = start(serve_delayed, moto, options.delay / 1000)
    requests = lambda: int(urllib.request.urlopen(f"http://127.0.0.1:{port}/requests").read())
    table = upload(moto, options.rows)
    print(f"{options.rows} rows, {options.delay:g} ms per request, medians of {options.rounds} rounds; ratios below 1: we are faster")
    print(f"{'':22} {'herringbone':>18} {'polars':>18} {'pyarrow':>18} {'/polars':>8} {'/pyarrow':>9}")
    for name, calls in cases(port, table).items():
        if options.names and not any(part in name for part in options.names):
            continue
        counts, rows = {}, set()
        for library, call in calls.items():
            requests()
            rows.add(call())
            counts[library] = requests()
        assert len(rows) == 1, (name, rows)
        times = {library: [] for library in calls}
        for turn in range(options.rounds):
            for library in list(calls) if turn % 2 else reversed(list(calls)):
                begin = time.perf_counter()
                calls[library]()
                times[library].append((time.perf_counter() - begin) * 1000)
        cells = [f"{statistics.median(found):8.0f} ({counts[library]:4} req.)" for library, found in times.items()]
        ratio = lambda peer: statistics.median(a / b for a, b in zip(times["herringbone"], times[peer]))
        print(f"{name:22} " + " ".join(f"{cell:>18}" for cell in cells) + f" {ratio('polars'):8.2f} {ratio('pyarrow'):9.2f}", flush=True)


if __name__ == "__main__":
    main()

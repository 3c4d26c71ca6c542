#!/usr/bin/env python3
"""Reads and writes S3 objects with the command, and compares them with pyarrow. Starts moto_server, and ends it.

usage: tests/interop_command_remote.py COMMAND PROGRAM

The program is the example `s3` of `herringbone-remote`.
"""

import io
import os
import random
import socket
import subprocess
import sys
import tempfile
import time

import boto3
import pyarrow as pa
import pyarrow.parquet as pq

COMMAND, PROGRAM = map(os.path.abspath, sys.argv[1:3])
KEYS = {"AWS_ACCESS_KEY_ID": "key-id", "AWS_SECRET_ACCESS_KEY": "secret-1", "AWS_REGION": "us-east-1"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start_server(port):
    server = os.path.join(os.path.dirname(sys.executable), "moto_server")
    process = subprocess.Popen([server, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process
        except OSError:
            time.sleep(0.1)
    process.terminate()
    sys.exit("moto_server does not start")


def run(endpoint, *arguments, program=COMMAND, expect=0, **variables):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_") and "proxy" not in name.lower()}
    environment = {**kept, **KEYS, "AWS_ENDPOINT_URL": endpoint, **variables}
    environment = {name: value for name, value in environment.items() if value is not None}
    done = subprocess.run([program, *arguments], env=environment, capture_output=True)
    assert done.returncode == expect, (arguments, done.returncode, done.stderr)
    for secret in (b"secret-1", b"Signature"):
        assert secret not in done.stdout + done.stderr, arguments
    return done.stdout


def table(rows):
    source = random.Random(1)
    values = {f"c{at}": [source.getrandbits(40) for _ in range(rows)] for at in range(4)}
    return pa.table({"id": range(rows), **values})


def main():
    port = free_port()
    server = start_server(port)
    endpoint = f"http://127.0.0.1:{port}"
    try:
        check(endpoint, boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="a", aws_secret_access_key="b"))
    finally:
        server.terminate()
        server.wait()


def check(endpoint, s3):
    s3.create_bucket(Bucket="bucket")
    expected = table(60_000)
    out = io.BytesIO()
    pq.write_table(expected, out, row_group_size=20_000, write_page_index=True)
    s3.put_object(Bucket="bucket", Key="a b/c=1/big.parquet", Body=out.getvalue())
    url = "s3://bucket/a%20b/c=1/big.parquet"

    assert run(endpoint, "count", url) == b"60000\n"
    assert run(endpoint, url, program=PROGRAM) == b"59980 rows\n", "ids from 20 to 59,999"
    some = run(endpoint, "cat", "--where", "id = 41234", "--columns", "c1", url)
    assert some == b'{"c1":%d}\n' % expected["c1"][41234].as_py(), some
    arrow = run(endpoint, "cat", "--format", "arrow", url)
    assert pa.ipc.open_stream(arrow).read_all().cast(expected.schema) == expected
    for command in ("info", "schema", "meta", "pages", "stats", "verify"):
        assert run(endpoint, command, url), command
    run(endpoint, "count", url, AWS_SKIP_SIGNATURE="true", expect=4)
    s3.put_object(Bucket="bucket", Key="public.parquet", Body=out.getvalue(), ACL="public-read")
    unsigned = {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None, "AWS_EC2_METADATA_DISABLED": "true"}
    assert run(endpoint, "count", "s3://bucket/public.parquet", **unsigned) == b"60000\n"
    assert run(endpoint, "count", "s3://bucket/public.parquet", AWS_SKIP_SIGNATURE="true") == b"60000\n"
    run(endpoint, "count", "s3://bucket/missing.parquet", expect=4)
    run(endpoint, "count", "s3://missing-bucket/a.parquet", expect=4)

    # One request, and no replacement without --force.
    small = "s3://bucket/out/small.parquet"
    run(endpoint, "head", "-n", "3", url)
    run(endpoint, "rewrite", "-q", "--columns", "id", url, small)
    run(endpoint, "rewrite", "-q", url, small, expect=2)
    run(endpoint, "rewrite", "-q", "--force", "--columns", "id,c0", url, small)
    written = pq.read_table(io.BytesIO(s3.get_object(Bucket="bucket", Key="out/small.parquet")["Body"].read()))
    assert written == expected.select(["id", "c0"])

    # Several parts.
    run(endpoint, "concat", "-q", *[url] * 14, "--compression", "none", "--dictionary", "off", "--encoding", "PLAIN", "-o", "s3://bucket/out/large.parquet")
    head = s3.head_object(Bucket="bucket", Key="out/large.parquet")
    assert head["ContentLength"] > 32 << 20 and head["ETag"].endswith('-3"'), head
    large = pq.read_table(io.BytesIO(s3.get_object(Bucket="bucket", Key="out/large.parquet")["Body"].read()))
    assert large == pa.concat_tables([expected] * 14)

    # A failure leaves neither an object nor an upload.
    with tempfile.TemporaryDirectory() as folder:
        lines = os.path.join(folder, "broken.jsonl")
        with open(lines, "w", encoding="utf-8") as file:
            for row in range(700_000):
                file.write('{"a":%d,"b":"some text that takes bytes"}\n' % row)
            file.write("{\n")
        run(endpoint, "convert", "-q", lines, "s3://bucket/out/broken.jsonl", expect=3)
    names = [it["Key"] for it in s3.list_objects_v2(Bucket="bucket", Prefix="out/")["Contents"]]
    assert names == ["out/large.parquet", "out/small.parquet"], names
    assert not s3.list_multipart_uploads(Bucket="bucket").get("Uploads"), "an upload is left"
    print("the command reads and writes S3 objects as pyarrow does")


main()

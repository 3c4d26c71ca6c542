"""Files at URLs: stores by a server of moto, and a web server. Expected values are of the written tables, or read by pyarrow."""

import datetime
import http.server
import io
import os
import pickle
import signal
import ssl
import subprocess
import sys
import threading
import time

import pytest

import herringbone as hb

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
moto_server = pytest.importorskip("moto.server")
boto3 = pytest.importorskip("boto3")

KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "a-secret-key"}


@pytest.fixture(scope="module")
def endpoint():
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    boto3.client("s3", endpoint_url=address, region_name="us-east-1", **KEYS).create_bucket(Bucket="bucket")
    yield address
    server.stop()


@pytest.fixture
def nothing(monkeypatch, tmp_path):
    """An environment without credentials."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_", "HERRINGBONE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture
def s3(nothing, endpoint, monkeypatch):
    """The credentials and the endpoint in the environment, and a client."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS["aws_access_key_id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS["aws_secret_access_key"])
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    return boto3.client("s3", region_name="us-east-1", endpoint_url=endpoint)


@pytest.fixture
def table():
    rows = 1000
    return pa.table({"id": list(range(rows)), "k": [i % 7 for i in range(rows)], "s": [f"row {i}" for i in range(rows)]})


def read_by_pyarrow(endpoint, key):
    from pyarrow.fs import S3FileSystem

    options = {"access_key": KEYS["aws_access_key_id"], "secret_key": KEYS["aws_secret_access_key"]}
    return pq.read_table(f"bucket/{key}", filesystem=S3FileSystem(endpoint_override=endpoint, region="us-east-1", **options))


def test_a_file_is_written_and_read(s3, endpoint, table):
    url = "s3://bucket/one/a b%25.parquet"
    assert hb.write_table(table, url, row_group_size=100).num_rows == 1000
    assert read_by_pyarrow(endpoint, "one/a b%.parquet") == table
    assert hb.read_table(url).to_pyarrow() == table
    assert hb.read_table(url, columns=["s", "id"], filters="k = 3 and id < 20").to_pydict() == {
        "s": ["row 3", "row 10", "row 17"], "id": [3, 10, 17],
    }
    with hb.ParquetFile(url) as file:
        assert file.num_row_groups == 10
        assert file.read_row_group(9).to_pydict()["id"] == list(range(900, 1000))
        assert sum(len(batch) for batch in file.iter_batches(batch_size=64)) == 1000
        assert file.verify() == []
    assert hb.read_metadata(url).num_rows == 1000
    assert hb.read_schema(url).names == ["id", "k", "s"]
    assert hb.explain(url, "id >= 900")[0]["rows_to_test"] == 0


def test_pyarrows_calls(s3, endpoint, table):
    import herringbone.pyarrow as hp

    hp.write_table(table, "s3://bucket/hp/a.parquet")
    assert read_by_pyarrow(endpoint, "hp/a.parquet") == table
    assert hp.read_table("s3://bucket/hp/a.parquet") == table
    assert hp.read_schema("s3://bucket/hp/a.parquet") == table.schema
    hp.write_to_dataset(table, "s3://bucket/hp-set", partition_cols=["k"])
    expected = read_by_pyarrow(endpoint, "hp-set").sort_by("id")
    assert hp.read_table("s3://bucket/hp-set").sort_by("id") == expected
    with hp.ParquetWriter("s3://bucket/hp/b.parquet", table.schema) as writer:
        writer.write_table(table)
    assert hp.ParquetFile("s3://bucket/hp/b.parquet").read() == table


def test_directories_patterns_and_lists(s3, endpoint, table):
    files = hb.write_to_dataset(table, "s3://bucket/parts/", ["k"])
    assert [path.split("/")[0] for path, _ in files] == [f"k={k}" for k in range(7)]
    assert sum(metadata.num_rows for _, metadata in files) == 1000
    expected = read_by_pyarrow(endpoint, "parts").sort_by("id")
    for source in ("s3://bucket/parts/", "s3://bucket/parts", "s3://bucket/p*ts/**", [f"s3://bucket/parts/k={k}/" for k in range(7)]):
        found = hb.read_table(source, partitioning=None if isinstance(source, list) else "hive")
        assert found.num_rows == 1000, source
    found = hb.read_table("s3://bucket/parts").to_pyarrow().sort_by("id")
    assert found.column("id") == expected.column("id")
    assert found.column("k").to_pylist() == [i % 7 for i in range(1000)]
    assert hb.read_table("s3://bucket/parts", filters="k = 3 and id < 20").to_pydict()["id"] == [3, 10, 17]
    data = hb.ParquetDataset("s3://bucket/parts/k=[12]/*")
    assert [file.rpartition("/")[0] for file in data.files] == ["s3://bucket/parts/k=1", "s3://bucket/parts/k=2"]
    assert data.explain("id < 2")["files"] == 2
    assert hb.read_table(data.files).num_rows == 286
    assert pickle.loads(pickle.dumps(data)).read().num_rows == 286
    assert hb.dataset("s3://bucket/parts").count_rows() == 1000
    with pytest.raises(FileNotFoundError, match="s3://bucket/nothing"):
        hb.read_table("s3://bucket/nothing")
    polars = pytest.importorskip("polars")
    assert hb.scan_polars("s3://bucket/parts/").filter(polars.col("k") == 3).collect().height == 143


def test_unusual_keys_are_left_out(s3, table):
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    for key in ("odd/a.parquet", "odd//b.parquet", "odd/k[1]*?.parquet"):
        s3.put_object(Bucket="bucket", Key=key, Body=buffer.getvalue())
    with pytest.warns(hb.LossWarning, match="1 keys were left out"):
        found = hb.ParquetDataset("s3://bucket/odd/")
    assert found.files == ["s3://bucket/odd/a.parquet", "s3://bucket/odd/k%5B1]%2A%3F.parquet"]
    assert [hb.read_table(file).num_rows for file in found.files] == [1000, 1000]


def test_storage_options(nothing, endpoint, table):
    options = {**KEYS, "aws_endpoint_url": endpoint, "aws_region": "us-east-1", "aws_allow_http": True}
    hb.write_table(table, "s3://bucket/options/a.parquet", storage_options=options)
    assert hb.read_table("s3://bucket/options/a.parquet", storage_options=options).to_pyarrow() == table
    short = {"access_key_id": "testing", "secret_access_key": "x", "endpoint_url": endpoint, "region": "us-east-1"}
    assert hb.read_table("s3://bucket/options/", storage_options=short).num_rows == 1000
    assert hb.read_metadata("s3://bucket/options/a.parquet", storage_options=short).num_rows == 1000
    public = {"anon": True, "endpoint_url": endpoint}
    with pytest.raises(PermissionError, match="403"):
        hb.read_table("s3://bucket/options/a.parquet", storage_options=public)
    client = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **KEYS)
    client.put_object_acl(Bucket="bucket", Key="options/a.parquet", ACL="public-read")
    assert hb.read_table("s3://bucket/options/a.parquet", storage_options=public).num_rows == 1000
    with pytest.raises(hb.ParquetError, match="aws_colour"):
        hb.read_table("s3://bucket/options/a.parquet", storage_options={"aws_colour": "red"})


def test_names_of_fsspec_are_for_fsspec(nothing, endpoint, table):
    options = {"key": "testing", "secret": "x", "client_kwargs": {"endpoint_url": endpoint, "region_name": "us-east-1"}}
    if not _has("s3fs"):
        with pytest.raises(hb.ParquetError, match="no setting key, secret, client_kwargs.*install s3fs"):
            hb.read_table("s3://bucket/a.parquet", storage_options=options)
        return
    hb.write_table(table, "s3://bucket/fsspec/a.parquet", storage_options=options)
    assert hb.read_table("s3://bucket/fsspec/a.parquet", storage_options=options).to_pyarrow() == table
    assert hb.read_table("s3://bucket/fsspec", storage_options=options, columns=["id"], filters="id < 3").num_rows == 3


def _has(package):
    import importlib.util

    return importlib.util.find_spec(package) is not None


def test_profiles(nothing, endpoint, table, tmp_path, monkeypatch):
    folder = tmp_path / ".aws"
    folder.mkdir()
    (folder / "credentials").write_text("[work]\naws_access_key_id = testing\naws_secret_access_key = x\n")
    (folder / "config").write_text(
        f"[profile work]\nregion = us-east-1\nendpoint_url = {endpoint}\n\n[profile sso]\nsso_session = corporate\nregion = us-east-1\n"
    )
    url = "s3://bucket/profile/a.parquet"
    monkeypatch.setenv("AWS_PROFILE", "work")
    hb.write_table(table, url)
    assert hb.read_table(url).num_rows == 1000
    command = [sys.executable, "-c", "import sys; from herringbone._core import main; sys.exit(main())", "count", url]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().endswith("1000")
    monkeypatch.setenv("AWS_PROFILE", "sso")
    assert not hb._core.Url(url).is_signed
    monkeypatch.setenv("AWS_PROFILE", "missing")
    with pytest.raises(hb.ParquetError, match="AWS_PROFILE is `missing`"):
        hb.read_table(url)


def test_an_error_names_the_choices(nothing, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for url, words in (
        ("s3://user:pass@bucket/a.parquet", "no credentials were found.*AWS_ACCESS_KEY_ID.*storage_options=.*anon.*filesystem=.*s3fs"),
        ("gs://bucket/a.parquet", "GOOGLE_APPLICATION_CREDENTIALS.*gcsfs"),
        ("az://container/a.parquet", "no account was found.*AZURE_STORAGE_ACCOUNT_KEY.*adlfs"),
        ("hdfs://host/a.parquet", "hdfs:// needs the package fsspec"),
    ):
        if url.startswith("gs") and hb._core.Url(url).is_signed:
            continue  # This is a machine in a cloud.
        with pytest.raises(ValueError, match=words) as raised:
            hb.read_table(url)
        assert "pass" not in str(raised.value).replace("pass storage", "").replace("pass filesystem", "")


def test_urls_can_be_forbidden(s3, monkeypatch):
    monkeypatch.setenv("HERRINGBONE_NO_URLS", "1")
    for url in ("s3://bucket/a.parquet", "https://example.com/a.parquet?signature=x", "memory://a.parquet"):
        for call in (hb.read_table, hb.ParquetDataset, lambda url: hb.write_table(pa.table({"a": [1]}), url)):
            with pytest.raises(ValueError, match="HERRINGBONE_NO_URLS forbids URLs") as raised:
                call(url)
            assert "signature=x" not in str(raised.value)


class Files(http.server.BaseHTTPRequestHandler):
    """A web server of `files`, with ranges. A query `expired` is denied."""

    protocol_version = "HTTP/1.1"
    files: dict[str, bytes] = {}
    delay = 0.0
    requests: list[str] = []

    def do_GET(self):
        path, _, query = self.path.partition("?")
        time.sleep(self.delay)
        Files.requests.append(self.path)
        body = self.files.get(path)
        status = 403 if "expired" in query else 404 if body is None else 200
        headers = {}
        if status != 200:
            body = b"<Error>the secret of the body</Error>"
        elif "Range" in self.headers:
            first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
            begin = int(first) if first else max(0, len(body) - int(last))
            end = min(len(body), int(last) + 1) if first and last else len(body)
            headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(body)}"
            body, status = body[begin:end], 206
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body)), "ETag": '"1"'}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_PUT(self):
        time.sleep(self.delay)
        self.files[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


@pytest.fixture
def web(monkeypatch):
    monkeypatch.setattr(Files, "files", {})
    monkeypatch.setattr(Files, "requests", [])
    monkeypatch.setattr(Files, "delay", 0.0)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_web_servers(nothing, web, table):
    hb.write_table(table, f"{web}/a.parquet")
    assert pq.read_table(io.BytesIO(Files.files["/a.parquet"])) == table
    url = f"{web}/a.parquet?token=x/y=1"
    assert hb.read_table(url).to_pyarrow() == table
    assert hb.read_table([f"{web}/a.parquet?n={n}" for n in range(3)]).num_rows == 3000
    assert hb.ParquetDataset([url]).files == [f"{web}/a.parquet"]
    for path, kind in (("a.parquet?expired=1&token=hidden", PermissionError), ("nothing.parquet?token=hidden", FileNotFoundError)):
        for call in (hb.read_table, hb.read_metadata, lambda url: hb.read_table([url])):
            with pytest.raises(kind) as raised:
                call(f"{web}/{path}")
            text = str(raised.value)
            assert path.partition("?")[0] in text and "hidden" not in text and "secret" not in text, text
            assert kind is FileNotFoundError or "403" in text, text


def test_a_proxy_of_the_environment_is_used(nothing, web, table, monkeypatch):
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    # A request to a proxy has the whole URL.
    Files.files["http://files.example/a.parquet"] = buffer.getvalue()
    monkeypatch.setenv("http_proxy", web)
    assert hb.read_table("http://files.example/a.parquet").num_rows == 1000
    Files.files["/b.parquet"] = buffer.getvalue()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert hb.read_table(f"{web}/b.parquet").num_rows == 1000
    assert Files.requests[-1] == "/b.parquet"


def certificate(folder):
    """Write a certificate of this machine that no authority signed, with its key."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.timezone.utc)
    built = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    built = built.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(now + datetime.timedelta(days=1))
    built = built.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
    forms = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(*forms))
    (folder / "cert.pem").write_bytes(built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have stores of certificates")
def test_certificates_of_the_environment_are_used(nothing, table, tmp_path, monkeypatch):
    certificate(tmp_path)
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    monkeypatch.setattr(Files, "files", {"/a.parquet": buffer.getvalue()})
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server = http.server.ThreadingHTTPServer(("localhost", 0), Files)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"https://localhost:{server.server_port}/a.parquet"
    with pytest.raises(OSError, match="certificate"):
        hb.read_table(url)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    assert hb.read_table(url).num_rows == 1000
    server.shutdown()


@pytest.mark.parametrize("call", ["hb.read_table(url)", "hb.read_table([url])", "hb.write_table(hb.read_table(path), url)"])
@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_ends_a_request(nothing, web, example, call):
    Files.delay = 30.0
    program = f"""
import herringbone as hb
url, path = {f"{web}/a.parquet"!r}, {example!r}
print("ready", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0] == "interrupted\n"
    assert time.monotonic() - start < 5


def test_many_requests_are_in_flight(nothing, web, table):
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    for n in range(16):
        Files.files[f"/{n}.parquet"] = buffer.getvalue()
    Files.delay = 0.2
    start = time.monotonic()
    assert hb.read_table([f"{web}/{n}.parquet" for n in range(16)]).num_rows == 16_000
    # One after the other, the requests would take at least 3.2 seconds for the lengths, and as much for the files.
    assert time.monotonic() - start < 3.2


def test_filesystems_read_ranges_together(nothing, endpoint, table):
    wide = pa.table({f"c{i}": pa.array(range(i, i + 200_000), pa.int64()) for i in range(8)})
    options = {"access_key": KEYS["aws_access_key_id"], "secret_key": KEYS["aws_secret_access_key"]}
    from pyarrow.fs import S3FileSystem

    places = [S3FileSystem(endpoint_override=endpoint, region="us-east-1", **options)]
    if _has("s3fs"):
        import s3fs

        places.append(s3fs.S3FileSystem(key="testing", secret="x", endpoint_url=endpoint, client_kwargs={"region_name": "us-east-1"}))
    hb.write_table(wide, "bucket/wide/a.parquet", filesystem=places[0], compression="none", encoding="plain", use_dictionary=False)
    from herringbone import _files

    for filesystem in places:
        for kind in (_files.ArrowFile, _files.FsspecFile):
            calls = []
            read = kind.read_ranges

            def noted(self, starts, ends, calls=calls, read=read):
                calls.append(len(starts))
                return read(self, starts, ends)

            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(kind, "read_ranges", noted)
                for source in ("bucket/wide/a.parquet", "bucket/wide"):
                    found = hb.read_table(source, filesystem=filesystem, columns=["c1", "c5"])
                    assert found.to_pydict()["c5"][-1] == 200_004
            is_used = hasattr(filesystem, "open_input_file") == (kind is _files.ArrowFile)
            assert (max(calls, default=0) > 1) == is_used, (kind, calls)


def test_reads_in_coroutines(s3, endpoint, table):
    import asyncio

    hb.write_table(table, "s3://bucket/async/one.parquet", row_group_size=100)
    hb.write_to_dataset(table, "s3://bucket/async/many", ["k"])

    async def reads():
        one = [hb.read_table_async("s3://bucket/async/one.parquet", columns=["s", "id"], filters=f"k = {k}") for k in range(7)]
        many = hb.read_table_async("s3://bucket/async/many", filters="id < 20")
        return await asyncio.gather(*one, many)

    *one, many = asyncio.run(reads())
    for k, found in enumerate(one):
        assert found.to_pydict() == {"s": [f"row {i}" for i in range(k, 1000, 7)], "id": list(range(k, 1000, 7))}
    assert sorted(many.to_pydict()["id"]) == list(range(20))

    async def some():
        # The event loop is free meanwhile, and a read may end early.
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        reader, rows = hb.ParquetDataset("s3://bucket/async/many")._stream(["id"], True, False, {"batch_size": 50}), []
        async for batch in reader:
            rows += batch.to_pydict()["id"]
            if len(rows) > 200:
                break
        ticking.cancel()
        return rows, ticks, reader

    rows, ticks, reader = asyncio.run(some())
    # The rest is not requested.
    assert next(reader, None) is None
    assert rows == [i for k in range(7) for i in range(k, 1000, 7)][: len(rows)] and len(rows) < 1000 and ticks > 1
    with pytest.raises(FileNotFoundError):
        asyncio.run(hb.read_table_async("s3://bucket/async/nothing.parquet"))


def test_files_of_a_prefix_are_replaced_and_appended_to(s3, endpoint, table):
    url = "s3://bucket/replaced"
    rows = pa.table({"k": ["a/b", "c"], "id": [1, 2]})
    options = {"basename_template": "day-{i}.parquet"}
    paths = [path for path, _ in hb.write_to_dataset(rows, url, ["k"], **options)]
    assert paths == ["k=a%2Fb/day-0.parquet", "k=c/day-0.parquet"]
    with pytest.raises(hb.ParquetError, match="has 2 files"):
        hb.write_to_dataset(rows, url, ["k"], existing_data_behavior="error", **options)
    hb.write_to_dataset(rows[:1], url, ["k"], existing_data_behavior="delete_matching")
    assert hb.read_table(url).to_pydict() == {"id": [1, 2], "k": ["a/b", "c"]}
    keys = [one["Key"] for one in s3.list_objects_v2(Bucket="bucket", Prefix="replaced/")["Contents"]]
    assert len(keys) == 2 and "day-0" not in keys[0] and keys[1] == "replaced/k=c/day-0.parquet"
    file = f"{url}/k=c/day-0.parquet"
    hb.append_table(rows[1:].select(["id"]), file)
    assert read_by_pyarrow(endpoint, "replaced/k=c/day-0.parquet").column("id").to_pylist() == [2, 2]

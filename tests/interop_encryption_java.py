"""Compares encrypted files with parquet-java, both directions, by way of the command, and its key tools with ours.

    cargo build -p herringbone-cli
    cargo build -p herringbone-encryption --example key_tools
    python tests/interop_encryption_java.py target/debug/herringbone target/debug/examples/key_tools [--every N] [--first N]

Needs the jars of pyspark and a Java 17 with its compiler. parquet-java writes files of every kind that it knows, with its
key tools and with keys as they are, and we read them; we rewrite them, which keeps their encryption, and it reads that. We
encrypt files, and it reads them. We decrypt every module of files of its key tools and encrypt each anew, with keys of our
own, and each rotates the master keys of the other. What it refuses is listed, and expected: when it learns it, this fails.
"""

import argparse
import base64
import itertools
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark

JARS = Path(pyspark.__file__).parent / "jars"
SOURCE = Path(__file__).parent / "java" / "EncryptedFiles.java"
MASTER_KEYS = {"kf": b"0123456789012345", "kc1": b"1234567890123450", "kc2": b"1234567890123451"}
BOTH = ["AES_GCM_V1", "AES_GCM_CTR_V1"]
BITS = (128, 192, 256)
PAGES = (1, 2)
CODECS = ("UNCOMPRESSED", "SNAPPY", "ZSTD")
FLAGS = ("false", "true")
# What `EncryptedFiles.row` makes.
ROWS = 3000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int32()),
        "name": pa.array([None if n % 7 == 0 else f"name {n % 100}" for n in range(ROWS)]),
        "score": pa.array([n / 3 for n in range(ROWS)]),
        "list": pa.array([[n, None][: n % 3] for n in range(ROWS)], pa.list_(pa.int64())),
    }
)
counts = {}
refused = set()


class Java:
    def __init__(self, folder):
        subprocess.run(["javac", "-cp", f"{JARS}/*", "-d", folder, SOURCE], check=True)
        self.process = subprocess.Popen(
            ["java", "-cp", f"{folder}:{JARS}/*", "EncryptedFiles"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def __call__(self, *words):
        answer = self.ask(*words)
        assert answer == "ok", (words, answer)

    def refuses(self, what, *words):
        assert self.ask(*words).startswith("error"), f"{what}: was refused so far"
        refused.add(what)


def run(command, *arguments, keys=None):
    """Keys are given by standard input, so that they never lie in a file here."""
    stdin = json.dumps(keys).encode() if keys else b""
    more = ["--keys", "-"] if keys else []
    done = subprocess.run([command, *map(str, arguments), *more], input=stdin, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{arguments}, {keys}: {done.stderr.decode()}")
    return done.stdout


def count(what):
    counts[what] = counts.get(what, 0) + 1


def progress(what, kinds, chosen):
    """The chosen numbers of kinds; what goes wrong goes wrong after the last one that is named."""
    for number in range(len(kinds))[chosen]:
        print(f"{what}: {number} of {len(kinds)}", file=sys.stderr, flush=True)
        yield number


def text(key):
    return base64.b64encode(key).decode()


def we_read(command, path, keys):
    found = pa.ipc.open_stream(run(command, "--quiet", "cat", "--format", "arrow", path, keys=keys)).read_all()
    assert found.to_pylist() == TABLE.to_pylist(), path
    run(command, "--quiet", "verify", path, keys=keys)


def without(found, *names):
    return [option for option in found if option.split("=")[0] not in names]


def with_key_tools(java, command, key_tools, folder, chosen):
    uniform = ["uniform.key=kf"]
    columns = ["footer.key=kf", "column.keys=kc1:id,name;kc2:list.list.element"]
    complete = [*columns, "complete.columns=true"]
    keys = {
        "master_keys": {name: text(key) for name, key in MASTER_KEYS.items()},
        "kms": "test",
        "algorithms": BOTH,
    }
    kinds = list(itertools.product((uniform, columns, complete), BOTH, FLAGS, FLAGS, FLAGS, BITS, PAGES, CODECS))
    for number in progress("key tools", kinds, chosen):
        which, algorithm, plaintext, double, internal, bits, page, codec = kinds[number]
        options = [
            *which,
            f"algorithm={algorithm}",
            f"plaintext.footer={plaintext}",
            f"double.wrapping={double}",
            f"key.material.store.internally={internal}",
            f"data.key.length.bits={bits}",
            f"kek.length.bits={bits}",
            f"page={page}",
            f"codec={codec}",
        ]
        # A folder each, as parquet-java rotates whole folders.
        files = folder / str(number)
        files.mkdir()
        theirs = files / "theirs.parquet"
        java("write", theirs, *options)
        we_read(command, theirs, keys)
        count("key tools: read")
        ours = files / "ours.parquet"
        run(command, "--quiet", "rewrite", theirs, ours, "--page-version", 1, "--page-rows", 300, keys=keys)
        we_read(command, ours, keys)
        java("read", ours)
        count("key tools: rewritten")
        ours.unlink()
        (files / "_KEY_MATERIAL_FOR_ours.parquet.json").unlink(missing_ok=True)

        if codec == "ZSTD":
            # What walks over all modules does not decompress it.
            continue
        modules = int(run(key_tools, "read", theirs))
        assert modules > 30, (modules, options)
        if internal == "false":
            run(key_tools, "rotate", theirs, ("same", "double", "single")[number % 3])
            java("read", theirs)
            java("rotate", files, "key.material.store.internally=false")
            we_read(command, theirs, keys)
            count("key tools: rotated")
        if page == 2:
            continue
        storage = "internal" if number % 2 else "external"
        wrapping = "double" if number // 2 % 2 else "single"
        other = folder / f"{number}.ours"
        other.mkdir()
        ours = other / "ours.parquet"
        run(key_tools, "rewrite", theirs, ours, storage, wrapping, BITS[number % 3])
        assert int(run(key_tools, "read", ours)) == modules
        java("read", ours)
        count("key tools: encrypted anew")
        if storage == "external":
            java("rotate", other, "key.material.store.internally=false")
            we_read(command, ours, keys)
            count("key tools: rotated")


def with_local_wrapping(java, command, _, folder, _chosen):
    """The KMS hands out its master keys, and they wrap here."""
    keys = {"master_keys": {name: text(key) for name, key in MASTER_KEYS.items()}, "kms": "local"}
    local = "kms.client.class=EncryptedFiles$Local"
    for number, (double, internal) in enumerate(itertools.product(FLAGS, FLAGS)):
        theirs, ours = folder / f"{number}.parquet", folder / f"{number}.ours.parquet"
        columns = ["footer.key=kf", "column.keys=kc1:id,name;kc2:list.list.element"]
        wrapping = [f"double.wrapping={double}", f"key.material.store.internally={internal}"]
        java("write", theirs, local, *columns, *wrapping)
        we_read(command, theirs, keys)
        run(command, "--quiet", "rewrite", theirs, ours, keys=keys)
        java("read", ours, local)
        count("local wrapping: read and rewritten")


def key(number, bits):
    return bytes((number + at) % 251 + 1 for at in range(bits // 8))


def with_keys_as_they_are(java, command, _, folder, chosen):
    plain = folder / "plain.parquet"
    pq.write_table(TABLE, plain)
    kinds = list(itertools.product(BOTH, FLAGS, ("uniform", "columns", "complete"), (None, True, False), BITS, PAGES, CODECS))
    for number in progress("keys as they are", kinds, chosen):
        algorithm, plaintext, which, stores, bits, page, codec = kinds[number]
        footer_key = key(number, bits)
        keys = {
            "footer_key": text(footer_key),
            "algorithm": algorithm,
            "algorithms": BOTH,
            "plaintext_footer": plaintext == "true",
        }
        options = [
            f"raw.footer={text(footer_key)}",
            f"algorithm={algorithm}",
            f"plaintext.footer={plaintext}",
            f"page={page}",
            f"codec={codec}",
        ]
        if which != "uniform":
            column_keys = {"name": key(number + 1, bits), "list.list.element": key(number + 2, bits)}
            keys["column_keys"] = {column: text(key) for column, key in column_keys.items()}
            options += [f"raw.column.{column}={text(key)}" for column, key in column_keys.items()]
            options += [f"raw.rest={'true' if which == 'complete' else 'false'}"]
        if stores is not None:
            keys |= {"aad_prefix": "prefix", "store_aad_prefix": stores}
            options += ["raw.prefix=prefix", f"raw.store={'true' if stores else 'false'}"]
        theirs = folder / f"{number}.parquet"
        java("write", theirs, *options)
        we_read(command, theirs, keys)
        count("keys as they are: read")
        if which == "columns":
            # No keys file asks for columns in the clear; they stay so where a file has them.
            ours = folder / f"{number}.ours.parquet"
            run(command, "--quiet", "rewrite", theirs, ours, "--page-version", 1, keys=keys)
        else:
            ours = folder / f"{number}.ours.parquet"
            codec = codec.lower().replace("uncompressed", "none")
            run(command, "--quiet", "encrypt", plain, "-o", ours, "--page-version", 1, "--compression", codec, keys=keys)
        java("read", ours, *without(options, "page", "codec"))
        count("keys as they are: written")


def refusals(java, command, _, folder, _chosen):
    plain = folder / "plain.parquet"
    pq.write_table(TABLE, plain)
    keys = {"footer_key": text(key(1, 128)), "algorithms": BOTH}
    ours = folder / "refused.parquet"
    for algorithm in BOTH:
        run(command, "--quiet", "encrypt", "--force", plain, "-o", ours, "--page-version", 2, keys=keys | {"algorithm": algorithm})
        what = f"parquet-java: {algorithm}, pages of version 2 that are encrypted whole, as the specification has them"
        java.refuses(what, "read", ours, f"raw.footer={keys['footer_key']}")
    run(command, "--quiet", "encrypt", "--force", plain, "-o", ours, keys=keys | {"aad_prefix": "prefix", "store_aad_prefix": False})
    java.refuses("parquet-java: a prefix that it was not given", "read", ours, f"raw.footer={keys['footer_key']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command")
    parser.add_argument("key_tools")
    parser.add_argument("--every", type=int, default=1, help="takes one of so many kinds, for a short run")
    parser.add_argument("--first", type=int, default=0, help="begins at this kind of each part, to go on where a run ended")
    arguments = parser.parse_args()
    chosen = slice(arguments.first, None, arguments.every)
    with tempfile.TemporaryDirectory() as classes:
        java = Java(classes)
        for part in (with_key_tools, with_local_wrapping, with_keys_as_they_are, refusals):
            with tempfile.TemporaryDirectory() as folder:
                part(java, arguments.command, arguments.key_tools, Path(folder), chosen)
    print("; ".join(f"parquet-java, {what} {number}" for what, number in counts.items()))
    print("refused by " + "; ".join(sorted(refused)))


if __name__ == "__main__":
    main()

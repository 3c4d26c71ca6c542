"""Compares the key tools of herringbone-encryption with pyarrow's, both directions.

    cargo build -p herringbone-encryption --example key_tools
    python tests/interop_encryption_keys.py target/debug/examples/key_tools [--every N]

Needs pyarrow, cryptography and duckdb. pyarrow writes files of every kind that its key tools know; we decrypt every module of
each. We encrypt every module of each anew, with keys of our own, and pyarrow reads that. Each rotates the master keys
of the other. DuckDB's dialect is read as well.
"""

import argparse
import base64
import itertools
import os
import subprocess
import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ARGUMENTS = argparse.ArgumentParser()
ARGUMENTS.add_argument("command")
ARGUMENTS.add_argument("--every", type=int, default=1, help="takes one of so many kinds, for a short run")
COMMAND, EVERY = vars(ARGUMENTS.parse_args()).values()
MASTER_KEYS = {"kf": b"0123456789012345", "kc1": b"1234567890123450", "kc2": b"1234567890123451"}
ROWS = 10_000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int32()),
        "name": pa.array([None if n % 7 == 0 else f"name {n % 100}" for n in range(ROWS)]),
        "score": pa.array([n / 3 for n in range(ROWS)]),
        "list": pa.array([[n, None] * (n % 3) for n in range(ROWS)], pa.list_(pa.int64())),
    }
)
COLUMN_KEYS = {"kc1": ["id", "name"], "kc2": ["list.list.element"]}


class Kms(pe.KmsClient):
    """The KMS of pyarrow's own tests."""

    def __init__(self, _config):
        pe.KmsClient.__init__(self)

    def wrap_key(self, key, master_key):
        nonce = os.urandom(12)
        wrapped = AESGCM(MASTER_KEYS[master_key]).encrypt(nonce, key, master_key.encode())
        return base64.b64encode(nonce + wrapped).decode()

    def unwrap_key(self, wrapped, master_key):
        wrapped = base64.b64decode(wrapped)
        return AESGCM(MASTER_KEYS[master_key]).decrypt(wrapped[:12], wrapped[12:], master_key.encode())


def factory():
    """A new one each time, so that nothing comes from its cache."""
    return pe.CryptoFactory(Kms)


def run(*arguments):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return done.stdout


def write(path, *, page, **options):
    config = pe.EncryptionConfiguration("kf", **options)
    properties = factory().file_encryption_properties(
        pe.KmsConnectionConfig(), config, parquet_file_path=str(path)
    )
    pq.write_table(
        TABLE,
        path,
        encryption_properties=properties,
        row_group_size=4_000,
        data_page_size=4_096,
        data_page_version=page,
        write_page_index=True,
    )


def read(path):
    properties = factory().file_decryption_properties(pe.KmsConnectionConfig(), parquet_file_path=str(path))
    with pq.ParquetFile(path, decryption_properties=properties) as file:
        table = file.read()
    assert table.equals(TABLE), path


def kinds():
    """What pyarrow can write: options, and words for messages."""
    uniform = {"uniform_encryption": True}
    columns = {"column_keys": COLUMN_KEYS}
    for keys, algorithm, plaintext, double, internal, bits, page in itertools.product(
        (uniform, columns),
        ("AES_GCM_V1", "AES_GCM_CTR_V1"),
        (False, True),
        (False, True),
        (False, True),
        (128, 192, 256),
        ("1.0", "2.0"),
    ):
        # Uniform encryption has no plaintext footer there. Not every length with everything else.
        if (keys is uniform and plaintext) or (bits != 128 and page == "2.0"):
            continue
        yield dict(
            **keys,
            encryption_algorithm=algorithm,
            plaintext_footer=plaintext,
            double_wrapping=double,
            internal_key_material=internal,
            data_key_length_bits=bits,
            page=page,
        )


def duckdb_dialect(path):
    connection = duckdb.connect()
    connection.execute("SET force_mbedtls_unsafe = true")
    connection.execute(f"PRAGMA add_parquet_key('kf', '{MASTER_KEYS['kf'].decode()}')")
    connection.execute(
        "COPY (SELECT i::INT AS i, 'name ' || i % 10 AS name FROM range(10000) t(i)) "
        f"TO '{path}' (FORMAT parquet, ENCRYPTION_CONFIG {{footer_key: 'kf'}}, ROW_GROUP_SIZE 4096)"
    )
    # A footer, and in each of three row groups two columns, one of them with a dictionary.
    modules = int(run("duckdb", path))
    assert modules >= 1 + 3 * (2 + 4), modules


def main():
    counts = dict.fromkeys(("read", "rewritten", "rotated"), 0)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        duckdb_dialect(folder / "duckdb.parquet")
        for number, options in enumerate(kinds()):
            if number % EVERY:
                continue
            theirs = folder / f"{number}.parquet"
            write(theirs, **options)
            modules = int(run("read", theirs))
            assert modules > 50, (modules, options)
            counts["read"] += 1
            # Every way to store and wrap keys comes by in turn.
            storage = "internal" if number % 2 else "external"
            wrapping = "double" if number // 2 % 2 else "single"
            bits = (128, 192, 256)[number % 3]
            ours = folder / f"{number}.ours.parquet"
            run("rewrite", theirs, ours, storage, wrapping, bits)
            assert int(run("read", ours)) == modules
            read(ours)
            counts["rewritten"] += 1
            if not options["internal_key_material"]:
                run("rotate", theirs, ("same", "double", "single")[number % 3])
                read(theirs)
                run("read", theirs)
                counts["rotated"] += 1
            if storage == "external":
                double = wrapping == "single"
                factory().rotate_master_keys(
                    pe.KmsConnectionConfig(), str(ours), double_wrapping=double
                )
                run("read", ours)
                read(ours)
                counts["rotated"] += 1
    print(", ".join(f"{count} {what}" for what, count in counts.items()))


if __name__ == "__main__":
    main()

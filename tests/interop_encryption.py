"""Compares encrypted files with pyarrow, polars and duckdb, both directions, by way of the command.

    cargo build -p herringbone-cli
    python tests/interop_encryption.py target/debug/herringbone [--every N]

Peers write files of every kind that they know, and we read them; we rewrite them, which keeps their encryption, and the peers
read that. We encrypt files, and they read them. What they refuse is listed, and expected: when a peer learns it, this fails.
"""

import argparse
import base64
import itertools
import json
import os
import subprocess
import tempfile
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

ARGUMENTS = argparse.ArgumentParser()
ARGUMENTS.add_argument("command")
ARGUMENTS.add_argument("--every", type=int, default=1, help="takes one of so many kinds, for a short run")
COMMAND, EVERY = vars(ARGUMENTS.parse_args()).values()
MASTER_KEYS = {"kf": b"0123456789012345", "kc1": b"1234567890123450", "kc2": b"1234567890123451"}
ROWS = 5_000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int64()),
        "name": pa.array([None if n % 7 == 0 else f"name {n % 100}" for n in range(ROWS)], pa.large_string()),
        "score": pa.array([n / 3 for n in range(ROWS)]),
        "list": pa.array([[n, None] * (n % 3) for n in range(ROWS)], pa.large_list(pa.int64())),
        "pay": pa.array([{"salary": n * 2, "bonus": None if n % 5 else n} for n in range(ROWS)]),
    }
)
FLAT = TABLE.select(["id", "name", "score"])
COLUMN_KEYS = {"kc1": ["id", "name"], "kc2": ["list", "pay.salary"]}
BOTH = ["AES_GCM_V1", "AES_GCM_CTR_V1"]
BITS = (128, 192, 256)
CODECS = ("none", "snappy", "zstd")
counts = {}
refused = set()


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


def kinds(*axes):
    """All combinations, numbered, or one of so many; which is to have no divisor in common with how many an axis has."""
    for number, kind in enumerate(itertools.product(*axes)):
        if number % EVERY == 0:
            yield number, *kind


def text(key):
    return base64.b64encode(key).decode()


def key(number, bits):
    return bytes((number + at) % 251 + 1 for at in range(bits // 8))


def run(*arguments, keys=None):
    """Keys are given by standard input, so that they never lie in a file here."""
    command = [COMMAND, "--quiet", *map(str, arguments)] + (["--keys", "-"] if keys else [])
    stdin = json.dumps(keys).encode() if keys else b""
    done = subprocess.run(command, input=stdin, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{arguments}, {keys}: {done.stderr.decode()}")
    return done.stdout


def count(what):
    counts[what] = counts.get(what, 0) + 1


def same(found, expected, what):
    """The same values; peers choose other widths of strings and lists, and other names of elements."""
    assert found.to_pylist() == expected.to_pylist(), what


def we_read(path, keys, expected=TABLE):
    found = pa.ipc.open_stream(run("cat", "--format", "arrow", path, keys=keys)).read_all()
    same(found, expected, path)
    run("verify", path, keys=keys)


def refuses(what, read):
    """A peer does not read it, and says so."""
    try:
        read()
    except Exception:
        refused.add(what)
    else:
        raise SystemExit(f"{what}: was refused so far")


# pyarrow


def factory():
    """A new one each time, so that nothing comes from its cache."""
    return pe.CryptoFactory(Kms)


def pyarrow_reads(path):
    properties = factory().file_decryption_properties(pe.KmsConnectionConfig(), parquet_file_path=str(path))
    with pq.ParquetFile(path, decryption_properties=properties) as file:
        same(file.read(), TABLE, path)


def pyarrow_key_tools(folder):
    keys = {
        "master_keys": {name: text(key) for name, key in MASTER_KEYS.items()},
        "kms": "test",
        "algorithms": BOTH,
    }
    axes = BOTH, (False, True), (False, True), BITS, ("1.0", "2.0"), CODECS
    for number, algorithm, plaintext, uniform, bits, page, codec in kinds(*axes):
        internal, double = number % 2 == 0, number // 2 % 2 == 0
        which = {"uniform_encryption": True} if uniform else {"column_keys": COLUMN_KEYS}
        config = pe.EncryptionConfiguration(
            "kf",
            encryption_algorithm=algorithm,
            plaintext_footer=plaintext,
            double_wrapping=double,
            internal_key_material=internal,
            data_key_length_bits=bits,
            **which,
        )
        theirs = folder / f"pyarrow{number}.parquet"
        properties = factory().file_encryption_properties(
            pe.KmsConnectionConfig(), config, parquet_file_path=str(theirs)
        )
        pq.write_table(
            TABLE,
            theirs,
            encryption_properties=properties,
            row_group_size=2_000,
            data_page_size=2_048,
            data_page_version=page,
            compression=codec,
            write_page_index=True,
        )
        we_read(theirs, keys)
        count("pyarrow, key tools: read")
        # What we write has their keys and their key material.
        ours = folder / f"pyarrow{number}.ours.parquet"
        version = 1 + number // 3 % 2
        run("rewrite", theirs, ours, "--page-version", version, "--page-rows", 300, "--compression", codec, keys=keys)
        we_read(ours, keys)
        pyarrow_reads(ours)
        count("pyarrow, key tools: rewritten")


def pyarrow_raw_keys(folder):
    axes = BOTH, (False, True), (None, True, False), BITS, (1, 2), CODECS
    plain = folder / "plain.parquet"
    pq.write_table(TABLE, plain)
    for number, algorithm, plaintext, stores, bits, page, codec in kinds(*axes):
        footer_key = key(number, bits)
        keys = {
            "footer_key": text(footer_key),
            "algorithm": algorithm,
            "algorithms": BOTH,
            "plaintext_footer": plaintext,
        }
        write, read = {}, {}
        if stores is not None:
            prefix = bytes([number % 256, 0, 255])
            keys |= {"aad_prefix": "base64:" + text(prefix), "store_aad_prefix": stores}
            write, read = {"aad_prefix": prefix, "store_aad_prefix": stores}, {"aad_prefix": prefix}
        properties = pe.create_encryption_properties(
            footer_key, encryption_algorithm=algorithm, plaintext_footer=plaintext, **write
        )
        theirs = folder / f"raw{number}.parquet"
        pq.write_table(
            TABLE,
            theirs,
            encryption_properties=properties,
            data_page_version=f"{page}.0",
            compression=codec,
            write_page_checksum=True,
        )
        we_read(theirs, keys)
        count("pyarrow, raw keys: read")
        ours = folder / f"raw{number}.ours.parquet"
        more = ["--bloom-filter", "id,name"] if number % 2 else ["--page-rows", "700"]
        run("encrypt", plain, "-o", ours, "--page-version", page, "--compression", codec, *more, keys=keys)
        properties = pe.create_decryption_properties(footer_key, **read)
        # Checksums are those of what is in the file, and it compares them.
        found = pq.read_table(ours, decryption_properties=properties, page_checksum_verification=True)
        same(found, TABLE, ours)
        count("pyarrow, raw keys: written")


# polars


def polars(folder):
    plain = folder / "plain.parquet"
    pq.write_table(TABLE, plain)
    frame = pl.from_arrow(TABLE)
    every_leaf = ["id", "name", "score", "list.list.element", "pay.salary", "pay.bonus"]
    of_columns = [], every_leaf, ["name", "pay.salary"]
    axes = (False, True), of_columns, (None, True, False), (128, 256), (1, 2), CODECS
    for number, plaintext, leaves, stores, bits, page, codec in kinds(*axes):
        footer_key = key(number, bits)
        keys = {"footer_key": text(footer_key), "plaintext_footer": plaintext}
        write, read = {"footer_key": footer_key}, {"footer_key": footer_key}
        if leaves:
            # Its other columns stay in the clear, and ours get the key of the footer.
            column_keys = {leaf: key(number + at + 1, bits) for at, leaf in enumerate(leaves)}
            keys["column_keys"] = {leaf: text(key) for leaf, key in column_keys.items()}
            write["column_keys"] = read["column_keys"] = column_keys
        if stores is not None:
            keys |= {"aad_prefix": "prefix", "store_aad_prefix": stores}
            write |= {"aad_prefix": b"prefix", "store_aad_prefix": stores}
            read["aad_prefix"] = b"prefix"
        if page == 1:
            theirs = folder / f"polars{number}.parquet"
            encryption = pl.ParquetEncryptionProperties(plaintext_footer=plaintext, **write)
            codec_of_polars = "uncompressed" if codec == "none" else codec
            frame.write_parquet(theirs, encryption=encryption, compression=codec_of_polars, row_group_size=2_000)
            we_read(theirs, keys)
            count("polars: read")
        ours = folder / f"polars{number}.ours.parquet"
        more = ["--bloom-filter", "id,name"] if number % 2 else ["--page-rows", "700"]
        run("encrypt", plain, "-o", ours, "--page-version", page, "--compression", codec, *more, keys=keys)
        decryption = pl.ParquetDecryptionProperties(**read)
        same(pl.read_parquet(ours, decryption=decryption).to_arrow(), TABLE, ours)
        count("polars: written")
    for what, wrong in (("AES_GCM_CTR_V1", {"algorithm": BOTH[1]}), ("keys of 192 bits", {"footer_key": text(key(1, 192))})):
        keys = {"footer_key": text(key(1, 128))} | wrong
        ours = folder / "polars.refused.parquet"
        run("encrypt", "--force", plain, "-o", ours, keys=keys)
        decryption = pl.ParquetDecryptionProperties(footer_key=base64.b64decode(keys["footer_key"]))
        refuses(f"polars: {what}", lambda: pl.read_parquet(ours, decryption=decryption))


# duckdb

# It takes every data page of a column chunk for the first one, and refuses the second.
ONE_PAGE = ["--row-group-rows", "1024"]


def duckdb_knows(name, footer_key):
    """A connection that knows the key; a new one, as a refusal may end the database."""
    connection = duckdb.connect()
    connection.execute("SET force_mbedtls_unsafe = true")
    connection.execute(f"PRAGMA add_parquet_key('{name}', '{footer_key.decode()}')")
    return connection


def duckdb_reads(connection, path, name):
    query = f"FROM read_parquet('{path}', encryption_config = {{footer_key: '{name}'}})"
    return connection.sql(query).to_arrow_table()


def duckdb_(folder):
    plain = folder / "flat.parquet"
    pq.write_table(FLAT, plain)
    for number, (bits, codec) in enumerate(itertools.product(BITS, CODECS)):
        # Its keys are text.
        name, footer_key = f"k{number}", (b"%032d" % number)[-bits // 8 :]
        connection = duckdb_knows(name, footer_key)
        keys = {"footer_key": text(footer_key), "duckdb": True}
        theirs = folder / f"duckdb{number}.parquet"
        codec_of_duckdb = "uncompressed" if codec == "none" else codec
        connection.execute(
            f"COPY (FROM '{plain}') TO '{theirs}' (FORMAT parquet, CODEC '{codec_of_duckdb}', "
            f"ENCRYPTION_CONFIG {{footer_key: '{name}'}}, ROW_GROUP_SIZE 2048)"
        )
        we_read(theirs, keys, FLAT)
        count("duckdb: read")
        ours = folder / f"duckdb{number}.ours.parquet"
        run("encrypt", plain, "-o", ours, "--compression", codec, *ONE_PAGE, keys=keys)
        same(duckdb_reads(connection, ours, name), FLAT, ours)
        count("duckdb: written")
        # Its dialect is not kept: what we write follows the specification.
        again = folder / f"duckdb{number}.again.parquet"
        run("rewrite", theirs, again, *ONE_PAGE, keys=keys)
        we_read(again, {"footer_key": keys["footer_key"]}, FLAT)
        same(duckdb_reads(connection, again, name), FLAT, again)
        count("duckdb: rewritten")
    footer_key = b"%016d" % 0
    keys = {"footer_key": text(footer_key)}
    nested = folder / "nested.parquet"
    pq.write_table(TABLE.select(["list"]), nested)
    for what, file, more, options in (
        ("AES_GCM_CTR_V1", plain, {"algorithm": BOTH[1]}, []),
        ("plaintext footers", plain, {"plaintext_footer": True}, []),
        ("AAD prefixes", plain, {"aad_prefix": "p"}, []),
        ("keys of columns", plain, {"column_keys": {"id": text(key(9, 128))}}, []),
        ("several pages in a column chunk", plain, {}, ["--page-rows", "100"]),
        ("lists", nested, {}, []),
    ):
        ours = folder / "duckdb.refused.parquet"
        run("encrypt", "--force", file, "-o", ours, *options, keys=keys | more)
        refuses(f"duckdb: {what}", lambda: duckdb_reads(duckdb_knows("k", footer_key), ours, "k"))
    theirs = folder / "duckdb.pyarrow.parquet"
    pages = {"data_page_size": 4_096, "write_batch_size": 100, "use_dictionary": False}
    pq.write_table(FLAT, theirs, encryption_properties=pe.create_encryption_properties(footer_key), **pages)
    what = "duckdb: several pages in a column chunk, written by pyarrow"
    refuses(what, lambda: duckdb_reads(duckdb_knows("k", footer_key), theirs, "k"))


PEERS = (pyarrow_key_tools, pyarrow_raw_keys, polars, duckdb_)


def main():
    for peer in PEERS:
        with tempfile.TemporaryDirectory() as folder:
            peer(Path(folder))
    print("; ".join(f"{what} {number}" for what, number in counts.items()))
    print("refused by " + "; ".join(sorted(refused)))


if __name__ == "__main__":
    main()

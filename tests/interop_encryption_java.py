"""Compares the key tools of herringbone-encryption with parquet-java's, both directions.

    cargo build -p herringbone-encryption --example key_tools
    python tests/interop_encryption_java.py target/debug/examples/key_tools

Needs the jars of pyspark and a Java 17 with its compiler, so it is run by hand. parquet-java writes files of every kind that
its key tools know; we decrypt every module of each. We encrypt every module of those with pages of version 1 anew, with
keys of our own, and parquet-java reads that. Each rotates the master keys of the other.
"""

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import pyspark

COMMAND = sys.argv[1]
JARS = Path(pyspark.__file__).parent / "jars"
SOURCE = Path(__file__).parent / "java" / "EncryptedFiles.java"


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

    def __call__(self, *words):
        self.process.stdin.write("\t".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert answer == "ok", (words, answer)


def run(*arguments):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return done.stdout


def kinds():
    uniform = ["uniform.key=kf"]
    columns = ["footer.key=kf", "column.keys=kc1:id,name;kc2:list.list.element"]
    complete = [*columns, "complete.columns=true"]
    for keys, algorithm, plaintext, double, internal, bits, page in itertools.product(
        (uniform, columns, complete),
        ("AES_GCM_V1", "AES_GCM_CTR_V1"),
        ("false", "true"),
        ("false", "true"),
        ("false", "true"),
        (128, 192, 256),
        (1, 2),
    ):
        # Not every length with everything else.
        if bits == 128 or (double == "true" and page == 1):
            yield [
                *keys,
                f"algorithm={algorithm}",
                f"plaintext.footer={plaintext}",
                f"double.wrapping={double}",
                f"key.material.store.internally={internal}",
                f"data.key.length.bits={bits}",
                f"kek.length.bits={bits}",
                f"page={page}",
            ]


def main():
    counts = dict.fromkeys(("read", "rewritten", "rotated"), 0)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        java = Java(folder)
        for number, options in enumerate(kinds()):
            # A folder each, as parquet-java rotates whole folders.
            files = folder / str(number)
            files.mkdir()
            theirs = files / "theirs.parquet"
            java("write", theirs, *options)
            modules = int(run("read", theirs))
            assert modules > 30, (modules, options)
            counts["read"] += 1
            if "key.material.store.internally=false" in options:
                run("rotate", theirs, ("same", "double", "single")[number % 3])
                java("read", theirs)
                java("rotate", files, "key.material.store.internally=false")
                run("read", theirs)
                counts["rotated"] += 1
            if "page=2" in options:
                continue
            storage = "internal" if number % 2 else "external"
            wrapping = "double" if number // 2 % 2 else "single"
            other = folder / f"{number}.ours"
            other.mkdir()
            ours = other / "ours.parquet"
            run("rewrite", theirs, ours, storage, wrapping, (128, 192, 256)[number % 3])
            assert int(run("read", ours)) == modules
            java("read", ours)
            counts["rewritten"] += 1
            if storage == "external":
                java("rotate", other, "key.material.store.internally=false")
                run("read", ours)
                counts["rotated"] += 1
    print(", ".join(f"{count} {what}" for what, count in counts.items()))


if __name__ == "__main__":
    main()

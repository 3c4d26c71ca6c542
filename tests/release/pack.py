#!/usr/bin/env python3
"""Packs a folder as NAME.tar.gz, or as NAME.zip if it has programs of Windows: tests/release/pack.py FOLDER NAME.

Equal folders make equal archives: neither times nor owners are kept.
"""

import gzip
import pathlib
import sys
import tarfile
import zipfile

# Seconds since 1970, and the first time that a zip archive can have.
TIME, ZIP_TIME = 315532800, (1980, 1, 1, 0, 0, 0)


def pack_tar(folder, files, out):
    def plain(entry):
        entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = TIME, 0, 0, "", ""
        entry.mode = 0o755 if entry.mode & 0o100 else 0o644
        return entry

    with open(out, "wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as tar:
        for file in files:
            tar.add(file, file.relative_to(folder.parent).as_posix(), filter=plain)


def pack_zip(folder, files, out):
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in files:
            entry = zipfile.ZipInfo(file.relative_to(folder.parent).as_posix(), ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, file.read_bytes())


def main():
    folder, name = pathlib.Path(sys.argv[1]), sys.argv[2]
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    if any(file.suffix == ".exe" for file in files):
        pack_zip(folder, files, f"{name}.zip")
    else:
        pack_tar(folder, files, f"{name}.tar.gz")


if __name__ == "__main__":
    main()

"""Compares the sizes of files: Herringbone's and those of pyarrow, the `parquet` crate, polars and duckdb.

    cargo build -p herringbone-cli && cargo build -p herringbone-benches --bin write-peer
    python benches/tables.py target/bench-data/tables
    python benches/sizes.py target/bench-data/tables [--codecs none,zstd:1] [--columns] [NAME ...]

Everybody writes the same rows with the same codec and level in row groups of so many rows; all else is as it is by default.
`v1` and `v2` are the two forms that pyarrow, the `parquet` crate and duckdb write. Prints ratios: `Widest` to the smallest
file of version 1, `Modern` to the smallest of all, and `Newest` to `Modern`; with --columns, for each column the bytes of
`Modern`, and of whoever wrote the fewest. Files are left in the directory that --keep names.
"""

import argparse
import glob
import math
import os
import subprocess
import tempfile

import duckdb
import polars
import pyarrow.parquet as pq

ROW_GROUP_ROWS = 122_880


def by_pyarrow(source, target, codec, level, version):
    table = pq.read_table(source)
    pq.write_table(
        table,
        target,
        compression=codec,
        compression_level=level,
        row_group_size=ROW_GROUP_ROWS,
        data_page_version=f"{version}.0",
        version="2.6",
    )


def by_polars(source, target, codec, level, version):
    codec = "uncompressed" if codec == "none" else codec
    frame = polars.read_parquet(source)
    frame.write_parquet(target, compression=codec, compression_level=level, row_group_size=ROW_GROUP_ROWS)


def duckdb_level(codec, level):
    """The option of the level, which it has for ZSTD alone."""
    return f", compression_level {level}" if codec == "zstd" and level else ""


def by_duckdb(source, target, codec, level, version):
    codec = "uncompressed" if codec == "none" else codec
    option = duckdb_level(codec, level)
    duckdb.sql(
        f"copy (from read_parquet('{source}')) to '{target}' (format parquet, compression {codec}{option}, "
        f"row_group_size {ROW_GROUP_ROWS}, parquet_version v{version})"
    )


def with_level(codec, level):
    """The codec as the crates call it. What pyarrow, polars and duckdb write as `lz4` is LZ4_RAW."""
    name = "lz4_raw" if codec == "lz4" else codec
    return f"{name}:{level}" if level else name


def by_crate(program):
    def write(source, target, codec, level, version):
        codec = with_level(codec, level)
        subprocess.run([program, source, target, codec, str(ROW_GROUP_ROWS), str(version)], check=True)

    return write


def by_us(program):
    def write(source, target, codec, level, readers):
        codec = with_level(codec, level)
        command = [program, "rewrite", source, target, "--force", "--compression", codec]
        command += ["--row-group-rows", str(ROW_GROUP_ROWS), "--compatibility", readers]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)

    return write


def columns(path):
    """The bytes of each column."""
    metadata = pq.ParquetFile(path).metadata
    sizes = {}
    for group in range(metadata.num_row_groups):
        for ordinal in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(ordinal)
            # What is called list.element here is list.item there.
            sizes[ordinal] = sizes.get(ordinal, 0) + chunk.total_compressed_size
    names = [metadata.schema.column(ordinal).path for ordinal in sizes]
    return names, list(sizes.values())


def mean(ratios):
    """The geometric one."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--codecs", default="none,snappy,zstd:1,zstd:3")
    parser.add_argument("--command", default="target/debug/herringbone")
    parser.add_argument("--peer", default="target/debug/write-peer")
    parser.add_argument("--profiles", default="widest,modern,newest")
    parser.add_argument("--columns", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    profiles = arguments.profiles.split(",")
    crate = by_crate(arguments.peer)
    peers = [("pyarrow", by_pyarrow), ("parquet", crate), ("duckdb", by_duckdb)]
    peers = [(f"{name} v{v}", write, v) for name, write in peers for v in (1, 2)] + [("polars", by_polars, 1)]
    temporary = tempfile.TemporaryDirectory()
    keep = arguments.keep or temporary.name
    os.makedirs(keep, exist_ok=True)
    print("| table | codec | smallest v1 | smallest of all | " + " | ".join(profiles) + " |")
    print("|---|---|---:|---:|" + "---:|" * len(profiles))
    ratios = {profile: [] for profile in profiles}
    for source in sorted(glob.glob(os.path.join(arguments.directory, "*.parquet"))):
        name = os.path.basename(source)[: -len(".parquet")]
        if arguments.names and name not in arguments.names:
            continue
        for codec in arguments.codecs.split(","):
            compressor, _, level = codec.partition(":")
            level = int(level) if level else None

            def write(who, writer, version):
                target = os.path.join(keep, f"{name}.{codec}.{who.replace(' ', '_')}.parquet")
                # Those of peers stay as they are between two runs.
                if writer in ours.values() or not os.path.exists(target):
                    writer(source, target, compressor, level, version)
                return target, os.path.getsize(target)

            ours = {profile: by_us(arguments.command) for profile in profiles}
            theirs = {who: write(who, writer, version) for who, writer, version in peers}
            mine = {profile: write(profile, writer, profile) for profile, writer in ours.items()}
            first = min((who for who in theirs if not who.endswith("v2")), key=lambda who: theirs[who][1])
            best = min(theirs, key=lambda who: theirs[who][1])
            cells = []
            for profile in profiles:
                other = theirs[first] if profile == "widest" else mine["modern"] if profile == "newest" else theirs[best]
                ratio = mine[profile][1] / other[1]
                ratios[profile].append(ratio)
                cells.append(f"{ratio:.3f}" + (" **large**" if ratio > 1.01 else ""))
            sizes = [f"{theirs[who][1]} ({who})" for who in (first, best)]
            print(f"| {name} | {codec} | {' | '.join(sizes + cells)} |", flush=True)
            if arguments.columns:
                all_columns = {who: columns(path)[1] for who, (path, _) in theirs.items()}
                names, _ = columns(mine[profiles[0]][0])
                for profile in profiles:
                    for column, bytes in zip(names, enumerate(columns(mine[profile][0])[1])):
                        ordinal, bytes = bytes
                        choices = {
                            who: sizes[ordinal]
                            for who, sizes in all_columns.items()
                            if profile != "widest" or not who.endswith("v2")
                        }
                        other = min(choices, key=choices.get)
                        ratio = bytes / choices[other]
                        print(f"    {profile:7} {column:28} {bytes:9} {choices[other]:9} {ratio:6.3f} {other}")
    print()
    for profile, all_ratios in ratios.items():
        print(f"{profile}: geometric mean {mean(all_ratios):.3f}, largest {max(all_ratios):.3f}")


if __name__ == "__main__":
    main()

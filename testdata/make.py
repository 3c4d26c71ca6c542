"""Writes the files below testdata/: `python testdata/make.py`.

    built/        pages, chunks and schemas that no current writer makes, built by hand
    hostile/      invalid files, each with one lie in it
    pyarrow/ duckdb/ polars/ fastparquet/
                  types x encodings x codecs x page versions x nulls x nesting, written by these libraries; one that is
                  not installed is left out, and its files stay as they are
    writers/      small files of many versions of writers, if `tests/writers.sh` has run
    datasets/     partitioned data sets, and the rows that duckdb finds in them
    evolution/    files, and what their rows are under the schema of another file

Beside each file lies X.json with what it holds, from the data that was written, never from a reader.
"""

import importlib
import json
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "scripts"))


def folder(name):
    path = HERE / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def built():
    import built_encodings
    import built_pages
    import built_schemas
    import built_writers
    import cases

    for module in (built_pages, built_encodings, built_schemas, built_writers):
        module.all_cases()
    out = folder("built")
    for name, (data, expectation) in cases.BUILT.items():
        (out / f"{name}.parquet").write_bytes(data)
        (out / f"{name}.json").write_text(expectation)


def hostile():
    import hostile as lies

    lies.all_cases()
    out = folder("hostile")
    index = {"errors": {}, "growing": [], "indexes": []}
    for name, (data, wrong) in sorted(lies.HOSTILE.items()):
        (out / f"{name}.parquet").write_bytes(data)
        index["errors"][name] = wrong
    for name, (data, expectation) in lies.TOLERATED.items():
        (out / f"{name}.parquet").write_bytes(data)
        (out / f"{name}.json").write_text(expectation)
    for kind, files in (("growing", lies.GROWING), ("indexes", lies.INDEXES)):
        for name, data in files.items():
            (out / f"{name}.parquet").write_bytes(data)
            index[kind].append(name)
    (out / "index.json").write_text(json.dumps(index, indent=1) + "\n")


def peers():
    for name in ("pyarrow", "duckdb", "polars", "fastparquet"):
        try:
            importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed: its files stay as they are")
            continue
        importlib.import_module(f"by_{name}").write_all(folder(name))


def writers():
    try:
        import by_writers as versions
    except ImportError as missing:
        print(f"{missing.name} is not installed: the files of writers/ stay as they are")
        return
    if not versions.FILES.exists():
        print("tests/writers.sh has not run: the files of writers/ stay as they are")
        return
    versions.write_all(folder("writers"))


def evolution():
    try:
        import evolution as pairs
    except ImportError as missing:
        print(f"{missing.name} is not installed: the files of evolution/ stay as they are")
        return
    pairs.write_all(folder("evolution"))


def datasets():
    try:
        import datasets as partitioned
    except ImportError as missing:
        print(f"{missing.name} is not installed: the files of datasets/ stay as they are")
        return
    partitioned.write_all(folder("datasets"))


if __name__ == "__main__":
    built()
    hostile()
    peers()
    writers()
    evolution()
    datasets()
    files = [f for f in HERE.rglob("*") if f.suffix in (".parquet", ".json")]
    for kind in sorted({f.parent for f in files}):
        inside = [f for f in files if f.parent == kind]
        print(f"{kind.name}: {len(inside)} files, {sum(f.stat().st_size for f in inside)} bytes")
    print(f"in all {sum(f.stat().st_size for f in files)} bytes")

"""Small files of many versions of writers, from the folder in which `tests/writers.sh` lets them write.

The values are those of `tests/writers/tables.py`. Types that depend on the writer, such as the unit of a timestamp, are those that
pyarrow finds in the schema.
"""

import base64
import json
import re
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import canonical

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "writers"))
import tables  # noqa: E402
import write_pyarrow  # noqa: E402

FILES = ROOT / "target" / "writers" / "files"
# Columns that a file of its own has, because of what is left over after the last value.
SPECIAL = {
    "duckdb-1.3.0": ("digit_none",),
    "duckdb-1.3.2": ("digit_none", "digit_few", "bool_few", "struct_none", "list_int_none"),
    "fastparquet-2023.1.0": ("digit_few", "digit_all", "bool_none", "bool_few"),
    "fastparquet-2024.2.0": ("bool_few",),
    "fastparquet-2024.11.0": ("digit_few", "bool_none", "bool_few"),
    "fastparquet-2026.9.0": ("category_all", "bool_few"),
}


def as_type(array, wanted):
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array if array.type == wanted else array.cast(wanted)


def columns(path, file):
    schema = pq.read_schema(path)
    stored = (pq.read_metadata(path).metadata or {}).get(b"ARROW:schema")
    stored = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(stored))) if stored else schema
    found = []
    for name in file["columns"]:
        array = write_pyarrow.array(name, file["rows"])
        if tables.kind_of(name) in tables.EMPTY and file["structs_of_nulls"]:
            array = pa.array(tables.table([name], file["rows"], True)[name], array.type)
        field = schema.field(name)
        if pa.types.is_dictionary(field.type):
            # pyarrow reads text with short offsets into dictionaries, whatever the stored schema has.
            field = stored.field(name)
        plain = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        found.append((field, as_type(array, plain)))
    return found


def write_all(out):
    for folder in sorted(FILES.iterdir(), key=lambda path: [int(n) if n.isdigit() else n for n in re.split(r"(\d+)", path.name)]):
        index = [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]
        for file in index:
            shape = file["file"].split("-")[0]
            if shape != "small" and shape not in SPECIAL.get(folder.name, ()):
                continue
            name = folder.name if shape == "small" else f"{folder.name}-{shape}"
            shutil.copyfile(folder / file["file"], out / f"{name}.parquet")
            text = canonical.expectation(columns(folder / file["file"], file), file["rows"], source=folder.name.replace("-", " "))
            (out / f"{name}.json").write_text(text)

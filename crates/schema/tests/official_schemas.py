"""Writes official_schemas.txt: the Arrow schemas that pyarrow gives the files of apache/parquet-testing.

    PARQUET_TEST_DATA=…/parquet-testing/data python crates/schema/tests/official_schemas.py

Types are spelled as in Rust's arrow-schema. Files that pyarrow cannot open are left out; the test names them.
"""

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

DATA = Path(os.environ["PARQUET_TEST_DATA"])
NAMES = {
    "null": "Null", "bool": "Boolean", "halffloat": "Float16", "float": "Float32", "double": "Float64",
    "string": "Utf8", "binary": "Binary", "date32[day]": "Date32", "timestamp[ns]": "Timestamp(ns)",
    "timestamp[us]": "Timestamp(µs)", "timestamp[us, tz=UTC]": 'Timestamp(µs, "UTC")',
}


def field(f):
    return f"{f.name}: {data_type(f.type)}" + ("" if f.nullable else " not null")


def data_type(t):
    if pa.types.is_map(t):
        return f"Map<{field(t.key_field)}, {field(t.item_field)}>"
    if pa.types.is_list(t):
        return f"List<{field(t.value_field)}>"
    if pa.types.is_struct(t):
        return "Struct<" + ", ".join(field(f) for f in t) + ">"
    if pa.types.is_decimal(t):
        return f"Decimal{t.bit_width}({t.precision}, {t.scale})"
    if pa.types.is_fixed_size_binary(t):
        return f"FixedSizeBinary({t.byte_width})"
    if pa.types.is_integer(t):
        return str(t).replace("uint", "UInt").replace("int", "Int")
    return NAMES[str(t)]


lines = []
for path in sorted(DATA.glob("*.parquet")) + sorted(DATA.glob("geospatial/*.parquet")):
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowInvalid, OSError):
        continue
    lines.append(f"{path.relative_to(DATA)} | " + "; ".join(field(f) for f in schema))
(Path(__file__).parent / "official_schemas.txt").write_text("\n".join(lines) + "\n")

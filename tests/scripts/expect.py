"""Writes tests/expected/: what each file of apache/parquet-testing holds, according to other readers.

    PARQUET_TEST_DATA=…/parquet-testing/data python tests/scripts/expect.py

Values come from pyarrow; where it cannot read a file, from another reader or from the notes beside the file:
EXCEPTIONS says which. Where a `*_expect.csv` lies beside a file, what pyarrow reads is compared with it as well.
Arrow types are Herringbone's; where pyarrow chooses another one, `ours` says so.
"""

import csv
import os
import re
import sys
import zlib
from pathlib import Path

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "testdata" / "scripts"))
import canonical  # noqa: E402

DATA = Path(os.environ["PARQUET_TEST_DATA"]).resolve().parent
OUT = HERE.parent / "expected"
PYARROW = f"pyarrow {pa.__version__}"


def storage(t):
    """Types whose meaning waits for a crate of its own are their storage in Arrow."""
    if isinstance(t, pa.BaseExtensionType) and t.extension_name not in ("arrow.uuid", "arrow.json"):
        return storage(t.storage_type)
    if pa.types.is_struct(t):
        return pa.struct([f.with_type(storage(f.type)) for f in (t.field(i) for i in range(t.num_fields))])
    if pa.types.is_list(t):
        return pa.list_(t.value_field.with_type(storage(t.value_type)))
    return t


def ours(path, schema):
    """The fields that Herringbone gives where pyarrow gives `schema`."""
    parquet = pq.ParquetFile(path).schema
    enums = {
        parquet.column(i).path for i in range(len(parquet)) if parquet.column(i).logical_type.type == "ENUM"
    }
    fields = []
    for field in schema:
        field = field.with_type(storage(field.type))
        fields.append(field.with_type(pa.string()) if field.name in enums else field)
    return fields


def from_pyarrow(path):
    table = pq.read_table(path, use_threads=False)
    fields = ours(path, table.schema)
    return canonical.expectation(list(zip(fields, table.columns)), table.num_rows, source=PYARROW)


# Cases of shredded_variant whose `typed_value` has a type that VARIANT does not have: UINT_32 and four bytes.
NO_VARIANTS = ("case-127", "case-137")


def variant(path):
    """VARIANT groups, which are structs to pyarrow, are an Arrow extension type over these."""
    text = from_pyarrow(path)
    if path.stem.startswith(NO_VARIANTS):
        return text
    named = r'\1"extension arrow.parquet.variant(\2)\3","'
    return re.sub(r'("name":"var","type":)"(struct<.*?>)( not null)?","', named, text)


def incorrect_map_schema(path):
    """pyarrow refuses optional keys; they are accepted here as long as no key is null."""
    table = duckdb.sql(f"FROM read_parquet('{path}')").to_arrow_table()
    return canonical.expectation(canonical.table_columns(table), table.num_rows, source=f"duckdb {duckdb.__version__}")


def int96_from_spark(path):
    """pyarrow wraps silently; the notes beside the file give microseconds."""
    notes = path.with_suffix(".md").read_text()
    values = re.search(r"they correspond to:\n```\n(.*?)\n```", notes, re.S).group(1).split(", ")
    array = pa.array([None if v == "null" else int(v) for v in values], pa.timestamp("us"))
    return canonical.expectation([(pa.field("a", array.type), array)], len(array), source="int96_from_spark.md")


def large_string_map(path):
    """pyarrow refuses more than 2 GiB of nested strings. Each key is a gibibyte: its length and CRC-32 are kept."""
    frame = polars.read_parquet(path)
    rows = []
    for row in range(frame.height):
        ((key, value),) = frame["arr"][row].items()
        key = key.encode()
        rows.append({"key_bytes": len(key), "key_crc32": f"{zlib.crc32(key):08x}", "value": value})
    head = f'"rows":{frame.height},\n"source":"polars {polars.__version__}"'
    entries = ",\n".join(canonical.json.dumps(row) for row in rows)
    return "{" + head + ',\n"entries":[\n' + entries + "\n]}\n"


def dictionary_of_zero_bits(path):
    """Codes of no bits for a dictionary of one entry: fine by the format."""
    return from_pyarrow(path)


def levels_end_early(path):
    """The repetition levels end before the page does; who reads on finds one row."""
    table = duckdb.sql(f"FROM read_parquet('{path}')").to_arrow_table()
    return canonical.expectation(canonical.table_columns(table), table.num_rows, source=f"duckdb {duckdb.__version__}")


# Files of bad_data that may be read; all others have to be errors.
BAD_DATA = {
    "bad_data/ARROW-GH-43605.parquet": dictionary_of_zero_bits,
    "bad_data/ARROW-RS-GH-6229-LEVELS.parquet": levels_end_early,
}
EXCEPTIONS = {
    "data/incorrect_map_schema.parquet": incorrect_map_schema,
    "data/int96_from_spark.parquet": int96_from_spark,
    "data/large_string_map.brotli.parquet": large_string_map,
    # No Python reader knows ALP; the test compares with the `parquet` crate instead.
    "data/alp_arade.parquet": None,
    "data/alp_float_arade.parquet": None,
}


def compare_with_csv(path):
    """Stops when pyarrow and the file's own CSV disagree."""
    expected = path.with_name(path.stem + "_expect.csv")
    if not expected.exists():
        return False
    table = pq.read_table(path)
    with open(expected, newline="") as file:
        header, *rows = list(csv.reader(file))
    assert len(rows) == table.num_rows, path
    assert len(header) == table.num_columns, path
    for name, field, values, texts in zip(header, table.schema.names, table.columns, zip(*rows)):
        assert name.strip() == field.rstrip(":"), (path, name, field)
        for value, text in zip(values.to_pylist(), texts):
            assert ("" if value is None else str(value)) == text, (path, name, value, text)
    return True


def main():
    checked = 0
    for folder in ("data", "data/geospatial", "shredded_variant"):
        for path in sorted((DATA / folder).glob("*.parquet")):
            name = f"{folder}/{path.name}"
            read = EXCEPTIONS.get(name, variant if folder == "shredded_variant" else from_pyarrow)
            if read is None:
                continue
            checked += compare_with_csv(path)
            out = OUT / f"{name}.json"
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(read(path))
    for name, read in BAD_DATA.items():
        out = OUT / f"{name}.json"
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(read(DATA / name))
    size = sum(f.stat().st_size for f in OUT.rglob("*.json"))
    print(f"{len(list(OUT.rglob('*.json')))} expectations, {size} bytes, {checked} of them checked against a CSV file")


if __name__ == "__main__":
    main()

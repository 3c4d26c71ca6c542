"""Writes tables with the package `deltalake` 1.6: partitions, a new column, deleted rows, a checkpoint and a later commit.

`delta_rs` has columns by name. `mapped_name` and `mapped_id` map columns, and `deleted` has a deletion vector, which we add to the log,
because the package writes none. The rows that the package reads in these three are in `rows.json`, sorted by `n`."""

import datetime
import decimal
import json
import os
import shutil

import pyarrow as pa
from deltalake import DeltaTable, QueryBuilder, write_deltalake

FOLDER = os.path.dirname(os.path.abspath(__file__))


def fresh(name):
    path = os.path.join(FOLDER, name)
    shutil.rmtree(path, ignore_errors=True)
    return path


def rows(start, more=None):
    numbers = range(start, start + 20)
    columns = {
        "n": pa.array(numbers, pa.int32()),
        "part": pa.array([f"p{i % 2}" for i in numbers]),
        "amount": pa.array([decimal.Decimal(i * 25) / 100 for i in numbers], pa.decimal128(12, 2)),
        "at": pa.array(
            [datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(hours=i) for i in numbers],
            pa.timestamp("us", "UTC"),
        ),
        "tags": pa.array([[("k", f"v{i}")] if i % 3 else None for i in numbers], pa.map_(pa.string(), pa.string())),
    }
    return pa.table({**columns, **(more or {})})


extra = {"extra": pa.array([{"a": i, "b": [i, None]} for i in range(20)])}


def write(path, configuration=None):
    # The package adds no columns to tables that map columns.
    mode = None if configuration else "merge"
    more = extra if configuration else None
    write_deltalake(path, rows(0, more), partition_by=["part"], configuration=configuration)
    write_deltalake(path, rows(20, extra), mode="append", schema_mode=mode)
    DeltaTable(path).delete("n >= 5 and n < 10")
    DeltaTable(path).create_checkpoint()
    write_deltalake(path, rows(40, more), mode="append", schema_mode=mode)


def write_rows(path):
    """Writes the rows as the package reads them. The parts of a row are compared as text."""
    select = "select n, part, cast(amount as varchar) amount, cast(to_unixtime(at) as varchar) at, tags['k'] tag"
    extra = ", extra['a'] a, extra['b'][1] b" if "extra" in [field.name for field in DeltaTable(path).schema().fields] else ""
    read = QueryBuilder().register("t", DeltaTable(path)).execute(f"{select}{extra} from t order by n").read_all()
    with open(os.path.join(path, "rows.json"), "w") as file:
        rows = pa.table(read).to_pylist()
        file.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


write(fresh("delta_rs"))
for mode in ["name", "id"]:
    path = fresh(f"mapped_{mode}")
    write(path, {"delta.columnMapping.mode": mode})
    write_rows(path)

path = fresh("deleted")
write_deltalake(path, pa.concat_tables([rows(0), rows(20).slice(0, 10)]), configuration={"delta.enableDeletionVectors": "true"})
log = os.path.join(path, "_delta_log")
with open(os.path.join(log, f"{0:020}.json")) as file:
    [add] = [action["add"] for action in map(json.loads, file) if "add" in action]
remove = {"path": add["path"], "deletionTimestamp": 0, "dataChange": True}
# Rows 3, 4, 7, 11, 18 and 29, in the encoding of the specification.
vector = "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"
add["deletionVector"] = {"storageType": "i", "offset": None, "sizeInBytes": 44, "cardinality": 6, "pathOrInlineDv": vector}
with open(os.path.join(log, f"{1:020}.json"), "w") as file:
    file.write("\n".join(json.dumps(action) for action in [{"remove": remove}, {"add": add}]))
write_deltalake(path, rows(40), mode="append")
write_rows(path)

"""The file that the README shows: some rows of everyday types, from pyarrow."""

import datetime as dt
import decimal

import pyarrow as pa
import pyarrow.parquet as pq

NAMES = ["amber", "basil", "cedar", "dill", "elder", "fennel", "garlic", "hazel", "iris", "juniper"]
ROWS = 24


def write(path):
    start = dt.datetime(2026, 1, 1, 12, tzinfo=dt.timezone.utc)
    ids = range(ROWS)
    table = pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "name": pa.array([NAMES[i % 10] for i in ids]),
            "price": pa.array([decimal.Decimal(i * 137 % 1000) / 100 for i in ids], pa.decimal128(9, 2)),
            "weight": pa.array([None if i % 7 == 3 else i / 8 for i in ids], pa.float64()),
            "organic": pa.array([i % 3 == 0 for i in ids]),
            "harvested": pa.array([start + dt.timedelta(hours=31 * i) for i in ids], pa.timestamp("us", tz="UTC")),
            "tags": pa.array([["herb", "fresh"][: i % 3] if i % 5 else None for i in ids], pa.list_(pa.string())),
            "origin": pa.array(
                [{"country": "NO", "altitude": 40 * i if i % 4 else None} for i in ids],
                pa.struct([("country", pa.string()), ("altitude", pa.int32())]),
            ),
        }
    )
    pq.write_table(table, path, compression="zstd", row_group_size=16, write_page_index=True)

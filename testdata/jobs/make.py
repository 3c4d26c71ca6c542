"""Makes the files of `crates/cli/tests/jobs.txt` with pyarrow."""
import datetime
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

HERE = pathlib.Path(__file__).parent
ROWS = 40
CITIES = ["Lima", "Rome", "Oslo", "Rome"]


def trips(changed=False):
    start = datetime.datetime(2024, 1, 31, 12, tzinfo=datetime.timezone.utc)
    fares = [n * 1.5 + 1 for n in range(ROWS)]
    if changed:
        fares[7] = None
        fares[20] = 99.0
    return pa.table({
        "id": pa.array(range(ROWS), pa.int64()),
        "city": [CITIES[n % 4] for n in range(ROWS)],
        "fare": pa.array(fares, pa.float64()),
        "tip": pa.array([None if n % 3 == 0 else n % 3 for n in range(ROWS)], pa.int32()),
        "at": pa.array([start + datetime.timedelta(hours=n) for n in range(ROWS)], pa.timestamp("us", "UTC")),
        "addr": [{"street": f"s{n % 5}", "zip": f"{n:05}"} for n in range(ROWS)],
        "tags": [[f"t{k}" for k in range(n % 3)] for n in range(ROWS)],
    })


def main():
    pq.write_table(trips(), HERE / "trips.parquet", row_group_size=10, compression="snappy", write_page_index=True)
    pq.write_table(trips(True), HERE / "trips2.parquet", compression="snappy")
    one = pa.table({"id": pa.array([1, 2], pa.int64()), "v": ["a", "b"]})
    pq.write_table(one, HERE / "part-0.parquet")
    pq.write_table(one, HERE / "part-1.parquet")
    pq.write_table(pa.table({"id": pa.array([3], pa.int32()), "v": ["c"], "extra": ["x"]}), HERE / "part-2.parquet")


main()

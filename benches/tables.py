"""Writes the tables that sizes are compared on: one file each, without a codec, by pyarrow.

    python benches/tables.py target/bench-data/tables [--rows 491520] [--pages] [NAME ...]

The numbers are seeded by the name of the table. Each has the quirks of what it is named after: rounded numbers, skew, sorted
runs, columns that are nearly all null, urls, uuids. `tpchgen-cli` makes three more, where it is installed.

With `--pages`, each table is written twice instead, as most files are: with pages of version 1 and SNAPPY, and with pages of
version 2 and ZSTD. `report.sh` and `arm/counts.py` read these files.
"""

import argparse
import os
import shutil
import subprocess
import sys
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

WORDS = (
    "time river paper window garden market letter winter silver stone bridge summer mirror candle forest "
    "engine signal planet harbor meadow copper velvet thunder island needle ribbon lantern orchard pepper saddle"
).split()


def with_nulls(random, values, share):
    return pa.array(values, mask=random.random(len(values)) < share)


def strings(values):
    return pa.array(np.asarray(values, dtype=object), pa.string())


def skewed(random, distinct, rows, exponent=1.3):
    weights = 1 / np.arange(1, distinct + 1) ** exponent
    return random.choice(distinct, rows, p=weights / weights.sum())


def sentences(random, count, words):
    picks = skewed(random, len(WORDS), count * words, 0.7).reshape(count, words)
    return [" ".join(WORDS[i] for i in row) for row in picks]


def uuids(random, count):
    text = random.integers(0, 256, (count, 16), dtype=np.uint8).tobytes().hex()
    at = (32 * i for i in range(count))
    return [f"{text[i:i+8]}-{text[i+8:i+12]}-{text[i+12:i+16]}-{text[i+16:i+20]}-{text[i+20:i+32]}" for i in at]


def rides(random, rows):
    pickup = np.datetime64("2024-01-01", "us") + np.sort(random.integers(0, 31 * 86400, rows)).astype("m8[s]")
    seconds = random.gamma(2.5, 350, rows).astype(int)
    distance = np.round(seconds / 330 * random.gamma(9, 1 / 9, rows), 2)
    fare = np.round(3 + 0.7 * np.ceil(distance * 3 + seconds / 120), 2)
    card = random.random(rows) < 0.7
    tip = np.where(card, np.round(fare * random.choice([0, 0.1, 0.15, 0.2, 0.25, 0.3], rows), 2), 0.0)
    tolls = np.where(random.random(rows) < 0.07, 6.94, 0.0)
    surcharge = random.choice([0.0, 2.5], rows, p=[0.1, 0.9])
    return {
        "vendor": pa.array(random.choice([1, 2], rows, p=[0.25, 0.75]).astype(np.int32)),
        "pickup": pa.array(pickup),
        "dropoff": pa.array(pickup + seconds.astype("m8[s]")),
        "passengers": with_nulls(random, random.choice([0.0, 1, 2, 3, 4, 5, 6], rows, p=[0.02, 0.72, 0.15, 0.04, 0.03, 0.02, 0.02]), 0.05),
        "distance": pa.array(distance),
        "rate": with_nulls(random, random.choice([1.0, 2, 5, 99], rows, p=[0.93, 0.04, 0.02, 0.01]), 0.05),
        "flag": strings(random.choice(["N", "Y"], rows, p=[0.99, 0.01])),
        "from_zone": pa.array(skewed(random, 263, rows).astype(np.int32)),
        "to_zone": pa.array(skewed(random, 263, rows, 1.0).astype(np.int32)),
        "payment": pa.array(np.where(card, 1, 2).astype(np.int64)),
        "fare": pa.array(fare),
        "extra": pa.array(random.choice([0.0, 0.5, 1.0, 2.5, 3.5], rows)),
        "tip": pa.array(tip),
        "tolls": pa.array(tolls),
        "surcharge": with_nulls(random, surcharge, 0.05),
        "total": pa.array(np.round(fare + tip + tolls + surcharge, 2)),
    }


def web_hits(random, rows):
    users = skewed(random, 40_000, rows, 1.1)
    ids = random.integers(0, 2**63, 40_000)
    pages = [f"https://www.example{i % 37}.com/{WORDS[i % 30]}/{WORDS[i * 7 % 30]}-{i}.html" for i in range(9000)]
    page = np.array(pages, dtype=object)[skewed(random, 9000, rows)]
    query = [f"{url}?id={n}&ref={WORDS[n % 30]}" for url, n in zip(page, random.integers(0, 10**6, rows))]
    referer = np.where(random.random(rows) < 0.4, "", np.array(pages, dtype=object)[skewed(random, 9000, rows)])
    agents = [f"Mozilla/5.0 ({system}) Engine/{v}.{v * 7 % 90} Browser/{v}" for v in range(90, 130) for system in ("X11; Linux", "Windows NT 10.0", "Macintosh", "Android 14")]
    return {
        "id": pa.array(np.cumsum(random.integers(1, 2**40, rows))),
        "time": pa.array(np.datetime64("2024-05-01", "ms") + np.sort(random.integers(0, 86_400_000, rows)).astype("m8[ms]")),
        "user": pa.array(ids[users]),
        "session": strings(np.array(uuids(random, rows // 12 + 1), dtype=object)[np.arange(rows) // 12]),
        "url": strings(query),
        "referer": strings(referer),
        "agent": strings(np.array(agents, dtype=object)[skewed(random, len(agents), rows)]),
        "address": pa.array((users.astype(np.uint32) * np.uint32(2654435761)).astype(np.uint32)),
        "width": pa.array(random.choice([360, 390, 768, 1280, 1366, 1920, 2560], rows).astype(np.int16)),
        "is_mobile": pa.array(random.random(rows) < 0.3),
        "is_new": pa.array(np.repeat(random.random(rows // 100 + 1) < 0.5, 100)[:rows]),
        "load_ms": pa.array(random.lognormal(6, 0.8, rows).astype(np.int32)),
        "search": strings([None] * rows) if rows < 100 else with_nulls(random, np.array(sentences(random, 500, 3), dtype=object)[random.integers(0, 500, rows)], 0.97),
    }


def telemetry(random, rows):
    devices = 200
    device = np.tile(np.arange(devices), rows // devices + 1)[:rows]
    tick = np.arange(rows) // devices
    walk = np.cumsum(random.normal(0, 0.05, rows))
    jitter = random.integers(0, 900, rows)
    return {
        "device": strings(np.array([f"sensor-{i:05d}" for i in range(devices)], dtype=object)[device]),
        "time": pa.array(np.datetime64("2024-06-01", "ns") + (tick * 1_000_000 + jitter).astype("m8[us]")),
        "temperature": pa.array(np.round(20 + 5 * np.sin(tick / 500) + random.normal(0, 0.3, rows), 1)),
        "humidity": pa.array(np.round(45 + random.normal(0, 4, rows), 2)),
        "pressure": pa.array(np.round(1013.25 + walk, 3)),
        "voltage": pa.array((3.3 + random.normal(0, 0.01, rows)).astype(np.float32)),
        "raw": pa.array(walk + random.normal(0, 1e-9, rows)),
        "counter": pa.array((tick * 17 + device).astype(np.int64)),
        "status": pa.array(np.where(random.random(rows) < 0.001, random.integers(1, 9, rows), 0).astype(np.int32)),
        "error": with_nulls(random, np.array(sentences(random, 50, 4), dtype=object)[random.integers(0, 50, rows)], 0.995),
    }


def nested_events(random, rows):
    rows = rows // 8
    tags = random.integers(0, 5, rows)
    offsets = np.concatenate([[0], np.cumsum(tags)]).astype(np.int32)
    names = np.array(WORDS, dtype=object)[skewed(random, 30, offsets[-1])]
    items = random.integers(1, 8, rows)
    item_offsets = np.concatenate([[0], np.cumsum(items)]).astype(np.int32)
    count = item_offsets[-1]
    item = pa.StructArray.from_arrays(
        [
            strings([f"SKU-{n:06d}" for n in skewed(random, 5000, count)]),
            pa.array(random.integers(1, 6, count).astype(np.int32)),
            pa.array(np.round(random.lognormal(3, 1, count), 2)),
        ],
        ["sku", "quantity", "price"],
    )
    embedding = random.normal(0, 1, (rows, 32)).astype(np.float32)
    return {
        "id": strings(uuids(random, rows)),
        "time": pa.array(np.datetime64("2024-05-01", "us") + np.sort(random.integers(0, 86_400_000_000, rows)).astype("m8[us]")),
        "kind": strings(np.array(["view", "click", "cart", "purchase"], dtype=object)[skewed(random, 4, rows)]),
        "tags": pa.ListArray.from_arrays(pa.array(offsets), strings(names)),
        "items": pa.ListArray.from_arrays(pa.array(item_offsets), item),
        "embedding": pa.FixedSizeListArray.from_arrays(pa.array(embedding.ravel()), 32),
        "score": with_nulls(random, np.round(random.random(rows), 3), 0.3),
    }


def logs(random, rows):
    services = [f"{a}-service" for a in WORDS[:12]]
    level = random.choice(["INFO", "DEBUG", "WARN", "ERROR"], rows, p=[0.8, 0.12, 0.06, 0.02])
    templates = sentences(random, 40, 6)
    pick = skewed(random, 40, rows)
    numbers = random.integers(0, 10**6, (rows, 2))
    message = [f"{templates[p]} id={a} took {b % 4000} ms" for p, (a, b) in zip(pick, numbers)]
    hosts = [f"ip-10-{i // 16}-{i % 16}-{i * 7 % 256}.eu-central-1.internal" for i in range(240)]
    return {
        "time": pa.array(np.datetime64("2024-05-01", "ns") + np.cumsum(random.exponential(2e6, rows)).astype("m8[ns]")),
        "level": strings(level),
        "service": strings(np.array(services, dtype=object)[skewed(random, 12, rows)]),
        "host": strings(np.array(hosts, dtype=object)[random.integers(0, 240, rows)]),
        "message": strings(message),
        "trace": strings(np.array(uuids(random, rows // 5 + 1), dtype=object)[np.sort(random.integers(0, rows // 5 + 1, rows))]),
        "status": with_nulls(random, random.choice([200, 204, 301, 404, 500], rows, p=[0.85, 0.05, 0.03, 0.05, 0.02]).astype(np.int32), 0.4),
        "bytes": pa.array(random.lognormal(7, 2, rows).astype(np.int64)),
        "duration": pa.array(np.round(random.lognormal(2, 1, rows), 3)),
    }


def wide_features(random, rows):
    rows = rows // 16
    columns = {"key": pa.array(random.permutation(rows).astype(np.int64))}
    for i in range(60):
        columns[f"f{i}"] = [
            lambda: pa.array(random.normal(0, 1, rows).astype(np.float32)),
            lambda: with_nulls(random, np.round(random.lognormal(1, 1, rows), 2), 0.5),
            lambda: with_nulls(random, random.integers(0, 2, rows).astype(np.int8), 0.9),
            lambda: pa.array(random.poisson(3, rows).astype(np.int64)),
            lambda: pa.array(np.where(random.random(rows) < 0.95, 0.0, random.random(rows))),
            lambda: pa.array(skewed(random, 1000, rows).astype(np.int32)),
        ][i % 6]()
    return columns


TABLES = {table.__name__: table for table in (rides, web_hits, telemetry, nested_events, logs, wide_features)}
# The codec ends the name, because the program `write` takes it from there.
PAGES = (
    ("v1_", "_snappy", {"compression": "snappy", "data_page_version": "1.0"}),
    ("v2_", "_zstd", {"compression": "zstd", "data_page_version": "2.0"}),
)
TPCH = ("lineitem", "orders", "part")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--rows", type=int, default=491_520)
    parser.add_argument("--pages", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    os.makedirs(arguments.directory, exist_ok=True)
    wanted = lambda name: not arguments.names or name in arguments.names
    for name, table in TABLES.items():
        if wanted(name):
            random = np.random.default_rng(zlib.crc32(name.encode()))
            made = pa.table(table(random, arguments.rows))
            for prefix, suffix, options in PAGES if arguments.pages else [("", "", {"compression": "none"})]:
                path = os.path.join(arguments.directory, f"{prefix}{name}{suffix}.parquet")
                pq.write_table(made, path, **options)
    if arguments.pages:
        return
    generator = shutil.which("tpchgen-cli") or os.path.join(os.path.dirname(sys.executable), "tpchgen-cli")
    if not os.path.exists(generator):
        print("tpchgen-cli is not installed: no tables of TPC-H")
        return
    scale = str(arguments.rows / 4_915_200)
    for name in filter(wanted, TPCH):
        subprocess.run([generator, "parquet", "-s", scale, "-T", name, "-c", "UNCOMPRESSED", "-o", arguments.directory], check=True)


if __name__ == "__main__":
    main()

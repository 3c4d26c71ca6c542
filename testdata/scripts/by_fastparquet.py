"""Files that fastparquet writes: pandas frames, version 1 pages with its own level runs."""

import fastparquet
import pandas as pd
import pyarrow as pa

import data
import canonical

SOURCE = f"fastparquet {fastparquet.__version__}"


def frame_of(seed, density):
    """A frame and the columns that its file holds: (field, array)."""
    frame, columns = {}, []

    def put(name, series, array, nullable):
        frame[name] = series
        columns.append((pa.field(name, array.type, nullable=nullable), array))

    for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.bool_()):
        array = data.array(t, seed)
        put(str(t), pd.Series(array.to_numpy(zero_copy_only=False)), array, False)
    for t in (pa.float32(), pa.float64()):
        array = data.array(t, seed, "none", "few")
        put(str(t), pd.Series(array.to_numpy()), array, False)
    for t, kind in ((pa.int64(), "Int64"), (pa.uint8(), "UInt8"), (pa.bool_(), "boolean")):
        array = data.array(t, seed, density)
        put(f"nullable {t}", pd.Series(array.to_pylist(), dtype=kind), array, True)
    texts = data.array(pa.string(), seed, density)
    put("text", pd.Series(texts.to_pylist(), dtype=object), texts, True)
    raw = data.array(pa.binary(), seed, density, "few")
    put("raw", pd.Series(raw.to_pylist(), dtype=object), raw, True)
    stamps = data.array(pa.timestamp("ns"), seed, "none", "sorted")
    put("stamp", pd.Series(stamps.to_numpy()), stamps, True)
    return pd.DataFrame(frame), columns


def write_all(out):
    for name, density, codec, offsets, times in (
        ("uncompressed", "none", None, None, "int64"), ("snappy", "some", "SNAPPY", [0, 50, 100], "int64"), ("gzip", "runs", "GZIP", None, "int64"),
        ("zstd", "some", "ZSTD", None, "int96"), ("brotli", "runs", "BROTLI", [0, 10], "int64"), ("lz4", "some", "LZ4", None, "int64"),
    ):
        frame, columns = frame_of(name, density)
        path = out / f"{name}.parquet"
        encodings = {"text": "utf8", "raw": "bytes"}
        fastparquet.write(str(path), frame, compression=codec, row_group_offsets=offsets, times=times, write_index=False,
                          object_encoding={n: encodings.get(n, "infer") for n in frame}, stats=False,
                          has_nulls=[f.name for f, _ in columns if f.nullable])
        path.with_suffix(".json").write_text(canonical.expectation(columns, len(frame), source=SOURCE))



"""Compares geometries with geopandas, DuckDB, SedonaDB, pyarrow, polars, GDAL and, where it is there, Spark, both
directions.

    python tests/interop_geospatial.py [target/debug/herringbone]

Values are compared as shapely sees them, reference systems as pyproj does. What a peer refuses is listed, and has to
stay so: a peer that has learnt it is a failure too. PARQUET_TEST_DATA names the folder `data` of a copy of
apache/parquet-testing; without it, the official files are left out.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
import geopandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pyogrio
import pyproj
import sedonadb
import shapely

ROOT = Path(__file__).resolve().parents[1]
COMMAND = str(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/debug/herringbone").resolve())
EMPTY = ["POINT EMPTY", "LINESTRING EMPTY", "POLYGON EMPTY", "MULTIPOINT EMPTY", "GEOMETRYCOLLECTION EMPTY"]
FLAT = [
    "POINT (30 10)", "LINESTRING (30 10, 10 30, 40 40.125)",
    "POLYGON ((35 10, 45 45, 15 40, 10 20, 35 10), (20 30, 35 35, 30 20, 20 30))",
    "MULTIPOINT ((10 40), (40 30), (20 20), (30 10))",
    "MULTILINESTRING ((10 10, 20 20, 10 40), (40 40, 30 30, 40 20, 30 10))",
    "MULTIPOLYGON (((40 40, 20 45, 45 30, 40 40)), ((20 35, 10 30, 10 10, 30 5, 45 20, 20 35)))",
    "GEOMETRYCOLLECTION (POINT (40 10), LINESTRING (10 10, 20 20, 10 40))",
]
HIGH = ["POINT Z (1 2 3.5)", "LINESTRING Z (0 0 1, -170.5 80 2)"]
TEXTS = FLAT + HIGH + EMPTY[:1] + [None]
failures, checked = [], 0


def unregister():
    """Peers register extension types of their own with pyarrow, some of which refuse a CRS that nobody knows."""
    for name in ["wkb", "wkt", "box", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"]:
        try:
            pa.unregister_extension_type(f"geoarrow.{name}")
        except pa.ArrowKeyError:
            pass


def run(*arguments, fails=False):
    done = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True)
    if done.returncode != 0 and not fails:
        raise AssertionError(f"{' '.join(map(str, arguments))}: {done.stderr.decode()}")
    return done.stdout if done.returncode == 0 else None


def ours(path):
    """The table that the command reads, as an Arrow stream."""
    unregister()
    return pa.ipc.open_stream(run("cat", "-q", "--format", "arrow", path)).read_all()


def normal(geometries):
    """Text of geometries in WKB or of shapely, with all their digits."""
    as_shape = [it if it is None or isinstance(it, shapely.Geometry) else shapely.from_wkb(bytes(it)) for it in geometries]
    return [it and it.wkt if it is None else shapely.to_wkt(it, rounding_precision=-1) for it in as_shape]


def crs_of(field):
    """The reference system of a geoarrow.wkb field; None where nobody knows it."""
    metadata = json.loads((field.metadata or {}).get(b"ARROW:extension:metadata", b"{}") or b"{}")
    crs = metadata.get("crs")
    if metadata.get("crs_type") == "srid":
        crs = f"EPSG:{crs}"
    return None if crs is None else pyproj.CRS.from_user_input(crs)


def check(name, found, wanted):
    global checked
    checked += 1
    if found != wanted:
        failures.append(f"{name}:\n  is     {str(found)[:600]}\n  not    {str(wanted)[:600]}")


def refuses(name, action):
    """A peer that does not know it says so."""
    try:
        action()
    except BaseException:  # polars panics
        check(name, "refused", "refused")
    else:
        check(name, "read", "refused")


def same_crs(name, found, wanted):
    is_default = lambda it: it is not None and pyproj.CRS.from_user_input(it).to_authority() in (("EPSG", "4326"), ("OGC", "CRS84"))
    if is_default(found) and is_default(wanted):
        check(name, True, True)
    else:
        check(name, found and pyproj.CRS.from_user_input(found).to_authority(),
              wanted and pyproj.CRS.from_user_input(wanted).to_authority())


def sound(name, path):
    """`verify` finds no errors, and says so by its exit code."""
    done = subprocess.run([COMMAND, "verify", str(path)], capture_output=True, text=True)
    check(f"{name}: verify", (done.returncode, [it for it in done.stdout.splitlines() if "error " in it]), (0, []))


def geopandas_reads(name, path, wanted, crs):
    frame = geopandas.read_parquet(path)
    check(f"{name} by geopandas", normal(frame.geometry), wanted)
    same_crs(f"{name}: CRS by geopandas", frame.crs, crs)


def duckdb_reads(name, path, wanted):
    rows = duckdb.connect().execute(f"SELECT geometry::GEOMETRY::VARCHAR FROM '{path}'").fetchall()
    found = [it and shapely.from_wkt(it) for (it,) in rows]
    check(f"{name} by duckdb", normal(found), wanted)


def sedona_reads(name, path, wanted):
    frame = sedonadb.connect().read_parquet(str(path)).to_pandas()
    check(f"{name} by sedonadb", normal(frame["geometry"].tolist()), wanted)


def we_write(folder):
    texts = folder / "rows.jsonl"
    texts.write_text("".join(json.dumps({"id": at, "geometry": it}) + "\n" for at, it in enumerate(TEXTS)))
    wanted = normal([it and shapely.from_wkt(it) for it in TEXTS])
    schema = folder / "schema.txt"
    for crs in ["OGC:CRS84", "EPSG:4326"]:
        schema.write_text(f"id: Int64\ngeometry: Binary (geoarrow.wkb, {crs})\n")
        for options in [[], ["--geoparquet", "1.0"], ["--geoparquet", "1.1", "--covering"], ["--geoparquet", "2.0", "--covering"]]:
            name = f"ours in {crs} {' '.join(options)}"
            path = folder / "ours.parquet"
            run("convert", "-f", "--schema", schema, texts, path, *options)
            sound(name, path)
            has_geo = bool(options)
            is_native = options[1:2] not in (["1.0"], ["1.1"])
            if has_geo:
                geopandas_reads(name, path, wanted, crs)
            else:
                refuses(f"{name} by geopandas", lambda: geopandas.read_parquet(path))
            duckdb_reads(name, path, wanted)
            sedona_reads(name, path, wanted)
            unregister()
            table = pq.read_table(path)
            check(f"{name} by pyarrow", normal(table["geometry"].to_pylist()), wanted)
            if is_native:
                refuses(f"{name} by polars", lambda: polars.read_parquet(path))
            else:
                check(f"{name} by polars", normal(polars.read_parquet(path)["geometry"].to_list()), wanted)
            statistics = pq.ParquetFile(path).metadata.row_group(0).column(1).geo_statistics
            if is_native:
                check(f"{name}: box by pyarrow", [statistics.xmin, statistics.xmax, statistics.ymin, statistics.ymax],
                      [-170.5, 45.0, 0.0, 80.0])
    # A box of the covering finds its rows.
    path = folder / "covered.parquet"
    run("convert", "-f", "--schema", schema, texts, path, "--geoparquet", "1.1", "--covering")
    found = geopandas.read_parquet(path, bbox=(-180, 50, -100, 90))
    check("a box by geopandas", normal(found.geometry), normal([shapely.from_wkt(HIGH[1])]))


def they_write(folder):
    wanted = normal([it and shapely.from_wkt(it) for it in TEXTS])
    shapes = [it and shapely.from_wkt(it) for it in TEXTS]
    for crs in ["EPSG:4326", "EPSG:5070", None]:
        frame = geopandas.GeoDataFrame({"id": range(len(shapes))}, geometry=shapes, crs=crs)
        for options in [{"schema_version": "1.0.0"}, {"schema_version": "1.1.0", "write_covering_bbox": True}]:
            name, path = f"geopandas in {crs}, {options['schema_version']}", folder / "geopandas.parquet"
            frame.to_parquet(path, **options)
            we_read(name, path, wanted, crs)
            again = folder / "again.parquet"
            run("rewrite", "-f", path, again)
            geopandas_reads(f"{name}, rewritten", again, wanted, crs)
            check(f"{name}, rewritten: geo", geo(again)["columns"]["geometry"].get("crs", "default"),
                  geo(path)["columns"]["geometry"].get("crs", "default"))
            run("rewrite", "-q", "-f", path, again, "--geoparquet", "2.0")
            sound(f"{name} as 2.0", again)
            geopandas_reads(f"{name} as 2.0", again, wanted, crs)
            sedona_reads(f"{name} as 2.0", again, wanted)
    natives = {"point": FLAT[:1], "linestring": FLAT[1:2], "polygon": FLAT[2:3], "multipoint": FLAT[3:4],
               "multilinestring": FLAT[4:5], "multipolygon": FLAT[5:6]}
    for encoding, texts in natives.items():
        shapes = [shapely.from_wkt(it) for it in texts] + [None]
        frame = geopandas.GeoDataFrame(geometry=shapes, crs="EPSG:5070")
        path = folder / "native.parquet"
        frame.to_parquet(path, geometry_encoding="geoarrow", schema_version="1.1.0")
        sound(encoding, path)
        field = ours(path).schema.field("geometry")
        check(f"{encoding} is GeoArrow", field.metadata[b"ARROW:extension:name"].decode(), f"geoarrow.{encoding}")
        same_crs(f"{encoding}: CRS", crs_of(field), "EPSG:5070")
        again = folder / "again.parquet"
        run("rewrite", "-f", path, again)
        geopandas_reads(f"{encoding}, rewritten", again, normal(shapes), "EPSG:5070")
    they_write_native(folder, wanted)


def they_write_native(folder, wanted):
    values = ", ".join("(NULL)" if it is None else f"('{it}'::GEOMETRY)" for it in TEXTS)
    for version in ["NONE", "V1", "V2", "BOTH"]:
        path = folder / "duckdb.parquet"
        duckdb.connect().execute(
            f"COPY (SELECT geometry FROM (VALUES {values}) AS t(geometry)) TO '{path}' (FORMAT parquet, GEOPARQUET_VERSION '{version}')")
        we_read(f"duckdb {version}", path, wanted, "OGC:CRS84" if version in ("V1", "NONE", "BOTH", "V2") else None)
        again = folder / "again.parquet"
        run("rewrite", "-q", "-f", path, again)
        duckdb_reads(f"duckdb {version}, rewritten", again, wanted)
        check(f"duckdb {version}, rewritten: type", str(pq.ParquetFile(again).schema.column(0).logical_type),
              str(pq.ParquetFile(path).schema.column(0).logical_type))
    connection = sedonadb.connect()
    rows = ", ".join(f"({'NULL' if it is None else repr(it)})" for it in TEXTS)
    for kind in ["geom", "geog"]:
        for version in ["1.0", "1.1", "2.0"]:
            path = folder / f"sedona_{kind}.parquet"
            path.unlink(missing_ok=True)
            query = f"SELECT ST_SetSRID(ST_{kind.capitalize()}FromWKT(t), 4326) AS geometry FROM (VALUES {rows}) AS v(t)"
            connection.sql(query).to_parquet(str(path), geoparquet_version=version)
            table = we_read(f"sedonadb {kind} {version}", path, wanted, False)
            metadata = json.loads(table.schema.field("geometry").metadata[b"ARROW:extension:metadata"])
            check(f"sedonadb {kind} {version}: edges", metadata.get("edges"), "spherical" if kind == "geog" else None)


def we_read(name, path, wanted, crs):
    table = ours(path)
    field = table.schema.field("geometry")
    check(f"{name}: extension", (field.metadata or {}).get(b"ARROW:extension:name"), b"geoarrow.wkb")
    check(name, normal(table["geometry"].to_pylist()), wanted)
    if crs is not False:
        same_crs(f"{name}: CRS", crs_of(field), crs)
    sound(name, path)
    return table


def geo(path):
    return json.loads(pq.read_metadata(path).metadata[b"geo"])


def geojson(folder):
    shapes = [shapely.from_wkt(it) for it in FLAT + HIGH] + [None]
    frame = geopandas.GeoDataFrame({"n": range(len(shapes)), "s": ["ä", None] * (len(shapes) // 2)}, geometry=shapes, crs="EPSG:4326")
    lines, path = folder / "gdal.geojsonl", folder / "geojson.parquet"
    pyogrio.write_dataframe(frame, lines, driver="GeoJSONSeq", RS="NO")
    run("convert", "-f", lines, path, "--geoparquet", "1.1")
    geopandas_reads("GeoJSON of GDAL", path, normal(shapes), "EPSG:4326")
    check("properties of GDAL", geopandas.read_parquet(path)["s"].tolist(), frame["s"].tolist())
    lines = folder / "ours.geojsonl"
    run("convert", "-f", path, lines)
    found = pyogrio.read_dataframe(lines)
    check("GeoJSON by GDAL", normal(found.geometry), normal(shapes))
    check("properties by GDAL", found["n"].tolist(), frame["n"].tolist())


def spark(folder):
    """Spark 4.3 knows the default CRS and `SRID:0`, and refuses other codes."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        print("skipped: Spark, which takes pyspark and Java")
        return
    from pyspark.sql import SparkSession
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = session.config("spark.sql.geospatial.enabled", "true").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    rows, schema, path = folder / "spark.jsonl", folder / "spark.txt", folder / "spark.parquet"
    rows.write_text("".join(json.dumps({"geometry": it}) + "\n" for it in FLAT))
    wanted = normal([shapely.from_wkt(it) for it in FLAT])
    for crs, options in [("OGC:CRS84", []), ("OGC:CRS84", ["--geoparquet", "2.0", "--covering"]), ("srid:5070", [])]:
        schema.write_text(f"geometry: Binary (geoarrow.wkb, {crs})\n")
        run("convert", "-f", "--schema", schema, rows, path, *options)
        read = lambda: session.read.parquet(str(path)).selectExpr("st_asbinary(geometry) AS g").collect()
        if crs.startswith("srid"):
            refuses(f"ours in {crs} by Spark", read)
        else:
            check(f"ours in {crs} {options} by Spark", normal([row["g"] for row in read()]), wanted)
    values = ", ".join(f"(X'{shapely.from_wkt(it).wkb_hex}')" for it in FLAT)
    session.sql(f"SELECT st_geomfromwkb(w) AS geometry FROM (VALUES {values}) AS v(w)").coalesce(1).write.parquet(str(folder / "of_spark"))
    (written,) = (folder / "of_spark").glob("*.parquet")
    we_read("Spark", written, wanted, None)
    check("Spark: type", "GEOMETRY(SRID:0)" in run("schema", written).decode(), True)
    again = folder / "again.parquet"
    run("rewrite", "-f", written, again)
    check("Spark, rewritten", run("schema", again), run("schema", written))
    session.stop()


def official(folder):
    connection = sedonadb.connect()
    for path in sorted((folder / "geospatial").glob("*.parquet")):
        table = ours(path)
        for field in table.schema:
            if (field.metadata or {}).get(b"ARROW:extension:name") != b"geoarrow.wkb":
                continue
            theirs = connection.read_parquet(str(path)).to_arrow_table()[field.name]
            theirs = theirs.combine_chunks()
            theirs = getattr(theirs, "storage", theirs)
            wkb = lambda column: [it and bytes(it) for it in column.to_pylist()]
            check(f"{path.name} by sedonadb", normal(wkb(table[field.name])), normal(wkb(theirs)))
        sound(path.name, path)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        we_write(folder)
        they_write(folder)
        geojson(folder)
        spark(folder)
    if "PARQUET_TEST_DATA" in os.environ:
        official(Path(os.environ["PARQUET_TEST_DATA"]))
    for failure in failures:
        print(failure)
    print(f"{checked} comparisons of geometries, {len(failures)} of them fail")
    sys.exit(bool(failures))


main()

"""What other implementations make of geometries: run it to write `fixtures/` again.

    python fixtures.py parquet-testing/data/geospatial    # and these versions:

    duckdb 2.0, geopandas 1.2, pyarrow 26, pyproj 3.7, sedonadb 0.5, shapely 2.2

Lines are values separated by tabs. WKB is hexadecimal.
"""

import json
import math
import os
import pathlib
import random
import sys
import tempfile

import duckdb
import geopandas
import pyarrow.parquet as pq
import pyproj
import sedonadb
import shapely

HERE = pathlib.Path(__file__).parent / "fixtures"


def write(name, lines):
    text = "\n".join("\t".join(line) for line in lines) + "\n"
    (HERE / name).write_text(text)


def texts():
    """Every kind in all dimensions, some of them empty, some inside of collections."""
    plain = [
        "POINT",
        "LINESTRING",
        "POLYGON",
        "MULTIPOINT",
        "MULTILINESTRING",
        "MULTIPOLYGON",
        "GEOMETRYCOLLECTION",
    ]
    rests = [("", lambda at: ""), (" Z", lambda at: f" {at + 3.5}"), (" M", lambda at: f" {-7 * at}")]
    rests.append((" ZM", lambda at: f" {at + 3.5} {-7 * at}"))
    positions = [(30, 10), (0.1, -0.25), (12.5, 1e-5), (-180, 90), (7, 8), (9, 3)]
    for tag, rest in rests:
        yield from (f"{kind}{tag} EMPTY" for kind in plain)
        p = [f"{x} {y}{rest(at)}" for at, (x, y) in enumerate(positions)]
        ring = f"({p[0]}, {p[1]}, {p[2]}, {p[0]})"
        hole = f"({p[3]}, {p[4]}, {p[5]}, {p[3]})"
        point = f"POINT{tag} ({p[0]})"
        line = f"LINESTRING{tag} ({p[0]}, {p[1]}, {p[2]})"
        polygon = f"POLYGON{tag} ({ring}, {hole})"
        yield from [point, line, f"POLYGON{tag} ({ring})", polygon]
        yield f"MULTIPOINT{tag} (({p[0]}), EMPTY, ({p[3]}))"
        yield f"MULTILINESTRING{tag} (({p[0]}, {p[1]}), EMPTY, ({p[3]}, {p[4]}, {p[5]}))"
        yield f"MULTIPOLYGON{tag} (({ring}, {hole}), EMPTY, ({hole}))"
        yield f"GEOMETRYCOLLECTION{tag} ({point}, {line}, {polygon}, POINT{tag} EMPTY)"
        inner = f"GEOMETRYCOLLECTION{tag} (MULTIPOINT{tag} (({p[1]})), GEOMETRYCOLLECTION{tag} EMPTY)"
        yield f"GEOMETRYCOLLECTION{tag} ({inner}, {point})"


def wkb():
    """Text, ISO with either byte order, extended, minimum and maximum of each ordinate, GeoJSON."""
    for text in texts():
        geometry = shapely.from_wkt(text)
        iso = [
            shapely.to_wkb(geometry, hex=True, flavor="iso", output_dimension=4, byte_order=order)
            for order in (1, 0)
        ]
        extended = shapely.to_wkb(
            shapely.set_srid(geometry, 4326),
            hex=True,
            flavor="extended",
            output_dimension=4,
            byte_order=0,
            include_srid=True,
        )
        coordinates = shapely.get_coordinates(geometry, include_z=True, include_m=True)
        bounds = []
        for axis in coordinates.T:
            present = [value for value in axis.tolist() if value == value]
            bounds.append(f"{min(present)!r} {max(present)!r}" if present else "")
        text = shapely.to_wkt(geometry, rounding_precision=-1, output_dimension=4)
        geojson = "" if geometry.has_m else shapely.to_geojson(geometry)
        yield [text, *iso, extended, *bounds, geojson]


OFFICIAL = [
    "geospatial",
    "geospatial-with-nan",
    "crs-default",
    "geography-points",
    "geography-lines",
    "geography-polygons",
]


def official(folder):
    """Row groups of the files of parquet-testing: file, box, types, and all values that are not null.

    Boxes and types are those that the files' statistics have.
    """
    for name in OFFICIAL:
        file = pq.ParquetFile(f"{folder}/{name}.parquet")
        column = file.schema_arrow.get_field_index("geometry")
        for index in range(file.num_row_groups):
            statistics = file.metadata.row_group(index).column(column).geo_statistics
            bounds = {}
            if statistics is not None:
                bounds = {
                    axis + end: getattr(statistics, axis + end)
                    for axis in "xyzm"
                    for end in ("min", "max")
                }
            box = " ".join(f"{key}={value!r}" for key, value in bounds.items() if value is not None)
            types = statistics.geospatial_types if statistics is not None else None
            values = file.read_row_group(index, columns=["geometry"]).column(0)
            values = [value.as_py() for value in values if value.is_valid]
            values = [v.wkb if hasattr(v, "wkb") else v for v in values]
            types = " ".join(map(str, types or []))
            yield [name, box, types, *(value.hex() for value in values)]


def edges():
    """Shortest paths of ellipsoids: flattening, both ends, and places between them.

    Those are the ones with the highest and the lowest latitude of 2,000, and some others.
    """
    chance = random.Random(20261122)
    for flattening in (1 / 298.257223563, 1 / 169.8):
        geod = pyproj.Geod(a=6378137, f=flattening)
        for kind in range(160):
            first = (chance.uniform(-180, 180), math.degrees(math.asin(chance.uniform(-1, 1))))
            second = (chance.uniform(-180, 180), math.degrees(math.asin(chance.uniform(-1, 1))))
            if kind % 4 == 1:
                # Close to each other.
                step = 10 ** chance.uniform(-6, 0.5)
                second = (first[0] + chance.choice([0, step]), first[1] + chance.uniform(-step, step))
            if kind % 4 == 2:
                # On one parallel, the most poleward path.
                second = (second[0], first[1])
            if kind % 8 == 3:
                # Close to opposite.
                second = (first[0] + 180 + chance.uniform(-3, 3), -first[1] + chance.uniform(-1, 1))
            if kind % 16 == 7:
                # Along the equator, or nearly.
                second = (second[0], chance.choice([0, 0.001]))
                first = (first[0], 0)
            second = ((second[0] + 180) % 360 - 180, max(-90, min(90, second[1])))
            places = geod.npts(*first, *second, 2000)
            by_latitude = sorted(places, key=lambda place: place[1])
            chosen = [by_latitude[0], by_latitude[-1], *places[::500]]
            flat = [value for place in (first, second, *chosen) for value in place]
            yield [repr(flattening), *map(repr, flat)]


def geo():
    """GeoParquet metadata: who wrote it, what it is, and the logical types of the columns at the root.

    A logical type is NAME=KIND|CRS; no kind for those that are no geometries, KIND bytes for plain
    byte arrays.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/it.parquet"

        def line(writer):
            metadata = pq.read_metadata(path)
            columns = []
            for field in metadata.schema.to_arrow_schema():
                index = metadata.schema.names.index(field.name) if field.name in metadata.schema.names else None
                column = metadata.schema.column(index) if index is not None else None
                kind = ""
                if column is not None and column.physical_type == "BYTE_ARRAY":
                    logical = json.loads(column.logical_type.to_json())
                    kind = {"Geometry": "geometry", "Geography": "geography"}.get(logical["Type"], "bytes")
                    kind += "|" + logical.get("crs", "")
                columns.append(f"{field.name}={kind}")
            return [writer, metadata.metadata[b"geo"].decode(), *columns]

        points = [shapely.Point(1, 2), shapely.Point(3, 4, 5)]
        for version in ("1.0.0", "1.1.0", "2.0.0"):
            for crs in ("EPSG:4326", "OGC:CRS84", "EPSG:5070", None):
                frame = geopandas.GeoDataFrame({"id": [1, 2]}, geometry=points, crs=crs)
                frame.to_parquet(path, schema_version=version, write_covering_bbox=version != "1.0.0")
                yield line(f"geopandas {version} {crs}")
        for version in ("1.0", "1.1", "2.0"):
            session = sedonadb.connect()
            frame = session.sql("SELECT 1 AS id, ST_Point(1, 2, 4326) AS geometry")
            frame.to_parquet(path, geoparquet_version=version)
            yield line(f"sedonadb {version}")
            frame = session.sql("SELECT ST_GeogPoint(1, 2) AS geometry")
            frame.to_parquet(path, geoparquet_version=version)
            yield line(f"sedonadb {version} geography")
        connection = duckdb.connect()
        for version in ("V1", "V2", "BOTH"):
            os.remove(path)
            connection.sql(
                f"COPY (SELECT 'POINT (1 2)'::GEOMETRY AS geometry) TO '{path}' (GEOPARQUET_VERSION '{version}')"
            )
            yield line(f"duckdb {version}")


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    write("wkb.tsv", wkb())
    write("official.tsv", official(sys.argv[1]))
    write("edges.tsv", edges())
    write("geo.tsv", geo())

"""What other implementations make of geometries: run it to write `fixtures/` again.

    python fixtures.py            # needs shapely 2.2 (GEOS 3.14) and pyproj 3.7

Lines are values separated by tabs. WKB is hexadecimal.
"""

import pathlib

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
    """Text, ISO with either byte order, extended, and minimum and maximum of each ordinate."""
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
        yield [text, *iso, extended, *bounds]


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    write("wkb.tsv", wkb())

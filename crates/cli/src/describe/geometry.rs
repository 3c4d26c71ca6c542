//! Describes geometry columns.

use herringbone::ParquetFile;
use herringbone::format::BoundingBox;
use herringbone::geospatial::bounds::Extent;
use herringbone::geospatial::geoparquet::Encoding;
use herringbone::geospatial::{Edges, GeometryColumn};

/// Returns a line for each geometry column, with its path, reference system, bounding box and
/// types. It also lists non-planar edges, a native encoding, and a covering if there is one.
///
/// # Errors
/// Fails if a column chunk's metadata cannot be decoded, or if the edge interpolation is unknown.
pub(crate) fn lines(file: &ParquetFile) -> herringbone::Result<Vec<String>> {
    let columns = GeometryColumn::of_file(file.parquet_schema(), file.metadata())?;
    columns.iter().map(|column| line(column, file)).collect()
}

fn line(column: &GeometryColumn, file: &ParquetFile) -> herringbone::Result<String> {
    let metadata = file.metadata();
    let row_groups = 0..metadata.num_row_groups();
    let statistics = column.statistics(metadata, row_groups)?;
    let mut parts = vec![format!("{}: {}", column.path.join("."), column.crs())];
    if column.meaning.edges != Edges::Planar {
        parts.push(format!("{} edges", column.meaning.edges));
    }
    if let Encoding::Native(kind) = column.encoding {
        parts.push(format!("encoded as {kind}"));
    }
    let declared_box = column
        .geoparquet
        .as_ref()
        .and_then(|geoparquet| geoparquet.bbox.clone());
    parts.push(match (statistics.extent(), declared_box) {
        (Extent::Box(bbox), _) | (Extent::Unknown(_), Some(bbox)) => shown(&bbox),
        (Extent::Empty, _) => "no positions".into(),
        (Extent::Unknown(_), None) => "no box".into(),
    });
    let types: Vec<String> = match statistics.types().types() {
        Some(types) => types.map(|types| types.to_string()).collect(),
        None => {
            let declared = column
                .geoparquet
                .iter()
                .flat_map(|geoparquet| &geoparquet.geometry_types);
            declared.map(ToString::to_string).collect()
        }
    };
    parts.extend(types);
    if column
        .geoparquet
        .as_ref()
        .is_some_and(|geoparquet| geoparquet.covering.is_some())
    {
        parts.push("covered by boxes".into());
    }
    Ok(parts.join(", "))
}

fn shown(bbox: &BoundingBox) -> String {
    let mut axes = vec![
        format!("x {} to {}", bbox.xmin, bbox.xmax),
        format!("y {} to {}", bbox.ymin, bbox.ymax),
    ];
    if bbox.xmin > bbox.xmax {
        axes.insert(1, "across the antimeridian".into());
    }
    for (axis, min, max) in [("z", bbox.zmin, bbox.zmax), ("m", bbox.mmin, bbox.mmax)] {
        axes.extend(
            min.zip(max)
                .map(|(min, max)| format!("{axis} {min} to {max}")),
        );
    }
    axes.join(", ")
}

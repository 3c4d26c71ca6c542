//! Describes the statistics of column chunks and pages.

use herringbone::format::{BoundingBox, GeospatialStatistics, SizeStatistics, Statistics};
use serde_json::Value;

use super::Object;
use super::bound::Bounds;

/// Describes bounds and counts. `bounds` turns bounds into values.
pub(crate) fn statistics(bounds: &Bounds, statistics: &Statistics) -> Value {
    let bound = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| bounds.describe(bytes));
    Object::new()
        .some("min", bound(&statistics.min))
        .some("max", bound(&statistics.max))
        .some("null_count", statistics.null_count)
        .some("distinct_count", statistics.distinct_count)
        .some("min_value", bound(&statistics.min_value))
        .some("max_value", bound(&statistics.max_value))
        .some("is_min_value_exact", statistics.is_min_value_exact)
        .some("is_max_value_exact", statistics.is_max_value_exact)
        .some("nan_count", statistics.nan_count)
        .into()
}

/// Describes sizes and level histograms.
pub(crate) fn size_statistics(statistics: &SizeStatistics) -> Value {
    Object::new()
        .some(
            "unencoded_byte_array_data_bytes",
            statistics.unencoded_byte_array_data_bytes,
        )
        .some(
            "repetition_level_histogram",
            statistics.repetition_level_histogram.clone(),
        )
        .some(
            "definition_level_histogram",
            statistics.definition_level_histogram.clone(),
        )
        .into()
}

/// Describes the bounding box and the types of geometries.
pub(crate) fn geospatial_statistics(statistics: &GeospatialStatistics) -> Value {
    Object::new()
        .some("bbox", statistics.bbox.as_ref().map(bounding_box))
        .some("geospatial_types", statistics.geospatial_types.clone())
        .into()
}

fn bounding_box(bbox: &BoundingBox) -> Value {
    Object::new()
        .with("xmin", coordinate(bbox.xmin))
        .with("xmax", coordinate(bbox.xmax))
        .with("ymin", coordinate(bbox.ymin))
        .with("ymax", coordinate(bbox.ymax))
        .some("zmin", bbox.zmin.map(coordinate))
        .some("zmax", bbox.zmax.map(coordinate))
        .some("mmin", bbox.mmin.map(coordinate))
        .some("mmax", bbox.mmax.map(coordinate))
        .into()
}

/// Returns a number, or its name if JSON cannot represent it.
fn coordinate(number: f64) -> Value {
    use herringbone_interchange::write::number::Float as _;
    number
        .special()
        .map_or_else(|| Value::from(number), Value::from)
}

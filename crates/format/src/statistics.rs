//! Summaries of column chunks and pages.

use crate::thrift::thrift_struct;

thrift_struct! {
    /// Bounds and counts of a column chunk or a page.
    ///
    /// Bounds are PLAIN values, except that byte arrays have no length. They are only valid in the column's
    /// [`ColumnOrder`](crate::ColumnOrder). Counts are unchecked: files of broken writers contain negative
    /// ones.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct Statistics {
        /// Upper bound in signed order; deprecated.
        1: optional max: Vec<u8>,
        /// Lower bound in signed order; deprecated.
        2: optional min: Vec<u8>,
        /// The number of nulls.
        3: optional null_count: i64,
        /// The number of distinct values.
        4: optional distinct_count: i64,
        /// Upper bound.
        5: optional max_value: Vec<u8>,
        /// Lower bound.
        6: optional min_value: Vec<u8>,
        /// True if `max_value` occurs; unknown if absent.
        7: optional is_max_value_exact: bool,
        /// True if `min_value` occurs; unknown if absent.
        8: optional is_min_value_exact: bool,
        /// The number of NaNs.
        9: optional nan_count: i64,
    }
}

thrift_struct! {
    /// The in-memory size of a column chunk.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct SizeStatistics {
        /// The number of bytes in all BYTE_ARRAY values, without their lengths.
        1: optional unencoded_byte_array_data_bytes: i64,
        /// The number of occurrences of each repetition level, starting at level 0.
        2: optional repetition_level_histogram: Vec<i64>,
        /// The number of occurrences of each definition level, starting at level 0.
        3: optional definition_level_histogram: Vec<i64>,
    }
}

thrift_struct! {
    /// Bounds of coordinates. If `xmin > xmax`, the box crosses the antimeridian.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct BoundingBox {
        /// Lower bound of x, or the western bound.
        1: required xmin: f64,
        /// Upper bound of x, or the eastern bound.
        2: required xmax: f64,
        /// Lower bound of y.
        3: required ymin: f64,
        /// Upper bound of y.
        4: required ymax: f64,
        /// Lower bound of z.
        5: optional zmin: f64,
        /// Upper bound of z.
        6: optional zmax: f64,
        /// Lower bound of m.
        7: optional mmin: f64,
        /// Upper bound of m.
        8: optional mmax: f64,
    }
}

thrift_struct! {
    /// Bounds and types of the geometries in a column chunk.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct GeospatialStatistics {
        /// Bounds of all coordinates.
        1: optional bbox: BoundingBox,
        /// ISO codes of the geometry types that occur; unknown if absent or empty.
        2: optional geospatial_types: Vec<i32>,
    }
}

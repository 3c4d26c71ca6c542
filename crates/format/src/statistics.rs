//! Summaries of column chunks and pages.

use crate::thrift::thrift_struct;

thrift_struct! {
    /// Bounds and counts of a column chunk or a page.
    ///
    /// Bounds are PLAIN values, except that byte arrays have no length. They are valid only in the column's
    /// [`ColumnOrder`](crate::ColumnOrder). Counts aren't checked, so you might find negative counts in files from
    /// broken writers.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct Statistics {
        /// The deprecated upper bound, in signed order.
        1: optional max: Vec<u8>,
        /// The deprecated lower bound, in signed order.
        2: optional min: Vec<u8>,
        /// The number of nulls.
        3: optional null_count: i64,
        /// The number of distinct values.
        4: optional distinct_count: i64,
        /// The upper bound in the column's order.
        5: optional max_value: Vec<u8>,
        /// The lower bound in the column's order.
        6: optional min_value: Vec<u8>,
        /// True if `max_value` occurs among the values. This is unknown if it is absent.
        7: optional is_max_value_exact: bool,
        /// True if `min_value` occurs among the values. This is unknown if it is absent.
        8: optional is_min_value_exact: bool,
        /// The number of NaNs.
        9: optional nan_count: i64,
    }
}

thrift_struct! {
    /// A column chunk's size in memory. Readers can use this to estimate their memory.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct SizeStatistics {
        /// The byte count of all BYTE_ARRAY values without length prefixes.
        1: optional unencoded_byte_array_data_bytes: i64,
        /// The number of occurrences of each repetition level, starting at level 0.
        2: optional repetition_level_histogram: Vec<i64>,
        /// The number of occurrences of each definition level, starting at level 0.
        3: optional definition_level_histogram: Vec<i64>,
    }
}

thrift_struct! {
    /// The bounds of coordinates. If `xmin > xmax`, the box crosses the antimeridian.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct BoundingBox {
        /// The lower bound of x, or the western bound.
        1: required xmin: f64,
        /// The upper bound of x, or the eastern bound.
        2: required xmax: f64,
        /// The lower bound of y.
        3: required ymin: f64,
        /// The upper bound of y.
        4: required ymax: f64,
        /// The lower bound of z.
        5: optional zmin: f64,
        /// The upper bound of z.
        6: optional zmax: f64,
        /// The lower bound of m.
        7: optional mmin: f64,
        /// The upper bound of m.
        8: optional mmax: f64,
    }
}

thrift_struct! {
    /// The bounds and types of a column chunk's geometries.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct GeospatialStatistics {
        /// The bounds of all coordinates.
        1: optional bbox: BoundingBox,
        /// The ISO codes of any geometry types that occur, unknown if absent or empty.
        2: optional geospatial_types: Vec<i32>,
    }
}

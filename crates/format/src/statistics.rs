//! What a column chunk or page holds, in short.

use crate::thrift::thrift_struct;

thrift_struct! {
    /// Bounds and counts of a column chunk or a page.
    ///
    /// Bounds are PLAIN values, but byte arrays come without their length. They are only bounds in
    /// the column's [`ColumnOrder`](crate::ColumnOrder). Counts are as the file has them; broken
    /// writers left negative ones.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct Statistics {
        /// Upper bound in signed order; deprecated.
        1: optional max: Vec<u8>,
        /// Lower bound in signed order; deprecated.
        2: optional min: Vec<u8>,
        /// Number of nulls.
        3: optional null_count: i64,
        /// Number of different values.
        4: optional distinct_count: i64,
        /// Upper bound.
        5: optional max_value: Vec<u8>,
        /// Lower bound.
        6: optional min_value: Vec<u8>,
        /// Whether `max_value` occurs; not known when absent.
        7: optional is_max_value_exact: bool,
        /// Whether `min_value` occurs; not known when absent.
        8: optional is_min_value_exact: bool,
        /// Number of NaNs.
        9: optional nan_count: i64,
    }
}

thrift_struct! {
    /// How large a column chunk is in memory.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct SizeStatistics {
        /// Bytes of all BYTE_ARRAY values, without their lengths.
        1: optional unencoded_byte_array_data_bytes: i64,
        /// How often each repetition level occurs, from 0 up.
        2: optional repetition_level_histogram: Vec<i64>,
        /// How often each definition level occurs, from 0 up.
        3: optional definition_level_histogram: Vec<i64>,
    }
}

thrift_struct! {
    /// Bounds of coordinates. `xmin > xmax` is a box across the antimeridian.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct BoundingBox {
        /// Lower bound of x, or the western one.
        1: required xmin: f64,
        /// Upper bound of x, or the eastern one.
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
    /// Bounds and kinds of the geometries in a column chunk.
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct GeospatialStatistics {
        /// Bounds of all coordinates.
        1: optional bbox: BoundingBox,
        /// ISO codes of the geometry types that occur; not known when absent or empty.
        2: optional geospatial_types: Vec<i32>,
    }
}

//! Statistics of a column chunk that somebody else makes.
//!
//! ```text
//! WriteOptions::column_statistics ── column ──► ColumnStatistics, one a column chunk
//! values, a block at a time; the entries of its dictionary, once ──► update
//! end of the chunk ──► ChunkStatistics: geospatial statistics, whether bounds stay
//! ```

use std::fmt::Debug;

use herringbone_format::{GeospatialStatistics, Result, SchemaElement};
use herringbone_schema::WriteLeaf;

use herringbone_core::encoding::values::Values;

/// Makes the statistics of columns.
pub trait ColumnStatisticsFactory: Debug + Send + Sync {
    /// What makes the statistics of one chunk of a column; `None` where it has nothing to say of the
    /// column. Called once a column chunk, on any thread.
    ///
    /// # Errors
    /// Any, where the column cannot be written like this.
    fn column(&self, column: &StatisticsColumn<'_>) -> Result<Option<Box<dyn ColumnStatistics>>>;
}

/// A column that statistics may be made of.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StatisticsColumn<'a> {
    /// Its path, and how its values are stored.
    pub leaf: &'a WriteLeaf,
    /// What the footer says of it, its annotation among it.
    pub element: &'a SchemaElement,
}

/// Makes the statistics of one column chunk.
pub trait ColumnStatistics: Send {
    /// Takes values of the chunk. Each value that occurs, null aside, is taken at least once; one that
    /// occurs in several slots may be taken once or as often, as what is in a dictionary is looked at
    /// once. So statistics say what occurs, not how often.
    fn update(&mut self, values: ColumnValues<'_>);

    /// Bytes held.
    fn heap_bytes(&self) -> usize {
        0
    }

    /// The statistics of the chunk.
    fn finish(self: Box<Self>) -> ChunkStatistics;
}

/// Statistics of a column chunk, besides those that are always made.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ChunkStatistics {
    /// Where geometries are, and their types.
    pub geospatial: Option<GeospatialStatistics>,
    /// Whether bounds of the chunk and of its pages are held back; counts of nulls stay, the column
    /// index goes, as it has no form without bounds.
    pub without_bounds: bool,
}

impl ChunkStatistics {
    /// Statistics that say nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says where geometries are, and their types.
    #[must_use]
    pub fn geospatial(mut self, statistics: GeospatialStatistics) -> Self {
        self.geospatial = Some(statistics);
        self
    }

    /// Holds bounds back, or not.
    #[must_use]
    pub fn without_bounds(mut self, without: bool) -> Self {
        self.without_bounds = without;
        self
    }
}

/// Values of one physical type as they are stored, nulls left out.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ColumnValues<'a> {
    /// BOOLEAN: `len` bits of `bits`, counted from the least significant, from bit `first` on.
    Boolean {
        /// The bits.
        bits: &'a [u8],
        /// The bit of the first value.
        first: usize,
        /// How many values there are.
        len: usize,
    },
    /// INT32.
    Int32(&'a [i32]),
    /// INT64.
    Int64(&'a [i64]),
    /// FLOAT.
    Float(&'a [f32]),
    /// DOUBLE.
    Double(&'a [f64]),
    /// FIXED_LEN_BYTE_ARRAY or INT96: values of `width` bytes, one behind the other.
    Fixed {
        /// The values.
        bytes: &'a [u8],
        /// Bytes of a value.
        width: usize,
    },
    /// BYTE_ARRAY.
    ByteArray(&'a [&'a [u8]]),
}

impl<'a> From<&'a Values<'_>> for ColumnValues<'a> {
    fn from(values: &'a Values<'_>) -> Self {
        match values {
            Values::Boolean { bits, first, len } => Self::Boolean {
                bits,
                first: *first,
                len: *len,
            },
            Values::Int32(values) => Self::Int32(values),
            Values::Int64(values) => Self::Int64(values),
            Values::Float(values) => Self::Float(values),
            Values::Double(values) => Self::Double(values),
            Values::Fixed { bytes, width } => Self::Fixed {
                bytes,
                width: *width,
            },
            Values::ByteArray(values) => Self::ByteArray(values),
        }
    }
}

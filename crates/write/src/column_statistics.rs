//! Column chunk statistics supplied by the caller.
//!
//! ```text
//! WriteOptions::column_statistics ── column ──► ColumnStatistics, one per column chunk
//! values, block by block; the entries of its dictionary, once ──► update
//! end of the chunk ──► ChunkStatistics: geospatial statistics, a distinct count, pairs of your own, whether bounds are dropped
//! ```

use std::fmt::Debug;

use herringbone_format::{GeospatialStatistics, KeyValue, Result, SchemaElement};
use herringbone_schema::WriteLeaf;

use herringbone_core::encoding::physical_values::Values;

/// A factory of column statistics. Implement this if you need statistics that the writer does not collect itself, such
/// as sketches or geospatial bounds.
pub trait ColumnStatisticsFactory: Debug + Send + Sync {
    /// Creates the statistics of one column chunk, or returns `None` if the column is not supported. The writer calls
    /// this once per column chunk, on any thread.
    ///
    /// # Errors
    /// Can return any error if the column cannot be written in this form.
    fn column(&self, column: &StatisticsColumn<'_>) -> Result<Option<Box<dyn ColumnStatistics>>>;
}

/// A column to collect statistics for.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StatisticsColumn<'a> {
    /// The column's path and the form of its values.
    pub leaf: &'a WriteLeaf,
    /// The column's schema element in the footer, including its annotation.
    pub element: &'a SchemaElement,
}

/// A collector of one column chunk's statistics.
///
/// This example counts distinct values and adds a statistic unknown to the format:
///
/// ```
/// use std::collections::HashSet;
/// use std::sync::Arc;
///
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::extension::*;
/// use herringbone::format::Type;
/// use herringbone::{Result, WriteOptions, Writer};
///
/// #[derive(Debug)]
/// struct OfIntegers;
///
/// impl ColumnStatisticsFactory for OfIntegers {
///     fn column(&self, column: &StatisticsColumn<'_>) -> Result<Option<Box<dyn ColumnStatistics>>> {
///         let is_integer = column.element.type_ == Some(Type::Int64);
///         Ok(is_integer.then(|| Box::new(Distinct::default()) as Box<dyn ColumnStatistics>))
///     }
/// }
///
/// #[derive(Default)]
/// struct Distinct(HashSet<i64>);
///
/// impl ColumnStatistics for Distinct {
///     fn update(&mut self, values: ColumnValues<'_>) {
///         if let ColumnValues::Int64(values) = values {
///             self.0.extend(values);
///         }
///     }
///
///     fn finish(self: Box<Self>) -> ChunkStatistics {
///         let even = self.0.iter().filter(|value| *value % 2 == 0).count();
///         ChunkStatistics::new()
///             .distinct_count(self.0.len() as u64)
///             .key_value(("my.even".to_owned(), even.to_string()))
///     }
/// }
///
/// let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 2, 7]));
/// let batch = RecordBatch::try_from_iter([("number", numbers)])?;
/// let options = WriteOptions::new().column_statistics(OfIntegers);
/// let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
/// writer.write(&batch)?;
/// let chunk = writer.finish()?.column_chunk(0, 0)?.meta_data.ok_or("no metadata")?;
/// assert_eq!(chunk.statistics.ok_or("no statistics")?.distinct_count, Some(3));
/// let pairs = chunk.key_value_metadata.ok_or("no pairs")?;
/// assert_eq!((pairs[0].key.as_str(), pairs[0].text()), ("my.even", Some("1")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ColumnStatistics: Send {
    /// Processes some of the chunk's values. Each distinct value is passed at least once, except for nulls. A repeated
    /// value might be passed once or several times, since dictionary values are only passed once. Statistics can
    /// therefore record which values occur, but not how often.
    fn update(&mut self, values: ColumnValues<'_>);

    /// Returns the number of reserved bytes.
    fn heap_bytes(&self) -> usize {
        0
    }

    /// Returns the statistics for the whole chunk.
    fn finish(self: Box<Self>) -> ChunkStatistics;
}

/// A column chunk's additional statistics, on top of what the writer always collects.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct ChunkStatistics {
    /// The bounds and types of geometries.
    pub geospatial: Option<GeospatialStatistics>,
    /// The number of distinct non-null values. It replaces the writer's own count, which only exists if all of the
    /// chunk's pages use its dictionary.
    pub distinct_count: Option<u64>,
    /// Statistics without a field in the format, such as sketches. They become the column chunk's key-value metadata
    /// (`ColumnMetaData.key_value_metadata`). Readers ignore it unless they know the key.
    pub key_values: Vec<KeyValue>,
    /// True if the bounds of the chunk and its pages are omitted, keeping null counts. This also omits the column
    /// index, because it cannot be written without bounds.
    pub without_bounds: bool,
}

impl ChunkStatistics {
    /// Creates empty statistics.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the bounds and types of geometries.
    #[must_use]
    pub fn geospatial(mut self, statistics: GeospatialStatistics) -> Self {
        self.geospatial = Some(statistics);
        self
    }

    /// Sets the number of distinct non-null values.
    #[must_use]
    pub fn distinct_count(mut self, count: u64) -> Self {
        self.distinct_count = Some(count);
        self
    }

    /// Adds a pair to the column chunk's key-value metadata.
    #[must_use]
    pub fn key_value(mut self, pair: impl Into<KeyValue>) -> Self {
        self.key_values.push(pair.into());
        self
    }

    /// Omits bounds if `without` is true.
    #[must_use]
    pub fn without_bounds(mut self, without: bool) -> Self {
        self.without_bounds = without;
        self
    }
}

/// Values of one physical type in their stored form, without nulls.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ColumnValues<'a> {
    /// BOOLEAN: the `len` bits in `bits` from bit `first` on, counted from the least significant bit.
    Boolean {
        /// The bits.
        bits: &'a [u8],
        /// The index of the first value's bit.
        first: usize,
        /// The number of values.
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
    /// FIXED_LEN_BYTE_ARRAY or INT96: adjacent values of `width` bytes each.
    Fixed {
        /// The values.
        bytes: &'a [u8],
        /// The number of bytes per value.
        width: usize,
    },
    /// BYTE_ARRAY.
    ByteArray(&'a [&'a [u8]]),
}

#[doc(hidden)] // For the crates of this workspace.
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

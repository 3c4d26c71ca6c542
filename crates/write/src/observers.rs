//! Observers of a column chunk's values: its bloom filter and the caller's statistics.

use herringbone_format::Result;

use super::column_statistics::ColumnStatistics;
use super::options::BloomFilterOptions;
use super::settings::ColumnSettings;
use herringbone_core::bloom_filter::{BloomFilterBuilder, hash};
use herringbone_core::encoding::physical_values::Values;

/// A column chunk's observers. They receive each value at least once.
pub(super) struct Observers {
    pub(super) bloom_filter: Option<BloomFilterBuilder>,
    pub(super) statistics: Option<Box<dyn ColumnStatistics>>,
}

impl Observers {
    pub(super) fn insert(&mut self, values: &Values<'_>) {
        if let Some(bloom_filter) = &mut self.bloom_filter {
            insert(values, bloom_filter);
        }
        if let Some(statistics) = &mut self.statistics {
            statistics.update(values.into());
        }
    }

    /// Returns true if there are no observers.
    pub(super) fn is_empty(&self) -> bool {
        self.bloom_filter.is_none() && self.statistics.is_none()
    }

    /// Returns the number of reserved bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        let bloom_filter = self.bloom_filter.as_ref();
        let statistics = self.statistics.as_ref();
        bloom_filter.map_or(0, BloomFilterBuilder::heap_bytes)
            + statistics.map_or(0, |statistics| statistics.heap_bytes())
    }
}

/// Creates a column's bloom filter, if one is requested.
pub(super) fn bloom_filter(settings: &ColumnSettings) -> Result<Option<BloomFilterBuilder>> {
    let builder = |options: BloomFilterOptions| {
        BloomFilterBuilder::new(
            options.distinct_values,
            options.false_positives,
            options.max_bytes,
        )
    };
    settings.bloom_filter.map(builder).transpose()
}

/// Inserts values into a bloom filter, in their PLAIN form but without lengths.
fn insert(values: &Values<'_>, bloom_filter: &mut BloomFilterBuilder) {
    fn all(values: impl Iterator<Item: AsRef<[u8]>>, bloom_filter: &mut BloomFilterBuilder) {
        values.for_each(|value| bloom_filter.insert_hash(hash(value.as_ref())));
    }
    match values {
        Values::Boolean { .. } => {}
        Values::Int32(values) => all(values.iter().map(|v| v.to_le_bytes()), bloom_filter),
        Values::Int64(values) => all(values.iter().map(|v| v.to_le_bytes()), bloom_filter),
        Values::Float(values) => all(values.iter().map(|v| v.to_le_bytes()), bloom_filter),
        Values::Double(values) => all(values.iter().map(|v| v.to_le_bytes()), bloom_filter),
        Values::Fixed { bytes, width } => {
            all(bytes.chunks_exact((*width).max(1)), bloom_filter);
        }
        Values::ByteArray(values) => all(values.iter(), bloom_filter),
    }
}

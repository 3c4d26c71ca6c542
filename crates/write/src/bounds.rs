//! Value bounds, computed from the values themselves or from dictionary indices.

use super::options::StatisticsLevel;
use super::settings::ColumnSettings;
use herringbone_core::encoding::dictionary::Dictionary;
use herringbone_core::encoding::physical_values::Values;
use herringbone_core::statistics::{BoundsBuilder, EncodedBounds};

/// The bounds of some column values. Used for page and chunk statistics.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bounds {
    /// The builder, or `None` if bounds weren't requested.
    builder: Option<BoundsBuilder>,
}

impl Bounds {
    /// Creates the bounds of zero values.
    pub(crate) fn new(settings: &ColumnSettings) -> Self {
        let wanted = settings.statistics >= StatisticsLevel::Chunk;
        Self {
            builder: wanted.then(|| builder(settings)),
        }
    }

    /// Computes the bounds of the values behind `indices`, visiting each distinct value only once.
    pub(crate) fn of_indices(
        settings: &ColumnSettings,
        dictionary: &Dictionary,
        indices: &[u32],
    ) -> Self {
        let mut bounds = Self::new(settings);
        let Some(builder) = &mut bounds.builder else {
            return bounds;
        };
        let mut used = vec![false; dictionary.num_values()];
        for dictionary_index in indices {
            if let Some(used) = used.get_mut(*dictionary_index as usize) {
                *used = true;
            }
        }
        let named = (0_u32..).zip(&used).filter(|(_, used)| **used);
        dictionary.with_values(
            named.map(|(dictionary_index, _)| dictionary_index),
            |values| update(builder, values),
        );
        if builder.nan_count().is_some_and(|count| count > 0) {
            // NaNs are counted per slot, but so far we've counted each distinct value once. So we count again.
            dictionary.with_values(indices.iter().copied(), |values| {
                let mut all = self::builder(settings);
                update(&mut all, values);
                *builder = all;
            });
        }
        bounds
    }

    /// Widens the bounds to include these values.
    pub(crate) fn update(&mut self, values: &Values<'_>) {
        if let Some(builder) = &mut self.builder {
            update(builder, values);
        }
    }

    /// Returns the number of reserved bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.builder.as_ref().map_or(0, BoundsBuilder::heap_bytes)
    }

    /// Widens the bounds to include another part of the same column.
    pub(crate) fn merge(&mut self, other: &Self) {
        if let (Some(builder), Some(other)) = (&mut self.builder, &other.builder) {
            builder.merge(other);
        }
    }

    /// Returns the bounds in their stored form.
    pub(crate) fn encode(&self, settings: &ColumnSettings) -> EncodedBounds {
        self.builder
            .as_ref()
            .map_or_else(EncodedBounds::default, |builder| {
                builder.finish(settings.total_order)
            })
    }
}

/// Creates the builder for a column's bounds.
fn builder(settings: &ColumnSettings) -> BoundsBuilder {
    let leaf = &settings.leaf;
    BoundsBuilder::new(leaf.order, leaf.physical_type).shortened(settings.truncate_bounds)
}

fn update(builder: &mut BoundsBuilder, values: &Values<'_>) {
    match values {
        Values::Boolean { bits, first, len } => builder.bits(bits, *first, *len),
        Values::Int32(values) => builder.i32(values),
        Values::Int64(values) => builder.i64(values),
        Values::Float(values) => builder.f32(values),
        Values::Double(values) => builder.f64(values),
        Values::Fixed { bytes, width } => builder.fixed(bytes, *width),
        Values::ByteArray(values) => builder.byte_arrays(values.iter().copied()),
    }
}

//! Checks values against their column's annotation. This finds out-of-range integers, times outside
//! a day, and values in columns that must be all null.

use std::ops::RangeInclusive;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{Int32Type, Int64Type};
use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::schema::DataType;
use herringbone_schema::ParquetSchema;

use super::finding::FindingKind;

/// A restriction on a column's values, beyond its physical type.
#[derive(Debug, Clone)]
pub(super) enum Allowed {
    /// Integers within a range.
    Integers(RangeInclusive<i64>),
    /// Times within a day, from midnight to the last unit.
    Times(RangeInclusive<i64>),
    /// Nulls only.
    Nothing,
}

impl Allowed {
    /// Returns a leaf's restriction, or `None` if all values are allowed.
    pub(super) fn of(schema: &ParquetSchema, leaf: usize) -> Option<Self> {
        if schema.is_always_null(leaf) {
            return Some(Self::Nothing);
        }
        let range = schema.integer_range(leaf)?;
        Some(match schema.is_time(leaf) {
            true => Self::Times(range),
            false => Self::Integers(range),
        })
    }

    /// Calls `see` with the index of each disallowed value.
    pub(super) fn beyond(&self, values: &ArrayRef, mut see: impl FnMut(usize)) {
        let range = match self {
            Self::Nothing => return (0..values.len()).for_each(see),
            Self::Integers(range) | Self::Times(range) => range,
        };
        match values.data_type() {
            DataType::Int32 => {
                let values = values.as_primitive::<Int32Type>().values();
                for (position, value) in values.iter().enumerate() {
                    if !range.contains(&i64::from(*value)) {
                        see(position);
                    }
                }
            }
            DataType::Int64 => {
                let values = values.as_primitive::<Int64Type>().values();
                for (position, value) in values.iter().enumerate() {
                    if !range.contains(value) {
                        see(position);
                    }
                }
            }
            _ => {}
        }
    }

    /// Describes `count` disallowed values. `first` is the ordinal of the first.
    pub(super) fn fault(&self, count: u64, first: u64) -> (FindingKind, String) {
        let (kind, what) = match self {
            Self::Nothing => (
                FindingKind::Value,
                "are in a column that can hold only nulls".to_owned(),
            ),
            Self::Integers(range) => (FindingKind::Value, outside(range)),
            Self::Times(range) => (FindingKind::Time, outside(range)),
        };
        let message = format!("{count} values {what}, the first of them is value {first}");
        (kind, message)
    }
}

fn outside(range: &RangeInclusive<i64>) -> String {
    let (least, most) = (range.start(), range.end());
    format!("are outside of {least} to {most}, the range of their annotation")
}

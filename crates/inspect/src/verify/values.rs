//! Checks values against their column's annotation. It finds integers outside the annotation's
//! range, times outside a day, and values in columns that must be all null.

use std::ops::RangeInclusive;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{Int32Type, Int64Type};
use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::schema::DataType;
use herringbone_schema::ParquetSchema;

use super::finding::FindingKind;

/// The values that a column allows, if not all values of its physical type are allowed.
#[derive(Debug, Clone)]
pub(super) enum Allowed {
    /// Integers from the least to the greatest.
    Integers(RangeInclusive<i64>),
    /// Times from midnight to the last unit of the day.
    Times(RangeInclusive<i64>),
    /// Nulls only.
    Nothing,
}

impl Allowed {
    /// Returns the values that a leaf allows. `None` if it allows all.
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

    /// Calls `see` with the position of each value that is not allowed.
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

    /// Describes the fault of `count` values. `first` is the ordinal of the first one.
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

//! Compares an array's slots for equality. Nulls are equal to each other, and floating-point numbers are equal if their
//! bits are.

use std::collections::HashMap;

use herringbone_arrow::array::{Array, ArrayAccessor, ArrayRef, cast::AsArray};
use herringbone_arrow::buffer::{Buffer, NullBuffer};
use herringbone_arrow::row::{RowConverter, Rows, SortField};
use herringbone_arrow::schema::DataType;
use herringbone_format::Result;

use super::invalid;

/// The distinct values of an array.
pub(super) struct Distinct {
    /// The slot where each distinct value occurs first, in ascending order.
    pub(super) firsts: Vec<usize>,
    /// Each slot's distinct value, by index, or 0 for nulls.
    pub(super) keys: Vec<usize>,
    /// The validity of the slots, or `None` if there are no nulls.
    pub(super) nulls: Option<NullBuffer>,
}

/// Determines the distinct values of an array.
pub(super) fn distinct(slots: &ArrayRef) -> Result<Distinct> {
    let rows = comparable(slots)?;
    let nulls = slots.logical_nulls();
    let mut known = HashMap::new();
    let mut firsts = Vec::new();
    let mut keys = Vec::with_capacity(slots.len());
    for slot in 0..slots.len() {
        let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(slot));
        keys.push(match is_null {
            true => 0,
            false => *known.entry(rows.row(slot)).or_insert_with(|| {
                firsts.push(slot);
                firsts.len() - 1
            }),
        });
    }
    Ok(Distinct {
        firsts,
        keys,
        nulls,
    })
}

/// Converts each slot, including nested slots, to bytes that are equal if the values are.
fn comparable(slots: &ArrayRef) -> Result<Rows> {
    let field = SortField::new(slots.data_type().clone());
    let converter = RowConverter::new(vec![field]).map_err(invalid)?;
    let rows = converter.convert_columns(std::slice::from_ref(slots));
    rows.map_err(invalid)
}

/// Returns the slots where runs start, because they differ from the previous slot.
pub(super) fn run_starts(slots: &ArrayRef) -> Result<Vec<usize>> {
    use DataType::*;
    Ok(match slots.data_type() {
        Null => starts_where(slots, |_| false),
        Boolean => starts_by_value(slots.as_boolean()),
        Utf8 => starts_by_value(slots.as_string::<i32>()),
        LargeUtf8 => starts_by_value(slots.as_string::<i64>()),
        Utf8View => starts_by_value(slots.as_string_view()),
        Binary => starts_by_value(slots.as_binary::<i32>()),
        LargeBinary => starts_by_value(slots.as_binary::<i64>()),
        BinaryView => starts_by_value(slots.as_binary_view()),
        FixedSizeBinary(_) => starts_by_value(slots.as_fixed_size_binary()),
        other => match other.primitive_width() {
            Some(1) => starts_by_bits::<1>(slots),
            Some(2) => starts_by_bits::<2>(slots),
            Some(4) => starts_by_bits::<4>(slots),
            Some(8) => starts_by_bits::<8>(slots),
            Some(16) => starts_by_bits::<16>(slots),
            Some(32) => starts_by_bits::<32>(slots),
            _ => {
                let rows = comparable(slots)?;
                let later = (1..slots.len()).filter(|&slot| rows.row(slot - 1) != rows.row(slot));
                (!slots.is_empty())
                    .then_some(0)
                    .into_iter()
                    .chain(later)
                    .collect()
            }
        },
    })
}

fn starts_by_value<A: ArrayAccessor<Item: PartialEq>>(slots: A) -> Vec<usize> {
    starts_where(&slots, |slot| slots.value(slot - 1) != slots.value(slot))
}

/// Returns the run starts in an array with values of `WIDTH` bytes.
fn starts_by_bits<const WIDTH: usize>(slots: &dyn Array) -> Vec<usize> {
    let data = slots.to_data();
    let bytes = data.buffers().first().map_or(&[][..], Buffer::as_slice);
    let (values, _) = bytes.as_chunks::<WIDTH>();
    let values = values.get(data.offset()..).unwrap_or_default();
    starts_where(slots, |slot| values.get(slot - 1) != values.get(slot))
}

/// Returns the run starts in an array. `differs` returns true if a slot's value differs from the previous slot's. It is
/// never called for slot 0, and only if neither value is null.
fn starts_where(slots: &dyn Array, differs: impl Fn(usize) -> bool) -> Vec<usize> {
    let later = 1..slots.len();
    let first = (!slots.is_empty()).then_some(0).into_iter();
    match slots.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => first.chain(later.filter(|&slot| differs(slot))).collect(),
        Some(nulls) => {
            let starts =
                later.filter(
                    |&slot| match (nulls.is_valid(slot - 1), nulls.is_valid(slot)) {
                        (true, true) => differs(slot),
                        (before, here) => before != here,
                    },
                );
            first.chain(starts).collect()
        }
    }
}

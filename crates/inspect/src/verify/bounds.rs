//! Checks bounds against the actual values.
//!
//! A bound holds if no value is beyond it. It doesn't have to be tight, unless it is declared
//! exact.

use std::cmp::Ordering;

use herringbone_core::statistics::{BoundsBuilder, compare};
use herringbone_format::Type;
use herringbone_schema::ColumnOrderKind;

use super::column::Column;
use super::finding::Severity;
use super::observed::{OldBounds, flipped};

/// The maximum number of bytes of a bound to show in a message.
const SHOWN_BYTES: usize = 24;

/// A bound as stored in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound<'a> {
    /// The name of the bound's field.
    pub(super) name: &'static str,
    pub(super) bytes: &'a [u8],
    /// True if the bound is declared exact, that is, to be one of the values. `None` if the file
    /// doesn't declare this.
    pub(super) exact: Option<bool>,
    pub(super) side: Side,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Min,
    Max,
}

/// Returns what is wrong with one of `column`'s bounds, if anything. `observed` has the bounds of
/// all values.
pub(super) fn fault(
    column: &Column,
    bound: Bound<'_>,
    observed: &BoundsBuilder,
) -> Option<(Severity, String)> {
    let (order, physical) = (column.order, column.leaf.physical_type);
    if order == ColumnOrderKind::Undefined {
        return None;
    }
    let Bound { name, bytes, .. } = bound;
    if let Some(message) = wrong_length(column, bytes) {
        return Some((Severity::Error, format!("{name} {message}")));
    }
    let actual = actual(observed, bound.side, column.total_order)?;
    let claimed = match column.total_order {
        true => bytes.to_vec(),
        false => including_zeros(order, bytes, bound.side),
    };
    let shown = |bytes: &[u8]| shown(order, physical, bytes);
    let Some(ordering) = compare(order, physical, &claimed, &actual) else {
        return nan_fault(column, bound, &claimed, &actual);
    };
    let (beyond, word) = match bound.side {
        Side::Min => (Ordering::Greater, "least"),
        Side::Max => (Ordering::Less, "greatest"),
    };
    if ordering == beyond {
        let (claimed, actual) = (shown(bytes), shown(&actual));
        let message = format!("{name} is {claimed}, but the {word} value is {actual}");
        return Some((Severity::Error, message));
    }
    if bound.exact == Some(true) && ordering != Ordering::Equal {
        let (claimed, actual) = (shown(bytes), shown(&actual));
        let message = format!("{name} is {claimed} and exact, but the {word} value is {actual}");
        return Some((Severity::Error, message));
    }
    None
}

/// Handles bounds if the claimed or the actual bound is NaN.
fn nan_fault(
    column: &Column,
    bound: Bound<'_>,
    claimed: &[u8],
    actual: &[u8],
) -> Option<(Severity, String)> {
    let is_nan =
        |bytes: &[u8]| compare(column.order, column.leaf.physical_type, bytes, bytes).is_none();
    let name = bound.name;
    match (column.total_order, is_nan(claimed), is_nan(actual)) {
        (true, true, true) => None,
        (true, true, false) => Some((
            Severity::Error,
            format!("{name} is NaN, but not all values are"),
        )),
        (true, false, true) => Some((
            Severity::Error,
            format!("{name} is not NaN, but all values are"),
        )),
        // Current readers ignore such bounds, so this isn't an error.
        (false, true, _) => Some((Severity::Warning, format!("{name} is NaN"))),
        _ => None,
    }
}

/// Returns the actual bound of the values.
fn actual(observed: &BoundsBuilder, side: Side, total_order: bool) -> Option<Vec<u8>> {
    let bounds = observed.finish(total_order);
    match side {
        Side::Min => bounds.min,
        Side::Max => bounds.max,
    }
}

/// Widens a zero bound to cover both -0 and +0, since these orders don't distinguish between them.
fn including_zeros(order: ColumnOrderKind, bytes: &[u8], side: Side) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if !order.is_float() {
        return bytes;
    }
    if let Some((sign, rest)) = bytes.split_last_mut()
        && *sign & 0x7f == 0
        && rest.iter().all(|byte| *byte == 0)
    {
        *sign = match side {
            Side::Min => 0x80,
            Side::Max => 0,
        };
    }
    bytes
}

/// Returns a message if the byte count is wrong for the type.
pub(super) fn wrong_length(column: &Column, bytes: &[u8]) -> Option<String> {
    let (least, most) = match column.leaf.physical_type {
        Type::Boolean => (1, 1),
        Type::Int32 | Type::Float => (4, 4),
        Type::Int64 | Type::Double => (8, 8),
        Type::Int96 => (12, 12),
        // Truncated bounds are fine if bytes are compared lexicographically.
        Type::FixedLenByteArray if column.order == ColumnOrderKind::UnsignedBytes => {
            (0, column.leaf.type_length)
        }
        Type::FixedLenByteArray => (column.leaf.type_length, column.leaf.type_length),
        Type::ByteArray => return None,
    };
    let length = bytes.len();
    (!(least..=most).contains(&length)).then(|| {
        let physical = column.leaf.physical_type;
        format!("has {length} bytes, but a {physical} has {most}")
    })
}

/// Returns true if `min` and `max` hold in one of the orders known to be used by old writers.
pub(super) fn old_bounds_hold(
    column: &Column,
    min: Option<&[u8]>,
    max: Option<&[u8]>,
    observed: &OldBounds,
) -> bool {
    let physical = column.leaf.physical_type;
    let holds = |order, observed: &BoundsBuilder, min: Option<&[u8]>, max: Option<&[u8]>| {
        let within = |claimed: Option<&[u8]>, side, beyond| {
            let (Some(claimed), Some(actual)) = (claimed, actual(observed, side, false)) else {
                return true;
            };
            let claimed = including_zeros(order, claimed, side);
            compare(order, physical, &claimed, &actual) != Some(beyond)
        };
        within(min, Side::Min, Ordering::Greater) && within(max, Side::Max, Ordering::Less)
    };
    let mut orders = observed.orders.iter();
    if observed.orders.is_empty()
        || orders.any(|(order, observed)| holds(*order, observed, min, max))
    {
        return true;
    }
    observed.signed_bytes.as_ref().is_some_and(|observed| {
        let (min, max) = (min.map(flipped), max.map(flipped));
        let order = ColumnOrderKind::UnsignedBytes;
        holds(order, observed, min.as_deref(), max.as_deref())
    })
}

/// Formats a bound for a message.
pub(super) fn shown(order: ColumnOrderKind, physical: Type, bytes: &[u8]) -> String {
    let unsigned = order == ColumnOrderKind::Unsigned;
    match (physical, bytes) {
        (Type::Int32, &[a, b, c, d]) => match i32::from_le_bytes([a, b, c, d]) {
            number if unsigned => number.cast_unsigned().to_string(),
            number => number.to_string(),
        },
        (Type::Int64, &[a, b, c, d, e, f, g, h]) => {
            match i64::from_le_bytes([a, b, c, d, e, f, g, h]) {
                number if unsigned => number.cast_unsigned().to_string(),
                number => number.to_string(),
            }
        }
        (Type::Float, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).to_string(),
        (Type::Double, &[a, b, c, d, e, f, g, h]) => {
            f64::from_le_bytes([a, b, c, d, e, f, g, h]).to_string()
        }
        (_, bytes) => {
            let (front, rest) = bytes.split_at(bytes.len().min(SHOWN_BYTES));
            let dots = if rest.is_empty() { "" } else { "…" };
            format!("\"{}{dots}\"", front.escape_ascii())
        }
    }
}

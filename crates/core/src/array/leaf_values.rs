//! Selects the layout for writing a leaf array's values. This is the reverse of `factory`.

use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result, Type};
use herringbone_schema::{WriteConversion, WriteLeaf};

use super::{
    Scratch, Selected, boolean, byte_layouts, decimal, fixed_size_binary, interval, null,
    primitive, timestamp_96,
};
use crate::encoding::physical_values::Values;

/// Returns the selected slots as values of the leaf's physical type.
///
/// # Errors
/// Fails with [Argument](herringbone_format::ErrorKind::Argument), naming the value, if a value does not fit the stored
/// type.
pub fn values<'a>(
    leaf: &WriteLeaf,
    selected: Selected<'a>,
    scratch: &'a mut Scratch,
) -> Result<Values<'a>> {
    use DataType::*;
    match (leaf.physical_type, &leaf.data_type) {
        (_, Null) => Ok(null::values(leaf, width(leaf))),
        (Type::Boolean, Boolean) => Ok(boolean::values(selected, &mut scratch.bytes)),
        (_, Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..)) => {
            decimal::values(leaf, selected, scratch)
        }
        (Type::Int32 | Type::Int64 | Type::Float | Type::Double, _) => {
            primitive::values(leaf, selected, scratch)
        }
        (Type::Int96 | Type::FixedLenByteArray, Timestamp(unit, _)) => {
            timestamp_96::values(leaf, *unit, selected, &mut scratch.bytes)
        }
        (Type::FixedLenByteArray, Interval(unit)) => {
            interval::values(*unit, selected, &mut scratch.bytes)
        }
        (Type::Int96 | Type::FixedLenByteArray, _) | (Type::ByteArray, FixedSizeBinary(_)) => {
            fixed_size_binary::values(leaf, selected, &mut scratch.bytes)
        }
        (Type::ByteArray, _) => byte_layouts::values(leaf, selected),
        (Type::Boolean, _) => Err(no_form(leaf)),
    }
}

/// Returns true if we might have to refuse some values of the leaf's Arrow type.
pub(crate) fn may_be_refused(leaf: &WriteLeaf) -> bool {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256, Interval, Time32, Time64};
    leaf.conversion != WriteConversion::Identity
        || matches!(
            leaf.data_type,
            Interval(_)
                | Time32(_)
                | Time64(_)
                | Decimal32(..)
                | Decimal64(..)
                | Decimal128(..)
                | Decimal256(..)
        )
}

/// Returns the byte count per value for a fixed-width byte type, that is, INT96 or FIXED_LEN_BYTE_ARRAY.
pub(super) fn width(leaf: &WriteLeaf) -> usize {
    match leaf.physical_type {
        Type::Int96 => timestamp_96::BYTES,
        _ => leaf.type_length,
    }
}

#[cold]
pub(super) fn no_form(leaf: &WriteLeaf) -> Error {
    Error::unsupported(format!(
        "{} as {:?}: the mapping of schemas and that of values disagree",
        leaf.data_type, leaf.physical_type
    ))
}

//! Converts array bytes to page bytes.

use std::ops::Range;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::Float16Type;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result, Type};
use herringbone_schema::WriteLeaf;

use crate::array::Selected;
use crate::array::leaf_values::{no_form, width};
use crate::encoding::physical_values::Values;

/// Returns the selected slots as FIXED_LEN_BYTE_ARRAY, INT96 or BYTE_ARRAY.
///
/// # Errors
/// Fails with Unsupported if the Arrow type cannot be mapped to the physical type. The values themselves always fit.
pub(in crate::array) fn values<'a>(
    leaf: &WriteLeaf,
    selected: Selected<'a>,
    out: &'a mut Vec<u8>,
) -> Result<Values<'a>> {
    match (leaf.physical_type, &leaf.data_type) {
        (Type::FixedLenByteArray, DataType::Float16) => {
            let never = |_| Error::argument("the value does not fit");
            selected.bytes_of::<Float16Type, 2>(out, |v| Some(v.to_le_bytes()), never)?;
            Ok(Values::Fixed {
                bytes: out,
                width: 2,
            })
        }
        (Type::ByteArray, DataType::FixedSizeBinary(_)) => {
            let array = selected.array.as_fixed_size_binary();
            let mut values = Vec::with_capacity(selected.num_slots());
            selected.for_each(|index| values.push(array.value(index)));
            Ok(Values::ByteArray(values))
        }
        (Type::Int96 | Type::FixedLenByteArray, DataType::FixedSizeBinary(_)) => {
            Ok(fixed(selected, width(leaf), out))
        }
        _ => Err(no_form(leaf)),
    }
}

fn fixed<'a>(selected: Selected<'a>, width: usize, out: &'a mut Vec<u8>) -> Values<'a> {
    let array = selected.array.as_fixed_size_binary();
    let all: &'a [u8] = array.value_data();
    let bytes = |range: &Range<usize>| {
        all.get(range.start * width..range.end * width)
            .unwrap_or_default()
    };
    if let (None, [range]) = (selected.nulls, selected.ranges) {
        let bytes = bytes(range);
        return Values::Fixed { bytes, width };
    }
    out.clear();
    selected.for_each(|index| out.extend_from_slice(bytes(&(index..index + 1))));
    Values::Fixed { bytes: out, width }
}

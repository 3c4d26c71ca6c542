//! Converts array bits to page bits.

use herringbone_arrow::array::cast::AsArray;

use crate::array::Selected;
use crate::encoding::physical_values::Values;

/// Returns the bits of the selected slots.
pub(in crate::array) fn values<'a>(selected: Selected<'a>, scratch: &'a mut Vec<u8>) -> Values<'a> {
    let values: &'a _ = selected.array.as_boolean().values();
    if let (None, [range]) = (selected.nulls, selected.ranges) {
        return Values::Boolean {
            bits: values.values(),
            first: values.offset() + range.start,
            len: range.len(),
        };
    }
    scratch.clear();
    let (mut byte, mut len) = (0_u8, 0_usize);
    selected.for_each(|index| {
        byte |= u8::from(values.value(index)) << (len % 8);
        len += 1;
        if len.is_multiple_of(8) {
            scratch.push(std::mem::take(&mut byte));
        }
    });
    if !len.is_multiple_of(8) {
        scratch.push(byte);
    }
    Values::Boolean {
        bits: scratch,
        first: 0,
        len,
    }
}

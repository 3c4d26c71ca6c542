//! DELTA_LENGTH_BYTE_ARRAY once its lengths are unpacked, and values of one fixed width: the bytes
//! are one memory copy, and the running sum of the lengths are the offsets.

use herringbone_arrow::array::OffsetSizeTrait;

use super::{ByteBuilder, ENDS_EARLY, NEGATIVE, OVERFLOW};
use crate::Malformed;

/// The sum of `lengths`.
///
/// **Errors**: a negative length.
pub(crate) fn sum_lengths(lengths: &[i32]) -> Result<usize, Malformed> {
    // Fewer than 2^32 lengths below 2^31 keep the sum below 2^63.
    if u32::try_from(lengths.len()).is_err() {
        return Err(OVERFLOW);
    }
    let (mut sum, mut signs) = (0i64, 0i32);
    for &length in lengths {
        sum = sum.wrapping_add(i64::from(length));
        signs |= length;
    }
    if signs < 0 {
        return Err(NEGATIVE);
    }
    usize::try_from(sum).map_err(|_| OVERFLOW)
}

impl<O: OffsetSizeTrait> ByteBuilder<O> {
    /// Appends values of the given `lengths` that lie in `bytes` one behind the other; returns how
    /// many bytes they took.
    ///
    /// **Errors**: a negative length, more bytes than there are or than the offsets can address,
    /// invalid UTF-8 in a builder of strings.
    pub fn append_lengths(&mut self, lengths: &[i32], bytes: &[u8]) -> Result<usize, Malformed> {
        let total = sum_lengths(lengths)?;
        let values = bytes.get(..total).ok_or(ENDS_EARLY)?;
        if total > self.data_room() {
            return Err(OVERFLOW);
        }
        self.reserve_values(lengths.len());
        let mark = self.mark();
        let mut end = self.data.len();
        self.data.extend_from_slice(values);
        self.offsets.extend(lengths.iter().map(|&length| {
            // None is negative and the sum is an offset that exists, so neither step wraps.
            end += length as usize;
            O::usize_as(end)
        }));
        self.seal(&mark, false, Ok(total))
    }

    /// Appends `bytes` as values of `width` bytes each.
    ///
    /// **Errors**: bytes that are no multiple of the width or more than the offsets can address,
    /// invalid UTF-8 in a builder of strings.
    pub fn append_fixed(&mut self, bytes: &[u8], width: usize) -> Result<(), Malformed> {
        if width == 0 || !bytes.len().is_multiple_of(width) {
            return Err(ENDS_EARLY);
        }
        if bytes.len() > self.data_room() {
            return Err(OVERFLOW);
        }
        let n = bytes.len() / width;
        self.reserve_values(n);
        let mark = self.mark();
        let start = self.data.len();
        self.data.extend_from_slice(bytes);
        self.offsets
            .extend((1..=n).map(|i| O::usize_as(start + i * width)));
        self.seal(&mark, false, Ok(()))
    }
}

//! One value at a time, in portable code.

use super::DeltaDecoder;
use crate::Malformed;
use crate::lanes::Packed;

macro_rules! extend {
    ($type:ident, $sum:ident) => {
        /// See [`DeltaDecoder::extend`].
        pub(super) fn $type(
            decoder: &mut DeltaDecoder<$type>,
            data: &[u8],
            n: usize,
            out: &mut Vec<$type>,
        ) -> Result<(), Malformed> {
            decoder.walk(data, n, out, $sum)
        }

        /// See [`DeltaDecoder::walk`].
        #[allow(trivial_numeric_casts, reason = "the macro serves several integers")]
        pub(super) fn $sum(
            run: &Packed<'_>,
            least: $type,
            last: $type,
            out: &mut Vec<$type>,
        ) -> $type {
            let mut value = last;
            run.for_each(|delta| {
                value = value
                    .wrapping_add(least)
                    .wrapping_add(delta.cast_signed() as _);
                out.push(value);
            });
            value
        }
    };
}
extend!(i32, sum_i32);
extend!(i64, sum_i64);

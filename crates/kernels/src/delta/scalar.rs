//! Decodes one value at a time, in portable code.

use std::mem::MaybeUninit;

use super::DeltaDecoder;
use crate::Malformed;
use crate::simd_lanes::Packed;

macro_rules! extend {
    ($type:ident, $sum:ident) => {
        /// Implements [`DeltaDecoder::extend`].
        pub(super) fn $type(
            decoder: &mut DeltaDecoder<$type>,
            data: &[u8],
            n: usize,
            out: &mut Vec<$type>,
        ) -> Result<(), Malformed> {
            let mut last = decoder.last;
            // SAFETY: `$sum` writes all of its slots.
            unsafe {
                decoder.walk(data, n, out, |run, least, slots| {
                    last = $sum(run, least, last, slots);
                })?;
            }
            decoder.last = last;
            Ok(())
        }

        /// Writes the sums of a run as [`DeltaDecoder::walk`] describes, and returns the last value.
        #[allow(trivial_numeric_casts, reason = "the macro serves several integers")]
        pub(super) fn $sum(
            run: &Packed<'_>,
            least: $type,
            last: $type,
            slots: &mut [MaybeUninit<$type>],
        ) -> $type {
            let mut value = last;
            let mut slots = slots.iter_mut();
            run.for_each(|delta| {
                value = value
                    .wrapping_add(least)
                    .wrapping_add(delta.cast_signed() as _);
                if let Some(slot) = slots.next() {
                    slot.write(value);
                }
            });
            debug_assert_eq!(slots.len(), 0, "a slot for each value");
            value
        }
    };
}
extend!(i32, sum_i32);
extend!(i64, sum_i64);

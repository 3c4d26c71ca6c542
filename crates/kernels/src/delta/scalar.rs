//! One value at a time, in portable code.

use crate::lanes::Packed;

macro_rules! sum {
    ($type:ident) => {
        /// See [`Delta::sum`](super::Delta).
        pub(super) fn $type(
            run: &Packed<'_>,
            least: $type,
            last: $type,
            out: &mut Vec<$type>,
        ) -> $type {
            let mut value = last;
            out.extend(run.values().map(|delta| {
                value = value.wrapping_add(least).wrapping_add(delta as $type);
                value
            }));
            value
        }
    };
}
sum!(i32);
sum!(i64);

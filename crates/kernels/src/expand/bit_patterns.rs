//! Types that vector instructions may move.

use std::any::TypeId;

use herringbone_arrow::buffer::{IntervalDayTime, IntervalMonthDayNano, i256};

use crate::bytes::dictionary::Entry;

/// Returns true if all bits of a `T` are data and its default is all zeros. Only then may vector instructions move it.
#[inline(always)]
pub(crate) fn is_plain<T: 'static>() -> bool {
    let this = TypeId::of::<T>();
    macro_rules! any {
        ($($plain:ty),*) => { $(this == TypeId::of::<$plain>())||* };
    }
    any!(
        i8, u8, i16, u16, i32, u32, i64, u64, i128, u128, isize, usize, f32, f64
    ) || any!(
        half::f16,
        i256,
        IntervalDayTime,
        IntervalMonthDayNano,
        Entry
    )
}

//! Converts timestamps of 96 bits to 64-bit counts of seconds, milli-, micro- or nanoseconds.
//!
//! ```text
//! INT96                                | nanoseconds of the day, i64 | Julian day, i32 |
//! FIXED_LEN_BYTE_ARRAY(12) TIMESTAMP   | units since the epoch, 96-bit two's complement |
//! ```
//!
//! Both layouts are little endian, and their range exceeds 64-bit nanoseconds, which end in 1677 and 2262.
//!
//! Each value has 12 bytes and becomes one `i64`. An incomplete value at the end is ignored.

use std::mem::MaybeUninit;

#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};
use crate::plain;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

/// The Julian day of 1970-01-01.
const JULIAN_EPOCH: i64 = 2_440_588;
const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_SECOND: i64 = 1_000_000_000;
const NANOS_PER_DAY: i64 = SECONDS_PER_DAY * NANOS_PER_SECOND;

const fn units_per_day(per_second: i64) -> i64 {
    SECONDS_PER_DAY * per_second
}

/// Returns the last day whose units always fit into 64 bits, for any time of day. Days are counted from the epoch in
/// both directions.
const fn last_day(per_second: i64) -> i64 {
    i64::MAX / units_per_day(per_second) - 1
}

const fn nanos_per_unit(per_second: i64) -> i64 {
    NANOS_PER_SECOND / per_second
}

/// The layout of 96-bit timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// INT96, which is a Julian day and the nanoseconds of that day.
    JulianDay,
    /// A count of units since the epoch, with 10^3, 10^6 or 10^9 units per second.
    Count {
        /// The number of units per second.
        per_second: i64,
    },
}

/// Appends timestamps as counts of units since the epoch, rounded down. There are `per_second` units per second (1,
/// 10^3, 10^6 or 10^9). Values that do not fit into 64 bits wrap around.
///
/// Returns true if any value wrapped around, and then [`overflows`] identifies these values.
pub fn extend(bytes: &[u8], layout: Layout, per_second: i64, out: &mut Vec<i64>) -> bool {
    let values = bytes.as_chunks::<12>().0;
    let before = out.len();
    let usual = match (layout, per_second) {
        // Since all constants are known at compile time, no division is needed.
        (Layout::JulianDay, 1) => extend_usual::<1>(values, out),
        (Layout::JulianDay, 1_000) => extend_usual::<1_000>(values, out),
        (Layout::JulianDay, 1_000_000) => extend_usual::<1_000_000>(values, out),
        (Layout::JulianDay, NANOS_PER_SECOND) => extend_usual::<NANOS_PER_SECOND>(values, out),
        _ => false,
    };
    if usual {
        return false;
    }
    out.truncate(before);
    let mut any = false;
    out.extend(values.iter().map(|value| {
        let (units, overflow) = convert(value, layout, per_second);
        any |= overflow;
        units
    }));
    any
}

/// Appends INT96 values, and returns true if all of them are usual. A usual value is a time of day, on a day in the
/// range of the units. Other values are converted incorrectly, so the caller must convert again.
fn extend_usual<const PER_SECOND: i64>(values: &[[u8; 12]], out: &mut Vec<i64>) -> bool {
    out.reserve(values.len());
    let slots = &mut out.spare_capacity_mut()[..values.len()];
    let (done, mut usual) = convert_blocks::<PER_SECOND>(values, slots);
    usual &= convert_usual::<PER_SECOND>(&values[done..], &mut slots[done..]);
    // SAFETY: the slots of the blocks up to `done` are written, and so are the slots after them.
    unsafe { out.set_len(out.len() + values.len()) };
    usual
}

/// Writes the slots for all whole vector blocks. Returns how many values these blocks have, and true if all of them are
/// usual.
#[cfg(target_arch = "x86_64")]
fn convert_blocks<const PER_SECOND: i64>(
    values: &[[u8; 12]],
    slots: &mut [MaybeUninit<i64>],
) -> (usize, bool) {
    assert!(values.len() <= slots.len());
    let to = slots.as_mut_ptr().cast();
    if Avx512::detect().is_some() {
        let done = values.len() - values.len() % avx512::BLOCK;
        // SAFETY: the token proves that the instructions are available; the values are whole blocks, with one slot
        // per value.
        return (done, unsafe {
            avx512::convert::<PER_SECOND>(&values[..done], to)
        });
    }
    if Avx2::detect().is_some() {
        let done = values.len() - values.len() % avx2::BLOCK;
        // SAFETY: the token proves that the instructions are available; the values are whole blocks, with one slot
        // per value.
        return (done, unsafe {
            avx2::convert::<PER_SECOND>(&values[..done], to)
        });
    }
    (0, true)
}

/// Converts nothing, because there are no vector kernels for this architecture.
#[cfg(not(target_arch = "x86_64"))]
fn convert_blocks<const PER_SECOND: i64>(
    _: &[[u8; 12]],
    _: &mut [MaybeUninit<i64>],
) -> (usize, bool) {
    (0, true)
}

/// Implements [`extend_usual`] for as many slots as values, and writes all slots.
fn convert_usual<const PER_SECOND: i64>(
    values: &[[u8; 12]],
    slots: &mut [MaybeUninit<i64>],
) -> bool {
    let units_per_day = const { units_per_day(PER_SECOND) };
    let last_day = const { last_day(PER_SECOND).cast_unsigned() };
    let nanos_per_unit = const { nanos_per_unit(PER_SECOND).cast_unsigned() };
    let mut usual = true;
    // We use a `for` loop, so that `usual` stays in a register.
    for (slot, value) in slots.iter_mut().zip(values) {
        let (days, nanos) = parse(value);
        let nanos = nanos.cast_unsigned();
        usual &= (days.unsigned_abs() <= last_day) & (nanos < NANOS_PER_DAY.cast_unsigned());
        let part = (nanos / nanos_per_unit).cast_signed();
        slot.write(days.wrapping_mul(units_per_day).wrapping_add(part));
    }
    usual
}

/// Returns, for each timestamp, true if it does not fit into 64 bits.
pub fn overflows(bytes: &[u8], layout: Layout, per_second: i64) -> impl Iterator<Item = bool> {
    bytes
        .as_chunks::<12>()
        .0
        .iter()
        .map(move |value| convert(value, layout, per_second).1)
}

/// Returns a timestamp in units since the epoch, and true if it wrapped around.
fn convert(value: &[u8; 12], layout: Layout, per_second: i64) -> (i64, bool) {
    match layout {
        Layout::JulianDay => julian(value, per_second),
        Layout::Count { per_second: from } => count(value, from, per_second),
    }
}

/// Returns the days since the epoch, and the nanoseconds of the day.
#[inline(always)]
fn parse(value: &[u8; 12]) -> (i64, i64) {
    // We read whole numbers, because the compiler would not merge single bytes into one load.
    let nanos = plain::read::<i64>(value).unwrap_or_default();
    let days = plain::read::<i32>(&value[8..]).unwrap_or_default();
    (i64::from(days) - JULIAN_EPOCH, nanos)
}

/// Converts nanoseconds of a Julian day to units since the epoch. Also returns true if they wrapped around.
fn julian(value: &[u8; 12], per_second: i64) -> (i64, bool) {
    let (days, nanos) = parse(value);
    // A day is a whole number of units, so it suffices to round the time of day down.
    let part = nanos.div_euclid(NANOS_PER_SECOND / per_second.max(1));
    let exact = i128::from(days) * i128::from(SECONDS_PER_DAY * per_second) + i128::from(part);
    (exact as i64, i64::try_from(exact).is_err())
}

/// Converts a 96-bit count with `from` units per second to a count with `to` units per second. Also returns true if it
/// wrapped around.
#[inline]
fn count(value: &[u8; 12], from: i64, to: i64) -> (i64, bool) {
    let mut wide = [0; 16];
    wide[4..].copy_from_slice(value);
    // The arithmetic shift extends the sign.
    let units = i128::from_le_bytes(wide) >> 32;
    // The product cannot overflow, because 96 bits times 10^9 stay below 127 bits.
    let exact = if from <= to {
        units * i128::from(to / from.max(1))
    } else {
        units.div_euclid(i128::from(from / to.max(1)))
    };
    (exact as i64, i64::try_from(exact).is_err())
}

#[cfg(test)]
mod tests;

//! Timestamps of 96 bits, as 64-bit counts of seconds, milli-, micro- or nanoseconds.
//!
//! ```text
//! INT96                                | nanoseconds of the day, i64 | Julian day, i32 |
//! FIXED_LEN_BYTE_ARRAY(12) TIMESTAMP   | units since the epoch, 96-bit two's complement |
//! ```
//!
//! Both are little endian and reach further than 64-bit nanoseconds, which end in 1677 and 2262.
//!
//! **Shapes**: 12 bytes a value in, an `i64` a value out; a trailing part of a value is left alone.

use crate::plain;

/// The Julian day of 1970-01-01.
const JULIAN_EPOCH: i64 = 2_440_588;
const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// The kind of 96-bit timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// INT96: nanoseconds of a Julian day.
    JulianDay,
    /// A count of units since the epoch, so many of them a second: 10^3, 10^6 or 10^9.
    Count {
        /// Units a second.
        per_second: i64,
    },
}

/// Appends timestamps as counts of units since the epoch, `per_second` of them a second (1, 10^3,
/// 10^6 or 10^9), rounded down. Values that 64 bits cannot hold wrap around.
///
/// Returns whether any of them did; [`overflows`] tells which.
pub fn extend(bytes: &[u8], layout: Layout, per_second: i64, out: &mut Vec<i64>) -> bool {
    let values = bytes.as_chunks::<12>().0;
    let before = out.len();
    let usual = match (layout, per_second) {
        // All constants known to the compiler, so that it need not divide.
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

/// Appends INT96 values, and returns whether all of them are usual: a time of day, on a day that the
/// units reach. Others are wrong.
fn extend_usual<const PER_SECOND: i64>(values: &[[u8; 12]], out: &mut Vec<i64>) -> bool {
    const NANOS_PER_DAY: u64 = (SECONDS_PER_DAY * NANOS_PER_SECOND).cast_unsigned();
    let mut usual = true;
    out.reserve(values.len());
    // A plain loop, so that `usual` stays in a register.
    for (slot, value) in out.spare_capacity_mut().iter_mut().zip(values) {
        let units_per_day = const { SECONDS_PER_DAY * PER_SECOND };
        let last_day = const { (i64::MAX / (SECONDS_PER_DAY * PER_SECOND) - 1).cast_unsigned() };
        let nanos_per_unit = const { (NANOS_PER_SECOND / PER_SECOND).cast_unsigned() };
        let (days, nanos) = parse(value);
        let nanos = nanos.cast_unsigned();
        usual &= (days.unsigned_abs() <= last_day) & (nanos < NANOS_PER_DAY);
        let part = (nanos / nanos_per_unit).cast_signed();
        slot.write(days.wrapping_mul(units_per_day).wrapping_add(part));
    }
    // SAFETY: room for all values was reserved, so that the loop has written each of them.
    unsafe { out.set_len(out.len() + values.len()) };
    usual
}

/// Whether each of the timestamps is more than 64 bits can hold.
pub fn overflows(bytes: &[u8], layout: Layout, per_second: i64) -> impl Iterator<Item = bool> {
    bytes
        .as_chunks::<12>()
        .0
        .iter()
        .map(move |value| convert(value, layout, per_second).1)
}

/// A timestamp in units since the epoch, and whether it wrapped around.
fn convert(value: &[u8; 12], layout: Layout, per_second: i64) -> (i64, bool) {
    match layout {
        Layout::JulianDay => julian(value, per_second),
        Layout::Count { per_second: from } => count(value, from, per_second),
    }
}

/// Days since the epoch, and nanoseconds of the day.
#[inline(always)]
fn parse(value: &[u8; 12]) -> (i64, i64) {
    // Read as wholes: taken apart into bytes they are not put together again in one load.
    let nanos = plain::read::<i64>(value).unwrap_or_default();
    let days = plain::read::<i32>(&value[8..]).unwrap_or_default();
    (i64::from(days) - JULIAN_EPOCH, nanos)
}

/// Nanoseconds of a Julian day as units since the epoch, and whether they wrapped around.
fn julian(value: &[u8; 12], per_second: i64) -> (i64, bool) {
    let (days, nanos) = parse(value);
    // A day is a whole number of units: rounding its part down rounds the sum down.
    let part = nanos.div_euclid(NANOS_PER_SECOND / per_second.max(1));
    let exact = i128::from(days) * i128::from(SECONDS_PER_DAY * per_second) + i128::from(part);
    (exact as i64, i64::try_from(exact).is_err())
}

/// A 96-bit count of units of `from` a second as one of `to` a second, and whether it wrapped.
#[inline]
fn count(value: &[u8; 12], from: i64, to: i64) -> (i64, bool) {
    let mut wide = [0; 16];
    wide[4..].copy_from_slice(value);
    // The sign comes with the shift back.
    let units = i128::from_le_bytes(wide) >> 32;
    // 96 bits times 10^9 stay below 127 bits.
    let exact = if from <= to {
        units * i128::from(to / from.max(1))
    } else {
        units.div_euclid(i128::from(from / to.max(1)))
    };
    (exact as i64, i64::try_from(exact).is_err())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int96(day: i32, nanos: i64) -> [u8; 12] {
        let mut value = [0; 12];
        value[..8].copy_from_slice(&nanos.to_le_bytes());
        value[8..].copy_from_slice(&day.to_le_bytes());
        value
    }

    fn read(value: [u8; 12], layout: Layout, per_second: i64) -> (i64, bool) {
        let mut out = Vec::new();
        let any = extend(&value, layout, per_second, &mut out);
        assert_eq!(
            overflows(&value, layout, per_second).collect::<Vec<_>>(),
            [any]
        );
        (out[0], any)
    }

    #[test]
    fn julian_days_in_every_unit() {
        let layout = Layout::JulianDay;
        // 1970-01-02 00:00:01.000000001
        let value = int96(2_440_589, 1_000_000_001);
        assert_eq!(read(value, layout, 1), (86_401, false));
        assert_eq!(read(value, layout, 1_000), (86_401_000, false));
        assert_eq!(read(value, layout, 1_000_000), (86_401_000_000, false));
        assert_eq!(
            read(value, layout, 1_000_000_000),
            (86_401_000_000_001, false)
        );
        // One nanosecond before the epoch, written both ways, rounds down.
        for value in [int96(2_440_587, 86_399_999_999_999), int96(2_440_588, -1)] {
            assert_eq!(read(value, layout, 1_000_000_000), (-1, false));
            assert_eq!(read(value, layout, 1_000), (-1, false));
        }
    }

    #[test]
    fn julian_days_beyond_64_bits() {
        // The year 9999 does not fit into nanoseconds.
        let value = int96(5_373_484, 0);
        let seconds = (5_373_484 - 2_440_588) * 86_400i64;
        assert_eq!(
            read(value, Layout::JulianDay, 1_000_000),
            (seconds * 1_000_000, false)
        );
        let wrapped = (i128::from(seconds) * 1_000_000_000) as i64;
        assert_eq!(
            read(value, Layout::JulianDay, 1_000_000_000),
            (wrapped, true)
        );
        // The last day that fits ends early, and i64::MAX is within it.
        let (day, nanos) = (i64::MAX / 86_400_000_000_000, i64::MAX % 86_400_000_000_000);
        let last = int96((day + 2_440_588) as i32, nanos);
        assert_eq!(
            read(last, Layout::JulianDay, 1_000_000_000),
            (i64::MAX, false)
        );
        let behind = int96((day + 2_440_588) as i32, nanos + 1);
        assert_eq!(
            read(behind, Layout::JulianDay, 1_000_000_000),
            (i64::MIN, true)
        );
        // i64::MIN needs a day that does not fit and nanoseconds that bring it back.
        let day = i64::MIN.div_euclid(86_400_000_000_000);
        let first = int96(
            (day + 2_440_588) as i32,
            i64::MIN.rem_euclid(86_400_000_000_000),
        );
        assert_eq!(
            read(first, Layout::JulianDay, 1_000_000_000),
            (i64::MIN, false)
        );
    }

    #[test]
    fn counts_of_96_bits() {
        let bytes = |value: i128| -> [u8; 12] { std::array::from_fn(|i| value.to_le_bytes()[i]) };
        let nanos = Layout::Count {
            per_second: 1_000_000_000,
        };
        assert_eq!(read(bytes(-1), nanos, 1_000_000_000), (-1, false));
        assert_eq!(read(bytes(-1), nanos, 1_000), (-1, false));
        assert_eq!(read(bytes(1_999_999), nanos, 1_000), (1, false));
        assert_eq!(read(bytes(1 << 63), nanos, 1_000_000_000), (i64::MIN, true));
        assert_eq!(
            read(bytes(1 << 63), nanos, 1_000),
            (9_223_372_036_854, false)
        );
        let millis = Layout::Count { per_second: 1_000 };
        assert_eq!(read(bytes(-5), millis, 1_000_000), (-5_000, false));
        assert_eq!(read(bytes(-(1 << 95)), millis, 1_000_000_000), (0, true));
    }
}

//! Single values on their way to the file: exact, or not at all.

use std::fmt;

use herringbone_arrow::array::types::{IntervalDayTime, IntervalMonthDayNano};
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::{DataType, TimeUnit};
use herringbone_format::{Error, Result};
use herringbone_schema::{WriteConversion, WriteLeaf};

/// Bytes of an INT96 value.
pub(crate) const INT96_BYTES: usize = 12;

const MILLIS_PER_DAY: i64 = 86_400_000;
const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_SECOND: i64 = 1_000_000_000;
const JULIAN_DAY_OF_1970: i64 = 2_440_588;

/// The days of a time in milliseconds, if they are whole.
pub(crate) fn whole_days(millis: i64) -> Option<i32> {
    if millis % MILLIS_PER_DAY != 0 {
        return None;
    }
    i32::try_from(millis / MILLIS_PER_DAY).ok()
}

#[cold]
pub(crate) fn not_whole_days(millis: i64) -> Error {
    Error::argument(format!(
        "the Date64 {millis} ms is not a whole day, which is what DATE holds"
    ))
}

#[cold]
pub(crate) fn too_far(value: i64, what: &str) -> Error {
    Error::argument(format!(
        "{value} {what} cannot be written: Parquet counts milliseconds, which overflow"
    ))
}

/// Units in a second.
pub(crate) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => NANOS_PER_SECOND,
    }
}

/// Whether so many units after midnight are of the same day.
pub(crate) fn is_time(value: i64, unit: TimeUnit) -> bool {
    (0..SECONDS_PER_DAY * per_second(unit)).contains(&value)
}

/// Refuses times that are not of a day, which neither Arrow nor Parquet allows. Arrow does not look at
/// them.
pub(crate) fn check_times<T: Copy + Into<i64>>(values: &[T], unit: TimeUnit) -> Result<()> {
    // One comparison a value, and no branch: the compiler makes vectors of it.
    let end = (SECONDS_PER_DAY * per_second(unit)).cast_unsigned();
    let beyond = |value: &T| (*value).into().cast_unsigned() >= end;
    if !values.iter().fold(false, |any, value| any | beyond(value)) {
        return Ok(());
    }
    let misfit = values.iter().find(|value| beyond(value));
    Err(no_time(misfit.map_or(0, |value| (*value).into()), unit))
}

#[cold]
pub(crate) fn no_time(value: i64, unit: TimeUnit) -> Error {
    let end = SECONDS_PER_DAY * per_second(unit);
    Error::argument(format!(
        "the time {value} is not of a day, which has {end} units ({unit:?}) from midnight on: TIME \
         holds no other, but an integer column does"
    ))
}

/// An INT96 timestamp: nanoseconds of the day, then the Julian day. 64-bit counts of any unit fit:
/// the days of 64-bit seconds wrap around beyond a million times the age of the universe only.
pub(crate) fn int96(value: i64, per_second: i64) -> [u8; INT96_BYTES] {
    let seconds = value.div_euclid(per_second);
    let fraction = value.rem_euclid(per_second) * (NANOS_PER_SECOND / per_second);
    let nanos = seconds.rem_euclid(SECONDS_PER_DAY) * NANOS_PER_SECOND + fraction;
    let day = seconds.div_euclid(SECONDS_PER_DAY) + JULIAN_DAY_OF_1970;
    let mut bytes = [0; INT96_BYTES];
    let (low, high) = bytes.split_at_mut(8);
    low.copy_from_slice(&nanos.to_le_bytes());
    high.copy_from_slice(&(day as i32).to_le_bytes());
    bytes
}

/// A 96-bit count, little-endian. Parquet has no seconds: they become milliseconds, which fit.
pub(crate) fn wide_count(value: i64, unit: TimeUnit) -> [u8; 12] {
    let factor = match unit {
        TimeUnit::Second => 1000,
        TimeUnit::Millisecond | TimeUnit::Microsecond | TimeUnit::Nanosecond => 1,
    };
    let mut bytes = [0; 12];
    let count = (i128::from(value) * factor).to_le_bytes();
    bytes.copy_from_slice(count.first_chunk::<12>().unwrap_or(&[0; 12]));
    bytes
}

/// INTERVAL: months, days and milliseconds, unsigned.
fn interval(months: i32, days: i32, millis: i64) -> Option<[u8; 12]> {
    let parts = [
        u32::try_from(months).ok()?,
        u32::try_from(days).ok()?,
        u32::try_from(millis).ok()?,
    ];
    let mut bytes = [0; 12];
    for (to, part) in bytes.chunks_exact_mut(4).zip(parts) {
        to.copy_from_slice(&part.to_le_bytes());
    }
    Some(bytes)
}

/// An interval of months.
pub(crate) fn year_month(months: i32) -> Option<[u8; 12]> {
    interval(months, 0, 0)
}

/// An interval of days and milliseconds.
pub(crate) fn day_time(value: IntervalDayTime) -> Option<[u8; 12]> {
    interval(0, value.days, value.milliseconds.into())
}

/// An interval of months, days and nanoseconds; these have to be whole milliseconds.
pub(crate) fn month_day_nano(value: IntervalMonthDayNano) -> Option<[u8; 12]> {
    if value.nanoseconds % 1_000_000 != 0 {
        return None;
    }
    interval(value.months, value.days, value.nanoseconds / 1_000_000)
}

#[cold]
pub(crate) fn interval_misfit(value: fmt::Arguments<'_>) -> Error {
    Error::argument(format!(
        "the interval {value} does not fit INTERVAL, whose months, days and milliseconds are \
         unsigned and whole"
    ))
}

/// The unscaled value of a decimal.
pub(crate) trait Unscaled: Copy + fmt::Display {
    /// As 128 bits, if it fits.
    fn to_i128(self) -> Option<i128>;
    /// As 256 bits.
    fn to_i256(self) -> i256;
    /// Whether all of `values` have so many digits at most; no more than the widest decimal of the
    /// type has.
    fn all_within(values: &[Self], digits: u8) -> bool;
}

macro_rules! unscaled {
    ($($type:ty)*) => {$(
        impl Unscaled for $type {
            fn all_within(values: &[Self], digits: u8) -> bool {
                let Some(limit) = <$type>::checked_pow(10, digits.into()).map(|it| it - 1) else {
                    return true;
                };
                // One comparison a value, and no branch: the compiler makes vectors of it.
                let span = limit.cast_unsigned() * 2;
                let beyond = |value: &$type| value.wrapping_add(limit).cast_unsigned() > span;
                !values.iter().fold(false, |any, value| any | beyond(value))
            }

            #[inline]
            fn to_i128(self) -> Option<i128> {
                Some(self.into())
            }
            #[inline]
            fn to_i256(self) -> i256 {
                i256::from_i128(self.into())
            }
        }
    )*};
}

unscaled! { i32 i64 i128 }

impl Unscaled for i256 {
    fn all_within(values: &[Self], digits: u8) -> bool {
        let ten = Self::from_i128(10);
        let limit = (0..digits).try_fold(Self::ONE, |power, _| power.checked_mul(ten));
        limit.is_none_or(|limit| {
            let least = limit.wrapping_neg();
            let beyond = |value: &Self| *value <= least || *value >= limit;
            !values.iter().fold(false, |any, value| any | beyond(value))
        })
    }

    #[inline]
    fn to_i128(self) -> Option<i128> {
        Self::to_i128(self)
    }

    #[inline]
    fn to_i256(self) -> i256 {
        self
    }
}

/// What unscaled values are multiplied by, because Parquet has no negative scale.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rescale {
    power: u32,
}

impl Rescale {
    pub(crate) fn of(conversion: WriteConversion) -> Self {
        let power = match conversion {
            WriteConversion::Rescale { digits } => u32::from(digits),
            _ => 0,
        };
        Self { power }
    }

    /// The value to store, if it fits 128 bits.
    #[inline]
    pub(crate) fn apply<T: Unscaled>(self, value: T) -> Option<i128> {
        let value = value.to_i128()?;
        if self.power == 0 {
            return Some(value);
        }
        value.checked_mul(10_i128.checked_pow(self.power)?)
    }

    /// Appends the value to store as `width` bytes, most significant first; false if it needs more.
    #[inline]
    pub(crate) fn append_big_endian<T: Unscaled>(
        self,
        value: T,
        width: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        if let Some(value) = self.apply(value) {
            return append_low(&value.to_be_bytes(), width, out);
        }
        let mut wide = value.to_i256();
        for _ in 0..self.power {
            let Some(next) = wide.checked_mul(i256::from_i128(10)) else {
                return false;
            };
            wide = next;
        }
        append_low(&wide.to_be_bytes(), width, out)
    }
}

/// Appends the lowest `width` bytes of a number, or more of its sign; false if it needs more.
#[inline]
fn append_low(bytes: &[u8], width: usize, out: &mut Vec<u8>) -> bool {
    let sign = match bytes.first() {
        Some(byte) if *byte >= 0x80 => 0xff_u8,
        _ => 0,
    };
    match bytes.len().checked_sub(width) {
        None => {
            out.resize(out.len() + width - bytes.len(), sign);
            out.extend_from_slice(bytes);
            true
        }
        Some(cut) => {
            let (high, low) = bytes.split_at(cut);
            let fits = high.iter().all(|byte| *byte == sign)
                && low
                    .first()
                    .is_none_or(|byte| (*byte >= 0x80) == (sign == 0xff));
            out.extend_from_slice(low);
            fits
        }
    }
}

/// Refuses unscaled values that have more digits than the decimals of the column may have. Arrow does
/// not look at them.
pub(crate) fn check_digits<T: Unscaled + fmt::Display>(
    values: &[T],
    leaf: &WriteLeaf,
) -> Result<()> {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256};
    let (Decimal32(digits, _)
    | Decimal64(digits, _)
    | Decimal128(digits, _)
    | Decimal256(digits, _)) = &leaf.data_type
    else {
        return Ok(());
    };
    if T::all_within(values, *digits) {
        return Ok(());
    }
    let mut misfits = values
        .iter()
        .filter(|value| !T::all_within(&[**value], *digits));
    Err(match misfits.next() {
        Some(value) => decimal_misfit(*value, leaf),
        None => Error::argument("a decimal has too many digits"),
    })
}

#[cold]
pub(crate) fn decimal_misfit<T: Unscaled>(value: T, leaf: &WriteLeaf) -> Error {
    Error::argument(format!(
        "the unscaled decimal {value} has more digits than {} allows",
        leaf.data_type
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_sign_in_any_width() {
        let none = Rescale { power: 0 };
        let encoded = |value: i128, width| {
            let mut out = Vec::new();
            none.append_big_endian(value, width, &mut out)
                .then_some(out)
        };
        assert_eq!(encoded(1, 2), Some(vec![0, 1]));
        assert_eq!(encoded(-1, 2), Some(vec![0xff, 0xff]));
        assert_eq!(encoded(-128, 1), Some(vec![0x80]));
        assert_eq!(encoded(128, 1), None);
        assert_eq!(encoded(-129, 1), None);
        assert_eq!(encoded(-2, 17).map(|v| v.len()), Some(17));
        let ten = Rescale { power: 1 };
        assert_eq!(ten.apply(7_i64), Some(70));
        assert_eq!(ten.apply(i128::MAX), None);
        let mut out = Vec::new();
        assert!(ten.append_big_endian(i128::MAX, 17, &mut out));
        assert_eq!(out.len(), 17);
        assert_eq!(&out[..2], &[4, 0xff]);
    }

    #[test]
    fn digits_are_counted_without_the_sign() {
        for (values, digits, within) in [
            (&[0_i32, 99_999, -99_999][..], 5, true),
            (&[0, 100_000], 5, false),
            (&[-100_000], 5, false),
            (&[i32::MIN], 9, false),
            (&[i32::MAX], 9, false),
            (&[999_999_999, -999_999_999], 9, true),
            (&[], 1, true),
        ] {
            assert_eq!(i32::all_within(values, digits), within, "{values:?}");
            let wide = |value: &i32| i64::from(*value);
            let all: Vec<i64> = values.iter().map(wide).collect();
            assert_eq!(i64::all_within(&all, digits), within, "{values:?}");
            let all: Vec<i128> = all.iter().map(|it| (*it).into()).collect();
            assert_eq!(i128::all_within(&all, digits), within, "{values:?}");
            let all: Vec<i256> = all.iter().map(|it| i256::from_i128(*it)).collect();
            assert_eq!(i256::all_within(&all, digits), within, "{values:?}");
        }
        let nines = 10_i128.pow(38) - 1;
        assert!(i128::all_within(&[nines, -nines], 38));
        for value in [nines + 1, -nines - 1, i128::MAX, i128::MIN] {
            assert!(!i128::all_within(&[value], 38), "{value}");
            assert!(i256::all_within(&[i256::from_i128(value)], 39), "{value}");
        }
        assert!(!i64::all_within(&[i64::MIN, i64::MAX], 18));
        assert!(!i256::all_within(&[i256::MIN], 76));
        assert!(!i256::all_within(&[i256::MAX], 76));
    }

    #[test]
    fn int96_is_nanoseconds_and_a_julian_day() {
        let encoded = int96(-1, 1);
        assert_eq!(encoded[8..], 2_440_587_i32.to_le_bytes());
        assert_eq!(encoded[..8], (86_399 * NANOS_PER_SECOND).to_le_bytes());
        let encoded = int96(86_400_000_001, 1_000_000);
        assert_eq!(encoded[8..], 2_440_589_i32.to_le_bytes());
        assert_eq!(encoded[..8], 1000_i64.to_le_bytes());
    }

    #[test]
    fn intervals_are_unsigned_and_whole() {
        assert_eq!(
            day_time(IntervalDayTime::new(1, 2)),
            Some([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])
        );
        assert_eq!(year_month(-1), None);
        assert_eq!(month_day_nano(IntervalMonthDayNano::new(0, 0, 1)), None);
        assert_eq!(
            month_day_nano(IntervalMonthDayNano::new(3, 0, 5_000_000)).map(|b| (b[0], b[8])),
            Some((3, 5))
        );
    }
}

//! Decodes INTERVAL, which is months, days and milliseconds, each an unsigned 32-bit number in little endian.
//!
//! Each value has 12 bytes, and an incomplete value at the end is ignored. Functions fail with [`Malformed`] if numbers
//! do not fit into Arrow's signed numbers, or if the Arrow type lacks a part.

use herringbone_arrow::buffer::{IntervalDayTime, IntervalMonthDayNano};

use crate::Malformed;

const NANOS_PER_MILLI: i64 = 1_000_000;
const TOO_LONG: Malformed = Malformed("an interval is longer than the Arrow type can hold");

/// Appends intervals of months, days and nanoseconds. This Arrow type can represent all parts.
///
/// # Errors
/// Fails with [`Malformed`] if there are more than `i32::MAX` months or days.
pub fn extend_month_day_nano(
    bytes: &[u8],
    out: &mut Vec<IntervalMonthDayNano>,
) -> Result<(), Malformed> {
    let mut parts = 0;
    out.extend(parse(bytes).map(|[months, days, millis]| {
        parts |= months | days;
        let nanos = i64::from(millis) * NANOS_PER_MILLI;
        IntervalMonthDayNano::new(months as i32, days as i32, nanos)
    }));
    if parts as i32 >= 0 {
        Ok(())
    } else {
        Err(TOO_LONG)
    }
}

/// Appends intervals of days and milliseconds.
///
/// # Errors
/// Fails with [`Malformed`] if an interval has months, or more than `i32::MAX` days or milliseconds.
pub fn extend_day_time(bytes: &[u8], out: &mut Vec<IntervalDayTime>) -> Result<(), Malformed> {
    let (mut all_months, mut parts) = (0, 0);
    out.extend(parse(bytes).map(|[months, days, millis]| {
        all_months |= months;
        parts |= days | millis;
        IntervalDayTime::new(days as i32, millis as i32)
    }));
    if all_months != 0 {
        return Err(Malformed(
            "an interval has months, which the Arrow type cannot hold",
        ));
    }
    if parts as i32 >= 0 {
        Ok(())
    } else {
        Err(TOO_LONG)
    }
}

/// Appends intervals of months.
///
/// # Errors
/// Fails with [`Malformed`] if an interval has days or milliseconds, or more than `i32::MAX` months.
pub fn extend_year_month(bytes: &[u8], out: &mut Vec<i32>) -> Result<(), Malformed> {
    let (mut all_months, mut rest) = (0, 0);
    out.extend(parse(bytes).map(|[months, days, millis]| {
        all_months |= months;
        rest |= days | millis;
        months as i32
    }));
    if rest != 0 {
        return Err(Malformed(
            "an interval has days, which the Arrow type cannot hold",
        ));
    }
    if all_months as i32 >= 0 {
        Ok(())
    } else {
        Err(TOO_LONG)
    }
}

/// Returns the months, days and milliseconds of each interval.
fn parse(bytes: &[u8]) -> impl ExactSizeIterator<Item = [u32; 3]> {
    bytes.as_chunks::<12>().0.iter().map(|value| {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *value;
        [[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(u32::from_le_bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(parts: [u32; 3]) -> Vec<u8> {
        parts.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn month_day_nano_holds_all_parts() {
        let mut out = Vec::new();
        let mut bytes = interval([1, 2, 3]);
        bytes.extend(interval([0, 0, u32::MAX]));
        bytes.push(9);
        extend_month_day_nano(&bytes, &mut out).unwrap();
        let longest = i64::from(u32::MAX) * 1_000_000;
        let expected = [
            IntervalMonthDayNano::new(1, 2, 3_000_000),
            IntervalMonthDayNano::new(0, 0, longest),
        ];
        assert_eq!(out, expected);
        assert!(extend_month_day_nano(&interval([1 << 31, 0, 0]), &mut out).is_err());
        assert!(extend_month_day_nano(&interval([0, 1 << 31, 0]), &mut out).is_err());
    }

    #[test]
    fn lesser_types_refuse_parts_that_they_lack() {
        let mut out = Vec::new();
        extend_day_time(&interval([0, 2, 3]), &mut out).unwrap();
        assert_eq!(out, [IntervalDayTime::new(2, 3)]);
        assert!(extend_day_time(&interval([1, 2, 3]), &mut out).is_err());
        assert!(extend_day_time(&interval([0, 0, 1 << 31]), &mut out).is_err());
        let mut out = Vec::new();
        extend_year_month(&interval([14, 0, 0]), &mut out).unwrap();
        assert_eq!(out, [14]);
        assert!(extend_year_month(&interval([1, 1, 0]), &mut out).is_err());
        assert!(extend_year_month(&interval([1 << 31, 0, 0]), &mut out).is_err());
    }
}

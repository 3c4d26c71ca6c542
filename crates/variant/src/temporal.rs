//! Dates, times and timestamps as ISO 8601 text, and back.
//!
//! The calendar is the proleptic Gregorian one. A value that its type does not allow is still
//! written as what it is: a time of 25 hours is `25:00:00.000000`.

use std::fmt::Write as _;

const DAY_SECONDS: i64 = 86_400;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;
/// Days of 400 years.
const ERA: i64 = 146_097;

/// Units of a second in a timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Micros,
    Nanos,
}

impl Unit {
    pub(crate) fn per_second(self) -> i64 {
        match self {
            Self::Micros => 1_000_000,
            Self::Nanos => 1_000_000_000,
        }
    }

    /// Digits of the fraction of a second.
    fn digits(self) -> usize {
        match self {
            Self::Micros => 6,
            Self::Nanos => 9,
        }
    }
}

/// `2024-01-02`, from days since 1970-01-01; years beyond four digits have a sign.
pub(crate) fn push_date(out: &mut String, days: i64) {
    // Years are counted from March, so that a leap day is the last of its year.
    let days = days + EPOCH;
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..10 => (era * 400 + year, month + 3),
        _ => (era * 400 + year + 1, month - 9),
    };
    _ = match year {
        0..=9999 => write!(out, "{year:04}"),
        10_000.. => write!(out, "+{year}"),
        _ => write!(out, "-{:04}", -year),
    };
    _ = write!(out, "-{month:02}-{day:02}");
}

/// `12:34:56.123456`, from microseconds since midnight.
pub(crate) fn push_time(out: &mut String, micros: i64) {
    if micros < 0 {
        out.push('-');
    }
    push_clock(out, micros.unsigned_abs(), Unit::Micros);
}

/// `2024-01-02T12:34:56.123456`, from units since 1970-01-01T00:00:00, with `Z` if that is UTC.
pub(crate) fn push_timestamp(out: &mut String, value: i64, unit: Unit, utc: bool) {
    let per_day = DAY_SECONDS * unit.per_second();
    push_date(out, value.div_euclid(per_day));
    out.push('T');
    push_clock(out, value.rem_euclid(per_day).unsigned_abs(), unit);
    if utc {
        out.push('Z');
    }
}

fn push_clock(out: &mut String, value: u64, unit: Unit) {
    let per_second = unit.per_second().unsigned_abs();
    let (seconds, fraction) = (value / per_second, value % per_second);
    _ = write!(
        out,
        "{:02}:{:02}:{:02}.{fraction:0width$}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        width = unit.digits()
    );
}

/// Days since 1970-01-01 of `2024-01-02`, with four digits of a year or a sign and more of them.
pub(crate) fn parse_date(text: &str) -> Option<i32> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let mut parts = rest.split('-');
    let year = parts.next()?;
    let signed = rest.len() != text.len();
    if year.len() < 4 || year.len() > 7 || (!signed && year.len() != 4) {
        return None;
    }
    let year = digits(year)? * if negative { -1 } else { 1 };
    let month = two_digits(parts.next()?)?;
    let day = two_digits(parts.next()?)?;
    if parts.next().is_some() {
        return None;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if day < 1 || day > last {
        return None;
    }
    let (year, month) = match month {
        3.. => (year, month - 3),
        _ => (year - 1, month + 9),
    };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = era * ERA + 365 * year + year / 4 - year / 100 + day_of_year - EPOCH;
    i32::try_from(days).ok()
}

/// Microseconds since midnight of `12:34`, `12:34:56` or `12:34:56.789`.
pub(crate) fn parse_time(text: &str) -> Option<i64> {
    parse_clock(text, Unit::Micros)
}

/// Units since 1970-01-01T00:00:00 of a date, `T` or a space, and a time; whether a time zone
/// followed, which is taken off: `Z`, `+02:00`, `-0530` or `+02`.
pub(crate) fn parse_timestamp(text: &str, unit: Unit) -> Option<(i64, bool)> {
    let (date, clock) = text.split_once(['T', ' '])?;
    let (clock, offset) = split_zone(clock)?;
    let days = i128::from(parse_date(date)?);
    let seconds = days * i128::from(DAY_SECONDS) - i128::from(offset.unwrap_or(0));
    let value = seconds * i128::from(unit.per_second()) + i128::from(parse_clock(clock, unit)?);
    Some((i64::try_from(value).ok()?, offset.is_some()))
}

/// A time without its zone, and the seconds that this is east of UTC.
fn split_zone(text: &str) -> Option<(&str, Option<i64>)> {
    if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        return Some((clock, Some(0)));
    }
    let Some(at) = text.rfind(['+', '-']) else {
        return Some((text, None));
    };
    let (clock, zone) = (text.get(..at)?, text.get(at + 1..)?);
    let (hours, minutes) = match zone.len() {
        2 => (zone, "00"),
        4 => zone.split_at_checked(2)?,
        _ => zone.split_once(':')?,
    };
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = hours * 3600 + minutes * 60;
    let east = !text.get(at..)?.starts_with('-');
    Some((clock, Some(if east { seconds } else { -seconds })))
}

/// Units since midnight; a fraction of more digits than the unit has is no such time.
fn parse_clock(text: &str, unit: Unit) -> Option<i64> {
    let (clock, fraction) = match text.split_once('.') {
        Some((_, "")) => return None,
        Some((clock, fraction)) => (clock, fraction),
        None => (text, ""),
    };
    let mut parts = clock.split(':');
    let hours = two_digits(parts.next()?)?;
    let minutes = two_digits(parts.next()?)?;
    let seconds = match parts.next() {
        Some(seconds) => two_digits(seconds)?,
        None if fraction.is_empty() => 0,
        None => return None,
    };
    if parts.next().is_some() || hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let missing = unit.digits().checked_sub(fraction.len())?;
    let fraction = match fraction {
        "" => 0,
        fraction => digits(fraction)? * 10_i64.pow(missing as u32),
    };
    Some((hours * 3600 + minutes * 60 + seconds) * unit.per_second() + fraction)
}

fn two_digits(text: &str) -> Option<i64> {
    digits(text).filter(|_| text.len() == 2)
}

/// A number of 1 to 9 digits, without a sign.
fn digits(text: &str) -> Option<i64> {
    let plain = matches!(text.len(), 1..=9) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        push(&mut out);
        out
    }

    /// Days by Python's `datetime.date.toordinal`, beyond the year 9999 by numpy.
    #[test]
    fn dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (20_194, "2025-04-16"),
            (19_782, "2024-02-29"),
            (-719_162, "0001-01-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "+10000-01-01"),
            (i64::from(i32::MAX), "+5881580-07-11"),
            (i64::from(i32::MIN), "-5877641-06-23"),
        ] {
            assert_eq!(text(|out| push_date(out, days)), expected);
            assert_eq!(parse_date(expected), i32::try_from(days).ok());
        }
        for wrong in [
            "",
            "2024-13-01",
            "2023-02-29",
            "2024-1-01",
            "24-01-01",
            "2024-01-01x",
            "12345-01-01",
            "2024-01",
            "+5881580-07-12",
            "2024-01-01-01",
        ] {
            assert_eq!(parse_date(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_day_of_eight_hundred_years_reads_back() {
        for days in -292_194..292_194 {
            assert_eq!(
                parse_date(&text(|out| push_date(out, days.into()))),
                Some(days)
            );
        }
    }

    #[test]
    fn times() {
        for (micros, expected) in [
            (0, "00:00:00.000000"),
            (45_234_123_456, "12:33:54.123456"),
            (86_399_999_999, "23:59:59.999999"),
        ] {
            assert_eq!(text(|out| push_time(out, micros)), expected);
            assert_eq!(parse_time(expected), Some(micros));
        }
        assert_eq!(text(|out| push_time(out, -1)), "-00:00:00.000001");
        assert_eq!(
            text(|out| push_time(out, 360_000_000_000)),
            "100:00:00.000000"
        );
        assert_eq!(parse_time("12:34"), Some(45_240_000_000));
        assert_eq!(parse_time("00:00:01.5000000000"), Some(1_500_000));
        for wrong in [
            "24:00:00",
            "1:00:00",
            "12:60",
            "12:00:00.",
            "12:00:00.0000001",
            "12:00.5",
            "12",
        ] {
            assert_eq!(parse_time(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn timestamps() {
        let print = |value, unit, utc| text(|out| push_timestamp(out, value, unit, utc));
        assert_eq!(print(-1, Unit::Micros, true), "1969-12-31T23:59:59.999999Z");
        assert_eq!(
            print(-1, Unit::Nanos, false),
            "1969-12-31T23:59:59.999999999"
        );
        // Numpy prints the ends so.
        assert_eq!(
            print(i64::MAX, Unit::Nanos, true),
            "2262-04-11T23:47:16.854775807Z"
        );
        assert_eq!(
            print(i64::MIN, Unit::Micros, false),
            "-290308-12-21T19:59:05.224192"
        );
        for (value, expected) in [
            ("1970-01-01T00:00:01Z", Some((1_000_000, true))),
            ("1970-01-01 00:00:01.5", Some((1_500_000, false))),
            ("1970-01-01T02:00:00+02:00", Some((0, true))),
            ("1970-01-01T00:00-0530", Some((19_800_000_000, true))),
            ("1970-01-01T00:00:00+02", Some((-7_200_000_000, true))),
            ("1970-01-01", None),
            ("1970-01-01T00:00:00+24:00", None),
            ("1970-01-01T00:00:00 Europe/Berlin", None),
        ] {
            assert_eq!(parse_timestamp(value, Unit::Micros), expected, "{value}");
        }
        assert_eq!(parse_timestamp("2263-01-01T00:00:00Z", Unit::Nanos), None);
    }
}

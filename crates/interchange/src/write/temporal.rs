//! Prints dates, times, timestamps, durations and intervals as ISO 8601 text.
//!
//! - The fraction has as many digits as the column's unit, including zeros (0, 3, 6 or 9), so the
//!   texts in a column line up and sort. Durations and intervals drop trailing zeros.
//! - Years outside 0000 to 9999 have a sign, as in `+10000-01-01` and `-0001-12-31` (ISO 8601,
//!   expanded).
//! - Out-of-range values are shown all the same. For example, a time of 25 hours is `25:00:00`, and
//!   a negative time is `-00:00:01`.

use std::fmt::Write as _;

use herringbone_arrow::schema::TimeUnit;

use herringbone_text::iso8601::{self, parse_offset};

pub use herringbone_text::iso8601::push_date;

const DAY_MILLIS: i64 = 86_400_000;

/// The time zone that a timestamp column has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// There is no time zone, so the values are local times.
    Local,
    /// The values are instants. We show them at this offset, in seconds east of UTC.
    Offset(i32),
}

impl Zone {
    /// Returns the zone of an Arrow timestamp type.
    ///
    /// Names such as `Europe/Berlin` count as UTC. The instant is the same, but a place's rules
    /// change over the years, and then the same file would give another text.
    pub fn of(name: Option<&str>) -> Self {
        match name {
            None => Self::Local,
            Some(name) => Self::Offset(parse_offset(name).unwrap_or(0)),
        }
    }
}

/// Returns the number of units per second and the number of fraction digits.
fn scale(unit: TimeUnit) -> (u64, usize) {
    match unit {
        TimeUnit::Second => (1, 0),
        TimeUnit::Millisecond => (1_000, 3),
        TimeUnit::Microsecond => (1_000_000, 6),
        TimeUnit::Nanosecond => (1_000_000_000, 9),
    }
}

/// Appends a date such as `2024-01-02`, from milliseconds since 1970-01-01. Also appends the time
/// if it isn't midnight.
pub fn push_date64(out: &mut String, millis: i64) {
    if millis.rem_euclid(DAY_MILLIS) == 0 {
        push_date(out, millis / DAY_MILLIS);
    } else {
        push_timestamp(out, millis, TimeUnit::Millisecond, Zone::Local);
    }
}

/// Appends a time such as `12:34:56.789`, from units since midnight.
pub fn push_time(out: &mut String, value: i64, unit: TimeUnit) {
    iso8601::push_time(out, value, scale(unit).1);
}

/// Appends a timestamp such as `2024-01-02T03:04:05.123456Z`, from units since 1970-01-01T00:00:00.
pub fn push_timestamp(out: &mut String, value: i64, unit: TimeUnit, zone: Zone) {
    let offset = match zone {
        Zone::Local => None,
        Zone::Offset(seconds) => Some(seconds),
    };
    iso8601::push_timestamp(out, value, scale(unit).1, offset);
}

/// Appends a duration such as `PT1.5S`. The unit is always seconds, since 24 hours aren't always a
/// calendar day if clocks change.
pub fn push_duration(out: &mut String, value: i64, unit: TimeUnit) {
    let (per_second, digits) = scale(unit);
    out.push_str("PT");
    push_seconds(out, value.into(), per_second.into(), digits);
}

/// Appends an interval such as `P1M2DT3.000000004S`. Parts equal to zero are omitted, and each part
/// has its own sign.
pub fn push_interval(out: &mut String, months: i32, days: i32, nanos: i128) {
    if months == 0 && days == 0 && nanos == 0 {
        out.push_str("PT0S");
        return;
    }
    out.push('P');
    if months != 0 {
        _ = write!(out, "{months}M");
    }
    if days != 0 {
        _ = write!(out, "{days}D");
    }
    if nanos != 0 {
        out.push('T');
        push_seconds(out, nanos, 1_000_000_000, 9);
    }
}

/// Appends seconds such as `-1.5S`, without trailing zeros.
fn push_seconds(out: &mut String, value: i128, per_second: u128, digits: usize) {
    if value < 0 {
        out.push('-');
    }
    let value = value.unsigned_abs();
    _ = write!(out, "{}", value / per_second);
    let fraction = value % per_second;
    if fraction != 0 {
        _ = write!(out, ".{fraction:0digits$}");
        out.truncate(out.trim_end_matches('0').len());
    }
    out.push('S');
}

#[cfg(test)]
mod tests {
    use super::*;
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};

    fn text(push: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        push(&mut out);
        out
    }

    #[test]
    fn dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (19_724, "2024-01-02"),
            (11_016, "2000-02-29"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "+10000-01-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (i32::MAX.into(), "+5881580-07-11"),
            (i32::MIN.into(), "-5877641-06-23"),
        ] {
            assert_eq!(text(|out| push_date(out, days)), expected);
        }
    }

    #[test]
    fn dates_in_milliseconds() {
        assert_eq!(text(|out| push_date64(out, -86_400_000)), "1969-12-31");
        assert_eq!(text(|out| push_date64(out, -1)), "1969-12-31T23:59:59.999");
    }

    #[test]
    fn times_have_the_digits_of_their_unit() {
        assert_eq!(text(|out| push_time(out, 45_296, Second)), "12:34:56");
        assert_eq!(
            text(|out| push_time(out, 45_296_789, Millisecond)),
            "12:34:56.789"
        );
        assert_eq!(
            text(|out| push_time(out, 0, Microsecond)),
            "00:00:00.000000"
        );
        assert_eq!(
            text(|out| push_time(out, 1, Nanosecond)),
            "00:00:00.000000001"
        );
    }

    #[test]
    fn times_out_of_range_are_shown() {
        assert_eq!(text(|out| push_time(out, 90_000, Second)), "25:00:00");
        assert_eq!(text(|out| push_time(out, -1, Second)), "-00:00:01");
        assert_eq!(
            text(|out| push_time(out, i64::MIN, Nanosecond)),
            "-2562047:47:16.854775808"
        );
    }

    #[test]
    fn timestamps() {
        let utc = Zone::of(Some("UTC"));
        for (value, unit, zone, expected) in [
            (
                1_704_164_645_123_456,
                Microsecond,
                utc,
                "2024-01-02T03:04:05.123456Z",
            ),
            (
                1_704_164_645_123_456,
                Microsecond,
                Zone::Local,
                "2024-01-02T03:04:05.123456",
            ),
            (-1, Millisecond, utc, "1969-12-31T23:59:59.999Z"),
            (0, Second, Zone::Local, "1970-01-01T00:00:00"),
            (i64::MAX, Nanosecond, utc, "2262-04-11T23:47:16.854775807Z"),
            (i64::MIN, Nanosecond, utc, "1677-09-21T00:12:43.145224192Z"),
            (
                i64::MAX,
                Second,
                Zone::Local,
                "+292277026596-12-04T15:30:07",
            ),
            (
                i64::MIN,
                Second,
                Zone::Local,
                "-292277022657-01-27T08:29:52",
            ),
        ] {
            assert_eq!(text(|out| push_timestamp(out, value, unit, zone)), expected);
        }
    }

    #[test]
    fn time_zones() {
        assert_eq!(Zone::of(None), Zone::Local);
        for (name, seconds) in [
            ("UTC", 0),
            ("Europe/Berlin", 0),
            ("+00:00", 0),
            ("+02:00", 7200),
            ("-0530", -19_800),
            ("+14", 50_400),
            ("+25:00", 0),
            ("", 0),
        ] {
            assert_eq!(Zone::of(Some(name)), Zone::Offset(seconds), "{name}");
        }
        let at = |name| text(|out| push_timestamp(out, 0, Second, Zone::of(Some(name))));
        assert_eq!(at("+02:00"), "1970-01-01T02:00:00+02:00");
        assert_eq!(at("-0530"), "1969-12-31T18:30:00-05:30");
        assert_eq!(
            text(|out| push_timestamp(out, i64::MAX, Second, Zone::Offset(3600))),
            "+292277026596-12-04T16:30:07+01:00"
        );
    }

    #[test]
    fn durations() {
        for (value, unit, expected) in [
            (1500, Millisecond, "PT1.5S"),
            (-1500, Millisecond, "PT-1.5S"),
            (0, Second, "PT0S"),
            (100, Second, "PT100S"),
            (1, Nanosecond, "PT0.000000001S"),
            (-1, Microsecond, "PT-0.000001S"),
            (i64::MIN, Nanosecond, "PT-9223372036.854775808S"),
        ] {
            assert_eq!(text(|out| push_duration(out, value, unit)), expected);
        }
    }

    #[test]
    fn intervals() {
        for (months, days, nanos, expected) in [
            (1, 2, 3_000_000_004, "P1M2DT3.000000004S"),
            (0, 0, 0, "PT0S"),
            (14, 0, 0, "P14M"),
            (0, -2, 0, "P-2D"),
            (-1, 2, -500_000_000, "P-1M2DT-0.5S"),
            (
                i32::MIN,
                i32::MAX,
                i128::from(i64::MAX),
                "P-2147483648M2147483647DT9223372036.854775807S",
            ),
        ] {
            assert_eq!(
                text(|out| push_interval(out, months, days, nanos)),
                expected
            );
        }
    }
}

//! Writes dates, times and timestamps as ISO 8601 text, and parses them.
//!
//! Out-of-range values are written all the same. For example, a time of 25 hours is
//! `25:00:00.000000`.

use herringbone_text::iso8601;

pub(crate) use herringbone_text::iso8601::push_date;

/// The unit in which a timestamp counts fractions of a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Micros,
    Nanos,
}

impl Unit {
    pub(crate) fn per_second(self) -> u32 {
        match self {
            Self::Micros => 1_000_000,
            Self::Nanos => 1_000_000_000,
        }
    }

    /// Returns the number of decimal places that a second has in this unit.
    fn digits(self) -> usize {
        match self {
            Self::Micros => 6,
            Self::Nanos => 9,
        }
    }
}

/// Appends microseconds since midnight as `12:34:56.123456`.
pub(crate) fn push_time(out: &mut String, micros: i64) {
    iso8601::push_time(out, micros, Unit::Micros.digits());
}

/// Appends units since 1970 as `2024-01-02T12:34:56.123456`, followed by `Z` if the timestamp is in UTC.
pub(crate) fn push_timestamp(out: &mut String, value: i64, unit: Unit, utc: bool) {
    iso8601::push_timestamp(out, value, unit.digits(), utc.then_some(0));
}

/// Parses `2024-01-02` to days since 1970-01-01.
pub(crate) fn parse_date(text: &str) -> Option<i32> {
    i32::try_from(iso8601::parse_date(text)?).ok()
}

/// Parses `12:34`, `12:34:56` or `12:34:56.789` to microseconds since midnight.
pub(crate) fn parse_time(text: &str) -> Option<i64> {
    let per_second = Unit::Micros.per_second();
    iso8601::parse_time(text)?.ticks(per_second).ok()
}

/// Parses a date and a time to units since 1970. Also returns true if the text has a UTC offset,
/// already subtracted.
pub(crate) fn parse_timestamp(text: &str, unit: Unit) -> Option<(i64, bool)> {
    let moment = iso8601::parse_timestamp(text)?;
    Some((
        moment.ticks(unit.per_second()).ok()?,
        moment.offset.is_some(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_the_digits_of_their_unit() {
        let print = |value, unit, utc| {
            let mut out = String::new();
            push_timestamp(&mut out, value, unit, utc);
            out
        };
        // The expected texts are NumPy's output for the extremes.
        assert_eq!(print(-1, Unit::Micros, true), "1969-12-31T23:59:59.999999Z");
        assert_eq!(
            print(i64::MAX, Unit::Nanos, false),
            "2262-04-11T23:47:16.854775807"
        );
        for (text, expected) in [
            ("1970-01-01T00:00:01Z", Some((1_000_000, true))),
            ("1970-01-01 00:00:01.5", Some((1_500_000, false))),
            ("1970-01-01T00:00:00.0000001", None),
            ("1970-01-01", None),
        ] {
            assert_eq!(parse_timestamp(text, Unit::Micros), expected, "{text}");
        }
        assert_eq!(parse_timestamp("2263-01-01T00:00:00Z", Unit::Nanos), None);
    }

    #[test]
    fn dates_and_times_fit_their_types() {
        assert_eq!(parse_date("+5881580-07-11"), Some(i32::MAX));
        assert_eq!(parse_date("+5881580-07-12"), None);
        assert_eq!(parse_time("12:34"), Some(45_240_000_000));
        assert_eq!(parse_time("12:00:00.0000001"), None);
    }
}

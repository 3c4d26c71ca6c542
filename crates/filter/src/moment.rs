//! Parses dates, times and timestamps in literals from ISO 8601 text.

use std::borrow::Cow;

use herringbone_text::iso8601;

/// The number of nanoseconds in a second.
const SECOND_NANOS: u32 = 1_000_000_000;
/// The number of nanoseconds in a day.
pub(super) const DAY: i64 = 86_400 * SECOND_NANOS as i64;

/// Parses a date as days since 1970-01-01.
pub(super) fn date(text: &str) -> Option<i32> {
    i32::try_from(iso8601::parse_date(text)?).ok()
}

/// Parses a time of day as nanoseconds since midnight.
pub(super) fn time(text: &str) -> Option<i64> {
    iso8601::parse_time(text)?.ticks(SECOND_NANOS).ok()
}

/// Parses a date, optionally with a time, as nanoseconds since 1970. The flag is true if the text has an offset from
/// UTC. If so, the result is in UTC.
pub(super) fn timestamp(text: &str) -> Option<(i128, bool)> {
    if let Some(days) = date(text) {
        return Some((i128::from(days) * i128::from(DAY), false));
    }
    let moment = iso8601::parse_timestamp(&with_colon(text))?;
    Some((moment.utc_nanos(), moment.offset.is_some()))
}

/// Normalizes a timestamp's offset by adding the colon required by ISO 8601, for text with `+0200` or `+02`.
fn with_colon(text: &str) -> Cow<'_, str> {
    let offset = |digits: usize| {
        let (before, after) = text.split_at_checked(text.len().checked_sub(digits)?)?;
        // The sign must follow a time. Otherwise it would be part of a date.
        let is_offset = before.ends_with(['+', '-'])
            && before.contains(':')
            && after.bytes().all(|byte| byte.is_ascii_digit());
        is_offset.then_some((before, after))
    };
    if let Some((before, after)) = offset(4) {
        let (hours, minutes) = after.split_at_checked(2).unwrap_or((after, ""));
        return format!("{before}{hours}:{minutes}").into();
    }
    match offset(2) {
        Some(_) => format!("{text}:00").into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments() {
        // These days are known: the Unix epoch, the day after a leap day, and the last day of 64-bit nanoseconds.
        assert_eq!(date("1970-01-01"), Some(0));
        assert_eq!(date("2000-03-01"), Some(11_017));
        assert_eq!(date("1969-12-31"), Some(-1));
        assert_eq!(date("2262-04-11"), Some(106_751));
        assert_eq!(date("0001-01-01"), Some(-719_162));
        for wrong in [
            "2023-02-29",
            "1900-02-29",
            "2024-13-01",
            "2024-1-01",
            "2024-01",
            "x",
        ] {
            assert_eq!(date(wrong), None, "{wrong}");
        }
        assert!(date("2000-02-29").is_some());
        assert_eq!(time("00:00:01.5"), Some(1_500_000_000));
        assert_eq!(time("23:59"), Some(86_340_000_000_000));
        for wrong in [
            "24:00:00",
            "1:00",
            "00:00:00.",
            "00:00:00.1234567891",
            "00:60",
        ] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
        let second = i128::from(SECOND_NANOS);
        assert_eq!(timestamp("1970-01-02"), Some((86_400 * second, false)));
        assert_eq!(
            timestamp("1970-01-01T01:00:00Z"),
            Some((3_600 * second, true))
        );
        assert_eq!(
            timestamp("1970-01-01 01:00:00+02:00"),
            Some((-3_600 * second, true))
        );
        assert_eq!(
            timestamp("1969-12-31 23:59:59.25-00:30"),
            Some((1_799_250_000_000, true))
        );
        for same in ["1970-01-01 01:00:00+0200", "1970-01-01T01:00:00+02"] {
            assert_eq!(timestamp(same), Some((-3_600 * second, true)), "{same}");
        }
        assert_eq!(timestamp("1970-01-01T01:00:00+99:00"), None);
        assert_eq!(timestamp("1970-01-01T01:00:00+2"), None);
    }
}

//! Dates, times and timestamps in literals, as ISO 8601 text.

use herringbone_text::iso8601;

/// Nanoseconds of a second.
const SECOND_NANOS: u32 = 1_000_000_000;
/// Nanoseconds of a day.
pub(super) const DAY: i64 = 86_400 * SECOND_NANOS as i64;

/// Returns the days since 1970-01-01 of a date.
pub(super) fn date(text: &str) -> Option<i32> {
    i32::try_from(iso8601::parse_date(text)?).ok()
}

/// Returns the nanoseconds of the day of a time.
pub(super) fn time(text: &str) -> Option<i64> {
    iso8601::parse_time(text)?.ticks(SECOND_NANOS).ok()
}

/// Returns the nanoseconds since 1970 of a date, or of a date and a time, and true if they have an offset
/// from UTC, which is taken off.
pub(super) fn timestamp(text: &str) -> Option<(i128, bool)> {
    if let Some(days) = date(text) {
        return Some((i128::from(days) * i128::from(DAY), false));
    }
    let moment = iso8601::parse_timestamp(text)?;
    Some((moment.utc_nanos(), moment.offset.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_moments() {
        // Known days: Unix' own, the day after the last leap day, the end of nanoseconds.
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
        assert_eq!(timestamp("1970-01-01T01:00:00+99:00"), None);
    }
}

//! Dates, times and timestamps in text (ISO 8601, as SQL writes them).

/// Nanoseconds of a second and of a day.
const SECOND: i64 = 1_000_000_000;
pub(super) const DAY: i64 = 86_400 * SECOND;

/// Days since 1970-01-01 of `YYYY-MM-DD`.
pub(super) fn date(text: &str) -> Option<i32> {
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let mut parts = digits.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || year.len() < 4 || month.len() != 2 || day.len() != 2 {
        return None;
    }
    let year: i64 = number(year)?;
    let year = if is_negative { -year } else { year };
    let (month, day): (i64, i64) = (number(month)?, number(day)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the day that some have more comes last.
    let year = year - i64::from(month <= 2);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_era = 365 * year_of_era + year_of_era / 4 - year_of_era / 100 + day_of_year;
    i32::try_from(era * 146_097 + day_of_era - 719_468).ok()
}

/// Nanoseconds of the day of `HH:MM[:SS[.fraction]]`; no more than nine digits of a second.
pub(super) fn time(text: &str) -> Option<i64> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let mut parts = clock.split(':');
    let (hour, minute) = (two_digits(parts.next()?)?, two_digits(parts.next()?)?);
    let second = match parts.next() {
        Some(second) => two_digits(second)?,
        None if fraction.is_some() => return None,
        None => 0,
    };
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let nanos = match fraction {
        None => 0,
        Some(digits) if digits.is_empty() || digits.len() > 9 => return None,
        Some(digits) => number(digits)? * 10_i64.pow(9 - digits.len() as u32),
    };
    Some(((hour * 60 + minute) * 60 + second) * SECOND + nanos)
}

/// Nanoseconds since 1970 of a date, or of a date and a time behind `T` or a blank, and whether these are in UTC: a
/// zone may follow, `Z` or `+HH:MM`.
pub(super) fn timestamp(text: &str) -> Option<(i128, bool)> {
    let Some((day, clock)) = text.split_once(['T', 't', ' ']) else {
        return Some((i128::from(date(text)?) * i128::from(DAY), false));
    };
    let (clock, zone) = zone(clock)?;
    let local = i128::from(date(day)?) * i128::from(DAY) + i128::from(time(clock)?);
    let offset = i128::from(zone.unwrap_or_default()) * 60 * i128::from(SECOND);
    Some((local - offset, zone.is_some()))
}

/// A time without its zone, and the minutes that the zone is ahead of UTC.
fn zone(clock: &str) -> Option<(&str, Option<i64>)> {
    if let Some(clock) = clock.strip_suffix(['Z', 'z']) {
        return Some((clock, Some(0)));
    }
    let Some(at) = clock.rfind(['+', '-']) else {
        return Some((clock, None));
    };
    let (clock, zone) = clock.split_at_checked(at)?;
    let sign = if zone.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = match zone.get(1..)?.split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None => (zone.get(1..)?, "00"),
    };
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    (hours <= 18 && minutes <= 59).then_some((clock, Some(sign * (hours * 60 + minutes))))
}

fn two_digits(text: &str) -> Option<i64> {
    (text.len() == 2).then(|| number(text)).flatten()
}

fn number(text: &str) -> Option<i64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
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
        assert_eq!(time("23:59"), Some(86_340 * SECOND));
        for wrong in [
            "24:00:00",
            "1:00",
            "00:00:00.",
            "00:00:00.1234567890",
            "00:60",
        ] {
            assert_eq!(time(wrong), None, "{wrong}");
        }
        let second = i128::from(SECOND);
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

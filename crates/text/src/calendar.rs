//! Converts between days and dates of the proleptic Gregorian calendar, over the whole 64-bit range of days.
//!
//! We need such a large range because a file can contain any 64-bit number of seconds, and we have to be able to print
//! it.

/// The number of days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;
/// The number of days in 400 years.
const DAYS_400: i64 = 146_097;
/// The number of days in 100 years that begin in March, if the last year has no leap day.
const DAYS_100: i64 = 36_524;
/// The number of days in 4 years that begin in March, including the last year's leap day.
const DAYS_4: i64 = 1_461;
/// The number of days before each month in a year that begins in March.
const MONTH_STARTS: [i64; 12] = [0, 31, 61, 92, 122, 153, 184, 214, 245, 275, 306, 337];

/// A calendar date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Date {
    /// The astronomical year, where 0 is 1 BC.
    pub year: i64,
    /// The month, from 1 to 12.
    pub month: u8,
    /// The day of the month, from 1 to 31.
    pub day: u8,
}

/// Returns the date `days` days after 1970-01-01.
///
/// If the number of days since 0000-03-01 exceeds 64 bits, this returns the last date in range.
// A year that begins in March has its leap day at the end, so each cycle of years consists of equal parts. Only the
// last part is a day longer or shorter, and the `min` calls keep that day in its part.
#[must_use]
pub fn date_of_days(days: i64) -> Date {
    let days = days.saturating_add(EPOCH);
    let cycle = days.div_euclid(DAYS_400);
    let rest = days.rem_euclid(DAYS_400);
    let century = (rest / DAYS_100).min(3);
    let rest = rest - century * DAYS_100;
    let four = rest / DAYS_4;
    let rest = rest - four * DAYS_4;
    let one = (rest / 365).min(3);
    let rest = rest - one * 365;
    let year = cycle * 400 + century * 100 + four * 4 + one;
    // From March on, five consecutive months have 153 days in total, and so do the next five.
    let month = usize::try_from((rest * 5 + 2) / 153).unwrap_or(0);
    let day = rest - MONTH_STARTS.get(month).copied().unwrap_or(0) + 1;
    let (year, month) = if month < 10 {
        (year, month + 3)
    } else {
        (year + 1, month - 9)
    };
    Date {
        year,
        month: u8::try_from(month).unwrap_or(0),
        day: u8::try_from(day).unwrap_or(0),
    }
}

/// Returns the number of days from 1970-01-01 to a date, or `None` if there's no such date or it's out of range.
#[must_use]
pub fn days_of_date(wanted: Date) -> Option<i64> {
    let month = usize::from(wanted.month).checked_sub(1)?;
    // We convert to a year that begins in March.
    let (year, month) = match month {
        0 | 1 => (wanted.year.checked_sub(1)?, month + 10),
        2..=11 => (wanted.year, month - 2),
        _ => return None,
    };
    let (cycle, cycle_days) = (year.div_euclid(400), year.rem_euclid(400));
    let years = cycle_days * 365 + cycle_days / 4 - cycle_days / 100;
    // The year that begins in March ends with the next year's February.
    let next = cycle_days + 1;
    let is_leap = next % 4 == 0 && (next % 100 != 0 || next == 400);
    let length = match wanted.month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let day = i64::from(wanted.day) - 1;
    if !(0..length).contains(&day) {
        return None;
    }
    let cycle_days = years + MONTH_STARTS.get(month)? + day;
    let days = cycle
        .checked_mul(DAYS_400)?
        .checked_add(cycle_days - EPOCH)?;
    // We refuse dates whose count from 0000-03-01 overflows, because `date_of_days` uses that count.
    days.checked_add(EPOCH).map(|_| days)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_leap(year: i64) -> bool {
        year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
    }

    fn next(mut date: Date) -> Date {
        let days = match date.month {
            2 if is_leap(date.year) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        date.day += 1;
        if date.day > days {
            (date.day, date.month) = (1, date.month + 1);
        }
        if date.month > 12 {
            (date.month, date.year) = (1, date.year + 1);
        }
        date
    }

    #[test]
    fn follows_a_calendar_walked_day_by_day() {
        // The day 0000-01-01 is 719528 days before the epoch.
        let mut expected = Date {
            year: 0,
            month: 1,
            day: 1,
        };
        for days in -719_528..=400_000 {
            assert_eq!(date_of_days(days), expected, "{days}");
            assert_eq!(days_of_date(expected), Some(days));
            expected = next(expected);
        }
    }

    #[test]
    fn dates_that_do_not_exist_have_no_days() {
        for (year, month, day) in [
            (2023, 2, 29),
            (1900, 2, 29),
            (2024, 4, 31),
            (2024, 0, 1),
            (2024, 13, 1),
            (2024, 1, 0),
            (2024, 1, 32),
            (i64::MAX, 1, 1),
            (i64::MIN, 1, 1),
        ] {
            assert_eq!(days_of_date(Date { year, month, day }), None);
        }
    }

    #[test]
    fn repeats_every_400_years_however_far() {
        for days in [-1, 0, 59, 60, 365, 11_016, 146_096] {
            let near = date_of_days(days);
            for cycles in [-700_000_000_i64, -1, 1, 700_000_000] {
                let far = date_of_days(days + cycles * DAYS_400);
                assert_eq!(far.year, near.year + cycles * 400);
                assert_eq!((far.month, far.day), (near.month, near.day));
            }
        }
    }
}

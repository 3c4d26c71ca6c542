//! Parses and formats dates, times and timestamps of ISO 8601.
//!
//! ```text
//! date        2024-02-29    +10000-01-01    -0001-12-31    years beyond four digits have a sign
//! time        12:34    12:34:56    12:34:56.789
//! timestamp   a date, `T` or a space, a time, and an optional offset: Z, +01:00, +0100, +01
//! ```
//!
//! A text is either parsed exactly or rejected. For example, any fractional digits after the ninth must be zeros. Leap
//! seconds and hour 24 are not supported.

use std::fmt::Write as _;

use crate::calendar::{Date, date_of_days, days_of_date};

const DAY_SECONDS: i64 = 86_400;
const SECOND_NANOS: u32 = 1_000_000_000;
/// The maximum number of significant digits in the fraction of a second.
const MAX_DIGITS: usize = 9;

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeOfDay {
    /// The number of seconds since midnight. This is below 86,400.
    pub seconds: u32,
    /// The nanoseconds within the second.
    pub nanos: u32,
    /// The number of digits in the fraction of the second, including zeros. It is at most nine.
    pub digits: usize,
}

/// A date with a time, and optionally an offset from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp {
    /// The number of seconds since 1970-01-01T00:00:00, according to the local clock in the text.
    pub seconds: i64,
    /// The nanoseconds within the second.
    pub nanos: u32,
    /// The number of digits in the fraction of the second, including zeros. It is at most nine.
    pub digits: usize,
    /// The offset in seconds ahead of UTC, if the text has one.
    pub offset: Option<i32>,
}

/// The reason for failing to express a time as a number of some unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotCounted {
    /// The time has digits below the unit.
    MoreDigits,
    /// The count exceeds 64 bits.
    OutOfRange,
}

impl TimeOfDay {
    /// Returns the number of units since midnight. `per_second` must be a power of ten up to 10⁹.
    ///
    /// # Errors
    ///
    /// Fails if the time has digits below the unit.
    pub fn ticks(&self, per_second: u32) -> Result<i64, NotCounted> {
        let units = i64::from(units(self.nanos, per_second)?);
        Ok(i64::from(self.seconds) * i64::from(per_second) + units)
    }
}

impl Timestamp {
    /// Returns the number of units since 1970, in UTC. `per_second` must be a power of ten up to 10⁹.
    ///
    /// # Errors
    ///
    /// Fails if the time has digits below the unit, or if the count exceeds 64 bits.
    pub fn ticks(&self, per_second: u32) -> Result<i64, NotCounted> {
        let units = i128::from(units(self.nanos, per_second)?);
        let ticks = self.utc_seconds() * i128::from(per_second) + units;
        i64::try_from(ticks).map_err(|_| NotCounted::OutOfRange)
    }

    /// Returns the number of nanoseconds since 1970, in UTC.
    #[must_use]
    pub fn utc_nanos(&self) -> i128 {
        self.utc_seconds() * i128::from(SECOND_NANOS) + i128::from(self.nanos)
    }

    fn utc_seconds(&self) -> i128 {
        i128::from(self.seconds) - i128::from(self.offset.unwrap_or(0))
    }
}

/// Converts nanoseconds to units of 1/`per_second` of a second.
fn units(nanos: u32, per_second: u32) -> Result<u32, NotCounted> {
    let unit_nanos = SECOND_NANOS.checked_div(per_second).unwrap_or(0).max(1);
    match nanos % unit_nanos {
        0 => Ok(nanos / unit_nanos),
        _ => Err(NotCounted::MoreDigits),
    }
}

/// Parses a date as the number of days since 1970-01-01.
#[must_use]
pub fn parse_date(text: &str) -> Option<i64> {
    let (days, rest) = date_at_start(text)?;
    rest.is_empty().then_some(days)
}

/// Parses a time of day, which must not have an offset.
#[must_use]
pub fn parse_time(text: &str) -> Option<TimeOfDay> {
    let (time, rest) = time_at_start(text)?;
    rest.is_empty().then_some(time)
}

/// Parses a timestamp.
#[must_use]
pub fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let (days, rest) = date_at_start(text)?;
    let (time, rest) = time_at_start(rest.strip_prefix(['T', 't', ' '])?)?;
    let offset = match rest {
        "" => None,
        "Z" | "z" => Some(0),
        rest => Some(parse_offset(rest)?),
    };
    let seconds = i128::from(days) * i128::from(DAY_SECONDS) + i128::from(time.seconds);
    Some(Timestamp {
        seconds: i64::try_from(seconds).ok()?,
        nanos: time.nanos,
        digits: time.digits,
        offset,
    })
}

/// Parses an offset such as `+02:00`, `-0530` or `+02` as the number of seconds ahead of UTC.
#[must_use]
pub fn parse_offset(text: &str) -> Option<i32> {
    let (hours, rest) = two_digits(text.strip_prefix(['+', '-'])?)?;
    let (minutes, rest) = match rest {
        "" => (0, ""),
        rest => two_digits(rest.strip_prefix(':').unwrap_or(rest))?,
    };
    if hours > 23 || minutes > 59 || !rest.is_empty() {
        return None;
    }
    let seconds = (hours * 3600 + minutes * 60) as i32;
    Some(if text.starts_with('-') {
        -seconds
    } else {
        seconds
    })
}

/// Parses a date at the start of the text and returns it with the rest.
fn date_at_start(text: &str) -> Option<(i64, &str)> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let (year, rest) = unsigned.split_at_checked(end)?;
    let (month, rest) = two_digits(rest.strip_prefix('-')?)?;
    let (day, rest) = two_digits(rest.strip_prefix('-')?)?;
    let number: i64 = year.parse().ok()?;
    let is_long = year.len() > 4 && !year.starts_with('0');
    let year = match text.as_bytes().first()? {
        b'+' if is_long => number,
        b'-' if is_long || year.len() == 4 => -number,
        b'0'..=b'9' if year.len() == 4 => number,
        _ => return None,
    };
    let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    Some((days_of_date(Date { year, month, day })?, rest))
}

/// Parses a time at the start of the text and returns it with the rest.
fn time_at_start(text: &str) -> Option<(TimeOfDay, &str)> {
    let (hours, rest) = two_digits(text)?;
    let (minutes, rest) = two_digits(rest.strip_prefix(':')?)?;
    let (seconds, rest) = match rest.strip_prefix(':') {
        Some(rest) => two_digits(rest)?,
        // Only seconds may have a fraction, so a fractional minute is an error.
        None if rest.starts_with('.') => return None,
        None => (0, rest),
    };
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let seconds = hours * 3600 + minutes * 60 + seconds;
    let (nanos, digits, rest) = match rest.strip_prefix('.') {
        Some(fraction) => nanos_at_start(fraction)?,
        None => (0, 0, rest),
    };
    let time = TimeOfDay {
        seconds,
        nanos,
        digits,
    };
    Some((time, rest))
}

/// Parses a fraction's digits. Returns the nanoseconds, the number of digits, and the rest of the text.
fn nanos_at_start(text: &str) -> Option<(u32, usize, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(length)?;
    let counted = length.min(MAX_DIGITS);
    let (digits, beyond) = digits.split_at_checked(counted)?;
    if digits.is_empty() || beyond.bytes().any(|digit| digit != b'0') {
        return None;
    }
    let number: u32 = digits.parse().ok()?;
    let missing = u32::try_from(MAX_DIGITS - counted).ok()?;
    Some((number * 10_u32.pow(missing), counted, rest))
}

fn two_digits(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(2)?;
    let is_number = digits.bytes().all(|it| it.is_ascii_digit());
    Some((is_number.then(|| digits.parse().ok()).flatten()?, rest))
}

/// Appends the date `days` days after 1970-01-01, in the form `2024-01-02`.
pub fn push_date(out: &mut String, days: i64) {
    let Date { year, month, day } = date_of_days(days);
    let number = year.unsigned_abs();
    let ([a, b], [c, d]) = (last_digits(number / 100), last_digits(number));
    let ([e, f], [g, h]) = (last_digits(month.into()), last_digits(day.into()));
    let text = [a, b, c, d, b'-', e, f, b'-', g, h];
    if (0..=9999).contains(&year) {
        return push_ascii(out, &text);
    }
    _ = match year {
        10_000.. => write!(out, "+{year}"),
        _ => write!(out, "-{number:04}"),
    };
    push_ascii(out, text.split_at(4).1);
}

/// Appends a time such as `12:34:56.789`. `value` is the time since midnight, in units of the last of `digits`
/// fractional digits of a second.
///
/// A negative time gets a sign. Hours can have more than two digits, for example `100:00:00`.
pub fn push_time(out: &mut String, value: i64, digits: usize) {
    if value < 0 {
        out.push('-');
    }
    let (value, per_second) = (value.unsigned_abs(), per_second(digits).unsigned_abs());
    push_clock(out, value / per_second, value % per_second, digits);
}

/// Appends a timestamp such as `2024-01-02T03:04:05.123456`. `value` is the time since 1970 in UTC, in units of the
/// last of `digits` fractional digits of a second. `offset` is the number of seconds ahead of UTC, or `None` to show no
/// offset.
pub fn push_timestamp(out: &mut String, value: i64, digits: usize, offset: Option<i32>) {
    let per_second = per_second(digits);
    let seconds = value.div_euclid(per_second);
    let fraction = value.rem_euclid(per_second).unsigned_abs();
    // We add the offset to the second of the day, because adding it to all seconds might overflow.
    let day = seconds.div_euclid(DAY_SECONDS);
    let second = seconds.rem_euclid(DAY_SECONDS) + i64::from(offset.unwrap_or(0));
    push_date(out, day + second.div_euclid(DAY_SECONDS));
    out.push('T');
    let second = second.rem_euclid(DAY_SECONDS).unsigned_abs();
    push_clock(out, second, fraction, digits);
    match offset {
        None => {}
        Some(0) => out.push('Z'),
        Some(offset) => {
            let sign = if offset < 0 { '-' } else { '+' };
            let minutes = offset.unsigned_abs() / 60;
            _ = write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        }
    }
}

/// Returns the number of units per second for this number of fractional digits.
fn per_second(digits: usize) -> i64 {
    10_i64.pow(digits.min(MAX_DIGITS) as u32)
}

/// Appends hours, minutes and seconds, and a fraction if it has any digits.
fn push_clock(out: &mut String, seconds: u64, fraction: u64, digits: usize) {
    let ([a, b], [c, d], [e, f]) = (
        last_digits(seconds / 3600),
        last_digits(seconds / 60 % 60),
        last_digits(seconds % 60),
    );
    let text = [a, b, b':', c, d, b':', e, f];
    match seconds / 3600 {
        0..=99 => push_ascii(out, &text),
        hours => {
            _ = write!(out, "{hours}");
            push_ascii(out, text.split_at(2).1);
        }
    }
    if digits > 0 {
        out.push('.');
        push_digits(out, fraction, digits);
    }
}

/// Appends the last `width` (at most nine) digits of `number`.
///
/// This is handwritten because it's the hot path of formatting a timestamp, and the standard library's formatter is
/// slower.
fn push_digits(out: &mut String, mut number: u64, width: usize) {
    let mut digits = [b'0'; MAX_DIGITS];
    let (digits, _) = digits.split_at_mut(width.min(MAX_DIGITS));
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    push_ascii(out, digits);
}

/// Returns the last two digits of `number`.
fn last_digits(number: u64) -> [u8; 2] {
    let number = (number % 100) as u8;
    [b'0' + number / 10, b'0' + number % 10]
}

/// Appends ASCII characters. Note that appending a whole date is faster than appending its parts.
fn push_ascii(out: &mut String, text: &[u8]) {
    // This can't fail, because the characters are ASCII.
    out.push_str(str::from_utf8(text).unwrap_or_default());
}

#[cfg(test)]
mod tests;

//! Dates, times and timestamps of ISO 8601, with every digit or not at all.

use herringbone_arrow::array::types::ArrowPrimitiveType;
use herringbone_arrow::schema::{DataType, TimeUnit};

use super::number::{DIGITS, RANGE};
use super::primitive::{primitive, ticks};
use super::{Column, Scalar};
use crate::render::civil::{self, Date};
use crate::render::temporal::offset_seconds;

const DAY: i64 = 86_400;

/// A moment as a text says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::load) struct Moment {
    /// Seconds since 1970, on the clock that the text shows.
    seconds: i64,
    pub(in crate::load) nanos: u32,
    /// Digits of the fraction, at most nine.
    pub(in crate::load) digits: usize,
    /// Seconds that the clock is east of UTC, if the text says so.
    pub(in crate::load) offset: Option<i32>,
}

impl Moment {
    /// Units since 1970 in UTC.
    ///
    /// # Errors
    /// Why there is no such number.
    pub(in crate::load) fn ticks(&self, unit: TimeUnit) -> Result<i64, &'static str> {
        let (per_second, nanos) = units(unit);
        if i64::from(self.nanos) % nanos != 0 {
            return Err(DIGITS);
        }
        let seconds = i128::from(self.seconds) - i128::from(self.offset.unwrap_or(0));
        let ticks = seconds * i128::from(per_second) + i128::from(i64::from(self.nanos) / nanos);
        i64::try_from(ticks).map_err(|_| RANGE)
    }
}

/// Units of a second, and nanoseconds of a unit.
fn units(unit: TimeUnit) -> (i64, i64) {
    match unit {
        TimeUnit::Second => (1, 1_000_000_000),
        TimeUnit::Millisecond => (1_000, 1_000_000),
        TimeUnit::Microsecond => (1_000_000, 1_000),
        TimeUnit::Nanosecond => (1_000_000_000, 1),
    }
}

/// `2024-02-29`, `+10000-01-01`, `-0001-12-31` as days since 1970, and what follows.
fn days(text: &str) -> Option<(i64, &str)> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|it: char| !it.is_ascii_digit())?;
    let (year, rest) = unsigned.split_at_checked(end)?;
    let (month, rest) = two_digits(rest.strip_prefix('-')?)?;
    let (day, rest) = two_digits(rest.strip_prefix('-')?)?;
    let number: i64 = year.parse().ok()?;
    let year = match text.as_bytes().first()? {
        b'+' if year.len() > 4 && !year.starts_with('0') => number,
        b'-' if year.len() == 4 || year.len() > 4 && !year.starts_with('0') => -number,
        b'0'..=b'9' if year.len() == 4 => number,
        _ => return None,
    };
    let (month, day) = (u8::try_from(month).ok()?, u8::try_from(day).ok()?);
    let days = civil::days(Date { year, month, day })?;
    Some((days, rest))
}

fn two_digits(text: &str) -> Option<(i64, &str)> {
    let (digits, rest) = text.split_at_checked(2)?;
    let digits = digits
        .bytes()
        .all(|it| it.is_ascii_digit())
        .then_some(digits)?;
    Some((digits.parse().ok()?, rest))
}

/// `12:34:56.789` as seconds, nanoseconds and digits, and what follows.
fn clock(text: &str) -> Option<(i64, u32, usize, &str)> {
    let (hours, rest) = two_digits(text)?;
    let (minutes, rest) = two_digits(rest.strip_prefix(':')?)?;
    let (seconds, rest) = match rest.strip_prefix(':') {
        Some(rest) => two_digits(rest)?,
        None => (0, rest),
    };
    if hours > 23 || minutes > 59 || seconds > 59 {
        return None;
    }
    let seconds = hours * 3600 + minutes * 60 + seconds;
    let Some(fraction) = rest.strip_prefix('.') else {
        return Some((seconds, 0, 0, rest));
    };
    let is_digit = |it: &char| it.is_ascii_digit();
    let length = fraction.chars().take_while(is_digit).count();
    let (digits, rest) = fraction.split_at_checked(length)?;
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let nanos = format!("{digits:0<9}").parse().ok()?;
    Some((seconds, nanos, digits.len(), rest))
}

/// A date, in days since 1970.
pub(in crate::load) fn date(text: &str) -> Option<i64> {
    days(text)
        .filter(|(_, rest)| rest.is_empty())
        .map(|(days, _)| days)
}

/// A date and a time, with `T` or a space between, and perhaps an offset: `Z`, `+01:00`, `+0100`, `+01`.
pub(in crate::load) fn timestamp(text: &str) -> Option<Moment> {
    let (days, rest) = days(text)?;
    let (seconds, nanos, digits, rest) = clock(rest.strip_prefix(['T', ' '])?)?;
    let offset = match rest {
        "" => None,
        "Z" => Some(0),
        rest => Some(offset_seconds(rest)?),
    };
    Some(Moment {
        seconds: days.checked_mul(DAY)?.checked_add(seconds)?,
        nanos,
        digits,
        offset,
    })
}

/// What a scalar says, where numbers of JSON count units.
fn read(
    scalar: Scalar<'_>,
    text: impl Fn(&str) -> Result<i64, &'static str>,
) -> Result<i64, &'static str> {
    match scalar {
        Scalar::Boolean(_) => Err(""),
        Scalar::Number(number) => ticks(number),
        Scalar::Text(it) | Scalar::Cell(it) => text(it),
    }
}

/// A date, or midnight of one.
fn midnight(text: &str) -> Result<i64, &'static str> {
    if let Some(days) = date(text) {
        return Ok(days);
    }
    let moment = timestamp(text).ok_or("")?;
    match (moment.offset, moment.nanos, moment.seconds.rem_euclid(DAY)) {
        (Some(_), ..) => Err("it has an offset from UTC"),
        (None, 0, 0) => Ok(moment.seconds.div_euclid(DAY)),
        _ => Err("it has a time"),
    }
}

/// Days.
pub(super) fn dates<T: ArrowPrimitiveType<Native = i32>>(data_type: &DataType) -> Box<dyn Column> {
    primitive::<T>(data_type, |scalar| {
        i32::try_from(read(scalar, midnight)?).map_err(|_| RANGE)
    })
}

/// Milliseconds, which should be whole days, and are shown as what they are.
pub(super) fn dates_in_milliseconds<T>(data_type: &DataType) -> Box<dyn Column>
where
    T: ArrowPrimitiveType<Native = i64>,
{
    primitive::<T>(data_type, |scalar| {
        read(scalar, |text| match date(text) {
            Some(days) => days.checked_mul(DAY * 1000).ok_or(RANGE),
            None => local(text)?.ticks(TimeUnit::Millisecond),
        })
    })
}

/// Units since midnight.
pub(super) fn times<T>(data_type: &DataType, unit: TimeUnit) -> Box<dyn Column>
where
    T: ArrowPrimitiveType<Native: TryFrom<i64>>,
{
    let (per_second, nanos_of_unit) = units(unit);
    primitive::<T>(data_type, move |scalar| {
        let value = read(scalar, |text| {
            let (seconds, nanos, _, rest) = clock(text).ok_or("")?;
            let nanos = i64::from(nanos);
            match (rest, nanos % nanos_of_unit) {
                ("", 0) => Ok(seconds * per_second + nanos / nanos_of_unit),
                ("", _) => Err(DIGITS),
                _ => Err(""),
            }
        })?;
        if !(0..DAY * per_second).contains(&value) {
            return Err(RANGE);
        }
        T::Native::try_from(value).map_err(|_| RANGE)
    })
}

fn local(text: &str) -> Result<Moment, &'static str> {
    let moment = match date(text) {
        Some(_) => timestamp(&format!("{text}T00:00:00")),
        None => timestamp(text),
    };
    match moment {
        None => Err(""),
        Some(Moment {
            offset: Some(_), ..
        }) => Err("it has an offset from UTC, and the type has no time zone"),
        Some(moment) => Ok(moment),
    }
}

/// Units since 1970: of a clock on the wall, or instants where there is a time zone.
pub(super) fn timestamps<T>(data_type: &DataType, unit: TimeUnit, zone: bool) -> Box<dyn Column>
where
    T: ArrowPrimitiveType<Native = i64>,
{
    primitive::<T>(data_type, move |scalar| {
        read(scalar, |text| {
            if !zone {
                return local(text)?.ticks(unit);
            }
            let moment = timestamp(text).ok_or("")?;
            match moment.offset {
                Some(_) => moment.ticks(unit),
                None => Err(
                    "it has no offset from UTC, such as Z or +01:00, and the type has a time zone",
                ),
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_of_the_calendar() {
        for (text, days) in [
            ("1970-01-01", Some(0)),
            ("2024-02-29", Some(19_782)),
            ("0000-01-01", Some(-719_528)),
            ("-0001-12-31", Some(-719_529)),
            ("+10000-01-01", Some(2_932_897)),
            ("+5881580-07-11", Some(i32::MAX.into())),
            ("-5877641-06-23", Some(i32::MIN.into())),
            ("2023-02-29", None),
            ("1900-02-29", None),
            ("1234-56-78", None),
            ("2024-00-10", None),
            ("2024-04-31", None),
            ("2024-1-1", None),
            ("+2024-01-01", None),
            ("10000-01-01", None),
            ("-00001-01-01", None),
            ("99999999999999999999-01-01", None),
            ("+99999999999999999-01-01", None),
            ("2024-01-01 ", None),
            ("", None),
        ] {
            assert_eq!(date(text), days, "{text}");
        }
    }

    #[test]
    fn timestamps_have_all_their_digits() {
        let ticks = |text: &str, unit| timestamp(text).map(|it| it.ticks(unit));
        use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
        for (text, unit, expected) in [
            ("1970-01-01T00:00:01", Second, Some(Ok(1))),
            ("1970-01-01 00:00:01.5", Millisecond, Some(Ok(1500))),
            ("1970-01-01T00:00:01.5", Second, Some(Err(DIGITS))),
            ("1970-01-01T00:00:01.999", Second, Some(Err(DIGITS))),
            ("1970-01-01T05:00:00+05:00", Second, Some(Ok(0))),
            ("1970-01-01T00:00:00-0130", Second, Some(Ok(5400))),
            ("1970-01-01T00:00:00+01", Second, Some(Ok(-3600))),
            ("1969-12-31T23:59:59.999999Z", Microsecond, Some(Ok(-1))),
            (
                "2262-04-11T23:47:16.854775807Z",
                Nanosecond,
                Some(Ok(i64::MAX)),
            ),
            (
                "1677-09-21T00:12:43.145224192",
                Nanosecond,
                Some(Ok(i64::MIN)),
            ),
            ("1600-01-01T00:00:00", Nanosecond, Some(Err(RANGE))),
            ("+292277026596-12-04T15:30:07", Second, Some(Ok(i64::MAX))),
            ("1970-01-01T24:00:00", Second, None),
            ("1970-01-01T23:59:60", Second, None),
            ("1970-01-01T00:00:00.", Second, None),
            ("1970-01-01T00:00:00.0000000000", Second, None),
            ("1970-01-01T00:00:00+24:00", Second, None),
            ("1970-01-01T00:00:00 UTC", Second, None),
            ("1970-01-01T", Second, None),
            ("1970-01-01", Second, None),
        ] {
            assert_eq!(ticks(text, unit), expected, "{text}");
        }
    }
}

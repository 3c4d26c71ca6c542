//! Recognizes the texts in JSON that become dates and timestamps.
//!
//! JSON has no dates, so a text only becomes a date if it round-trips, that is, if writing the date
//! gives the same text again. This requires one form per column: fractions have the same number of
//! digits, and either all texts or none end with `Z`.

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::schema::{DataType, TimeUnit};
use herringbone_text::iso8601::{parse_date, parse_timestamp};

use crate::read::value::{Column, ParseError, Result, Scalar, per_second};

/// The columns eligible for dates.
#[derive(Debug, Clone, Default)]
pub enum JsonDates {
    /// All columns with dates, but only if the file is short enough for inference to see every row.
    #[default]
    IfAllSeen,
    /// The columns with dates in the first rows. If a later row isn't a date, the read fails with
    /// [`Error::NotADate`](crate::Error::NotADate). You can then read again with this column added
    /// to `except`.
    Inferred {
        /// The paths of columns to keep as text.
        except: Vec<String>,
    },
}

impl JsonDates {
    /// Returns true if a column's texts are allowed to become dates.
    pub(super) fn allow(&self, path: &str, all_are_seen: bool) -> bool {
        match self {
            Self::IfAllSeen => all_are_seen,
            Self::Inferred { except } => except.iter().all(|text| text != path),
        }
    }
}

/// The textual form of a date or timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A date such as `2024-01-02`.
    Date,
    /// A timestamp such as `2024-01-02T03:04:05`, with as many fraction digits as its unit, and
    /// with `Z` if it's in UTC.
    Timestamp { unit: TimeUnit, is_utc: bool },
}

impl Form {
    /// Returns a text's form, or `None` unless it's an existing date or timestamp.
    pub(super) fn of(text: &str) -> Option<Self> {
        let form = Self::of_signs(text)?;
        let exists = match form {
            Self::Date => parse_date(text).is_some(),
            Self::Timestamp { unit, .. } => parse_timestamp(text)?.ticks(per_second(unit)).is_ok(),
        };
        exists.then_some(form)
    }

    /// Returns the form that a text's characters match, without checking the calendar.
    fn of_signs(text: &str) -> Option<Self> {
        let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1, rest @ ..] = text.as_bytes() else {
            return None;
        };
        let are_digits = |digits: &[u8]| digits.iter().all(u8::is_ascii_digit);
        if !are_digits(&[*y0, *y1, *y2, *y3, *m0, *m1, *d0, *d1]) {
            return None;
        }
        let [b'T', h0, h1, b':', n0, n1, b':', s0, s1, rest @ ..] = rest else {
            return rest.is_empty().then_some(Self::Date);
        };
        // Leap seconds and 24 o'clock don't round-trip, so they don't count.
        let is_below = |tens: &u8, ones: &u8, end: &[u8; 2]| [*tens, *ones] < *end;
        if !are_digits(&[*h0, *h1, *n0, *n1, *s0, *s1])
            || !is_below(h0, h1, b"24")
            || !is_below(n0, n1, b"60")
            || !is_below(s0, s1, b"60")
        {
            return None;
        }
        let (is_utc, fraction) = match rest {
            [fraction @ .., b'Z'] => (true, fraction),
            fraction => (false, fraction),
        };
        let unit = match fraction {
            [] => TimeUnit::Second,
            [b'.', digits @ ..] if are_digits(digits) => match digits.len() {
                3 => TimeUnit::Millisecond,
                6 => TimeUnit::Microsecond,
                9 => TimeUnit::Nanosecond,
                _ => return None,
            },
            _ => return None,
        };
        Some(Self::Timestamp { unit, is_utc })
    }

    /// Returns the type of values with this form.
    pub(super) fn data_type(self) -> DataType {
        match self {
            Self::Date => DataType::Date32,
            Self::Timestamp { unit, is_utc } => {
                DataType::Timestamp(unit, is_utc.then(|| "UTC".into()))
            }
        }
    }

    /// Returns this type's textual form.
    fn of_type(data_type: &DataType) -> Option<Self> {
        match data_type {
            DataType::Date32 => Some(Self::Date),
            DataType::Timestamp(unit, zone) => Some(Self::Timestamp {
                unit: *unit,
                is_utc: zone.is_some(),
            }),
            _ => None,
        }
    }
}

/// A column of dates that accepts texts in one form only.
pub(crate) struct ExactDates {
    form: Form,
    column: Box<dyn Column>,
}

impl ExactDates {
    /// Wraps the given column if its type has a textual form.
    pub(crate) fn of(data_type: &DataType, column: Box<dyn Column>) -> Box<dyn Column> {
        match Form::of_type(data_type) {
            Some(form) => Box::new(Self { form, column }),
            None => column,
        }
    }
}

impl Column for ExactDates {
    fn null(&mut self) {
        self.column.null();
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        if let Scalar::Text(text) = scalar
            && Form::of_signs(text) == Some(self.form)
            && self.column.usual(text)
        {
            return Ok(());
        }
        let error = ParseError::invalid(scalar, &self.form.data_type(), "");
        Err(error.about_a_date())
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        self.column.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_those_that_come_back_unchanged() {
        let timestamp = |unit, is_utc| Some(Form::Timestamp { unit, is_utc });
        for (text, form) in [
            ("2024-02-29", Some(Form::Date)),
            ("2024-01-02T03:04:05Z", timestamp(TimeUnit::Second, true)),
            ("2024-01-02T23:59:59", timestamp(TimeUnit::Second, false)),
            (
                "2024-01-02T03:04:05.123Z",
                timestamp(TimeUnit::Millisecond, true),
            ),
            (
                "2024-01-02T03:04:05.123456",
                timestamp(TimeUnit::Microsecond, false),
            ),
            (
                "2024-01-02T03:04:05.123456789Z",
                timestamp(TimeUnit::Nanosecond, true),
            ),
            ("2023-02-29", None),
            ("2024-13-01", None),
            ("2024-01-02 03:04:05", None),
            ("2024-01-02T03:04", None),
            ("2024-01-02T24:00:00", None),
            ("2024-01-02T03:60:00", None),
            ("2024-12-31T23:59:60Z", None),
            ("2024-01-02T03:04:05.1Z", None),
            ("2024-01-02T03:04:05+00:00", None),
            ("2024-01-02T03:04:05z", None),
            // Nanoseconds since 1970 end in 2262.
            ("2300-01-02T03:04:05.123456789Z", None),
            ("", None),
            ("2024", None),
        ] {
            assert_eq!(Form::of(text), form, "{text}");
        }
    }
}

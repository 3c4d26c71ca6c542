//! Determines the kinds of CSV fields and infers a type for a column from them.

use herringbone_arrow::schema::{DataType, TimeUnit};
use herringbone_text::iso8601::{Timestamp, parse_date, parse_timestamp};

use crate::read::numbers::Numbers;
use crate::read::value::is_special;
use crate::read::value::number::Number;

/// The narrowest kind that covers a set of fields. We merge the kinds of single fields to infer a
/// column's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// There is no value at all.
    Nothing,
    Boolean,
    Numbers(Numbers),
    /// Special names such as NaN. They only count as numbers if the column has other numbers.
    Special,
    Date,
    Timestamps(Timestamps),
    Text,
}

/// Common properties of a set of timestamps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timestamps {
    /// The maximum number of fraction digits.
    digits: usize,
    /// True if all timestamps have a UTC offset, false if none has.
    are_instants: bool,
    /// True if at least one offset is not zero.
    are_shifted: bool,
    /// For each unit, true if it can represent all of the timestamps.
    fits: [bool; 4],
}

const UNITS: [(usize, TimeUnit); 4] = [
    (0, TimeUnit::Second),
    (3, TimeUnit::Millisecond),
    (6, TimeUnit::Microsecond),
    (9, TimeUnit::Nanosecond),
];

impl Kind {
    /// Returns the kind of a field without quotes.
    pub(super) fn of(text: &str) -> Self {
        match text.as_bytes() {
            [b't' | b'T' | b'f' | b'F', ..] => {
                let is = |name: &str| text.eq_ignore_ascii_case(name);
                if is("true") || is("false") {
                    Self::Boolean
                } else {
                    Self::Text
                }
            }
            [b'N' | b'n' | b'I' | b'i', ..] | [b'-' | b'+', b'N' | b'n' | b'I' | b'i', ..]
                if is_special(text, false) =>
            {
                Self::Special
            }
            [b'+' | b'-' | b'.' | b'0'..=b'9', ..] => Self::number(text)
                .or_else(|| {
                    parse_date(text)
                        .and_then(|days| i32::try_from(days).ok())
                        .map(|_| Self::Date)
                })
                .or_else(|| {
                    parse_timestamp(text)
                        .map(Timestamps::of)
                        .map(Self::Timestamps)
                })
                .unwrap_or(Self::Text),
            _ => Self::Text,
        }
    }

    /// Returns a number's kind, if it round-trips except for trailing zeros. A number with leading
    /// zeros or a plus sign is probably a code, so we keep it as text.
    fn number(text: &str) -> Option<Self> {
        let number = Number::of(text)?;
        let zeros = number.whole.len() > 1 && number.whole.starts_with('0');
        if zeros || text.starts_with('+') {
            return Some(Self::Text);
        }
        Some(Self::Numbers(Numbers::of(&number)))
    }

    /// Returns the kind that covers both.
    pub(super) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, kind) | (kind, Self::Nothing) => kind,
            (Self::Numbers(a), Self::Numbers(b)) => Self::Numbers(a.with(b)),
            (Self::Numbers(a), Self::Special) | (Self::Special, Self::Numbers(a)) => {
                Self::Numbers(a.with_special())
            }
            (Self::Timestamps(a), Self::Timestamps(b)) if a.are_instants == b.are_instants => {
                Self::Timestamps(a.with(b))
            }
            (a, b) if a == b => a,
            _ => Self::Text,
        }
    }

    /// Returns true for dates and timestamps.
    pub(super) fn is_temporal(self) -> bool {
        matches!(self, Self::Date | Self::Timestamps(_))
    }

    /// Returns the type that holds all of the fields.
    pub(super) fn data_type(self) -> DataType {
        let data_type = match self {
            Self::Nothing | Self::Special | Self::Text => None,
            Self::Boolean => Some(DataType::Boolean),
            Self::Numbers(numbers) => numbers.machine_type(),
            Self::Date => Some(DataType::Date32),
            Self::Timestamps(timestamps) => timestamps.data_type(),
        };
        data_type.unwrap_or(DataType::Utf8)
    }

    /// Returns true if [`data_type`](Self::data_type) is text.
    pub(super) fn is_text(self) -> bool {
        // Fast path: usually the kind is already text, without building a type.
        self == Self::Text || self.data_type() == DataType::Utf8
    }

    /// Returns true if adding this field would not have changed the column's inferred type.
    pub(super) fn goes_with(self, data_type: &DataType) -> bool {
        match (data_type, self) {
            (DataType::Utf8, _) | (DataType::Boolean, Self::Boolean) => true,
            (DataType::Int64, Self::Numbers(numbers)) => numbers.integers && numbers.signed,
            (DataType::UInt64, Self::Numbers(numbers)) => numbers.integers && numbers.unsigned,
            (DataType::Float64, Self::Numbers(numbers)) => numbers.float,
            (DataType::Float64, Self::Special) | (DataType::Date32, Self::Date) => true,
            (DataType::Timestamp(unit, zone), Self::Timestamps(timestamps)) => {
                let place = UNITS.iter().position(|(_, known)| known == unit);
                let fits = place.and_then(|at| timestamps.fits.get(at));
                fits == Some(&true) && timestamps.are_instants == zone.is_some()
            }
            _ => false,
        }
    }

    /// Returns true if any timestamp has an offset other than zero.
    pub(super) fn is_shifted(self) -> bool {
        matches!(self, Self::Timestamps(timestamps) if timestamps.are_shifted)
    }
}

impl Timestamps {
    fn of(moment: Timestamp) -> Self {
        Self {
            digits: moment.digits,
            are_instants: moment.offset.is_some(),
            are_shifted: moment.offset.is_some_and(|offset| offset != 0),
            fits: UNITS.map(|(digits, _)| moment.ticks(10_u32.pow(digits as u32)).is_ok()),
        }
    }

    fn with(self, other: Self) -> Self {
        let [a, b, c, d] = self.fits;
        let [e, f, g, h] = other.fits;
        Self {
            digits: self.digits.max(other.digits),
            are_instants: self.are_instants,
            are_shifted: self.are_shifted || other.are_shifted,
            fits: [a && e, b && f, c && g, d && h],
        }
    }

    fn data_type(self) -> Option<DataType> {
        let mut units = UNITS.into_iter().zip(self.fits);
        let unit = units.find(|((digits, _), _)| *digits >= self.digits)?;
        let ((_, unit), true) = unit else {
            return None;
        };
        let zone = self.are_instants.then(|| "UTC".into());
        Some(DataType::Timestamp(unit, zone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> String {
        let kinds = texts.iter().map(|text| Kind::of(text));
        kinds
            .fold(Kind::Nothing, Kind::with)
            .data_type()
            .to_string()
    }

    #[test]
    fn the_type_holds_all() {
        for (texts, expected) in [
            (&[][..], "Utf8"),
            (&["true", "False"], "Boolean"),
            (&["1", "-2", "0"], "Int64"),
            (&["9223372036854775808", "0"], "UInt64"),
            (&["18446744073709551616"], "Utf8"),
            (&["-1", "9223372036854775808"], "Utf8"),
            (&["1", "1.10"], "Float64"),
            (&[".5", "5.", "1e5", "-0"], "Float64"),
            (&["1.5", "NaN", "-Infinity"], "Float64"),
            (&["NaN"], "Utf8"),
            // duckdb, pandas and numpy write these names.
            (&["1", "nan"], "Float64"),
            (&["inf", "-inf", "1.5", "-nan"], "Float64"),
            (&["1", "Inf", "+Infinity"], "Float64"),
            (&["inf", "-inf", "nan"], "Utf8"),
            (&["1", "infinite"], "Utf8"),
            (&["9007199254740993", "inf"], "Utf8"),
            (&["007"], "Utf8"),
            (&["-007"], "Utf8"),
            (&["00.5"], "Utf8"),
            (&["+5"], "Utf8"),
            (&["1", "007"], "Utf8"),
            (&["1e500"], "Utf8"),
            (&["0.1234567890123456789"], "Utf8"),
            (&["1.5", "9007199254740993"], "Utf8"),
            (&["2024-02-29", "-0001-01-01"], "Date32"),
            (&["1234-56-78"], "Utf8"),
            (&["2023-02-29"], "Utf8"),
            (&["+99999999-01-01"], "Utf8"),
            (&["24:00:00"], "Utf8"),
            (&["2024-01-02", "2024-01-02T00:00:00"], "Utf8"),
            (&["2024-01-02T23:59:59"], "Timestamp(s)"),
            (
                &["2024-01-02 23:59:59", "2024-01-02T23:59:59.1"],
                "Timestamp(ms)",
            ),
            (&["2024-01-02T23:59:59.0001"], "Timestamp(µs)"),
            (&["2024-01-02T23:59:59.0000001"], "Timestamp(ns)"),
            (
                &["1600-01-01T00:00:00", "2024-01-02T23:59:59.0000001"],
                "Utf8",
            ),
            (&["2024-01-02T24:00:00"], "Utf8"),
            (
                &["2024-01-02T03:04:05Z", "2024-01-02T03:04:05+00:00"],
                "Timestamp(s, \"UTC\")",
            ),
            // duckdb, polars and pyarrow read these as UTC too.
            (&["2024-01-02T03:04:05+05:30"], "Timestamp(s, \"UTC\")"),
            (
                &["2024-01-02T03:04:05Z", "2024-01-02T03:04:05-05:00"],
                "Timestamp(s, \"UTC\")",
            ),
            (&["2024-01-02T03:04:05Z", "2024-01-02T03:04:05"], "Utf8"),
            (&["1", "true"], "Utf8"),
            (&["12:34:56"], "Utf8"),
            (&[" 1"], "Utf8"),
            (&["1_000"], "Utf8"),
        ] {
            assert_eq!(of(texts), expected, "{texts:?}");
        }
    }

    #[test]
    fn later_fields_are_to_be_of_the_same_kind() {
        for (texts, later, goes) in [
            (&["1"][..], "2", true),
            (&["1"], "2.0", false),
            (&["1"], "007", false),
            (&["1"], "9223372036854775808", false),
            (&["1.5"], "2", true),
            (&["1.5"], "Infinity", true),
            (&["1.5"], "-inf", true),
            (&["1"], "nan", false),
            (&["2024-01-02T23:59:59Z"], "2024-01-02T23:59:59+05:00", true),
            (&["1.5"], "1e500", false),
            (&["1.5"], "9007199254740993", false),
            (&["2024-01-02"], "2024-01-02T23:59:59", false),
            (&["2024-01-02"], "2024-13-02", false),
            (&["2024-01-02T23:59:59"], "2024-01-02T23:59:59.999", false),
            (&["2024-01-02T23:59:59"], "2024-01-02T23:59:59+05:00", false),
            (&["2024-01-02T23:59:59Z"], "2024-01-02T23:59:59", false),
            (&["2024-01-02T23:59:59.5Z"], "2024-01-02T23:59:59Z", true),
            (&["x"], "1", true),
        ] {
            let kind = texts
                .iter()
                .map(|text| Kind::of(text))
                .fold(Kind::Nothing, Kind::with);
            assert_eq!(
                Kind::of(later).goes_with(&kind.data_type()),
                goes,
                "{texts:?} {later}"
            );
        }
    }
}

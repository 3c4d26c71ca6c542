//! Reads numbers with decimal commas or thousands separators, and dates in formats other than ISO
//! 8601.

use std::borrow::Cow;
use std::str::FromStr;

use chrono::format::{Item, Parsed, StrftimeItems, parse};
use herringbone_arrow::schema::DataType;

use super::kind::Kind;
use crate::read::value::number::Number;

/// A file's notation of numbers and dates. Use this to read files from spreadsheets and other
/// locales.
#[derive(Debug, Clone, Default)]
pub struct Dialect {
    /// The marks that numbers contain.
    pub marks: Marks,
    /// Accepted date and timestamp formats in addition to ISO 8601. Each column uses one of them.
    pub dates: Vec<DateFormat>,
}

/// The decimal mark and the thousands separator of numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Marks {
    /// A point before the fraction, and no marks between groups, as in `1234.50`.
    #[default]
    Usual,
    /// A comma before the fraction, and points between groups, as in `1.234,50`.
    DecimalComma,
    /// A point before the fraction, and commas between groups, as in `1,234.50`.
    Thousands,
}

impl Marks {
    /// Returns the decimal mark, the thousands separator, and the reason for rejecting a number in
    /// another notation.
    fn signs(self) -> Option<(char, char, &'static str)> {
        match self {
            Self::Usual => None,
            Self::DecimalComma => Some((
                ',',
                '.',
                "--decimal-comma allows dots only between groups of three digits",
            )),
            Self::Thousands => Some((
                '.',
                ',',
                "--thousands allows commas only between groups of three digits",
            )),
        }
    }
}

/// A column's notation of values.
#[derive(Debug, Clone, Default)]
pub(super) struct Notation {
    pub(super) marks: Marks,
    /// The accepted date or timestamp format in addition to ISO 8601.
    pub(super) date: Option<DateFormat>,
}

/// The format of a date or timestamp, in the syntax of `strftime`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateFormat(String);

impl FromStr for DateFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut items = StrftimeItems::new(text);
        if items.any(|item| item == Item::Error) {
            return Err("unknown part after `%`; use e.g. %d, %m, %Y, %H, %M, %S".into());
        }
        let mut parts = text.split('%').skip(1);
        if !parts.any(|part| part.starts_with(['d', 'e', 'j', 'F', 'D', 'x', 'v', 'c', '+', '-'])) {
            return Err("it does not have a day; use e.g. %d.%m.%Y".into());
        }
        Ok(Self(text.to_owned()))
    }
}

impl DateFormat {
    /// Returns the format as it was given.
    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// Returns the ISO 8601 form of a text in this format.
    fn iso(&self, text: &str) -> Option<String> {
        let mut parsed = Parsed::new();
        parse(&mut parsed, text, StrftimeItems::new(&self.0)).ok()?;
        let date = parsed.to_naive_date().ok()?;
        let Ok(time) = parsed.to_naive_time() else {
            return Some(date.to_string());
        };
        let offset = parsed.to_fixed_offset().ok();
        let offset = offset.map(|offset| offset.to_string()).unwrap_or_default();
        Some(format!("{date}T{time}{offset}"))
    }
}

impl Dialect {
    /// Returns the candidate notations for a column, one per date format and at least one.
    pub(super) fn notations(&self) -> Vec<Notation> {
        let notation = |date| Notation {
            marks: self.marks,
            date,
        };
        match self.dates.is_empty() {
            true => vec![notation(None)],
            false => self.dates.iter().cloned().map(Some).map(notation).collect(),
        }
    }

    /// Returns true if quotes turn a field into text. The exception is a comma inside a number: if
    /// commas also separate fields, such a number needs quotes.
    pub(super) fn is_text(&self, (text, quoted): (&str, bool), delimiter: u8) -> bool {
        quoted && !(self.marks != Marks::Usual && delimiter == b',' && text.contains(','))
    }
}

impl Notation {
    /// Returns true if this is the default notation.
    pub(super) fn is_usual(&self) -> bool {
        self.marks == Marks::Usual && self.date.is_none()
    }

    /// Returns the kind of a field that quotes do not turn into text.
    pub(super) fn kind(&self, text: &str) -> Kind {
        if let Some(date) = self.date(text) {
            return Kind::of(&date);
        }
        match self.number(text) {
            Ok(number) => Kind::of(&number),
            Err(_) => Kind::Text,
        }
    }

    /// Returns the usual form of a value of this type.
    ///
    /// # Errors
    /// Fails with the reason why a number is not in this notation.
    pub(super) fn value<'t>(
        &self,
        text: &'t str,
        data_type: &DataType,
    ) -> Result<Cow<'t, str>, &'static str> {
        match data_type {
            DataType::Dictionary(_, values) => self.value(text, values),
            DataType::RunEndEncoded(_, values) => self.value(text, values.data_type()),
            data_type if data_type.is_numeric() => self.number(text),
            data_type if data_type.is_temporal() => {
                Ok(self.date(text).map_or(Cow::Borrowed(text), Cow::Owned))
            }
            _ => Ok(text.into()),
        }
    }

    /// Returns the ISO 8601 form of a date or timestamp, if the text has this notation's format.
    pub(super) fn date(&self, text: &str) -> Option<String> {
        self.date.as_ref().and_then(|format| format.iso(text))
    }

    fn number<'t>(&self, text: &'t str) -> Result<Cow<'t, str>, &'static str> {
        let Some((comma, group, reason)) = self.marks.signs() else {
            return Ok(text.into());
        };
        match usual_number(text, comma, group) {
            Some(number) => Ok(number.into()),
            None if Number::of(text).is_some() => Err(reason),
            None => Ok(text.into()),
        }
    }
}

/// Converts a number such as `1.234,50` to a decimal point, dropping thousands separators.
fn usual_number(text: &str, comma: char, group_mark: char) -> Option<String> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = text.get(..text.len() - digits.len())?;
    let (whole, fraction) = match digits.split_once(comma) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let mut groups = whole.split(group_mark);
    let first = groups.next()?;
    let is_grouped = whole.contains(group_mark);
    let fits = !is_grouped || (1..=3).contains(&first.len());
    if !fits || !groups.all(|group| group.len() == 3) {
        return None;
    }
    let whole = whole.replace(group_mark, "");
    let number = match fraction {
        Some(fraction) => format!("{sign}{whole}.{fraction}"),
        None => format!("{sign}{whole}"),
    };
    Number::of(&number).is_some().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_commas() {
        for (text, expected) in [
            ("1,5", Some("1.5")),
            ("-1.234,50", Some("-1234.50")),
            ("1.234.567", Some("1234567")),
            ("12", Some("12")),
            (",5", Some(".5")),
            ("1,5e3", Some("1.5e3")),
            ("1.5", None),
            ("1234.567", None),
            ("1.23.456", None),
            (".234", None),
            ("1,2,3", None),
            ("1,234.5", None),
            ("31.12.2024", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(usual_number(text, ',', '.').as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_with_thousands() {
        for (text, expected) in [
            ("1,234.50", Some("1234.50")),
            ("-1,234,567", Some("-1234567")),
            ("0.5", Some("0.5")),
            ("1234.567", Some("1234.567")),
            ("1,23.4", None),
            ("1234,567", None),
            (",234", None),
            ("1.234,50", None),
            ("1.2.3", None),
        ] {
            assert_eq!(usual_number(text, '.', ',').as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_in_another_notation_are_not_numbers() {
        let notation = Notation {
            marks: Marks::DecimalComma,
            date: None,
        };
        assert_eq!(notation.kind("1.5"), Kind::Text);
        assert_eq!(notation.kind("nan"), Kind::Special);
        assert!(notation.value("1.5", &DataType::Float64).is_err());
        assert_eq!(notation.value("1.5", &DataType::Utf8).unwrap(), "1.5");
        assert_eq!(notation.value("nan", &DataType::Float64).unwrap(), "nan");
    }

    /// The expected values are from Python's `strptime`.
    #[test]
    fn dates_in_formats() {
        for (format, text, expected) in [
            ("%d.%m.%Y", "31.12.2024", Some("2024-12-31")),
            ("%d.%m.%Y", "1.2.2024", Some("2024-02-01")),
            ("%d.%m.%Y", "31.02.2024", None),
            ("%d.%m.%Y", "31.12.2024 10:00", None),
            ("%d.%m.%Y", "2024-12-31", None),
            ("%Y%m%d", "20240131", Some("2024-01-31")),
            (
                "%m/%d/%Y %H:%M",
                "01/31/2024 13:45",
                Some("2024-01-31T13:45:00"),
            ),
            (
                "%d %b %Y %I:%M %p",
                "5 Mar 2024 01:05 PM",
                Some("2024-03-05T13:05:00"),
            ),
            (
                "%d.%m.%Y %H:%M:%S%.f %z",
                "01.02.2024 03:04:05.5 +0130",
                Some("2024-02-01T03:04:05.500+01:30"),
            ),
        ] {
            let format: DateFormat = format.parse().unwrap();
            assert_eq!(format.iso(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn formats_without_a_day_are_refused() {
        for text in ["%H:%M", "x", "", "%!", "%m/%Y"] {
            assert!(text.parse::<DateFormat>().is_err(), "{text}");
        }
    }
}

//! Infers a column's numeric type.

use herringbone_arrow::schema::DataType;

use super::value::number::Number;

/// The maximum number of digits and the precision of 128-bit and 256-bit decimals.
const DIGITS: [(usize, u8); 2] = [(38, 38), (76, 76)];

/// The maximum number of digits to inspect. No type can hold more, except for zeros.
const MAX_DIGITS: usize = 800;

/// Common properties of a set of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    /// True if no number has a point or an exponent, or is a negative zero.
    pub(super) integers: bool,
    /// True if Int64 can hold all numbers, provided that they are integers.
    pub(super) signed: bool,
    /// True if UInt64 can hold all numbers, provided that they are integers.
    pub(super) unsigned: bool,
    /// True if some number is a negative zero, which only floats can represent.
    minus_zero: bool,
    /// True if Float64 keeps all digits of the numbers.
    pub(super) float: bool,
    /// True if there is a NaN or an infinity, which only floats can represent.
    special: bool,
    /// The maximum number of digits before the point.
    whole: usize,
    /// The maximum number of digits after the point.
    places: usize,
}

impl Numbers {
    pub(super) fn of(number: &Number<'_>) -> Self {
        let minus_zero = number.is_minus_zero();
        let integers = number.is_integer && !minus_zero;
        if number.len() > MAX_DIGITS {
            return Self {
                integers,
                signed: false,
                unsigned: false,
                minus_zero,
                float: false,
                special: false,
                whole: MAX_DIGITS,
                places: 0,
            };
        }
        let size = integers.then(|| number.whole.parse::<u64>().ok()).flatten();
        let least = i64::MIN.unsigned_abs();
        let signed = size.is_some_and(|size| size < least || number.negative && size == least);
        let float = match size {
            Some(size) if size < 1 << 53 => true,
            _ => {
                let (digits, power) = number.significant();
                // We build this text from the digits, which saves parsing the original text again.
                let text = format!("0.{digits}0e{}", power + 1);
                let value = text.parse().unwrap_or(f64::INFINITY);
                number.is_exact_as(value)
            }
        };
        let (digits, power) = match size {
            Some(_) => (String::new(), number.whole.len() as i64 - 1),
            None => number.significant(),
        };
        let places = usize::try_from(digits.len() as i64 - 1 - power).unwrap_or(0);
        Self {
            integers,
            signed,
            unsigned: size.is_some() && !number.negative,
            minus_zero,
            float,
            special: false,
            whole: usize::try_from(power + 1).unwrap_or(0).max(1),
            places: if number.is_integer { 0 } else { places },
        }
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self {
            integers: self.integers && other.integers,
            signed: self.signed && other.signed,
            unsigned: self.unsigned && other.unsigned,
            minus_zero: self.minus_zero || other.minus_zero,
            float: self.float && other.float,
            special: self.special || other.special,
            whole: self.whole.max(other.whole),
            places: self.places.max(other.places),
        }
    }

    /// Returns the properties after adding a NaN or an infinity.
    pub(super) fn with_special(self) -> Self {
        Self {
            integers: false,
            special: true,
            ..self
        }
    }

    /// Returns Int64, UInt64 or Float64, if one of them holds all numbers.
    pub(super) fn machine_type(self) -> Option<DataType> {
        match self {
            Self {
                integers: true,
                signed: true,
                ..
            } => Some(DataType::Int64),
            Self {
                integers: true,
                unsigned: true,
                ..
            } => Some(DataType::UInt64),
            Self {
                integers: false,
                float: true,
                ..
            } => Some(DataType::Float64),
            _ => None,
        }
    }

    /// Returns a decimal type that holds all numbers, if there is one.
    pub(super) fn decimal_type(self) -> Option<DataType> {
        if self.minus_zero || self.special {
            return None;
        }
        let digits = self.whole + self.places;
        let scale = i8::try_from(self.places).ok()?;
        let (_, precision) = DIGITS.into_iter().find(|(most, _)| digits <= *most)?;
        Some(match precision {
            38 => DataType::Decimal128(precision, scale),
            _ => DataType::Decimal256(precision, scale),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> (String, String) {
        let numbers = texts
            .iter()
            .map(|text| Numbers::of(&Number::of(text).unwrap()));
        let numbers = numbers.reduce(Numbers::with).unwrap();
        let name = |data_type: Option<DataType>| {
            data_type.map_or("none".into(), |data_type| data_type.to_string())
        };
        (name(numbers.machine_type()), name(numbers.decimal_type()))
    }

    #[test]
    fn the_type_holds_all() {
        let nines = "9".repeat(39);
        for (texts, machine, decimal) in [
            (
                &["1", "-9223372036854775808"][..],
                "Int64",
                "Decimal128(38, 0)",
            ),
            (&["1", "9223372036854775808"], "UInt64", "Decimal128(38, 0)"),
            (&["-1", "9223372036854775808"], "none", "Decimal128(38, 0)"),
            (&["18446744073709551616"], "none", "Decimal128(38, 0)"),
            (&[&nines], "none", "Decimal256(76, 0)"),
            (&[&nines.repeat(30)], "none", "none"),
            (&["1", "1.50"], "Float64", "Decimal128(38, 1)"),
            (&["-0"], "Float64", "none"),
            (&["-0.0", "18446744073709551615"], "none", "none"),
            (&["1.5", "9007199254740993"], "none", "Decimal128(38, 1)"),
            (&["0.1234567890123456789"], "none", "Decimal128(38, 19)"),
            (&["1e500"], "none", "none"),
            (&["1e-500"], "none", "none"),
            (&["1e300"], "Float64", "none"),
            (&["1e5"], "Float64", "Decimal128(38, 0)"),
        ] {
            assert_eq!(of(texts), (machine.into(), decimal.into()), "{texts:?}");
        }
        let large = Number::of("18446744073709551617").unwrap();
        let large = Numbers::of(&large).with_special();
        assert_eq!((large.machine_type(), large.decimal_type()), (None, None));
    }
}

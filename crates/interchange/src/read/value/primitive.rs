//! Builds columns of numbers and booleans.

use half::f16;
use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::array::builder::{BooleanBuilder, PrimitiveBuilder};
use herringbone_arrow::array::types::{ArrowPrimitiveType, DecimalType};
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::DataType;
use std::sync::Arc;

use super::number::{DIGITS, Number, RANGE};
use super::{Column, ParseError, Result, Scalar, usual};

/// A column of fixed-width values. `usual` is the fast path for values in the usual form, and
/// `parse` handles all others.
struct Primitive<T: ArrowPrimitiveType, F, U> {
    builder: PrimitiveBuilder<T>,
    data_type: DataType,
    parse: F,
    usual: U,
}

impl<T, F, U> Column for Primitive<T, F, U>
where
    T: ArrowPrimitiveType,
    F: Fn(Scalar<'_>) -> Result<T::Native, &'static str>,
    U: Fn(&str) -> Option<T::Native>,
{
    fn usual(&mut self, text: &str) -> bool {
        let value = (self.usual)(text);
        if let Some(value) = value {
            self.builder.append_value(value);
        }
        value.is_some()
    }

    fn usual_number(&mut self, text: &str) -> bool {
        self.usual(text)
    }

    fn null(&mut self) {
        self.builder.append_null();
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        let value = (self.parse)(scalar);
        let value = value.map_err(|why| ParseError::invalid(scalar, &self.data_type, why))?;
        self.builder.append_value(value);
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        Ok(Arc::new(self.builder.finish()))
    }
}

/// Returns a column that converts values with `parse`. Errors from `parse` are reasons, possibly
/// empty.
pub(super) fn primitive<T: ArrowPrimitiveType>(
    data_type: &DataType,
    parse: impl Fn(Scalar<'_>) -> Result<T::Native, &'static str> + 'static,
) -> Box<dyn Column> {
    primitive_or::<T>(data_type, |_| None, parse)
}

/// Returns a column that converts values with `usual`, falling back to `parse`. [`Column::usual`]
/// explains the difference.
pub(super) fn primitive_or<T: ArrowPrimitiveType>(
    data_type: &DataType,
    usual: impl Fn(&str) -> Option<T::Native> + 'static,
    parse: impl Fn(Scalar<'_>) -> Result<T::Native, &'static str> + 'static,
) -> Box<dyn Column> {
    Box::new(Primitive {
        builder: PrimitiveBuilder::<T>::with_capacity(0).with_data_type(data_type.clone()),
        data_type: data_type.clone(),
        parse,
        usual,
    })
}

/// Parses a scalar as a number.
fn number(scalar: Scalar<'_>, inferred: bool) -> Result<Number<'_>, &'static str> {
    match scalar {
        Scalar::Boolean(_) => Err(""),
        Scalar::Text(_) if inferred => Err("a string"),
        Scalar::Number(text) | Scalar::Text(text) | Scalar::Cell(text) => {
            Number::of(text).ok_or("")
        }
    }
}

/// Parses a number for an exact type. If the type was inferred, a negative zero is an error.
fn exact(scalar: Scalar<'_>, inferred: bool) -> Result<Number<'_>, &'static str> {
    let number = number(scalar, inferred)?;
    match inferred && number.is_minus_zero() {
        true => Err("it is a negative zero"),
        false => Ok(number),
    }
}

/// Returns a column of integers. If the type was given, we accept any number whose value is an
/// integer, including 1.0.
pub(super) fn integers<T>(data_type: &DataType, inferred: bool) -> Box<dyn Column>
where
    T: ArrowPrimitiveType<Native: TryFrom<i128>>,
{
    let usual = |text: &str| {
        let value = usual::integer(text)?;
        T::Native::try_from(value.into()).ok()
    };
    primitive_or::<T>(data_type, usual, move |scalar| {
        let number = exact(scalar, inferred)?;
        if inferred && !number.is_integer {
            return Err("it is written as a fraction");
        }
        let value = number.scaled(0)?.to_i128().ok_or(RANGE)?;
        T::Native::try_from(value).map_err(|_| RANGE)
    })
}

/// Parses a count of units, for a date or time column.
pub(super) fn ticks(text: &str) -> Result<i64, &'static str> {
    let number = Number::of(text).ok_or("")?;
    let value = number.scaled(0)?.to_i128().ok_or(RANGE)?;
    i64::try_from(value).map_err(|_| RANGE)
}

/// A floating-point type.
pub(super) trait Float: Copy {
    /// Returns the value nearest to a number.
    fn nearest(text: &str) -> Option<Self>;
    /// Returns the value nearest to a number, if the number has the usual form.
    fn usual(_text: &str) -> Option<Self> {
        None
    }
    /// Converts the value to Float64 without loss.
    fn wide(self) -> f64;
}

impl Float for f64 {
    fn nearest(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn usual(text: &str) -> Option<Self> {
        usual::float(text)
    }

    fn wide(self) -> f64 {
        self
    }
}

impl Float for f32 {
    fn nearest(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn wide(self) -> f64 {
        self.into()
    }
}

impl Float for f16 {
    fn nearest(text: &str) -> Option<Self> {
        text.parse().ok().map(Self::from_f64)
    }

    fn wide(self) -> f64 {
        self.into()
    }
}

/// Returns a column of floating-point numbers. Fractions are rounded to the nearest value, but
/// never to infinity or zero, and integers must be exact. With an inferred type, no digit is
/// allowed to get lost.
pub(super) fn floats<T>(data_type: &DataType, inferred: bool) -> Box<dyn Column>
where
    T: ArrowPrimitiveType<Native: Float>,
{
    primitive_or::<T>(data_type, T::Native::usual, move |scalar| {
        let text = scalar.text();
        let is_named = match scalar {
            Scalar::Boolean(_) | Scalar::Number(_) => false,
            Scalar::Text(_) => is_special(text, inferred),
            Scalar::Cell(_) => is_special(text, false),
        };
        if is_named {
            return T::Native::nearest(text).ok_or("");
        }
        let number = number(scalar, inferred)?;
        let value = T::Native::nearest(text).ok_or("")?;
        let wide = value.wide();
        let lost = wide == 0.0 && !number.significant().0.is_empty();
        if wide.is_infinite() || lost {
            return Err(RANGE);
        }
        if (inferred || number.is_integer) && !is_exact(&number, wide) {
            return Err(DIGITS);
        }
        Ok(value)
    })
}

/// Returns true if the value keeps all of the number's digits. Integers below 1e15 are compared
/// exactly, for floats of any width.
fn is_exact(number: &Number<'_>, value: f64) -> bool {
    match number.is_integer {
        true if value.abs() < 1e15 => {
            number.scaled(0).map(i256::to_i128) == Ok(Some(value as i128))
        }
        _ => number.is_exact_as(value),
    }
}

/// Returns true for names of floats such as NaN. If `by_this_command` is true, only the names
/// written by this command count, otherwise also the spellings of other programs.
pub(crate) fn is_special(text: &str, by_this_command: bool) -> bool {
    if by_this_command {
        return matches!(text, "NaN" | "Infinity" | "-Infinity");
    }
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    ["nan", "inf", "infinity"]
        .iter()
        .any(|name| text.eq_ignore_ascii_case(name))
}

/// Returns a column of decimals. Losing a digit is an error.
pub(super) fn decimals<T: DecimalType>(
    data_type: &DataType,
    precision: u8,
    scale: i8,
    inferred: bool,
    native: impl Fn(i256) -> Option<T::Native> + 'static,
) -> Box<dyn Column> {
    primitive::<T>(data_type, move |scalar| {
        let value = exact(scalar, inferred)?.scaled(scale.into())?;
        let digits = value.to_string();
        if value != i256::ZERO && digits.trim_start_matches('-').len() > precision.into() {
            return Err(DIGITS);
        }
        native(value).ok_or(DIGITS)
    })
}

/// A column of the booleans `true` and `false`.
pub(super) struct Booleans(BooleanBuilder);

impl Booleans {
    pub(super) fn new() -> Self {
        Self(BooleanBuilder::with_capacity(0))
    }
}

impl Column for Booleans {
    fn null(&mut self) {
        self.0.append_null();
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        let value = match scalar {
            Scalar::Boolean(value) => value,
            Scalar::Cell(text) if text.eq_ignore_ascii_case("true") => true,
            Scalar::Cell(text) if text.eq_ignore_ascii_case("false") => false,
            _ => return Err(ParseError::invalid(scalar, &DataType::Boolean, "")),
        };
        self.0.append_value(value);
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        Ok(Arc::new(self.0.finish()))
    }
}

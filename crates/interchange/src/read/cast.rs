//! Casts a column's values to another type, by their text. A value is kept exactly, or is an error.
//!
//! ```text
//! array ── render ──► text ── Column of `load::value` ──► array
//! ```
//!
//! The exceptions are lossy changes that users ask for by writing a cast. A fraction becomes the
//! nearest floating-point number, a timestamp becomes its date or its time of day, whole numbers in
//! floating-point columns become integers, and times without a zone are taken to be in UTC.

use std::sync::Arc;

use herringbone_arrow::array::{
    Array as _, ArrayRef, BinaryArray, StringArray, cast::AsArray as _,
};
use herringbone_arrow::schema::{DataType, Field, FieldRef};

use super::value::{ParseError, Rules, Scalar, Slot};
use crate::error::{Error, Result};
use crate::write::value;

/// A cast of a column to another type.
#[derive(Debug, Clone)]
pub struct Cast {
    from: FieldRef,
    to: FieldRef,
    rule: Rule,
}

/// A text rewrite on the way to the new type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Unchanged,
    /// A timestamp becomes its date.
    DateOf,
    /// A timestamp becomes its time of day.
    TimeOf,
    /// A date becomes its midnight, by appending this suffix.
    Midnight(&'static str),
    /// A timestamp in UTC becomes one without a zone.
    WithoutZone,
    /// A timestamp without a zone becomes one in UTC.
    InUtc,
    /// A floating-point number becomes an integer.
    Whole,
    /// A boolean becomes a number.
    Bit,
}

impl Cast {
    /// Creates the cast from one field to another.
    pub fn new(from: FieldRef, to: FieldRef) -> Self {
        use DataType as T;
        let rule = match (value_type(from.data_type()), to.data_type()) {
            (T::Timestamp(..), T::Date32 | T::Date64) => Rule::DateOf,
            (T::Timestamp(..), T::Time32(_) | T::Time64(_)) => Rule::TimeOf,
            (T::Date32 | T::Date64, T::Timestamp(_, None)) => Rule::Midnight("T00:00:00"),
            (T::Date32 | T::Date64, T::Timestamp(_, Some(_))) => Rule::Midnight("T00:00:00Z"),
            (T::Timestamp(_, Some(_)), T::Timestamp(_, None)) => Rule::WithoutZone,
            (T::Timestamp(_, None), T::Timestamp(_, Some(_))) => Rule::InUtc,
            (from, to) if from.is_floating() && to.is_integer() => Rule::Whole,
            (T::Boolean, to) if to.is_numeric() => Rule::Bit,
            _ => Rule::Unchanged,
        };
        Self { from, to, rule }
    }

    /// Casts the values of an array.
    ///
    /// # Errors
    /// Fails with [Data](crate::Error::Data) if the type cannot hold a value exactly, or if the
    /// types have no values in common.
    pub fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        if self.from.data_type() == self.to.data_type() {
            return Ok(array.clone());
        }
        if let Some(array) = self.bytes(array)? {
            return Ok(array);
        }
        let failure = |error: ParseError| {
            Error::Data(format!(
                "cannot cast to {}: {}",
                self.to.data_type(),
                error.into_text()
            ))
        };
        let values = value::of(&self.from, array)?;
        let mut slot = Slot::new(&self.to, "", &Rules::default()).map_err(failure)?;
        let mut text = String::new();
        let is_text = value_type(self.from.data_type()).is_string()
            && matches!(self.to.data_type(), DataType::Timestamp(..));
        for row in 0..array.len() {
            if values.is_null(row) {
                slot.null().map_err(failure)?;
                continue;
            }
            text.clear();
            values.text(row, &mut text);
            let scalar = match is_text {
                // Timestamps treat digits in a cell as a count of units, but digits in text might
                // be a year.
                true => Scalar::Text(self.changed(&mut text)),
                false => Scalar::Cell(self.changed(&mut text)),
            };
            slot.scalar(scalar).map_err(failure)?;
        }
        slot.finish().map_err(failure)
    }

    /// Returns the text in the new type's form.
    fn changed<'t>(&self, text: &'t mut String) -> &'t str {
        match self.rule {
            Rule::Unchanged => text,
            Rule::DateOf => text.split('T').next().unwrap_or_default(),
            Rule::TimeOf => {
                let time = text.rsplit('T').next().unwrap_or_default();
                time.strip_suffix('Z').unwrap_or(time)
            }
            Rule::Midnight(suffix) => {
                text.push_str(suffix);
                text
            }
            Rule::WithoutZone => text.strip_suffix('Z').unwrap_or(text),
            Rule::InUtc => {
                text.push('Z');
                text
            }
            Rule::Whole => text.strip_suffix(".0").unwrap_or(text),
            Rule::Bit => match text.as_str() {
                "true" => "1",
                _ => "0",
            },
        }
    }

    /// Casts text to its bytes, or bytes to text if they are UTF-8.
    fn bytes(&self, array: &ArrayRef) -> Result<Option<ArrayRef>> {
        match (self.from.data_type(), self.to.data_type()) {
            (DataType::Binary, DataType::Utf8) => {
                let texts = array.as_binary::<i32>().iter().map(|bytes| {
                    let text = bytes.map(std::str::from_utf8).transpose();
                    text.map_err(|_| {
                        let name = self.from.name();
                        Error::Data(format!(
                            "column `{name}`: cannot cast to Utf8: bytes that are not UTF-8"
                        ))
                    })
                });
                let texts: StringArray = texts.collect::<Result<_>>()?;
                Ok(Some(Arc::new(texts)))
            }
            (DataType::Utf8, DataType::Binary) => {
                let texts = array.as_string::<i32>().iter();
                let bytes: BinaryArray = texts.map(|text| text.map(str::as_bytes)).collect();
                Ok(Some(Arc::new(bytes)))
            }
            _ => Ok(None),
        }
    }
}

/// Returns the type of a dictionary's or run's values, or else the type itself.
fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        DataType::RunEndEncoded(_, values) => Field::data_type(values),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::{
        BooleanArray, Date32Array, Float64Array, Int32Array, Int64Array, TimestampMicrosecondArray,
    };
    use herringbone_arrow::schema::TimeUnit;

    use super::*;

    fn cast(array: ArrayRef, to: DataType) -> Result<ArrayRef> {
        let field = |data_type: &DataType| Arc::new(Field::new("a", data_type.clone(), true));
        Cast::new(field(array.data_type()), field(&to)).apply(&array)
    }

    #[test]
    fn values_stay_exact() {
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![Some(2.0), None]));
        let found = cast(floats, DataType::Int32).unwrap();
        assert_eq!(*found, Int32Array::from(vec![Some(2), None]));
        let micros = TimestampMicrosecondArray::from(vec![86_400_000_001]).with_timezone("UTC");
        let found = cast(Arc::new(micros.clone()), DataType::Date32).unwrap();
        assert_eq!(*found, Date32Array::from(vec![1]));
        let plain = DataType::Timestamp(TimeUnit::Microsecond, None);
        let found = cast(Arc::new(micros), plain).unwrap();
        assert_eq!(
            *found,
            TimestampMicrosecondArray::from(vec![86_400_000_001])
        );
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["7", "-8"]));
        let found = cast(texts, DataType::Int64).unwrap();
        assert_eq!(*found, Int64Array::from(vec![7, -8]));
        let bits: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
        let found = cast(bits, DataType::Int64).unwrap();
        assert_eq!(*found, Int64Array::from(vec![1, 0]));
        let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"abc"[..]]));
        let found = cast(bytes, DataType::Utf8).unwrap();
        assert_eq!(*found, StringArray::from(vec!["abc"]));
    }

    #[test]
    fn values_that_do_not_fit_are_errors() {
        let fails = |array: ArrayRef, to: DataType| cast(array, to).unwrap_err().to_string();
        let halves: ArrayRef = Arc::new(Float64Array::from(vec![2.5]));
        assert!(fails(halves, DataType::Int32).contains("\"2.5\" is not a valid Int32"));
        let large: ArrayRef = Arc::new(Int64Array::from(vec![1 << 40]));
        assert!(fails(large, DataType::Int32).contains("1099511627776"));
        let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"\xff"[..]]));
        assert!(fails(bytes, DataType::Utf8).contains("not UTF-8"));
    }
}

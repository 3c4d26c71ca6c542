//! Parsing the texts in directory names to arrays of partition values.

use std::str::FromStr;
use std::sync::Arc;

use herringbone::arrow::array::{
    Array as _, ArrayRef, BooleanArray, Date32Array, LargeStringArray, PrimitiveArray, StringArray,
    StringViewArray, make_array, new_null_array,
    types::{self, ArrowPrimitiveType, DecimalType},
};
use herringbone::arrow::buffer::{Buffer, i256};
use herringbone::arrow::data::ArrayData;
use herringbone::arrow::schema::{DataType, TimeUnit};
use herringbone::{Error, Result};
use herringbone_text::iso8601;

/// The most digits in a decimal.
const MAX_DIGITS: usize = 76;

/// Parses an integer, if formatting it gives back the same text.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// Parses a date to days since 1970, if formatting it gives back the same text.
pub(crate) fn date(text: &str) -> Option<i32> {
    let days = iso8601::parse_date(text)?;
    let mut formatted = String::new();
    iso8601::push_date(&mut formatted, days);
    (formatted == text).then(|| i32::try_from(days).ok())?
}

/// Returns a partition column's value as a 1-slot array.
///
/// # Errors
/// Fails with Argument if the value does not fit the type, and with Unsupported if partition
/// columns cannot have the type.
pub(crate) fn value(text: Option<&str>, data_type: &DataType) -> Result<ArrayRef> {
    let DataType::Dictionary(_, of_values) = data_type else {
        return values(&[text], data_type);
    };
    let dictionary = values(&[text], of_values)?;
    if text.is_none() {
        return Ok(new_null_array(data_type, 1));
    }
    // The dictionary's only key is 0, and a 64-bit zero is long enough for any key type.
    let data = ArrayData::builder(data_type.clone())
        .len(1)
        .add_buffer(Buffer::from(vec![0_u64]))
        .add_child_data(dictionary.to_data())
        .build();
    let data = data.map_err(|error| Error::unsupported(error.to_string()))?;
    Ok(make_array(data))
}

/// Returns a partition column's values as an array.
///
/// # Errors
/// Fails with Argument if a value does not fit the type, and with Unsupported if partition columns
/// cannot have the type.
pub(crate) fn values(texts: &[Option<&str>], data_type: &DataType) -> Result<ArrayRef> {
    let of = Texts { texts, data_type };
    Ok(match data_type {
        DataType::Utf8 => Arc::new(StringArray::from(texts.to_vec())),
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from(texts.to_vec())),
        DataType::Utf8View => Arc::new(StringViewArray::from(texts.to_vec())),
        DataType::Boolean => Arc::new(BooleanArray::from(of.parsed(|text| text.parse().ok())?)),
        DataType::Int8 => of.numbers::<types::Int8Type>()?,
        DataType::Int16 => of.numbers::<types::Int16Type>()?,
        DataType::Int32 => of.numbers::<types::Int32Type>()?,
        DataType::Int64 => of.numbers::<types::Int64Type>()?,
        DataType::UInt8 => of.numbers::<types::UInt8Type>()?,
        DataType::UInt16 => of.numbers::<types::UInt16Type>()?,
        DataType::UInt32 => of.numbers::<types::UInt32Type>()?,
        DataType::UInt64 => of.numbers::<types::UInt64Type>()?,
        DataType::Float32 => of.numbers::<types::Float32Type>()?,
        DataType::Float64 => of.numbers::<types::Float64Type>()?,
        DataType::Date32 => {
            let days = |text: &str| i32::try_from(iso8601::parse_date(text)?).ok();
            Arc::new(Date32Array::from(of.parsed(days)?))
        }
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => of.timestamps::<types::TimestampSecondType>(1)?,
            TimeUnit::Millisecond => of.timestamps::<types::TimestampMillisecondType>(1_000)?,
            TimeUnit::Microsecond => of.timestamps::<types::TimestampMicrosecondType>(1_000_000)?,
            TimeUnit::Nanosecond => {
                of.timestamps::<types::TimestampNanosecondType>(1_000_000_000)?
            }
        },
        DataType::Decimal32(precision, scale) => {
            of.decimals::<types::Decimal32Type>(*precision, *scale, |it| {
                it.to_i128()?.try_into().ok()
            })?
        }
        DataType::Decimal64(precision, scale) => {
            of.decimals::<types::Decimal64Type>(*precision, *scale, |it| {
                it.to_i128()?.try_into().ok()
            })?
        }
        DataType::Decimal128(precision, scale) => {
            of.decimals::<types::Decimal128Type>(*precision, *scale, i256::to_i128)?
        }
        DataType::Decimal256(precision, scale) => {
            of.decimals::<types::Decimal256Type>(*precision, *scale, Some)?
        }
        other => {
            return Err(Error::unsupported(format!(
                "a partition column of type {other}; choose text, a number, a decimal, a boolean, Date32, a timestamp \
                 or a dictionary of these"
            )));
        }
    })
}

/// The texts to parse, with the target type.
struct Texts<'a> {
    texts: &'a [Option<&'a str>],
    data_type: &'a DataType,
}

impl Texts<'_> {
    fn parsed<T>(&self, parse: impl Fn(&str) -> Option<T>) -> Result<Vec<Option<T>>> {
        let values = self.texts.iter().map(|text| match text {
            None => Ok(None),
            Some(text) => match parse(text) {
                Some(value) => Ok(Some(value)),
                None => Err(Error::argument(format!(
                    "the value `{text}` in the path of a file is not a value of {}",
                    self.data_type
                ))),
            },
        });
        values.collect()
    }

    fn numbers<T: ArrowPrimitiveType<Native: FromStr>>(&self) -> Result<ArrayRef> {
        self.primitives::<T>(|text| text.parse().ok())
    }

    fn primitives<T: ArrowPrimitiveType>(
        &self,
        parse: impl Fn(&str) -> Option<T::Native>,
    ) -> Result<ArrayRef> {
        let array = PrimitiveArray::<T>::from_iter(self.parsed(parse)?);
        Ok(Arc::new(array.with_data_type(self.data_type.clone())))
    }

    fn timestamps<T: ArrowPrimitiveType<Native = i64>>(&self, per_second: u32) -> Result<ArrayRef> {
        let has_zone = matches!(self.data_type, DataType::Timestamp(_, Some(_)));
        self.primitives::<T>(|text| timestamp(text, per_second, has_zone))
    }

    fn decimals<T: DecimalType>(
        &self,
        precision: u8,
        scale: i8,
        narrow: impl Fn(i256) -> Option<T::Native>,
    ) -> Result<ArrayRef> {
        self.primitives::<T>(|text| narrow(decimal(text, precision, scale)?))
    }
}

/// Parses a date, with or without a time, to units since 1970. If the type has a time zone, the
/// text must have an offset.
fn timestamp(text: &str, per_second: u32, has_zone: bool) -> Option<i64> {
    if let Some(days) = iso8601::parse_date(text).filter(|_| !has_zone) {
        return days.checked_mul(86_400)?.checked_mul(per_second.into());
    }
    let found = iso8601::parse_timestamp(text)?;
    let is_wanted = found.offset.is_some() == has_zone;
    is_wanted.then(|| found.ticks(per_second).ok())?
}

/// Parses a decimal to its unscaled integer, that is, the value times ten to the power of the
/// scale. Returns `None` if this would lose digits or exceed the precision.
fn decimal(text: &str, precision: u8, scale: i8) -> Option<i256> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (number, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (unsigned, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let fraction = i64::try_from(fraction.len()).ok()?;
    let zeros = i64::from(scale) + i64::from(exponent) - fraction;
    let all = match usize::try_from(zeros) {
        _ if digits.is_empty() => return Some(i256::ZERO),
        Ok(zeros) if zeros <= MAX_DIGITS => format!("{digits}{}", "0".repeat(zeros)),
        Ok(_) => return None,
        Err(_) => {
            let lost = usize::try_from(zeros.unsigned_abs()).ok()?;
            let (kept, lost) = digits.split_at_checked(digits.len().checked_sub(lost)?)?;
            lost.bytes().all(|it| it == b'0').then(|| kept.to_owned())?
        }
    };
    let is_short = all.len() <= usize::from(precision).min(MAX_DIGITS);
    let value = is_short.then(|| i256::from_string(&all))??;
    Some(if text.starts_with('-') {
        value.wrapping_neg()
    } else {
        value
    })
}

#[cfg(test)]
mod tests {
    use herringbone::arrow::array::{DictionaryArray, Int32Array, cast::AsArray as _};

    use super::*;

    fn of(text: &str, data_type: &DataType) -> Result<ArrayRef> {
        value(Some(text), data_type)
    }

    #[test]
    fn given_types_are_parsed() {
        assert_eq!(
            &*of("01", &DataType::Int32).unwrap(),
            &Int32Array::from(vec![1])
        );
        for (text, data_type) in [
            ("x", DataType::Int32),
            ("256", DataType::UInt8),
            ("1", DataType::Binary),
            ("2024-02-30", DataType::Date32),
        ] {
            assert!(of(text, &data_type).is_err(), "{text} as {data_type}");
            assert!(value(None, &data_type).is_ok() || data_type == DataType::Binary);
        }
        assert_eq!(of("2024-01-02", &DataType::Date32).unwrap().len(), 1);
    }

    #[test]
    fn timestamps_have_the_digits_and_the_offset_of_their_type() {
        let parsed = |text: &str, unit, zone: Option<&str>| {
            let data_type = DataType::Timestamp(unit, zone.map(Into::into));
            let array = of(text, &data_type).ok()?;
            assert_eq!(array.data_type(), &data_type);
            let data = array.to_data();
            Some(data.buffer::<i64>(0)[0])
        };
        use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
        // 2024-01-02T03:04:05Z is second 1,704,164,645.
        assert_eq!(
            parsed("2024-01-02 03:04:05", Second, None),
            Some(1_704_164_645)
        );
        assert_eq!(
            parsed("2024-01-02T03:04:05.6", Millisecond, None),
            Some(1_704_164_645_600)
        );
        assert_eq!(
            parsed("2024-01-02", Microsecond, None),
            Some(1_704_153_600_000_000)
        );
        assert_eq!(
            parsed("1969-12-31 23:59:59.999999", Nanosecond, None),
            Some(-1000)
        );
        assert_eq!(
            parsed("2024-01-02 03:04:05Z", Second, Some("Europe/Oslo")),
            Some(1_704_164_645)
        );
        assert_eq!(
            parsed("2024-01-02 05:04:05+02:00", Second, Some("UTC")),
            Some(1_704_164_645)
        );
        assert_eq!(parsed("2024-01-02 03:04:05.6", Second, None), None);
        assert_eq!(parsed("2024-01-02 03:04:05Z", Second, None), None);
        assert_eq!(parsed("2024-01-02 03:04:05", Second, Some("UTC")), None);
        assert_eq!(parsed("2024-01-02", Second, Some("UTC")), None);
        assert_eq!(parsed("9999-01-01", Nanosecond, None), None);
        assert_eq!(parsed("+99999999999999-01-01", Second, None), None);
    }

    #[test]
    fn decimals_lose_no_digits() {
        let parsed =
            |text: &str, precision, scale| decimal(text, precision, scale).and_then(i256::to_i128);
        assert_eq!(parsed("1.50", 10, 2), Some(150));
        assert_eq!(parsed("-0.05", 10, 2), Some(-5));
        assert_eq!(parsed("1.5", 10, 2), Some(150));
        assert_eq!(parsed("1.500", 10, 2), Some(150));
        assert_eq!(parsed("1.505", 10, 2), None);
        assert_eq!(parsed("0.00", 1, 1), Some(0));
        assert_eq!(parsed("-1E+2", 10, -2), Some(-1));
        assert_eq!(parsed("1500", 10, -2), Some(15));
        assert_eq!(parsed("150", 10, -2), None);
        assert_eq!(parsed("1e-3", 10, 3), Some(1));
        assert_eq!(parsed("00012", 2, 0), Some(12));
        assert_eq!(parsed("123", 2, 0), None);
        assert_eq!(parsed("1e2147483647", 38, 0), None);
        assert_eq!(parsed("1e-2147483648", 38, 0), None);
        assert_eq!(parsed("0e2147483647", 38, 0), Some(0));
        for text in [
            "", "-", ".", "1.2.3", "--1", "1e", "0x1", "\u{663}", "1_0", "NaN",
        ] {
            assert_eq!(parsed(text, 38, 2), None, "{text}");
        }
        let nines = "9".repeat(76);
        assert!(of(&nines, &DataType::Decimal256(76, 0)).is_ok());
        assert!(of(&format!("{nines}9"), &DataType::Decimal256(76, 0)).is_err());
        assert!(of("9999.99", &DataType::Decimal32(9, 2)).is_ok());
        let array = of("-0.05", &DataType::Decimal128(10, 2)).unwrap();
        assert_eq!(array.as_primitive::<types::Decimal128Type>().value(0), -5);
        assert_eq!(array.data_type(), &DataType::Decimal128(10, 2));
    }

    #[test]
    fn dictionaries_have_the_value_for_key_zero() {
        for key in [
            DataType::Int8,
            DataType::UInt16,
            DataType::Int32,
            DataType::Int64,
        ] {
            let data_type = DataType::Dictionary(key.into(), DataType::Utf8.into());
            let array = of("a/b", &data_type).unwrap();
            assert_eq!(array.data_type(), &data_type);
            let dictionary = array.as_any_dictionary();
            assert_eq!(dictionary.values().as_string::<i32>().value(0), "a/b");
            assert_eq!(dictionary.normalized_keys(), [0]);
            assert_eq!(value(None, &data_type).unwrap().logical_null_count(), 1);
        }
        let numbers = DataType::Dictionary(DataType::Int32.into(), DataType::Int64.into());
        assert!(of("x", &numbers).is_err());
        let expected: DictionaryArray<types::Int32Type> = DictionaryArray::new(
            Int32Array::from(vec![0]),
            Arc::new(herringbone::arrow::array::Int64Array::from(vec![7])),
        );
        assert_eq!(
            &*of("7", &numbers).unwrap(),
            &expected as &dyn herringbone::arrow::array::Array
        );
    }
}

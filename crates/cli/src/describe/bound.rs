//! Bounds of statistics: PLAIN bytes, and what they mean.

use herringbone::format::{ConvertedType, LogicalType, SchemaElement, TimeUnit, Type};
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::TimeUnit as ArrowUnit;
use serde_json::Value;

use super::Object;
use crate::render::number::{Float, push_decimal};
use crate::render::temporal::{Zone, push_date, push_time, push_timestamp};
use crate::render::text::push_uuid;

/// `{"bytes": …, "value": …}`; without a value where the bytes do not fit the type, or the type has
/// no text that people read.
pub(crate) fn bound(element: Option<&SchemaElement>, bytes: &[u8]) -> Value {
    let value = element.and_then(|element| value(element, bytes));
    Object::new()
        .bytes("bytes", Some(bytes))
        .some("value", value)
        .into()
}

/// What the values of a column mean, as far as it changes how a bound reads.
enum Meaning {
    Plain,
    Text,
    Unsigned,
    Decimal(i8),
    Date,
    Time(ArrowUnit),
    Timestamp(ArrowUnit, Zone),
    Uuid,
    Half,
}

impl Meaning {
    fn of(element: &SchemaElement) -> Self {
        match (&element.logical_type, element.converted_type) {
            (Some(logical), _) => Self::of_logical(logical),
            (None, Some(converted)) => Self::of_converted(converted, element.scale),
            (None, None) => Self::Plain,
        }
    }

    fn of_logical(logical: &LogicalType) -> Self {
        match *logical {
            LogicalType::String | LogicalType::Enum | LogicalType::Json => Self::Text,
            LogicalType::Integer {
                is_signed: false, ..
            } => Self::Unsigned,
            LogicalType::Decimal { scale, .. } => Self::decimal(scale),
            LogicalType::Date => Self::Date,
            LogicalType::Time { unit, .. } => Self::Time(arrow_unit(unit)),
            LogicalType::Timestamp {
                is_adjusted_to_utc,
                unit,
            } => {
                let zone = if is_adjusted_to_utc {
                    Zone::Offset(0)
                } else {
                    Zone::Local
                };
                Self::Timestamp(arrow_unit(unit), zone)
            }
            LogicalType::Uuid => Self::Uuid,
            LogicalType::Float16 => Self::Half,
            _ => Self::Plain,
        }
    }

    fn of_converted(converted: ConvertedType, scale: Option<i32>) -> Self {
        use ArrowUnit::{Microsecond, Millisecond};
        use ConvertedType as C;
        match converted {
            C::Utf8 | C::Enum | C::Json => Self::Text,
            C::Uint8 | C::Uint16 | C::Uint32 | C::Uint64 => Self::Unsigned,
            C::Decimal => Self::decimal(scale.unwrap_or(0)),
            C::Date => Self::Date,
            C::TimeMillis => Self::Time(Millisecond),
            C::TimeMicros => Self::Time(Microsecond),
            C::TimestampMillis => Self::Timestamp(Millisecond, Zone::Offset(0)),
            C::TimestampMicros => Self::Timestamp(Microsecond, Zone::Offset(0)),
            _ => Self::Plain,
        }
    }

    fn decimal(scale: i32) -> Self {
        i8::try_from(scale).map_or(Self::Plain, Self::Decimal)
    }
}

fn arrow_unit(unit: TimeUnit) -> ArrowUnit {
    match unit {
        TimeUnit::Millis => ArrowUnit::Millisecond,
        TimeUnit::Micros => ArrowUnit::Microsecond,
        TimeUnit::Nanos => ArrowUnit::Nanosecond,
    }
}

fn value(element: &SchemaElement, bytes: &[u8]) -> Option<Value> {
    let meaning = Meaning::of(element);
    match element.type_? {
        Type::Boolean => match bytes {
            [byte] => Some(Value::from(*byte != 0)),
            _ => None,
        },
        Type::Int32 => {
            let number = i32::from_le_bytes(bytes.try_into().ok()?);
            Some(match meaning {
                Meaning::Unsigned => Value::from(number.cast_unsigned()),
                meaning => integer(&meaning, number.into()),
            })
        }
        Type::Int64 => {
            let number = i64::from_le_bytes(bytes.try_into().ok()?);
            Some(match meaning {
                Meaning::Unsigned => Value::from(number.cast_unsigned()),
                meaning => integer(&meaning, number),
            })
        }
        Type::Float => Some(float(f32::from_le_bytes(bytes.try_into().ok()?))),
        Type::Double => Some(float(f64::from_le_bytes(bytes.try_into().ok()?))),
        Type::ByteArray | Type::FixedLenByteArray => binary(&meaning, bytes),
        Type::Int96 => None,
    }
}

fn integer(meaning: &Meaning, number: i64) -> Value {
    let mut text = String::new();
    match *meaning {
        Meaning::Decimal(scale) => push_decimal(&mut text, number, scale),
        Meaning::Date => push_date(&mut text, number),
        Meaning::Time(unit) => push_time(&mut text, number, unit),
        Meaning::Timestamp(unit, zone) => push_timestamp(&mut text, number, unit, zone),
        _ => return Value::from(number),
    }
    Value::from(text)
}

fn binary(meaning: &Meaning, bytes: &[u8]) -> Option<Value> {
    let mut text = String::new();
    match *meaning {
        Meaning::Text => text.push_str(str::from_utf8(bytes).ok()?),
        Meaning::Decimal(scale) => push_decimal(&mut text, big_endian(bytes)?, scale),
        Meaning::Uuid if bytes.len() == 16 => push_uuid(&mut text, bytes),
        Meaning::Half => {
            return Some(float(half::f16::from_le_bytes(bytes.try_into().ok()?)));
        }
        _ => return None,
    }
    Some(Value::from(text))
}

/// A signed number of up to 32 bytes.
fn big_endian(bytes: &[u8]) -> Option<i256> {
    let fill = if *bytes.first()? >= 0x80 { 0xff } else { 0 };
    let mut wide = [fill; 32];
    wide.get_mut(32_usize.checked_sub(bytes.len())?..)?
        .copy_from_slice(bytes);
    Some(i256::from_be_bytes(wide))
}

/// A number in its own shortest form, or the name of what is no number.
fn float(number: impl Float) -> Value {
    if let Some(name) = number.special() {
        return Value::from(name);
    }
    let mut text = String::new();
    number.push_finite(&mut text);
    // The shortest digits of a narrow float are also the shortest of the double they read as.
    text.parse::<f64>().map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(type_: Type, logical: Option<LogicalType>, bytes: &[u8]) -> String {
        let element = SchemaElement {
            type_: Some(type_),
            logical_type: logical,
            ..SchemaElement::default()
        };
        value(&element, bytes).map_or("-".into(), |value| value.to_string())
    }

    #[test]
    fn numbers() {
        let unsigned = || {
            Some(LogicalType::Integer {
                bit_width: 32,
                is_signed: false,
            })
        };
        assert_eq!(json(Type::Boolean, None, &[1]), "true");
        assert_eq!(json(Type::Int32, None, &[0xff; 4]), "-1");
        assert_eq!(json(Type::Int32, unsigned(), &[0xff; 4]), "4294967295");
        assert_eq!(
            json(Type::Int64, unsigned(), &[0xff; 8]),
            "18446744073709551615"
        );
        assert_eq!(json(Type::Float, None, &0.1_f32.to_le_bytes()), "0.1");
        assert_eq!(json(Type::Double, None, &f64::NAN.to_le_bytes()), "\"NaN\"");
        assert_eq!(
            json(
                Type::FixedLenByteArray,
                Some(LogicalType::Float16),
                &[0, 0x3c]
            ),
            "1.0"
        );
    }

    #[test]
    fn values_with_a_meaning() {
        let micros = LogicalType::Timestamp {
            is_adjusted_to_utc: true,
            unit: TimeUnit::Micros,
        };
        assert_eq!(
            json(
                Type::Int64,
                Some(micros),
                &1_704_164_645_123_456_i64.to_le_bytes()
            ),
            "\"2024-01-02T03:04:05.123456Z\""
        );
        assert_eq!(
            json(
                Type::Int32,
                Some(LogicalType::Date),
                &(-1_i32).to_le_bytes()
            ),
            "\"1969-12-31\""
        );
        let decimal = || {
            Some(LogicalType::Decimal {
                scale: 2,
                precision: 5,
            })
        };
        assert_eq!(
            json(Type::Int32, decimal(), &105_i32.to_le_bytes()),
            "\"1.05\""
        );
        assert_eq!(json(Type::ByteArray, decimal(), &[0xff, 0x38]), "\"-2.00\"");
        assert_eq!(
            json(Type::ByteArray, Some(LogicalType::String), b"\xc3\xa4"),
            "\"ä\""
        );
        let element = SchemaElement {
            type_: Some(Type::Int32),
            converted_type: Some(ConvertedType::Date),
            ..SchemaElement::default()
        };
        assert_eq!(value(&element, &[0; 4]), Some(Value::from("1970-01-01")));
    }

    #[test]
    fn bytes_that_do_not_fit_have_no_value() {
        for (type_, logical, bytes) in [
            (Type::Int32, None, [0_u8; 5].as_slice()),
            (Type::Boolean, None, &[]),
            (Type::ByteArray, Some(LogicalType::String), b"\xff"),
            (
                Type::ByteArray,
                Some(LogicalType::Decimal {
                    scale: 0,
                    precision: 1,
                }),
                b"",
            ),
            (
                Type::ByteArray,
                Some(LogicalType::Decimal {
                    scale: 0,
                    precision: 1,
                }),
                &[0; 33],
            ),
            (Type::FixedLenByteArray, Some(LogicalType::Uuid), &[0; 15]),
            (Type::ByteArray, None, b"x"),
            (Type::Int96, None, &[0; 12]),
        ] {
            assert_eq!(json(type_, logical, bytes), "-");
        }
    }
}

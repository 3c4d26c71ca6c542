//! Describes statistics bounds by PLAIN bytes and by value.

use herringbone::SchemaOptions;
use herringbone::format::Type;
use herringbone::pruning::BoundsDecoder;
use herringbone::schema::ParquetSchema;
use herringbone_arrow::array::Array as _;
use herringbone_arrow::schema::DataType;
use herringbone_interchange::write::value;
use serde_json::Value;

use super::Object;

/// Turns a column's bounds into JSON.
pub(crate) struct Bounds(Option<BoundsDecoder>);

impl Bounds {
    /// Creates the description for the column at `leaf`. Only shows bytes if the schema doesn't
    /// have this column.
    pub(crate) fn of(schema: &ParquetSchema, leaf: usize) -> Self {
        let column = schema.leaves().get(leaf);
        // INT96 has no order, so its bounds are meaningless.
        let column = column.filter(|column| column.physical_type != Type::Int96);
        let decoder = column
            .and_then(|_| BoundsDecoder::new(schema, leaf, &SchemaOptions::default()).ok())
            .filter(has_text);
        Self(decoder)
    }

    /// Returns `{"bytes": …, "value": …}`. Omits the value if the bytes don't fit the type, or if
    /// the type isn't human-readable.
    pub(crate) fn describe(&self, bytes: &[u8]) -> Value {
        Object::new()
            .bytes("bytes", Some(bytes))
            .some("value", self.value(bytes))
            .into()
    }

    fn value(&self, bytes: &[u8]) -> Option<Value> {
        let decoder = self.0.as_ref()?;
        let array = decoder.decode(&[Some(bytes)]).ok()?;
        if array.is_null(0) {
            return None;
        }
        let mut json = String::new();
        value::of(decoder.field(), &array).ok()?.json(0, &mut json);
        serde_json::from_str(&json).ok()
    }
}

/// Returns true if the column's values are human-readable, that is, text or numbers.
fn has_text(decoder: &BoundsDecoder) -> bool {
    let field = decoder.field();
    match field.data_type() {
        DataType::Null | DataType::Binary | DataType::Interval(_) => false,
        DataType::FixedSizeBinary(_) => field.extension_type_name().is_some(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use herringbone::Limits;
    use herringbone::format::{ConvertedType, LogicalType, Repetition, SchemaElement, TimeUnit};

    use super::*;

    fn json(type_: Type, logical: Option<LogicalType>, bytes: &[u8]) -> String {
        let type_length = match (type_, &logical) {
            (Type::FixedLenByteArray, Some(LogicalType::Uuid)) => Some(16),
            (Type::FixedLenByteArray, _) => Some(2),
            _ => None,
        };
        of(leaf()
            .type_(type_)
            .type_length(type_length)
            .logical_type(logical))
        .value(bytes)
        .map_or("-".into(), |value| value.to_string())
    }

    fn leaf() -> SchemaElement {
        SchemaElement::new("a".into()).repetition_type(Repetition::Required)
    }

    fn of(leaf: SchemaElement) -> Bounds {
        let root = SchemaElement::new("schema".into()).num_children(1);
        let schema = ParquetSchema::new(&[root, leaf], &Limits::default()).unwrap();
        Bounds::of(&schema, 0)
    }

    #[test]
    fn numbers() {
        let unsigned = |bit_width| {
            Some(LogicalType::Integer {
                bit_width,
                is_signed: false,
            })
        };
        assert_eq!(json(Type::Boolean, None, &[1]), "true");
        assert_eq!(json(Type::Int32, None, &[0xff; 4]), "-1");
        assert_eq!(json(Type::Int32, unsigned(32), &[0xff; 4]), "4294967295");
        assert_eq!(
            json(Type::Int64, unsigned(64), &[0xff; 8]),
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
        let element = leaf()
            .type_(Type::Int32)
            .converted_type(ConvertedType::Date);
        assert_eq!(of(element).value(&[0; 4]), Some(Value::from("1970-01-01")));
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
                &[1; 33],
            ),
            (Type::FixedLenByteArray, Some(LogicalType::Uuid), &[0; 15]),
            (Type::ByteArray, None, b"x"),
            (Type::Int96, None, &[0; 12]),
        ] {
            assert_eq!(json(type_, logical, bytes), "-");
        }
    }
}

//! Tests of columns, with their physical types, annotations, conversions and orders.

use herringbone_arrow::schema::{IntervalUnit, TimeUnit};
use herringbone_format::ConvertedType;

use super::*;
use crate::{ColumnOrderKind, WriteConversion};

/// Returns the column, its converted type, its conversion and its order.
pub(super) fn column(
    field: Field,
    options: &WriteSchemaOptions,
) -> (
    String,
    Option<ConvertedType>,
    WriteConversion,
    ColumnOrderKind,
) {
    let mapping = written(field, options);
    let leaf = &mapping.leaves[0];
    let converted = mapping.elements[1].converted_type;
    (message(&mapping), converted, leaf.conversion, leaf.order)
}

fn check(
    data_type: DataType,
    expected: &str,
    converted: Option<ConvertedType>,
    order: ColumnOrderKind,
) {
    converts(
        data_type,
        expected,
        converted,
        WriteConversion::Identity,
        order,
    );
}

fn converts(
    data_type: DataType,
    expected: &str,
    converted: Option<ConvertedType>,
    conversion: WriteConversion,
    order: ColumnOrderKind,
) {
    let text = data_type.to_string();
    let stored = column(
        Field::new("a", data_type, true),
        &WriteSchemaOptions::default(),
    );
    let expected = format!("optional {expected};");
    assert_eq!(stored, (expected, converted, conversion, order), "{text}");
}

#[test]
fn numbers() {
    use ColumnOrderKind::{Float, Float16, Signed, Undefined, Unsigned};
    check(DataType::Null, "int32 a (UNKNOWN)", None, Undefined);
    check(DataType::Boolean, "boolean a", None, Signed);
    check(
        DataType::Int8,
        "int32 a (INTEGER(8,true))",
        Some(ConvertedType::Int8),
        Signed,
    );
    check(
        DataType::Int16,
        "int32 a (INTEGER(16,true))",
        Some(ConvertedType::Int16),
        Signed,
    );
    check(DataType::Int32, "int32 a", None, Signed);
    check(DataType::Int64, "int64 a", None, Signed);
    check(
        DataType::UInt8,
        "int32 a (INTEGER(8,false))",
        Some(ConvertedType::Uint8),
        Unsigned,
    );
    check(
        DataType::UInt16,
        "int32 a (INTEGER(16,false))",
        Some(ConvertedType::Uint16),
        Unsigned,
    );
    check(
        DataType::UInt32,
        "int32 a (INTEGER(32,false))",
        Some(ConvertedType::Uint32),
        Unsigned,
    );
    check(
        DataType::UInt64,
        "int64 a (INTEGER(64,false))",
        Some(ConvertedType::Uint64),
        Unsigned,
    );
    check(
        DataType::Float16,
        "fixed_len_byte_array(2) a (FLOAT16)",
        None,
        Float16,
    );
    check(DataType::Float32, "float a", None, Float);
    check(DataType::Float64, "double a", None, Float);
}

#[test]
fn decimals() {
    use ColumnOrderKind::{Signed, SignedBytes};
    let decimal = Some(ConvertedType::Decimal);
    for (data_type, expected, order) in [
        (DataType::Decimal32(1, 1), "int32 a (DECIMAL(1,1))", Signed),
        (DataType::Decimal256(9, 2), "int32 a (DECIMAL(9,2))", Signed),
        (
            DataType::Decimal128(10, 0),
            "int64 a (DECIMAL(10,0))",
            Signed,
        ),
        (
            DataType::Decimal64(18, 18),
            "int64 a (DECIMAL(18,18))",
            Signed,
        ),
        (
            DataType::Decimal128(38, 10),
            "fixed_len_byte_array(16) a (DECIMAL(38,10))",
            SignedBytes,
        ),
        (
            DataType::Decimal256(39, 1),
            "fixed_len_byte_array(17) a (DECIMAL(39,1))",
            SignedBytes,
        ),
        (
            DataType::Decimal256(76, 0),
            "fixed_len_byte_array(32) a (DECIMAL(76,0))",
            SignedBytes,
        ),
    ] {
        check(data_type, expected, decimal, order);
    }
    for (data_type, digits, expected, order) in [
        (
            DataType::Decimal32(5, -2),
            2,
            "int32 a (DECIMAL(7,0))",
            Signed,
        ),
        (
            DataType::Decimal32(9, -1),
            1,
            "int64 a (DECIMAL(10,0))",
            Signed,
        ),
        (
            DataType::Decimal128(38, -38),
            38,
            "fixed_len_byte_array(32) a (DECIMAL(76,0))",
            SignedBytes,
        ),
    ] {
        let conversion = WriteConversion::Rescale { digits };
        converts(data_type, expected, decimal, conversion, order);
    }
    let mapping = written(
        Field::new("a", DataType::Decimal128(9, 2), true),
        &WriteSchemaOptions::default(),
    );
    assert_eq!(
        (mapping.elements[1].precision, mapping.elements[1].scale),
        (Some(9), Some(2))
    );
}

/// Checks with exact arithmetic that this is the smallest length with room for all the digits, as
/// signed numbers.
#[test]
fn fixed_decimals_are_as_short_as_can_be() {
    let options = WriteSchemaOptions {
        decimals_as_fixed: true,
        ..WriteSchemaOptions::default()
    };
    for precision in 1..=38_u8 {
        let largest = 10_i128.pow(u32::from(precision)) - 1;
        let bytes = (1..=16)
            .find(|bytes| largest <= i128::MAX >> (128 - 8 * bytes))
            .unwrap();
        let mapping = written(
            Field::new("a", DataType::Decimal128(precision, 0), true),
            &options,
        );
        assert_eq!(mapping.leaves[0].type_length, bytes, "{precision}");
    }
    // We derive the lengths from the digits of 2^(8n-1): 2^143 has 44 digits, 2^151 46, 2^159 48,
    // and 2^255 77.
    for (precision, bytes) in [
        (43, 18),
        (44, 19),
        (45, 19),
        (46, 20),
        (47, 20),
        (48, 21),
        (76, 32),
    ] {
        let mapping = written(
            Field::new("a", DataType::Decimal256(precision, 0), true),
            &options,
        );
        assert_eq!(mapping.leaves[0].type_length, bytes, "{precision}");
    }
}

#[test]
fn dates_and_times() {
    use ColumnOrderKind::{Signed, Undefined};
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    use WriteConversion::{MillisToDays, SecondsToMillis};
    let (date, millis) = (Some(ConvertedType::Date), Some(ConvertedType::TimeMillis));
    check(DataType::Date32, "int32 a (DATE)", date, Signed);
    converts(
        DataType::Date64,
        "int32 a (DATE)",
        date,
        MillisToDays,
        Signed,
    );
    converts(
        DataType::Time32(Second),
        "int32 a (TIME(MILLIS,false))",
        millis,
        SecondsToMillis,
        Signed,
    );
    check(
        DataType::Time32(Millisecond),
        "int32 a (TIME(MILLIS,false))",
        millis,
        Signed,
    );
    let micros = Some(ConvertedType::TimeMicros);
    check(
        DataType::Time64(Microsecond),
        "int64 a (TIME(MICROS,false))",
        micros,
        Signed,
    );
    check(
        DataType::Time64(Nanosecond),
        "int64 a (TIME(NANOS,false))",
        None,
        Signed,
    );
    for (zone, utc) in [(None, false), (Some(""), false), (Some("+01:00"), true)] {
        let of = |unit| DataType::Timestamp(unit, zone.map(Into::into));
        let stored = |unit| format!("int64 a (TIMESTAMP({unit},{utc}))");
        let millis = Some(ConvertedType::TimestampMillis);
        converts(
            of(Second),
            &stored("MILLIS"),
            millis,
            SecondsToMillis,
            Signed,
        );
        check(of(Millisecond), &stored("MILLIS"), millis, Signed);
        check(
            of(Microsecond),
            &stored("MICROS"),
            Some(ConvertedType::TimestampMicros),
            Signed,
        );
        check(of(Nanosecond), &stored("NANOS"), None, Signed);
    }
    check(DataType::Duration(Second), "int64 a", None, Signed);
    for unit in [
        IntervalUnit::YearMonth,
        IntervalUnit::DayTime,
        IntervalUnit::MonthDayNano,
    ] {
        let interval = Some(ConvertedType::Interval);
        check(
            DataType::Interval(unit),
            "fixed_len_byte_array(12) a (INTERVAL)",
            interval,
            Undefined,
        );
    }
}

#[test]
fn bytes_and_encodings() {
    use ColumnOrderKind::{Signed, UnsignedBytes};
    for text in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
        let utf8 = Some(ConvertedType::Utf8);
        check(text.clone(), "binary a (STRING)", utf8, UnsignedBytes);
        check(
            dictionary(text.clone()),
            "binary a (STRING)",
            utf8,
            UnsignedBytes,
        );
        check(
            runs(dictionary(text)),
            "binary a (STRING)",
            utf8,
            UnsignedBytes,
        );
    }
    for binary in [
        DataType::Binary,
        DataType::LargeBinary,
        DataType::BinaryView,
    ] {
        check(binary, "binary a", None, UnsignedBytes);
    }
    check(
        DataType::FixedSizeBinary(16),
        "fixed_len_byte_array(16) a",
        None,
        UnsignedBytes,
    );
    check(runs(DataType::Int64), "int64 a", None, Signed);
    let mapping = written(
        Field::new("a", runs(dictionary(DataType::Utf8)), true),
        &WriteSchemaOptions::default(),
    );
    assert_eq!(mapping.leaves[0].data_type, DataType::Utf8);
    // The null type cannot be REQUIRED, because all its values are null.
    let mapping = written(
        Field::new("a", dictionary(DataType::Null), false),
        &WriteSchemaOptions::default(),
    );
    assert_eq!(message(&mapping), "optional int32 a (UNKNOWN);");
    assert!(mapping.fields[0].nullable);
}

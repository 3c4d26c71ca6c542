//! Finds a type able to represent all values of two other types.

use herringbone_arrow::schema::{DataType, TimeUnit};

use crate::schema_merge::finer;

/// The digit limits of `Decimal128` and `Decimal256`.
const MAX_DIGITS: [i16; 2] = [38, 76];

/// Returns a type able to represent all values of both types, or `None` if there is none.
///
/// | types | common type |
/// |---|---|
/// | integers | the wider one; signed if either is signed; `Decimal128(20, 0)` for `UInt64` and signed integers |
/// | integers of at most 8, 16, 32 bits and floating-point numbers | the smallest float type for both |
/// | decimals, or an integer and a decimal | a decimal with enough digits for both |
/// | dates and timestamps without zone | timestamps |
/// | durations or times of different units | the finer unit |
/// | strings, binary values, and binary values of a fixed size | binary values |
pub(crate) fn promoted(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as T;
    integers(a, b)
        .or_else(|| floats(a, b))
        .or_else(|| decimals(a, b))
        .or_else(|| bytes(a, b))
        .or_else(|| match (a, b) {
            (T::Date32, T::Timestamp(unit, None)) | (T::Timestamp(unit, None), T::Date32) => {
                Some(T::Timestamp(*unit, None))
            }
            (T::Duration(a), T::Duration(b)) => Some(T::Duration(finer(*a, *b))),
            (T::Time32(a) | T::Time64(a), T::Time32(b) | T::Time64(b)) => {
                Some(match finer(*a, *b) {
                    unit @ (TimeUnit::Second | TimeUnit::Millisecond) => T::Time32(unit),
                    unit => T::Time64(unit),
                })
            }
            _ => None,
        })
}

/// Returns an integer type's bit count, and true if the type is signed.
fn integer(data_type: &DataType) -> Option<(u32, bool)> {
    use DataType as T;
    Some(match data_type {
        T::Int8 => (8, true),
        T::Int16 => (16, true),
        T::Int32 => (32, true),
        T::Int64 => (64, true),
        T::UInt8 => (8, false),
        T::UInt16 => (16, false),
        T::UInt32 => (32, false),
        T::UInt64 => (64, false),
        _ => return None,
    })
}

fn integers(a: &DataType, b: &DataType) -> Option<DataType> {
    let ((a_bits, a_signed), (b_bits, b_signed)) = (integer(a)?, integer(b)?);
    let is_signed = a_signed || b_signed;
    // Next to a signed integer, an unsigned one needs another bit, and therefore the next width.
    let needed = |bits: u32, signed: bool| match signed == is_signed {
        true => bits,
        false => bits * 2,
    };
    Some(
        match (
            needed(a_bits, a_signed).max(needed(b_bits, b_signed)),
            is_signed,
        ) {
            (8, true) => DataType::Int8,
            (16, true) => DataType::Int16,
            (32, true) => DataType::Int32,
            (64, true) => DataType::Int64,
            (8, false) => DataType::UInt8,
            (16, false) => DataType::UInt16,
            (32, false) => DataType::UInt32,
            (64, false) => DataType::UInt64,
            _ => DataType::Decimal128(20, 0),
        },
    )
}

/// Returns the width in bits of the smallest float that can hold all values of a numeric type.
fn float_bits(data_type: &DataType) -> Option<u32> {
    match (data_type, integer(data_type)) {
        (DataType::Float16, _) | (_, Some((8, _))) => Some(16),
        (DataType::Float32, _) | (_, Some((16, _))) => Some(32),
        (DataType::Float64, _) | (_, Some((32, _))) => Some(64),
        _ => None,
    }
}

fn floats(a: &DataType, b: &DataType) -> Option<DataType> {
    match float_bits(a)?.max(float_bits(b)?) {
        16 => Some(DataType::Float16),
        32 => Some(DataType::Float32),
        _ => Some(DataType::Float64),
    }
}

/// Returns the maximum number of digits before and after the decimal point.
fn digits(data_type: &DataType) -> Option<(i16, i16)> {
    use DataType as T;
    match *data_type {
        T::Decimal32(precision, scale)
        | T::Decimal64(precision, scale)
        | T::Decimal128(precision, scale)
        | T::Decimal256(precision, scale) => {
            let scale = i16::from(scale);
            Some((i16::from(precision) - scale, scale))
        }
        _ => Some(match integer(data_type)? {
            (8, _) => (3, 0),
            (16, _) => (5, 0),
            (32, _) => (10, 0),
            (_, true) => (19, 0),
            (_, false) => (20, 0),
        }),
    }
}

fn decimals(a: &DataType, b: &DataType) -> Option<DataType> {
    let ((whole, scale), (other_whole, other_scale)) = (digits(a)?, digits(b)?);
    let (whole, scale) = (whole.max(other_whole), scale.max(other_scale));
    let precision = whole + scale;
    let [most, most_of_all] = MAX_DIGITS;
    let (digits, scale) = (u8::try_from(precision).ok()?, i8::try_from(scale).ok()?);
    match precision {
        1.. if precision <= most => Some(DataType::Decimal128(digits, scale)),
        1.. if precision <= most_of_all => Some(DataType::Decimal256(digits, scale)),
        _ => None,
    }
}

fn bytes(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as T;
    let is_bytes = |it: &DataType| {
        matches!(
            it,
            T::Utf8
                | T::LargeUtf8
                | T::Utf8View
                | T::Binary
                | T::LargeBinary
                | T::BinaryView
                | T::FixedSizeBinary(_)
        )
    };
    let is_small = |it: &DataType| matches!(it, T::Utf8 | T::Binary | T::FixedSizeBinary(_));
    match (is_bytes(a) && is_bytes(b), is_small(a) && is_small(b)) {
        (true, true) => Some(T::Binary),
        (true, false) => Some(T::LargeBinary),
        (false, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_digits_for_both() {
        use DataType as T;
        for (a, b, expected) in [
            // 38 digits fit into 128 bits, and 76 into 256.
            (
                T::Decimal128(37, 0),
                T::Decimal128(9, 1),
                Some(T::Decimal128(38, 1)),
            ),
            (
                T::Decimal128(38, 0),
                T::Decimal128(9, 1),
                Some(T::Decimal256(39, 1)),
            ),
            (
                T::Decimal256(75, 0),
                T::Decimal256(9, 1),
                Some(T::Decimal256(76, 1)),
            ),
            (T::Decimal256(76, 0), T::Decimal256(9, 1), None),
            (T::Int8, T::Decimal32(2, 1), Some(T::Decimal128(4, 1))),
            (T::UInt16, T::Decimal32(2, 1), Some(T::Decimal128(6, 1))),
            (T::Int64, T::Decimal32(2, 1), Some(T::Decimal128(20, 1))),
            (T::UInt64, T::Decimal32(2, 1), Some(T::Decimal128(21, 1))),
        ] {
            assert_eq!(promoted(&a, &b), expected, "{a} {b}");
            assert_eq!(promoted(&b, &a), expected, "{b} {a}");
        }
    }

    #[test]
    fn all_values_of_both_have_room() {
        use DataType as T;
        use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
        for (a, b, expected) in [
            (T::Int32, T::Int64, Some(T::Int64)),
            (T::Int8, T::UInt8, Some(T::Int16)),
            (T::Int8, T::Int16, Some(T::Int16)),
            (T::Int16, T::UInt16, Some(T::Int32)),
            (T::UInt8, T::UInt16, Some(T::UInt16)),
            (T::UInt16, T::UInt32, Some(T::UInt32)),
            (T::Int8, T::UInt32, Some(T::Int64)),
            (T::Int64, T::UInt16, Some(T::Int64)),
            (T::UInt8, T::UInt64, Some(T::UInt64)),
            // -2^63 and 2^64 - 1 have at most 20 digits.
            (T::Int8, T::UInt64, Some(T::Decimal128(20, 0))),
            (T::Float32, T::Float64, Some(T::Float64)),
            // A float holds all integers up to 2^24, and a double all up to 2^53.
            (T::Int16, T::Float32, Some(T::Float32)),
            (T::Int32, T::Float32, Some(T::Float64)),
            (T::Int64, T::Float64, None),
            (T::UInt8, T::Float16, Some(T::Float16)),
            (
                T::Decimal128(9, 2),
                T::Decimal128(18, 2),
                Some(T::Decimal128(18, 2)),
            ),
            (
                T::Decimal128(9, 2),
                T::Decimal128(9, 7),
                Some(T::Decimal128(14, 7)),
            ),
            (
                T::Decimal128(38, 0),
                T::Decimal128(9, 9),
                Some(T::Decimal256(47, 9)),
            ),
            (T::Decimal256(76, 0), T::Decimal256(76, 76), None),
            (T::Int32, T::Decimal64(4, 1), Some(T::Decimal128(11, 1))),
            (T::Float64, T::Decimal128(9, 2), None),
            (
                T::Date32,
                T::Timestamp(Microsecond, None),
                Some(T::Timestamp(Microsecond, None)),
            ),
            (T::Date32, T::Timestamp(Second, Some("UTC".into())), None),
            (
                T::Time32(Second),
                T::Time64(Nanosecond),
                Some(T::Time64(Nanosecond)),
            ),
            (
                T::Duration(Second),
                T::Duration(Millisecond),
                Some(T::Duration(Millisecond)),
            ),
            (T::Utf8, T::Binary, Some(T::Binary)),
            (
                T::FixedSizeBinary(2),
                T::FixedSizeBinary(3),
                Some(T::Binary),
            ),
            (T::Utf8View, T::Binary, Some(T::LargeBinary)),
            (T::Boolean, T::Int8, None),
            (T::Int32, T::Utf8, None),
        ] {
            assert_eq!(promoted(&a, &b), expected, "{a} {b}");
            assert_eq!(promoted(&b, &a), expected, "{b} {a}");
        }
    }
}

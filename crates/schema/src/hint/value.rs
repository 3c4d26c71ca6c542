//! Choosing the type to read a column's values as, given a hint.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, TimeUnit};
use herringbone_format::Type;

use crate::{ArrowWrapper, ByteLayout, Conversion, SchemaOptions};

/// Returns the type to read a column as. This is the hint's type, something in between, or the
/// file's type if the hint adds nothing usable. If the two contradict each other, the result is
/// `None`.
///
/// `file` is the column's type according to the file alone, under the same options.
pub(crate) fn restored(
    file: &DataType,
    hint: &DataType,
    physical: Type,
    options: &SchemaOptions,
) -> Option<(DataType, Conversion)> {
    use DataType as T;
    let same = |data_type: &DataType| Some((data_type.clone(), Conversion::Identity));
    match (file, hint) {
        _ if file == hint => same(file),
        (T::Utf8 | T::LargeUtf8 | T::Utf8View, T::Utf8 | T::LargeUtf8 | T::Utf8View)
        | (
            T::Binary | T::LargeBinary | T::BinaryView,
            T::Binary | T::LargeBinary | T::BinaryView,
        ) => match options.strings {
            ByteLayout::Offsets => same(hint),
            ByteLayout::LargeOffsets | ByteLayout::Views => same(file),
        },
        (T::Timestamp(..), T::Timestamp(..)) => timestamp(file, hint, physical, options),
        // Types that Parquet lacks are stored as plain integers, so the hint's type is right.
        (T::Int64, T::Timestamp(..) | T::Duration(_) | T::Time64(_) | T::Date64)
        | (T::Int32, T::Time32(_) | T::Date32) => same(hint),
        (T::Time32(TimeUnit::Millisecond), T::Time32(TimeUnit::Second)) => {
            Some((hint.clone(), Conversion::MillisToSeconds))
        }
        (T::Date32, T::Date64) => Some((T::Date64, Conversion::DaysToMillis)),
        (T::Interval(_), T::Interval(_)) => same(hint),
        _ => {
            let (_, precision, scale) = decimal(file)?;
            let (max_precision, hint_precision, hint_scale) = decimal(hint)?;
            if (precision, scale) != (hint_precision, hint_scale) {
                None
            } else if options.smallest_decimals || precision > max_precision {
                same(file)
            } else {
                same(hint)
            }
        }
    }
}

/// Returns the wrapper for a decimal with scale 0 in the file and a negative scale in the hint. The
/// hint's decimal has fewer digits, and the negated scale is the difference.
pub(super) fn negative_scale(file: &DataType, hint: &DataType) -> Option<ArrowWrapper> {
    let (_, precision, 0) = decimal(file)? else {
        return None;
    };
    let (max_precision, hint_precision, hint_scale @ ..0) = decimal(hint)? else {
        return None;
    };
    let zeros = hint_scale.unsigned_abs();
    let is_same = (1..=max_precision).contains(&hint_precision)
        && hint_precision.checked_add(zeros) == Some(precision);
    is_same.then(|| ArrowWrapper::NegativeScale {
        stored: file.clone(),
        restored: hint.clone(),
    })
}

/// Returns a decimal type's digit capacity, precision and scale.
fn decimal(data_type: &DataType) -> Option<(u8, u8, i8)> {
    match *data_type {
        DataType::Decimal32(precision, scale) => Some((9, precision, scale)),
        DataType::Decimal64(precision, scale) => Some((18, precision, scale)),
        DataType::Decimal128(precision, scale) => Some((38, precision, scale)),
        DataType::Decimal256(precision, scale) => Some((76, precision, scale)),
        _ => None,
    }
}

/// Combines two timestamp types. The file determines the unit and whether values are instants. The
/// hint determines the zone's name. It also determines if the unit is seconds, since Parquet stores
/// these as milliseconds.
fn timestamp(
    file: &DataType,
    hint: &DataType,
    physical: Type,
    options: &SchemaOptions,
) -> Option<(DataType, Conversion)> {
    let (DataType::Timestamp(unit, zone), DataType::Timestamp(hint_unit, hint_zone)) = (file, hint)
    else {
        return None;
    };
    if physical == Type::Int96 {
        // INT96 has neither a unit nor a zone, so we take the hint's.
        let unit = match options.int96_unit {
            TimeUnit::Nanosecond => *hint_unit,
            chosen => chosen,
        };
        return Some((
            DataType::Timestamp(unit, hint_zone.clone()),
            Conversion::Identity,
        ));
    }
    let zone: Option<Arc<str>> = match (zone, hint_zone) {
        (Some(_), Some(named)) => Some(named.clone()),
        (zone, None) => zone.clone(),
        // This is a contradiction, because according to the file, these aren't instants.
        (None, Some(_)) => return None,
    };
    Some(match (unit, hint_unit) {
        (TimeUnit::Millisecond, TimeUnit::Second) => (
            DataType::Timestamp(TimeUnit::Second, zone),
            Conversion::MillisToSeconds,
        ),
        _ => (DataType::Timestamp(*unit, zone), Conversion::Identity),
    })
}

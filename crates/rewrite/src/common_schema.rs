//! One Arrow schema for several files that differ in what Parquet has no word for.
//!
//! Files that hold the same columns may say otherwise how these lie in Arrow, or which of them can
//! be null. The common schema takes the wider of two layouts, and what is nullable in either is
//! nullable. Whether all files can be read so is left to the reader.

use std::sync::Arc;

use herringbone_arrow::schema::{
    DataType, Field, FieldRef, Fields, IntervalUnit, Schema, TimeUnit,
};

/// Returns the schema that both have room in. A field for which there is none is as in `a`.
#[must_use]
pub fn common_schema(a: &Schema, b: &Schema) -> Schema {
    Schema::new_with_metadata(fields(a.fields(), b.fields()), a.metadata().clone())
}

/// Fields by place: names and order are not for us to change.
fn fields(a: &Fields, b: &Fields) -> Fields {
    let mut others = b.iter();
    a.iter()
        .map(|a| others.next().map_or_else(|| a.clone(), |b| field(a, b)))
        .collect()
}

fn field(a: &FieldRef, b: &FieldRef) -> FieldRef {
    if a == b {
        return a.clone();
    }
    let nullable = a.is_nullable() || b.is_nullable();
    let data_type = data_type(a.data_type(), b.data_type());
    Arc::new(
        Field::clone(a)
            .with_data_type(data_type)
            .with_nullable(nullable),
    )
}

fn data_type(a: &DataType, b: &DataType) -> DataType {
    use DataType as T;
    match (a, b) {
        _ if a == b => a.clone(),
        (T::Struct(a), T::Struct(b)) => T::Struct(fields(a, b)),
        (T::Map(a, sorted), T::Map(b, also_sorted)) => T::Map(field(a, b), *sorted && *also_sorted),
        (T::Dictionary(key, a), T::Dictionary(other, b)) => {
            T::Dictionary(Box::new(key_type(key, other)), Box::new(data_type(a, b)))
        }
        (T::RunEndEncoded(ends, a), T::RunEndEncoded(others, b)) => {
            let wider =
                match ends.data_type().primitive_width() >= others.data_type().primitive_width() {
                    true => ends,
                    false => others,
                };
            T::RunEndEncoded(wider.clone(), field(a, b))
        }
        // Plain values have room for whatever is encoded.
        (T::Dictionary(_, a), b) => data_type(a, b),
        (a, T::Dictionary(_, b)) => data_type(a, b),
        (T::RunEndEncoded(_, a), b) => data_type(a.data_type(), b),
        (a, T::RunEndEncoded(_, b)) => data_type(a, b.data_type()),
        _ => list(a, b)
            .or_else(|| leaf(a, b))
            .unwrap_or_else(|| a.clone()),
    }
}

/// The keys of a dictionary that may have to hold the values of both.
fn key_type(a: &DataType, b: &DataType) -> DataType {
    match a.primitive_width().max(b.primitive_width()) {
        _ if a == b => a.clone(),
        Some(8) => DataType::Int64,
        _ => DataType::Int32,
    }
}

fn list(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as T;
    let (child, other) = (element(a)?, element(b)?);
    let child = field(child, other);
    Some(match (a, b) {
        (T::FixedSizeList(_, n), T::FixedSizeList(_, m)) if n == m => T::FixedSizeList(child, *n),
        (T::ListView(_), T::ListView(_)) => T::ListView(child),
        (T::LargeListView(_), T::LargeListView(_)) => T::LargeListView(child),
        _ if is_large_list(a) || is_large_list(b) => T::LargeList(child),
        _ => T::List(child),
    })
}

fn element(list: &DataType) -> Option<&FieldRef> {
    use DataType::{FixedSizeList, LargeList, LargeListView, List, ListView};
    match list {
        List(child)
        | LargeList(child)
        | ListView(child)
        | LargeListView(child)
        | FixedSizeList(child, _) => Some(child),
        _ => None,
    }
}

fn is_large_list(list: &DataType) -> bool {
    matches!(list, DataType::LargeList(_) | DataType::LargeListView(_))
}

fn leaf(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType as T;
    Some(match (a, b) {
        (T::Utf8 | T::LargeUtf8 | T::Utf8View, T::Utf8 | T::LargeUtf8 | T::Utf8View) => {
            T::LargeUtf8
        }
        (
            T::Binary | T::LargeBinary | T::BinaryView,
            T::Binary | T::LargeBinary | T::BinaryView,
        ) => T::LargeBinary,
        (T::Timestamp(unit, zone), T::Timestamp(other, other_zone)) => {
            let zone = match (zone, other_zone) {
                (a, b) if a == b => a.clone(),
                // The same instants, shown otherwise.
                (Some(_), Some(_)) => Some("UTC".into()),
                _ => return None,
            };
            T::Timestamp(finer(*unit, *other), zone)
        }
        (T::Time32(_), T::Time32(_)) => T::Time32(TimeUnit::Millisecond),
        (T::Date32 | T::Date64, T::Date32 | T::Date64) => T::Date64,
        (T::Interval(_), T::Interval(_)) => T::Interval(IntervalUnit::MonthDayNano),
        _ => return decimal(a, b),
    })
}

fn finer(a: TimeUnit, b: TimeUnit) -> TimeUnit {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let units = [Nanosecond, Microsecond, Millisecond, Second];
    let finest = units.into_iter().find(|unit| *unit == a || *unit == b);
    finest.unwrap_or(a)
}

/// Decimals of the same digits in the wider of two types.
fn decimal(a: &DataType, b: &DataType) -> Option<DataType> {
    let digits = |data_type: &DataType| match *data_type {
        DataType::Decimal32(precision, scale) => Some((1, precision, scale)),
        DataType::Decimal64(precision, scale) => Some((2, precision, scale)),
        DataType::Decimal128(precision, scale) => Some((3, precision, scale)),
        DataType::Decimal256(precision, scale) => Some((4, precision, scale)),
        _ => None,
    };
    let (width, precision, scale) = digits(a)?;
    let (other_width, other_precision, other_scale) = digits(b)?;
    let is_same = (precision, scale) == (other_precision, other_scale);
    is_same.then(|| if width >= other_width { a } else { b }.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(key: DataType, value: DataType) -> DataType {
        DataType::Dictionary(Box::new(key), Box::new(value))
    }

    fn list(data_type: DataType, nullable: bool) -> DataType {
        DataType::List(Arc::new(Field::new("item", data_type, nullable)))
    }

    fn large_list(data_type: DataType) -> DataType {
        DataType::LargeList(Arc::new(Field::new("item", data_type, true)))
    }

    #[test]
    fn the_wider_of_two_types() {
        use DataType as T;
        use TimeUnit::{Microsecond, Millisecond, Second};
        let zoned = |unit, zone: &str| T::Timestamp(unit, Some(zone.into()));
        for (a, b, expected) in [
            (T::Utf8, T::LargeUtf8, T::LargeUtf8),
            (dictionary(T::Int8, T::Utf8), T::Utf8, T::Utf8),
            (
                dictionary(T::Int8, T::Utf8),
                dictionary(T::UInt16, T::LargeUtf8),
                dictionary(T::Int32, T::LargeUtf8),
            ),
            (
                list(T::Int32, false),
                large_list(T::Int32),
                large_list(T::Int32),
            ),
            (
                list(T::Int32, false),
                list(T::Int32, true),
                list(T::Int32, true),
            ),
            (
                zoned(Millisecond, "UTC"),
                zoned(Second, "Europe/Oslo"),
                zoned(Millisecond, "UTC"),
            ),
            (T::Date32, T::Date64, T::Date64),
            (T::Decimal32(5, 2), T::Decimal128(5, 2), T::Decimal128(5, 2)),
        ] {
            assert_eq!(data_type(&a, &b), expected);
            let swapped = data_type(&b, &a);
            assert_eq!(swapped, expected);
        }
        // These have nothing in common.
        for (a, b) in [
            (T::Int32, T::Utf8),
            (T::Decimal128(5, 2), T::Decimal128(6, 2)),
            (T::Timestamp(Microsecond, None), zoned(Microsecond, "UTC")),
        ] {
            assert_eq!(data_type(&a, &b), a);
        }
    }

    #[test]
    fn what_is_nullable_in_either_is_nullable() {
        let of = |nullable| Schema::new(vec![Field::new("x", DataType::Int32, nullable)]);
        assert_eq!(common_schema(&of(false), &of(true)), of(true));
        assert_eq!(common_schema(&of(true), &of(false)), of(true));
        assert_eq!(common_schema(&of(false), &of(false)), of(false));
    }
}

//! Names types for people, by their SQL name or their Arrow name in lower case.

use herringbone_arrow::schema::{DataType, Field};
use herringbone_interchange::write::geometry::is_geometry;

use crate::base::printable::printable;

/// Returns a column's type in a word or two, after SQL or Arrow.
pub(crate) fn type_name(field: &Field) -> String {
    let name = match field.extension_type_name() {
        Some("arrow.uuid") => "uuid",
        Some("arrow.parquet.variant") => "variant",
        Some("arrow.json") => "json",
        _ if is_geometry(field) => "geometry",
        _ => return type_of(field.data_type()),
    };
    name.to_owned()
}

fn type_of(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".into(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "bytes".into(),
        DataType::FixedSizeBinary(length) => format!("bytes({length})"),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => format!("decimal({precision},{scale})"),
        DataType::Date32 | DataType::Date64 => "date".into(),
        DataType::Time32(_) | DataType::Time64(_) => "time".into(),
        DataType::Timestamp(_, None) => "timestamp".into(),
        DataType::Timestamp(_, Some(zone)) => format!("timestamp {}", printable(zone)),
        DataType::Duration(_) => "duration".into(),
        DataType::Interval(_) => "interval".into(),
        DataType::Struct(_) => "struct".into(),
        DataType::Map(..) => "map".into(),
        DataType::Dictionary(_, values) => type_of(values),
        DataType::RunEndEncoded(_, values) => type_of(values.data_type()),
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(..) => "list".into(),
        other => other.to_string().to_lowercase(),
    }
}

/// Returns a type's name including the units and widths left out by [`type_name`]. Arrow layouts
/// such as dictionaries don't show up in the name, since they don't change values.
pub(crate) fn exact_type_name(field: &Field) -> String {
    let extension = field.extension_type_name();
    let extension = extension.map_or_else(String::new, |name| format!(" ({})", printable(name)));
    exact_type_of(field.data_type()) + &extension
}

fn exact_type_of(data_type: &DataType) -> String {
    let in_bits = |bits: u16| format!("{} in {bits} bits", type_of(data_type));
    match data_type {
        DataType::Dictionary(_, values) => exact_type_of(values),
        DataType::RunEndEncoded(_, values) => exact_type_of(values.data_type()),
        DataType::Timestamp(unit, None) => format!("timestamp({unit})"),
        DataType::Timestamp(unit, Some(zone)) => format!("timestamp({unit}) {}", printable(zone)),
        DataType::Time32(unit) | DataType::Time64(unit) => format!("time({unit})"),
        DataType::Duration(unit) => format!("duration({unit})"),
        DataType::Interval(unit) => format!("interval({unit:?})").to_lowercase(),
        DataType::Date64 => "date(ms)".into(),
        DataType::Decimal32(..) => in_bits(32),
        DataType::Decimal64(..) => in_bits(64),
        DataType::Decimal128(..) => in_bits(128),
        DataType::Decimal256(..) => in_bits(256),
        DataType::FixedSizeList(_, length) => format!("list({length})"),
        other => type_of(other),
    }
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::schema::TimeUnit;

    use super::*;

    #[test]
    fn exact_names_have_units_and_no_layouts() {
        let zone = || Some("UTC".into());
        for (data_type, name, exact) in [
            (DataType::LargeUtf8, "text", "text"),
            (
                DataType::Timestamp(TimeUnit::Millisecond, zone()),
                "timestamp UTC",
                "timestamp(ms) UTC",
            ),
            (DataType::Date64, "date", "date(ms)"),
            (
                DataType::Decimal32(9, 2),
                "decimal(9,2)",
                "decimal(9,2) in 32 bits",
            ),
            (
                DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8View)),
                "text",
                "text",
            ),
        ] {
            let field = Field::new("", data_type, true);
            assert_eq!(type_name(&field), name);
            assert_eq!(exact_type_name(&field), exact);
        }
    }
}

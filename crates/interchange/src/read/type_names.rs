//! Parses SQL type names and, case-insensitively, Arrow's type names.

use herringbone_arrow::schema::{DataType, IntervalUnit, TimeUnit};

/// Arrow's names, as its parser expects them.
const ARROW: [&str; 38] = [
    "Null",
    "Boolean",
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Float16",
    "Float32",
    "Float64",
    "Timestamp",
    "Date32",
    "Date64",
    "Time32",
    "Time64",
    "Duration",
    "Interval",
    "Binary",
    "FixedSizeBinary",
    "LargeBinary",
    "BinaryView",
    "Utf8",
    "LargeUtf8",
    "Utf8View",
    "List",
    "ListView",
    "FixedSizeList",
    "LargeList",
    "LargeListView",
    "Struct",
    "Decimal32",
    "Decimal64",
    "Decimal128",
    "Decimal256",
    "Dictionary",
];

/// Returns the type with this SQL name or case-insensitive Arrow name.
pub(super) fn other_name(text: &str) -> Option<DataType> {
    let lower = text.trim().to_ascii_lowercase();
    let (name, arguments) = match lower.split_once('(') {
        Some((name, rest)) => (name.trim_end(), Some(rest.strip_suffix(')')?.trim())),
        None => (lower.as_str(), None),
    };
    if let Some(found) = of_sql(name, arguments) {
        return Some(found);
    }
    let arrow = ARROW
        .iter()
        .find(|arrow_name| arrow_name.eq_ignore_ascii_case(name))?;
    // Units and zones keep their letter case.
    let rest = text.trim().get(name.len()..)?;
    format!("{arrow}{rest}").parse().ok()
}

fn of_sql(name: &str, arguments: Option<&str>) -> Option<DataType> {
    use DataType as T;
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    if let ("decimal" | "numeric" | "dec", arguments) = (name, arguments) {
        return decimal(arguments.unwrap_or("18,3"));
    }
    let zoned = |unit| T::Timestamp(unit, Some("UTC".into()));
    let plain = match name {
        "bool" | "logical" => T::Boolean,
        "tinyint" | "int1" => T::Int8,
        "smallint" | "int2" | "short" => T::Int16,
        "int" | "integer" | "int4" | "signed" => T::Int32,
        "bigint" | "long" => T::Int64,
        "utinyint" => T::UInt8,
        "usmallint" => T::UInt16,
        "uinteger" | "uint" => T::UInt32,
        "ubigint" => T::UInt64,
        "half" | "halffloat" => T::Float16,
        "real" | "float4" | "float" => T::Float32,
        "double" | "double precision" | "float8" => T::Float64,
        "text" | "string" | "varchar" | "char" | "character varying" | "str" => T::Utf8,
        "large_string" => T::LargeUtf8,
        "string_view" => T::Utf8View,
        "large_binary" => T::LargeBinary,
        "blob" | "bytea" | "varbinary" | "bytes" => T::Binary,
        "date" => T::Date32,
        "time" => T::Time64(Microsecond),
        "timestamp" | "datetime" | "timestamp_us" | "timestamp without time zone"
            if arguments.is_none() =>
        {
            T::Timestamp(Microsecond, None)
        }
        "timestamp_s" => T::Timestamp(Second, None),
        "timestamp_ms" => T::Timestamp(Millisecond, None),
        "timestamp_ns" => T::Timestamp(Nanosecond, None),
        "timestamptz" | "timestamp with time zone" => zoned(Microsecond),
        "interval" if arguments.is_none() => T::Interval(IntervalUnit::MonthDayNano),
        _ => return None,
    };
    // We ignore the length of text types, since Arrow has no such limit.
    let is_text =
        plain == T::Utf8 && arguments.is_some_and(|argument| argument.parse::<u32>().is_ok());
    (arguments.is_none() || is_text).then_some(plain)
}

/// Parses `precision, scale`, or only `precision` for whole numbers.
fn decimal(arguments: &str) -> Option<DataType> {
    let (precision, scale) = arguments.split_once(',').unwrap_or((arguments, "0"));
    let (precision, scale): (u8, i8) = (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
    let is_scale = scale >= 0 && scale.unsigned_abs() <= precision;
    match precision {
        1..=38 if is_scale => Some(DataType::Decimal128(precision, scale)),
        39..=76 if is_scale => Some(DataType::Decimal256(precision, scale)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sql_and_arrow() {
        for (text, expected) in [
            ("int", "Int32"),
            ("BIGINT", "Int64"),
            ("INT64", "Int64"),
            ("uint8", "UInt8"),
            ("varchar(20)", "Utf8"),
            ("Double Precision", "Float64"),
            ("decimal(9,2)", "Decimal128(9, 2)"),
            ("numeric(50)", "Decimal256(50, 0)"),
            ("timestamp(ms)", "Timestamp(ms)"),
            (
                "timestamp(ms, \"Europe/Rome\")",
                "Timestamp(ms, \"Europe/Rome\")",
            ),
            ("timestamptz", "Timestamp(µs, \"UTC\")"),
            ("decimal128(9, 2)", "Decimal128(9, 2)"),
            ("date", "Date32"),
        ] {
            let found = other_name(text).map(|other_name| other_name.to_string());
            assert_eq!(found.as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "int(5)",
            "decimal(77)",
            "decimal(2,3)",
            "geometry",
            "time(3",
        ] {
            assert_eq!(other_name(text), None, "{text}");
        }
    }
}

//! `ParquetLogicalType`, with pyarrow's texts.

use herringbone::format::{ConvertedType, LogicalType, SchemaElement, TimeUnit};
use pyo3::prelude::*;

/// A column's logical type.
#[pyclass(module = "herringbone", frozen)]
pub(crate) struct ParquetLogicalType {
    kind: &'static str,
    parameters: Vec<(&'static str, Parameter)>,
}

enum Parameter {
    Number(i64),
    Flag(bool),
    Text(String),
}

impl ParquetLogicalType {
    pub(super) fn of(element: &SchemaElement) -> Self {
        match (&element.logical_type, element.converted_type) {
            (Some(logical), _) => of_logical(logical),
            (None, Some(converted)) => of_converted(converted, element),
            (None, None) => plain("None"),
        }
    }

    /// Returns the text that pyarrow's `str` has.
    pub(super) fn name(&self) -> String {
        if self.parameters.is_empty() {
            return self.kind.to_owned();
        }
        let parameters = self.parameters.iter().map(|(name, value)| match value {
            Parameter::Number(value) => format!("{name}={value}"),
            Parameter::Flag(value) => format!("{name}={value}"),
            Parameter::Text(value) => format!("{name}={value}"),
        });
        format!(
            "{}({})",
            self.kind,
            parameters.collect::<Vec<_>>().join(", ")
        )
    }
}

#[pymethods]
impl ParquetLogicalType {
    /// The kind, such as 'STRING' or 'TIMESTAMP'.
    #[getter]
    fn r#type(&self) -> String {
        self.kind.to_ascii_uppercase()
    }

    /// Returns the type and its parameters as JSON in pyarrow's form.
    fn to_json(&self) -> String {
        let mut json = format!("{{\"Type\":\"{}\"", self.kind);
        for (name, value) in &self.parameters {
            json.push_str(&match value {
                Parameter::Number(value) => format!(",\"{name}\":{value}"),
                Parameter::Flag(value) => format!(",\"{name}\":{value}"),
                Parameter::Text(value) => format!(
                    ",\"{name}\":\"{}\"",
                    value.replace('\\', "\\\\").replace('"', "\\\"")
                ),
            });
        }
        json.push('}');
        json
    }

    fn __str__(&self) -> String {
        self.name()
    }

    fn __repr__(&self) -> String {
        format!("<ParquetLogicalType>\n  {}", self.name())
    }
}

fn plain(kind: &'static str) -> ParquetLogicalType {
    ParquetLogicalType {
        kind,
        parameters: Vec::new(),
    }
}

fn time(kind: &'static str, utc: bool, unit: TimeUnit, is_converted: bool) -> ParquetLogicalType {
    let unit = match unit {
        TimeUnit::Millis => "milliseconds",
        TimeUnit::Micros => "microseconds",
        _ => "nanoseconds",
    };
    let mut parameters = vec![
        ("isAdjustedToUTC", Parameter::Flag(utc)),
        ("timeUnit", Parameter::Text(unit.to_owned())),
    ];
    if kind == "Timestamp" {
        parameters.push(("is_from_converted_type", Parameter::Flag(is_converted)));
        parameters.push(("force_set_converted_type", Parameter::Flag(false)));
    }
    ParquetLogicalType { kind, parameters }
}

fn decimal(precision: i32, scale: i32) -> ParquetLogicalType {
    ParquetLogicalType {
        kind: "Decimal",
        parameters: vec![
            ("precision", Parameter::Number(precision.into())),
            ("scale", Parameter::Number(scale.into())),
        ],
    }
}

fn integer(bit_width: i8, is_signed: bool) -> ParquetLogicalType {
    ParquetLogicalType {
        kind: "Int",
        parameters: vec![
            ("bitWidth", Parameter::Number(bit_width.into())),
            ("isSigned", Parameter::Flag(is_signed)),
        ],
    }
}

fn of_logical(logical: &LogicalType) -> ParquetLogicalType {
    let crs = |crs: &Option<String>| ("crs", Parameter::Text(crs.clone().unwrap_or_default()));
    match logical {
        LogicalType::String => plain("String"),
        LogicalType::Map => plain("Map"),
        LogicalType::List => plain("List"),
        LogicalType::Enum => plain("Enum"),
        LogicalType::Decimal { scale, precision } => decimal(*precision, *scale),
        LogicalType::Date => plain("Date"),
        LogicalType::Time {
            is_adjusted_to_utc,
            unit,
        } => time("Time", *is_adjusted_to_utc, *unit, false),
        LogicalType::Timestamp {
            is_adjusted_to_utc,
            unit,
        } => time("Timestamp", *is_adjusted_to_utc, *unit, false),
        LogicalType::Integer {
            bit_width,
            is_signed,
        } => integer(*bit_width, *is_signed),
        LogicalType::Unknown => plain("Null"),
        LogicalType::Json => plain("JSON"),
        LogicalType::Bson => plain("BSON"),
        LogicalType::Uuid => plain("UUID"),
        LogicalType::Float16 => plain("Float16"),
        LogicalType::Variant { .. } => plain("Variant"),
        LogicalType::Geometry { crs: of } => ParquetLogicalType {
            kind: "Geometry",
            parameters: vec![crs(of)],
        },
        LogicalType::Geography { crs: of, .. } => ParquetLogicalType {
            kind: "Geography",
            parameters: vec![crs(of)],
        },
        LogicalType::File => plain("File"),
        _ => plain("Undefined"),
    }
}

fn of_converted(converted: ConvertedType, element: &SchemaElement) -> ParquetLogicalType {
    match converted {
        ConvertedType::Utf8 => plain("String"),
        ConvertedType::Map | ConvertedType::MapKeyValue => plain("Map"),
        ConvertedType::List => plain("List"),
        ConvertedType::Enum => plain("Enum"),
        ConvertedType::Decimal => decimal(
            element.precision.unwrap_or_default(),
            element.scale.unwrap_or_default(),
        ),
        ConvertedType::Date => plain("Date"),
        ConvertedType::TimeMillis => time("Time", true, TimeUnit::Millis, true),
        ConvertedType::TimeMicros => time("Time", true, TimeUnit::Micros, true),
        ConvertedType::TimestampMillis => time("Timestamp", true, TimeUnit::Millis, true),
        ConvertedType::TimestampMicros => time("Timestamp", true, TimeUnit::Micros, true),
        ConvertedType::Uint8 => integer(8, false),
        ConvertedType::Uint16 => integer(16, false),
        ConvertedType::Uint32 => integer(32, false),
        ConvertedType::Uint64 => integer(64, false),
        ConvertedType::Int8 => integer(8, true),
        ConvertedType::Int16 => integer(16, true),
        ConvertedType::Int32 => integer(32, true),
        ConvertedType::Int64 => integer(64, true),
        ConvertedType::Json => plain("JSON"),
        ConvertedType::Bson => plain("BSON"),
        ConvertedType::Interval => plain("Interval"),
        _ => plain("Undefined"),
    }
}

//! Columns' logical types, and the orders of their bounds.
//!
//! In `parquet.thrift`, `LogicalType`, `TimeUnit` and `ColumnOrder` are unions, so the id of the only set field
//! determines the variant. According to the specification, a reader that doesn't know an annotation should still read
//! the physical values, ignoring bounds. This is why we retain unknown ids.

use std::fmt;

use crate::EdgeInterpolationAlgorithm;

/// The meaning of a column's values. This supersedes [`ConvertedType`](crate::ConvertedType).
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::ParquetFile;
/// use herringbone::format::LogicalType;
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let name = file.parquet_schema().nodes().iter().find(|node| node.element.name == "name");
/// let logical_type = &name.ok_or("no such column")?.element.logical_type;
/// assert_eq!(logical_type, &Some(LogicalType::String));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LogicalType {
    /// UTF-8 text (LogicalTypes, "STRING").
    String,
    /// A group with one repeated key-value group (LogicalTypes, "Maps").
    Map,
    /// A group with one repeated field (LogicalTypes, "Lists").
    List,
    /// An enum value as a string (LogicalTypes, "ENUM").
    Enum,
    /// A decimal number, that is, the value times 10<sup>-scale</sup> (LogicalTypes, "DECIMAL").
    Decimal {
        /// The number of digits after the decimal point.
        scale: i32,
        /// The total number of digits.
        precision: i32,
    },
    /// Days since 1970-01-01 (LogicalTypes, "DATE").
    Date,
    /// The time of day since midnight (LogicalTypes, "TIME").
    Time {
        /// True if the time is in UTC. False if its time zone is unknown.
        is_adjusted_to_utc: bool,
        /// The unit of the value.
        unit: TimeUnit,
    },
    /// The time since 1970-01-01 00:00:00 (LogicalTypes, "TIMESTAMP").
    Timestamp {
        /// True if the value is an instant. False if it is a local date and time.
        is_adjusted_to_utc: bool,
        /// The unit of the value.
        unit: TimeUnit,
    },
    /// An unsigned integer, or one narrower than its physical type (LogicalTypes, "Signed Integers" and "Unsigned
    /// Integers").
    Integer {
        /// The number of bits. In a valid file, this is 8, 16, 32 or 64.
        bit_width: i8,
        /// True if the integer is signed.
        is_signed: bool,
    },
    /// Only nulls, of an arbitrary physical type (LogicalTypes, "UNKNOWN (always null)").
    Unknown,
    /// A JSON document in UTF-8 (LogicalTypes, "JSON").
    Json,
    /// A BSON document (LogicalTypes, "BSON").
    Bson,
    /// Sixteen bytes, big-endian (LogicalTypes, "UUID").
    Uuid,
    /// IEEE 754 binary16 in two bytes, little-endian (LogicalTypes, "FLOAT16").
    Float16,
    /// A group of metadata and value, plus `typed_value` when shredded (LogicalTypes, "VARIANT").
    Variant {
        /// The version of the encoding, or 1 if it is absent.
        specification_version: Option<i8>,
    },
    /// Well-known binary, with straight edges in the plane of its coordinates (LogicalTypes, "GEOMETRY").
    Geometry {
        /// The coordinate reference system. By default, coordinates are longitude and latitude.
        crs: Option<String>,
    },
    /// Well-known binary, with edges on a globe (LogicalTypes, "GEOGRAPHY").
    Geography {
        /// The coordinate reference system. By default, coordinates are longitude and latitude.
        crs: Option<String>,
        /// The edge interpolation algorithm. By default, edges lie on a sphere.
        algorithm: Option<EdgeInterpolationAlgorithm>,
    },
    /// A group that references or contains a file (LogicalTypes, "FILE").
    File,
    /// An annotation unknown to this version, or in an unknown form.
    Unrecognized {
        /// The id of the union field, or 0 if no field was set.
        field_id: i16,
        /// The field's struct in the compact protocol, including the final zero byte. Empty if the field has another
        /// type. We write it back unchanged.
        parameters: Vec<u8>,
    },
}

impl LogicalType {
    /// Returns the heap bytes used by the annotation.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match self {
            Self::Geometry { crs } | Self::Geography { crs, .. } => {
                crs.as_ref().map_or(0, String::capacity)
            }
            Self::Unrecognized { parameters, .. } => parameters.capacity(),
            _ => 0,
        }
    }

    /// Returns one value of each known type. Hidden, because it's only for testing tables over logical types.
    #[doc(hidden)]
    #[must_use]
    pub fn one_of_each() -> Vec<Self> {
        vec![
            Self::String,
            Self::Map,
            Self::List,
            Self::Enum,
            Self::Decimal {
                scale: 2,
                precision: 9,
            },
            Self::Date,
            Self::Time {
                is_adjusted_to_utc: true,
                unit: TimeUnit::Micros,
            },
            Self::Timestamp {
                is_adjusted_to_utc: true,
                unit: TimeUnit::Micros,
            },
            Self::Integer {
                bit_width: 16,
                is_signed: false,
            },
            Self::Unknown,
            Self::Json,
            Self::Bson,
            Self::Uuid,
            Self::Float16,
            Self::Variant {
                specification_version: Some(1),
            },
            Self::Geometry {
                crs: Some("OGC:CRS84".to_owned()),
            },
            Self::Geography {
                crs: None,
                algorithm: Some(EdgeInterpolationAlgorithm::Karney),
            },
            Self::File,
        ]
    }
}

impl fmt::Display for LogicalType {
    /// Formats the type with the specification's names, for example as `TIMESTAMP(isAdjustedToUTC=true, unit=MICROS)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::String => f.write_str("STRING"),
            Self::Map => f.write_str("MAP"),
            Self::List => f.write_str("LIST"),
            Self::Enum => f.write_str("ENUM"),
            Self::Decimal { scale, precision } => {
                write!(f, "DECIMAL(precision={precision}, scale={scale})")
            }
            Self::Date => f.write_str("DATE"),
            Self::Time {
                is_adjusted_to_utc,
                unit,
            } => write!(f, "TIME(isAdjustedToUTC={is_adjusted_to_utc}, unit={unit})"),
            Self::Timestamp {
                is_adjusted_to_utc,
                unit,
            } => write!(
                f,
                "TIMESTAMP(isAdjustedToUTC={is_adjusted_to_utc}, unit={unit})"
            ),
            Self::Integer {
                bit_width,
                is_signed,
            } => write!(f, "INTEGER(bitWidth={bit_width}, isSigned={is_signed})"),
            Self::Unknown => f.write_str("UNKNOWN"),
            Self::Json => f.write_str("JSON"),
            Self::Bson => f.write_str("BSON"),
            Self::Uuid => f.write_str("UUID"),
            Self::Float16 => f.write_str("FLOAT16"),
            Self::Variant {
                specification_version: Some(version),
            } => write!(f, "VARIANT(specification_version={version})"),
            Self::Variant {
                specification_version: None,
            } => f.write_str("VARIANT"),
            Self::Geometry { crs } => {
                f.write_str("GEOMETRY")?;
                arguments(f, &[("crs", crs.as_deref())])
            }
            Self::Geography { crs, algorithm } => {
                let algorithm = algorithm.map(|algorithm| algorithm.to_string());
                f.write_str("GEOGRAPHY")?;
                arguments(
                    f,
                    &[("crs", crs.as_deref()), ("algorithm", algorithm.as_deref())],
                )
            }
            Self::File => f.write_str("FILE"),
            Self::Unrecognized { field_id, .. } => write!(f, "UNRECOGNIZED({field_id})"),
        }
    }
}

/// Formats the present arguments as `(a=1, b=2)`, or nothing if all are absent.
fn arguments(f: &mut fmt::Formatter<'_>, parts: &[(&str, Option<&str>)]) -> fmt::Result {
    let mut open = "(";
    for (name, value) in parts {
        if let Some(value) = value {
            write!(f, "{open}{name}={value}")?;
            open = ", ";
        }
    }
    f.write_str(if open == "(" { "" } else { ")" })
}

/// The unit of a TIME or TIMESTAMP value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// 10<sup>-3</sup> seconds.
    Millis,
    /// 10<sup>-6</sup> seconds.
    Micros,
    /// 10<sup>-9</sup> seconds.
    Nanos,
}

impl fmt::Display for TimeUnit {
    /// Formats the specification's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Millis => "MILLIS",
            Self::Micros => "MICROS",
            Self::Nanos => "NANOS",
        })
    }
}

/// The order of a column's `min_value` and `max_value`. Bounds are only valid in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ColumnOrder {
    /// The logical type's order, or the physical type's order if the logical type has none.
    TypeDefined,
    /// The total order of IEEE 754, including NaNs.
    Ieee754Total,
    /// The order of INT96 timestamps by day, then by nanosecond of the day.
    Int96Timestamp,
    /// An order unknown to this version, which makes the bounds unusable. The id is 0 if no field was set.
    Unknown(i16),
}

impl fmt::Display for ColumnOrder {
    /// Formats the specification's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TypeDefined => f.pad("TYPE_ORDER"),
            Self::Ieee754Total => f.pad("IEEE_754_TOTAL_ORDER"),
            Self::Int96Timestamp => f.pad("INT96_TIMESTAMP_ORDER"),
            Self::Unknown(id) => f.pad(&format!("UNKNOWN({id})")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_the_words_of_the_specification() {
        let shown = |logical_type: LogicalType| logical_type.to_string();
        assert_eq!(
            shown(LogicalType::Timestamp {
                is_adjusted_to_utc: true,
                unit: TimeUnit::Micros
            }),
            "TIMESTAMP(isAdjustedToUTC=true, unit=MICROS)"
        );
        assert_eq!(
            shown(LogicalType::Decimal {
                scale: 2,
                precision: 9
            }),
            "DECIMAL(precision=9, scale=2)"
        );
        assert_eq!(shown(LogicalType::Geometry { crs: None }), "GEOMETRY");
        assert_eq!(
            shown(LogicalType::Geography {
                crs: Some("srid:4326".into()),
                algorithm: Some(EdgeInterpolationAlgorithm::Karney)
            }),
            "GEOGRAPHY(crs=srid:4326, algorithm=KARNEY)"
        );
        assert_eq!(
            shown(LogicalType::Unrecognized {
                field_id: 77,
                parameters: vec![0]
            }),
            "UNRECOGNIZED(77)"
        );
        assert_eq!(ColumnOrder::TypeDefined.to_string(), "TYPE_ORDER");
    }
}

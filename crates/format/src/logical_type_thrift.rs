//! Thrift encoding of the unions in `logical_type`.

use crate::{
    ColumnOrder, EdgeInterpolationAlgorithm, LogicalType, Result, TimeUnit,
    thrift::{
        CompactReader, CompactWriter, Field, RawStruct, Value, Wire, read_union, thrift_struct,
        write_union,
    },
};

thrift_struct! {
    /// The struct of any variant without parameters.
    pub(crate) struct Empty {}
}

thrift_struct! {
    struct DecimalType {
        1: required scale: i32,
        2: required precision: i32,
    }
}

thrift_struct! {
    /// The struct shared by TIME and TIMESTAMP.
    struct TimeType {
        1: required is_adjusted_to_utc: bool,
        2: required unit: UnitId,
    }
}

thrift_struct! {
    struct IntType {
        1: required bit_width: i8,
        2: required is_signed: bool,
    }
}

thrift_struct! {
    struct VariantType {
        1: optional specification_version: i8,
    }
}

thrift_struct! {
    /// The struct shared by GEOMETRY and GEOGRAPHY. GEOMETRY doesn't use `algorithm`.
    struct GeospatialType {
        1: optional crs: String,
        2: optional algorithm: EdgeInterpolationAlgorithm,
    }
}

/// A time unit's union field id.
struct UnitId(i16);

impl UnitId {
    fn unit(&self) -> Option<TimeUnit> {
        match self.0 {
            1 => Some(TimeUnit::Millis),
            2 => Some(TimeUnit::Micros),
            3 => Some(TimeUnit::Nanos),
            _ => None,
        }
    }
}

impl From<TimeUnit> for UnitId {
    fn from(unit: TimeUnit) -> Self {
        Self(match unit {
            TimeUnit::Millis => 1,
            TimeUnit::Micros => 2,
            TimeUnit::Nanos => 3,
        })
    }
}

impl Value for UnitId {
    const WIRE: Wire = Wire::Struct;

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        read_id(reader, wire).map(Self)
    }

    fn write(&self, writer: &mut CompactWriter) {
        write_union(writer, self.0, &Empty {});
    }
}

/// Reads a union whose fields have no parameters. Returns the id of the set field, or 0 if there is none.
pub(crate) fn read_id(reader: &mut CompactReader<'_>, wire: Wire) -> Result<i16> {
    let id = read_union(reader, wire, |reader, field| {
        reader.skip(field.wire)?;
        Ok(field.id)
    })?;
    Ok(id.unwrap_or_default())
}

impl Value for LogicalType {
    const WIRE: Wire = Wire::Struct;

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        let read = read_union(reader, wire, |reader, field| match field.id {
            5 => DecimalType::read(reader, field.wire).map(|it| Self::Decimal {
                scale: it.scale,
                precision: it.precision,
            }),
            7 | 8 => {
                let mut again = reader.clone();
                let it = TimeType::read(reader, field.wire)?;
                time(&it, field.id).map_or_else(|| unrecognized(&mut again, field), Ok)
            }
            10 => IntType::read(reader, field.wire).map(|it| Self::Integer {
                bit_width: it.bit_width,
                is_signed: it.is_signed,
            }),
            16 => VariantType::read(reader, field.wire).map(|it| Self::Variant {
                specification_version: it.specification_version,
            }),
            17 => GeospatialType::read(reader, field.wire).map(|it| Self::Geometry { crs: it.crs }),
            18 => GeospatialType::read(reader, field.wire).map(|it| Self::Geography {
                crs: it.crs,
                algorithm: it.algorithm,
            }),
            id => match without_parameters(id) {
                Some(read) => reader.skip(field.wire).map(|()| read),
                None => unrecognized(reader, field),
            },
        })?;
        Ok(read.unwrap_or(Self::Unrecognized {
            field_id: 0,
            parameters: Vec::new(),
        }))
    }

    fn write(&self, writer: &mut CompactWriter) {
        let id = id(self);
        match self.clone() {
            Self::Decimal { scale, precision } => {
                write_union(writer, id, &DecimalType { scale, precision });
            }
            Self::Time {
                is_adjusted_to_utc,
                unit,
            }
            | Self::Timestamp {
                is_adjusted_to_utc,
                unit,
            } => {
                let unit = UnitId::from(unit);
                let variant = TimeType {
                    is_adjusted_to_utc,
                    unit,
                };
                write_union(writer, id, &variant);
            }
            Self::Integer {
                bit_width,
                is_signed,
            } => {
                let variant = IntType {
                    bit_width,
                    is_signed,
                };
                write_union(writer, id, &variant);
            }
            Self::Variant {
                specification_version,
            } => {
                let variant = VariantType {
                    specification_version,
                };
                write_union(writer, id, &variant);
            }
            Self::Geometry { crs } => {
                let algorithm = None;
                write_union(writer, id, &GeospatialType { crs, algorithm });
            }
            Self::Geography { crs, algorithm } => {
                write_union(writer, id, &GeospatialType { crs, algorithm });
            }
            Self::Unrecognized { parameters, .. } if !parameters.is_empty() => {
                write_union(writer, id, &RawStruct(parameters));
            }
            _ => write_union(writer, id, &Empty {}),
        }
    }
}

/// Returns TIME for field 7, and TIMESTAMP for field 8, or `None` if the unit is unknown.
fn time(it: &TimeType, field_id: i16) -> Option<LogicalType> {
    let is_adjusted_to_utc = it.is_adjusted_to_utc;
    let unit = it.unit.unit()?;
    Some(match field_id {
        7 => LogicalType::Time {
            is_adjusted_to_utc,
            unit,
        },
        _ => LogicalType::Timestamp {
            is_adjusted_to_utc,
            unit,
        },
    })
}

/// Reads an unrecognized variant, keeping its parameter bytes.
fn unrecognized(reader: &mut CompactReader<'_>, field: Field) -> Result<LogicalType> {
    let parameters = match field.wire {
        Wire::Struct => reader.raw_struct()?.to_vec(),
        wire => reader.skip(wire).map(|()| Vec::new())?,
    };
    Ok(LogicalType::Unrecognized {
        field_id: field.id,
        parameters,
    })
}

fn without_parameters(field_id: i16) -> Option<LogicalType> {
    Some(match field_id {
        1 => LogicalType::String,
        2 => LogicalType::Map,
        3 => LogicalType::List,
        4 => LogicalType::Enum,
        6 => LogicalType::Date,
        11 => LogicalType::Unknown,
        12 => LogicalType::Json,
        13 => LogicalType::Bson,
        14 => LogicalType::Uuid,
        15 => LogicalType::Float16,
        19 => LogicalType::File,
        _ => return None,
    })
}

/// Returns the id of the variant's union field.
fn id(logical_type: &LogicalType) -> i16 {
    match logical_type {
        LogicalType::String => 1,
        LogicalType::Map => 2,
        LogicalType::List => 3,
        LogicalType::Enum => 4,
        LogicalType::Decimal { .. } => 5,
        LogicalType::Date => 6,
        LogicalType::Time { .. } => 7,
        LogicalType::Timestamp { .. } => 8,
        LogicalType::Integer { .. } => 10,
        LogicalType::Unknown => 11,
        LogicalType::Json => 12,
        LogicalType::Bson => 13,
        LogicalType::Uuid => 14,
        LogicalType::Float16 => 15,
        LogicalType::Variant { .. } => 16,
        LogicalType::Geometry { .. } => 17,
        LogicalType::Geography { .. } => 18,
        LogicalType::File => 19,
        LogicalType::Unrecognized { field_id, .. } => *field_id,
    }
}

impl Value for ColumnOrder {
    const WIRE: Wire = Wire::Struct;

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        Ok(match read_id(reader, wire)? {
            1 => Self::TypeDefined,
            2 => Self::Ieee754Total,
            3 => Self::Int96Timestamp,
            id => Self::Unknown(id),
        })
    }

    fn write(&self, writer: &mut CompactWriter) {
        let id = match self {
            Self::TypeDefined => 1,
            Self::Ieee754Total => 2,
            Self::Int96Timestamp => 3,
            Self::Unknown(id) => *id,
        };
        write_union(writer, id, &Empty {});
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn read(bytes: &[u8]) -> Result<LogicalType> {
        let mut reader = CompactReader::new(bytes, Limits::default().schema_depth);
        LogicalType::read(&mut reader, Wire::Struct)
    }

    /// Returns true if this id is recognized. An error counts too, because a known id might lack required parameters
    /// here.
    fn is_known(id: i16) -> bool {
        let mut writer = CompactWriter::new();
        write_union(&mut writer, id, &Empty {});
        !matches!(read(&writer.finish()), Ok(LogicalType::Unrecognized { .. }))
    }

    /// `parquet.thrift` assigns the ids 1 to 19, except 9.
    #[test]
    fn each_that_is_read_is_among_one_of_each_and_comes_back() {
        let each = LogicalType::one_of_each();
        let ids: Vec<i16> = each.iter().map(id).collect();
        let specified: Vec<i16> = (1..=19).filter(|id| *id != 9).collect();
        assert_eq!(ids, specified);
        let known: Vec<i16> = (1..100).filter(|id| is_known(*id)).collect();
        assert_eq!(ids, known);
        for logical_type in each {
            let mut writer = CompactWriter::new();
            logical_type.write(&mut writer);
            assert_eq!(read(&writer.finish()).unwrap(), logical_type);
        }
    }
}

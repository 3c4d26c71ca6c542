//! Reading a field's annotation.

use herringbone_format::{
    ConvertedType, EdgeInterpolationAlgorithm, LogicalType, Result, SchemaElement, TimeUnit,
};

use super::EMPTY_STRUCT;
use super::cursor::{Cursor, Expected};
use crate::annotate::annotate;

const ANNOTATION: Expected = Expected {
    noun: "an annotation",
    advice: "`STRING`, `ENUM`, `JSON`, `BSON`, `UUID`, `FLOAT16`, `DATE`, `TIME(MICROS, true)`, \
             `TIMESTAMP(MICROS, true)`, `INTEGER(16, false)`, `DECIMAL(9, 2)`, `GEOMETRY`, \
             `GEOGRAPHY`, `UNKNOWN`, or `LIST`, `MAP`, `VARIANT` or `FILE` on a group",
};
const DECIMAL: Expected = Expected {
    noun: "the precision and scale of a DECIMAL",
    advice: "`DECIMAL(9, 2)` for nine digits, two of them after the point",
};
const UNIT: Expected = Expected {
    noun: "the unit of a TIME or TIMESTAMP",
    advice: "`MILLIS`, `MICROS` or `NANOS`, as in `TIMESTAMP(MICROS, true)`",
};
const IS_UTC: Expected = Expected {
    noun: "`true` or `false`",
    advice: "`true` for times in UTC or `false` for an unknown time zone, as in \
             `TIMESTAMP(MICROS, true)`",
};
const INTEGER: Expected = Expected {
    noun: "the bit width of an INTEGER, and whether it is signed",
    advice: "`INTEGER(16, true)` for signed integers of 16 bits",
};
const VERSION: Expected = Expected {
    noun: "the version of a VARIANT",
    advice: "`VARIANT(1)`",
};
const CRS: Expected = Expected {
    noun: "a coordinate reference system",
    advice: "its name as in `GEOMETRY(OGC:CRS84)`, in double quotes if it has spaces or \
             punctuation",
};
const ALGORITHM: Expected = Expected {
    noun: "the algorithm for edges of a GEOGRAPHY",
    advice: "`SPHERICAL`, `VINCENTY`, `THOMAS`, `ANDOYER` or `KARNEY`, as in \
             `GEOGRAPHY(OGC:CRS84, KARNEY)`",
};
const ID: Expected = Expected {
    noun: "the id of an unknown value",
    advice: "its number in parentheses, as in `UNKNOWN(22)`",
};
const UNRECOGNIZED: Expected = Expected {
    noun: "the id of an annotation, and its bytes",
    advice: "`UNRECOGNIZED(99)` or, with bytes of the compact protocol, `UNRECOGNIZED(99, 0x1500)`",
};

/// Reads an annotation without its parentheses, into both annotations of `element`.
pub(super) fn annotation(cursor: &mut Cursor<'_>, element: &mut SchemaElement) -> Result<()> {
    let start = cursor.offset();
    let name = cursor.bare(ANNOTATION)?.to_ascii_uppercase();
    let logical_type = match name.as_str() {
        // The `parquet` crate's name for a missing annotation.
        "NONE" => return Ok(()),
        "STRING" => LogicalType::String,
        "MAP" => LogicalType::Map,
        "LIST" => LogicalType::List,
        "ENUM" => LogicalType::Enum,
        "DECIMAL" => decimal(cursor)?,
        "DATE" => LogicalType::Date,
        "TIME" => {
            let (unit, is_adjusted_to_utc) = unit_and_utc(cursor)?;
            LogicalType::Time {
                is_adjusted_to_utc,
                unit,
            }
        }
        "TIMESTAMP" => {
            let (unit, is_adjusted_to_utc) = unit_and_utc(cursor)?;
            LogicalType::Timestamp {
                is_adjusted_to_utc,
                unit,
            }
        }
        "INTEGER" => integer(cursor)?,
        "UNKNOWN" if cursor.take('(') => {
            element.converted_type = Some(ConvertedType::from_id(cursor.number(ID)?));
            return cursor.expect(')', ID);
        }
        "UNKNOWN" => LogicalType::Unknown,
        "JSON" => LogicalType::Json,
        "BSON" => LogicalType::Bson,
        "UUID" => LogicalType::Uuid,
        "FLOAT16" => LogicalType::Float16,
        "VARIANT" => variant(cursor)?,
        "GEOMETRY" => LogicalType::Geometry {
            crs: geospatial(cursor, false)?.0,
        },
        "GEOGRAPHY" => {
            let (crs, algorithm) = geospatial(cursor, true)?;
            LogicalType::Geography { crs, algorithm }
        }
        "FILE" => LogicalType::File,
        "UNRECOGNIZED" => unrecognized(cursor)?,
        older => {
            let converted_type = older_name(older);
            element.converted_type = converted_type;
            return match converted_type {
                Some(_) => Ok(()),
                None => Err(cursor.unexpected_at(start, ANNOTATION)),
            };
        }
    };
    annotate(element, logical_type);
    Ok(())
}

/// Returns the older annotation with this name, if the name isn't shared with a logical type.
fn older_name(name: &str) -> Option<ConvertedType> {
    Some(match name {
        "UTF8" => ConvertedType::Utf8,
        "MAP_KEY_VALUE" => ConvertedType::MapKeyValue,
        "TIME_MILLIS" => ConvertedType::TimeMillis,
        "TIME_MICROS" => ConvertedType::TimeMicros,
        "TIMESTAMP_MILLIS" => ConvertedType::TimestampMillis,
        "TIMESTAMP_MICROS" => ConvertedType::TimestampMicros,
        "UINT_8" => ConvertedType::Uint8,
        "UINT_16" => ConvertedType::Uint16,
        "UINT_32" => ConvertedType::Uint32,
        "UINT_64" => ConvertedType::Uint64,
        "INT_8" => ConvertedType::Int8,
        "INT_16" => ConvertedType::Int16,
        "INT_32" => ConvertedType::Int32,
        "INT_64" => ConvertedType::Int64,
        "INTERVAL" => ConvertedType::Interval,
        _ => return None,
    })
}

fn decimal(cursor: &mut Cursor<'_>) -> Result<LogicalType> {
    cursor.expect('(', DECIMAL)?;
    let precision = cursor.number(DECIMAL)?;
    let scale = match cursor.take(',') {
        true => cursor.number(DECIMAL)?,
        false => 0,
    };
    cursor.expect(')', DECIMAL)?;
    Ok(LogicalType::Decimal { scale, precision })
}

fn unit_and_utc(cursor: &mut Cursor<'_>) -> Result<(TimeUnit, bool)> {
    cursor.expect('(', UNIT)?;
    let start = cursor.offset();
    let unit = match cursor.bare(UNIT)?.to_ascii_uppercase().as_str() {
        "MILLIS" => TimeUnit::Millis,
        "MICROS" => TimeUnit::Micros,
        "NANOS" => TimeUnit::Nanos,
        _ => return Err(cursor.unexpected_at(start, UNIT)),
    };
    cursor.expect(',', IS_UTC)?;
    let is_adjusted_to_utc = boolean(cursor, IS_UTC)?;
    cursor.expect(')', IS_UTC)?;
    Ok((unit, is_adjusted_to_utc))
}

fn integer(cursor: &mut Cursor<'_>) -> Result<LogicalType> {
    cursor.expect('(', INTEGER)?;
    let bit_width = cursor.number(INTEGER)?;
    cursor.expect(',', INTEGER)?;
    let is_signed = boolean(cursor, INTEGER)?;
    cursor.expect(')', INTEGER)?;
    Ok(LogicalType::Integer {
        bit_width,
        is_signed,
    })
}

fn boolean(cursor: &mut Cursor<'_>, expected: Expected) -> Result<bool> {
    let start = cursor.offset();
    let word = cursor.bare(expected)?;
    match (
        word.eq_ignore_ascii_case("true"),
        word.eq_ignore_ascii_case("false"),
    ) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => Err(cursor.unexpected_at(start, expected)),
    }
}

fn variant(cursor: &mut Cursor<'_>) -> Result<LogicalType> {
    let mut specification_version = None;
    if cursor.take('(') {
        specification_version = Some(cursor.number(VERSION)?);
        cursor.expect(')', VERSION)?;
    }
    Ok(LogicalType::Variant {
        specification_version,
    })
}

/// Reads the coordinate reference system and, for a GEOGRAPHY, the algorithm for edges.
fn geospatial(
    cursor: &mut Cursor<'_>,
    has_edges: bool,
) -> Result<(Option<String>, Option<EdgeInterpolationAlgorithm>)> {
    if !cursor.take('(') {
        return Ok((None, None));
    }
    let crs = cursor.word(CRS)?.into_owned();
    let mut algorithm = None;
    let mut expected = CRS;
    if has_edges && cursor.take(',') {
        algorithm = Some(edges(cursor)?);
        expected = ALGORITHM;
    }
    cursor.expect(')', expected)?;
    Ok((Some(crs), algorithm))
}

fn edges(cursor: &mut Cursor<'_>) -> Result<EdgeInterpolationAlgorithm> {
    use EdgeInterpolationAlgorithm as Algorithm;
    let start = cursor.offset();
    Ok(
        match cursor.bare(ALGORITHM)?.to_ascii_uppercase().as_str() {
            "SPHERICAL" => Algorithm::Spherical,
            "VINCENTY" => Algorithm::Vincenty,
            "THOMAS" => Algorithm::Thomas,
            "ANDOYER" => Algorithm::Andoyer,
            "KARNEY" => Algorithm::Karney,
            "UNKNOWN" => {
                cursor.expect('(', ID)?;
                let algorithm = Algorithm::from_id(cursor.number(ID)?);
                cursor.expect(')', ID)?;
                algorithm
            }
            _ => return Err(cursor.unexpected_at(start, ALGORITHM)),
        },
    )
}

/// Reads an annotation from a later version, given as its field ID and hexadecimal parameters.
fn unrecognized(cursor: &mut Cursor<'_>) -> Result<LogicalType> {
    cursor.expect('(', UNRECOGNIZED)?;
    let field_id = cursor.number(UNRECOGNIZED)?;
    let parameters = match cursor.take(',') {
        true => {
            let start = cursor.offset();
            let word = cursor.bare(UNRECOGNIZED)?;
            bytes(word).ok_or_else(|| cursor.unexpected_at(start, UNRECOGNIZED))?
        }
        false => EMPTY_STRUCT.to_vec(),
    };
    cursor.expect(')', UNRECOGNIZED)?;
    Ok(LogicalType::Unrecognized {
        field_id,
        parameters,
    })
}

/// Returns the bytes after `0x`, with two digits per byte.
fn bytes(word: &str) -> Option<Vec<u8>> {
    let digits = word.strip_prefix("0x")?.as_bytes();
    let pairs = digits.chunks(2).map(|pair| match *pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16)?.try_into().ok()
}

//! Annotations without an Arrow type, taken from field metadata.

use herringbone_arrow::schema::Field;
use herringbone_format::{EdgeInterpolationAlgorithm, Error, LogicalType, Result};

use crate::LOGICAL_TYPE_KEY;

/// Returns the annotation in the field's metadata ([`LOGICAL_TYPE_KEY`]), if there is one.
///
/// # Errors
///
/// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the annotation is not
/// recognized.
pub fn asked_logical_type(field: &Field) -> Result<Option<LogicalType>> {
    let Some(text) = field.metadata().get(LOGICAL_TYPE_KEY) else {
        return Ok(None);
    };
    match parse(text) {
        Some(logical_type) => Ok(Some(logical_type)),
        None => Err(Error::argument(format!(
            "`{LOGICAL_TYPE_KEY}` in the field's metadata is `{text}`, which is not one of ENUM, BSON, \
             GEOMETRY, GEOGRAPHY, VARIANT and FILE"
        ))),
    }
}

/// Parses the `Display` form of a [`LogicalType`].
fn parse(text: &str) -> Option<LogicalType> {
    let (name, arguments) = match text.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')')?)),
        None => (text, None),
    };
    Some(match (name, arguments) {
        ("ENUM", None) => LogicalType::Enum,
        ("BSON", None) => LogicalType::Bson,
        ("FILE", None) => LogicalType::File,
        ("VARIANT", None) => LogicalType::Variant {
            specification_version: None,
        },
        ("VARIANT", Some(version)) => LogicalType::Variant {
            specification_version: Some(
                version
                    .strip_prefix("specification_version=")?
                    .parse()
                    .ok()?,
            ),
        },
        ("GEOMETRY", None) => LogicalType::Geometry { crs: None },
        ("GEOMETRY", Some(crs)) => LogicalType::Geometry {
            crs: Some(crs.strip_prefix("crs=")?.to_owned()),
        },
        ("GEOGRAPHY", None) => LogicalType::Geography {
            crs: None,
            algorithm: None,
        },
        ("GEOGRAPHY", Some(arguments)) => geography(arguments)?,
        _ => return None,
    })
}

/// Parses `crs=C`, `algorithm=A` or `crs=C, algorithm=A`. We search for the algorithm from the end,
/// because the reference system can be any text.
fn geography(arguments: &str) -> Option<LogicalType> {
    if let Some(name) = arguments.strip_prefix("algorithm=") {
        return Some(LogicalType::Geography {
            crs: None,
            algorithm: Some(algorithm(name)?),
        });
    }
    let crs = arguments.strip_prefix("crs=")?;
    let both = crs
        .rsplit_once(", algorithm=")
        .and_then(|(crs, name)| Some((crs, algorithm(name)?)));
    let (crs, algorithm) = match both {
        Some((crs, algorithm)) => (crs, Some(algorithm)),
        None => (crs, None),
    };
    Some(LogicalType::Geography {
        crs: Some(crs.to_owned()),
        algorithm,
    })
}

fn algorithm(name: &str) -> Option<EdgeInterpolationAlgorithm> {
    use EdgeInterpolationAlgorithm as A;
    [A::Spherical, A::Vincenty, A::Thomas, A::Andoyer, A::Karney]
        .into_iter()
        .find(|algorithm| algorithm.to_string() == name)
}

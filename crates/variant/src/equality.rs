//! Compares values by their meaning, whatever their physical types are.

use herringbone_format::Result;

use crate::array::Elements;
use crate::limits::Limits;
use crate::object::{Fields, Object};
use crate::value::Value;
use crate::variant::Variant;

impl Variant<'_> {
    /// Returns true if this is logically the same value as `other`.
    ///
    /// *Variant Binary Encoding, "Variant primitive types", equivalence classes.*
    ///
    /// - Integers and decimals are compared by value, whatever their widths are.
    /// - Timestamps in microseconds and nanoseconds are compared by value. Timestamps in UTC never
    ///   equal local ones.
    /// - Doubles never equal floats or decimals. NaN equals itself, and -0 equals 0.
    /// - Objects are equal if they have the same fields. The order, the IDs and the rest of the
    ///   dictionary do not matter.
    ///
    /// # Errors
    ///
    /// Returns any error from walking the two values. Fails with
    /// [Limit](herringbone_format::ErrorKind::Limit) if they are nested too deeply.
    pub fn equals(&self, other: &Variant<'_>, limits: &Limits) -> Result<bool> {
        let mut levels = Vec::new();
        if !compare(*self, *other, &mut levels, limits)? {
            return Ok(false);
        }
        while let Some(level) = levels.last_mut() {
            match level.next()? {
                Pair::Differ => return Ok(false),
                Pair::Values(left, right) => {
                    if !compare(left, right, &mut levels, limits)? {
                        return Ok(false);
                    }
                }
                Pair::End => drop(levels.pop()),
            }
        }
        Ok(true)
    }
}

/// Two objects, or two arrays of equal length, being compared side by side.
enum Level<'l, 'r> {
    Objects(ByName<'l>, ByName<'r>),
    Arrays(Elements<'l>, Elements<'r>),
}

enum Pair<'l, 'r> {
    Values(Variant<'l>, Variant<'r>),
    Differ,
    End,
}

impl<'l, 'r> Level<'l, 'r> {
    fn next(&mut self) -> Result<Pair<'l, 'r>> {
        Ok(match self {
            Self::Objects(left, right) => {
                match (left.next().transpose()?, right.next().transpose()?) {
                    (Some((left_name, left)), Some((right_name, right)))
                        if left_name == right_name =>
                    {
                        Pair::Values(left, right)
                    }
                    (None, None) => Pair::End,
                    _ => Pair::Differ,
                }
            }
            Self::Arrays(left, right) => {
                match (left.next().transpose()?, right.next().transpose()?) {
                    (Some(left), Some(right)) => Pair::Values(left, right),
                    (None, None) => Pair::End,
                    _ => Pair::Differ,
                }
            }
        })
    }
}

/// An object's fields, in the byte order of their names.
enum ByName<'a> {
    AsWritten(Fields<'a>),
    /// The fields of an object that might be stored in another order, sorted by us.
    Sorted(std::vec::IntoIter<(&'a str, Variant<'a>)>),
}

impl<'a> ByName<'a> {
    fn new(object: &Object<'a>) -> Result<Self> {
        if !object.as_variant().metadata().orders_differ() {
            return Ok(Self::AsWritten(object.iter()));
        }
        let mut fields = object.iter().collect::<Result<Vec<_>>>()?;
        fields.sort_by_key(|(name, _)| *name);
        Ok(Self::Sorted(fields.into_iter()))
    }
}

impl<'a> Iterator for ByName<'a> {
    type Item = Result<(&'a str, Variant<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::AsWritten(fields) => fields.next(),
            Self::Sorted(fields) => fields.next().map(Ok),
        }
    }
}

/// Returns false if two values differ. For objects and arrays, this adds a level and returns true,
/// since the answer depends on the values inside.
fn compare<'l, 'r>(
    left: Variant<'l>,
    right: Variant<'r>,
    levels: &mut Vec<Level<'l, 'r>>,
    limits: &Limits,
) -> Result<bool> {
    let level = match (left.value()?, right.value()?) {
        (Value::Object(left), Value::Object(right)) if left.len() == right.len() => {
            Level::Objects(ByName::new(&left)?, ByName::new(&right)?)
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            Level::Arrays(left.iter(), right.iter())
        }
        (left, right) => return Ok(same_primitive(&left, &right)),
    };
    limits.check_depth(levels.len() + 1)?;
    levels.push(level);
    Ok(true)
}

fn same_primitive(left: &Value<'_>, right: &Value<'_>) -> bool {
    use Value as V;
    match (left, right) {
        (V::Null, V::Null) => true,
        (V::Boolean(left), V::Boolean(right)) => left == right,
        (V::Double(left), V::Double(right)) => left == right || left.is_nan() && right.is_nan(),
        (V::Float(left), V::Float(right)) => left == right || left.is_nan() && right.is_nan(),
        (V::Date(left), V::Date(right)) => left == right,
        (V::Time(left), V::Time(right)) => left == right,
        (V::Timestamp(_) | V::TimestampNanos(_), V::Timestamp(_) | V::TimestampNanos(_))
        | (
            V::TimestampNtz(_) | V::TimestampNtzNanos(_),
            V::TimestampNtz(_) | V::TimestampNtzNanos(_),
        ) => nanos(left) == nanos(right),
        (V::Binary(left), V::Binary(right)) => left == right,
        (V::String(left), V::String(right)) => left == right,
        (V::Uuid(left), V::Uuid(right)) => left == right,
        (
            V::Unknown { id, data },
            V::Unknown {
                id: other_id,
                data: other,
            },
        ) => id == other_id && data == other,
        _ => match (left.to_decimal(), right.to_decimal()) {
            (Some(left), Some(right)) => left == right || left.normalized() == right.normalized(),
            _ => false,
        },
    }
}

/// Returns a timestamp in nanoseconds.
fn nanos(value: &Value<'_>) -> Option<i128> {
    match *value {
        Value::Timestamp(micros) | Value::TimestampNtz(micros) => Some(i128::from(micros) * 1000),
        Value::TimestampNanos(nanos) | Value::TimestampNtzNanos(nanos) => Some(nanos.into()),
        _ => None,
    }
}

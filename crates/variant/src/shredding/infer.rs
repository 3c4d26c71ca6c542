//! Infers a good shredding from the values.

use std::collections::BTreeMap;

use herringbone_format::Result;

use super::read::VariantArray;
use super::unshred::RowBuilder;
use super::{MAX_SHREDDING_DEPTH, ShreddingType, UnshredOptions};
use crate::cast::PrimitiveType;
use crate::decimal::{Decimal, MAX_DECIMAL_DIGITS};
use crate::value::Value;
use crate::variant::Variant;

/// Options for inferring a shredding. Equal values always lead to equal shreddings.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InferOptions {
    /// The number of values to inspect, beginning with the first.
    pub sample: usize,
    /// The minimum share of objects that must contain a field for it to be shredded.
    pub min_frequency: f64,
    /// The maximum number of fields and elements that get their own columns. If there are more, the
    /// most frequent ones are chosen.
    pub max_fields: usize,
    /// The maximum nesting depth of shredded objects and arrays.
    pub max_depth: usize,
    /// The types that values can be shredded into.
    pub types: ShreddedTypes,
}

/// The types that an inferred shredding can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ShreddedTypes {
    /// All types of the specification.
    #[default]
    All,
    /// The types that Spark 4 reads. It does not read times of day, timestamps in nanoseconds and
    /// UUIDs.
    Spark,
}

impl Eq for InferOptions {}

impl Default for InferOptions {
    fn default() -> Self {
        Self {
            sample: 4096,
            min_frequency: 0.1,
            max_fields: 300,
            max_depth: 50,
            types: ShreddedTypes::All,
        }
    }
}

impl InferOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone_format::setters! { InferOptions {
    /// Sets the number of values to inspect.
    sample: usize;
    /// Sets the minimum share of objects that must contain a field for it to be shredded.
    min_frequency: f64;
    /// Sets the maximum number of fields and elements that get their own columns.
    max_fields: usize;
    /// Sets the maximum nesting depth of shredded objects and arrays.
    max_depth: usize;
    /// Selects the types that values can be shredded into.
    types: ShreddedTypes;
}}

/// Infers a shredding from the first values of an array.
pub(crate) fn infer_from(
    array: &VariantArray,
    options: &InferOptions,
    unshred: &UnshredOptions,
) -> Result<ShreddingType> {
    let mut seen = Seen::default();
    let mut rows = RowBuilder::new(unshred);
    for row in 0..array.len().min(options.sample) {
        if let Some(value) = array.bytes(row, &mut rows)? {
            seen.value(value, options.max_depth.min(MAX_SHREDDING_DEPTH))?;
        }
    }
    Ok(seen.shredding(options))
}

impl ShreddingType {
    /// Infers a shredding from values.
    ///
    /// For each field, and for the elements of arrays, the most frequent kind of value counts, such
    /// as numbers, text or objects. This kind is shredded if it makes up at least half of the
    /// non-null values. Integers are shredded into 64 bits, and decimals into 18 digits or else 38,
    /// so that later values fit too. The scale is the largest in the sample.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if bytes of the values are
    /// invalid.
    pub fn infer<'a>(
        values: impl IntoIterator<Item = Variant<'a>>,
        options: &InferOptions,
    ) -> Result<Self> {
        let mut seen = Seen::default();
        for value in values.into_iter().take(options.sample) {
            seen.value(value, options.max_depth.min(MAX_SHREDDING_DEPTH))?;
        }
        Ok(seen.shredding(options))
    }

    /// Combines several shreddings into one for all their values. It has all their fields, in types
    /// that fit all values, but doesn't shred values with nothing in common.
    #[must_use]
    pub fn unify(shreddings: impl IntoIterator<Item = Self>) -> Self {
        let unified = shreddings.into_iter().reduce(Self::with);
        unified.unwrap_or(Self::Unshredded)
    }

    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Object(fields), Self::Object(others)) => {
                let mut all: BTreeMap<String, Self> = fields.into_iter().collect();
                for (name, other) in others {
                    let unified = match all.remove(&name) {
                        Some(field) => field.with(other),
                        None => other,
                    };
                    all.insert(name, unified);
                }
                Self::Object(all.into_iter().collect())
            }
            (Self::Array(element), Self::Array(other)) => {
                Self::Array(Box::new(element.with(*other)))
            }
            (Self::Primitive(a), Self::Primitive(b)) => {
                wider(a, b).map_or(Self::Unshredded, Self::Primitive)
            }
            (a, b) if a == b => a,
            _ => Self::Unshredded,
        }
    }
}

/// Returns a type that represents the values of both types unchanged, if there is one.
fn wider(a: PrimitiveType, b: PrimitiveType) -> Option<PrimitiveType> {
    use PrimitiveType as T;
    if a == b {
        return Some(a);
    }
    if let (
        T::Timestamp { nanos, utc },
        T::Timestamp {
            nanos: other,
            utc: same,
        },
    ) = (a, b)
    {
        let nanos = nanos || other;
        return (utc == same).then_some(T::Timestamp { nanos, utc });
    }
    let ((digits, scale), (others, other_scale)) = (exact(a)?, exact(b)?);
    let is_int = |it| !matches!(it, T::Decimal { .. });
    if is_int(a) && is_int(b) {
        return Some(if digits > others { a } else { b });
    }
    let scale = scale.max(other_scale);
    let precision = digits.max(others).checked_add(scale)?;
    (precision <= MAX_DECIMAL_DIGITS).then_some(T::Decimal { precision, scale })
}

/// Returns how many digits an exact number has before and after the point.
fn exact(primitive: PrimitiveType) -> Option<(u8, u8)> {
    use PrimitiveType as T;
    Some(match primitive {
        T::Int8 => (3, 0),
        T::Int16 => (5, 0),
        T::Int32 => (10, 0),
        T::Int64 => (19, 0),
        T::Decimal { precision, scale } => (precision.saturating_sub(scale), scale),
        _ => return None,
    })
}

/// The kinds of values, one of which is shredded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Object,
    Array,
    Exact,
    Float,
    Double,
    String,
    Boolean,
    Date,
    Time,
    Timestamp { utc: bool },
    Binary,
    Uuid,
}

/// Statistics on the values at one place.
#[derive(Debug, Default)]
struct Seen {
    /// The number of values per kind. Nulls have no kind.
    kinds: BTreeMap<Kind, usize>,
    fields: BTreeMap<String, Self>,
    element: Option<Box<Self>>,
    /// The maximum number of digits before the point.
    digits: u32,
    scale: u8,
    is_decimal: bool,
    is_nanos: bool,
    /// The number of values, including nulls.
    count: usize,
}

impl Seen {
    fn value(&mut self, value: Variant<'_>, depth: usize) -> Result<()> {
        self.count += 1;
        let decoded = value.value()?;
        let Some(kind) = self.kind(&decoded) else {
            return Ok(());
        };
        *self.kinds.entry(kind).or_default() += 1;
        match decoded {
            Value::Object(object) if depth > 0 => {
                for field in object.iter() {
                    let (name, value) = field?;
                    if let Some(field) = self.fields.get_mut(name) {
                        field.value(value, depth - 1)?;
                        continue;
                    }
                    let mut field = Self::default();
                    field.value(value, depth - 1)?;
                    self.fields.insert(name.to_owned(), field);
                }
            }
            Value::Array(array) if depth > 0 => {
                let element = self.element.get_or_insert_default();
                for value in array.iter() {
                    element.value(value?, depth - 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn kind(&mut self, value: &Value<'_>) -> Option<Kind> {
        if let Some(decimal) = value.to_decimal() {
            let is_decimal = matches!(
                value,
                Value::Decimal4(_) | Value::Decimal8(_) | Value::Decimal16(_)
            );
            self.number(decimal, is_decimal);
            return Some(Kind::Exact);
        }
        Some(match value {
            Value::Object(_) => Kind::Object,
            Value::Array(_) => Kind::Array,
            Value::Float(_) => Kind::Float,
            Value::Double(_) => Kind::Double,
            Value::String(_) => Kind::String,
            Value::Boolean(_) => Kind::Boolean,
            Value::Date(_) => Kind::Date,
            Value::Time(_) => Kind::Time,
            Value::Timestamp(_) => Kind::Timestamp { utc: true },
            Value::TimestampNtz(_) => Kind::Timestamp { utc: false },
            Value::TimestampNanos(_) | Value::TimestampNtzNanos(_) => {
                self.is_nanos = true;
                let utc = matches!(value, Value::TimestampNanos(_));
                Kind::Timestamp { utc }
            }
            Value::Binary(_) => Kind::Binary,
            Value::Uuid(_) => Kind::Uuid,
            _ => return None,
        })
    }

    fn number(&mut self, value: Decimal, is_decimal: bool) {
        self.is_decimal |= is_decimal;
        self.scale = self.scale.max(value.scale);
        let before = value.digits().saturating_sub(value.scale.into());
        self.digits = self.digits.max(before);
    }

    fn shredding(&self, options: &InferOptions) -> ShreddingType {
        let whole = self.whole(options);
        let mut columns = Vec::new();
        self.columns(&whole, &mut Vec::new(), &mut columns);
        if columns.len() <= options.max_fields {
            return whole;
        }
        // We keep the most frequent columns, breaking ties by path.
        columns.sort_by(|(a, path), (b, other)| b.cmp(a).then_with(|| path.cmp(other)));
        columns.truncate(options.max_fields);
        let mut kept: Vec<&[String]> = columns.iter().map(|(_, path)| path.as_slice()).collect();
        kept.sort_unstable();
        pruned(&whole, &mut Vec::new(), &kept).unwrap_or(ShreddingType::Unshredded)
    }

    /// Returns the shredding with all columns, however many there are.
    fn whole(&self, options: &InferOptions) -> ShreddingType {
        let total: usize = self.kinds.values().sum();
        // We go backwards because `max_by_key` returns the last maximum, but we want the first kind
        // to win a tie.
        let most = self.kinds.iter().rev().max_by_key(|(_, count)| **count);
        let Some((kind, count)) = most.filter(|(_, count)| **count * 2 >= total) else {
            return ShreddingType::Unshredded;
        };
        match kind {
            Kind::Object => {
                let is_frequent = |field: &Self| {
                    field.count as f64 >= *count as f64 * options.min_frequency.max(0.0)
                };
                let fields = self.fields.iter().filter(|(_, field)| is_frequent(field));
                let fields: Vec<_> = fields
                    .map(|(name, field)| (name.clone(), field.whole(options)))
                    .collect();
                match fields.is_empty() {
                    true => ShreddingType::Unshredded,
                    false => ShreddingType::Object(fields),
                }
            }
            Kind::Array => {
                let element = self.element.as_ref();
                let element =
                    element.map_or(ShreddingType::Unshredded, |element| element.whole(options));
                match element {
                    // If the elements stay unshredded, shredding the array would not gain anything.
                    ShreddingType::Unshredded => ShreddingType::Unshredded,
                    element => ShreddingType::Array(Box::new(element)),
                }
            }
            kind => match self.primitive(*kind, options.types) {
                Some(primitive) => ShreddingType::Primitive(primitive),
                None => ShreddingType::Unshredded,
            },
        }
    }

    fn primitive(&self, kind: Kind, types: ShreddedTypes) -> Option<PrimitiveType> {
        use PrimitiveType as T;
        let is_all = types == ShreddedTypes::All;
        Some(match kind {
            Kind::Object | Kind::Array => return None,
            // Some 19-digit integers don't fit in 64 bits. These values stay unshredded.
            Kind::Exact if !self.is_decimal => T::Int64,
            Kind::Exact => {
                let digits = self.digits + u32::from(self.scale);
                let precision = if digits <= 18 { 18 } else { MAX_DECIMAL_DIGITS };
                T::Decimal {
                    precision,
                    scale: self.scale.min(precision),
                }
            }
            Kind::Float => T::Float,
            Kind::Double => T::Double,
            Kind::String => T::String,
            Kind::Boolean => T::Boolean,
            Kind::Date => T::Date,
            Kind::Time => is_all.then_some(T::Time)?,
            Kind::Timestamp { utc } => {
                let nanos = self.is_nanos;
                (is_all || !nanos).then_some(T::Timestamp { nanos, utc })?
            }
            Kind::Binary => T::Binary,
            Kind::Uuid => is_all.then_some(T::Uuid)?,
        })
    }

    /// Collects the leaf columns, each with its value count. A path is a list of names, using the
    /// empty name for elements.
    fn columns(
        &self,
        shredding: &ShreddingType,
        path: &mut Vec<String>,
        out: &mut Vec<(usize, Vec<String>)>,
    ) {
        match shredding {
            ShreddingType::Unshredded | ShreddingType::Primitive(_) => {
                out.push((self.count, path.clone()))
            }
            ShreddingType::Array(element) => {
                if let Some(seen) = &self.element {
                    path.push(String::new());
                    seen.columns(element, path, out);
                    path.pop();
                }
            }
            ShreddingType::Object(fields) => {
                for (name, field) in fields {
                    if let Some(seen) = self.fields.get(name) {
                        path.push(name.clone());
                        seen.columns(field, path, out);
                        path.pop();
                    }
                }
            }
        }
    }
}

/// Returns the shredding reduced to these columns, which must be sorted.
fn pruned(
    shredding: &ShreddingType,
    path: &mut Vec<String>,
    kept: &[&[String]],
) -> Option<ShreddingType> {
    let mut below = |part: &str, inner: &ShreddingType| {
        path.push(part.to_owned());
        let inner = pruned(inner, path, kept);
        path.pop();
        inner
    };
    match shredding {
        ShreddingType::Array(element) => {
            let element = below("", element)?;
            Some(ShreddingType::Array(Box::new(element)))
        }
        ShreddingType::Object(fields) => {
            let fields = fields.iter();
            let fields: Vec<_> = fields
                .filter_map(|(name, field)| Some((name.clone(), below(name, field)?)))
                .collect();
            (!fields.is_empty()).then_some(ShreddingType::Object(fields))
        }
        _ => kept
            .binary_search(&path.as_slice())
            .is_ok()
            .then(|| shredding.clone()),
    }
}

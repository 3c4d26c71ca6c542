//! Finds one Arrow schema for several files.
//!
//! Files with the same columns might still differ in their Arrow layouts or in nullability. The
//! common schema has the wider of two layouts, and a column is nullable if any file says so.
//! Optionally, columns are matched by name, and types are promoted to a type that can hold both
//! files' values.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::{Error, FieldMatching, ReadOptions, Remedy, Result, WantedSchema};
use herringbone_arrow::schema::{
    DataType, Field, FieldRef, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit,
};

use crate::promotion::promoted;
use crate::schema_diff::{Difference, of_meanings, path};

/// The differences allowed between merged files.
///
/// By default, all files have the same columns in the same order, and types differ in layout only.
/// Relax this if your files have evolved, for example if later files have additional columns.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::arrow::schema::{DataType, Field, Schema};
/// use herringbone_rewrite::SchemaMerge;
///
/// let old = Arc::new(Schema::new(vec![Field::new("id", DataType::Int32, false)]));
/// let new = Arc::new(Schema::new(vec![
///     Field::new("unit", DataType::Utf8, false),
///     Field::new("id", DataType::Int64, false),
/// ]));
/// let files = [("old.parquet", old), ("new.parquet", new)];
/// assert!(SchemaMerge::new().schema(&files).is_err());
/// let schema = SchemaMerge::new().by_name(true).cast(true).schema(&files)?;
/// assert_eq!(schema.field_with_name("id")?.data_type(), &DataType::Int64);
/// // The rows of the old file have no unit.
/// assert!(schema.field_with_name("unit")?.is_nullable());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SchemaMerge {
    /// True if columns and struct fields are matched by name. If a column is missing from a file,
    /// or has the null type there, its rows are null.
    pub by_name: bool,
    /// True if values are cast to a type able to hold all files' values. For example, `Int32` and
    /// `Int64` become `Int64`.
    pub cast: bool,
}

impl SchemaMerge {
    /// Returns the default rules. They require the same columns in all files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone::format::setters! { SchemaMerge {
    /// Selects whether columns and fields are matched by name.
    by_name: bool;
    /// Selects whether values are cast to a type able to hold all files' values.
    cast: bool;
}}

impl SchemaMerge {
    /// Returns a schema able to hold all files' rows, or an empty schema if there are no files.
    /// Errors name the files.
    ///
    /// # Errors
    /// Fails with [Unsupported](herringbone::ErrorKind::Unsupported) if there is no such schema.
    /// The error names two conflicting files and the column.
    pub fn schema(self, files: &[(&str, SchemaRef)]) -> Result<SchemaRef> {
        let rules = Rules::new(self);
        let Some((_, first)) = files.first() else {
            return Ok(Arc::new(Schema::empty()));
        };
        let mut all = Schema::clone(first);
        for (at, (name, schema)) in files.iter().enumerate() {
            all = rules.schema(&all, schema).map_err(|difference| {
                match self.conflict(files, at, rules) {
                    Some(error) => error,
                    None => Error::unsupported(difference.text("the files before it", name)),
                }
            })?;
        }
        Ok(Arc::new(all))
    }

    /// Returns the error for the file with the ordinal `at`, after it could not be read with the
    /// common schema.
    #[must_use]
    pub fn refusal(self, files: &[(&str, SchemaRef)], at: usize) -> Error {
        let rules = Rules {
            has_stored_units: true,
            ..Rules::new(self)
        };
        self.conflict(files, at, rules).unwrap_or_else(|| {
            let name = files.get(at).map_or("a file", |(name, _)| name);
            let message = format!("{name} cannot be read with the columns of the other files");
            Error::unsupported(message)
        })
    }

    /// Makes a read return batches with the common schema. With the default rules, the schema is
    /// only passed as a hint, since files then differ in layout alone.
    pub fn read_as(self, common: &SchemaRef, options: &mut ReadOptions) {
        let matching = match self.by_name {
            true => FieldMatching::Name,
            false => FieldMatching::Position,
        };
        match self == Self::default() {
            true => options.schema.arrow_schema = Some(common.clone()),
            false => {
                let wanted = WantedSchema::new(common.clone()).matching(matching);
                options.wanted_schema = Some(wanted);
            }
        }
    }

    /// Returns the error for a file that has no common schema with some other file.
    fn conflict(self, files: &[(&str, SchemaRef)], at: usize, rules: Rules) -> Option<Error> {
        let (name, schema) = files.get(at)?;
        let others = files.iter().enumerate().filter(|(other, _)| *other != at);
        for (other, (other_name, other_schema)) in others {
            let ((first, a), (second, b)) = match other < at {
                true => ((other_name, other_schema), (name, schema)),
                false => ((name, schema), (other_name, other_schema)),
            };
            if let Err(difference) = rules.schema(a, b) {
                let error = Error::unsupported(difference.text(first, second));
                return Some(match self.remedy(a, b) {
                    Some(remedy) => error.with_remedy(remedy),
                    None => error,
                });
            }
        }
        None
    }

    /// Returns the options that would give two schemas a common schema.
    fn remedy(self, a: &Schema, b: &Schema) -> Option<Remedy> {
        let choices = [
            (true, self.cast, Remedy::MergeByName),
            (self.by_name, true, Remedy::MergeCasting),
            (true, true, Remedy::MergeByNameCasting),
        ];
        let helps = |(by_name, cast, _): &(bool, bool, Remedy)| {
            let merge = Self {
                by_name: *by_name,
                cast: *cast,
            };
            let rules = Rules {
                merge,
                has_stored_units: !cast,
            };
            merge != self && rules.schema(a, b).is_ok()
        };
        choices.into_iter().find(helps).map(|(_, _, remedy)| remedy)
    }
}

/// Returns the schema with all columns and fields made nullable, except for map keys and anything
/// inside an extension type. Use this to hold the rows of a schema that differs in nullability.
#[must_use]
pub fn nullable(schema: &Schema) -> Schema {
    let fields: Fields = schema.fields().iter().map(nullable_field).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

fn nullable_field(field: &FieldRef) -> FieldRef {
    let whole = Field::clone(field).with_nullable(true);
    if field.extension_type_name().is_some() {
        // We leave nested fields alone, since the extension type's definition decides about them.
        return Arc::new(whole);
    }
    let data_type = match field.data_type() {
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(nullable_field).collect()),
        DataType::List(item) => DataType::List(nullable_field(item)),
        DataType::LargeList(item) => DataType::LargeList(nullable_field(item)),
        DataType::ListView(item) => DataType::ListView(nullable_field(item)),
        DataType::LargeListView(item) => DataType::LargeListView(nullable_field(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(nullable_field(item), *size),
        DataType::Map(entries, is_sorted) => {
            let DataType::Struct(pair) = entries.data_type() else {
                return Arc::new(whole);
            };
            let pair = pair.iter().enumerate().map(|(at, field)| match at {
                0 => field.clone(),
                _ => nullable_field(field),
            });
            let pair = DataType::Struct(pair.collect());
            let entries = Field::clone(entries).with_data_type(pair);
            DataType::Map(Arc::new(entries), *is_sorted)
        }
        other => other.clone(),
    };
    Arc::new(whole.with_data_type(data_type))
}

/// Returns column names that differ only in case, in schema order.
///
/// Some readers cannot tell such columns apart.
#[must_use]
pub fn names_that_differ_in_case(schema: &Schema) -> Vec<String> {
    let mut by_lower: HashMap<String, usize> = HashMap::new();
    for field in schema.fields() {
        *by_lower.entry(field.name().to_lowercase()).or_default() += 1;
    }
    let names = schema.fields().iter().map(|field| field.name().clone());
    names
        .filter(|name| {
            by_lower
                .get(&name.to_lowercase())
                .is_some_and(|count| *count > 1)
        })
        .collect()
}

/// The rules for merging two schemas.
#[derive(Debug, Clone, Copy)]
struct Rules {
    merge: SchemaMerge,
    /// True if timestamps stored in different units are a conflict.
    has_stored_units: bool,
}

impl Rules {
    fn new(merge: SchemaMerge) -> Self {
        Self {
            merge,
            // Otherwise, layout hints can be enough to read one unit as another.
            has_stored_units: merge.by_name && !merge.cast,
        }
    }

    fn schema(self, a: &Schema, b: &Schema) -> Result<Schema, Difference> {
        let fields = self.fields("", a.fields(), b.fields())?;
        Ok(Schema::new_with_metadata(fields, a.metadata().clone()))
    }

    fn fields(self, parent: &str, a: &Fields, b: &Fields) -> Result<Fields, Difference> {
        if self.merge.by_name {
            return self.fields_by_name(parent, a, b);
        }
        let mut fields = Vec::with_capacity(a.len());
        for (a, b) in a.iter().zip(b) {
            if a.name() != b.name() {
                return Err(Difference::Names(path(parent, a), path(parent, b)));
            }
            fields.push(self.field(&path(parent, a), a, b)?);
        }
        match (a.get(b.len()), b.get(a.len())) {
            (Some(extra), _) => Err(Difference::InFirst(path(parent, extra))),
            (_, Some(extra)) => Err(Difference::InSecond(path(parent, extra))),
            (None, None) => Ok(fields.into()),
        }
    }

    /// Returns both schemas' fields: the first schema's, followed by any that are new in the
    /// second.
    fn fields_by_name(self, parent: &str, a: &Fields, b: &Fields) -> Result<Fields, Difference> {
        let second_names = by_name(parent, b)?;
        let first_names = by_name(parent, a)?;
        let nullable = |field: &FieldRef| Arc::new(Field::clone(field).with_nullable(true));
        let mut fields = Vec::with_capacity(a.len());
        for field in a {
            fields.push(match second_names.get(field.name().as_str()) {
                Some(other) => self.field(&path(parent, field), field, other)?,
                None => nullable(field),
            });
        }
        let is_new = |field: &&FieldRef| !first_names.contains_key(field.name().as_str());
        fields.extend(b.iter().filter(is_new).map(nullable));
        Ok(fields.into())
    }

    fn field(self, path: &str, a: &FieldRef, b: &FieldRef) -> Result<FieldRef, Difference> {
        if a == b {
            return Ok(a.clone());
        }
        // Nulls have no meaning of their own, whatever their field declares.
        let takes_nulls = self.merge != SchemaMerge::default();
        let like = match (a.data_type(), b.data_type()) {
            (DataType::Null, _) if takes_nulls => b,
            (_, DataType::Null) if takes_nulls => a,
            _ => match of_meanings(path, a, b) {
                Some(difference) => return Err(difference),
                None => a,
            },
        };
        let data_type = self.data_type(path, a.data_type(), b.data_type())?;
        let nullable = a.is_nullable() || b.is_nullable();
        let field = Field::clone(like).with_data_type(data_type);
        Ok(Arc::new(field.with_nullable(nullable)))
    }

    fn data_type(self, path: &str, a: &DataType, b: &DataType) -> Result<DataType, Difference> {
        use DataType as T;
        let takes_nulls = self.merge != SchemaMerge::default();
        Ok(match (a, b) {
            _ if a == b => a.clone(),
            (T::Null, other) | (other, T::Null) if takes_nulls => other.clone(),
            (T::Struct(a), T::Struct(b)) => T::Struct(self.fields(path, a, b)?),
            (T::Map(a, sorted), T::Map(b, also_sorted)) => {
                let entries = self.entries(path, a, b)?;
                T::Map(entries, *sorted && *also_sorted)
            }
            (T::Dictionary(key, a), T::Dictionary(other, b)) if a.is_nested() == b.is_nested() => {
                let values = self.data_type(path, a, b)?;
                T::Dictionary(Box::new(key_type(key, other)), Box::new(values))
            }
            (T::RunEndEncoded(ends, a), T::RunEndEncoded(others, b)) => {
                let (width, other) = (ends.data_type(), others.data_type());
                let wider = match width.primitive_width() >= other.primitive_width() {
                    true => ends,
                    false => others,
                };
                T::RunEndEncoded(wider.clone(), self.field(path, a, b)?)
            }
            // Plain values can stand for values in any encoding.
            (T::Dictionary(_, a), b) => self.data_type(path, a, b)?,
            (a, T::Dictionary(_, b)) => self.data_type(path, a, b)?,
            (T::RunEndEncoded(_, a), b) => self.data_type(path, a.data_type(), b)?,
            (a, T::RunEndEncoded(_, b)) => self.data_type(path, a, b.data_type())?,
            _ => match (element(a), element(b)) {
                (Some(child), Some(other)) => {
                    // We don't compare element names.
                    let child = self.field(path, child, other)?;
                    list(a, b, child)
                }
                _ => self
                    .leaf(a, b)
                    .ok_or_else(|| Difference::of_types(path, a, b))?,
            },
        })
    }

    /// Merges the entries of two maps, ignoring the names of their keys and values.
    fn entries(self, path: &str, a: &FieldRef, b: &FieldRef) -> Result<FieldRef, Difference> {
        let (DataType::Struct(fields), DataType::Struct(others)) = (a.data_type(), b.data_type())
        else {
            return self.field(path, a, b);
        };
        let pairs = fields.iter().zip(others);
        let pairs = pairs.map(|(a, b)| self.field(&self::path(path, a), a, b));
        let fields: Fields = pairs.collect::<Result<_, _>>()?;
        Ok(Arc::new(
            Field::clone(a).with_data_type(DataType::Struct(fields)),
        ))
    }

    fn leaf(self, a: &DataType, b: &DataType) -> Option<DataType> {
        let layout = match (a, b) {
            (DataType::Timestamp(unit, _), DataType::Timestamp(other, _))
                if self.has_stored_units && stored_unit(*unit) != stored_unit(*other) =>
            {
                None
            }
            _ => layout(a, b),
        };
        let promoted = || self.merge.cast.then(|| promoted(a, b)).flatten();
        layout.or_else(promoted)
    }
}

/// Returns the unit used to store timestamps. Seconds are stored as milliseconds.
fn stored_unit(unit: TimeUnit) -> TimeUnit {
    match unit {
        TimeUnit::Second => TimeUnit::Millisecond,
        other => other,
    }
}

/// Returns the fields by name. Fails if two fields have the same name.
fn by_name<'a>(
    parent: &str,
    fields: &'a Fields,
) -> Result<HashMap<&'a str, &'a FieldRef>, Difference> {
    let mut by_name = HashMap::with_capacity(fields.len());
    for field in fields {
        if by_name.insert(field.name().as_str(), field).is_some() {
            return Err(Difference::Twice(path(parent, field)));
        }
    }
    Ok(by_name)
}

/// Returns a dictionary key type that can number both dictionaries' values.
fn key_type(a: &DataType, b: &DataType) -> DataType {
    match a.primitive_width().max(b.primitive_width()) {
        _ if a == b => a.clone(),
        Some(8) => DataType::Int64,
        _ => DataType::Int32,
    }
}

/// Returns a list type with this element that can hold both lists.
fn list(a: &DataType, b: &DataType, child: FieldRef) -> DataType {
    use DataType as T;
    match (a, b) {
        (T::FixedSizeList(_, n), T::FixedSizeList(_, m)) if n == m => T::FixedSizeList(child, *n),
        (T::ListView(_), T::ListView(_)) => T::ListView(child),
        (T::LargeListView(_), T::LargeListView(_)) => T::LargeListView(child),
        _ if is_large_list(a) || is_large_list(b) => T::LargeList(child),
        _ => T::List(child),
    }
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

/// Returns the wider of two layouts for the same values.
fn layout(a: &DataType, b: &DataType) -> Option<DataType> {
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
                // Both are instants, so UTC can express them whatever their time zones are.
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

pub(crate) fn finer(a: TimeUnit, b: TimeUnit) -> TimeUnit {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let units = [Nanosecond, Microsecond, Millisecond, Second];
    let finest = units.into_iter().find(|unit| *unit == a || *unit == b);
    finest.unwrap_or(a)
}

/// Returns the wider of two decimal types with the same precision and scale.
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

    fn merged(a: &DataType, b: &DataType, merge: SchemaMerge) -> Option<DataType> {
        Rules::new(merge).data_type("x", a, b).ok()
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
            assert_eq!(
                merged(&a, &b, SchemaMerge::default()),
                Some(expected.clone())
            );
            assert_eq!(merged(&b, &a, SchemaMerge::default()), Some(expected));
        }
        // These types do not have a common type.
        for (a, b) in [
            (T::Int32, T::Utf8),
            (T::Decimal128(5, 2), T::Decimal128(6, 2)),
            (T::Timestamp(Microsecond, None), zoned(Microsecond, "UTC")),
        ] {
            assert_eq!(merged(&a, &b, SchemaMerge::default()), None, "{a} {b}");
        }
    }

    #[test]
    fn what_is_nullable_in_either_is_nullable() {
        let of = |nullable| Schema::new(vec![Field::new("x", DataType::Int32, nullable)]);
        let common = |a: bool, b: bool| {
            let files = [("a", Arc::new(of(a))), ("b", Arc::new(of(b)))];
            SchemaMerge::default().schema(&files).unwrap()
        };
        assert_eq!(*common(false, true), of(true));
        assert_eq!(*common(true, false), of(true));
        assert_eq!(*common(false, false), of(false));
    }

    fn schema(fields: &[(&str, DataType)]) -> SchemaRef {
        let field =
            |(name, data_type): &(&str, DataType)| Field::new(*name, data_type.clone(), false);
        Arc::new(Schema::new(fields.iter().map(field).collect::<Vec<_>>()))
    }

    #[test]
    fn columns_are_found_by_name() {
        let inner = |fields: &[(&str, DataType)]| DataType::Struct(schema(fields).fields().clone());
        let a = schema(&[
            ("a", DataType::Int32),
            ("n", DataType::Null),
            ("s", inner(&[("x", DataType::Int32), ("y", DataType::Utf8)])),
        ]);
        let b = schema(&[
            ("s", inner(&[("y", DataType::Utf8)])),
            ("n", DataType::Utf8),
            ("b", DataType::Boolean),
        ]);
        let merge = SchemaMerge {
            by_name: true,
            cast: false,
        };
        let all = merge.schema(&[("1", a.clone()), ("2", b.clone())]).unwrap();
        let inner = vec![
            Field::new("x", DataType::Int32, true),
            Field::new("y", DataType::Utf8, false),
        ];
        let expected = Schema::new(vec![
            Field::new("a", DataType::Int32, true),
            Field::new("n", DataType::Utf8, false),
            Field::new("s", DataType::Struct(inner.into()), false),
            Field::new("b", DataType::Boolean, true),
        ]);
        assert_eq!(*all, expected);
        let error = SchemaMerge::default()
            .schema(&[("1", a), ("2", b)])
            .unwrap_err();
        assert_eq!(
            error.message(),
            "the schemas differ: where 1 has the field `a`, 2 has `s`"
        );
        assert_eq!(error.remedy(), Some(Remedy::MergeByName));
    }

    /// The second and third file can each be merged with the first, but not with each other.
    #[test]
    fn errors_name_the_files_that_differ() {
        let cast = SchemaMerge {
            by_name: true,
            cast: true,
        };
        let files = [
            ("1", schema(&[("x", DataType::Null)])),
            ("2", schema(&[("x", DataType::Int64)])),
            ("3", schema(&[("x", DataType::Utf8)])),
        ];
        let error = cast.schema(&files).unwrap_err();
        assert_eq!(
            error.message(),
            "the schemas differ: field `x` is Int64 in 2 but Utf8 in 3"
        );
        assert_eq!(error.remedy(), None);
        let units = [
            (
                "1",
                schema(&[("t", DataType::Timestamp(TimeUnit::Microsecond, None))]),
            ),
            (
                "2",
                schema(&[("t", DataType::Timestamp(TimeUnit::Millisecond, None))]),
            ),
        ];
        let error = SchemaMerge::default().refusal(&units, 0);
        assert_eq!(
            error.message(),
            "the schemas differ: field `t` is Timestamp(µs) in 1 but Timestamp(ms) in 2"
        );
        assert_eq!(error.remedy(), Some(Remedy::MergeCasting));
    }

    #[test]
    fn names_may_differ_in_case() {
        let schema = schema(&[
            ("a", DataType::Null),
            ("b", DataType::Null),
            ("A", DataType::Null),
        ]);
        assert_eq!(names_that_differ_in_case(&schema), ["a", "A"]);
    }
}

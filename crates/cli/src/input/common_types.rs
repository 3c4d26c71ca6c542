//! Finds common types for several text files. We need this because each file only shows the types
//! of its own values, but a table needs a single type per column.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, TimeUnit};

/// Returns, for each file, the columns whose types differ between the files, with their common
/// types. Columns without a common type keep their own. `in_text` is true if the format can hold
/// any value as text.
pub(super) fn common_types(files: &[Vec<Field>], in_text: bool) -> Vec<Vec<Field>> {
    let mut common: HashMap<&str, Option<DataType>> = HashMap::new();
    for field in files.iter().flatten() {
        let found = field.data_type();
        common
            .entry(field.name())
            .and_modify(|before| {
                *before = before
                    .as_ref()
                    .and_then(|before| both(before, found, in_text))
            })
            .or_insert_with(|| Some(found.clone()));
    }
    let differing = |field: &&Field| {
        common.get(field.name().as_str()).is_some_and(|data_type| {
            data_type
                .as_ref()
                .is_some_and(|data_type| data_type != field.data_type())
        })
    };
    let chosen = |field: &Field| {
        let data_type = common.get(field.name().as_str()).cloned().flatten();
        Field::new(field.name(), data_type.unwrap_or(DataType::Utf8), true)
    };
    let types = |fields: &Vec<Field>| fields.iter().filter(differing).map(chosen).collect();
    files.iter().map(types).collect()
}

/// Returns a type for the values of both, if there is one.
fn both(a: &DataType, b: &DataType, in_text: bool) -> Option<DataType> {
    use DataType::{Date32, Float64, Int64, List, Null, Struct, Timestamp, UInt64, Utf8};
    Some(match (a, b) {
        (a, b) if a == b => a.clone(),
        (Null, other) | (other, Null) => other.clone(),
        (Int64 | UInt64, Float64) | (Float64, Int64 | UInt64) => Float64,
        // A JSON date is text that round-trips through a date. With another type in the mix, only
        // text keeps the values of both files unchanged.
        (Date32 | Timestamp(..) | Utf8, Date32 | Timestamp(..) | Utf8) if !in_text => Utf8,
        (Timestamp(unit, zone), Timestamp(other, other_zone)) if zone == other_zone => {
            Timestamp(finer(*unit, *other), zone.clone())
        }
        (List(item), List(other)) => List(with_both(item, other, in_text)?),
        (Struct(fields), Struct(others)) => Struct(fields_of_both(fields, others, in_text)?),
        (List(_) | Struct(_) | Date32, _) | (_, List(_) | Struct(_)) if !in_text => return None,
        _ if in_text => Utf8,
        _ => return None,
    })
}

fn with_both(field: &FieldRef, other: &FieldRef, in_text: bool) -> Option<FieldRef> {
    let data_type = both(field.data_type(), other.data_type(), in_text)?;
    Some(Arc::new(Field::clone(field).with_data_type(data_type)))
}

fn fields_of_both(fields: &Fields, others: &Fields, in_text: bool) -> Option<Fields> {
    let mut all: Vec<FieldRef> = Vec::new();
    for field in fields {
        all.push(match others.find(field.name()) {
            Some((_, other)) => with_both(field, other, in_text)?,
            None => field.clone(),
        });
    }
    let is_new = |other: &&FieldRef| fields.find(other.name()).is_none();
    all.extend(others.iter().filter(is_new).cloned());
    Some(all.into())
}

fn finer(a: TimeUnit, b: TimeUnit) -> TimeUnit {
    let digits = |unit: TimeUnit| match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    };
    if digits(a) < digits(b) { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the types that a column `a` gets in the first and in the second file.
    fn of(first: DataType, second: DataType, in_text: bool) -> [Option<DataType>; 2] {
        let file = |data_type| vec![Field::new("a", data_type, true)];
        let types = common_types(&[file(first), file(second)], in_text);
        let only = |fields: &Vec<Field>| fields.first().map(|field| field.data_type().clone());
        [only(&types[0]), only(&types[1])]
    }

    #[test]
    fn files_share_types() {
        use DataType::{Boolean, Date32, Float64, Int64, Null, Timestamp, Utf8};
        assert_eq!(of(Int64, Int64, true), [None, None]);
        assert_eq!(of(Int64, Float64, true), [Some(Float64), None]);
        assert_eq!(of(Null, Date32, true), [Some(Date32), None]);
        assert_eq!(of(Boolean, Int64, true), [Some(Utf8), Some(Utf8)]);
        assert_eq!(of(Boolean, Int64, false), [None, None]);
        let time = |unit| Timestamp(unit, None);
        assert_eq!(
            of(time(TimeUnit::Microsecond), time(TimeUnit::Second), true),
            [None, Some(time(TimeUnit::Microsecond))]
        );
        let zoned = Timestamp(TimeUnit::Second, Some("UTC".into()));
        assert_eq!(
            of(time(TimeUnit::Second), zoned.clone(), true),
            [Some(Utf8), Some(Utf8)]
        );
        // In JSON, both are text.
        assert_eq!(
            of(time(TimeUnit::Second), zoned, false),
            [Some(Utf8), Some(Utf8)]
        );
        assert_eq!(of(Date32, Utf8, false), [Some(Utf8), None]);
    }

    #[test]
    fn fields_are_those_of_both() {
        let of_struct = |names: &[(&str, DataType)]| {
            let field =
                |(name, data_type): &(&str, DataType)| Field::new(*name, data_type.clone(), true);
            DataType::Struct(names.iter().map(field).collect())
        };
        let first = of_struct(&[("x", DataType::Int64), ("y", DataType::Null)]);
        let second = of_struct(&[("x", DataType::Float64), ("z", DataType::Utf8)]);
        let all = of_struct(&[
            ("x", DataType::Float64),
            ("y", DataType::Null),
            ("z", DataType::Utf8),
        ]);
        assert_eq!(of(first, second, false), [Some(all.clone()), Some(all)]);
    }
}

//! Tests columns below lists, combining the bits of all of a row's values into one bit per row.

use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{
    Array as _, ArrayRef, GenericListViewArray, OffsetSizeTrait, RecordBatch,
};
use herringbone_arrow::buffer::{BooleanBuffer, NullBuffer};
use herringbone_arrow::schema::{DataType, FieldRef, Fields};
use herringbone_format::{Error, Result};

use super::leaf_test::LeafTest;
use super::predicate::Quantifier;

/// A step on the path to a column.
enum PathStep<'a> {
    /// A list with this element field, and the rest of the path below it.
    List(&'a FieldRef, &'a [String]),
    /// A struct, with the index of its field and the rest of the path below this field.
    Struct(usize, &'a [String]),
    /// The column itself, at the end of the path.
    Leaf,
}

/// Returns the step at a field of this type, where `path` is the rest of the path. The path may omit groups that only
/// form a list, as well as a struct's only field.
fn place<'a>(data_type: &'a DataType, path: &'a [String]) -> Result<PathStep<'a>> {
    Ok(match data_type {
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _) => PathStep::List(element, below(path, element)),
        DataType::Map(entries, _) => PathStep::List(entries, below(path, entries)),
        DataType::Struct(fields) => {
            let (index, rest) = child(fields, path).ok_or_else(no_column)?;
            PathStep::Struct(index, rest)
        }
        _ => PathStep::Leaf,
    })
}

/// Returns the rest of a path below a list of `element`s. Files have one or two groups in between, and the Arrow schema
/// might lack their names, so we skip them.
fn below<'a>(path: &'a [String], element: &FieldRef) -> &'a [String] {
    let mut rests = (0..=2).filter_map(|groups| path.get(groups..));
    match path {
        [first, rest @ ..] if first == element.name() => rest,
        [_, second, rest @ ..] if second == element.name() => rest,
        path => rests
            .find(|rest| has_field(element.data_type(), rest))
            .unwrap_or(path),
    }
}

fn has_field(data_type: &DataType, path: &[String]) -> bool {
    match (data_type, path.first()) {
        (DataType::Struct(fields), Some(name)) => fields.find(name).is_some(),
        _ => false,
    }
}

fn child<'a>(fields: &Fields, path: &'a [String]) -> Option<(usize, &'a [String])> {
    let named = path.split_first().and_then(|(name, rest)| {
        let (index, _) = fields.find(name)?;
        Some((index, rest))
    });
    named.or_else(|| (fields.len() == 1).then_some((0, path)))
}

#[cold]
fn no_column() -> Error {
    Error::unsupported("a test of a column that is not found below its list")
}

/// Returns the column's field, at the end of a path below `from`.
///
/// # Errors
/// Fails with `Unsupported` if there is no such column.
pub(super) fn field<'a>(from: &'a FieldRef, path: &'a [String]) -> Result<&'a FieldRef> {
    let (mut at, mut path) = (from, path);
    loop {
        (at, path) = match place(at.data_type(), path)? {
            PathStep::List(element, rest) => (element, rest),
            PathStep::Struct(index, rest) => match at.data_type() {
                DataType::Struct(fields) => (fields.get(index).ok_or_else(no_column)?, rest),
                _ => return Err(no_column()),
            },
            PathStep::Leaf => return Ok(at),
        };
    }
}

/// Returns one bit per row, set if any or all of the row's values in the column at `path` are accepted.
///
/// # Errors
/// Fails with `Argument` if the column was not read.
pub(super) fn accepted_rows(
    test: &LeafTest,
    quantifier: Quantifier,
    path: &[String],
    batch: &RecordBatch,
) -> Result<BooleanBuffer> {
    let missing = || Error::argument("a tested column was not read");
    let (first, rest) = path.split_first().ok_or_else(missing)?;
    let array = batch.column_by_name(first).ok_or_else(missing)?;
    accepted(test, quantifier, rest, array)
}

/// Returns one bit per slot of an array on the way to the column. The schema's depth limits the recursion.
fn accepted(
    test: &LeafTest,
    quantifier: Quantifier,
    path: &[String],
    array: &ArrayRef,
) -> Result<BooleanBuffer> {
    match place(array.data_type(), path)? {
        PathStep::Leaf => test.evaluate(array),
        PathStep::Struct(index, rest) => {
            let column = array.as_struct().columns().get(index);
            let bits = accepted(test, quantifier, rest, column.ok_or_else(no_column)?)?;
            Ok(within_structs(bits, array.nulls(), test))
        }
        PathStep::List(_, rest) => {
            let (values, slots) = lists(array)?;
            let bits = accepted(test, quantifier, rest, &values)?;
            let is_accepted = |slot: &Range<usize>| {
                let accepted = bits.slice(slot.start, slot.len()).count_set_bits();
                match quantifier {
                    Quantifier::Any => accepted > 0,
                    Quantifier::All => accepted == slot.len(),
                }
            };
            Ok(BooleanBuffer::collect_bool(array.len(), |index| {
                array.is_valid(index) && slots.get(index).is_some_and(is_accepted)
            }))
        }
    }
}

/// Returns the values of all lists in an array, and each list's range of values.
fn lists(array: &ArrayRef) -> Result<(ArrayRef, Vec<Range<usize>>)> {
    fn between<O: OffsetSizeTrait>(offsets: &[O]) -> Vec<Range<usize>> {
        let ends = offsets.iter().skip(1).map(|end| end.as_usize());
        let starts = offsets.iter().map(|start| start.as_usize());
        starts.zip(ends).map(|(start, end)| start..end).collect()
    }
    fn sized<O: OffsetSizeTrait>(lists: &GenericListViewArray<O>) -> Vec<Range<usize>> {
        let starts = lists.offsets().iter().map(|start| start.as_usize());
        let sizes = lists.sizes().iter().map(|size| size.as_usize());
        let ranges = starts.zip(sizes);
        ranges.map(|(start, size)| start..start + size).collect()
    }
    Ok(match array.data_type() {
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            (lists.values().clone(), between(lists.offsets()))
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            (lists.values().clone(), between(lists.offsets()))
        }
        DataType::ListView(_) => {
            let lists = array.as_list_view::<i32>();
            (lists.values().clone(), sized(lists))
        }
        DataType::LargeListView(_) => {
            let lists = array.as_list_view::<i64>();
            (lists.values().clone(), sized(lists))
        }
        DataType::FixedSizeList(_, size) => {
            let size = usize::try_from(*size).unwrap_or_default();
            let slots = (0..array.len()).map(|slot| slot * size..(slot + 1) * size);
            let lists = array.as_fixed_size_list();
            (lists.values().clone(), slots.collect())
        }
        DataType::Map(_, _) => {
            let maps = array.as_map();
            (Arc::new(maps.entries().clone()), between(maps.offsets()))
        }
        _ => return Err(no_column()),
    })
}

/// Adjusts the accepted rows for enclosing null structs, because a value in a null struct counts as null.
pub(super) fn within_structs(
    bits: BooleanBuffer,
    nulls: Option<&NullBuffer>,
    test: &LeafTest,
) -> BooleanBuffer {
    match (nulls, test) {
        (None, _) => bits,
        (Some(nulls), LeafTest::Null { is_null: true }) => &bits | &!nulls.inner(),
        (Some(nulls), _) => &bits & nulls.inner(),
    }
}

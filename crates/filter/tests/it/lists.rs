//! Columns below lists of all layouts, and in structs.

use std::sync::Arc;

use herringbone::arrow::array::types::Int32Type;
use herringbone::arrow::array::*;
use herringbone::arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone::arrow::schema::{DataType, Field, Fields};
use herringbone_filter::{Predicate, col, col_at};

use crate::values::selected;

/// The lists of some rows.
fn rows() -> Vec<Option<Vec<Option<i32>>>> {
    vec![
        Some(vec![Some(1), Some(2)]),
        None,
        Some(vec![]),
        Some(vec![None, Some(5)]),
        Some(vec![Some(5), Some(6)]),
        Some(vec![None, None]),
        Some(vec![Some(2), Some(5), Some(9)]),
    ]
}

fn list() -> ListArray {
    ListArray::from_iter_primitive::<Int32Type, _, _>(rows())
}

type Accepts = fn(i32) -> bool;
type Test = fn(herringbone_filter::Column) -> Predicate;

/// Returns predicates on numbers, each with a function that decides in the same way.
fn tests() -> Vec<(Test, Accepts)> {
    vec![
        (|column| column.eq(5), |it| it == 5),
        (|column| column.ne(5), |it| it != 5),
        (|column| column.lt(3), |it| it < 3),
        (|column| column.is_in([2, 9]), |it| it == 2 || it == 9),
    ]
}

/// Compares the rows with the values that a test accepts in the column at a path, for any and for all values.
fn check(array: &ArrayRef, path: &[&str], rows: &[Option<Vec<Option<i32>>>]) {
    let column = || col_at(path.iter().copied());
    for (test, accepts) in tests() {
        let is_accepted = |value: &Option<i32>| value.is_some_and(accepts);
        let is_refused = |value: &Option<i32>| value.is_some_and(|value| !accepts(value));
        let of = |accepts: &dyn Fn(&Vec<Option<i32>>) -> bool| -> Vec<bool> {
            rows.iter()
                .map(|row| row.as_ref().is_some_and(accepts))
                .collect()
        };
        let name = format!("{path:?} of {}", array.data_type());
        let any = test(column().any());
        assert_eq!(
            selected(array, &any),
            of(&|row| row.iter().any(is_accepted)),
            "{any}, {name}"
        );
        let all = test(column().all());
        assert_eq!(
            selected(array, &all),
            of(&|row| row.iter().all(is_accepted)),
            "{all}, {name}"
        );
        assert_eq!(
            selected(array, &any.not()),
            of(&|row| row.iter().all(is_refused)),
            "{name}"
        );
        assert_eq!(
            selected(array, &all.not()),
            of(&|row| row.iter().any(is_refused)),
            "{name}"
        );
    }
    let is_null = |accepts: &dyn Fn(&Vec<Option<i32>>) -> bool| -> Vec<bool> {
        rows.iter()
            .map(|row| row.as_ref().is_some_and(accepts))
            .collect()
    };
    let any_null = selected(array, &column().any().is_null());
    assert_eq!(any_null, is_null(&|row| row.iter().any(Option::is_none)));
}

#[test]
fn lists_of_all_layouts() {
    let list = Arc::new(list()) as ArrayRef;
    check(&list, &["c"], &rows());
    // The path may name the groups in the file, or the element in the Arrow type.
    check(&list, &["c", "list", "element"], &rows());
    check(&list, &["c", "item"], &rows());
    let item = || Arc::new(Field::new("item", DataType::Int32, true));
    let large = LargeListArray::from_iter_primitive::<Int32Type, _, _>(rows());
    check(&(Arc::new(large) as ArrayRef), &["c"], &rows());
    let lists = self::list();
    let starts = || lists.offsets().iter().take(lists.len());
    let sizes = || lists.offsets().windows(2).map(|ends| ends[1] - ends[0]);
    let (values, nulls) = (lists.values(), || lists.nulls().cloned());
    let views = ListViewArray::new(
        item(),
        starts().copied().collect(),
        sizes().collect(),
        values.clone(),
        nulls(),
    );
    check(&(Arc::new(views) as ArrayRef), &["c"], &rows());
    let views = LargeListViewArray::new(
        item(),
        starts().map(|start| i64::from(*start)).collect(),
        sizes().map(i64::from).collect(),
        values.clone(),
        nulls(),
    );
    check(&(Arc::new(views) as ArrayRef), &["c"], &rows());
    check(&list.slice(2, 4), &["c"], &rows()[2..6]);
    let numbers = Int32Array::from(vec![
        Some(1),
        Some(2),
        Some(5),
        None,
        Some(9),
        Some(9),
        Some(5),
        Some(5),
    ]);
    let nulls = NullBuffer::from(vec![true, true, false, true]);
    let fixed = FixedSizeListArray::new(item(), 2, Arc::new(numbers), Some(nulls));
    let rows = [
        Some(vec![Some(1), Some(2)]),
        Some(vec![Some(5), None]),
        None,
        Some(vec![Some(5), Some(5)]),
    ];
    check(&(Arc::new(fixed) as ArrayRef), &["c"], &rows);
}

#[test]
fn structs_and_maps_with_lists() {
    let values = list().values().clone();
    let texts: StringArray = (0..values.len()).map(|at| Some(format!("{at}"))).collect();
    let fields = Fields::from(vec![
        Field::new("x", DataType::Int32, true),
        Field::new("t", DataType::Utf8, true),
    ]);
    let pairs = StructArray::new(
        fields.clone(),
        vec![values.clone(), Arc::new(texts.clone())],
        None,
    );
    let element = Arc::new(Field::new("element", DataType::Struct(fields), true));
    let (offsets, nulls) = (list().offsets().clone(), list().nulls().cloned());
    let lists = ListArray::new(element, offsets.clone(), Arc::new(pairs), nulls.clone());
    let lists = Arc::new(lists) as ArrayRef;
    check(&lists, &["c", "x"], &rows());
    check(&lists, &["c", "list", "element", "x"], &rows());
    check(&lists, &["c", "element", "x"], &rows());
    let entries = Fields::from(vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", DataType::Int32, true),
    ]);
    let pairs = StructArray::new(entries.clone(), vec![Arc::new(texts), values], None);
    let entries = Arc::new(Field::new("entries", DataType::Struct(entries), false));
    let maps = MapArray::new(entries, offsets, pairs, nulls, false);
    let maps = Arc::new(maps) as ArrayRef;
    check(&maps, &["c", "value"], &rows());
    check(&maps, &["c", "key_value", "value"], &rows());
    // With lists in a list, the numbers in all inner lists count for the row.
    let outer = OffsetBuffer::from_lengths([2, 0, 3, 2]);
    let item = Arc::new(Field::new("item", list().data_type().clone(), true));
    let nested = ListArray::new(item, outer, Arc::new(list()), None);
    let found = selected(&(Arc::new(nested) as ArrayRef), &col("c").any().eq(5));
    assert_eq!(found, [false, false, true, true]);
}

/// A value in a null struct counts as null.
#[test]
fn null_structs_hide_their_values() {
    let values = Int32Array::from(vec![Some(5), Some(5), None, Some(6)]);
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, true)]);
    let nulls = NullBuffer::from(vec![true, false, true, true]);
    let structs = StructArray::new(fields, vec![Arc::new(values)], Some(nulls));
    let structs = Arc::new(structs) as ArrayRef;
    let x = || col_at(["c", "x"]);
    assert_eq!(selected(&structs, &x().eq(5)), [true, false, false, false]);
    assert_eq!(selected(&structs, &x().ne(5)), [false, false, false, true]);
    assert_eq!(
        selected(&structs, &x().is_null()),
        [false, true, true, false]
    );
    assert_eq!(
        selected(&structs, &x().is_not_null()),
        [true, false, false, true]
    );
    // This also holds below a list.
    let element = Arc::new(Field::new("item", structs.data_type().clone(), true));
    let lists = ListArray::new(element, OffsetBuffer::from_lengths([2, 2]), structs, None);
    let lists = Arc::new(lists) as ArrayRef;
    let x = || col_at(["c", "x"]);
    assert_eq!(selected(&lists, &x().all().eq(5)), [false, false]);
    assert_eq!(selected(&lists, &x().any().is_null()), [true, true]);
    assert_eq!(selected(&lists, &x().all().is_not_null()), [false, false]);
    assert_eq!(selected(&lists, &x().any().eq(6)), [false, true]);
}

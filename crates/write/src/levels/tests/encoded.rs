//! Dictionaries and run-end encodings of simple and nested values.

use std::sync::Arc;

use herringbone_arrow::array::types::{Int8Type, Int32Type};
use herringbone_arrow::array::{
    Array, ArrayRef, DictionaryArray, Int8Array, Int32Array, ListArray, NullArray, RunArray,
    StructArray,
};
use herringbone_arrow::schema::{DataType, Field};

use super::super::path::Step;
use super::{
    DefinitionLevels, LeafLevels, LeafPath, expected, leaf_levels, nullable, paths, shred,
};

fn lists() -> ArrayRef {
    let lists = [
        Some(vec![Some(1), None]),
        None,
        Some(vec![]),
        Some(vec![Some(4)]),
    ];
    Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists))
}

#[test]
fn a_dictionary_is_null_where_its_key_or_value_is() {
    let keys = Int8Array::from(vec![Some(0), None, Some(1), Some(2)]);
    let values = Arc::new(Int32Array::from(vec![Some(7), None, Some(9)]));
    let array: ArrayRef = Arc::new(DictionaryArray::new(keys, values));
    assert_eq!(shred(&array, true), expected(&[], &[1, 0, 0, 1], &[7, 9]));
}

#[test]
fn runs_are_null_where_their_value_is() {
    let ends = Int32Array::from(vec![2, 3, 6]);
    let values = Int32Array::from(vec![Some(7), None, Some(9)]);
    let array: ArrayRef = Arc::new(RunArray::<Int32Type>::try_new(&ends, &values).unwrap());
    assert_eq!(
        shred(&array, true),
        expected(&[], &[1, 1, 0, 1, 1, 1], &[7, 7, 9, 9, 9])
    );
    let paths = paths(&Field::new("a", array.data_type().clone(), true));
    let mut out = LeafLevels::new();
    leaf_levels(&paths[0], &array, 1..4, &mut out).unwrap();
    assert!(matches!(out.leaf.data_type(), DataType::RunEndEncoded(..)));
    assert_eq!(super::shredded(&out, 3), expected(&[], &[1, 0, 1], &[7, 9]));
}

#[test]
fn a_dictionary_of_lists() {
    let keys = Int8Array::from(vec![Some(3), Some(0), None, Some(1), Some(2), Some(0)]);
    let array: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::new(keys, lists()));
    let levels = expected(
        &[0, 0, 1, 0, 0, 0, 0, 1],
        &[3, 3, 2, 0, 0, 1, 3, 2],
        &[4, 1, 1],
    );
    assert_eq!(shred(&array, true), levels);
}

#[test]
fn runs_of_lists() {
    let ends = Int32Array::from(vec![1, 2, 3, 6]);
    let array: ArrayRef = Arc::new(RunArray::<Int32Type>::try_new(&ends, &lists()).unwrap());
    let rows = array.slice(1, 4);
    let levels = expected(&[0, 0, 0, 0], &[0, 1, 3, 3], &[4, 4]);
    assert_eq!(shred(&rows, true), levels);
}

/// Without lists, the nulls of the values are still a bitmap.
#[test]
fn a_dictionary_of_structs() {
    let child: ArrayRef = Arc::new(Int32Array::from(vec![Some(5), None]));
    let fields = vec![Field::new("x", DataType::Int32, true)];
    let values = super::arrays::struct_array(fields, vec![child], None);
    let keys = Int8Array::from(vec![1, 0, 0]);
    let array: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::new(keys, values));
    let paths = paths(&Field::new("a", array.data_type().clone(), false));
    let mut out = LeafLevels::new();
    leaf_levels(&paths[0], &array, 0..3, &mut out).unwrap();
    assert!(matches!(&out.def, DefinitionLevels::Validity(Some(_))));
    assert_eq!(super::shredded(&out, 3), expected(&[], &[0, 1, 1], &[5, 5]));
}

#[test]
fn a_dictionary_without_values() {
    let keys = Int8Array::from(vec![None, None]);
    let values = lists().slice(0, 0);
    let array: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::new(keys, values));
    assert_eq!(shred(&array, true), expected(&[0, 0], &[0, 0], &[]));
}

#[test]
fn the_null_type_is_null() {
    let array: ArrayRef = Arc::new(NullArray::new(3));
    assert_eq!(shred(&array, true), expected(&[], &[0, 0, 0], &[]));
    let offsets = herringbone_arrow::buffer::OffsetBuffer::new(vec![0, 2, 2, 3].into());
    let array: ArrayRef = Arc::new(ListArray::new(
        nullable(&DataType::Null),
        offsets,
        array,
        None,
    ));
    assert_eq!(
        shred(&array, true),
        expected(&[0, 1, 0, 0], &[2, 2, 1, 2], &[])
    );
}

/// A struct without fields has a column of nulls in the file.
#[test]
fn a_struct_without_fields() {
    let nulls = super::nulls(&[true, false, true]);
    let array: ArrayRef = Arc::new(StructArray::new_empty_fields(3, nulls));
    let steps = vec![
        Step::Struct {
            nullable: true,
            field: 0,
        },
        Step::Leaf { nullable: true },
    ];
    let path = LeafPath::new(steps, vec!["a".into(), "_empty".into()]).unwrap();
    let mut out = LeafLevels::new();
    leaf_levels(&path, &array, 1..3, &mut out).unwrap();
    assert_eq!(out.leaf.data_type(), &DataType::Null);
    assert_eq!(super::shredded(&out, 2), expected(&[], &[0, 1], &[]));
}

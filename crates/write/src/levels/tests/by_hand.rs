//! Levels from the Dremel paper and from the format's documentation, worked out by hand.

use std::sync::Arc;

use herringbone_arrow::array::{
    Array, ArrayRef, FixedSizeListArray, Int32Array, LargeListArray, ListArray, ListViewArray,
    MapArray, StructArray,
};
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone_arrow::schema::{DataType, Field};

use super::{DefinitionLevels, LeafLevels, expected, leaf_levels, nullable, nulls, paths, shred};

fn list(offsets: &[i32], values: ArrayRef, nulls: Option<NullBuffer>) -> ArrayRef {
    let offsets = OffsetBuffer::new(offsets.to_vec().into());
    let field = nullable(values.data_type());
    Arc::new(ListArray::new(field, offsets, values, nulls))
}

fn required_list(offsets: &[i32], values: ArrayRef) -> ArrayRef {
    let offsets = OffsetBuffer::new(offsets.to_vec().into());
    let field = Arc::new(Field::new("element", values.data_type().clone(), false));
    Arc::new(ListArray::new(field, offsets, values, None))
}

fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

#[test]
fn flat_columns_have_no_bytes() {
    let array: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
    let paths = paths(&Field::new("a", DataType::Int32, true));
    let mut out = LeafLevels::new();
    leaf_levels(&paths[0], &array, 0..3, &mut out).unwrap();
    assert!(matches!(&out.def, DefinitionLevels::Validity(Some(bits)) if bits.null_count() == 1));
    assert!(out.rep.is_empty());
    assert_eq!(out.ranges, [0..3]);
    leaf_levels(&paths[0], &array, 2..3, &mut out).unwrap();
    assert!(matches!(&out.def, DefinitionLevels::Validity(None)));
    assert_eq!(out.ranges, [0..1]);
    assert_eq!(out.leaf.len(), 1);

    let array = ints(0..3);
    let paths = super::paths(&Field::new("a", DataType::Int32, false));
    leaf_levels(&paths[0], &array, 0..3, &mut out).unwrap();
    assert!(matches!(&out.def, DefinitionLevels::None));
    assert!(out.nulls.is_none());
}

/// The Dremel paper's figure 3, column Links.Backward: `r1` has an empty list, `r2` 10 and 30.
/// Links is optional, Backward repeated: `r1` NULL (0,1), `r2` 10 (0,2), 30 (1,2).
#[test]
fn dremel_links_backward() {
    let backward = required_list(&[0, 0, 2], ints([10, 30]));
    let fields = vec![Field::new("backward", backward.data_type().clone(), false)];
    let links = StructArray::new(fields.into(), vec![backward], None);
    let links: ArrayRef = Arc::new(links);
    assert_eq!(
        shred(&links, true),
        expected(&[0, 0, 1], &[1, 2, 2], &[10, 30])
    );
}

/// The Dremel paper's figure 3, column Name.Language.Country: repeated, repeated, optional. `r1` has
/// us (0,3), NULL (2,2), NULL (1,1), gb (1,3), `r2` NULL (0,1).
#[test]
fn dremel_name_language_country() {
    let country: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(44)]));
    let languages = struct_of("country", country);
    let names = struct_of("language", required_list(&[0, 2, 2, 3, 3], languages));
    let documents = required_list(&[0, 3, 4], names);
    assert_eq!(
        shred(&documents, false),
        expected(&[0, 2, 1, 1, 0], &[3, 2, 1, 3, 1], &[1, 44])
    );
}

/// Returns a struct without nulls, with one list or one nullable leaf.
fn struct_of(name: &str, child: ArrayRef) -> ArrayRef {
    let nullable = child.data_type() == &DataType::Int32;
    let field = Field::new(name, child.data_type().clone(), nullable);
    Arc::new(StructArray::new(vec![field].into(), vec![child], None))
}

/// Three definition levels: null 0, empty 1, null element 2, element 3.
#[test]
fn a_list_with_everything() {
    let values: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3), Some(4)]));
    // [1, null], null (hiding 3), [], [4]
    let array = list(&[0, 2, 3, 3, 4], values, nulls(&[true, false, true, true]));
    assert_eq!(
        shred(&array, true),
        expected(&[0, 1, 0, 0, 0], &[3, 2, 0, 1, 3], &[1, 4])
    );
    let rows = array.slice(1, 3);
    assert_eq!(shred(&rows, true), expected(&[0, 0, 0], &[0, 1, 3], &[4]));
}

#[test]
fn a_list_without_nulls_leaves_the_values_as_they_are() {
    let array = list(&[2, 4, 5, 8], ints(0..10), None);
    let paths = paths(&Field::new("a", array.data_type().clone(), true));
    let mut out = LeafLevels::new();
    leaf_levels(&paths[0], &array, 0..3, &mut out).unwrap();
    assert_eq!(out.rep, [0, 1, 0, 0, 1, 1]);
    assert!(matches!(&out.def, DefinitionLevels::Bytes(def) if def == &[3; 6]));
    assert_eq!(out.ranges, [0..6]);
    assert!(out.nulls.is_none());
    assert_eq!(&out.leaf, &ints(2..8));
}

/// A list of lists: [[1, 2], null, []], [], null, [[3]]
#[test]
fn a_list_of_lists() {
    let inner = list(
        &[0, 2, 2, 2, 3],
        ints([1, 2, 3]),
        nulls(&[true, false, true, true]),
    );
    let outer = list(&[0, 3, 3, 3, 4], inner, nulls(&[true, true, false, true]));
    assert_eq!(
        shred(&outer, true),
        expected(&[0, 2, 1, 1, 0, 0, 0], &[5, 5, 2, 3, 1, 0, 5], &[1, 2, 3])
    );
}

/// The definition level of each null is the level of its outermost null array.
#[test]
fn structs_in_structs() {
    let leaf: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3), Some(4)]));
    let field = |array: &ArrayRef| Field::new("x", array.data_type().clone(), true);
    let inner: ArrayRef = Arc::new(StructArray::new(
        vec![field(&leaf)].into(),
        vec![leaf],
        nulls(&[true, true, true, false]),
    ));
    let outer: ArrayRef = Arc::new(StructArray::new(
        vec![field(&inner)].into(),
        vec![inner],
        nulls(&[true, true, false, true]),
    ));
    assert_eq!(shred(&outer, true), expected(&[], &[3, 2, 0, 1], &[1]));
}

/// A map with REQUIRED keys. Levels of keys: null 0, empty 1, key 2. Levels of values: null 2, others 3.
#[test]
fn a_map() {
    let keys = Field::new("key", DataType::Int32, false);
    let values = Field::new("value", DataType::Int32, true);
    let entries = StructArray::new(
        vec![keys, values].into(),
        vec![
            ints([1, 2, 3]),
            Arc::new(Int32Array::from(vec![None, Some(20), Some(30)])),
        ],
        None,
    );
    let field = Arc::new(Field::new("entries", entries.data_type().clone(), false));
    let offsets = OffsetBuffer::new(vec![0, 2, 2, 3, 3].into());
    let validity = nulls(&[true, false, true, true]);
    let map: ArrayRef = Arc::new(MapArray::new(field, offsets, entries, validity, false));
    let paths = paths(&Field::new("a", map.data_type().clone(), true));
    let mut out = LeafLevels::new();
    leaf_levels(&paths[0], &map, 0..4, &mut out).unwrap();
    let keys = expected(&[0, 1, 0, 0, 0], &[2, 2, 0, 2, 1], &[1, 2, 3]);
    assert_eq!(super::shredded(&out, 4), keys);
    leaf_levels(&paths[1], &map, 0..4, &mut out).unwrap();
    let values = expected(&[0, 1, 0, 0, 0], &[2, 3, 0, 3, 1], &[20, 30]);
    assert_eq!(super::shredded(&out, 4), values);
}

#[test]
fn fixed_size_lists_hide_the_elements_of_null() {
    let field = nullable(&DataType::Int32);
    let validity = nulls(&[true, false, true]);
    let array: ArrayRef = Arc::new(FixedSizeListArray::new(field, 2, ints(0..6), validity));
    let levels = expected(&[0, 1, 0, 0, 1], &[3, 3, 0, 3, 3], &[0, 1, 4, 5]);
    assert_eq!(shred(&array, true), levels);
    let levels = expected(&[0, 0, 1], &[0, 3, 3], &[4, 5]);
    assert_eq!(shred(&array.slice(1, 2), true), levels);
}

#[test]
fn list_views_in_any_order() {
    let (offsets, sizes) = (vec![3, 0, 2, 3], vec![2, 1, 0, 2]);
    let field = nullable(&DataType::Int32);
    let array = ListViewArray::new(field, offsets.into(), sizes.into(), ints(0..5), None);
    let array: ArrayRef = Arc::new(array);
    let levels = expected(&[0, 1, 0, 0, 0, 1], &[3, 3, 3, 1, 3, 3], &[3, 4, 0, 3, 4]);
    assert_eq!(shred(&array, true), levels);
}

#[test]
fn large_lists() {
    let offsets = OffsetBuffer::new(vec![0_i64, 1, 1, 3].into());
    let field = nullable(&DataType::Int32);
    let array: ArrayRef = Arc::new(LargeListArray::new(field, offsets, ints(0..3), None));
    assert_eq!(
        shred(&array, true),
        expected(&[0, 0, 0, 1], &[3, 1, 3, 3], &[0, 1, 2])
    );
    assert_eq!(shred(&array.slice(3, 0), true), expected(&[], &[], &[]));
}

//! Arrays that are rejected, and similar ones that are accepted.

use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, Int32Array, ListArray, StructArray};
use herringbone_arrow::buffer::OffsetBuffer;
use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::ErrorKind;

use super::super::path::Step;
use super::{LeafLevels, LeafPath, leaf_levels, nullable, nulls};

fn error(steps: &[Step], array: &ArrayRef, rows: std::ops::Range<usize>) -> Option<String> {
    let path = LeafPath::new(steps.to_vec(), vec!["a".into(), "b".into()]).unwrap();
    let result = leaf_levels(&path, array, rows, &mut LeafLevels::new());
    let error = result.err()?;
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert_eq!(error.location().column.as_deref(), Some("a.b"));
    Some(error.message().to_owned())
}

fn leaf() -> ArrayRef {
    Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]))
}

const REQUIRED: Step = Step::Leaf { nullable: false };

#[test]
fn a_null_where_none_may_be() {
    let message = "a field that the schema declares as required contains a null";
    assert_eq!(error(&[REQUIRED], &leaf(), 0..3).unwrap(), message);
    assert_eq!(error(&[REQUIRED], &leaf(), 0..1), None);
    assert_eq!(error(&[REQUIRED], &leaf(), 2..3), None);
}

#[test]
fn a_null_in_a_null_struct_is_none() {
    let structs = |valid: &[bool]| -> ArrayRef {
        let fields = vec![Field::new("b", DataType::Int32, true)];
        Arc::new(StructArray::new(fields.into(), vec![leaf()], nulls(valid)))
    };
    let steps = [
        Step::Struct {
            nullable: true,
            field: 0,
        },
        REQUIRED,
    ];
    assert_eq!(error(&steps, &structs(&[true, false, true]), 0..3), None);
    assert!(error(&steps, &structs(&[false, true, true]), 0..3).is_some());
}

#[test]
fn a_null_that_no_list_shows_is_none() {
    let lists = |valid: &[bool]| -> ArrayRef {
        let offsets = OffsetBuffer::new(vec![0, 1, 2, 3].into());
        let field = nullable(&DataType::Int32);
        Arc::new(ListArray::new(field, offsets, leaf(), nulls(valid)))
    };
    let list = Step::List {
        nullable: true,
        rep_level: 1,
    };
    let steps = [list, REQUIRED];
    assert_eq!(error(&steps, &lists(&[true, false, true]), 0..3), None);
    assert!(error(&steps, &lists(&[false, true, true]), 0..3).is_some());
    let steps = [
        Step::List {
            nullable: false,
            rep_level: 1,
        },
        Step::Leaf { nullable: true },
    ];
    assert!(error(&steps, &lists(&[true, false, true]), 0..3).is_some());
}

#[test]
fn an_array_that_the_path_does_not_fit() {
    let steps = [
        Step::Struct {
            nullable: true,
            field: 0,
        },
        REQUIRED,
    ];
    let message = "an array of type Int32 does not fit the schema";
    assert_eq!(error(&steps, &leaf(), 0..3).unwrap(), message);
    assert_eq!(
        error(&[REQUIRED], &leaf(), 2..4).unwrap(),
        "rows 2..4 are outside of an array with 3 rows"
    );
}

#[test]
fn too_many_levels() {
    let lists = vec![
        Step::List {
            nullable: true,
            rep_level: 1
        };
        128
    ];
    let error = LeafPath::new(lists, vec!["a".into()]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

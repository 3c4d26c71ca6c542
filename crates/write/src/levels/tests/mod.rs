//! Compares levels with hand-written ones. For random arrays, compares them with the levels from a slot-by-slot
//! shredder.

mod arrays;
mod by_hand;
mod encoded;
mod errors;
mod naive;
mod random;
mod reader;

use std::sync::Arc;

use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::{DataType, Field};

use super::path::Step;
use super::{DefinitionLevels, LeafLevels, LeafPath, leaf_levels};

/// Returns the leaf paths that a field has in the file. Fields and list elements are nullable if their Arrow fields
/// are.
fn paths(field: &Field) -> Vec<LeafPath> {
    let mut paths = Vec::new();
    walk(field, &mut Vec::new(), 0, &mut |steps| {
        paths.push(LeafPath::new(steps.to_vec(), vec!["a".into(), "b".into()]).unwrap());
    });
    paths
}

fn walk(field: &Field, steps: &mut Vec<Step>, lists: u8, leaf: &mut impl FnMut(&[Step])) {
    let nullable = field.is_nullable();
    let depth = steps.len();
    match field.data_type() {
        DataType::Struct(fields) => {
            for (i, child) in fields.iter().enumerate() {
                steps.push(Step::Struct { nullable, field: i });
                walk(child, steps, lists, leaf);
                steps.truncate(depth);
            }
        }
        DataType::List(child)
        | DataType::LargeList(child)
        | DataType::ListView(child)
        | DataType::LargeListView(child)
        | DataType::FixedSizeList(child, _)
        | DataType::Map(child, _) => {
            let rep_level = lists + 1;
            steps.push(Step::List {
                nullable,
                rep_level,
            });
            walk(child, steps, rep_level, leaf);
        }
        DataType::Dictionary(_, value) if value.is_nested() => {
            steps.push(Step::Dictionary);
            let value = Field::new("value", DataType::clone(value), nullable);
            walk(&value, steps, lists, leaf);
        }
        DataType::RunEndEncoded(_, value) if value.data_type().is_nested() => {
            steps.push(Step::RunEnd);
            let value = Field::new("value", value.data_type().clone(), nullable);
            walk(&value, steps, lists, leaf);
        }
        _ => {
            steps.push(Step::Leaf { nullable });
            leaf(steps);
        }
    }
    steps.truncate(depth);
}

/// The levels of a leaf as bytes, and the values of its valid slots.
#[derive(Debug, PartialEq, Eq)]
struct Shredded {
    rep: Vec<u8>,
    def: Vec<u8>,
    values: Vec<i32>,
}

/// Returns the levels of all rows of an array with one leaf.
fn shred(array: &ArrayRef, nullable: bool) -> Shredded {
    let field = Field::new("a", array.data_type().clone(), nullable);
    let paths = paths(&field);
    assert_eq!(paths.len(), 1);
    let mut out = LeafLevels::new();
    leaf_levels(&paths[0], array, 0..array.len(), &mut out).unwrap();
    shredded(&out, array.len())
}

fn shredded(levels: &LeafLevels, rows: usize) -> Shredded {
    let def = match &levels.def {
        DefinitionLevels::None => vec![0; rows],
        DefinitionLevels::Validity(None) => vec![1; rows],
        DefinitionLevels::Validity(Some(nulls)) => nulls.iter().map(u8::from).collect(),
        DefinitionLevels::Bytes(bytes) => bytes.clone(),
    };
    let slots = levels.ranges.iter().cloned().flatten();
    let nulls = levels.nulls.as_ref();
    assert!(nulls.is_none_or(|nulls| nulls.len() == levels.leaf.len()));
    let valid = slots.filter(|&slot| nulls.is_none_or(|nulls| nulls.is_valid(slot)));
    Shredded {
        rep: levels.rep.clone(),
        def,
        values: valid
            .map(|slot| naive::value(&levels.leaf, slot).unwrap())
            .collect(),
    }
}

fn expected(rep: &[u8], def: &[u8], values: &[i32]) -> Shredded {
    Shredded {
        rep: rep.to_vec(),
        def: def.to_vec(),
        values: values.to_vec(),
    }
}

/// Returns a nullable field.
fn nullable(data_type: &DataType) -> Arc<Field> {
    Arc::new(Field::new("element", data_type.clone(), true))
}

fn nulls(valid: &[bool]) -> Option<NullBuffer> {
    Some(NullBuffer::from(valid))
}

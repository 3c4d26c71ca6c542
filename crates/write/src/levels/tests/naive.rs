//! Computes levels slot by slot, by the format's definition. It shares no code with the tested module.

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{Int8Type, Int32Type};
use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::schema::DataType;

use super::super::path::Step;
use super::Shredded;

/// Returns the levels of rows, computed one by one.
pub(super) fn shred(steps: &[Step], array: &ArrayRef, rows: std::ops::Range<usize>) -> Shredded {
    let mut out = Shredded {
        rep: Vec::new(),
        def: Vec::new(),
        values: Vec::new(),
    };
    let lists = steps.iter().any(|step| matches!(step, Step::List { .. }));
    for row in rows {
        slot(steps, array, row, (0, 0), &mut out);
    }
    if !lists {
        out.rep.clear();
    }
    out
}

/// Appends the levels of one slot. `levels` has the repetition level at the slot's start, and the definition level of
/// the array around it.
fn slot(steps: &[Step], array: &ArrayRef, i: usize, levels: (u8, u8), out: &mut Shredded) {
    let (rep, def) = levels;
    let mut entry = |def| {
        out.rep.push(rep);
        out.def.push(def);
    };
    match steps[0] {
        Step::RunEnd => {
            let runs = array.as_run::<Int32Type>();
            let value = runs.get_physical_index(i);
            slot(&steps[1..], runs.values(), value, levels, out);
        }
        Step::Dictionary => {
            let dictionary = array.as_dictionary::<Int8Type>();
            match dictionary.key(i) {
                Some(key) => slot(&steps[1..], dictionary.values(), key, levels, out),
                None => entry(def),
            }
        }
        Step::Struct { nullable, field } => match array.is_null(i) {
            true => {
                assert!(nullable);
                entry(def);
            }
            false => {
                let child = array.as_struct().column(field);
                slot(&steps[1..], child, i, (rep, def + u8::from(nullable)), out);
            }
        },
        Step::List {
            nullable,
            rep_level,
        } => {
            let def = def + u8::from(nullable);
            if array.is_null(i) {
                assert!(nullable);
                return entry(def - 1);
            }
            let elements = elements(array, i);
            if elements.is_empty() {
                return entry(def);
            }
            for k in 0..elements.len() {
                let rep = if k == 0 { rep } else { rep_level };
                slot(&steps[1..], &elements, k, (rep, def + 1), out);
            }
        }
        Step::Leaf { nullable } => match value(array, i) {
            None => {
                assert!(nullable);
                entry(def);
            }
            Some(value) => {
                entry(def + u8::from(nullable));
                out.values.push(value);
            }
        },
    }
}

/// Returns the elements of one list.
fn elements(array: &ArrayRef, i: usize) -> ArrayRef {
    match array.data_type() {
        DataType::List(_) => array.as_list::<i32>().value(i),
        DataType::LargeList(_) => array.as_list::<i64>().value(i),
        DataType::ListView(_) => array.as_list_view::<i32>().value(i),
        DataType::LargeListView(_) => array.as_list_view::<i64>().value(i),
        DataType::FixedSizeList(..) => array.as_fixed_size_list().value(i),
        DataType::Map(..) => std::sync::Arc::new(array.as_map().value(i)),
        other => panic!("{other}"),
    }
}

/// Returns one value of a leaf.
pub(super) fn value(array: &ArrayRef, i: usize) -> Option<i32> {
    match array.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = array.as_dictionary::<Int8Type>();
            value(dictionary.values(), dictionary.key(i)?)
        }
        DataType::RunEndEncoded(..) => {
            let runs = array.as_run::<Int32Type>();
            value(runs.values(), runs.get_physical_index(i))
        }
        DataType::Null => None,
        _ => array
            .is_valid(i)
            .then(|| array.as_primitive::<Int32Type>().value(i)),
    }
}

//! Checks that our reader restores the written arrays from their levels.

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::schema::{DataType, Field};
use herringbone_kernels::nesting::ListPlan;

use super::super::path::Step;
use super::arrays::{Random, array};
use super::{DefinitionLevels, LeafLevels, leaf_levels, paths};
use herringbone_core::column::nesting_builder::{NestingBuilder, NestingPlan, Offsets};

/// Returns the length of each top-level list, or 0 for null.
fn lengths(array: &ArrayRef) -> Option<Vec<usize>> {
    let length = |row| match array.data_type() {
        DataType::List(_) => Some(array.as_list::<i32>().value(row).len()),
        DataType::LargeList(_) => Some(array.as_list::<i64>().value(row).len()),
        DataType::ListView(_) => Some(array.as_list_view::<i32>().value(row).len()),
        DataType::LargeListView(_) => Some(array.as_list_view::<i64>().value(row).len()),
        DataType::FixedSizeList(..) => Some(array.as_fixed_size_list().value(row).len()),
        DataType::Map(..) => Some(array.as_map().value(row).len()),
        _ => None,
    };
    let length = |row| match array.is_null(row) {
        true => length(row).map(|_| 0),
        false => length(row),
    };
    (0..array.len()).map(length).collect()
}

#[test]
fn the_reader_records_the_lists_and_nulls_at_the_top() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut out = LeafLevels::new();
    let mut nestings = 0;
    for _ in 0..400 {
        let len = 1 + random.below(200);
        let array = array(&mut random, len, 3);
        let field = Field::new("a", array.data_type().clone(), true);
        for path in paths(&field) {
            leaf_levels(&path, &array, 0..len, &mut out).unwrap();
            let DefinitionLevels::Bytes(def) = &out.def else {
                continue;
            };
            let plan = match path.steps[0] {
                Step::Struct { .. } if path.max_rep > 0 => NestingPlan::Struct {
                    rep_level: 0,
                    slot_def: 0,
                    valid_def: 1,
                },
                Step::List { .. } => NestingPlan::List {
                    plan: ListPlan {
                        rep_level: 1,
                        list_def: 1,
                        element_def: 2,
                        parent_element_def: 0,
                        nullable: true,
                    },
                    large: false,
                },
                _ => continue,
            };
            let mut nesting_builder = NestingBuilder::new(plan);
            nesting_builder.record(&out.rep, def).unwrap();
            let levels = nesting_builder.finish();
            assert_eq!(levels.slots, len);
            let valid = |row| {
                levels
                    .validity
                    .as_ref()
                    .is_none_or(|bits| bits.is_valid(row))
            };
            assert!((0..len).all(|row| valid(row) == array.is_valid(row)));
            if let Some(Offsets::I32(offsets)) = levels.offsets {
                let read = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
                assert_eq!(read.collect::<Vec<_>>(), lengths(&array).unwrap());
            }
            nestings += 1;
        }
    }
    assert!(nestings > 200, "{nestings}");
}

//! Random arrays have the levels of the naive shredder, however they are split, and random schemas have the paths of
//! their Arrow fields.

use std::sync::Arc;

use herringbone_arrow::array::{Array, ArrayRef, StructArray};
use herringbone_arrow::schema::{DataType, Field, Fields, Schema};
use herringbone_schema::{EmptyStructs, WriteSchemaOptions, from_arrow};

use super::super::path;
use super::arrays::{Random, array};
use super::{LeafLevels, LeafPath, leaf_levels, naive, paths, shredded};

#[test]
fn random_arrays() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    // The buffers are reused for all arrays, as in a write.
    let mut out = LeafLevels::new();
    for round in 0..3000 {
        let len = random.below([8, 80, 300][round % 3]);
        let array = array(&mut random, len, round % 5);
        let nullable = array.is_nullable() || random.below(2) == 0;
        let field = Field::new("a", array.data_type().clone(), nullable);
        let start = random.below(len + 1);
        let rows = [0..len, start..start + random.below(len - start + 1)];
        for path in paths(&field) {
            for rows in rows.clone() {
                leaf_levels(&path, &array, rows.clone(), &mut out)
                    .unwrap_or_else(|error| panic!("{round} {}: {error}", array.data_type()));
                let levels = shredded(&out, rows.len());
                let expected = naive::shred(&path.steps, &array, rows.clone());
                let place = || format!("{round} {rows:?} of {} {path:?}", array.data_type());
                assert_eq!(levels.rep, expected.rep, "{}", place());
                assert_eq!(levels.def, expected.def, "{}", place());
                assert_eq!(levels.values, expected.values, "{}", place());
                let merged = out
                    .ranges
                    .windows(2)
                    .all(|pair| pair[0].end != pair[1].start);
                assert!(merged && out.ranges.iter().all(|range| !range.is_empty()));
            }
        }
    }
}

#[test]
fn random_schemas() {
    let mut random = Random(0xd134_2543_de82_ef95);
    let mut same = 0;
    for round in 0..400 {
        let array = array(&mut random, 3, round % 6);
        let field = Field::new("a", array.data_type().clone(), round % 2 == 0);
        let schema = Schema::new(vec![Field::new("b", DataType::Int8, true), field.clone()]);
        // Parquet does not support lists with a fixed size of 0.
        let Ok(mapping) = from_arrow(&schema, &WriteSchemaOptions::default()) else {
            continue;
        };
        let written = path::paths(&mapping.fields[1], &mapping.leaves).unwrap();
        let steps = |paths: &[LeafPath]| paths.iter().map(|path| path.steps.clone()).collect();
        let (steps, expected): (Vec<_>, Vec<_>) = (steps(&written), steps(&paths(&field)));
        assert_eq!(steps, expected);
        for (path, leaf) in written.iter().zip(&mapping.leaves[1..]) {
            assert_eq!(path.max_def, leaf.max_def_level);
            assert_eq!(path.max_rep, leaf.max_rep_level);
            assert_eq!(path.column, leaf.path);
        }
        same += 1;
    }
    assert!(same > 200, "{same}");
}

#[test]
fn a_struct_without_fields_has_a_path() {
    let empty = DataType::Struct(Fields::empty());
    let schema = Schema::new(vec![Field::new("a", empty, true)]);
    let mut options = WriteSchemaOptions::default();
    options.empty_structs = EmptyStructs::UnknownLeaf;
    let mapping = from_arrow(&schema, &options).unwrap();
    let written = path::paths(&mapping.fields[0], &mapping.leaves).unwrap();
    assert_eq!(written.len(), 1);
    let array: ArrayRef = Arc::new(StructArray::new_empty_fields(2, None));
    let mut out = LeafLevels::new();
    leaf_levels(&written[0], &array, 0..2, &mut out).unwrap();
    assert_eq!(shredded(&out, 2).def, [1, 1]);
}

//! Any array, in any parts, has the levels of the naive shredder.

use herringbone_arrow::array::Array;
use herringbone_arrow::schema::Field;

use super::arrays::{Random, array};
use super::{LeafLevels, leaf_levels, naive, paths, shredded};

#[test]
fn random_arrays() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    // Buffers are used again from array to array.
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

//! Counts a column chunk's nulls, not counting empty or missing lists.

use herringbone::format::{ColumnMetaData, Repetition};
use herringbone::schema::ParquetSchema;

/// The value and null counts of a column chunk. Unknown counts are `None`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counts {
    /// The number of values, including nulls.
    pub(crate) values: Option<u64>,
    /// The number of nulls.
    pub(crate) nulls: Option<u64>,
}

/// Returns the counts of a column chunk. Statistics count every slot without a value as a null. In
/// a list, only the definition level histogram distinguishes a null from an empty or missing list,
/// so the counts are unknown without it.
pub(crate) fn of_chunk(schema: &ParquetSchema, leaf: usize, data: &ColumnMetaData) -> Counts {
    let Some(found) = schema.leaves().get(leaf) else {
        return Counts::default();
    };
    let number = |number: i64| u64::try_from(number).ok();
    let statistics = data.statistics.as_ref();
    let nulls = statistics
        .and_then(|statistics| statistics.null_count)
        .and_then(number);
    if found.max_rep_level == 0 {
        return Counts {
            values: number(data.num_values),
            nulls,
        };
    }
    if nulls == Some(0) {
        return Counts {
            values: number(data.num_values),
            nulls,
        };
    }
    let sizes = data.size_statistics.as_ref();
    let levels = sizes.and_then(|sizes| sizes.definition_level_histogram.as_ref());
    let max = usize::from(found.max_def_level);
    let first = element_level(schema, leaf);
    let count = |from: usize, to: usize| {
        let levels = levels.filter(|levels| levels.len() == max + 1)?;
        let mut counts = levels.get(from..to)?.iter().map(|count| number(*count));
        counts.try_fold(0_u64, |sum, count| sum.checked_add(count?))
    };
    Counts {
        values: count(first, max + 1),
        nulls: count(first, max),
    }
}

/// Returns the definition level at which the innermost list has an element, even if this element is
/// null.
fn element_level(schema: &ParquetSchema, leaf: usize) -> usize {
    let mut node = schema.leaves().get(leaf).map_or(0, |leaf| leaf.node);
    while let Some(found) = schema.nodes().get(node) {
        if found.repetition() == Repetition::Repeated || node == 0 {
            return usize::from(found.def_level);
        }
        node = found.parent;
    }
    0
}

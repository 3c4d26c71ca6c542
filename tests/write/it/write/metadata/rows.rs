//! The rows of a column as levels and values, row by row.

use herringbone_arrow::array::Array;
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::schema::DataType;

use super::keys::{Key, keys};

/// A row in a leaf column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Row {
    /// The repetition and definition levels.
    pub(crate) levels: Vec<(u8, u8)>,
    pub(crate) values: Vec<Key>,
}

/// Returns the type of a column's leaf, bare or in a list.
pub(crate) fn leaf_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::List(item) => item.data_type(),
        leaf => leaf,
    }
}

/// Returns the rows of a bare column or of a list, in which lists and elements are nullable.
pub(crate) fn rows(array: &dyn Array) -> Vec<Row> {
    let DataType::List(_) = array.data_type() else {
        return keys(array).into_iter().map(|key| row([key], 0)).collect();
    };
    let lists = array.as_list::<i32>();
    (0..lists.len())
        .map(|i| {
            if lists.is_null(i) {
                return empty(0);
            }
            match lists.value(i) {
                elements if elements.is_empty() => empty(1),
                elements => row(keys(&elements), 2),
            }
        })
        .collect()
}

fn empty(def: u8) -> Row {
    Row {
        levels: vec![(0, def)],
        values: Vec::new(),
    }
}

/// Builds a row from slots, in which null slots have the definition level `null_def`.
fn row(slots: impl IntoIterator<Item = Option<Key>>, null_def: u8) -> Row {
    let mut row = Row::default();
    for (i, slot) in slots.into_iter().enumerate() {
        let def = null_def + u8::from(slot.is_some());
        row.levels.push((u8::from(i > 0), def));
        row.values.extend(slot);
    }
    row
}

/// Returns all values in some rows.
pub(crate) fn values(rows: &[Row]) -> Vec<&Key> {
    rows.iter().flat_map(|row| &row.values).collect()
}

/// Returns the number of levels in some rows.
pub(crate) fn num_levels(rows: &[Row]) -> usize {
    rows.iter().map(|row| row.levels.len()).sum()
}

/// Returns how often each level occurs, or nothing if the highest level is 0.
pub(crate) fn histogram(rows: &[Row], max: u8, level: impl Fn(&(u8, u8)) -> u8) -> Vec<i64> {
    if max == 0 {
        return Vec::new();
    }
    let mut counts = vec![0; usize::from(max) + 1];
    for both in rows.iter().flat_map(|row| &row.levels) {
        counts[usize::from(level(both))] += 1;
    }
    counts
}

/// Returns the minimum and the maximum, and ignores NaNs.
pub(crate) fn extremes(rows: &[Row]) -> Option<(Key, Key)> {
    let known = || values(rows).into_iter().filter(|key| **key != Key::Nan);
    Some((known().min()?.clone(), known().max()?.clone()))
}

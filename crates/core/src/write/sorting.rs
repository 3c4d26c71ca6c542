//! Whether rows are sorted the way the file says.

use std::cmp::Ordering;
use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::{Error, Result, SortingColumn};
use herringbone_kernels::plain;
use herringbone_schema::ColumnOrderKind;

use super::levels::{LeafLevels, LeafPath, leaf_levels};
use super::settings::ColumnSettings;
use crate::array::Scratch;
use crate::array::dictionary::{Keyed, slots};
use crate::encoding::values::Values;
use crate::levels::DefinitionLevels;
use crate::statistics::compare;

/// Compares each row with the one before it, over all batches of a file.
pub struct SortingCheck {
    columns: Vec<SortedColumn>,
    /// The values of the last row, in the order of `columns`; none before the first row.
    last: Option<Vec<Option<Vec<u8>>>>,
    num_rows: u64,
}

/// A column that rows are sorted by.
struct SortedColumn {
    settings: Arc<ColumnSettings>,
    path: Arc<LeafPath>,
    field: usize,
    sorting: SortingColumn,
}

/// The values of a batch's rows: one a row, null or in PLAIN, without lengths.
type Keys = Vec<Option<Vec<u8>>>;

impl SortingCheck {
    /// A check of no columns yet.
    pub(super) fn new() -> Self {
        Self {
            columns: Vec::new(),
            last: None,
            num_rows: 0,
        }
    }

    /// Adds the next column, less significant than those before.
    ///
    /// # Errors
    /// Argument where its values have no order, or a row may have several of them.
    pub(super) fn push(
        &mut self,
        settings: Arc<ColumnSettings>,
        path: Arc<LeafPath>,
        field: usize,
        sorting: SortingColumn,
    ) -> Result<()> {
        let leaf = &settings.leaf;
        if leaf.max_rep_level > 0 || leaf.order == ColumnOrderKind::Undefined {
            let column = leaf.path.join(".");
            return Err(Error::argument(
                "rows cannot be compared by this column, so `unsorted_rows` has to be `Unchecked`",
            )
            .in_column(column));
        }
        self.columns.push(SortedColumn {
            settings,
            path,
            field,
            sorting,
        });
        Ok(())
    }

    /// Forgets the last row: sorting starts anew with a row group that the caller ends.
    pub fn restart(&mut self) {
        self.last = None;
    }

    /// Compares the rows of a batch with each other and with the last row before them.
    ///
    /// # Errors
    /// Argument that names the first row out of order, counted over the whole file.
    pub fn check(&mut self, batch: &RecordBatch) -> Result<()> {
        match self.first_unsorted(batch)? {
            None => Ok(()),
            Some(row) => Err(Error::argument(format!(
                "row {row} is not sorted: it belongs before the row in front of it"
            ))),
        }
    }

    /// The first row of a batch that belongs before the row in front of it, counted over the whole
    /// file; none where the rows are sorted.
    ///
    /// # Errors
    /// Argument where the batch cannot be compared.
    pub fn first_unsorted(&mut self, batch: &RecordBatch) -> Result<Option<u64>> {
        let columns = self
            .columns
            .iter()
            .map(|column| column.keys(batch))
            .collect::<Result<Vec<Keys>>>()?;
        for row in 0..batch.num_rows() {
            let current: Vec<Option<Vec<u8>>> = columns
                .iter()
                .map(|keys| keys.get(row).cloned().flatten())
                .collect();
            if let Some(last) = &self.last
                && self.order(last, &current) == Ordering::Greater
            {
                return Ok(Some(self.num_rows));
            }
            self.last = Some(current);
            self.num_rows += 1;
        }
        Ok(None)
    }

    fn order(&self, a: &[Option<Vec<u8>>], b: &[Option<Vec<u8>>]) -> Ordering {
        let columns = self.columns.iter().zip(a.iter().zip(b));
        columns
            .map(|(column, (a, b))| column.order(a.as_deref(), b.as_deref()))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl SortedColumn {
    fn keys(&self, batch: &RecordBatch) -> Result<Keys> {
        let array = batch
            .columns()
            .get(self.field)
            .ok_or_else(|| Error::argument("the batch has fewer columns than the file"))?;
        let mut levels = LeafLevels::new();
        leaf_levels(&self.path, array, 0..batch.num_rows(), &mut levels)?;
        let (mut scratch, mut keyed) = (Scratch::default(), Keyed::default());
        let slots = slots(
            &self.settings.leaf,
            levels.selected(),
            &mut scratch,
            &mut keyed,
        )?;
        let max_def = self.settings.leaf.max_def_level;
        let valid = |row: usize| match &levels.def {
            DefinitionLevels::None | DefinitionLevels::Validity(None) => true,
            DefinitionLevels::Validity(Some(nulls)) => nulls.is_valid(row),
            DefinitionLevels::Bytes(levels) => levels.get(row) == Some(&max_def),
        };
        slots.with_values(|values| {
            let mut next = 0;
            let keys = (0..batch.num_rows()).map(|row| {
                if !valid(row) {
                    return None;
                }
                next += 1;
                Some(plain_value(values, next - 1).to_vec())
            });
            Ok(keys.collect())
        })
    }

    fn order(&self, a: Option<&[u8]>, b: Option<&[u8]>) -> Ordering {
        let nulls_first = self.sorting.nulls_first;
        match (a, b) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) if nulls_first => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) if nulls_first => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(a), Some(b)) if self.sorting.descending => self.order_of_values(b, a),
            (Some(a), Some(b)) => self.order_of_values(a, b),
        }
    }

    /// The order of two values; NaNs are the greatest.
    fn order_of_values(&self, a: &[u8], b: &[u8]) -> Ordering {
        let leaf = &self.settings.leaf;
        let compare = |a, b| compare(leaf.order, leaf.physical_type, a, b);
        let is_nan = |value| compare(value, value).is_none();
        compare(a, b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
    }
}

/// A value in PLAIN, without its length.
fn plain_value<'a>(values: &'a Values<'_>, index: usize) -> &'a [u8] {
    fn part(bytes: &[u8], index: usize, width: usize) -> &[u8] {
        bytes
            .get(index * width..(index + 1) * width)
            .unwrap_or_default()
    }
    match values {
        Values::Boolean { bits, first, .. } => {
            let at = first + index;
            let bit = bits
                .get(at / 8)
                .is_some_and(|byte| byte >> (at % 8) & 1 == 1);
            if bit { &[1] } else { &[0] }
        }
        Values::Int32(values) => part(plain::bytes(values), index, 4),
        Values::Int64(values) => part(plain::bytes(values), index, 8),
        Values::Float(values) => part(plain::bytes(values), index, 4),
        Values::Double(values) => part(plain::bytes(values), index, 8),
        Values::Fixed { bytes, width } => part(bytes, index, *width),
        Values::ByteArray(values) => values.get(index).copied().unwrap_or_default(),
    }
}

//! Assembles record batches from column batches.
//!
//! Each column delivers column batches at its own pace. A record batch has as many rows as the shortest of the current
//! column batches, and any leftover rows go into the next one. We do this by slicing arrays, not by copying them.
//! Counts are passed from the root to the leaves. For example, a list's offsets for some rows determine how many
//! elements to take from its child.

use std::sync::Arc;

mod lists;
mod row_origins;
mod siblings;

use herringbone_arrow::array::{Array, ArrayRef, RecordBatch, StructArray};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::ArrowError;
use herringbone_format::{Error, Remedy, Result};

use lists::{Padding, elements, large_list_array, list_array, slice_offsets};
use row_origins::RowOrigins;
use siblings::{LevelsInUse, disagreement, disagreement_with};

use super::plan::{ArrayNode, Record, SharedList};
use super::wrappers::put_around;
use super::{ReadPlan, RowGroupPlan};
use herringbone_core::budget::{Budget, Reservation};
use herringbone_core::column::nesting_builder::{Nesting, Offsets};
use herringbone_core::column::selection::RowSelector;
use herringbone_core::column::{ColumnBatch, each};
use herringbone_core::loss::Losses;

/// The assembler of a row group's column batches.
#[derive(Debug)]
pub(crate) struct BatchAssembler {
    plan: Arc<ReadPlan>,
    column_batches: Vec<Option<ColumnBatchInUse>>,
    /// The damaged pages in the column batches, each with its column.
    losses: Vec<(usize, Losses)>,
    /// The memory of arrays made for the current batch on top of its column batches: slots missing from the file, and
    /// casts.
    made: Reservation,
    /// The current batch's source arrays for extension columns.
    storages: Vec<Option<ArrayRef>>,
    origins: Box<RowOrigins>,
}

/// A column batch, and the number of slots taken so far.
#[derive(Debug)]
struct ColumnBatchInUse {
    row_group: usize,
    rows_left: usize,
    leaf: ArrayRef,
    leaf_taken: usize,
    nestings: Vec<NestingInUse>,
    shared_lists: Vec<LevelsInUse>,
    _memory: Reservation,
}

#[derive(Debug)]
struct NestingInUse {
    nestings: Nesting,
    taken: usize,
}

impl BatchAssembler {
    /// Creates an assembler without column batches, for a read with this budget.
    #[must_use]
    pub(crate) fn new(plan: Arc<ReadPlan>, budget: &Arc<Budget>) -> Self {
        let column_batches = plan.columns().iter().map(|_| None).collect();
        Self {
            made: Reservation::new(budget.clone()),
            plan,
            column_batches,
            losses: Vec::new(),
            storages: Vec::new(),
            origins: Box::new(RowOrigins::new()),
        }
    }

    /// Starts a row group, with the rows selected by its plan.
    pub(super) fn open(&mut self, row_group: &RowGroupPlan) {
        self.origins.open(row_group);
    }

    /// Starts a row group with no rows selected, except those [added later](Self::extend_selection).
    pub(super) fn open_selecting(&mut self, row_group: &RowGroupPlan) {
        self.origins.open_selecting(row_group);
    }

    /// Selects more rows. They must come after all others.
    pub(super) fn extend_selection(&mut self, piece: &RowSelector) {
        if !self.plan.virtual_columns().is_empty() {
            self.origins.extend(piece);
        }
    }

    /// Returns true if a column batch of `column` must be added before the next batch.
    #[must_use]
    pub(crate) fn needs(&self, column: usize) -> bool {
        self.column_batches.get(column).is_some_and(Option::is_none)
    }

    /// Adds the next column batch for `column`.
    pub(crate) fn add(&mut self, column: usize, column_batch: ColumnBatch) {
        if !column_batch.losses.is_empty() {
            self.losses.push((column, column_batch.losses));
        }
        if let Some(slot) = self.column_batches.get_mut(column) {
            let in_use = |nestings| NestingInUse { nestings, taken: 0 };
            *slot = Some(ColumnBatchInUse {
                row_group: column_batch.row_group,
                rows_left: column_batch.rows,
                leaf: column_batch.leaf,
                leaf_taken: 0,
                nestings: each(column_batch.nestings.into_iter(), in_use),
                shared_lists: each(column_batch.shared_lists.into_iter(), LevelsInUse::new),
                _memory: column_batch.memory,
            });
        }
    }

    /// Takes the damaged pages left out of the column batches since the last call, ordered by column.
    #[must_use]
    pub(crate) fn take_losses(&mut self) -> Losses {
        let mut losses = std::mem::take(&mut self.losses);
        // Threads deliver column batches in any order, so we sort the losses to report them in a fixed order.
        losses.sort_by_key(|(column, _)| *column);
        let mut all = Losses::default();
        losses
            .into_iter()
            .for_each(|(_, losses)| all.append(losses));
        all
    }

    /// Returns the next batch of a row group with `rows_left` remaining rows. The batch is as long as the shortest
    /// column batch, but has at most `most` rows. Without columns, it has as many rows as the options allow.
    ///
    /// # Errors
    /// Fails with `Corrupt` if columns disagree about a common ancestor, and with `Argument` if a column has no column
    /// batch. Fails with `Limit` if there is too little memory for the arrays that a batch has on top of its column
    /// batches.
    pub(crate) fn next_batch(&mut self, rows_left: u64, most: usize) -> Result<RecordBatch> {
        if self.column_batches.is_empty() {
            let rows = usize::try_from(rows_left).unwrap_or(usize::MAX);
            let most = most.min(self.plan.options().batch_size);
            return self.batch(rows.min(most).max(1));
        }
        let mut rows = most;
        for column_batch in &self.column_batches {
            let column_batch = column_batch
                .as_ref()
                .ok_or_else(|| Error::argument("a column has no column batch"))?;
            rows = rows.min(column_batch.rows_left);
        }
        self.batch(rows)
    }

    fn batch(&mut self, rows: usize) -> Result<RecordBatch> {
        let batch = self.make_batch(rows);
        self.made.release();
        batch
    }

    fn make_batch(&mut self, rows: usize) -> Result<RecordBatch> {
        let plan = self.plan.clone();
        for list in plan.shared_lists() {
            self.compare(list, rows)?;
        }
        let mut arrays = plan
            .tree()
            .iter()
            .map(|node| self.root(node, rows))
            .collect::<Result<Vec<_>>>()?;
        if !plan.extension_columns().is_empty() {
            for node in plan.storages() {
                self.root(node, rows)?;
            }
            let storages = std::mem::take(&mut self.storages);
            let row_group = self.row_group();
            for column in plan.extension_columns() {
                let array = column.make(&storages).map_err(|error| match row_group {
                    Some(row_group) => error.in_row_group(row_group),
                    None => error,
                });
                arrays.push(array?);
            }
        }
        let virtual_columns = plan.virtual_columns();
        for column in virtual_columns {
            self.made.add(column.bytes(rows) as u64)?;
        }
        arrays.extend(self.origins.next(virtual_columns, rows)?);
        for (column, slot) in plan.columns().iter().zip(&mut self.column_batches) {
            if let Some(column_batch) = slot {
                column_batch.rows_left -= rows;
                if column_batch.rows_left == 0 {
                    let (used_up, row_group) = (column_batch.is_used_up(), column_batch.row_group);
                    *slot = None;
                    if !used_up {
                        let error = disagreement().in_column(column.path());
                        return Err(error.in_row_group(row_group));
                    }
                }
            }
        }
        plan.record_batch(arrays, rows, invalid)
    }

    /// Returns the row group of the current batch, or `None` if the batch has no columns.
    fn row_group(&self) -> Option<usize> {
        let mut column_batches = self.column_batches.iter().flatten();
        column_batches
            .next()
            .map(|column_batch| column_batch.row_group)
    }

    fn root(&mut self, node: &ArrayNode, rows: usize) -> Result<ArrayRef> {
        self.array(node, rows)
            .map_err(|error| self.locate(error, node))
    }

    /// Adds a root field's row group and first column to an error.
    fn locate(&self, error: Error, root: &ArrayNode) -> Error {
        let column = root.first_column();
        let plan = column.and_then(|column| self.plan.columns().get(column));
        let column_batch = column.and_then(|column| self.column_batches.get(column));
        let error = match plan {
            Some(plan) => error.in_column(plan.path()),
            None => error,
        };
        match column_batch {
            Some(Some(column_batch)) => error.in_row_group(column_batch.row_group),
            _ => error,
        }
    }

    /// Compares a list's levels in all of its columns before taking `rows` more rows. We can only compare levels that
    /// are available in all columns.
    fn compare(&mut self, list: &SharedList, rows: usize) -> Result<()> {
        let mut members = Vec::with_capacity(list.len());
        for member in list {
            let column_batch = self
                .column_batches
                .get(member.column)
                .and_then(Option::as_ref);
            let levels = column_batch.and_then(|column_batch| {
                let levels = column_batch.shared_lists.get(member.ordinal)?;
                Some((member.column, column_batch, levels))
            });
            members.push(levels.ok_or_else(disagreement)?);
        }
        let Some((&first, others)) = members.split_first() else {
            return Ok(());
        };
        let shortest = members.iter().min_by_key(|(_, _, levels)| levels.left());
        let shortest = *shortest.unwrap_or(&first);
        let known = shortest.2.left();
        let error = |one: usize, other: usize, row_group| {
            let path = |column: usize| self.plan.columns().get(column).map(|plan| plan.path());
            let error = disagreement_with(&path(one.min(other)).unwrap_or_default());
            let error = error.in_column(path(one.max(other)).unwrap_or_default());
            Err(error.in_row_group(row_group))
        };
        for (column, column_batch, levels) in others {
            if !levels.agrees(first.2, known) {
                return error(*column, first.0, column_batch.row_group);
            }
        }
        // A column batch ending after these rows has all of their levels, so no other column can have more levels for
        // them.
        for (column, column_batch, levels) in &members {
            if column_batch.rows_left == rows && levels.left() > known {
                return error(*column, shortest.0, column_batch.row_group);
            }
        }
        for member in list {
            let column_batch = self
                .column_batches
                .get_mut(member.column)
                .and_then(Option::as_mut);
            let levels = column_batch
                .and_then(|column_batch| column_batch.shared_lists.get_mut(member.ordinal));
            levels.ok_or_else(disagreement)?.advance(known);
        }
        Ok(())
    }

    fn array(&mut self, node: &ArrayNode, slots: usize) -> Result<ArrayRef> {
        match node {
            ArrayNode::Leaf { column } => self.take_leaf(*column, slots),
            ArrayNode::Constant(constant) => {
                self.made.add(constant.bytes(slots) as u64)?;
                constant.array(slots)
            }
            ArrayNode::Converted { conversion, inner } => {
                let array = self.array(inner, slots)?;
                self.made.add(conversion.bytes(&array) as u64)?;
                conversion.apply(&array)
            }
            ArrayNode::Wrapped { wrappers, inner } => {
                put_around(self.array(inner, slots)?, wrappers)
            }
            ArrayNode::Storage { slot, inner } => {
                let array = self.array(inner, slots)?;
                self.storages
                    .resize(self.storages.len().max(slot + 1), None);
                if let Some(place) = self.storages.get_mut(*slot) {
                    *place = Some(array.clone());
                }
                Ok(array)
            }
            ArrayNode::Struct {
                fields,
                validity,
                nullable_key,
                children,
            } => {
                let mut nulls = None;
                for record in validity {
                    let recorded = self.take_validity(*record, slots)?;
                    nulls = NullBuffer::union(nulls.as_ref(), recorded.as_ref());
                }
                let arrays = children
                    .iter()
                    .map(|child| self.array(child, slots))
                    .collect::<Result<Vec<_>>>()?;
                if let (Some(column), Some(keys)) = (*nullable_key, arrays.first()) {
                    self.check_keys(column, keys)?;
                }
                let array = StructArray::try_new_with_length(fields.clone(), arrays, nulls, slots);
                Ok(Arc::new(array.map_err(invalid)?))
            }
            ArrayNode::List {
                data_type,
                record,
                child,
            } => {
                let nulls = self.take_validity(*record, slots)?;
                let max_bytes = self.plan.limits().batch_column_bytes;
                match self.take_offsets(*record, slots)? {
                    Offsets::I32(offsets) => {
                        let values = self.array(child, elements(&offsets))?;
                        let padding = Padding {
                            max_bytes,
                            made: &mut self.made,
                        };
                        list_array(data_type, offsets, values, nulls, padding)
                    }
                    Offsets::I64(offsets) => {
                        let values = self.array(child, elements(&offsets))?;
                        large_list_array(data_type, offsets, values, nulls)
                    }
                }
            }
        }
    }

    /// Rejects null keys of a map. `column` is the map's first column.
    fn check_keys(&self, column: usize, keys: &ArrayRef) -> Result<()> {
        if keys.logical_null_count() == 0 {
            return Ok(());
        }
        let error =
            Error::corrupt("a key of a map is null, which neither Arrow nor the format allows")
                .with_remedy(Remedy::IgnoreAnnotations);
        let path = self.plan.columns().get(column).map(|plan| plan.path());
        let error = error.in_column(path.unwrap_or_default());
        Err(
            match self.column_batches.get(column).and_then(Option::as_ref) {
                Some(column_batch) => error.in_row_group(column_batch.row_group),
                None => error,
            },
        )
    }

    fn take_leaf(&mut self, column: usize, slots: usize) -> Result<ArrayRef> {
        let column_batch = self
            .column_batches
            .get_mut(column)
            .and_then(Option::as_mut)
            .ok_or_else(disagreement)?;
        let from = column_batch.leaf_taken;
        if from == 0 && slots == column_batch.leaf.len() {
            column_batch.leaf_taken = slots;
            return Ok(column_batch.leaf.clone());
        }
        if slots > column_batch.leaf.len() - from {
            return Err(disagreement());
        }
        column_batch.leaf_taken += slots;
        Ok(column_batch.leaf.slice(from, slots))
    }

    fn nestings(&mut self, record: Record, slots: usize) -> Result<&mut NestingInUse> {
        let column_batch = self
            .column_batches
            .get_mut(record.column)
            .and_then(Option::as_mut);
        let nestings = column_batch
            .and_then(|column_batch| column_batch.nestings.get_mut(record.nesting_builder));
        nestings
            .filter(|nestings| slots <= nestings.nestings.slots - nestings.taken)
            .ok_or_else(disagreement)
    }

    /// Returns the validity of the next slots. List slots aren't marked as taken here, because their offsets are taken
    /// next.
    fn take_validity(&mut self, record: Record, slots: usize) -> Result<Option<NullBuffer>> {
        let in_use = self.nestings(record, slots)?;
        let from = in_use.taken;
        let whole = from == 0 && slots == in_use.nestings.slots;
        if in_use.nestings.offsets.is_none() {
            in_use.taken += slots;
        }
        let nulls = match &in_use.nestings.validity {
            Some(nulls) if !whole => Some(nulls.slice(from, slots)),
            nulls => nulls.clone(),
        };
        Ok(nulls.filter(|nulls| nulls.null_count() > 0))
    }

    /// Returns the offsets of the next slots, rebased to 0.
    fn take_offsets(&mut self, record: Record, slots: usize) -> Result<Offsets> {
        let in_use = self.nestings(record, slots)?;
        let from = in_use.taken;
        in_use.taken += slots;
        let offsets = in_use.nestings.offsets.as_mut().ok_or_else(disagreement)?;
        Ok(match offsets {
            Offsets::I32(offsets) => Offsets::I32(slice_offsets(offsets, from, slots)),
            Offsets::I64(offsets) => Offsets::I64(slice_offsets(offsets, from, slots)),
        })
    }
}

impl ColumnBatchInUse {
    fn is_used_up(&self) -> bool {
        self.leaf_taken == self.leaf.len()
            && self
                .nestings
                .iter()
                .all(|in_use| in_use.taken == in_use.nestings.slots)
    }
}

/// Converts an Arrow error about levels or values, for example a null in a required field.
fn invalid(error: ArrowError) -> Error {
    Error::corrupt(format!("the values break their Arrow type: {error}"))
}

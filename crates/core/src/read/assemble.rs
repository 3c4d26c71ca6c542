//! Puts pieces of leaves together to record batches.
//!
//! Every column delivers pieces at its own pace; a batch has as many rows as the shortest piece at
//! hand. What is left of longer pieces goes into the next batch: nothing is copied, arrays are
//! sliced. Counts go from the root to the leaves: so many rows of a list have so many elements,
//! which its child must have in turn.

use std::sync::Arc;

use herringbone_arrow::array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray,
    OffsetSizeTrait, RecordBatch, RecordBatchOptions, StructArray, make_array,
};
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use herringbone_arrow::data::transform::MutableArrayData;
use herringbone_arrow::schema::{ArrowError, DataType, FieldRef};
use herringbone_format::{Error, Remedy, Result};

use super::ReadPlan;
use super::agreement::{LevelsInUse, SharedList, disagreement, disagreement_with};
use super::layers::{padded_runs, put_around};
use super::shape::{Record, Shape};
use crate::budget::{Budget, InTurn, PieceMemory, Reservation};
use crate::column::Piece;
use crate::column::recorder::{Offsets, Recorded};
use crate::loss::Losses;

/// Puts the pieces of a row group's columns together.
#[derive(Debug)]
pub struct BatchAssembler {
    plan: Arc<ReadPlan>,
    pieces: Vec<Option<PieceInUse>>,
    /// Damaged pages of the pieces, each with its column.
    losses: Vec<(usize, Losses)>,
    in_turn: InTurn,
    /// What is made for the batch at hand besides its pieces.
    padding: Padding,
}

/// Memory for slots that the file does not have.
#[derive(Debug)]
struct Padding {
    memory: Reservation,
    /// What the plain loop holds at this point.
    held: u64,
}

/// A piece, and what was taken from it.
#[derive(Debug)]
struct PieceInUse {
    row_group: usize,
    rows_left: usize,
    leaf: ArrayRef,
    leaf_taken: usize,
    recorded: Vec<RecordedInUse>,
    shared_lists: Vec<LevelsInUse>,
    memory: PieceMemory,
}

#[derive(Debug)]
struct RecordedInUse {
    recorded: Recorded,
    taken: usize,
}

impl BatchAssembler {
    /// An assembler without pieces, in a read with this budget.
    #[must_use]
    pub fn new(plan: Arc<ReadPlan>, budget: &Arc<Budget>) -> Self {
        let pieces = plan.columns().iter().map(|_| None).collect();
        Self {
            in_turn: InTurn::new(plan.num_columns(), budget),
            padding: Padding {
                memory: Reservation::new(budget.clone()),
                held: 0,
            },
            plan,
            pieces,
            losses: Vec::new(),
        }
    }

    /// Whether a piece of `column` must be added before the next batch.
    #[must_use]
    pub fn needs(&self, column: usize) -> bool {
        self.pieces.get(column).is_some_and(Option::is_none)
    }

    /// Adds the next piece of `column`.
    pub fn add(&mut self, column: usize, piece: Piece) {
        if !piece.losses.is_empty() {
            self.losses.push((column, piece.losses));
        }
        if let Some(slot) = self.pieces.get_mut(column) {
            let in_use = |recorded| RecordedInUse { recorded, taken: 0 };
            *slot = Some(PieceInUse {
                row_group: piece.row_group,
                rows_left: piece.rows,
                leaf: piece.leaf,
                leaf_taken: 0,
                recorded: piece.recorded.into_iter().map(in_use).collect(),
                shared_lists: piece
                    .shared_lists
                    .into_iter()
                    .map(LevelsInUse::new)
                    .collect(),
                memory: piece.memory,
            });
        }
    }

    /// The damaged pages that the pieces so far did without, since the last call; by column.
    #[must_use]
    pub fn take_losses(&mut self) -> Losses {
        let mut losses = std::mem::take(&mut self.losses);
        // Threads deliver pieces in any order.
        losses.sort_by_key(|(column, _)| *column);
        let mut all = Losses::default();
        losses
            .into_iter()
            .for_each(|(_, losses)| all.append(losses));
        all
    }

    /// Drops all pieces, to start with another row group.
    pub fn clear(&mut self) {
        self.pieces.fill_with(|| None);
        self.losses.clear();
        self.in_turn.clear();
        self.padding.memory.release();
    }

    /// Says that columns are decoded in [parts](super::OpenRowGroup::part). These may take much less
    /// memory than the whole would have at some point, so the budget counts as used up early.
    pub fn expect_parts(&mut self) {
        self.in_turn.retrace_parts(self.padding.memory.limit());
    }

    /// Whether the plain loop, which works on one column at a time, comes to this error too: that
    /// of `column`, which took `peak_bytes`, with pieces of all columns before it.
    ///
    /// # Errors
    /// The Limit that the plain loop meets before.
    pub fn check_error(&self, column: usize, peak_bytes: u64) -> Result<()> {
        let failed = Some((column, peak_bytes));
        self.in_turn.held(memories(&self.pieces), failed).map(drop)
    }

    /// The next batch: as many rows as every column has.
    ///
    /// # Errors
    /// Corrupt where columns with a common ancestor disagree about it. Limit where the plain loop
    /// would not have had the memory for the pieces. Argument where a column has no piece.
    pub fn assemble(&mut self) -> Result<RecordBatch> {
        self.padding.held = self.in_turn.held(memories(&self.pieces), None)?;
        let pieces = self.pieces.iter_mut();
        self.in_turn
            .next_batch(pieces.map(|piece| Some(&mut piece.as_mut()?.memory)));
        let batch = self.batch();
        self.padding.memory.release();
        batch
    }

    fn batch(&mut self) -> Result<RecordBatch> {
        let plan = self.plan.clone();
        let mut rows = usize::MAX;
        for piece in &self.pieces {
            let piece = piece
                .as_ref()
                .ok_or_else(|| Error::argument("a column has no piece"))?;
            rows = rows.min(piece.rows_left);
        }
        for list in plan.shared_lists() {
            self.compare(list, rows)?;
        }
        let arrays = plan
            .shapes()
            .iter()
            .map(|shape| {
                self.array(shape, rows)
                    .map_err(|error| self.locate(error, shape))
            })
            .collect::<Result<Vec<_>>>()?;
        for (column, slot) in plan.columns().iter().zip(&mut self.pieces) {
            if let Some(piece) = slot {
                piece.rows_left -= rows;
                if piece.rows_left == 0 {
                    let (used_up, row_group) = (piece.is_used_up(), piece.row_group);
                    *slot = None;
                    if !used_up {
                        let error = disagreement().in_column(column.path());
                        return Err(error.in_row_group(row_group));
                    }
                }
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(plan.schema().clone(), arrays, &options).map_err(invalid)
    }

    /// Adds the row group and the first column of a root field.
    fn locate(&self, error: Error, root: &Shape) -> Error {
        let column = root.first_column();
        let plan = column.and_then(|column| self.plan.columns().get(column));
        let piece = column.and_then(|column| self.pieces.get(column));
        let error = match plan {
            Some(plan) => error.in_column(plan.path()),
            None => error,
        };
        match piece {
            Some(Some(piece)) => error.in_row_group(piece.row_group),
            _ => error,
        }
    }

    /// Compares what columns say of a list, as far as it is known, before `rows` more rows are taken.
    fn compare(&mut self, list: &SharedList, rows: usize) -> Result<()> {
        let mut members = Vec::with_capacity(list.len());
        for member in list {
            let piece = self.pieces.get(member.column).and_then(Option::as_ref);
            let levels = piece.and_then(|piece| {
                let levels = piece.shared_lists.get(member.ordinal)?;
                Some((member.column, piece, levels))
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
        for (column, piece, levels) in others {
            if !levels.agrees(first.2, known) {
                return error(*column, first.0, piece.row_group);
            }
        }
        // A piece that ends here has no more levels than others: its rows are theirs.
        for (column, piece, levels) in &members {
            if piece.rows_left == rows && levels.left() > known {
                return error(*column, shortest.0, piece.row_group);
            }
        }
        for member in list {
            let piece = self.pieces.get_mut(member.column).and_then(Option::as_mut);
            let levels = piece.and_then(|piece| piece.shared_lists.get_mut(member.ordinal));
            levels.ok_or_else(disagreement)?.advance(known);
        }
        Ok(())
    }

    fn array(&mut self, shape: &Shape, slots: usize) -> Result<ArrayRef> {
        match shape {
            Shape::Leaf { column } => self.take_leaf(*column, slots),
            Shape::Layered { layers, inner } => put_around(self.array(inner, slots)?, layers),
            Shape::Struct {
                fields,
                validity,
                nullable_key,
                children,
            } => {
                let nulls = match validity {
                    Some(record) => self.take_validity(*record, slots)?,
                    None => None,
                };
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
            Shape::List {
                data_type,
                record,
                child,
            } => {
                let nulls = self.take_validity(*record, slots)?;
                let max_bytes = self.plan.options().limits.batch_column_bytes;
                match self.take_offsets(*record, slots)? {
                    Offsets::I32(offsets) => {
                        let values = self.array(child, elements(&offsets))?;
                        let padding = FixedSize {
                            max_bytes,
                            in_turn: &self.in_turn,
                            padding: &mut self.padding,
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

    /// Refuses null keys of a map, the first column of which this is.
    fn check_keys(&self, column: usize, keys: &ArrayRef) -> Result<()> {
        if keys.logical_null_count() == 0 {
            return Ok(());
        }
        let error =
            Error::corrupt("a key of a map is null, which neither Arrow nor the format allows")
                .with_remedy(Remedy::IgnoreAnnotations);
        let path = self.plan.columns().get(column).map(|plan| plan.path());
        let error = error.in_column(path.unwrap_or_default());
        Err(match self.pieces.get(column).and_then(Option::as_ref) {
            Some(piece) => error.in_row_group(piece.row_group),
            None => error,
        })
    }

    fn take_leaf(&mut self, column: usize, slots: usize) -> Result<ArrayRef> {
        let piece = self
            .pieces
            .get_mut(column)
            .and_then(Option::as_mut)
            .ok_or_else(disagreement)?;
        let from = piece.leaf_taken;
        if from == 0 && slots == piece.leaf.len() {
            piece.leaf_taken = slots;
            return Ok(piece.leaf.clone());
        }
        if slots > piece.leaf.len() - from {
            return Err(disagreement());
        }
        piece.leaf_taken += slots;
        Ok(piece.leaf.slice(from, slots))
    }

    fn recorded(&mut self, record: Record, slots: usize) -> Result<&mut RecordedInUse> {
        let piece = self.pieces.get_mut(record.column).and_then(Option::as_mut);
        let recorded = piece.and_then(|piece| piece.recorded.get_mut(record.recorder));
        recorded
            .filter(|recorded| slots <= recorded.recorded.slots - recorded.taken)
            .ok_or_else(disagreement)
    }

    /// The validity of the next slots, which stay to be taken if they are lists.
    fn take_validity(&mut self, record: Record, slots: usize) -> Result<Option<NullBuffer>> {
        let in_use = self.recorded(record, slots)?;
        let from = in_use.taken;
        let whole = from == 0 && slots == in_use.recorded.slots;
        if in_use.recorded.offsets.is_none() {
            in_use.taken += slots;
        }
        let nulls = match &in_use.recorded.validity {
            Some(nulls) if !whole => Some(nulls.slice(from, slots)),
            nulls => nulls.clone(),
        };
        Ok(nulls.filter(|nulls| nulls.null_count() > 0))
    }

    /// The offsets of the next slots, from 0 on.
    fn take_offsets(&mut self, record: Record, slots: usize) -> Result<Offsets> {
        let in_use = self.recorded(record, slots)?;
        let from = in_use.taken;
        in_use.taken += slots;
        let offsets = in_use.recorded.offsets.as_mut().ok_or_else(disagreement)?;
        Ok(match offsets {
            Offsets::I32(offsets) => Offsets::I32(cut(offsets, from, slots)),
            Offsets::I64(offsets) => Offsets::I64(cut(offsets, from, slots)),
        })
    }
}

impl PieceInUse {
    fn is_used_up(&self) -> bool {
        self.leaf_taken == self.leaf.len()
            && self
                .recorded
                .iter()
                .all(|in_use| in_use.taken == in_use.recorded.slots)
    }
}

/// `slots + 1` offsets from the slot `from` on, counted from its start; all of them without a copy.
fn cut<O: OffsetSizeTrait>(offsets: &mut Vec<O>, from: usize, slots: usize) -> Vec<O> {
    if slots == 0 {
        // More than one batch may take none, the first of them all there are.
        return vec![O::usize_as(0)];
    }
    if from == 0 && offsets.len() == slots + 1 {
        return std::mem::take(offsets);
    }
    let cut = offsets.get(from..=from + slots).unwrap_or_default();
    let first = cut.first().copied().unwrap_or_default();
    cut.iter().map(|&offset| offset - first).collect()
}

/// Elements of the lists with these offsets, which start at 0.
fn elements<O: OffsetSizeTrait>(offsets: &[O]) -> usize {
    offsets.last().map_or(0, |last| last.as_usize())
}

/// What bounds lists that become longer than the file has them.
struct FixedSize<'a> {
    max_bytes: usize,
    in_turn: &'a InTurn,
    padding: &'a mut Padding,
}

impl FixedSize<'_> {
    fn reserve(self, bytes: usize) -> Result<()> {
        if bytes > self.max_bytes {
            let (asked, allowed) = (bytes as u64, self.max_bytes as u64);
            return Err(Error::limit("batch_column_bytes", asked, allowed));
        }
        let Padding { memory, held } = self.padding;
        let all = memory.bytes() + bytes as u64;
        self.in_turn.allowed(*held + all)?;
        memory.resize(all)
    }
}

/// The memory of each piece.
fn memories(pieces: &[Option<PieceInUse>]) -> impl Iterator<Item = Option<&PieceMemory>> + Clone {
    pieces.iter().map(|piece| Some(&piece.as_ref()?.memory))
}

fn list_array(
    data_type: &DataType,
    offsets: Vec<i32>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
    bounds: FixedSize<'_>,
) -> Result<ArrayRef> {
    match data_type {
        DataType::List(element) => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            let array = GenericListArray::<i32>::try_new(element.clone(), offsets, values, nulls);
            Ok(Arc::new(array.map_err(invalid)?))
        }
        DataType::ListView(element) => list_view_array(element, &offsets, values, nulls),
        DataType::Map(entries, ordered) => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            let values = values.as_any().downcast_ref::<StructArray>().cloned();
            let values = values.ok_or_else(|| Error::argument("map entries are not a struct"))?;
            let array = MapArray::try_new(entries.clone(), offsets, values, nulls, *ordered);
            Ok(Arc::new(array.map_err(invalid)?))
        }
        DataType::FixedSizeList(element, size) => {
            fixed_size_list_array(element, *size, &offsets, values, nulls, bounds)
        }
        other => Err(Error::argument(format!("{other} is not a list"))),
    }
}

fn large_list_array(
    data_type: &DataType,
    offsets: Vec<i64>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    match data_type {
        DataType::LargeList(element) => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            let array = GenericListArray::<i64>::try_new(element.clone(), offsets, values, nulls);
            Ok(Arc::new(array.map_err(invalid)?))
        }
        DataType::LargeListView(element) => list_view_array(element, &offsets, values, nulls),
        other => Err(Error::argument(format!("{other} is not a large list"))),
    }
}

fn list_view_array<O: OffsetSizeTrait>(
    element: &FieldRef,
    offsets: &[O],
    values: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let sizes: Vec<O> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let starts = ScalarBuffer::from(offsets[..sizes.len()].to_vec());
    let sizes = ScalarBuffer::from(sizes);
    let array = GenericListViewArray::<O>::try_new(element.clone(), starts, sizes, values, nulls);
    Ok(Arc::new(array.map_err(invalid)?))
}

/// A list that the file stores with offsets, and a null list without elements, becomes one whose
/// lists all have `size` of them.
fn fixed_size_list_array(
    element: &FieldRef,
    size: i32,
    offsets: &[i32],
    values: ArrayRef,
    nulls: Option<NullBuffer>,
    bounds: FixedSize<'_>,
) -> Result<ArrayRef> {
    let width = usize::try_from(size).map_err(|_| Error::argument("negative list size"))?;
    let slots = offsets.len().saturating_sub(1);
    let is_valid = |slot: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(slot));
    for (slot, pair) in offsets.windows(2).enumerate() {
        let length = i64::from(pair[1]) - i64::from(pair[0]);
        if is_valid(slot) && length != i64::from(size) {
            return Err(Error::corrupt(format!(
                "a list has {length} elements where the Arrow schema in the file promises {size}"
            ))
            .with_remedy(Remedy::IgnoreArrowSchema));
        }
    }
    let padded_len = slots.saturating_mul(width);
    let values = if values.len() == padded_len {
        values
    } else if let Some(padded) = padded_runs(&values, offsets, width)? {
        padded
    } else {
        // The size comes from the file, and every null list takes that much room.
        let element_bytes = (values.get_array_memory_size() / values.len().max(1))
            .max(null_bytes(values.data_type()));
        let padded_bytes = padded_len.saturating_mul(element_bytes);
        bounds.reserve(padded_bytes)?;
        let data = values.to_data();
        let mut padded = MutableArrayData::new(vec![&data], true, padded_len);
        for (slot, pair) in offsets.windows(2).enumerate() {
            if is_valid(slot) {
                padded
                    .try_extend(0, pair[0] as usize, pair[1] as usize)
                    .map_err(invalid)?;
            } else {
                padded.try_extend_nulls(width).map_err(invalid)?;
            }
        }
        make_array(padded.freeze())
    };
    let array =
        FixedSizeListArray::try_new_with_length(element.clone(), size, values, nulls, slots);
    Ok(Arc::new(array.map_err(invalid)?))
}

/// Bytes that a null takes at least, one bit rounded up.
fn null_bytes(data_type: &DataType) -> usize {
    match data_type {
        DataType::FixedSizeBinary(width) => usize::try_from(*width).unwrap_or(0).max(1),
        DataType::FixedSizeList(element, size) => {
            let elements = usize::try_from(*size).unwrap_or(0);
            null_bytes(element.data_type())
                .saturating_mul(elements)
                .max(1)
        }
        DataType::Struct(fields) => fields.iter().fold(1, |bytes: usize, field| {
            bytes.saturating_add(null_bytes(field.data_type()))
        }),
        other => other.primitive_width().unwrap_or(1),
    }
}

/// Arrow refuses what the levels or values make up, such as a null where the schema allows none.
fn invalid(error: ArrowError) -> Error {
    Error::corrupt(format!("the values break their Arrow type: {error}"))
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn no_lists_may_be_cut_off_again_and_again() {
        let mut offsets = vec![0_i32];
        assert_eq!(cut(&mut offsets, 0, 0), [0]);
        assert_eq!(cut(&mut offsets, 0, 0), [0]);
        let mut offsets = vec![0_i64, 2, 5];
        assert_eq!(cut(&mut offsets, 0, 0), [0]);
        assert_eq!(cut(&mut offsets, 1, 1), [0, 3]);
        assert_eq!(cut(&mut offsets, 0, 2), [0, 2, 5]);
    }
}

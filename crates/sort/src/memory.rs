//! Rows in memory, and their order.

use std::collections::VecDeque;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array as _, ArrayRef, OffsetSizeTrait, RecordBatch};
use herringbone_arrow::schema::DataType;
use herringbone_format::Result;
use herringbone_write::{RowKeys, SortKeys};

use super::batch_rows;
use super::gather::{Place, gather_batches};

/// Bytes of a key that are in its row's entry.
const PREFIX_BYTES: usize = 12;

/// Rows that are compared one by one rather than by the next bytes of all of them.
const FEW: usize = 32;

/// Batches, and what their rows are sorted by.
pub(super) struct MemoryRows {
    batches: Vec<RecordBatch>,
    /// Where each batch begins.
    starts: Vec<usize>,
    /// A row: [`PREFIX_BYTES`] of its key, then its ordinal as 32 bits.
    entries: Vec<u128>,
    keys: RowKeys,
    /// Whether the keys are in the entries, whole.
    is_short: bool,
    /// Bytes of the batches.
    batch_bytes: usize,
}

impl MemoryRows {
    /// No rows, which are to be sorted by these keys.
    pub(super) fn new(keys: &SortKeys) -> Self {
        Self::of(keys.width().is_some_and(|width| width <= PREFIX_BYTES))
    }

    fn of(is_short: bool) -> Self {
        Self {
            batches: Vec::new(),
            starts: Vec::new(),
            entries: Vec::new(),
            keys: RowKeys::default(),
            is_short,
            batch_bytes: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether ordinals of rows would need more bits after some thousands more.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() > u32::MAX as usize / 2
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        // Capacities double: what is filled counts.
        self.batch_bytes + self.keys.heap_bytes() + size_of::<u128>() * self.entries.len()
    }

    /// Takes what is there, and leaves nothing.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::of(self.is_short))
    }

    /// Appends the rows of a `batch`, which is held as it is `stored`.
    ///
    /// # Errors
    /// Argument where the batch cannot be compared.
    pub(super) fn push(
        &mut self,
        keys: &mut SortKeys,
        batch: &RecordBatch,
        stored: RecordBatch,
    ) -> Result<()> {
        let first = self.entries.len();
        let before = if self.is_short { 0 } else { first };
        keys.append(batch, &mut self.keys)?;
        let entry = |row: usize| prefix(self.keys.row(before + row), 0) | (first + row) as u128;
        self.entries.extend((0..batch.num_rows()).map(entry));
        if self.is_short {
            self.keys.clear();
        }
        self.starts.push(first);
        self.batch_bytes += bytes_of(&stored);
        self.batches.push(stored);
        Ok(())
    }

    /// The rows in order.
    pub(super) fn sorted(mut self) -> SortedRows {
        self.entries.sort_unstable();
        if !self.is_short {
            sort_equal_prefixes(&mut self.entries, &self.keys);
        }
        SortedRows {
            num_rows: self.entries.len(),
            entries: self.entries.into_iter(),
            starts: self.starts,
            bytes: self.batch_bytes,
            batches: self.batches,
            ready: VecDeque::new(),
        }
    }
}

/// Twelve bytes of a key from `from` on, in front of 32 bits.
fn prefix(key: &[u8], from: usize) -> u128 {
    let mut bytes = [0; 16];
    let rest = key.get(from..).unwrap_or_default();
    let length = rest.len().min(PREFIX_BYTES);
    if let (Some(to), Some(from)) = (bytes.get_mut(..length), rest.get(..length)) {
        to.copy_from_slice(from);
    }
    u128::from_be_bytes(bytes)
}

fn row_of(entry: u128) -> usize {
    (entry as u32) as usize
}

/// Sorts the entries whose prefixes are equal by the rest of their keys: many of them by the next bytes,
/// which then are their prefixes.
fn sort_equal_prefixes(entries: &mut [u128], keys: &RowKeys) {
    let mut waiting = vec![(0..entries.len(), PREFIX_BYTES)];
    while let Some((range, depth)) = waiting.pop() {
        let Some(part) = entries.get_mut(range.clone()) else {
            continue;
        };
        let mut start = range.start;
        for group in part.chunk_by_mut(|a, b| a >> 32 == b >> 32) {
            let end = start + group.len();
            let longest = group
                .first()
                .map_or(0, |entry| keys.row(row_of(*entry)).len());
            // No key is the beginning of another one: what ended is equal, and in order.
            if group.len() > 1 && longest > depth {
                if group.len() <= FEW {
                    let rest = |entry: &u128| keys.row(row_of(*entry)).get(depth..);
                    group.sort_unstable_by(|a, b| {
                        rest(a).cmp(&rest(b)).then((*a as u32).cmp(&(*b as u32)))
                    });
                } else {
                    for entry in group.iter_mut() {
                        let row = row_of(*entry);
                        *entry = prefix(keys.row(row), depth) | row as u128;
                    }
                    group.sort_unstable();
                    waiting.push((start..end, depth + PREFIX_BYTES));
                }
            }
            start = end;
        }
    }
}

/// Rows in order.
pub(super) struct SortedRows {
    /// Their ordinals are the last 32 bits.
    entries: std::vec::IntoIter<u128>,
    starts: Vec<usize>,
    batches: Vec<RecordBatch>,
    bytes: usize,
    num_rows: usize,
    /// Batches to give back.
    ready: VecDeque<RecordBatch>,
}

impl SortedRows {
    /// The next rows, as many as have so many bytes, roughly; none behind the last one.
    ///
    /// # Errors
    /// Limit where the values of one row are too long for an array.
    pub(super) fn next(&mut self, batch_bytes: usize) -> Result<Option<RecordBatch>> {
        if self.ready.is_empty() {
            let rows = batch_rows(batch_bytes, self.bytes, self.num_rows);
            let place = |entry: u128| {
                let row = row_of(entry);
                let source = self.starts.partition_point(|start| *start <= row) - 1;
                let start = self.starts.get(source).copied().unwrap_or(0);
                Place::new(source, row - start)
            };
            let places: Vec<Place> = self.entries.by_ref().take(rows).map(place).collect();
            if places.is_empty() {
                return Ok(None);
            }
            gather_batches(&self.batches, &places, &mut self.ready)?;
        }
        Ok(self.ready.pop_front())
    }
}

/// Bytes of the rows of a batch, those that other slices of the same arrays hold left out as far as
/// that is known.
pub(super) fn bytes_of(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(bytes_of_array).sum()
}

fn bytes_of_array(array: &ArrayRef) -> usize {
    /// The lengths in views, which are their first four bytes; short values are in the view itself.
    fn of_views(views: &[u128]) -> usize {
        let length = |view: &u128| (*view as u32) as usize;
        let long = views.iter().map(length).filter(|length| *length > 12);
        size_of_val(views) + long.sum::<usize>()
    }
    /// Of all elements that the lists have, which the slice of an array does not cut.
    fn of_lists<O: OffsetSizeTrait>(offsets: &[O], elements: &ArrayRef) -> usize {
        let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else {
            return 0;
        };
        let elements = elements.slice(first.as_usize(), (*last - *first).as_usize());
        size_of_val(offsets) + bytes_of_array(&elements)
    }
    match array.data_type() {
        DataType::Utf8View => of_views(array.as_string_view().views()),
        DataType::BinaryView => of_views(array.as_binary_view().views()),
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            of_lists(lists.value_offsets(), lists.values())
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            of_lists(lists.value_offsets(), lists.values())
        }
        DataType::Struct(_) => array.as_struct().columns().iter().map(bytes_of_array).sum(),
        _ => {
            let whole = array.get_array_memory_size();
            let slice = array.to_data().get_slice_memory_size();
            slice.map_or(whole, |slice| slice.min(whole))
        }
    }
}

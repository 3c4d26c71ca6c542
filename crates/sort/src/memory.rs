//! Sorts rows in memory.

use std::collections::VecDeque;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array as _, ArrayRef, OffsetSizeTrait, RecordBatch};
use herringbone_arrow::schema::DataType;
use herringbone_format::Result;
use herringbone_write::{RowKeys, SortKeys};

use super::batch_rows;
use super::gather::{Place, gather_batches};

/// The number of key bytes stored in a row's entry.
const PREFIX_BYTES: usize = 12;

/// The number of rows up to which rows are compared one by one, rather than by the next bytes of all of them.
const MAX_COMPARED_ROWS: usize = 32;

/// Batches, and the sort keys of their rows.
pub(super) struct MemoryRows {
    batches: Vec<RecordBatch>,
    /// The ordinal of the first row of each batch.
    starts: Vec<usize>,
    /// One entry per row: [`PREFIX_BYTES`] of its key, then its ordinal as 32 bits.
    entries: Vec<u128>,
    keys: RowKeys,
    /// True if the entries contain the whole keys.
    is_short: bool,
    /// The size of the batches, in bytes.
    batch_bytes: usize,
}

impl MemoryRows {
    /// Creates an empty collection of rows, to be sorted by these keys.
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

    /// Returns true if the ordinals of rows might soon need more than 32 bits.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() > u32::MAX as usize / 2
    }

    /// Returns the number of bytes in use.
    pub(super) fn bytes(&self) -> usize {
        // Capacities double, so only the used part counts.
        self.batch_bytes + self.keys.heap_bytes() + size_of::<u128>() * self.entries.len()
    }

    /// Takes all rows, and leaves the collection empty.
    pub(super) fn take(&mut self) -> Self {
        std::mem::replace(self, Self::of(self.is_short))
    }

    /// Appends the rows of a `batch`. It is kept in the form of `stored`.
    ///
    /// # Errors
    /// Argument if the batch cannot be compared.
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

    /// Sorts the rows.
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

/// Returns twelve bytes of a key from `from` on, followed by 32 zero bits.
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

/// Sorts the entries with equal prefixes by the rest of their keys. If there are many, their next bytes become the
/// new prefixes.
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
            // No key is a prefix of another one: if a key ends here, all are equal, and already in order.
            if group.len() > 1 && longest > depth {
                if group.len() <= MAX_COMPARED_ROWS {
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

/// Sorted rows.
pub(super) struct SortedRows {
    /// The entries. The last 32 bits of each are the ordinal of the row.
    entries: std::vec::IntoIter<u128>,
    starts: Vec<usize>,
    batches: Vec<RecordBatch>,
    bytes: usize,
    num_rows: usize,
    /// Batches to be returned next.
    ready: VecDeque<RecordBatch>,
}

impl SortedRows {
    /// Returns the next rows, of about `batch_bytes` bytes; `None` after the last row.
    ///
    /// # Errors
    /// Limit if the values of one row are too long for an array.
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

/// Returns the size of the rows of a batch, in bytes. As far as possible, excludes the parts of shared arrays that
/// belong to other slices.
pub(super) fn bytes_of(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(bytes_of_array).sum()
}

fn bytes_of_array(array: &ArrayRef) -> usize {
    /// Counts the views and the bytes of long values. A view starts with the length of its value, in four bytes.
    /// Short values are in the view itself.
    fn of_views(views: &[u128]) -> usize {
        let length = |view: &u128| (*view as u32) as usize;
        let long = views.iter().map(length).filter(|length| *length > 12);
        size_of_val(views) + long.sum::<usize>()
    }
    /// Counts only the elements of these lists, because slicing an array of lists does not slice its elements.
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

//! Sorts rows in memory.
//!
//! Each row has an entry holding the first bytes of its key and its ordinal, so that sorting mostly
//! moves and compares small numbers. We only look at the rest of a key to break ties.

use std::collections::VecDeque;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array as _, ArrayRef, OffsetSizeTrait, RecordBatch};
use herringbone_arrow::schema::DataType;
use herringbone_format::Result;
use herringbone_write::{RowKeys, SortKeys};

use super::batch_rows;
use super::gather::{RowPosition, gather_batches};

/// The number of key bytes stored in a row's entry.
const PREFIX_BYTES: usize = 12;

/// The largest group whose rows we compare one by one. Otherwise, we sort the group by the next
/// bytes of all its rows.
const MAX_COMPARED_ROWS: usize = 32;

/// The number of rows in a block. One column of a block fits into a core's cache.
const BLOCK_ROWS: usize = 1 << 16;

/// The size limit of a block in bytes. Longer rows take equally long to gather in any order, so
/// moving them wouldn't help.
const BLOCK_BYTES: usize = 32 << 20;

/// Batches and the sort keys of their rows.
///
/// We move rows into sorted order block by block, within the cache. The final gather then reads
/// each block sequentially, rather than one cache line per value.
pub(super) struct MemoryRows {
    batches: Vec<RecordBatch>,
    /// The ordinal of each batch's first row.
    starts: Vec<usize>,
    /// One entry per row: [`PREFIX_BYTES`] of its key, followed by its 32-bit ordinal.
    entries: Vec<u128>,
    keys: RowKeys,
    /// True if keys are short enough to fit whole into the entries.
    is_short: bool,
    /// The batches' size in bytes.
    batch_bytes: usize,
    /// The number of rows already in blocks. Any later rows will become the next block.
    block_rows: usize,
    most_block_bytes: usize,
}

impl MemoryRows {
    /// Creates an empty collection, for rows to be sorted by these keys in about `memory_bytes`.
    pub(super) fn new(keys: &SortKeys, memory_bytes: usize) -> Self {
        let is_short = keys.width().is_some_and(|width| width <= PREFIX_BYTES);
        Self::of(is_short, BLOCK_BYTES.min(memory_bytes / 8))
    }

    fn of(is_short: bool, most_block_bytes: usize) -> Self {
        Self {
            batches: Vec::new(),
            starts: Vec::new(),
            entries: Vec::new(),
            keys: RowKeys::default(),
            is_short,
            batch_bytes: 0,
            block_rows: 0,
            most_block_bytes,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns true if row ordinals might soon need more than 32 bits.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() > u32::MAX as usize / 2
    }

    /// Returns the number of bytes in use.
    pub(super) fn bytes(&self) -> usize {
        // We only count the used part, although capacities double. Sorting takes half as much
        // again.
        let entries = size_of::<u128>() * self.entries.len() * 3 / 2;
        self.batch_bytes + self.keys.heap_bytes() + entries
    }

    /// Returns how many rows can be appended before the current block is full.
    pub(super) fn rows_to_block_end(&self) -> usize {
        BLOCK_ROWS - (self.entries.len() - self.block_rows)
    }

    /// Takes all rows out, leaving the collection empty.
    pub(super) fn take(&mut self) -> Self {
        let empty = Self::of(self.is_short, self.most_block_bytes);
        std::mem::replace(self, empty)
    }

    /// Appends a batch's rows, at most [`Self::rows_to_block_end`] of them. `batch` supplies the
    /// keys, and `stored` holds the rows in their stored form.
    ///
    /// # Errors
    /// Fails with Argument if the batch cannot be compared, and for the same reasons as
    /// [`gather_batches`].
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
        self.add(first, stored);
        if self.rows_to_block_end() == 0 {
            self.end_block()?;
        }
        Ok(())
    }

    fn add(&mut self, start: usize, batch: RecordBatch) {
        self.batch_bytes += bytes_of(&batch);
        self.starts.push(start);
        self.batches.push(batch);
    }

    /// Turns the last rows into a block, moving them into sorted order unless they are long or
    /// already sorted.
    fn end_block(&mut self) -> Result<()> {
        let first = std::mem::replace(&mut self.block_rows, self.entries.len());
        let source = self.starts.partition_point(|start| *start < first);
        let bytes = self
            .batches
            .iter()
            .skip(source)
            .map(bytes_of)
            .sum::<usize>();
        let entries = self.entries.get_mut(first..).unwrap_or_default();
        if bytes > self.most_block_bytes {
            return Ok(());
        }
        sort_entries(entries, (!self.is_short).then_some(&self.keys));
        let rows: Vec<usize> = entries.iter().map(|entry| row_of(*entry)).collect();
        if !self.is_short {
            self.keys.rearrange(first, &rows);
        }
        for (row, entry) in (first..).zip(entries) {
            let key = match self.is_short {
                true => *entry >> 32 << 32,
                false => prefix(self.keys.row(row), 0),
            };
            *entry = key | row as u128;
        }
        if rows.is_sorted() {
            return Ok(());
        }
        let batches = self.batches.split_off(source);
        let starts = self.starts.split_off(source);
        self.batch_bytes -= bytes;
        let places: Vec<RowPosition> = rows.iter().map(|row| place(&starts, *row)).collect();
        let mut sorted = VecDeque::new();
        gather_batches(&batches, &places, &mut sorted)?;
        let mut start = first;
        for batch in sorted {
            let end = start + batch.num_rows();
            self.add(start, batch);
            start = end;
        }
        Ok(())
    }

    /// Sorts the rows.
    pub(super) fn sorted(mut self) -> SortedRows {
        sort_entries(&mut self.entries, (!self.is_short).then_some(&self.keys));
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

/// Sorts entries by prefix, then by `keys`, with ties broken by ordinal. Already sorted blocks are
/// merged.
fn sort_entries(entries: &mut [u128], keys: Option<&RowKeys>) {
    entries.sort();
    if let Some(keys) = keys {
        sort_equal_prefixes(entries, keys);
    }
}

/// Returns a row's place in the batches starting at `starts`. We try a guess first, which is
/// usually right because most blocks are a single batch.
fn place(starts: &[usize], row: usize) -> RowPosition {
    let start = |source: usize| starts.get(source).copied();
    let guess = row / BLOCK_ROWS;
    let source = match (start(guess), start(guess + 1)) {
        (Some(start), Some(end)) if start <= row && row < end => guess,
        _ => starts.partition_point(|start| *start <= row) - 1,
    };
    RowPosition::new(source, row - start(source).unwrap_or(0))
}

/// Returns twelve key bytes starting at `from`, followed by 32 zero bits.
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

/// Sorts entries with equal prefixes by the rest of their keys. For large groups, the next key
/// bytes become the new prefixes.
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
            // No key is a prefix of another. So if a key ends here, all keys in the group are
            // equal, and its rows are already in order.
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

/// Sorted rows, to be gathered batch by batch.
pub(super) struct SortedRows {
    /// The entries, each with its row's ordinal in the last 32 bits.
    entries: std::vec::IntoIter<u128>,
    starts: Vec<usize>,
    batches: Vec<RecordBatch>,
    bytes: usize,
    num_rows: usize,
    /// The batches to return next.
    ready: VecDeque<RecordBatch>,
}

impl SortedRows {
    /// Returns the next rows in a batch of about `batch_bytes` bytes, or `None` after the last row.
    ///
    /// # Errors
    /// Fails with Limit if the values of a single row are too long for an array.
    pub(super) fn next(&mut self, batch_bytes: usize) -> Result<Option<RecordBatch>> {
        if self.ready.is_empty() {
            let rows = batch_rows(batch_bytes, self.bytes, self.num_rows);
            let entries = self.entries.by_ref().take(rows);
            let places = entries.map(|entry| place(&self.starts, row_of(entry)));
            let places: Vec<RowPosition> = places.collect();
            if places.is_empty() {
                return Ok(None);
            }
            gather_batches(&self.batches, &places, &mut self.ready)?;
        }
        Ok(self.ready.pop_front())
    }
}

/// Returns the size of a batch's rows in bytes. As far as possible, we leave out any parts of
/// shared arrays that belong to other slices.
pub(super) fn bytes_of(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(bytes_of_array).sum()
}

fn bytes_of_array(array: &ArrayRef) -> usize {
    /// Counts the views plus the bytes of long values. A view starts with its value's 4-byte
    /// length, and short values are stored inline.
    fn of_views(views: &[u128]) -> usize {
        let length = |view: &u128| (*view as u32) as usize;
        let long = views.iter().map(length).filter(|length| *length > 12);
        size_of_val(views) + long.sum::<usize>()
    }
    /// Counts only these lists' elements, because slicing a list array doesn't slice its elements.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::array::types::Int32Type;
    use herringbone_arrow::array::{
        BinaryViewArray, Int32Array, LargeListArray, ListArray, StringViewArray, StructArray,
    };
    use herringbone_arrow::schema::{Field, Fields};

    use super::*;

    #[test]
    fn bytes_are_those_of_the_slice() {
        let bytes = |array: ArrayRef| bytes_of_array(&array);
        let numbers = Arc::new(Int32Array::from_iter_values(0..100)) as ArrayRef;
        assert_eq!(bytes(numbers.slice(10, 25)), 100);
        // Each view takes 16 bytes, and values of more than 12 bytes are outside it.
        let texts = [
            "",
            "twelve bytes",
            "thirteen byte",
            "more than twelve bytes",
        ];
        let views = Arc::new(StringViewArray::from_iter_values(texts)) as ArrayRef;
        assert_eq!(bytes(views.clone()), 4 * 16 + 13 + 22);
        assert_eq!(bytes(views.slice(1, 2)), 2 * 16 + 13);
        let views = Arc::new(BinaryViewArray::from_iter_values(texts)) as ArrayRef;
        assert_eq!(bytes(views.slice(2, 1)), 16 + 13);
        let lists = || [Some(vec![Some(1); 3]), None, Some(vec![Some(2); 5])];
        let short = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists()));
        // There's one more offset than lists. The elements only have a null bitmap if they were
        // sliced with one.
        assert_eq!(
            bytes(Arc::new(short.slice(0, 1))),
            2 * 4 + bytes(short.values().slice(0, 3))
        );
        assert_eq!(
            bytes(Arc::new(short.slice(1, 2))),
            3 * 4 + bytes(short.values().slice(3, 5))
        );
        let long = Arc::new(LargeListArray::from_iter_primitive::<Int32Type, _, _>(
            lists(),
        ));
        assert_eq!(
            bytes(Arc::new(long.slice(2, 1))),
            2 * 8 + bytes(long.values().slice(3, 5))
        );
        let fields = Fields::from(vec![
            Field::new("a", DataType::Int32, false),
            Field::new("b", DataType::Int32, false),
        ]);
        let structs = StructArray::new(fields, vec![numbers.clone(), numbers], None);
        assert_eq!(bytes(Arc::new(structs.slice(0, 10))), 80);
    }

    #[test]
    fn prefixes_are_ordered_as_their_bytes() {
        let keys: [&[u8]; 5] = [b"", b"\x00\x01", b"a", b"abcdefghijkl", b"b"];
        let prefixes = keys.map(|key| prefix(key, 0));
        assert!(prefixes.is_sorted());
        assert_eq!(prefix(b"abcdefghijklmnop", 0), prefixes[3]);
        assert_eq!(prefix(b"xxabcdefghijkl", 2), prefixes[3]);
        assert_eq!(prefix(b"a", 5), 0);
        // The last four bytes are left for the row's ordinal.
        assert!(prefixes.iter().all(|prefix| prefix & 0xffff_ffff == 0));
        assert_eq!(row_of(prefixes[3] | 77), 77);
    }

    #[test]
    fn batches_have_about_the_chosen_bytes() {
        assert_eq!(batch_rows(1_000, 5_000, 100), 20);
        assert_eq!(batch_rows(1_000, 0, 0), 1_000);
        assert_eq!(batch_rows(10, 5_000, 100), 1);
        assert_eq!(batch_rows(usize::MAX, 100, 100), super::super::BATCH_ROWS);
        assert_eq!(super::super::block_bytes(super::super::FAN_IN * 200), 100);
        assert_eq!(super::super::batch_bytes(800), 100);
    }
}

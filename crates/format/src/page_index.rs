//! The page index, that is, the locations, bounds and counts of a column chunk's pages.

use crate::{
    BoundaryOrder, Error, Limits, Result,
    thrift::{CompactReader, CompactWriter, Value, Wire, decode_whole, thrift_struct},
};

thrift_struct! {
    /// The locations of a column chunk's data pages. Used to jump to pages by row.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct OffsetIndex {
        /// The locations of the data pages, one per page in file order.
        1: required page_locations: Vec<PageLocation>,
        /// The byte count of each page's BYTE_ARRAY values without length prefixes.
        2: optional unencoded_byte_array_data_bytes: Vec<i64>,
    }
}

thrift_struct! {
    /// The location of a page.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct PageLocation {
        /// The file offset of the page header, not negative.
        1: count offset: i64,
        /// The size of the page header and body in bytes as stored in the file, not negative.
        2: count compressed_page_size: i32,
        /// The ordinal of the page's first row in the row group, not negative.
        3: count first_row_index: i64,
    }
}

thrift_struct! {
    /// Bounds and counts of a column chunk's data pages. Each list has one entry per page.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ColumnIndex {
        /// True for a page with only nulls, whose bounds are empty.
        1: required null_pages: Vec<bool>,
        /// Lower bounds as PLAIN values. Byte arrays have no length prefix.
        2: required min_values: ByteArrays,
        /// Upper bounds, in the same form as the lower bounds.
        3: required max_values: ByteArrays,
        /// The bounds' sort order.
        4: required boundary_order: BoundaryOrder,
        /// The null count of each page.
        5: optional null_counts: Vec<i64>,
        /// The histograms of repetition levels. They start with the counts of all levels in the first page, followed by
        /// the second page's counts, and so on.
        6: optional repetition_level_histograms: Vec<i64>,
        /// The histograms of definition levels. They start with the counts of all levels in the first page, followed by
        /// the second page's counts, and so on.
        7: optional definition_level_histograms: Vec<i64>,
        /// The NaN count of each page.
        8: optional nan_counts: Vec<i64>,
    }
}

impl OffsetIndex {
    /// Returns the heap bytes used by the index.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let bytes = self.unencoded_byte_array_data_bytes.as_ref();
        self.page_locations.capacity() * size_of::<PageLocation>()
            + bytes.map_or(0, Vec::capacity) * size_of::<i64>()
    }

    /// Decodes an offset index at the start of `bytes`.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if the index is malformed, with the byte in the message, or if
    /// its lists differ in length. Fails with [Limit](crate::ErrorKind::Limit) if it is longer than
    /// [`Limits::page_index_bytes`].
    pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Self> {
        let allowed = limits.page_index_bytes;
        let (index, _) =
            decode_whole::<Self>(bytes, limits, "page_index_bytes", allowed, "offset index")?;
        let pages = index.page_locations.len();
        check_length(
            "OffsetIndex.unencoded_byte_array_data_bytes",
            index.unencoded_byte_array_data_bytes.as_ref(),
            pages,
        )?;
        Ok(index)
    }
}

impl ColumnIndex {
    /// Returns the heap bytes used by the index.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let counts = [
            &self.null_counts,
            &self.nan_counts,
            &self.repetition_level_histograms,
            &self.definition_level_histograms,
        ];
        let counts = counts.iter().copied().flatten().map(Vec::capacity);
        self.null_pages.capacity()
            + self.min_values.heap_bytes()
            + self.max_values.heap_bytes()
            + counts.sum::<usize>() * size_of::<i64>()
    }

    /// Decodes a column index at the start of `bytes`.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if the index is malformed, with the byte in the message. This
    /// includes lists of different lengths, and a histogram whose length is not a multiple of the page count. Fails
    /// with [Limit](crate::ErrorKind::Limit) if the index is longer than [`Limits::page_index_bytes`].
    pub fn decode(bytes: &[u8], limits: &Limits) -> Result<Self> {
        let allowed = limits.page_index_bytes;
        let (index, _) =
            decode_whole::<Self>(bytes, limits, "page_index_bytes", allowed, "column index")?;
        let pages = index.null_pages.len();
        for (name, bounds) in [
            ("ColumnIndex.min_values", &index.min_values),
            ("ColumnIndex.max_values", &index.max_values),
        ] {
            if bounds.len() != pages {
                return Err(wrong_length(name, bounds.len(), pages));
            }
        }
        check_length("ColumnIndex.null_counts", index.null_counts.as_ref(), pages)?;
        check_length("ColumnIndex.nan_counts", index.nan_counts.as_ref(), pages)?;
        for (name, levels) in [
            (
                "ColumnIndex.repetition_level_histograms",
                &index.repetition_level_histograms,
            ),
            (
                "ColumnIndex.definition_level_histograms",
                &index.definition_level_histograms,
            ),
        ] {
            let length = levels.as_ref().map_or(0, Vec::len);
            if !length.is_multiple_of(pages.max(1)) || (pages == 0 && length != 0) {
                return Err(wrong_length(name, length, pages));
            }
        }
        Ok(index)
    }
}

fn check_length(name: &str, list: Option<&Vec<i64>>, pages: usize) -> Result<()> {
    match list {
        Some(list) if list.len() != pages => Err(wrong_length(name, list.len(), pages)),
        _ => Ok(()),
    }
}

#[cold]
fn wrong_length(name: &str, length: usize, pages: usize) -> Error {
    Error::corrupt(format!("{name} has {length} entries for {pages} pages"))
}

/// A list of byte arrays in a single allocation, because an index can have many thousands of short bounds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ByteArrays {
    data: Vec<u8>,
    /// The end of each array in `data`.
    ends: Vec<usize>,
}

impl ByteArrays {
    /// Creates an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of arrays.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the heap bytes used by the list.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.data.capacity() + size_of::<usize>() * self.ends.capacity()
    }

    /// Returns the array at `index`, if there is one.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.data.get(start..end)
    }

    /// Returns an iterator over all arrays in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Appends an array.
    pub fn push(&mut self, value: &[u8]) {
        self.data.extend_from_slice(value);
        self.ends.push(self.data.len());
    }
}

impl<T: AsRef<[u8]>> FromIterator<T> for ByteArrays {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut arrays = Self::new();
        for value in values {
            arrays.push(value.as_ref());
        }
        arrays
    }
}

impl Value for ByteArrays {
    const WIRE: Wire = Wire::List;

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        reader.expect(wire, Wire::List)?;
        let (wire, size) = reader.list()?;
        let mut arrays = Self::new();
        for _ in 0..size {
            reader.expect(wire, Wire::Binary)?;
            arrays.push(reader.binary()?);
        }
        Ok(arrays)
    }

    fn write(&self, writer: &mut CompactWriter) {
        writer.list(Wire::Binary, self.len());
        for value in self.iter() {
            writer.binary(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    fn column_index() -> ColumnIndex {
        ColumnIndex {
            null_pages: vec![false, true, false],
            min_values: [b"a".as_slice(), b"", b"ccc"].into_iter().collect(),
            max_values: [b"b".as_slice(), b"", b"d"].into_iter().collect(),
            boundary_order: BoundaryOrder::Ascending,
            null_counts: Some(vec![0, 10, 1]),
            repetition_level_histograms: None,
            definition_level_histograms: Some(vec![0, 9, 10, 0, 1, 4]),
            nan_counts: None,
        }
    }

    fn encoded(index: &ColumnIndex) -> Vec<u8> {
        let mut writer = CompactWriter::new();
        index.encode(&mut writer);
        writer.finish()
    }

    #[test]
    fn a_column_index_comes_back() {
        let index = column_index();
        let bytes = encoded(&index);
        let read = ColumnIndex::decode(&bytes, &Limits::default()).unwrap();
        assert_eq!(read, index);
        assert_eq!(read.min_values.get(2), Some(b"ccc".as_slice()));
        assert_eq!(read.min_values.get(3), None);
        for length in 0..bytes.len() {
            let error = ColumnIndex::decode(&bytes[..length], &Limits::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
        }
    }

    #[test]
    fn lists_must_agree() {
        let breaks: [fn(&mut ColumnIndex); 4] = [
            |index| index.min_values.push(b"x"),
            |index| index.null_pages.truncate(2),
            |index| index.null_counts = Some(vec![1]),
            |index| index.definition_level_histograms = Some(vec![1; 5]),
        ];
        for change in breaks {
            let mut index = column_index();
            change(&mut index);
            let error = ColumnIndex::decode(&encoded(&index), &Limits::default()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert!(error.message().contains("entries for"), "{error}");
        }
    }

    #[test]
    fn an_offset_index_comes_back() {
        let index = OffsetIndex {
            page_locations: vec![
                PageLocation {
                    offset: 4,
                    compressed_page_size: 100,
                    first_row_index: 0,
                },
                PageLocation {
                    offset: 104,
                    compressed_page_size: 1 << 20,
                    first_row_index: 1 << 40,
                },
            ],
            unencoded_byte_array_data_bytes: Some(vec![3, 4]),
        };
        let mut writer = CompactWriter::new();
        index.encode(&mut writer);
        let bytes = writer.finish();
        let read = OffsetIndex::decode(&bytes, &Limits::default()).unwrap();
        assert_eq!(read, index);
        let limits = Limits {
            page_index_bytes: bytes.len() - 1,
            ..Limits::default()
        };
        let error = OffsetIndex::decode(&bytes, &limits).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
    }
}

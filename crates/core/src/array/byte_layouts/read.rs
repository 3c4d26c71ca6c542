//! Reads BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY as byte arrays and strings, in all of Arrow's layouts.

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Encoding, Error, Result, Type};
use herringbone_kernels::Malformed;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::bytes::ByteBuilder;
use herringbone_kernels::hybrid::HybridDecoder;
use herringbone_kernels::views::ViewBuilder;

use crate::array::byte_array_page::{ByteArrayPage, no_dictionary};
use crate::array::{LeafArray, LeafType};
use crate::encoding::Rest;
use crate::encoding::byte_array::{ByteArrays, ByteSink};
use crate::malformed;

/// Returns the array for a leaf read as Utf8, Binary, or one of their Large and View types, or `None` for any other
/// leaf.
pub(crate) fn byte_leaf_array(leaf: &LeafType) -> Option<Box<dyn LeafArray>> {
    let width = match leaf.physical_type {
        Type::ByteArray => None,
        Type::FixedLenByteArray => Some(leaf.type_length),
        _ => return None,
    };
    Some(match leaf.data_type {
        DataType::Utf8 => Box::new(ByteLeaf::new(ByteBuilder::<i32>::new(true), width)),
        DataType::LargeUtf8 => Box::new(ByteLeaf::new(ByteBuilder::<i64>::new(true), width)),
        DataType::Binary => Box::new(ByteLeaf::new(ByteBuilder::<i32>::new(false), width)),
        DataType::LargeBinary => Box::new(ByteLeaf::new(ByteBuilder::<i64>::new(false), width)),
        DataType::Utf8View => Box::new(ByteLeaf::new(ViewBuilder::new(true), width)),
        DataType::BinaryView => Box::new(ByteLeaf::new(ViewBuilder::new(false), width)),
        _ => return None,
    })
}

/// A byte array layout under construction, which appends pages and looks up dictionary entries. [`ByteLeaf`] drives it,
/// so each layout only deals with its own buffers.
pub(super) trait ByteLayout: ByteSink + Send + Sync {
    /// A dictionary page, ready for look-ups.
    type Dictionary: Send + Sync;

    /// The number of additional bytes per value.
    const OVERHEAD: usize;

    /// The bytes needed per dictionary entry, on top of the dictionary page.
    const ENTRY: usize;

    /// Returns the byte length of the longest entry copied by a look-up.
    fn longest(dictionary: &Self::Dictionary) -> usize;

    /// Reads a dictionary page of `n` byte arrays. Each array has `width` bytes if a width is given.
    fn dictionary(
        &self,
        page: &Buffer,
        n: usize,
        width: Option<usize>,
    ) -> Result<Self::Dictionary, Malformed>;

    /// Appends the entries at the next `n` indices.
    fn gather(
        &mut self,
        dictionary: &Self::Dictionary,
        indices: &mut HybridDecoder,
        runs: &[u8],
        n: usize,
    ) -> Result<(), Malformed>;

    /// Appends the wanted values among the next `wanted.len()` PLAIN values, starting at offset `position`. Returns the
    /// offset after the last of these values.
    fn append_plain_wanted(
        &mut self,
        page: &Buffer,
        position: usize,
        wanted: &BooleanBuffer,
    ) -> Result<usize, Malformed> {
        let start = self.len();
        let end = self.append_plain(page, position, wanted.len())?;
        self.retain(start, wanted)?;
        Ok(end)
    }

    /// Returns the number of values so far.
    fn len(&self) -> usize;

    /// Drops the unwanted values from `start` on. Bit `i` belongs to value `start + i`.
    fn retain(&mut self, start: usize, wanted: &BooleanBuffer) -> Result<(), Malformed>;

    /// Appends the entries at the indices whose bit is set among the next `wanted.len()` indices.
    fn gather_wanted(
        &mut self,
        dictionary: &Self::Dictionary,
        indices: &mut HybridDecoder,
        runs: &[u8],
        wanted: &BooleanBuffer,
    ) -> Result<(), Malformed> {
        let start = self.len();
        self.gather(dictionary, indices, runs, wanted.len())?;
        self.retain(start, wanted)
    }

    /// Returns how many of the entries at the next `n` indices fit into `budget` bytes.
    fn fit_indices(
        &self,
        dictionary: &Self::Dictionary,
        indices: &HybridDecoder,
        runs: &[u8],
        n: usize,
        budget: usize,
    ) -> usize;

    /// Returns the number of value bytes that can be addressed in addition to the present ones.
    fn data_room(&self) -> usize;

    /// Spreads values over nulls. See [`LeafArray::expand`].
    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<(), Malformed>;

    /// Returns the number of bytes held by the layout.
    fn bytes(&self) -> usize;

    /// Returns true if values stay in their pages.
    fn borrows_pages(&self) -> bool;

    /// Returns the array of all slots added since the last call.
    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Malformed>;
}

/// An array of byte arrays under construction, in any layout.
struct ByteLeaf<S: ByteLayout> {
    sink: S,
    dictionary: Option<S::Dictionary>,
    page: ByteArrayPage,
    /// The number of bytes per FIXED_LEN_BYTE_ARRAY value, or `None` for BYTE_ARRAY.
    width: Option<usize>,
}

impl<S: ByteLayout> ByteLeaf<S> {
    fn new(sink: S, width: Option<usize>) -> Self {
        Self {
            sink,
            dictionary: None,
            page: ByteArrayPage::EMPTY,
            width,
        }
    }
}

impl<S: ByteLayout> LeafArray for ByteLeaf<S> {
    fn set_dictionary(&mut self, values: &Buffer, num_values: usize) -> Result<()> {
        if num_values == 0 && !values.is_empty() {
            return Err(Error::corrupt("a dictionary page of 0 values is not empty"));
        }
        let dictionary = self.sink.dictionary(values, num_values, self.width);
        self.dictionary = Some(dictionary.map_err(malformed)?);
        Ok(())
    }

    fn drop_dictionary(&mut self) -> bool {
        self.dictionary = None;
        true
    }

    fn set_page(&mut self, encoding: Encoding, values: Buffer, _num_values: usize) -> Result<()> {
        self.page = ByteArrayPage::new(encoding, values, self.width)?;
        Ok(())
    }

    fn release_page(&mut self) {
        self.page = ByteArrayPage::EMPTY;
    }

    fn values_that_fit(&mut self, n: usize, budget: usize) -> Result<usize> {
        let budget = budget.min(self.sink.data_room());
        match (&mut self.page, &self.dictionary) {
            (ByteArrayPage::Direct(values), _) => values.values_that_fit(n, S::OVERHEAD, budget),
            (ByteArrayPage::Dictionary(indices), Some(dictionary)) => {
                let (indices, runs) = indices.parts();
                Ok(self.sink.fit_indices(dictionary, indices, runs, n, budget))
            }
            // We don't need an exact answer here, because the next append fails with an error.
            (ByteArrayPage::Dictionary(_), None) => Ok(n),
        }
    }

    fn most_bytes(&mut self, n: usize) -> usize {
        let values = match (&mut self.page, &self.dictionary) {
            (ByteArrayPage::Direct(values), _) => values.most_bytes(n),
            (ByteArrayPage::Dictionary(_), Some(dictionary)) => {
                n.saturating_mul(S::longest(dictionary))
            }
            // We don't need an exact answer here, because the next append fails with an error.
            (ByteArrayPage::Dictionary(_), None) => 0,
        };
        values.saturating_add(n.saturating_mul(S::OVERHEAD))
    }

    fn dictionary_bytes(&self, page_bytes: usize, num_values: usize) -> usize {
        page_bytes.saturating_add(num_values.saturating_mul(S::ENTRY))
    }

    fn page_bytes(&self, encoding: Encoding, value_bytes: usize) -> usize {
        match (encoding, self.width) {
            // We have to reassemble each value's bytes first, and that needs a copy of the page.
            (Encoding::ByteStreamSplit, Some(_)) => value_bytes,
            _ => 0,
        }
    }

    fn borrows_pages(&self) -> bool {
        self.sink.borrows_pages()
    }

    fn append(&mut self, n: usize) -> Result<()> {
        match (&mut self.page, &self.dictionary) {
            (ByteArrayPage::Direct(values), _) => values.append_to(n, &mut self.sink),
            (ByteArrayPage::Dictionary(indices), Some(dictionary)) => {
                let (indices, runs) = indices.parts();
                self.sink
                    .gather(dictionary, indices, runs, n)
                    .map_err(malformed)
            }
            (ByteArrayPage::Dictionary(_), None) if n == 0 => Ok(()),
            (ByteArrayPage::Dictionary(_), None) => Err(no_dictionary()),
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.page.skip(n)
    }

    fn rest(&self) -> Rest<'_> {
        self.page.rest()
    }

    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<()> {
        self.sink.expand(validity, start, slots).map_err(malformed)
    }

    fn append_wanted(&mut self, wanted: &BooleanBuffer) -> Result<()> {
        match (&mut self.page, &self.dictionary) {
            (ByteArrayPage::Direct(ByteArrays::Plain { values, position }), _) => {
                let end = self.sink.append_plain_wanted(values, *position, wanted);
                *position = end.map_err(malformed)?;
                Ok(())
            }
            (ByteArrayPage::Direct(values), _) => {
                let start = self.sink.len();
                values.append_to(wanted.len(), &mut self.sink)?;
                self.sink.retain(start, wanted).map_err(malformed)
            }
            (ByteArrayPage::Dictionary(indices), Some(dictionary)) => {
                let (indices, runs) = indices.parts();
                self.sink
                    .gather_wanted(dictionary, indices, runs, wanted)
                    .map_err(malformed)
            }
            (ByteArrayPage::Dictionary(_), None) => self.append(wanted.len()),
        }
    }

    fn bytes(&self) -> usize {
        self.sink.bytes()
    }

    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        self.sink.finish(nulls).map_err(malformed)
    }
}

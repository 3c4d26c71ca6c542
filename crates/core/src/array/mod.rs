//! Reads and writes Arrow arrays, with one folder per Arrow layout.
//!
//! ```text
//! NAME/read.rs    values section of a page → array        factory       selects the layout of a leaf
//! NAME/write.rs   slots of an array → values of a page    leaf_values   the reverse
//! ```
//!
//! When reading, a layout takes the values sections page by page and appends their values directly to the buffers of
//! the array under construction. It knows nothing about levels. Instead, the column tells it how many non-null values
//! to append, and passes the nulls' positions afterwards. When writing, a layout returns the values at the slots
//! selected by the levels, converted to the physical type for the encoders.

mod boolean;
mod byte_layouts;
mod decimal;
pub mod dictionary;
mod fixed_size_binary;
mod interval;
pub mod join;
mod null;
mod primitive;
mod timestamp_96;
// Several layouts share these modules when reading.
mod byte_array_page;
mod convert;
mod entries;
mod fixed_width;
mod fixed_width_buffer;
// These modules select a layout, and hold the input shared by several layouts when writing.
mod factory;
mod leaf_values;
mod selected;
#[cfg(test)]
mod tests;

pub use factory::leaf_array;
use factory::{finish_fixed_width, unsupported};
pub use leaf_values::values;
pub use selected::{Scratch, Selected};

use std::ops::Range;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Encoding, Result, Type};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_schema::{Conversion, Int96Overflow};

use crate::encoding::Rest;

/// A leaf column's physical type in the file and its target Arrow type. Used to select the column's layout.
#[derive(Debug, Clone)]
pub struct LeafType {
    /// The leaf's physical type.
    pub physical_type: Type,
    /// The number of bytes per FIXED_LEN_BYTE_ARRAY value; 0 for other types.
    pub type_length: usize,
    /// The finished array's Arrow type.
    pub data_type: DataType,
    /// The arithmetic between stored integers and the integers of `data_type`.
    pub conversion: Conversion,
    /// The handling of INT96 timestamps outside the range of `data_type`.
    pub int96_overflow: Int96Overflow,
    /// True if the order of dictionary values is significant. If so, it must match the dictionary page's order.
    pub is_ordered: bool,
}

/// The Arrow layout of one leaf while it is built up over the pages of a column chunk.
///
/// **Shapes**: `n` counts non-null values, and `slots` counts array entries including nulls.
pub trait LeafArray: Send + Sync {
    /// Installs the dictionary page of the next column chunk. It has `num_values` PLAIN values.
    fn set_dictionary(&mut self, values: &Buffer, num_values: usize) -> Result<()>;

    /// Releases the dictionary, because later pages are unlikely to need it. Returns false if the dictionary is part of
    /// the array, or if this leaf cannot have a dictionary.
    fn drop_dictionary(&mut self) -> bool {
        false
    }

    /// Installs the values section of the next data page, which holds at most `num_values` values.
    fn set_page(&mut self, encoding: Encoding, values: Buffer, num_values: usize) -> Result<()>;

    /// Releases the page before the next one is installed, once the caller needs none of its values any more.
    fn release_page(&mut self);

    /// Returns how many of the next `n` values fit into the remaining offsets and into `budget` bytes. The default
    /// returns `n`. The call is cheap if they all fit.
    fn values_that_fit(&mut self, n: usize, _budget: usize) -> Result<usize> {
        Ok(n)
    }

    /// Returns an upper bound for the bytes needed by the next `n` slots, including nulls. The bound is as tight as we
    /// can cheaply make it.
    fn most_bytes(&mut self, n: usize) -> usize;

    /// Returns the bytes needed to decode a dictionary of `num_values` entries whose page has `page_bytes` bytes.
    fn dictionary_bytes(&self, _page_bytes: usize, _num_values: usize) -> usize {
        0
    }

    /// Returns the additional bytes needed by an installed page whose values section has `_value_bytes` bytes.
    fn page_bytes(&self, _encoding: Encoding, _value_bytes: usize) -> usize {
        0
    }

    /// Returns the bytes that [`Self::finish`] needs in addition to the bytes already held.
    fn finishing_bytes(&self) -> usize {
        0
    }

    /// Returns true if the unfinished array borrows parts of pages or of a dictionary.
    fn borrows_pages(&self) -> bool {
        false
    }

    /// Appends the next `n` values of the page.
    fn append(&mut self, n: usize) -> Result<()>;

    /// Appends the values whose bit is set among the page's next `wanted.len()` values.
    fn append_wanted(&mut self, wanted: &BooleanBuffer) -> Result<()>;

    /// Skips the next `n` values of the page.
    fn skip(&mut self, n: usize) -> Result<()>;

    /// Returns the rest of the page, after the values appended or skipped so far.
    fn rest(&self) -> Rest<'_>;

    /// Appends the next `n` values to the new slots `start..start + slots` of `validity`, where exactly `n` slots are
    /// valid.
    fn append_spread(
        &mut self,
        n: usize,
        validity: &Bitmap,
        start: usize,
        slots: usize,
    ) -> Result<()> {
        if n < slots && self.spread(n, validity, start..start + slots)? {
            return Ok(());
        }
        self.append(n)?;
        if n < slots {
            self.expand(validity, start, slots)?;
        }
        Ok(())
    }

    /// Performs [`Self::append_spread`] in one step, if some of the slots are null. Returns false without doing
    /// anything if the values must be decoded before they can be spread.
    fn spread(&mut self, _n: usize, _validity: &Bitmap, _slots: Range<usize>) -> Result<bool> {
        Ok(false)
    }

    /// Spreads values over nulls. The slots `start..start + slots` of `validity` are new, and the values for its set
    /// bits must be the last ones appended. Callers skip this step if all bits are set.
    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<()>;

    /// Returns the number of bytes held by the unfinished array.
    fn bytes(&self) -> usize;

    /// Returns the array of all slots added since the last call, with `nulls` if there are any.
    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef>;
}

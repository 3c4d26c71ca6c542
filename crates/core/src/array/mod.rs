//! Arrow arrays, both ways: one folder an Arrow layout.
//!
//! ```text
//! NAME/read.rs    values section of a page → array        factory       which layout a leaf gets
//! NAME/write.rs   slots of an array → values of a page    leaf_values   the reverse
//! ```
//!
//! Reading, a layout takes the values section of one page after the other and appends values straight to
//! the buffers of the array that is being built. It knows nothing of levels: the column tells it
//! how many non-null values come next, and where the nulls are afterwards. Writing, it gives the values of
//! the slots that levels show, in the physical type; encoders take them from there.

mod boolean;
mod byte_layouts;
mod decimal;
pub mod dictionary;
mod fixed_size_binary;
mod interval;
mod null;
mod primitive;
mod timestamp_96;
// What several layouts are read with.
mod convert;
mod entries;
mod fixed_width;
mod values;
// Which layout it is, and what several are written from.
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

/// What a leaf column holds in the file and what it becomes in Arrow.
#[derive(Debug, Clone)]
pub struct LeafType {
    /// The physical type of the leaf.
    pub physical_type: Type,
    /// Bytes of a FIXED_LEN_BYTE_ARRAY value; 0 for other types.
    pub type_length: usize,
    /// The Arrow type of the finished array.
    pub data_type: DataType,
    /// The arithmetic between stored integers and those of `data_type`.
    pub conversion: Conversion,
    /// What becomes of timestamps that do not fit.
    pub int96_overflow: Int96Overflow,
    /// Whether the order of a dictionary's values means something: that of the dictionary page does.
    pub is_ordered: bool,
}

/// One Arrow layout under construction, for one leaf, over the pages of a column chunk.
///
/// **Shapes**: `n` counts non-null values, `slots` counts array entries with nulls.
pub trait LeafArray: Send {
    /// Installs the dictionary page of the next column chunk: `num_values` PLAIN values.
    fn set_dictionary(&mut self, values: &Buffer, num_values: usize) -> Result<()>;

    /// Lets go of the dictionary, which pages to come are unlikely to need; false where it is a part of
    /// the array, or there cannot be one.
    fn leave_dictionary(&mut self) -> bool {
        false
    }

    /// Installs the values section of the next data page, which holds at most `num_values` values.
    fn set_page(&mut self, encoding: Encoding, values: Buffer, num_values: usize) -> Result<()>;

    /// Lets go of the page, of which no value is wanted any more, before the next one.
    fn leave_page(&mut self);

    /// How many of the next `n` values fit into what is left of the offsets and of `budget` bytes:
    /// `n` for fixed widths, and cheap whenever all of them fit.
    fn values_that_fit(&mut self, n: usize, _budget: usize) -> Result<usize> {
        Ok(n)
    }

    /// Bytes that the next `n` slots take at most, nulls among them; as close as is cheap to tell.
    fn most_bytes(&mut self, n: usize) -> usize;

    /// Bytes that a dictionary of `num_values` entries takes, made of a page of `page_bytes`.
    fn dictionary_bytes(&self, _page_bytes: usize, _num_values: usize) -> usize {
        0
    }

    /// Bytes that a page of so many bytes of values takes besides them, once it is installed.
    fn page_bytes(&self, _encoding: Encoding, _value_bytes: usize) -> usize {
        0
    }

    /// Bytes that [`Self::finish`] takes besides those that are held before.
    fn finishing_bytes(&self) -> usize {
        0
    }

    /// Whether the unfinished array holds parts of pages, or of a dictionary, in place.
    fn keeps_pages(&self) -> bool {
        false
    }

    /// Appends the next `n` values of the page.
    fn append(&mut self, n: usize) -> Result<()>;

    /// Appends those of the next `wanted.len()` values of the page whose bit is set.
    fn append_wanted(&mut self, wanted: &BooleanBuffer) -> Result<()>;

    /// Passes over the next `n` values of the page.
    fn skip(&mut self, n: usize) -> Result<()>;

    /// Returns the part of the page after the values that were appended or skipped.
    fn rest(&self) -> Rest<'_>;

    /// Appends the next `n` values to the new slots `start..start + slots` of `validity`, of which so
    /// many are set.
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

    /// As [`Self::append_spread`] in one step, where some of the slots are null. False, and nothing
    /// done, where the values have to be decoded before they are spread.
    fn spread(&mut self, _n: usize, _validity: &Bitmap, _slots: Range<usize>) -> Result<bool> {
        Ok(false)
    }

    /// Spreads values over nulls: the slots `start..start + slots` of `validity` are new, and the
    /// values of its set bits are the ones appended last. Not called when all of them are set.
    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<()>;

    /// Bytes that the unfinished array holds.
    fn bytes(&self) -> usize;

    /// The array of all slots since the last call, with `nulls` where there are any.
    fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef>;
}

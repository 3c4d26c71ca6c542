//! A dictionary page as views, and lookups in it.
//!
//! The dictionary page is a buffer of the array, and a lookup copies 16 bytes. The views refer to the page as the
//! array's first buffer, which it nearly always is. If it is not, we add the buffer's number to the views after the
//! lookup.

use herringbone_arrow::buffer::Buffer;

use super::ViewBuilder;
use super::view::is_long;
use crate::bytes::{ENDS_EARLY, likely_values};
use crate::hybrid::HybridDecoder;
use crate::{Malformed, utf8};

/// The entries of a dictionary page of byte arrays, as views.
///
/// Invariants: the long views lie in `page` and name it as buffer 0. If `utf8` is set, each entry is valid UTF-8.
#[derive(Debug, Clone)]
pub struct ViewDictionary {
    views: Vec<u128>,
    page: Buffer,
    long: bool,
    utf8: bool,
}

impl ViewDictionary {
    /// Reads `n` PLAIN byte arrays, as strings if `utf8` is set.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if values end early or are invalid UTF-8, or if the page exceeds 2 GiB.
    pub fn plain(page: &Buffer, n: usize, utf8: bool) -> Result<Self, Malformed> {
        let mut builder = ViewBuilder::new(utf8);
        builder.append_plain(page, 0, n)?;
        Ok(Self::from_builder(builder, page))
    }

    /// Reads `n` values of `width` bytes each, as strings if `utf8` is set.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if values end early, have a width of 0 or are invalid UTF-8, or if the page exceeds 2
    /// GiB.
    pub fn fixed(page: &Buffer, width: usize, n: usize, utf8: bool) -> Result<Self, Malformed> {
        let mut builder = ViewBuilder::new(utf8);
        let end = n.checked_mul(width).ok_or(ENDS_EARLY)?;
        builder.append_fixed(page, 0, end, width)?;
        Ok(Self::from_builder(builder, page))
    }

    /// Takes the views from a `builder` to which only one run of values from `page` was appended.
    fn from_builder(builder: ViewBuilder, page: &Buffer) -> Self {
        Self {
            long: !builder.buffers.is_empty(),
            utf8: builder.utf8,
            views: builder.views,
            page: page.clone(),
        }
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Returns true if there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }
}

impl ViewBuilder {
    /// Appends the entries of `dictionary` at the next `n` `indices` in `runs`.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if runs end early, if an index is out of range, or if a builder of strings gets binary
    /// entries.
    pub fn gather(
        &mut self,
        dictionary: &ViewDictionary,
        indices: &mut HybridDecoder,
        runs: &[u8],
        n: usize,
    ) -> Result<(), Malformed> {
        if self.utf8 && !dictionary.utf8 {
            return Err(utf8::INVALID);
        }
        let start = self.views.len();
        let index = self.index_of(&dictionary.page)?;
        self.reserve_values(likely_values(runs, n));
        if let Err(error) = indices.gather(runs, n, &dictionary.views, &mut self.views) {
            self.views.truncate(start);
            return Err(error);
        }
        if dictionary.long {
            if index > 0 {
                for view in self.views.iter_mut().skip(start) {
                    let number = if is_long(*view as u32) { index } else { 0 };
                    *view += u128::from(number) << 64;
                }
            }
            self.register(&dictionary.page, index);
        }
        Ok(())
    }
}

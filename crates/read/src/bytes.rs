//! The bytes of a file, as decoders take them.

use std::ops::Range;

use bytes::Bytes;
use herringbone_format::Result;

/// A place that a decoder takes bytes of the file from.
///
/// Decoders never read. A driver either reads in [`get`](Self::get), or returns `None` there, fetches the range by any
/// means, and calls the decoder again.
pub trait FileBytes {
    /// Returns the bytes of `need`, followed by any number of bytes up to `end`.
    ///
    /// Returns `None` if they have not arrived. The decoder then stops, and asks again when it is called again.
    ///
    /// # Errors
    /// Errors of the source, such as Io.
    fn get(&mut self, need: &Range<u64>, end: u64) -> Result<Option<Bytes>>;

    /// Takes note that no decoder will ask for bytes of `range` again.
    fn release(&mut self, range: Range<u64>) {
        let _ = range;
    }

    /// Drops bytes that arrived ahead of their use. Returns false if there are none.
    fn drop_ahead(&mut self) -> bool {
        false
    }
}

impl<F: FnMut(&Range<u64>, u64) -> Result<Option<Bytes>>> FileBytes for F {
    fn get(&mut self, need: &Range<u64>, end: u64) -> Result<Option<Bytes>> {
        self(need, end)
    }
}

//! The interface through which decoders take bytes of a file.

use std::ops::Range;

use bytes::Bytes;
use herringbone_format::Result;

/// A source of bytes for decoders.
///
/// Decoders never read by themselves, so that the same decoder works for files, memory and asynchronous requests. A
/// driver either reads in [`get`](Self::get), or it returns `None` there, fetches the range by any means, and calls the
/// decoder again.
pub trait FileBytes {
    /// Returns the bytes of `need`, followed by any number of bytes up to `end`.
    ///
    /// Returns `None` if the bytes have not arrived yet. The decoder then stops, and requests them again when it is
    /// called the next time.
    ///
    /// # Errors
    /// Returns the source's errors, such as [`Io`](herringbone_format::ErrorKind::Io).
    fn get(&mut self, need: &Range<u64>, end: u64) -> Result<Option<Bytes>>;

    /// Returns the number of bytes that a lookup must save to be worth a request. It is 0 if requests are cheap.
    fn request_cost(&self) -> u64 {
        0
    }

    /// Notes that decoders no longer need the bytes of `range`, so that the source may free them.
    fn release(&mut self, range: Range<u64>) {
        let _ = range;
    }

    /// Drops bytes that arrived before they were needed, because memory is short. Returns false if there are none.
    fn drop_ahead(&mut self) -> bool {
        false
    }
}

impl<F: FnMut(&Range<u64>, u64) -> Result<Option<Bytes>>> FileBytes for F {
    fn get(&mut self, need: &Range<u64>, end: u64) -> Result<Option<Bytes>> {
        self(need, end)
    }
}

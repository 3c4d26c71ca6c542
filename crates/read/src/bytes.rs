//! The interface that decoders use to get a file's bytes.

use std::ops::Range;

use bytes::Bytes;
use herringbone_format::Result;

/// A source of bytes for decoders. Implement this to read from storage that the library does not support itself.
///
/// Decoders never read by themselves, so the same decoder works for files, memory and asynchronous requests. A driver
/// can read inside [`get`](Self::get). Otherwise, it returns `None` there, fetches the range by any means, then calls
/// the decoder again.
pub trait FileBytes {
    /// Returns the bytes of `need`, followed by any number of further bytes up to `end`.
    ///
    /// Returns `None` if the bytes haven't arrived yet. In that case, the decoder stops and requests them again on the
    /// next call.
    ///
    /// # Errors
    /// Returns the source's errors, such as [`Io`](herringbone_format::ErrorKind::Io).
    fn get(&mut self, need: &Range<u64>, end: u64) -> Result<Option<Bytes>>;

    /// Returns the number of bytes a lookup must save to be worth a request. It is 0 if requests are cheap.
    fn request_cost(&self) -> u64 {
        0
    }

    /// Notes that decoders no longer need the bytes in `range`, so the source is free to drop them.
    fn release(&mut self, range: Range<u64>) {
        let _ = range;
    }

    /// Drops any bytes that arrived early, because memory is short. Returns false if there are none.
    fn drop_ahead(&mut self) -> bool {
        false
    }
}

impl<F: FnMut(&Range<u64>, u64) -> Result<Option<Bytes>>> FileBytes for F {
    fn get(&mut self, need: &Range<u64>, end: u64) -> Result<Option<Bytes>> {
        self(need, end)
    }
}

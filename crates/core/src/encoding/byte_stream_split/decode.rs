//! Decodes page bytes to values (Encodings, "Byte Stream Split (BYTE_STREAM_SPLIT = 9)").

use std::ops::Range;

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Error, Result};
use herringbone_kernels::byte_stream_split;
use herringbone_kernels::plain::Plain;

use crate::encoding::{ValueDecoder, ends_early};
use crate::malformed;

/// A position in numbers. Each number is one unit.
pub(crate) struct Numbers(Streams);

/// A position in values of any number of bytes. Each byte is one unit.
pub(crate) struct Bytes(Streams);

struct Streams {
    data: Buffer,
    /// The number of bytes per value. This is also the number of streams.
    width: usize,
    /// The total number of values.
    total: usize,
    /// The number of values consumed so far.
    passed: usize,
}

impl Streams {
    fn new(data: Buffer, width: usize) -> Result<Self> {
        match data.len().checked_rem(width) {
            Some(0) => Ok(Self {
                total: data.len() / width,
                data,
                width,
                passed: 0,
            }),
            _ => Err(Error::corrupt("byte streams of unequal lengths")),
        }
    }

    /// Consumes `n` values and returns their range.
    fn pass(&mut self, n: usize) -> Result<Range<usize>> {
        let first = self.passed;
        if n > self.total - first {
            return Err(ends_early());
        }
        self.passed += n;
        Ok(first..self.passed)
    }

    fn has_more(&self) -> bool {
        self.passed < self.total
    }
}

impl Numbers {
    /// Creates a decoder that starts at the first value.
    pub(crate) fn new<U>(data: Buffer) -> Result<Self> {
        Ok(Self(Streams::new(data, size_of::<U>())?))
    }
}

impl<U: Plain> ValueDecoder<U> for Numbers {
    fn extend(&mut self, n: usize, out: &mut Vec<U>) -> Result<()> {
        let range = self.0.pass(n)?;
        let Streams { data, total, .. } = &self.0;
        byte_stream_split::extend(data, *total, range.start, n, out).map_err(malformed)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.0.pass(n).map(drop)
    }

    fn has_more(&self) -> bool {
        self.0.has_more()
    }
}

impl Bytes {
    /// Creates a decoder that starts at the first value. Values have `width` bytes.
    pub(crate) fn new(data: Buffer, width: usize) -> Result<Self> {
        Ok(Self(Streams::new(data, width)?))
    }
}

impl ValueDecoder<u8> for Bytes {
    fn extend(&mut self, n: usize, out: &mut Vec<u8>) -> Result<()> {
        let range = self.0.pass(n / self.0.width)?;
        let Streams {
            data, total, width, ..
        } = &self.0;
        byte_stream_split::extend_bytes(data, *total, *width, range, out).map_err(malformed)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.0.pass(n / self.0.width).map(drop)
    }

    fn has_more(&self) -> bool {
        self.0.has_more()
    }
}

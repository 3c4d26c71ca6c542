//! Values to bytes of a page: Encodings, "Byte Stream Split (BYTE_STREAM_SPLIT = 9)".

use herringbone_format::Result;
use herringbone_kernels::byte_stream_split;

use crate::encoding::ValueEncoder;
use crate::encoding::plain::append_plain;
use crate::encoding::values::{Values, plain_width};
use herringbone_schema::WriteLeaf;

/// Bytes of a stream from which on a codec learns anew what bytes there are.
const LEAST_STREAM: usize = 4096;

/// Most streams that are told apart.
const MOST_STREAMS: usize = 16;

/// Where streams end in a values section of so many bytes, but for the last one; nowhere where they are short.
pub(crate) fn cuts(leaf: &WriteLeaf, bytes: usize) -> impl Iterator<Item = usize> + use<> {
    let width = plain_width(leaf.physical_type, leaf.type_length).unwrap_or(1);
    let stream = bytes / width.max(1);
    let are_long = stream >= LEAST_STREAM && width <= MOST_STREAMS;
    (1..if are_long { width } else { 1 }).map(move |ordinal| ordinal * stream)
}

pub(crate) struct Split {
    width: usize,
    bytes: Vec<u8>,
}

impl Split {
    /// For values of `width` bytes.
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            bytes: Vec::new(),
        }
    }
}

impl ValueEncoder for Split {
    fn append(&mut self, values: &Values<'_>) -> Result<()> {
        append_plain(values, &mut self.bytes)
    }

    fn page_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn finish_page(&mut self, out: &mut Vec<u8>) {
        byte_stream_split::split(&self.bytes, self.width, out);
        self.bytes.clear();
    }

    fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

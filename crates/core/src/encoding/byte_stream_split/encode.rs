//! Encodes values to page bytes (Encodings, "Byte Stream Split (BYTE_STREAM_SPLIT = 9)").

use herringbone_format::Result;
use herringbone_kernels::byte_stream_split;

use crate::encoding::ValueEncoder;
use crate::encoding::physical_values::Values;
use crate::encoding::plain::append_plain;

/// The maximum number of streams reported to the codec as separate sections.
const MAX_STREAMS: usize = 16;

pub(crate) struct Split {
    width: usize,
    bytes: Vec<u8>,
}

impl Split {
    /// Creates an encoder for values of `width` bytes.
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

    fn finish_page(&mut self, out: &mut Vec<u8>, section_starts: &mut Vec<usize>) {
        let start = out.len();
        byte_stream_split::split(&self.bytes, self.width, out);
        if self.width <= MAX_STREAMS {
            let stream = self.bytes.len() / self.width.max(1);
            section_starts.extend((1..self.width).map(|ordinal| start + ordinal * stream));
        }
        self.bytes.clear();
    }

    fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

//! A page needed by several splits: the first of them decompresses it for all.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use herringbone_arrow::buffer::Buffer;

use super::PageStart;
use crate::budget::Reservation;

/// A page, with its decompressed body as long as some splits have yet to take it. These are the splits of the column
/// chunk that contain rows of the page.
#[derive(Debug, Clone)]
pub struct SharedPage {
    start: PageStart,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Debug, Default)]
struct Kept {
    body: Option<Buffer>,
    /// The memory of the body, if it was decompressed before any split needed it.
    memory: Option<Reservation>,
    /// The number of splits that have yet to take the body.
    parts: usize,
}

impl SharedPage {
    /// Creates a page for `parts` splits.
    #[must_use]
    pub fn new(start: PageStart, parts: usize) -> Self {
        let kept = Kept {
            parts,
            ..Kept::default()
        };
        Self {
            start,
            kept: Arc::new(Mutex::new(kept)),
        }
    }

    /// Returns the start of the page.
    #[must_use]
    pub fn start(&self) -> PageStart {
        self.start
    }

    /// Registers one more split that needs the page.
    #[must_use]
    pub fn share(&self) -> Self {
        self.lock().parts += 1;
        self.clone()
    }

    /// Takes the decompressed body on behalf of one split, if it is stored.
    pub(crate) fn take(&self) -> Option<Buffer> {
        let mut kept = self.lock();
        kept.parts = kept.parts.saturating_sub(1);
        if kept.parts > 0 {
            return kept.body.clone();
        }
        drop(kept.memory.take());
        kept.body.take()
    }

    /// Stores the decompressed body for the splits that have yet to take it.
    pub(crate) fn leave(&self, decompressed: Buffer) {
        let mut kept = self.lock();
        if kept.parts > 0 {
            kept.body = Some(decompressed);
        }
    }

    /// Takes over the memory reserved for the body.
    pub(crate) fn hold(&self, memory: Reservation) {
        self.lock().memory = Some(memory);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use herringbone_format::{
        CompressionCodec, DataPageHeader, Encoding, Limits, PageHeader, PageType, Type,
    };

    use super::*;
    use crate::budget::{Budget, ColumnMemory};
    use crate::created_by::CreatedBy;
    use crate::page::body::{BodyDecoder, PageUse};
    use crate::page::decompression_limit::DecompressionLimit;
    use crate::page::{MaxLevels, Page};

    fn page(parts: usize) -> SharedPage {
        let start = PageStart::first(4);
        SharedPage::new(start, parts)
    }

    #[test]
    fn what_one_part_left_is_not_decompressed_again() {
        let header = PageHeader::new(PageType::DataPage, 4, 3).data_page_header(
            DataPageHeader::new(1, Encoding::Plain, Encoding::Rle, Encoding::Rle),
        );
        let shared = page(2);
        assert!(shared.take().is_none());
        shared.leave(Buffer::from(vec![1_u8, 2, 3, 4]));
        let limit = DecompressionLimit::new(&Limits::default(), Type::Int32, 0);
        let mut decoder = BodyDecoder::new(
            CompressionCodec::Snappy,
            MaxLevels {
                repetition: 0,
                definition: 0,
            },
            CreatedBy::default(),
            limit,
        );
        let budget = Budget::new(&Limits::default());
        let mut memory = ColumnMemory::new(budget);
        let mut decode = || {
            // No codec can decompress these bytes.
            let damaged = Buffer::from(vec![0xff_u8; 3]);
            let page_use = PageUse {
                shared: Some(&shared),
                ..PageUse::default()
            };
            decoder.open(
                (&header, 0),
                damaged,
                page_use,
                &Limits::default(),
                &mut memory,
            )
        };
        match decode() {
            Ok(Page::Data(page)) => assert_eq!(page.values.as_slice(), [1, 2, 3, 4]),
            other => panic!("{other:?}"),
        }
        assert!(decode().is_err());
    }

    #[test]
    fn it_is_kept_until_all_parts_came() {
        let shared = page(1);
        shared.leave(Buffer::from(vec![1_u8]));
        let behind = shared.share();
        assert!(shared.take().is_some());
        assert!(behind.take().is_some());
        assert!(behind.take().is_none());
        // All splits have taken the page.
        shared.leave(Buffer::from(vec![1_u8]));
        assert!(shared.take().is_none());
    }
}

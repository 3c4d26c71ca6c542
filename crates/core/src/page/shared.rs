//! A page needed by several splits, so that the first split decompresses it for all of them.
//!
//! Different threads decode the splits, and a split begins at a batch boundary rather than a page boundary. So one
//! split's last page is often also the next split's first page.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use herringbone_arrow::buffer::Buffer;

use super::PageStart;
use crate::budget::Reservation;

/// A page with rows in several splits of a column chunk. It retains the decompressed body until each of these splits
/// has taken it.
#[derive(Debug, Clone)]
pub struct SharedPage {
    start: PageStart,
    stored: Arc<Mutex<Stored>>,
}

#[derive(Debug, Default)]
struct Stored {
    body: Option<Buffer>,
    /// The memory reserved for the body, if the body was decompressed before any split needed it.
    memory: Option<Reservation>,
    /// The number of splits still waiting for the body.
    splits_left: usize,
}

impl SharedPage {
    /// Creates a page that `splits` splits will take.
    #[must_use]
    pub fn new(start: PageStart, splits: usize) -> Self {
        let stored = Stored {
            splits_left: splits,
            ..Stored::default()
        };
        Self {
            start,
            stored: Arc::new(Mutex::new(stored)),
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
        self.lock().splits_left += 1;
        self.clone()
    }

    /// Takes the decompressed body on behalf of one split, if it is stored.
    pub(crate) fn take(&self) -> Option<Buffer> {
        let mut stored = self.lock();
        stored.splits_left = stored.splits_left.saturating_sub(1);
        if stored.splits_left > 0 {
            return stored.body.clone();
        }
        drop(stored.memory.take());
        stored.body.take()
    }

    /// Stores the decompressed body for the remaining splits.
    pub(crate) fn store(&self, decompressed: Buffer) {
        let mut stored = self.lock();
        if stored.splits_left > 0 {
            stored.body = Some(decompressed);
        }
    }

    /// Takes over the memory reserved for the body.
    pub(crate) fn set_memory(&self, memory: Reservation) {
        self.lock().memory = Some(memory);
    }

    fn lock(&self) -> MutexGuard<'_, Stored> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn page(splits: usize) -> SharedPage {
        let start = PageStart::first(4);
        SharedPage::new(start, splits)
    }

    #[test]
    fn what_one_split_stored_is_not_decompressed_again() {
        let header = PageHeader::new(PageType::DataPage, 4, 3).data_page_header(
            DataPageHeader::new(1, Encoding::Plain, Encoding::Rle, Encoding::Rle),
        );
        let shared = page(2);
        assert!(shared.take().is_none());
        shared.store(Buffer::from(vec![1_u8, 2, 3, 4]));
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
            // No codec can decompress these bytes, so the page must come from the shared body.
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
    fn it_is_stored_until_all_splits_took_it() {
        let shared = page(1);
        shared.store(Buffer::from(vec![1_u8]));
        let another = shared.share();
        assert!(shared.take().is_some());
        assert!(another.take().is_some());
        assert!(another.take().is_none());
        // Nothing is stored anymore, because all splits have taken the page.
        shared.store(Buffer::from(vec![1_u8]));
        assert!(shared.take().is_none());
    }
}

//! A page that two parts of a column chunk have rows of: whoever comes first decompresses it for both.

use std::sync::{Arc, Mutex, PoisonError};

use herringbone_arrow::buffer::Buffer;

use super::PageStart;

/// A page, and what it decompressed to while the other part has not come for it.
#[derive(Debug, Clone)]
pub(crate) struct SharedPage {
    /// Where its header starts in the file.
    offset: u64,
    body: Arc<Mutex<Option<Buffer>>>,
}

impl SharedPage {
    pub(crate) fn new(page: PageStart) -> Self {
        Self {
            offset: page.offset,
            body: Arc::default(),
        }
    }

    /// Whether it is this page.
    pub(crate) fn is(&self, page: PageStart) -> bool {
        self.offset == page.offset
    }

    /// What the other part left.
    pub(crate) fn take(&self) -> Option<Buffer> {
        let mut body = self.body.lock().unwrap_or_else(PoisonError::into_inner);
        body.take()
    }

    /// Leaves the page to the other part.
    pub(crate) fn leave(&self, decompressed: Buffer) {
        let mut body = self.body.lock().unwrap_or_else(PoisonError::into_inner);
        *body = Some(decompressed);
    }
}

#[cfg(test)]
mod tests {
    use herringbone_format::{
        CompressionCodec, DataPageLayout, Encoding, Limits, PageLayout, PageType,
    };

    use super::*;
    use crate::page::Page;
    use crate::page::body::BodyDecoder;

    #[test]
    fn what_one_part_left_is_not_decompressed_again() {
        let header = PageLayout {
            type_: PageType::DataPage,
            uncompressed_page_size: 4,
            compressed_page_size: 3,
            crc: None,
            data_page_header: Some(DataPageLayout {
                num_values: 1,
                encoding: Encoding::Plain,
                definition_level_encoding: Encoding::Rle,
                repetition_level_encoding: Encoding::Rle,
            }),
            dictionary_page_header: None,
            data_page_header_v2: None,
        };
        let shared = SharedPage::new(PageStart {
            ordinal: 0,
            offset: 4,
            num_values_before: 0,
        });
        shared.leave(Buffer::from(vec![1_u8, 2, 3, 4]));
        let mut decoder = BodyDecoder::new(CompressionCodec::Snappy, (0, 0));
        let mut decode = || {
            // No codec makes anything of this.
            let damaged = Buffer::from(vec![0xff_u8; 3]);
            decoder.decode(&header, damaged, Some(&shared), &Limits::default())
        };
        match decode() {
            Ok(Page::Data(page)) => assert_eq!(page.values.as_slice(), [1, 2, 3, 4]),
            other => panic!("{other:?}"),
        }
        assert!(decode().is_err());
    }
}

//! A page that two parts of a column chunk have rows of: whoever comes first decompresses it for both.

use std::sync::{Arc, Mutex, PoisonError};

use herringbone_arrow::buffer::Buffer;

/// A page, and what it decompressed to while the other part has not come for it.
#[derive(Debug, Clone)]
pub(crate) struct SharedPage {
    /// Where its header starts in the file.
    pub(crate) offset: u64,
    body: Arc<Mutex<Option<Buffer>>>,
}

impl SharedPage {
    pub(crate) fn new(offset: u64) -> Self {
        Self {
            offset,
            body: Arc::default(),
        }
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

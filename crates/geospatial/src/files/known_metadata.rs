//! The GeoParquet metadata of the file that is read.

use std::sync::{Arc, Mutex, PoisonError};

use crate::geoparquet::GeoMetadata;

/// Parses the metadata once a file, not once a column.
#[derive(Debug, Default)]
pub(super) struct KnownMetadata(Mutex<Option<(String, Option<Arc<GeoMetadata>>)>>);

impl KnownMetadata {
    /// Parses the text of a file; `None` where it cannot be understood, which is no reason to read nothing.
    pub(super) fn of(&self, text: &str) -> Option<Arc<GeoMetadata>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of_text, metadata)) = &*known
            && of_text == text
        {
            return metadata.clone();
        }
        let metadata = GeoMetadata::parse(text).ok().map(Arc::new);
        *known = Some((text.to_owned(), metadata.clone()));
        metadata
    }
}

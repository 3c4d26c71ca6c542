//! A cache for the GeoParquet metadata of the file being read.

use std::sync::{Arc, Mutex, PoisonError};

use crate::geoparquet::GeoMetadata;

/// Parses the metadata once per file, rather than once per column.
#[derive(Debug, Default)]
pub(super) struct KnownMetadata(Mutex<Option<(String, Option<Arc<GeoMetadata>>)>>);

impl KnownMetadata {
    /// Parses the usable part of the text from a file. `None` if it is not JSON; the file can still be read.
    pub(super) fn of(&self, text: &str) -> Option<Arc<GeoMetadata>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known_text, metadata)) = &*known
            && known_text == text
        {
            return metadata.clone();
        }
        let metadata = GeoMetadata::parse_usable(text).ok();
        let metadata = metadata.map(|(metadata, _)| Arc::new(metadata));
        *known = Some((text.to_owned(), metadata.clone()));
        metadata
    }
}

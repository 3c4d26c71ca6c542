//! Caches the GeoParquet metadata while a file is read.

use std::sync::{Arc, Mutex, PoisonError};

use crate::geoparquet::GeoMetadata;

/// A cache of parsed metadata, so that we parse it once per file rather than once per column.
#[derive(Debug, Default)]
pub(super) struct KnownMetadata(Mutex<Option<(String, Option<Arc<GeoMetadata>>)>>);

impl KnownMetadata {
    /// Parses the usable part of a file's text. Text that isn't JSON is no error but gives `None`,
    /// since the file is readable without it.
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

//! The GeoParquet metadata of the file that is read.

use std::sync::{Arc, Mutex, PoisonError};

use herringbone_format::KeyValue;

use crate::geoparquet::{GeoMetadata, KEY};

/// Parses the metadata once a file, not once a column.
#[derive(Debug, Default)]
pub(super) struct KnownMetadata(Mutex<Option<(String, Option<Arc<GeoMetadata>>)>>);

impl KnownMetadata {
    /// Of the key-value metadata of a file; `None` where there are none, or none that can be
    /// understood: they are no reason to read nothing.
    pub(super) fn of(&self, key_values: &[KeyValue]) -> Option<Arc<GeoMetadata>> {
        let text = value_of(key_values, KEY)?;
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

/// The value of a key.
pub(super) fn value_of<'a>(pairs: &'a [KeyValue], key: &str) -> Option<&'a str> {
    let pair = pairs.iter().find(|pair| pair.key == key)?;
    pair.value.as_deref()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_parsed_once_until_another_one_follows() {
        let text = |primary: &str| {
            format!(
                r#"{{"version": "1.1.0", "primary_column": "{primary}",
                    "columns": {{"{primary}": {{"encoding": "WKB", "geometry_types": []}}}}}}"#
            )
        };
        let known = KnownMetadata::default();
        let place = known.of(&text("place")).unwrap();
        assert_eq!(place.primary_column, "place");
        let again = known.of(&text("place")).unwrap();
        assert!(Arc::ptr_eq(&place, &again));
        assert_eq!(known.of(&text("path")).unwrap().primary_column, "path");
        assert!(known.of("not JSON").is_none());
        assert_eq!(known.of(&text("place")).unwrap().primary_column, "place");
    }
}

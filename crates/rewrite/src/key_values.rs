//! The key-value metadata that several files have together.

use herringbone::format::KeyValue;
use herringbone::geospatial::geoparquet::KEY;
use herringbone::modular_encryption::ALGORITHM_KEY;
use herringbone::schema::{ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY};

use crate::Note;

/// Adds the metadata of a file to those of earlier files, `known`.
///
/// The Arrow schema and the algorithm are left out: the writer makes its own. If the values of a key differ, those
/// of the first file that has the key are kept.
pub(crate) fn add(
    known: &mut Vec<KeyValue>,
    file: &str,
    pairs: &[KeyValue],
    is_first: bool,
    notes: &mut Vec<Note>,
) {
    let of_others = known.len();
    let mut noted: Vec<&str> = Vec::new();
    for pair in pairs {
        // The writer makes these anew.
        let own = [ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY, ALGORITHM_KEY, KEY];
        if own.contains(&pair.key.as_str()) && (pair.key != KEY || !is_first) {
            continue;
        }
        let earlier = known.get(..of_others).unwrap_or_default();
        if earlier.iter().all(|known| known.key != pair.key) {
            known.push(pair.clone());
        } else if values(earlier, &pair.key).ne(values(pairs, &pair.key))
            && !noted.contains(&pair.key.as_str())
        {
            noted.push(&pair.key);
            notes.push(Note::KeyValueDiffers {
                file: file.to_owned(),
                key: pair.key.clone(),
            });
        }
    }
}

/// Returns the values of a key, which may repeat.
fn values<'a>(pairs: &'a [KeyValue], key: &str) -> impl Iterator<Item = Option<&'a str>> {
    let of_key = pairs.iter().filter(move |pair| pair.key == key);
    of_key.map(|pair| pair.value.as_deref())
}

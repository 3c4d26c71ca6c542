//! The pairs of all files, one file after the other.

use std::collections::{HashMap, HashSet};

use herringbone::format::KeyValue;
use herringbone::geospatial::geoparquet::KEY;
use herringbone::modular_encryption::ALGORITHM_KEY;
use herringbone::schema::{ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY};

use crate::Note;

/// The metadata of all files but the Arrow schema and the algorithm, of which the writer makes its own.
///
/// If the values of a key differ, those of the first file that has the key are kept.
#[derive(Debug, Default)]
pub(crate) struct KeyValues {
    pairs: Vec<KeyValue>,
    /// Ordinal of the file that each pair comes from.
    files: Vec<usize>,
    known: HashMap<String, Known>,
    num_files: usize,
}

/// What is known of a key.
#[derive(Debug)]
struct Known {
    /// Ordinal of the first file that has it.
    file: usize,
    /// Values in that file, as a key may repeat.
    values: Vec<Option<String>>,
    /// Number of files that have it.
    num_files: usize,
}

impl KeyValues {
    /// Adds the pairs of the next file. A note names each key whose values differ from those before.
    pub(crate) fn add(&mut self, name: &str, pairs: &[KeyValue], notes: &mut Vec<Note>) {
        let file = self.num_files;
        self.num_files += 1;
        let mut here: HashMap<&str, Vec<Option<&str>>> = HashMap::new();
        for pair in pairs.iter().filter(|pair| !is_made_anew(&pair.key, file)) {
            let values = here.entry(&pair.key).or_default();
            values.push(pair.value.as_deref());
            if self.known.get(&pair.key).is_none_or(|it| it.file == file) {
                self.pairs.push(pair.clone());
                self.files.push(file);
                self.known.entry(pair.key.clone()).or_insert_with(|| Known {
                    file,
                    values: Vec::new(),
                    num_files: 0,
                });
            }
        }
        for pair in pairs {
            // Each key is looked at once.
            let Some(values) = here.remove(pair.key.as_str()) else {
                continue;
            };
            let Some(known) = self.known.get_mut(&pair.key) else {
                continue;
            };
            if known.file == file {
                known.values = values.into_iter().map(|it| it.map(str::to_owned)).collect();
            } else if known.values.iter().map(Option::as_deref).ne(values) {
                notes.push(Note::KeyValueDiffers {
                    file: name.to_owned(),
                    key: pair.key.clone(),
                });
            }
            known.num_files += 1;
        }
    }

    /// Returns each pair with the ordinal of its file.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&KeyValue, usize)> {
        self.pairs.iter().zip(self.files.iter().copied())
    }

    /// Returns whether one of the files has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.known.contains_key(key)
    }

    /// Returns whether the file that the values of a key come from has several.
    pub(crate) fn repeats(&self, key: &str) -> bool {
        self.known
            .get(key)
            .is_some_and(|known| known.values.len() > 1)
    }

    /// Returns the keys that some files have and others do not, each with the ordinal of the first file that has it.
    pub(crate) fn unshared(&self) -> impl Iterator<Item = (&str, usize)> {
        let mut seen = HashSet::new();
        self.pairs().filter_map(move |(pair, file)| {
            let known = self.known.get(&pair.key)?;
            let is_shared = known.num_files == self.num_files || pair.key == KEY;
            (!is_shared && seen.insert(&pair.key)).then_some((pair.key.as_str(), file))
        })
    }
}

/// Returns whether the writer makes the value of a key anew. GeoParquet metadata of the first file say which version
/// is made.
fn is_made_anew(key: &str, file: usize) -> bool {
    let always = [ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY, ALGORITHM_KEY];
    always.contains(&key) || (key == KEY && file > 0)
}

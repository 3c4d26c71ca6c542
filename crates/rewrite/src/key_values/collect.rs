//! Collects the pairs of all files, one file after the other.

use std::collections::{HashMap, HashSet};

use herringbone::format::KeyValue;
use herringbone::geospatial::geoparquet::KEY;
use herringbone::modular_encryption::ALGORITHM_KEY;
use herringbone::schema::{ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY};

use crate::Note;

/// The metadata of all files, except for the Arrow schema and the algorithm. The writer creates
/// these two itself.
///
/// If files disagree about a key, we keep the values of the first file that has it.
#[derive(Debug, Default)]
pub(crate) struct KeyValues {
    pairs: Vec<KeyValue>,
    /// The ordinal of each pair's file.
    files: Vec<usize>,
    known: HashMap<String, Known>,
    num_files: usize,
}

/// A key's occurrences in the files.
#[derive(Debug)]
struct Known {
    /// The ordinal of the first file with the key.
    file: usize,
    /// That file's values. There can be several, since keys can be repeated.
    values: Vec<Option<Vec<u8>>>,
    /// The number of files with the key.
    num_files: usize,
}

impl KeyValues {
    /// Adds the next file's pairs, noting each key whose values differ from earlier files.
    pub(crate) fn add(&mut self, name: &str, pairs: &[KeyValue], notes: &mut Vec<Note>) {
        let file = self.num_files;
        self.num_files += 1;
        let mut here: HashMap<&str, Vec<Option<&[u8]>>> = HashMap::new();
        for pair in pairs.iter().filter(|pair| !is_made_anew(&pair.key, file)) {
            let values = here.entry(&pair.key).or_default();
            values.push(pair.value.as_deref());
            if self
                .known
                .get(&pair.key)
                .is_none_or(|known| known.file == file)
            {
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
            // We process each key once, even if it's repeated.
            let Some(values) = here.remove(pair.key.as_str()) else {
                continue;
            };
            let Some(known) = self.known.get_mut(&pair.key) else {
                continue;
            };
            if known.file == file {
                known.values = values
                    .into_iter()
                    .map(|value| value.map(<[u8]>::to_vec))
                    .collect();
            } else if known.values.iter().map(Option::as_deref).ne(values) {
                notes.push(Note::KeyValueDiffers {
                    file: name.to_owned(),
                    key: pair.key.clone(),
                });
            }
            known.num_files += 1;
        }
    }

    /// Returns each pair and the ordinal of its file.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&KeyValue, usize)> {
        self.pairs.iter().zip(self.files.iter().copied())
    }

    /// Returns true if any file has this key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.known.contains_key(key)
    }

    /// Returns true if the key is repeated in the file supplying its values.
    pub(crate) fn repeats(&self, key: &str) -> bool {
        self.known
            .get(key)
            .is_some_and(|known| known.values.len() > 1)
    }

    /// Returns the keys missing from some files, each with the ordinal of the first file that has
    /// it.
    pub(crate) fn unshared(&self) -> impl Iterator<Item = (&str, usize)> {
        let mut seen = HashSet::new();
        self.pairs().filter_map(move |(pair, file)| {
            let known = self.known.get(&pair.key)?;
            let is_shared = known.num_files == self.num_files || pair.key == KEY;
            (!is_shared && seen.insert(&pair.key)).then_some((pair.key.as_str(), file))
        })
    }
}

/// Returns true if the writer creates the key's value anew. We keep the first file's GeoParquet
/// metadata though, because it determines the version to create.
fn is_made_anew(key: &str, file: usize) -> bool {
    let always = [ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY, ALGORITHM_KEY];
    always.contains(&key) || (key == KEY && file > 0)
}

//! Maps column paths to values.

use std::collections::HashMap;

use super::{ColumnPath, dotted};
use crate::{Error, Result};

/// The most leaves that a message lists.
const LISTED_LEAVES: usize = 100;

/// A map with values for some columns. We compare paths part by part, since names can contain dots.
/// A parent's path covers all leaves below it, except those covered by a longer path.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnMap<T>(HashMap<ColumnPath, T>);

impl<T> Default for ColumnMap<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> ColumnMap<T> {
    /// Adds a value for a path.
    ///
    /// This fails with an argument error if the path is empty or already exists.
    pub(crate) fn insert(&mut self, path: ColumnPath, value: T) -> Result<()> {
        if path.is_empty() {
            return Err(Error::argument("an empty path does not name a column"));
        }
        let name = dotted(&path);
        match self.0.insert(path, value) {
            None => Ok(()),
            Some(_) => Err(Error::argument(format!(
                "column {name} is configured twice"
            ))),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.values_mut()
    }

    /// Returns the value for a leaf: that of its own path, otherwise that of its nearest parent.
    pub(crate) fn get(&self, leaf: &[String]) -> Option<&T> {
        if self.0.is_empty() {
            return None;
        }
        (1..=leaf.len())
            .rev()
            .find_map(|parts| self.0.get(leaf.get(..parts)?))
    }

    /// Checks that every path covers at least one leaf.
    ///
    /// This fails with an argument error listing the existing leaves.
    pub(crate) fn check<'a>(
        &self,
        leaves: impl Iterator<Item = &'a [String]> + Clone,
    ) -> Result<()> {
        let covered: std::collections::HashSet<&[String]> = leaves
            .clone()
            .flat_map(|leaf| (1..=leaf.len()).filter_map(move |parts| leaf.get(..parts)))
            .collect();
        let unknown = self
            .0
            .keys()
            .filter(|path| !covered.contains(path.as_slice()));
        let Some(unknown) = unknown.min() else {
            return Ok(());
        };
        let mut listed: Vec<String> = leaves.clone().take(LISTED_LEAVES).map(dotted).collect();
        if leaves.count() > LISTED_LEAVES {
            listed.push("…".into());
        }
        Err(Error::argument(format!(
            "there is no column {}, and none in it; the columns are {}",
            dotted(unknown),
            listed.join(", ")
        )))
    }
}

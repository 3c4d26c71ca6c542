//! Something for some columns of a file, by path.

use std::collections::HashMap;

use super::{ColumnPath, dotted};
use crate::{Error, Result};

/// Leaves that a message lists.
const LISTED_LEAVES: usize = 100;

/// A `T` for columns. Paths are compared part by part, as names may have dots in them. The path of a parent covers all
/// leaves below it that have no longer path here.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnMap<T>(HashMap<ColumnPath, T>);

impl<T> Default for ColumnMap<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> ColumnMap<T> {
    /// **Errors**: argument if the path is empty or there already.
    pub(crate) fn insert(&mut self, path: ColumnPath, value: T) -> Result<()> {
        if path.is_empty() {
            return Err(Error::argument("an empty path names no column"));
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

    /// What there is for a leaf: for its own path, else for its nearest parent's.
    pub(crate) fn get(&self, leaf: &[String]) -> Option<&T> {
        if self.0.is_empty() {
            return None;
        }
        (1..=leaf.len())
            .rev()
            .find_map(|parts| self.0.get(leaf.get(..parts)?))
    }

    /// Checks that every path covers a leaf.
    ///
    /// **Errors**: argument, with the leaves that there are.
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
            "there is no column {}, nor any below it; the columns are {}",
            dotted(unknown),
            listed.join(", ")
        )))
    }
}

//! Looking up nodes by name.

use std::collections::{HashMap, HashSet, VecDeque};

use herringbone_format::{Error, Remedy, Result};

use crate::nested::Nesting;
use crate::{ParquetSchema, SchemaOptions};

impl ParquetSchema {
    /// Returns the node at a path. You may leave out any groups that only make a list or a map, as
    /// in a [`Projection`](crate::Projection).
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the path does not lead to
    /// exactly one node.
    pub fn node_at(&self, path: &[String]) -> Result<usize> {
        let options = SchemaOptions::default();
        let mut nesting = Nesting::new(self, &options, &[]);
        for node in self.children(0) {
            if path.first().is_some_and(|first| name(self, node) == first) {
                nesting.field(node);
            }
        }
        Paths::new(self, &nesting.omittable).find(path)
    }

    /// Returns the ordinal of the leaf at a path. You may leave out any groups that only make a
    /// list or a map. For a list's elements, end the path with their name, for example
    /// `["tags", "element"]`.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the path does not lead to
    /// exactly one node, or if the node is a group.
    pub fn leaf_at<S: Into<String>>(&self, path: impl IntoIterator<Item = S>) -> Result<usize> {
        let path: Vec<String> = path.into_iter().map(Into::into).collect();
        let node = self.node_at(&path)?;
        let leaf = self.leaves().iter().position(|leaf| leaf.node == node);
        leaf.ok_or_else(|| {
            Error::argument(format!(
                "`{}` is a group of columns; name one of its columns",
                path.join(".")
            ))
        })
    }
}

/// A file's schema, prepared for looking up nodes by path.
pub(crate) struct Paths<'a> {
    schema: &'a ParquetSchema,
    /// One flag per node, true if a path can leave it out.
    omittable: &'a [bool],
    top: HashMap<&'a str, Vec<usize>>,
}

impl<'a> Paths<'a> {
    pub(crate) fn new(schema: &'a ParquetSchema, omittable: &'a [bool]) -> Self {
        let mut top: HashMap<&str, Vec<usize>> = HashMap::new();
        for node in schema.children(0) {
            top.entry(name(schema, node)).or_default().push(node);
        }
        Self {
            schema,
            omittable,
            top,
        }
    }

    /// Returns the node at a path. If the path is ambiguous, the reading with the fewest wrappers
    /// left out wins.
    ///
    /// # Errors
    ///
    /// Fails with Argument if the path does not lead to exactly one node.
    pub(crate) fn find<S: AsRef<str>>(&self, parts: &[S]) -> Result<usize> {
        let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
        match *self.search(&parts) {
            [node] => Ok(node),
            [] => Err(self.unknown(&parts)),
            ref nodes => Err(Error::argument(format!(
                "{} columns are called `{}`",
                nodes.len(),
                parts.join(".")
            ))
            .with_remedy(Remedy::ChooseLeaves)),
        }
    }

    /// Returns all possible nodes for a path, with the fewest wrappers left out.
    ///
    /// The search is breadth first by that number. It only visits each pair of a node and a number
    /// of used parts once. Otherwise, repeated names on the way down would multiply the work.
    fn search(&self, parts: &[&str]) -> Vec<usize> {
        let mut found = Vec::new();
        let Some((first, _)) = parts.split_first() else {
            return found;
        };
        let mut found_at = usize::MAX;
        let mut seen = HashSet::new();
        let mut queue: VecDeque<(usize, usize, usize)> = self
            .top
            .get(first)
            .into_iter()
            .flatten()
            .map(|&node| (0, node, 1))
            .collect();
        while let Some((left_out, node, used)) = queue.pop_front() {
            if left_out > found_at {
                break;
            }
            if !seen.insert((node, used)) {
                continue;
            }
            let Some(part) = parts.get(used) else {
                found_at = left_out;
                found.push(node);
                continue;
            };
            for child in self.schema.children(node) {
                if name(self.schema, child) == *part {
                    queue.push_front((left_out, child, used + 1));
                }
                if self.omittable[child] {
                    queue.push_back((left_out + 1, child, used));
                }
            }
        }
        found
    }

    #[cold]
    fn unknown(&self, parts: &[&str]) -> Error {
        let Some(used) = (0..parts.len())
            .rev()
            .find(|&used| used == 0 || !self.search(&parts[..used]).is_empty())
        else {
            return Error::argument("a column path without parts");
        };
        let group = self.search(&parts[..used]).first().copied().unwrap_or(0);
        let prefix = parts[..used]
            .iter()
            .map(|part| format!("{part}."))
            .collect::<String>();
        let close: Vec<String> = close_to(parts[used], &self.names_in(group))
            .into_iter()
            .map(|name| format!("`{prefix}{name}`"))
            .collect();
        let path = parts.join(".");
        Error::argument(match close.as_slice() {
            [] => format!("there is no column `{path}`"),
            close => format!(
                "there is no column `{path}`; did you mean {}?",
                close.join(", ")
            ),
        })
    }

    /// Returns the names of a group's fields that could follow in a path, used to suggest a fix for
    /// a typo.
    fn names_in(&self, group: usize) -> Vec<&'a str> {
        /// The most names to compare. This is plenty for finding a typo.
        const MAX_NAMES: usize = 100_000;
        let mut names = Vec::new();
        let mut groups = vec![group];
        while let Some(group) = groups.pop() {
            for child in self.schema.children(group) {
                if names.len() == MAX_NAMES {
                    return names;
                }
                if self.omittable[child] {
                    groups.push(child);
                } else {
                    names.push(name(self.schema, child));
                }
            }
        }
        names
    }
}

fn name(schema: &ParquetSchema, node: usize) -> &str {
    &schema.nodes()[node].element.name
}

/// Returns up to three of `names` that `wanted` is probably a typo of, most similar first.
fn close_to<'a>(wanted: &str, names: &[&'a str]) -> Vec<&'a str> {
    /// The number of characters above which names are only compared ignoring case.
    const MAX_CHARS: usize = 100;
    let lower = wanted.to_lowercase();
    let chars = lower.chars().count();
    // In a very short name, a single typo would leave nothing in common, so we don't allow any.
    let allowed = ((chars + 1) / 3).max(1).min(chars.saturating_sub(1));
    let mut close: Vec<(usize, &str)> = names
        .iter()
        .filter_map(|&name| {
            let candidate = name.to_lowercase();
            if candidate == lower {
                return Some((0, name));
            }
            let longest = candidate.len().max(lower.len());
            let distance = (longest <= MAX_CHARS).then(|| edit_distance(&lower, &candidate))?;
            (distance <= allowed).then_some((distance, name))
        })
        .collect();
    close.sort_by_key(|&(distance, _)| distance);
    close.dedup();
    close.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Returns the edit distance: the number of characters to insert, delete or replace to turn one
/// text into the other. Swapping two neighbours counts as one edit, because it is one slip.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![usize::MAX; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

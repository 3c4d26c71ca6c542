//! Composes the command to fix a single finding or all of them together.

use super::facts::{Column, Facts};
use crate::base::shell::word;

/// A change to a file that fixes a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// An option of `rewrite`, with its value.
    Option(&'static str),
    /// A column to write without its useless dictionary.
    WithoutDictionary(Vec<String>),
    /// A column to sort the file by.
    Sorted(Vec<String>),
    /// A column to cast to another type.
    Cast(Vec<String>, &'static str),
    /// A column to leave out.
    Dropped(Vec<String>),
}

/// Returns the command that makes these changes, if there are any. The remaining columns keep their
/// order.
pub(super) fn command(facts: &Facts, changes: &[Change]) -> Option<String> {
    let mut words: Vec<String> = Vec::new();
    for change in changes {
        let word = match change {
            Change::Option(option) => (*option).to_owned(),
            Change::WithoutDictionary(names) => {
                format!("--dictionary {}", word(&format!("{}=off", path(names))))
            }
            Change::Sorted(names) => format!("--sort-by {}", word(&path(names))),
            Change::Cast(..) | Change::Dropped(_) => continue,
        };
        // Two findings can need the same option, but the option is only allowed once.
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.extend(columns(facts, changes));
    if words.is_empty() {
        return None;
    }
    // A name with a leading hyphen would be taken for an option.
    let file = match facts.name.starts_with('-') && facts.name != "-" {
        true => format!("./{}", facts.name),
        false => facts.name.clone(),
    };
    let (file, words) = (word(&file), words.join(" "));
    Some(format!("herringbone rewrite {file} OUT.parquet {words}"))
}

/// Returns the option for casting or leaving out columns, if there are any.
fn columns(facts: &Facts, changes: &[Change]) -> Option<String> {
    let dropped: Vec<&Vec<String>> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Dropped(names) => Some(names),
            _ => None,
        })
        .collect();
    let casts: Vec<(&[String], &str)> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Cast(names, data_type) => Some((names.as_slice(), *data_type)),
            _ => None,
        })
        .collect();
    let items: Vec<String> = match (casts.is_empty(), dropped.is_empty()) {
        (true, true) => return None,
        (true, false) => dropped
            .into_iter()
            .map(|names| format!("!{}", path(names)))
            .collect(),
        (false, _) => kept(facts, &casts, &dropped),
    };
    Some(format!("-c {}", word(&items.join(", "))))
}

/// Lists the remaining columns in order, adding new types for casts.
fn kept(facts: &Facts, casts: &[(&[String], &str)], dropped: &[&Vec<String>]) -> Vec<String> {
    let same_root = |a: &Column, b: &Column| a.names.first() == b.names.first();
    let roots = facts.columns.chunk_by(same_root);
    let mut items = Vec::new();
    for leaves in roots {
        let is_dropped = |leaf: &&Column| dropped.contains(&&leaf.names);
        let stays = |leaf: &&Column| !is_dropped(leaf);
        let root = leaves.first().and_then(|leaf| leaf.names.get(..1));
        let root = root.unwrap_or_default();
        let cast = casts.iter().find(|(names, _)| *names == root);
        match cast {
            Some((_, data_type)) => items.push(format!("{}:{data_type}", path(root))),
            None if leaves.iter().any(|leaf| is_dropped(&leaf)) => {
                let kept = leaves.iter().filter(stays);
                items.extend(kept.map(|leaf| path(&leaf.names)));
            }
            None => items.push(path(root)),
        }
    }
    items
}

/// Returns the path of a column in the syntax of --columns.
fn path(names: &[String]) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || character == '_';
    let names = names.iter().map(
        |name| match !name.is_empty() && name.chars().all(is_plain) {
            true => name.clone(),
            false => format!("\"{}\"", name.replace('\\', r"\\").replace('"', "\\\"")),
        },
    );
    names.collect::<Vec<_>>().join(".")
}

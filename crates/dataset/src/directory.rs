//! The directories to list, and the patterns to match the names below them.
//!
//! A pattern such as `a/*/c.parquet` is split into the directory `a`, where the listing begins, and
//! one pattern per name below it. On the way down, each directory remembers how many of the
//! patterns its path has matched, so that we only list directories that might have matching files
//! below them.

use std::sync::Arc;

use crate::partition::Partition;
use crate::pattern::{is_pattern, matches};

/// A directory to list.
#[derive(Debug, Clone)]
pub(crate) struct Directory {
    pub(crate) path: String,
    pub(crate) partition: Partition,
    pub(crate) root: usize,
    /// True if the caller gave this directory path.
    pub(crate) is_root: bool,
    /// The patterns for names below the first directory, one per level. After the last pattern, all
    /// names match.
    pub(crate) patterns: Arc<[String]>,
    /// The possible numbers of patterns matched by the names above. There can be several, because
    /// `**` matches any number of names.
    pub(crate) matched: Vec<usize>,
}

impl Directory {
    /// Returns the directory to start a pattern at, that is, the last one before the first
    /// component with a wildcard such as `*`.
    pub(crate) fn of_pattern(path: &str, root: usize) -> Self {
        // A pattern such as `a=*/` only matches directories, with all files below them. We add `*`
        // to keep it from matching a file.
        let below = path.ends_with('/').then_some("*");
        let mut fixed: Vec<&str> = trimmed(path).split('/').chain(below).collect();
        let at = fixed.iter().position(|name| is_pattern(name));
        let patterns = fixed.split_off(at.unwrap_or(fixed.len()));
        let patterns: Arc<[String]> = patterns.into_iter().map(str::to_owned).collect();
        let fixed = match fixed.as_slice() {
            [""] if path.starts_with('/') => "/".to_owned(),
            names => names.join("/"),
        };
        Self {
            path: fixed,
            partition: Partition::default(),
            root,
            is_root: false,
            patterns,
            matched: vec![0],
        }
    }

    pub(crate) fn join(&self, name: &str) -> String {
        match self.path.as_str() {
            "" => name.to_owned(),
            path if path.ends_with('/') => format!("{path}{name}"),
            path => format!("{path}/{name}"),
        }
    }

    /// Returns the possible numbers of matched patterns after a name below this directory.
    pub(crate) fn after(&self, name: &str) -> Vec<usize> {
        let mut after = Vec::new();
        for &(mut at) in &self.matched {
            // Either `**` matches this name and possibly more names, or it matches nothing and we
            // go on with the next pattern.
            while self.patterns.get(at).is_some_and(|pattern| pattern == "**") {
                after.push(at);
                at += 1;
            }
            match self.patterns.get(at) {
                None => after.push(at),
                Some(pattern) if matches(pattern, name) => after.push(at + 1),
                Some(_) => {}
            }
        }
        after.sort_unstable();
        after.dedup();
        after
    }

    /// Returns true if all patterns have matched, according to any of these numbers. A trailing
    /// `**` can match nothing.
    pub(crate) fn is_whole(&self, matched: &[usize]) -> bool {
        let rest = |at: &usize| self.patterns.get(*at..).unwrap_or_default();
        matched
            .iter()
            .any(|at| rest(at).iter().all(|rest| rest == "**"))
    }
}

/// Removes trailing slashes from a path, except for the root's.
pub(crate) fn trimmed(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" if path.starts_with('/') => "/",
        path => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_begin_at_the_first_name_with_a_sign() {
        for (path, directory, patterns) in [
            ("a/b", "a/b", &[][..]),
            ("a/b/", "a/b", &["*"]),
            ("/a/b", "/a/b", &[]),
            ("/", "/", &["*"]),
            ("//", "/", &["*"]),
            ("/*", "/", &["*"]),
            ("*", "", &["*"]),
            ("a/*/c", "a", &["*", "c"]),
            ("a/*/", "a", &["*", "*"]),
            ("a//", "a", &["*"]),
            ("a/k=?/**/*.parquet", "a", &["k=?", "**", "*.parquet"]),
        ] {
            let found = Directory::of_pattern(path, 3);
            assert_eq!(found.path, directory, "{path}");
            assert_eq!(&*found.patterns, patterns, "{path}");
            assert_eq!((found.root, found.is_root), (3, false));
            assert_eq!(found.matched, [0]);
        }
    }

    #[test]
    fn names_are_joined_by_one_slash() {
        let join = |path: &str| {
            let mut directory = Directory::of_pattern("a", 0);
            directory.path = path.to_owned();
            directory.join("x")
        };
        assert_eq!(join(""), "x");
        assert_eq!(join("/"), "/x");
        assert_eq!(join("a"), "a/x");
        assert_eq!(join("a/b"), "a/b/x");
        assert_eq!(join("a/"), "a/x");
        assert_eq!((trimmed("a//"), trimmed("/"), trimmed("")), ("a", "/", ""));
    }

    #[test]
    fn names_match_one_pattern_and_stars_match_any_number() {
        let after = |pattern: &str, names: &[&str]| {
            let mut directory = Directory::of_pattern(pattern, 0);
            for name in names {
                directory.matched = directory.after(name);
            }
            (
                directory.matched.clone(),
                directory.is_whole(&directory.matched),
            )
        };
        assert_eq!(after("a/*/c", &[]), (vec![0], false));
        assert_eq!(after("a/*/c", &["b"]), (vec![1], false));
        assert_eq!(after("a/*/c", &["b", "c"]), (vec![2], true));
        assert_eq!(after("a/*/c", &["b", "d"]), (vec![], false));
        // After the last pattern, all names match.
        assert_eq!(after("a/*", &["b", "c", "d"]), (vec![1], true));
        assert_eq!(after("a/**/c", &["b"]), (vec![0], false));
        assert_eq!(after("a/**/c", &["c"]), (vec![0, 2], true));
        assert_eq!(after("a/**/c", &["b", "c"]), (vec![0, 2], true));
        assert_eq!(after("a/*/**", &["b"]), (vec![1], true));
        assert_eq!(after("a/*/**", &["b", "c"]), (vec![1, 2], true));
    }
}

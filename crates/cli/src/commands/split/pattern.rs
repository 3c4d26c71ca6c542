//! The paths of parts.

use std::path::{Path, PathBuf};

use crate::args::SplitBy;
use crate::base::failure::{Failure, Result};

/// The name of a folder for nulls, as in Hive.
pub(super) const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The path of each part, with a place for its number or value.
pub(super) struct Pattern {
    before: String,
    after: String,
    /// True if the path names the column too, as in `city={city}`, so that the files do not contain it.
    pub(super) names_column: bool,
}

impl Pattern {
    pub(super) fn new(path: &Path, by: &SplitBy) -> Result<Self> {
        let usage = |text: String| Failure::Usage(format!("--output: {text}"));
        let text = path
            .to_str()
            .ok_or_else(|| usage("the path is not UTF-8".into()))?;
        let name = match by {
            SplitBy::Column(name) => name.as_str(),
            SplitBy::Rows(_) | SplitBy::Bytes(_) => "",
        };
        let named = format!("{{{name}}}");
        let places = [named.as_str(), "{}"];
        let place = places.iter().find(|place| text.contains(**place));
        let (before, after) = place.and_then(|place| text.split_once(*place)).ok_or_else(|| {
            let shown = if name.is_empty() { "{}" } else { &named };
            usage(format!(
                "the name of each part needs a place for its number or value, as in out-{shown}.parquet"
            ))
        })?;
        Ok(Self {
            names_column: !name.is_empty() && before.ends_with(&format!("{name}=")),
            before: before.to_owned(),
            after: after.to_owned(),
        })
    }

    /// Returns the path of a part. A name of its own must not be empty.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        let name = match name.is_empty() && !self.names_column {
            true => "%00",
            false => name,
        };
        format!("{}{name}{}", self.before, self.after).into()
    }
}

/// Returns a text for a path, with escapes as in Hive for all characters that may mean something else there.
pub(super) fn escaped(text: &str) -> String {
    if text == NULL {
        return text.replacen('_', "%5F", 1);
    }
    let is_dots = !text.is_empty() && text.bytes().all(|byte| byte == b'.');
    let mut out = String::new();
    for character in text.chars() {
        let is_plain = match character {
            '.' => !is_dots,
            '"' | '#' | '%' | '\'' | '*' | '/' | ':' | '=' | '?' | '\\' | '{' | '[' | ']' | '^'
            | '<' | '>' | '|' => false,
            other => !other.is_control(),
        };
        match is_plain {
            true => out.push(character),
            false => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    out.push_str(&format!("%{byte:02X}"));
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_leave_their_folder() {
        for (value, expected) in [
            ("Rome", "Rome"),
            ("São Paulo", "São Paulo"),
            ("..", "%2E%2E"),
            ("a/b:c", "a%2Fb%3Ac"),
            ("1.5", "1.5"),
            ("", ""),
            (NULL, "%5F_HIVE_DEFAULT_PARTITION__"),
            ("a%2F", "a%252F"),
        ] {
            assert_eq!(escaped(value), expected);
        }
    }

    #[test]
    fn patterns_have_a_place() {
        let city = SplitBy::Column("city".into());
        let pattern = Pattern::new(Path::new("out/city={city}/p.parquet"), &city).unwrap();
        assert_eq!(pattern.path("Rome"), Path::new("out/city=Rome/p.parquet"));
        assert_eq!(pattern.path(""), Path::new("out/city=/p.parquet"));
        assert!(pattern.names_column);
        let pattern = Pattern::new(Path::new("{}.parquet"), &SplitBy::Rows(1)).unwrap();
        assert_eq!(pattern.path("00001"), Path::new("00001.parquet"));
        let pattern = Pattern::new(Path::new("{city}/p.parquet"), &city).unwrap();
        assert_eq!(pattern.path(""), Path::new("%00/p.parquet"));
        assert!(Pattern::new(Path::new("out.parquet"), &city).is_err());
        assert!(Pattern::new(Path::new("{zip}.parquet"), &city).is_err());
    }
}

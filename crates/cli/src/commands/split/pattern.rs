//! The paths of parts.

use std::path::{Path, PathBuf};

use crate::args::SplitBy;
use crate::base::failure::{Failure, Result};

/// The name of a folder for nulls, as in Hive.
pub(super) const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// A path pattern for parts, with placeholders for numbers or values.
pub(super) struct Pattern {
    /// Each placeholder's value index and the text before it.
    places: Vec<(String, usize)>,
    /// The text after the last placeholder.
    end: String,
    /// True for each column named in the path, as in `city={city}`. The files don't contain these
    /// columns.
    pub(super) names_columns: Vec<bool>,
}

impl Pattern {
    /// Creates the pattern of a path.
    ///
    /// # Errors
    /// Usage if the number or a value has no place, because parts would have the same path.
    pub(super) fn new(path: &Path, by: &SplitBy) -> Result<Self> {
        let usage = |text: String| Failure::Usage(format!("--output: {text}"));
        let text = path
            .to_str()
            .ok_or_else(|| usage("the path is not UTF-8".into()))?;
        let columns = match by {
            SplitBy::Columns(names) => names.as_slice(),
            SplitBy::Rows(_) | SplitBy::Bytes(_) => &[],
        };
        let named: Vec<String> = columns.iter().map(|name| format!("{{{name}}}")).collect();
        let is_missing = |sign: &String| !text.contains(sign.as_str());
        let signs = match named.as_slice() {
            [] => vec!["{}".to_owned()],
            [one] if is_missing(one) && text.contains("{}") => vec!["{}".to_owned()],
            _ => named,
        };
        if signs.iter().any(is_missing) {
            return Err(usage(format!(
                "the name of each part needs a place for its number or value, as in out-{}.parquet",
                signs.join("-")
            )));
        }
        let (mut places, mut rest) = (Vec::new(), text);
        let mut names_columns = vec![false; columns.len()];
        loop {
            let found = signs.iter().enumerate().filter_map(|(at, sign)| {
                let (before, after) = rest.split_once(sign.as_str())?;
                Some((at, before, after))
            });
            let Some((at, before, after)) = found.min_by_key(|(_, before, _)| before.len()) else {
                break;
            };
            if let (Some(name), Some(names_column)) = (columns.get(at), names_columns.get_mut(at)) {
                *names_column |= before.ends_with(&format!("{name}="));
            }
            places.push((before.to_owned(), at));
            rest = after;
        }
        Ok(Self {
            places,
            end: rest.to_owned(),
            names_columns,
        })
    }

    /// Returns the path of the part with these values. A name of its own must not be empty.
    pub(super) fn path(&self, values: &[String]) -> PathBuf {
        let mut path = String::new();
        for (before, at) in &self.places {
            path += before;
            path += match values.get(*at).map_or("", String::as_str) {
                "" if !self.names_columns.get(*at).is_some_and(|named| *named) => "%00",
                name => name,
            };
        }
        (path + &self.end).into()
    }
}

/// Escapes text for use in a path, using Hive's escapes for special characters.
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

    fn pattern(path: &str, columns: &[&str]) -> Result<Pattern> {
        let columns = columns.iter().map(|name| (*name).to_owned()).collect();
        Pattern::new(Path::new(path), &SplitBy::Columns(columns))
    }

    fn path(pattern: &Pattern, values: &[&str]) -> String {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        pattern.path(&values).to_str().unwrap().to_owned()
    }

    #[test]
    fn patterns_have_a_place() {
        let city = pattern("out/city={city}/p.parquet", &["city"]).unwrap();
        assert_eq!(path(&city, &["Rome"]), "out/city=Rome/p.parquet");
        assert_eq!(path(&city, &[""]), "out/city=/p.parquet");
        assert_eq!(city.names_columns, [true]);
        let rows = Pattern::new(Path::new("{}.parquet"), &SplitBy::Rows(1)).unwrap();
        assert_eq!(path(&rows, &["00001"]), "00001.parquet");
        let city = pattern("{city}/p.parquet", &["city"]).unwrap();
        assert_eq!(path(&city, &[""]), "%00/p.parquet");
        assert!(pattern("out.parquet", &["city"]).is_err());
        assert!(pattern("{zip}.parquet", &["city"]).is_err());
    }

    #[test]
    fn patterns_have_a_place_for_each_column() {
        let both = pattern("{b}/a={a}/{b}-{}.parquet", &["a", "b"]).unwrap();
        assert_eq!(path(&both, &["1", "{a}"]), "{a}/a=1/{a}-{}.parquet");
        assert_eq!(path(&both, &["", ""]), "%00/a=/%00-{}.parquet");
        assert_eq!(both.names_columns, [true, false]);
        for one in ["{a}.parquet", "{}.parquet", "{}-{}.parquet"] {
            let Err(Failure::Usage(message)) = pattern(one, &["a", "b"]) else {
                panic!("{one} has no place for `b`");
            };
            assert!(message.contains("as in out-{a}-{b}.parquet"), "{message}");
        }
    }
}

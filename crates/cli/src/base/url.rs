//! Recognizes URLs among the files of the command line.

use std::path::Path;

use herringbone_remote::without_secrets;

/// Returns a URL's scheme and the text after `://`, if the path is a URL.
pub(crate) fn parts(path: &Path) -> Option<(&str, &str)> {
    let (scheme, rest) = path.to_str()?.split_once("://")?;
    is_scheme(scheme).then_some((scheme, rest))
}

fn is_scheme(text: &str) -> bool {
    let is_usual =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '+' | '-' | '.');
    text.starts_with(|character: char| character.is_ascii_alphabetic())
        && text.chars().all(is_usual)
}

/// Returns the URL if the path is one.
pub(crate) fn as_url(path: &Path) -> Option<&str> {
    parts(path).and_then(|_| path.to_str())
}

/// Returns true if the path is the URL of an object in a store. Stores can list their objects, but
/// web servers cannot.
pub(crate) fn is_store(path: &Path) -> bool {
    let scheme = parts(path).map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| !matches!(scheme.as_str(), "http" | "https" | "file"))
}

/// Returns a file's name for output and errors. This is its path, or its URL without secrets.
pub(crate) fn name_of(path: &Path) -> String {
    without_secrets(&path.display().to_string())
}

/// Returns the path in a URL, without the query. Any other path is returned as it is. The file
/// format follows from the extension of this path.
pub(crate) fn path_part(path: &Path) -> &Path {
    match as_url(path) {
        Some(url) => Path::new(url.split(['?', '#']).next().unwrap_or_default()),
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_begin_with_a_scheme() {
        let url = |path: &str| as_url(Path::new(path)).is_some();
        assert!(url("s3://bucket/a.parquet") && url("HTTPS://host") && url("a+b://c"));
        for path in ["a.parquet", "-", "C:\\a", "a/b://c", "://a", "1a://b", ""] {
            assert!(!url(path), "{path}");
        }
    }
}

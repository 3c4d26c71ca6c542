//! URLs among the files of the command line.

use std::path::{Path, PathBuf};

use herringbone_remote::without_secrets;

use crate::base::failure::{Failure, Result};

/// The schemes of supported URLs.
const SUPPORTED: [&str; 11] = [
    "s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss", "http", "https", "file",
];

/// Returns the scheme of a URL and the text after `://`, if a path is a URL.
fn parts(path: &Path) -> Option<(&str, &str)> {
    let (scheme, rest) = path.to_str()?.split_once("://")?;
    is_scheme(scheme).then_some((scheme, rest))
}

fn is_scheme(text: &str) -> bool {
    let is_usual = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '-' | '.');
    text.starts_with(|it: char| it.is_ascii_alphabetic()) && text.chars().all(is_usual)
}

/// Returns the URL that a path is, if it is one.
pub(crate) fn as_url(path: &Path) -> Option<&str> {
    parts(path).and_then(|_| path.to_str())
}

/// Returns true if a path is the URL of an object in a store, which lists objects. Web servers do not.
pub(crate) fn is_store(path: &Path) -> bool {
    let scheme = parts(path).map(|(scheme, _)| scheme.to_ascii_lowercase());
    scheme.is_some_and(|scheme| !matches!(scheme.as_str(), "http" | "https" | "file"))
}

/// Returns the name of a file in output and errors: its path, or its URL without secrets.
pub(crate) fn name_of(path: &Path) -> String {
    without_secrets(&path.display().to_string())
}

/// Returns the path part of a URL, or the path of any other file. Formats follow from its extension.
pub(crate) fn path_part(path: &Path) -> &Path {
    match as_url(path) {
        Some(url) => Path::new(url.split(['?', '#']).next().unwrap_or_default()),
        None => path,
    }
}

/// Replaces a `file` URL by its path. Leaves other paths and URLs as they are.
///
/// # Errors
/// Usage if the scheme of the URL is not supported; Data if the command was built without the feature `remote`.
pub(crate) fn resolve(path: &mut PathBuf) -> Result<()> {
    let Some((scheme, _)) = parts(path) else {
        return Ok(());
    };
    let scheme = scheme.to_ascii_lowercase();
    if !SUPPORTED.contains(&scheme.as_str()) {
        return Err(Failure::Usage(format!(
            "{}: URLs of `{scheme}` are not supported; use one of: {}",
            name_of(path),
            SUPPORTED.join(", ")
        )));
    }
    if let Some(local) = local_path(path, &scheme)? {
        *path = local;
    }
    Ok(())
}

/// Returns the path that a `file` URL names, or None for URLs of other schemes.
#[cfg(feature = "remote")]
fn local_path(url: &Path, scheme: &str) -> Result<Option<PathBuf>> {
    (scheme == "file")
        .then(|| crate::remote::local_path(url))
        .transpose()
}

#[cfg(not(feature = "remote"))]
fn local_path(url: &Path, _: &str) -> Result<Option<PathBuf>> {
    Err(Failure::Data(format!(
        "{}: this build of herringbone has no URLs; install one with `cargo install --path crates/command`, or pipe \
         `curl -s URL` to `-`",
        name_of(url)
    )))
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

    #[test]
    fn unknown_schemes_name_the_known_ones() {
        let mut path = PathBuf::from("ftp://me:pw@host/a?b");
        let failure = resolve(&mut path).unwrap_err();
        assert_eq!(failure.code(), Failure::USAGE);
        let message = failure.to_string();
        assert!(
            message.starts_with("ftp://host/a?…: URLs of `ftp`"),
            "{message}"
        );
        assert!(message.contains("s3, s3a, gs, az"), "{message}");
        let mut path = PathBuf::from("a.parquet");
        assert!(resolve(&mut path).is_ok());
    }

    #[cfg(not(feature = "remote"))]
    #[test]
    fn without_the_feature_an_error_names_the_package_with_it() {
        let failure = resolve(&mut "s3://bucket/a.parquet".into()).unwrap_err();
        assert_eq!(failure.code(), Failure::DATA);
        assert!(failure.to_string().contains("--path crates/command`"));
    }
}

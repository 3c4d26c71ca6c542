//! Checks the URLs on the command line, and turns `file` URLs into paths.

use std::path::{Path, PathBuf};

use crate::base::failure::{Failure, Result};
use crate::base::url::{name_of, parts};

/// The URL schemes that we support.
const SUPPORTED: [&str; 11] = [
    "s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss", "http", "https", "file",
];

/// Replaces a `file` URL by its path. Other URLs and paths stay unchanged.
///
/// # Errors
/// Fails with [`Failure::Usage`] if the URL's scheme is not supported, and with [`Failure::Data`]
/// if the command was built without the feature `remote`.
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

/// Returns the path that a `file` URL names. `None` for URLs with other schemes.
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

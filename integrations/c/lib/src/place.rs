//! Places of files: paths and URLs.

use std::path::PathBuf;
use std::sync::Arc;

use herringbone::encryption::key_tools::{FileKeyMaterialStore, KeyMaterialStore};
use herringbone::{FileTarget, OpenOptions, ParquetFile};
use herringbone_dataset::{Dataset, DatasetOptions, DatasetWriteOptions, DatasetWriter};

#[cfg(feature = "urls")]
use {
    herringbone_dataset::urls::{UrlDirectory, UrlListing},
    herringbone_remote::blocking::{RemoteOutput, RemoteSource, wait},
    herringbone_remote::urls::{Location, SCHEMES, local_path},
};

use herringbone::arrow::schema::SchemaRef;

use crate::error::{Result, argument};
use crate::sink::Sink;

/// A path or a URL.
pub(crate) enum Place {
    Path(PathBuf),
    #[cfg(feature = "urls")]
    Url(Box<Location>),
}

impl Place {
    #[cfg(feature = "urls")]
    pub(crate) fn of(text: &str) -> Result<Self> {
        match text.split_once("://") {
            Some((scheme, _)) if SCHEMES.contains(&scheme) => {
                Ok(Self::Url(Box::new(Location::of(text)?)))
            }
            Some(("file", _)) => Ok(Self::Path(local_path(text)?)),
            _ => Ok(Self::Path(text.into())),
        }
    }

    #[cfg(not(feature = "urls"))]
    pub(crate) fn of(text: &str) -> Result<Self> {
        match text.contains("://") {
            true => Err(herringbone::Error::feature("URLs need the feature `urls`").into()),
            false => Ok(Self::Path(text.into())),
        }
    }

    /// Returns the files that have the key material of an encrypted file, if it may have some.
    pub(crate) fn key_material(&self) -> Option<Arc<dyn KeyMaterialStore>> {
        match self {
            Self::Path(path) => Some(Arc::new(FileKeyMaterialStore::new(path).ok()?)),
            #[cfg(feature = "urls")]
            Self::Url(_) => None,
        }
    }

    pub(crate) fn open(&self, options: OpenOptions) -> Result<ParquetFile> {
        match self {
            Self::Path(path) => Ok(ParquetFile::open_with(path, options)?),
            #[cfg(feature = "urls")]
            Self::Url(location) => {
                let source = RemoteSource::open(location.object()?)?;
                Ok(ParquetFile::from_source(source, options)?)
            }
        }
    }

    pub(crate) fn create(&self) -> Result<Sink> {
        match self {
            Self::Path(path) => Ok(Sink::Path(FileTarget::create(path)?)),
            #[cfg(feature = "urls")]
            Self::Url(location) => {
                let output = RemoteOutput::new(location.sink(true)?, &location.write_options())?;
                Ok(Sink::Url(Box::new(output)))
            }
        }
    }

    /// Starts a dataset in this directory or below this prefix.
    pub(crate) fn create_dataset(
        self,
        schema: SchemaRef,
        options: DatasetWriteOptions,
    ) -> Result<DatasetWriter> {
        match self {
            Self::Path(path) => Ok(DatasetWriter::create(path, schema, options)?),
            #[cfg(feature = "urls")]
            Self::Url(location) => {
                let directory = Arc::new(UrlDirectory::new(*location));
                Ok(DatasetWriter::create_in(directory, schema, options)?)
            }
        }
    }
}

/// The names of a dataset's files.
pub(crate) enum Names {
    Paths,
    #[cfg(feature = "urls")]
    Urls(Arc<UrlListing>),
}

impl Names {
    /// Returns a file's path or URL, which `hb_open` takes.
    pub(crate) fn of(&self, path: &str) -> String {
        match self {
            Self::Paths => path.to_owned(),
            #[cfg(feature = "urls")]
            Self::Urls(listing) => listing.url_of(path),
        }
    }
}

/// Opens the files of directories, patterns and lists, which are either all paths or all URLs.
pub(crate) fn open_dataset(
    places: Vec<Place>,
    options: DatasetOptions,
    skips_unreadable_keys: bool,
) -> Result<(Dataset, Names)> {
    let mut paths = Vec::new();
    #[cfg(feature = "urls")]
    let mut locations = Vec::new();
    for place in places {
        match place {
            Place::Path(path) => paths.push(path),
            #[cfg(feature = "urls")]
            Place::Url(location) => locations.push(*location),
        }
    }
    #[cfg(feature = "urls")]
    if !locations.is_empty() {
        if let Some(path) = paths.first() {
            return Err(argument(format!(
                "{}: the places of a dataset are either all paths or all URLs",
                path.display()
            )));
        }
        return open_urls(&locations, options, skips_unreadable_keys);
    }
    let _ = skips_unreadable_keys;
    Ok((Dataset::open_all(paths, options)?, Names::Paths))
}

#[cfg(feature = "urls")]
fn open_urls(
    locations: &[Location],
    options: DatasetOptions,
    skips_unreadable_keys: bool,
) -> Result<(Dataset, Names)> {
    let (listing, paths) = UrlListing::new(locations);
    let listing = Arc::new(listing);
    let opening = {
        let listing = listing.clone();
        async move { Dataset::open_async(listing, &paths, options).await }
    };
    let dataset = wait(opening)?;
    let (count, first) = listing.left_out();
    match first.first() {
        Some(key) if !skips_unreadable_keys => Err(argument(format!(
            "the listing has {count} keys that cannot be read, such as `{}`, because they have empty parts, `.`, `..` \
             or control characters; the option \"unreadable_keys\" \"skip\" leaves them out",
            key.escape_debug()
        ))),
        _ => Ok((dataset, Names::Urls(listing))),
    }
}

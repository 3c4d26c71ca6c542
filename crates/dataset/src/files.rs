//! Opening a dataset's files.

use std::fs;
use std::future::ready;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::push::FetchPolicy;
use herringbone::source::{FileSource, Source};
use herringbone::{Error, ErrorKind, MetadataHandle, ParquetFile, Remedy, Result};
use herringbone_remote::{BoxFuture, Identity, RemoteFile, RemoteOptions};

use crate::checked::{CheckedSource, check_same};
use crate::listing::Listing;
use crate::local::identity;
use crate::metadata_file::MetadataFile;
use crate::side_by_side::{block_on, in_order};
use crate::walk::DataFile;

/// The place with the files, and the options to open them with.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) listing: Arc<dyn Listing>,
    pub(crate) options: RemoteOptions,
    /// The `_metadata` files, with the footers of other files.
    pub(crate) metadata_files: Vec<MetadataFile>,
}

impl Files {
    /// Opens the `_metadata` files found in the directories.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::open_metadata_file`].
    pub(crate) async fn open_metadata_files(&mut self, found: &[(String, DataFile)]) -> Result<()> {
        for (directory, file) in found {
            let metadata = self.open_metadata_file(directory, file).await?;
            self.metadata_files.push(metadata);
        }
        Ok(())
    }

    /// Opens a directory's `_metadata` file.
    ///
    /// # Errors
    /// Fails with Unsupported if the files are encrypted, and returns the errors of opening the
    /// `_metadata` file.
    pub(crate) async fn open_metadata_file(
        &self,
        directory: &str,
        file: &DataFile,
    ) -> Result<MetadataFile> {
        // We refuse encrypted files, because an encrypted file has to prove its own authenticity.
        let mut is_encrypted = self.options.open.decryption.is_some();
        let advised = |error: Error| match error.remedy() {
            None if !error.is_of_source() => error.with_remedy(Remedy::UseOwnFooters),
            _ => error,
        };
        if !is_encrypted {
            let opened = self.open(file).await.map_err(advised)?;
            let handle = opened.metadata_handle();
            is_encrypted = handle.metadata().encryption_algorithm().is_some();
            if !is_encrypted {
                let metadata = MetadataFile::new(directory, handle).map_err(advised);
                return metadata.map_err(|error| error.in_file(&file.path));
            }
        }
        Err(advised(Error::unsupported(format!(
            "{}: a metadata file of encrypted files",
            file.path
        ))))
    }

    /// Returns this file's footer from a `_metadata` file, if there is one.
    ///
    /// # Errors
    /// Fails for the same reasons as [`MetadataFile::footer`].
    fn known_footer(&self, file: &DataFile) -> Result<Option<MetadataHandle>> {
        let length = file.identity.length;
        let mut known = self.metadata_files.iter();
        let found = known.find_map(|known| known.footer(&file.path, length).transpose());
        found.transpose()
    }

    /// Returns the file with these bytes and its footer from a `_metadata` file, if there is one.
    ///
    /// # Errors
    /// Fails for the same reasons as [`MetadataFile::footer`], and with Replaced if the length
    /// differs from the listing's.
    pub(crate) fn known_file(
        &self,
        file: &DataFile,
        source: Arc<dyn Source>,
    ) -> Result<Option<ParquetFile>> {
        let Some(known) = self.known_footer(file)? else {
            return Ok(None);
        };
        let (listed, length) = (file.identity.length, source.len());
        if listed != length {
            return Err(Error::new(
                ErrorKind::Replaced,
                format!("the file had {listed} bytes when it was listed, and now it has {length}"),
            ));
        }
        let source = CheckedSource::new(source, known.clone(), self.options(file).open);
        ParquetFile::with_metadata(source, known).map(Some)
    }

    /// Returns a future for comparing a file's footer in `_metadata` with the file's own, or `None`
    /// if `_metadata` has no footer for this file.
    ///
    /// # Errors
    /// Fails for the same reasons as [`MetadataFile::footer`]. The future fails for the same
    /// reasons as opening the file and [`check_same`].
    pub(crate) fn check(&self, file: &DataFile) -> Result<Option<BoxFuture<Result<()>>>> {
        let Some(known) = self.known_footer(file)? else {
            return Ok(None);
        };
        let object = self.listing.object(&file.path, &file.identity);
        let (options, path) = (self.options(file), file.path.clone());
        Ok(Some(Box::pin(async move {
            let own = RemoteFile::open(object, options).await;
            let same = own.and_then(|own| check_same(known.metadata(), own.metadata()));
            same.map_err(|error| error.in_file(&path))
        })))
    }

    /// Returns a file's options, including its path, because its keys can depend on the path.
    fn options(&self, file: &DataFile) -> RemoteOptions {
        let mut options = self.options.clone();
        options.open = options.open.path(&*file.path);
        options
    }

    /// Opens a file for async reads.
    pub(crate) fn open(&self, file: &DataFile) -> BoxFuture<Result<RemoteFile>> {
        let object = self.listing.object(&file.path, &file.identity);
        let (mut options, path) = (self.options(file), file.path.clone());
        let (footer, identity) = (self.known_footer(file), file.identity.clone());
        Box::pin(async move {
            let opened = match footer.map_err(|error| error.in_file(&path))? {
                Some(footer) => {
                    // We keep this footer out of the cache. The cache must only have the file's own
                    // footer, because we'll compare with that later.
                    options.cache = None;
                    RemoteFile::with_metadata(object, identity, footer, options)
                }
                None => RemoteFile::open(object, options).await,
            };
            opened.map_err(|error| error.in_file(&path))
        })
    }

    /// Opens a file for blocking reads, with its footer from the cache if possible.
    pub(crate) fn open_blocking(&self, file: &DataFile) -> Result<ParquetFile> {
        let opened = match self.listing.local_path(&file.path) {
            Some(path) => self.open_local(file, &path),
            None => match self.listing.source(&file.path, &file.identity) {
                Ok(Some(source)) => self.open_source(file, source, &file.identity),
                Ok(None) => self.open_object(file),
                Err(error) => Err(error),
            },
        };
        opened.map_err(|error| error.in_file(&file.path))
    }

    fn open_object(&self, file: &DataFile) -> Result<ParquetFile> {
        let remote = block_on(self.open(file))?;
        let handle = remote.metadata_handle().clone();
        let source = Arc::new(ObjectSource(remote));
        match self.known_file(file, source.clone())? {
            Some(known) => Ok(known),
            None => ParquetFile::with_metadata(source, handle),
        }
    }

    fn open_local(&self, file: &DataFile, path: &Path) -> Result<ParquetFile> {
        let source = Arc::new(FileSource::open(path)?);
        self.open_source(file, source, &identity(&fs::metadata(path)?))
    }

    /// Opens the file with these bytes and this identity.
    fn open_source(
        &self,
        file: &DataFile,
        source: Arc<dyn Source>,
        identity: &Identity,
    ) -> Result<ParquetFile> {
        if let Some(known) = self.known_file(file, source.clone())? {
            return Ok(known);
        }
        match self.options.cached_footer(&file.path, identity) {
            Some(footer) => ParquetFile::with_metadata(source, footer.metadata),
            None => ParquetFile::from_source(source, self.options(file).open),
        }
    }
}

/// An object's bytes, for blocking reads.
struct ObjectSource(RemoteFile);

impl ObjectSource {
    fn request(&self, range: Range<u64>) -> BoxFuture<Result<Bytes>> {
        if range.is_empty() {
            return Box::pin(ready(Ok(Bytes::new())));
        }
        self.0.fetch(range)
    }
}

impl Source for ObjectSource {
    fn len(&self) -> u64 {
        self.0.identity().length
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        block_on(self.request(range))
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut answers = Vec::with_capacity(ranges.len());
        let most = self.fetch_policy().max_requests_in_flight;
        let start = |range: &Range<u64>| self.request(range.clone());
        block_on(in_order(ranges, most, start, |bytes| {
            answers.push(bytes);
            Ok(())
        }))?;
        Ok(answers)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.0.object().fetch_policy()
    }
}

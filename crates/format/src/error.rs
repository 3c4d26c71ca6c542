//! Errors and their location in a file.
//!
//! An [`Error`] is one word wide. It consists of an [`ErrorKind`] to match on, a [`Location`] in the file, a message,
//! and sometimes a [`Remedy`]. Code that detects a problem rarely knows where in the file it is, so callers add the
//! location as the error propagates.

use std::fmt;

/// The result of operations on a Parquet file.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The cause of an error.
///
/// ```
/// use herringbone::{ErrorKind, ParquetFile};
///
/// let status = |file: &[u8]| match ParquetFile::from_bytes(file.to_vec()) {
///     Ok(_) => 200,
///     Err(error) => match error.kind() {
///         ErrorKind::Limit => 413,
///         ErrorKind::Corrupt | ErrorKind::Unsupported => 422,
///         _ => 500,
///     },
/// };
/// assert_eq!(status(b"not a Parquet file"), 422);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes break the specification.
    Corrupt,
    /// The bytes are valid, but use a feature of the format that isn't implemented.
    Unsupported,
    /// The bytes exceed one of the [`Limits`](crate::Limits).
    Limit,
    /// The file needs a codec or feature that was not compiled in.
    Feature,
    /// The caller requested something impossible.
    Argument,
    /// A key is missing or wrong.
    Key,
    /// The system failed to read or write.
    Io,
    /// The file was replaced during a read.
    Replaced,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Corrupt => "corrupt file",
            Self::Unsupported => "unsupported",
            Self::Limit => "limit exceeded",
            Self::Feature => "feature not compiled in",
            Self::Argument => "invalid argument",
            Self::Key => "key",
            Self::Io => "I/O",
            Self::Replaced => "file replaced",
        })
    }
}

/// An error's place in a file. All parts are optional.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::{Limits, ParquetFile, ReadOptions};
///
/// let limits = Limits::new().memory_bytes(1000);
/// let file = ParquetFile::open_with("testdata/example.parquet", limits)?;
/// let error = file.read(ReadOptions::new().columns(["name"]))?.next_batch().unwrap_err();
/// assert_eq!(error.location().row_group, Some(0));
/// assert_eq!(error.location().column.as_deref(), Some("name"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// The byte offset from the start of the file.
    pub offset: Option<u64>,
    /// The ordinal of the row group.
    pub row_group: Option<usize>,
    /// The column path in the Parquet schema, with its parts joined by dots.
    pub column: Option<String>,
    /// The ordinal of the page in its column chunk, counting the dictionary page.
    pub page: Option<usize>,
}

impl Location {
    /// The maximum number of bytes retained of a column path. Longer paths aren't useful and would take a lot of
    /// memory, since a file can have as many errors as pages.
    const LONGEST_COLUMN: usize = 1000;

    /// Sets the column. If the path is extremely long, it is truncated.
    pub fn set_column(&mut self, path: impl fmt::Display) {
        let mut path = path.to_string();
        if path.len() > Self::LONGEST_COLUMN {
            let mut ends = path.char_indices().map(|(end, _)| end);
            let end = ends.rfind(|end| *end <= Self::LONGEST_COLUMN);
            path.truncate(end.unwrap_or_default());
            path.push('…');
            path.shrink_to_fit();
        }
        self.column = Some(path);
    }
}

impl fmt::Display for Location {
    /// Formats the known parts: `column a.b, row group 0, page 3, offset 0x1f40`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        let mut part = |f: &mut fmt::Formatter<'_>, name: &str, value: &dyn fmt::Display| {
            let result = write!(f, "{comma}{name} {value}");
            comma = ", ";
            result
        };
        if let Some(column) = &self.column {
            part(f, "column", column)?;
        }
        if let Some(row_group) = self.row_group {
            part(f, "row group", &row_group)?;
        }
        if let Some(page) = self.page {
            part(f, "page", &page)?;
        }
        if let Some(offset) = self.offset {
            part(f, "offset", &format_args!("{offset:#x}"))?;
        }
        Ok(())
    }
}

/// A way for the caller to avoid the error for the same bytes.
///
/// A remedy's text names this library's options. If your program has its own options, for example as a command does,
/// you can build your own text from the parts of an [`Error`].
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::{Limits, ParquetFile, ReadOptions, Remedy};
///
/// let limits = Limits::new().memory_bytes(1000);
/// let file = ParquetFile::open_with("testdata/example.parquet", limits)?;
/// let error = file.read(ReadOptions::new())?.next_batch().unwrap_err();
/// assert_eq!(error.remedy(), Some(Remedy::RaiseLimit("memory_bytes")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// Raise the field of [`Limits`](crate::Limits) with this name.
    RaiseLimit(&'static str),
    /// Read pages without verifying their checksums.
    IgnoreChecksums,
    /// Read without the Arrow schema embedded in the file.
    IgnoreArrowSchema,
    /// Read a column as it is stored, and a map as a list of structs.
    IgnoreAnnotations,
    /// Accept variants shredded against the format's rules.
    LenientVariants,
    /// Choose another unit for INT96 timestamps, or another treatment of out-of-range values.
    ChooseInt96Unit,
    /// Select columns by the ordinals of their leaves.
    ChooseLeaves,
    /// Supply a schema for a file without one.
    GiveSchema,
    /// Supply the number of rows per row group.
    GiveRowGroupRows,
    /// Enlarge the program's memory pool, or read less at the same time.
    EnlargeMemoryPool,
    /// Supply decryption keys.
    GiveKeys,
    /// Allow plaintext to be read where encryption is expected.
    AllowPlaintext,
    /// Allow an encryption algorithm.
    AllowAlgorithm,
    /// Supply the AAD prefix, which isn't stored in the file.
    SupplyAadPrefix,
    /// Choose the folder for a sort's temporary files, or sort more rows in memory.
    ChooseSortFolder,
    /// Exclude the column named in the error.
    LeaveOutColumn,
    /// Match the columns of several files by name.
    MergeByName,
    /// Cast several files' values to a common type.
    MergeCasting,
    /// Match several files' columns by name and cast their values to a common type.
    MergeByNameCasting,
    /// Write each file without encryption and encrypt the new file afterwards.
    DecryptFirst,
    /// Increase the memory for sorting.
    RaiseSortMemory,
    /// Write decimals with too many digits, and times outside a day, unchanged.
    AllowOutOfRange,
    /// Read a dataset's files by their own footers, rather than by the footers in `_metadata`.
    UseOwnFooters,
    /// Open the files with the column chunks, because this file doesn't have them.
    OpenChunkFiles,
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RaiseLimit(_) => "raise it in `Limits`",
            Self::EnlargeMemoryPool => "enlarge the pool or run fewer reads at once",
            Self::IgnoreChecksums => "reading without `verify_crc` ignores it",
            Self::IgnoreArrowSchema => "reading without `use_arrow_schema` ignores that schema",
            Self::IgnoreAnnotations => {
                "`ignore_annotations` reads the column as stored: a map as a list of structs"
            }
            Self::LenientVariants => "`UnshredOptions::lenient` uses the shredded columns",
            Self::ChooseInt96Unit => {
                "read it in a coarser unit, as null, or wrapped around (`Int96Overflow`)"
            }
            Self::ChooseLeaves => "choose one by its leaf index",
            Self::GiveSchema => "supply it with `RepairOptions::schema`",
            Self::GiveRowGroupRows => "supply their number with `RepairOptions::row_group_rows`",
            Self::GiveKeys => "supply them with `decryption` (feature `encryption`)",
            Self::AllowPlaintext => "`allow_plaintext` reads it anyway",
            Self::AllowAlgorithm => "`allowed_algorithms` allows it",
            Self::SupplyAadPrefix => "supply it with `aad_prefix`",
            Self::ChooseSortFolder => {
                "set another `sort_folder`, or raise `sort_memory_bytes` to sort more rows without \
                 one"
            }
            Self::LeaveOutColumn => "a projection leaves the column out",
            Self::MergeByName => "`SchemaMerge::by_name` finds columns by name",
            Self::MergeCasting => "`SchemaMerge::cast` reads them as a type that holds all values",
            Self::MergeByNameCasting => {
                "`SchemaMerge` with `by_name` and `cast` reads them together"
            }
            Self::DecryptFirst => "choose another encryption, or none, with `Protection`",
            Self::RaiseSortMemory => {
                "raise `sort_memory_bytes`, or sort values without dictionaries"
            }
            Self::AllowOutOfRange => "`WriteOptions::allow_out_of_range` writes it as it is",
            Self::UseOwnFooters => {
                "open the directory without `DatasetOptions::use_metadata_file`, or write `_metadata` again"
            }
            Self::OpenChunkFiles => {
                "open it with `ParquetFile::with_chunk_files`, or all files with `herringbone-dataset`"
            }
        })
    }
}

/// An error with its kind, message, location and remedy.
///
/// ```
/// use herringbone::{ErrorKind, ParquetFile};
///
/// let error = ParquetFile::from_bytes("not Parquet").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Corrupt);
/// println!("{error}");
/// // The location has all known parts.
/// let error = error.in_row_group(2).in_column("a.b");
/// assert_eq!(error.location().row_group, Some(2));
/// assert_eq!(error.location().column.as_deref(), Some("a.b"));
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    location: Location,
    remedy: Option<Remedy>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Creates an error of `kind`.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            location: Location::default(),
            remedy: None,
            source: None,
        }))
    }

    /// Creates an error for bytes that break the specification.
    #[cold]
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// Creates an error for valid bytes with an unimplemented feature.
    #[cold]
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Creates an error for an exceeded limit. Pass the name of the field in [`Limits`](crate::Limits) as `limit`.
    #[cold]
    pub fn limit(limit: &'static str, asked: u64, allowed: u64) -> Self {
        let message = format!("{asked} is more than the limit `{limit}` of {allowed}");
        Self::new(ErrorKind::Limit, message).with_remedy(Remedy::RaiseLimit(limit))
    }

    /// Creates an error for a memory pool that refused `asked` bytes to a read already holding `held` bytes.
    #[cold]
    #[doc(hidden)] // For the crates of this workspace.
    pub fn pool_refused(asked: u64, held: u64) -> Self {
        let message =
            format!("the memory pool refused {asked} bytes to a read that already holds {held}");
        Self::new(ErrorKind::Limit, message).with_remedy(Remedy::EnlargeMemoryPool)
    }

    /// Creates an error for more of `what` than the format can represent. Unlike with [`Self::limit`], there is no
    /// limit to raise.
    #[cold]
    #[doc(hidden)] // For the crates of this workspace.
    pub fn beyond_format(what: &str, asked: u64, allowed: u64) -> Self {
        let message = format!("{asked} {what}, but the format allows at most {allowed}");
        Self::new(ErrorKind::Limit, message)
    }

    /// Creates an error for a disabled cargo feature.
    #[cold]
    pub fn feature(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Feature, message)
    }

    /// Creates an error for a caller's mistake.
    #[cold]
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Argument, message)
    }

    /// Returns true if the file's bytes were not available, because the system failed to read or write or the file was
    /// replaced. That is, the file itself isn't at fault.
    #[must_use]
    pub fn is_of_source(&self) -> bool {
        matches!(self.kind(), ErrorKind::Io | ErrorKind::Replaced)
    }

    /// Creates an error with the message of `source`, which it keeps.
    #[must_use]
    pub fn with_source(
        kind: ErrorKind,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let source = source.into();
        let mut error = Self::new(kind, source.to_string());
        error.0.source = Some(source);
        error
    }

    /// Returns the underlying I/O error, if there is one.
    #[must_use]
    pub fn io_error(&self) -> Option<&std::io::Error> {
        self.0.source.as_ref()?.downcast_ref()
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the message, without kind, location and remedy.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the name of the exceeded [`Limits`](crate::Limits) field, if this error has one.
    #[must_use]
    pub fn limit_name(&self) -> Option<&'static str> {
        match self.0.remedy {
            Some(Remedy::RaiseLimit(limit)) => Some(limit),
            _ => None,
        }
    }

    /// Returns a way to avoid this error, if there is one.
    #[must_use]
    pub fn remedy(&self) -> Option<Remedy> {
        self.0.remedy
    }

    /// Adds a remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    /// Returns the location.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// Puts the file's name at the start of the message, unless the message already contains it.
    ///
    /// Readers of dataset files and of any file with a path do this, so that a message makes sense without the call
    /// that caused it.
    #[must_use]
    pub fn in_file(mut self, name: &str) -> Self {
        if name.is_empty() || self.names(name) {
            return self;
        }
        self.0.message = format!("{name}: {}", self.0.message);
        self
    }

    /// Returns true if the message already names the file, at its start or as the end of a longer path.
    fn names(&self, name: &str) -> bool {
        let rest = self.0.message.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with([':', ',']))
            || self.0.message.contains(&format!("/{name}"))
    }

    /// Adds the byte offset in the file, unless the error already has a more precise one.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.0.location.offset.get_or_insert(offset);
        self
    }

    /// Adds the row group's ordinal, unless the error already has one.
    #[must_use]
    pub fn in_row_group(mut self, row_group: usize) -> Self {
        self.0.location.row_group.get_or_insert(row_group);
        self
    }

    /// Adds the column path, unless the error already has one.
    #[must_use]
    pub fn in_column(mut self, column: impl fmt::Display) -> Self {
        if self.0.location.column.is_none() {
            self.0.location.set_column(column);
        }
        self
    }

    /// Adds the page's ordinal in its column chunk, unless the error already has one.
    #[must_use]
    pub fn in_page(mut self, page: usize) -> Self {
        self.0.location.page.get_or_insert(page);
        self
    }
}

impl fmt::Display for Error {
    /// Formats the error, for example as `corrupt file: page body ends early (column a.b, row group 0, page 3, offset
    /// 0x1f40)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            kind,
            message,
            location,
            remedy,
            ..
        } = &*self.0;
        write!(f, "{kind}: {message}")?;
        if let Some(remedy) = remedy {
            write!(f, "; {remedy}")?;
        }
        if *location == Location::default() {
            return Ok(());
        }
        write!(f, " ({location})")
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {
    /// Returns the underlying error from the caller's code or Arrow. An I/O error isn't returned here, because its
    /// message is already part of this error's message. Use [`Error::io_error`] to get it.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = self.0.source.as_ref()?;
        match source.downcast_ref::<std::io::Error>() {
            Some(io) => std::error::Error::source(io),
            None => Some(&**source as _),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_one_word() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }

    #[test]
    fn shows_the_place_it_knows() {
        let error = Error::corrupt("page body ends early");
        assert_eq!(error.to_string(), "corrupt file: page body ends early");
        let error = error
            .in_page(3)
            .in_row_group(0)
            .in_column("a.b")
            .at_offset(0x1f40);
        assert_eq!(
            error.to_string(),
            "corrupt file: page body ends early (column a.b, row group 0, page 3, offset 0x1f40)"
        );
    }

    #[test]
    fn what_helps_stands_before_the_place() {
        let error = Error::limit("page_bytes", 9, 8).in_row_group(0);
        assert_eq!(
            error.to_string(),
            "limit exceeded: 9 is more than the limit `page_bytes` of 8; raise it in `Limits` \
             (row group 0)"
        );
        assert_eq!(
            error.message(),
            "9 is more than the limit `page_bytes` of 8"
        );
        assert_eq!(error.remedy(), Some(Remedy::RaiseLimit("page_bytes")));
        assert_eq!(error.limit_name(), Some("page_bytes"));
        let error = Error::beyond_format("bytes of a page", 9, 8);
        assert_eq!((error.limit_name(), error.remedy()), (None, None));
    }

    #[test]
    fn long_paths_are_cut() {
        let path = "é".repeat(1000);
        let error = Error::corrupt("x").in_column(&path);
        let column = error.location().column.as_deref().unwrap();
        assert_eq!(column, "é".repeat(500) + "…");
        let error = Error::corrupt("x").in_column(&path[..1000]);
        assert_eq!(error.location().column.as_deref(), Some(&path[..1000]));
    }

    #[test]
    fn the_source_is_kept() {
        use std::error::Error as _;
        let io = || std::io::Error::other("x");
        let error = Error::from(io());
        let is_io = |error: &Error| error.io_error().is_some();
        assert_eq!((error.kind(), is_io(&error)), (ErrorKind::Io, true));
        let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(io());
        let error = Error::from(boxed).in_row_group(2);
        assert_eq!(error.to_string(), "invalid argument: x (row group 2)");
        assert!(is_io(&error));
        let boxed: Box<dyn std::error::Error + Send + Sync> = Box::new(Error::corrupt("y"));
        let error = Error::from(boxed);
        assert_eq!((error.kind(), error.message()), (ErrorKind::Corrupt, "y"));
        assert!(error.source().is_none());
    }

    #[test]
    fn the_innermost_place_wins() {
        let error = Error::corrupt("x").at_offset(1).at_offset(2);
        assert_eq!(error.location().offset, Some(1));
    }
}

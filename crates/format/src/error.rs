//! What went wrong, and where in the file.
//!
//! An [`Error`] is one word wide. Its [`ErrorKind`] says whose fault it is, its [`Location`] says
//! where in the file, and its message says what to do about it. Code that finds a problem knows the
//! problem but seldom the place, so the place is added on the way out by the callers that know it.

use std::fmt;

/// The result of everything that touches a Parquet file.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whose fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes break the specification.
    Corrupt,
    /// The bytes are valid, but this feature of the format is not implemented.
    Unsupported,
    /// The bytes ask for more than [`Limits`](crate::Limits) allows.
    Limit,
    /// The codec or feature that the bytes need was not compiled in.
    Feature,
    /// The caller asked for something that cannot be done.
    Argument,
    /// A key is missing or wrong.
    Key,
    /// The system refused to read or write.
    Io,
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
        })
    }
}

/// Where in the file; each part is present when it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Location {
    /// Byte offset from the start of the file.
    pub offset: Option<u64>,
    /// Ordinal of the row group.
    pub row_group: Option<usize>,
    /// Path of the column in the Parquet schema, its parts joined by dots.
    pub column: Option<String>,
    /// Ordinal of the page in its column chunk, dictionary page included.
    pub page: Option<usize>,
}

impl Location {
    /// Bytes of a column path that are kept. Nobody reads more, and a file may have as many errors as
    /// pages.
    const LONGEST_COLUMN: usize = 1000;

    /// Sets the column; of a path of absurd length, its beginning.
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
    /// `column a.b, row group 0, page 3, offset 0x1f40`: the parts that are known.
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

/// An error with its kind, its message and its place.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: String,
    location: Location,
    limit: Option<&'static str>,
    source: Option<std::io::Error>,
}

impl Error {
    /// An error of `kind`.
    #[cold]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            location: Location::default(),
            limit: None,
            source: None,
        }))
    }

    /// The bytes break the specification.
    #[cold]
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// Valid, but not implemented.
    #[cold]
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// More than a limit allows. `limit` is the name of the field of [`Limits`](crate::Limits).
    #[cold]
    pub fn limit(limit: &'static str, asked: u64, allowed: u64) -> Self {
        let mut error = Self::new(
            ErrorKind::Limit,
            format!("{asked} is more than the limit `{limit}` of {allowed}; raise it in `Limits`"),
        );
        error.0.limit = Some(limit);
        error
    }

    /// Needs a cargo feature that is off.
    #[cold]
    pub fn feature(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Feature, message)
    }

    /// The caller's mistake.
    #[cold]
    pub fn argument(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Argument, message)
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What went wrong, without kind and place.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Which of the [`Limits`](crate::Limits) the bytes ask to exceed, if it is one of them.
    #[must_use]
    pub fn limit_name(&self) -> Option<&'static str> {
        self.0.limit
    }

    /// The place.
    #[must_use]
    pub fn location(&self) -> &Location {
        &self.0.location
    }

    /// Adds the byte offset in the file, unless a more precise one is known already.
    #[must_use]
    pub fn at_offset(mut self, offset: u64) -> Self {
        self.0.location.offset.get_or_insert(offset);
        self
    }

    /// Adds the ordinal of the row group, unless known already.
    #[must_use]
    pub fn in_row_group(mut self, row_group: usize) -> Self {
        self.0.location.row_group.get_or_insert(row_group);
        self
    }

    /// Adds the column path, unless known already.
    #[must_use]
    pub fn in_column(mut self, column: impl fmt::Display) -> Self {
        if self.0.location.column.is_none() {
            self.0.location.set_column(column);
        }
        self
    }

    /// Adds the ordinal of the page in its column chunk, unless known already.
    #[must_use]
    pub fn in_page(mut self, page: usize) -> Self {
        self.0.location.page.get_or_insert(page);
        self
    }
}

impl From<std::io::Error> for Error {
    #[cold]
    fn from(source: std::io::Error) -> Self {
        let mut error = Self::new(ErrorKind::Io, source.to_string());
        error.0.source = Some(source);
        error
    }
}

impl fmt::Display for Error {
    /// `corrupt file: page body ends early (column a.b, row group 0, page 3, offset 0x1f40)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            kind,
            message,
            location,
            ..
        } = &*self.0;
        write!(f, "{kind}: {message}")?;
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
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
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
    fn long_paths_are_cut() {
        let path = "é".repeat(1000);
        let error = Error::corrupt("x").in_column(&path);
        let column = error.location().column.as_deref().unwrap();
        assert_eq!(column, "é".repeat(500) + "…");
        let error = Error::corrupt("x").in_column(&path[..1000]);
        assert_eq!(error.location().column.as_deref(), Some(&path[..1000]));
    }

    #[test]
    fn the_innermost_place_wins() {
        let error = Error::corrupt("x").at_offset(1).at_offset(2);
        assert_eq!(error.location().offset, Some(1));
    }
}

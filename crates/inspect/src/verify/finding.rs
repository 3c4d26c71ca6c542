//! Findings: the problems of a file.

use std::collections::VecDeque;
use std::fmt;

use herringbone_format::{Error, ErrorKind, Location, Result};

/// A problem in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The subject of the finding.
    pub kind: FindingKind,
    /// The severity of the problem.
    pub severity: Severity,
    /// The location of the problem.
    pub location: Location,
    /// A sentence that describes the problem.
    pub message: String,
}

impl fmt::Display for Finding {
    /// Formats the finding: `error statistics: null_count is 3, there are 4 nulls (column a, row group 0)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            severity,
            location,
            message,
        } = self;
        write!(f, "{severity} {kind}: {message}")?;
        if *location == Location::default() {
            return Ok(());
        }
        write!(f, " ({location})")
    }
}

/// The severity of a [`Finding`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file violates the specification, but no reader returns other rows because of it.
    Note,
    /// Readers without a workaround may fail or return wrong rows, or something could not be checked.
    Warning,
    /// A reader that trusts the file fails or returns wrong rows.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// Declares the kinds with their names.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The subject of a [`Finding`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[$doc])* $name,)*
        }

        impl fmt::Display for FindingKind {
            /// Formats the name in snake case.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $(Self::$name => $text,)*
                })
            }
        }
    };
}

kinds! {
    /// The first bytes of a file.
    Magic = "magic",
    /// Metadata of the whole file in the footer.
    Footer = "footer",
    /// Annotations in the schema.
    Schema = "schema",
    /// The Arrow schema in the key-value metadata.
    ArrowSchema = "arrow_schema",
    /// Metadata of a row group in the footer.
    RowGroup = "row_group",
    /// Metadata of a column chunk in the footer, except statistics.
    ColumnMetadata = "column_metadata",
    /// An offset or length outside the file.
    Range = "range",
    /// Overlapping parts of the file.
    Overlap = "overlap",
    /// A page header, or its claims about its page.
    PageHeader = "page_header",
    /// The checksum of a page.
    Checksum = "checksum",
    /// The body of a page: compression, levels, values, dictionary indices.
    Page = "page",
    /// The lists and structs defined by the levels.
    Nesting = "nesting",
    /// Text that is not UTF-8.
    Utf8 = "utf8",
    /// Integers outside the range of their annotation, and values in a column that must be all null.
    Value = "value",
    /// Times outside a day.
    Time = "time",
    /// Values of VARIANT columns, and their shredding.
    Variant = "variant",
    /// Decimals with more digits than their precision.
    Decimal = "decimal",
    /// Invalid geometries, and geometry columns with an unknown meaning.
    Geometry = "geometry",
    /// The GeoParquet metadata, alone and compared with the file.
    GeoParquet = "geoparquet",
    /// The numbers of rows.
    Rows = "rows",
    /// Statistics of a column chunk or a page.
    Statistics = "statistics",
    /// Size statistics of a column chunk.
    SizeStatistics = "size_statistics",
    /// Geospatial statistics of a column chunk.
    GeospatialStatistics = "geospatial_statistics",
    /// The declared encodings of a column chunk.
    Encodings = "encodings",
    /// A column index.
    ColumnIndex = "column_index",
    /// An offset index.
    OffsetIndex = "offset_index",
    /// A bloom filter.
    BloomFilter = "bloom_filter",
    /// The declared sorting columns of a row group.
    Sorting = "sorting",
    /// Omitted findings, because a part of the file has too many.
    LeftOut = "left_out",
    /// Parts that could not be checked: encrypted, in another file, unknown or beyond a limit.
    NotChecked = "not_checked",
}

/// The maximum number of listed findings per part of a file. Even a small file may have very many.
const MAX_FINDINGS: usize = 1000;

/// The maximum number of bytes in a message, which may quote the file.
const MAX_MESSAGE_BYTES: usize = 4096;

/// Findings waiting to be returned, and the location of further findings.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) findings: VecDeque<Finding>,
    pub(super) location: Location,
    /// The number of omitted findings, and their highest severity.
    left_out: Option<(u64, Severity)>,
}

impl Report {
    pub(super) fn error(&mut self, kind: FindingKind, message: impl Into<String>) {
        self.push(Severity::Error, kind, message.into());
    }

    pub(super) fn warning(&mut self, kind: FindingKind, message: impl Into<String>) {
        self.push(Severity::Warning, kind, message.into());
    }

    pub(super) fn note(&mut self, kind: FindingKind, message: impl Into<String>) {
        self.push(Severity::Note, kind, message.into());
    }

    pub(super) fn push(&mut self, severity: Severity, kind: FindingKind, message: String) {
        self.push_at(severity, kind, self.location.clone(), message);
    }

    fn push_at(
        &mut self,
        severity: Severity,
        kind: FindingKind,
        location: Location,
        mut message: String,
    ) {
        if self.findings.len() >= MAX_FINDINGS {
            let (before, worst) = self.left_out.unwrap_or((0, severity));
            self.left_out = Some((before + 1, worst.max(severity)));
            return;
        }
        if message.len() > MAX_MESSAGE_BYTES {
            let mut ends = message.char_indices().map(|(end, _)| end);
            let end = ends.rfind(|end| *end <= MAX_MESSAGE_BYTES);
            message.truncate(end.unwrap_or_default());
            message.push('…');
        }
        self.findings.push_back(Finding {
            kind,
            severity,
            location,
            message,
        });
    }

    /// Reports the number of omitted findings of the part.
    pub(super) fn close(&mut self) {
        if let Some((more, severity)) = self.left_out.take() {
            self.end_page();
            self.findings.push_back(Finding {
                kind: FindingKind::LeftOut,
                severity,
                location: self.location.clone(),
                message: format!("{more} more findings"),
            });
        }
    }

    /// Reports that something could not be read or decoded.
    ///
    /// # Errors
    /// Io, which is not a fault of the file.
    pub(super) fn failed(&mut self, kind: FindingKind, error: Error) -> Result<()> {
        let (kind, severity) = match error.kind() {
            ErrorKind::Io | ErrorKind::Replaced => return Err(error),
            ErrorKind::Corrupt => (kind, Severity::Error),
            _ => (FindingKind::NotChecked, Severity::Warning),
        };
        let mut location = error.location().clone();
        let here = &self.location;
        location.offset = location.offset.or(here.offset);
        location.row_group = location.row_group.or(here.row_group);
        location.page = location.page.or(here.page);
        location.column = location.column.or_else(|| here.column.clone());
        self.push_at(severity, kind, location, error.message().to_owned());
        Ok(())
    }

    /// Sets the location of further findings to the page at `offset`.
    pub(super) fn begin_page(&mut self, page: usize, offset: u64) {
        self.location.page = Some(page);
        self.location.offset = Some(offset);
    }

    /// Removes the page from the location of further findings.
    pub(super) fn end_page(&mut self) {
        self.location.page = None;
        self.location.offset = None;
    }
}

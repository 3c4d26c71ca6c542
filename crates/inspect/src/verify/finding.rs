//! Findings, that is, problems in a file.

use std::collections::VecDeque;
use std::fmt;

use herringbone_format::{Error, ErrorKind, Location, Result};

/// A problem in a file. Filter by severity to decide which findings matter to you.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The part or property of the file that has the problem.
    pub kind: FindingKind,
    /// The severity of the problem.
    pub severity: Severity,
    /// The location of the problem.
    pub location: Location,
    /// A sentence that describes the problem.
    pub message: String,
}

impl fmt::Display for Finding {
    /// Formats the finding, for example as `error statistics: null_count is 3, there are 4 nulls
    /// (column a, row group 0)`.
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
    /// The file violates the specification, but no reader returns wrong rows because of it.
    Note,
    /// Readers without a workaround might fail or return wrong rows. Also used if something
    /// couldn't be checked.
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

/// Declares the kinds along with their names, so that no kind can lack a name.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The subject of a [`Finding`]: a part or property of the file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[$doc])* $name,)*
        }

        impl fmt::Display for FindingKind {
            /// Formats the kind's name in snake case.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $(Self::$name => $text,)*
                })
            }
        }
    };
}

kinds! {
    /// The first bytes of the file.
    Magic = "magic",
    /// Footer metadata about the whole file.
    Footer = "footer",
    /// Annotations in the schema.
    Schema = "schema",
    /// The Arrow schema in the key-value metadata.
    ArrowSchema = "arrow_schema",
    /// Footer metadata about a row group.
    RowGroup = "row_group",
    /// Footer metadata about a column chunk, except for statistics.
    ColumnMetadata = "column_metadata",
    /// An offset or length outside of the file.
    Range = "range",
    /// Overlapping parts of the file.
    Overlap = "overlap",
    /// A page header, or its claims about its page.
    PageHeader = "page_header",
    /// A page's checksum.
    Checksum = "checksum",
    /// A page's body: compression, levels, values or dictionary indices.
    Page = "page",
    /// The lists and structs that the levels define.
    Nesting = "nesting",
    /// Text that is not UTF-8.
    Utf8 = "utf8",
    /// Integers outside their annotation's range, and values in a column that must be all null.
    Value = "value",
    /// Times outside a day.
    Time = "time",
    /// VARIANT values and their shredding.
    Variant = "variant",
    /// Decimals with more digits than their precision.
    Decimal = "decimal",
    /// Invalid geometries, and geometry columns of unknown meaning.
    Geometry = "geometry",
    /// GeoParquet metadata, on its own and compared with the file.
    GeoParquet = "geoparquet",
    /// Row counts.
    Rows = "rows",
    /// The statistics of a column chunk or a page.
    Statistics = "statistics",
    /// A column chunk's size statistics.
    SizeStatistics = "size_statistics",
    /// A column chunk's geospatial statistics.
    GeospatialStatistics = "geospatial_statistics",
    /// The encodings that a column chunk declares.
    Encodings = "encodings",
    /// A column index.
    ColumnIndex = "column_index",
    /// An offset index.
    OffsetIndex = "offset_index",
    /// A bloom filter.
    BloomFilter = "bloom_filter",
    /// The sorting columns that a row group declares.
    Sorting = "sorting",
    /// A summary of omitted findings, for a part of the file with too many.
    LeftOut = "left_out",
    /// Unchecked parts, because they are encrypted, in another file, unknown or beyond a limit.
    NotChecked = "not_checked",
}

/// The maximum number of findings listed per part of a file. Even a small file can have a huge
/// number of them, so this bounds the memory.
const MAX_FINDINGS: usize = 1000;

/// The maximum number of bytes in a message. We have to limit this, since messages can quote the
/// file.
const MAX_MESSAGE_BYTES: usize = 4096;

/// Pending findings and the current location for new findings.
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

    /// Reports how many findings of this part were omitted.
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

    /// Reports a read or decode failure.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] or [`ErrorKind::Replaced`] if the error has this kind, because
    /// it isn't the file's fault.
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

    /// Sets the location of new findings to the page at `offset`.
    pub(super) fn begin_page(&mut self, page: usize, offset: u64) {
        self.location.page = Some(page);
        self.location.offset = Some(offset);
    }

    /// Removes the page from the location of new findings.
    pub(super) fn end_page(&mut self) {
        self.location.page = None;
        self.location.offset = None;
    }
}

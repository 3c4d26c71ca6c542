//! What is wrong with a file.

use std::collections::VecDeque;
use std::fmt;

use herringbone_format::{Error, ErrorKind, Location, Result};

/// Something in a file that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What is concerned.
    pub kind: FindingKind,
    /// How bad it is.
    pub severity: Severity,
    /// Where it is.
    pub location: Location,
    /// What is wrong, in a sentence.
    pub message: String,
}

impl fmt::Display for Finding {
    /// `error statistics: null_count is 3, there are 4 nulls (column a, row group 0)`
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

/// How bad a [`Finding`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The file is not as the specification has it, but no reader gets other rows because of it.
    Note,
    /// Readers that do not know better may fail or get wrong rows; or something could not be checked.
    Warning,
    /// A reader that believes the file fails, or gets wrong rows.
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
        /// What a [`Finding`] is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FindingKind {
            $($(#[$doc])* $name,)*
        }

        impl fmt::Display for FindingKind {
            /// The name in snake case.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $(Self::$name => $text,)*
                })
            }
        }
    };
}

kinds! {
    /// The bytes that a file starts with.
    Magic = "magic",
    /// What the footer says of the file as a whole.
    Footer = "footer",
    /// Annotations in the schema.
    Schema = "schema",
    /// The Arrow schema among the key-value metadata.
    ArrowSchema = "arrow_schema",
    /// What the footer says of a row group.
    RowGroup = "row_group",
    /// What the footer says of a column chunk, but for its statistics.
    ColumnMetadata = "column_metadata",
    /// An offset or length that leads out of the file.
    Range = "range",
    /// Parts of the file that lie over each other.
    Overlap = "overlap",
    /// A page header, or what it says of its page.
    PageHeader = "page_header",
    /// The checksum of a page.
    Checksum = "checksum",
    /// The body of a page: compression, levels, values, dictionary indices.
    Page = "page",
    /// Lists and structs that the levels make.
    Nesting = "nesting",
    /// Text that is not UTF-8.
    Utf8 = "utf8",
    /// Integers beyond the bits of their annotation, and values in a column of nulls alone.
    Value = "value",
    /// Times that are of no day.
    Time = "time",
    /// Values of VARIANT columns, and how they are shredded.
    Variant = "variant",
    /// Decimals with more digits than their precision.
    Decimal = "decimal",
    /// Geometries that are none, and columns of them whose meaning nobody knows.
    Geometry = "geometry",
    /// The GeoParquet metadata, by themselves and against the file.
    GeoParquet = "geoparquet",
    /// Numbers of rows.
    Rows = "rows",
    /// Statistics of a column chunk or a page.
    Statistics = "statistics",
    /// Size statistics of a column chunk.
    SizeStatistics = "size_statistics",
    /// Geospatial statistics of a column chunk.
    GeospatialStatistics = "geospatial_statistics",
    /// The encodings that a column chunk is said to have.
    Encodings = "encodings",
    /// A column index.
    ColumnIndex = "column_index",
    /// An offset index.
    OffsetIndex = "offset_index",
    /// A bloom filter.
    BloomFilter = "bloom_filter",
    /// The columns that a row group is said to be sorted by.
    Sorting = "sorting",
    /// Findings that are not listed, as there are too many of a part of the file.
    LeftOut = "left_out",
    /// What could not be checked: it is encrypted, in another file, unknown or beyond a limit.
    NotChecked = "not_checked",
}

/// Findings of one part of a file that are listed: a small file may have very many.
const MOST: usize = 1000;

/// Bytes of a message: it may tell what the file says.
const LONGEST_MESSAGE: usize = 4096;

/// Findings that wait to be given out, and the place of the next ones.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) findings: VecDeque<Finding>,
    pub(super) location: Location,
    /// How many were left out, and how bad the worst of them is.
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
        if self.findings.len() >= MOST {
            let (before, worst) = self.left_out.unwrap_or((0, severity));
            self.left_out = Some((before + 1, worst.max(severity)));
            return;
        }
        if message.len() > LONGEST_MESSAGE {
            let mut ends = message.char_indices().map(|(end, _)| end);
            let end = ends.rfind(|end| *end <= LONGEST_MESSAGE);
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

    /// Says how many findings of the part are not listed.
    pub(super) fn close(&mut self) {
        if let Some((more, severity)) = self.left_out.take() {
            self.leave_page();
            self.findings.push_back(Finding {
                kind: FindingKind::LeftOut,
                severity,
                location: self.location.clone(),
                message: format!("{more} findings more"),
            });
        }
    }

    /// Something could not be read or decoded.
    ///
    /// # Errors
    /// Io: that says nothing about the file.
    pub(super) fn failed(&mut self, kind: FindingKind, error: Error) -> Result<()> {
        let (kind, severity) = match error.kind() {
            ErrorKind::Io => return Err(error),
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

    /// Further findings are of the page at `offset`.
    pub(super) fn enter_page(&mut self, page: usize, offset: u64) {
        self.location.page = Some(page);
        self.location.offset = Some(offset);
    }

    /// Further findings are of no page.
    pub(super) fn leave_page(&mut self) {
        self.location.page = None;
        self.location.offset = None;
    }
}

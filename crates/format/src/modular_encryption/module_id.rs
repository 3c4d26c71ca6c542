//! Identifies a module in a file.

use std::fmt;

use crate::{Error, Result};

/// The maximum number of row groups, columns, and data pages per column chunk in an encrypted file. There's a maximum
/// because ordinals are signed 16-bit integers.
pub const MAX_ORDINALS: usize = 1 << 15;

/// The content of a module. The numbers are from section 4.4.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ModuleKind {
    /// The file metadata.
    Footer = 0,
    /// Column chunk metadata encrypted with a key other than the footer's.
    ColumnMetadata = 1,
    /// The body of a data page.
    DataPage = 2,
    /// The body of a dictionary page.
    DictionaryPage = 3,
    /// The header of a data page.
    DataPageHeader = 4,
    /// The header of a dictionary page.
    DictionaryPageHeader = 5,
    /// The column index of a column chunk.
    ColumnIndex = 6,
    /// The offset index of a column chunk.
    OffsetIndex = 7,
    /// The header of a bloom filter.
    BloomFilterHeader = 8,
    /// The bits of a bloom filter.
    BloomFilterBitset = 9,
}

impl ModuleKind {
    /// Returns true for the body of a page. In AES_GCM_CTR_V1, only page bodies are encrypted with CTR.
    #[must_use]
    pub fn is_page_body(self) -> bool {
        matches!(self, Self::DataPage | Self::DictionaryPage)
    }

    /// Returns true if the module occurs once per data page.
    #[must_use]
    pub fn has_page_ordinal(self) -> bool {
        matches!(self, Self::DataPage | Self::DataPageHeader)
    }

    /// Returns the name used in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Footer => "footer",
            Self::ColumnMetadata => "column metadata",
            Self::DataPage => "data page",
            Self::DictionaryPage => "dictionary page",
            Self::DataPageHeader => "header of data page",
            Self::DictionaryPageHeader => "header of the dictionary page",
            Self::ColumnIndex => "column index",
            Self::OffsetIndex => "offset index",
            Self::BloomFilterHeader => "header of the bloom filter",
            Self::BloomFilterBitset => "bits of the bloom filter",
        }
    }
}

/// A module's identity within a file. It becomes part of the additional authenticated data, so that modules cannot be
/// swapped. All ordinals start at 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModuleId {
    /// The module's content.
    pub kind: ModuleKind,
    /// The ordinal of the row group, or 0 for the footer.
    pub row_group: usize,
    /// The ordinal of the column chunk in its row group, or 0 for the footer.
    pub column: usize,
    /// The ordinal of the data page in its column chunk, not counting the dictionary page. Modules outside of data
    /// pages have 0.
    pub page: usize,
}

impl ModuleId {
    /// The footer's module.
    pub const FOOTER: Self = Self {
        kind: ModuleKind::Footer,
        row_group: 0,
        column: 0,
        page: 0,
    };

    /// Returns the id of a per-chunk module.
    #[must_use]
    pub fn of_column(kind: ModuleKind, row_group: usize, column: usize) -> Self {
        Self::of_page(kind, row_group, column, 0)
    }

    /// Returns the id of a data page body or header.
    #[must_use]
    pub fn of_page(kind: ModuleKind, row_group: usize, column: usize, page: usize) -> Self {
        Self {
            kind,
            row_group,
            column,
            page,
        }
    }

    /// Returns the row group, column and page ordinals as 16-bit integers, ready for the additional authenticated data.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if an ordinal is [`MAX_ORDINALS`] or more.
    pub fn ordinals(&self) -> Result<[i16; 3]> {
        let narrow = |ordinal: usize, of: &str, advice: &str| {
            i16::try_from(ordinal).map_err(|_| {
                self.place(Error::argument(format!(
                    "encryption allows at most {MAX_ORDINALS} {of}, but this one has the ordinal \
                     {ordinal}{advice}"
                )))
            })
        };
        Ok([
            narrow(self.row_group, "row groups", "; write larger ones")?,
            narrow(self.column, "columns", "")?,
            narrow(
                self.page,
                "data pages per column chunk",
                "; write larger pages or smaller row groups",
            )?,
        ])
    }

    /// Adds the module's location to an error.
    #[must_use]
    pub fn place(&self, error: Error) -> Error {
        match self.kind {
            ModuleKind::Footer => error,
            _ => error.in_row_group(self.row_group),
        }
    }
}

impl fmt::Display for ModuleId {
    /// Formats the module, for example as `footer`, or as `header of data page 3 of column 0 in row group 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            row_group,
            column,
            page,
        } = self;
        f.write_str(kind.name())?;
        if kind.has_page_ordinal() {
            write!(f, " {page}")?;
        }
        if *kind != ModuleKind::Footer {
            write!(f, " of column {column} in row group {row_group}")?;
        }
        Ok(())
    }
}

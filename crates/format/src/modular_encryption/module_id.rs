//! Which module of a file it is.

use std::fmt;

use crate::{Error, Result};

/// How many row groups, columns, and data pages of a column chunk an encrypted file can have: their ordinals are 16 bits
/// with a sign.
pub const MAX_ORDINALS: usize = 1 << 15;

/// What a module holds. The numbers are those of section 4.4.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ModuleKind {
    /// The metadata of the file.
    Footer = 0,
    /// The metadata of a column chunk whose key is not the footer's.
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
    /// Whether it is the body of a page, which is all that AES_GCM_CTR_V1 encrypts by CTR.
    #[must_use]
    pub fn is_page_body(self) -> bool {
        matches!(self, Self::DataPage | Self::DictionaryPage)
    }

    /// Whether there is one of it for each data page.
    #[must_use]
    pub fn has_page_ordinal(self) -> bool {
        matches!(self, Self::DataPage | Self::DataPageHeader)
    }

    /// Its words in messages.
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

/// Which module of a file it is. Ordinals count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModuleId {
    /// What it holds.
    pub kind: ModuleKind,
    /// Ordinal of the row group; 0 for the footer.
    pub row_group: usize,
    /// Ordinal of the column chunk in its row group; 0 for the footer.
    pub column: usize,
    /// Ordinal of the data page in its column chunk, the dictionary page not counted; 0 for all that belongs to no data
    /// page.
    pub page: usize,
}

impl ModuleId {
    /// The footer.
    pub const FOOTER: Self = Self {
        kind: ModuleKind::Footer,
        row_group: 0,
        column: 0,
        page: 0,
    };

    /// A module of which a column chunk has one.
    #[must_use]
    pub fn of_column(kind: ModuleKind, row_group: usize, column: usize) -> Self {
        Self::of_page(kind, row_group, column, 0)
    }

    /// The body or the header of a data page.
    #[must_use]
    pub fn of_page(kind: ModuleKind, row_group: usize, column: usize, page: usize) -> Self {
        Self {
            kind,
            row_group,
            column,
            page,
        }
    }

    /// Row group, column and page as the 16-bit numbers of the additional authenticated data.
    ///
    /// **Errors**: argument if one of them is [`MAX_ORDINALS`] or more.
    pub fn ordinals(&self) -> Result<[i16; 3]> {
        let narrow = |ordinal: usize, of: &str, advice: &str| {
            i16::try_from(ordinal).map_err(|_| {
                self.place(Error::argument(format!(
                    "encryption numbers {of} with 16 bits, {MAX_ORDINALS} at most, and this is number {ordinal}{advice}"
                )))
            })
        };
        Ok([
            narrow(self.row_group, "row groups", ": write larger ones")?,
            narrow(self.column, "columns", "")?,
            narrow(
                self.page,
                "the data pages of a column chunk",
                ": write larger pages or smaller row groups",
            )?,
        ])
    }

    /// Adds what is known of the place.
    #[must_use]
    pub fn place(&self, error: Error) -> Error {
        match self.kind {
            ModuleKind::Footer => error,
            _ => error.in_row_group(self.row_group),
        }
    }
}

impl fmt::Display for ModuleId {
    /// `footer`, or `header of data page 3 of column 0 in row group 1`.
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

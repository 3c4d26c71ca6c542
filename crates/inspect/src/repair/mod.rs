//! Gets out of a damaged file what is left of it.
//!
//! ```text
//! footer readable          → its row groups                                    ┐
//! footer damaged or cut    → schema and row groups that are left of it,        ├─► each is read once
//!                            pages behind these put together                   │   ─► the sound ones
//! footer lost              → schema of a sibling, pages put together           ┘
//! ```
//!
//! Pages are found by their headers, which have to make sense, and their checksums, where they have
//! some. The pages of a row group lie one behind the other, those of the first leaf first. A row
//! group is put together when its pages can be decoded as those of all leaves in turn, and each has
//! as many rows as the others. Behind damage the pages of one row group and of the next could be
//! taken for one, so row groups are put together from the start of the file up to the first damage,
//! and from the end back to the last.
//!
//! What cannot be had back: rows of a row group in which any page of any column is damaged; without
//! a footer, rows between two damages; the schema, where neither the footer has it nor the caller;
//! key-value metadata that the footer has lost, and with them what only the Arrow schema among them
//! says of types. Nor can pages be put together that are encrypted, or not in the order of the
//! schema. Without dictionaries two neighbouring columns of one type may look like one; then the
//! caller has to say how many rows a row group has. A schema that is given is believed: where it
//! swaps columns of one type, so are their values.

mod assemble;
mod chunk;
mod partial_metadata;
mod scan;

use std::path::PathBuf;
use std::sync::Arc;

use herringbone_format::footer::MAGIC_ENCRYPTED;
use herringbone_format::modular_encryption::Decryption;
use herringbone_format::thrift::CompactWriter;
use herringbone_format::{
    Error, ErrorKind, FileMetadata, FileMetadataParts, KeyValue, Limits, Location, Remedy, Result,
    RowGroup, SchemaElement,
};
use herringbone_schema::{Int96Overflow, ParquetSchema, WriteSchemaOptions, from_arrow};

use assemble::Assembly;
use chunk::Trials;
use herringbone::Reader;
use herringbone::source::Source;
use herringbone::{MetadataHandle, OpenOptions, ParquetFile};
use herringbone_arrow::schema::Schema;
use herringbone_core::read::ReadOptions;
use scan::{FoundPage, Scan};

/// Where pages may start: behind the magic.
const FIRST_PAGE: u64 = 4;
/// Zeros that fastparquet leaves behind the values of a page.
const FASTPARQUET_SLACK: usize = 8;
/// The name of fastparquet in a footer, which lets readers expect these zeros.
const FASTPARQUET: &str = "fastparquet-python";

/// What the caller knows of a damaged file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RepairOptions {
    /// The schema, for a footer that has lost it.
    pub schema: Option<RepairSchema>,
    /// Rows of a row group, where pages do not tell.
    pub row_group_rows: Option<u64>,
    /// Looks for pages although there is a footer.
    pub ignore_footer: bool,
    /// What the file may ask for.
    pub limits: Limits,
    /// Who has the keys of an encrypted file. Nothing can be had of one whose footer cannot be decrypted.
    pub decryption: Option<Arc<dyn Decryption>>,
    /// The path of the file, for those who have other keys for each file.
    pub path: Option<PathBuf>,
}

/// The schema of a file, from elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct RepairSchema {
    elements: Vec<SchemaElement>,
    key_values: Vec<KeyValue>,
    created_by: Option<String>,
}

impl RepairSchema {
    /// That of a file which the same program wrote.
    #[must_use]
    pub fn of_file(sibling: &ParquetFile) -> Self {
        Self {
            elements: sibling.metadata().schema().to_vec(),
            key_values: sibling.metadata().key_value_metadata().to_vec(),
            created_by: sibling.metadata().created_by().map(str::to_owned),
        }
    }

    /// That which this library gives to an Arrow schema. Other writers may store some types in other
    /// ways, such as timestamps as INT96 or small decimals as byte arrays.
    ///
    /// # Errors
    /// Unsupported where Parquet has no form for a type.
    pub fn of_arrow(schema: &Schema) -> Result<Self> {
        let mapping = from_arrow(schema, &WriteSchemaOptions::default())?;
        Ok(Self {
            key_values: mapping.key_values(&[], &[])?,
            elements: mapping.elements,
            created_by: None,
        })
    }
}

/// What the metadata come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairSource {
    /// A footer that is whole.
    Footer,
    /// Row groups that are left of the footer, and pages behind them.
    PartialMetadata,
    /// Pages alone; of the footer, the schema may be left.
    Pages,
}

/// A part of a file that is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Where it was.
    pub location: Location,
    /// How many rows it had, if that is known.
    pub rows: Option<u64>,
    /// Why.
    pub reason: String,
}

/// A damaged file, and what can be had of it.
///
/// ```
/// use herringbone_inspect::repair::{Repair, RepairOptions};
/// use herringbone::ReadOptions;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let mut bytes = std::fs::read("testdata/example.parquet")?;
/// bytes.truncate(bytes.len() - 100);
///
/// let mut repair = Repair::open(bytes::Bytes::from(bytes), &RepairOptions::default())?;
/// repair.check(&ReadOptions::default(), |_| {})?;
/// assert_eq!(repair.num_rows(), 24);
/// assert!(repair.lost().is_empty());
/// for batch in repair.read(ReadOptions::default())? {
///     println!("{} rows", batch?.num_rows());
/// }
/// # Ok(())
/// # }
/// ```
pub struct Repair {
    file: ParquetFile,
    source: RepairSource,
    /// Row groups that were read to their end.
    sound: Vec<usize>,
    lost: Vec<Lost>,
}

impl Repair {
    /// Finds the row groups of a file.
    ///
    /// # Errors
    /// Corrupt where there is no schema, Argument where pages can be put together in several ways;
    /// Key where the file is encrypted, and its footer lost or without a key for it; Io.
    pub fn open(source: impl Source + 'static, options: &RepairOptions) -> Result<Self> {
        let source: Arc<dyn Source> = Arc::new(source);
        if !options.ignore_footer {
            let open = OpenOptions::from(options.limits.clone())
                .decryption(options.decryption.clone(), options.path.as_deref());
            match ParquetFile::from_source(source.clone(), open) {
                Ok(file) => return Ok(Self::new(file, RepairSource::Footer, Vec::new())),
                Err(error) if [ErrorKind::Io, ErrorKind::Key].contains(&error.kind()) => {
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        let magic = 0..source.len().min(MAGIC_ENCRYPTED.len() as u64);
        if source.read(magic)?[..] == MAGIC_ENCRYPTED {
            let message = "the file is encrypted, and nothing can be had of it without its footer, where \
                           the identifier stands that all of it is encrypted with";
            return Err(Error::new(ErrorKind::Key, message));
        }
        Self::without_footer(source, options)
    }

    fn new(file: ParquetFile, source: RepairSource, lost: Vec<Lost>) -> Self {
        Self {
            file,
            source,
            sound: Vec::new(),
            lost,
        }
    }

    fn without_footer(source: Arc<dyn Source>, options: &RepairOptions) -> Result<Self> {
        let limits = &options.limits;
        let partial = partial_metadata::find(&*source, limits)?;
        let (partial, footer) = partial.unzip();
        let end = footer.unwrap_or(source.len());
        let created_by = partial.as_ref().and_then(|left| left.created_by.clone());
        let RepairSchema {
            elements,
            key_values,
            created_by,
        } = match (&options.schema, &partial) {
            (Some(given), _) => RepairSchema {
                created_by: created_by.or_else(|| given.created_by.clone()),
                ..given.clone()
            },
            (None, Some(left)) => RepairSchema {
                elements: left.schema.clone(),
                key_values: left.key_value_metadata.clone(),
                created_by,
            },
            (None, None) => {
                return Err(Error::corrupt("the schema is lost with the footer")
                    .with_remedy(Remedy::GiveSchema));
            }
        };
        let schema = ParquetSchema::new(&elements, limits)?;
        let num_rows = partial.as_ref().and_then(|left| left.num_rows);
        let known = partial.map_or_else(Vec::new, |left| left.row_groups);
        let mut row_groups = match options.ignore_footer {
            true => Vec::new(),
            false => usable(known, &schema, end),
        };
        let from_footer = row_groups.len();
        let start = row_groups.iter().filter_map(last_byte).max();
        let start = start.unwrap_or(FIRST_PAGE);
        let found = Scan::new(&*source, start..end.max(start), footer.is_some(), limits).pages()?;
        let usual_rows = row_groups
            .first()
            .and_then(|it| u64::try_from(it.num_rows).ok());
        let rows = options.row_group_rows.or(usual_rows);
        let assemble = |slack| {
            let mut trials = Trials::new(&*source, limits, &found);
            trials.slack = slack;
            trials.created_by = created_by.as_deref();
            Assembly::new(&schema, &found, trials, rows).run()
        };
        let mut assembled = assemble(0)?;
        let mut created_by = created_by.clone();
        if assembled.row_groups.is_empty() {
            assembled = assemble(FASTPARQUET_SLACK)?;
            if !assembled.row_groups.is_empty() && created_by.is_none() {
                created_by = Some(FASTPARQUET.to_owned());
            }
        }
        row_groups.extend(assembled.row_groups);
        let left_over = found.pages.get(assembled.left_over).unwrap_or_default();
        let rows_found = row_groups.iter().map(|it| it.num_rows);
        let rows_found = rows_found.fold(0, i64::saturating_add);
        let mut lost = Vec::new();
        if num_rows != Some(rows_found) {
            lost.extend(lost_pages(left_over));
            lost.extend(num_rows.and_then(|rows| lost_rows(rows, rows_found)));
        }
        let from = match from_footer {
            0 => RepairSource::Pages,
            _ => RepairSource::PartialMetadata,
        };
        let schema = RepairSchema {
            elements,
            key_values,
            created_by,
        };
        let metadata = metadata(schema, row_groups, limits)?;
        let handle = MetadataHandle::new(metadata, source.len(), limits.clone())?;
        let file = ParquetFile::with_metadata(source, handle)?;
        Ok(Self::new(file, from, lost))
    }

    /// Reads each row group to its end; `progress` is told the number of those that were read. Only
    /// the sound ones are given out afterwards. Timestamps that their unit cannot hold are no damage.
    ///
    /// # Errors
    /// Io, and Argument where the options name what the file does not have.
    pub fn check(&mut self, options: &ReadOptions, mut progress: impl FnMut(usize)) -> Result<()> {
        self.sound.clear();
        for row_group in 0..self.num_row_groups() {
            match self.read_to_end(row_group, options) {
                Ok(()) => self.sound.push(row_group),
                Err(error) if matches!(error.kind(), ErrorKind::Io | ErrorKind::Argument) => {
                    return Err(error);
                }
                Err(error) => {
                    let error = error.in_row_group(row_group);
                    let header = self.file.metadata().row_group_header(row_group)?;
                    self.lost.push(Lost {
                        location: error.location().clone(),
                        rows: u64::try_from(header.num_rows).ok(),
                        reason: error.message().to_owned(),
                    });
                }
            }
            progress(row_group + 1);
        }
        Ok(())
    }

    fn read_to_end(&self, row_group: usize, options: &ReadOptions) -> Result<()> {
        let mut options = options.clone().row_groups(vec![row_group]);
        if options.schema.int96_overflow != Int96Overflow::Null {
            options.schema.int96_overflow = Int96Overflow::Wrap;
        }
        let mut reader = self.file.read(options)?;
        while reader.next_batch()?.is_some() {}
        Ok(())
    }

    /// A reader of the sound row groups.
    ///
    /// # Errors
    /// As [`ParquetFile::read`].
    pub fn read(&self, options: ReadOptions) -> Result<Reader> {
        self.file.read(options.row_groups(self.sound.clone()))
    }

    /// The file, with metadata that were found as well as could be.
    #[must_use]
    pub fn file(&self) -> &ParquetFile {
        &self.file
    }

    /// Where the metadata come from.
    #[must_use]
    pub fn source(&self) -> RepairSource {
        self.source
    }

    /// How many row groups were found, sound or not.
    #[must_use]
    pub fn num_row_groups(&self) -> usize {
        self.file.metadata().num_row_groups()
    }

    /// The sound row groups, once they were [checked](Self::check).
    #[must_use]
    pub fn sound(&self) -> &[usize] {
        &self.sound
    }

    /// Rows of the sound row groups.
    #[must_use]
    pub fn num_rows(&self) -> u64 {
        let header = |row_group: &usize| self.file.metadata().row_group_header(*row_group).ok();
        let headers = self.sound.iter().filter_map(header);
        headers
            .filter_map(|it| u64::try_from(it.num_rows).ok())
            .sum()
    }

    /// What is lost, as far as anything is known of it.
    #[must_use]
    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }
}

/// The row groups that the schema fits, up to the first one that it does not.
fn usable(row_groups: Vec<RowGroup>, schema: &ParquetSchema, end: u64) -> Vec<RowGroup> {
    let fits = |row_group: &RowGroup| {
        let types = row_group
            .columns
            .iter()
            .map(|it| it.meta_data.as_ref().map(|it| it.type_));
        let leaves = schema.leaves().iter().map(|leaf| Some(leaf.physical_type));
        types.eq(leaves) && last_byte(row_group).is_some_and(|last| last <= end)
    };
    row_groups.into_iter().take_while(fits).collect()
}

/// Where the last column chunk of a row group ends.
fn last_byte(row_group: &RowGroup) -> Option<u64> {
    let end = |chunk: &herringbone_format::ColumnChunk| {
        let metadata = chunk.meta_data.as_ref()?;
        let dictionary = metadata.dictionary_page_offset.filter(|offset| *offset > 0);
        let start = dictionary.map_or(metadata.data_page_offset, |it| {
            it.min(metadata.data_page_offset)
        });
        u64::try_from(start.checked_add(metadata.total_compressed_size)?).ok()
    };
    row_group.columns.iter().map(end).max().flatten()
}

fn lost_pages(pages: &[FoundPage]) -> Option<Lost> {
    let first = pages.first()?;
    let mut location = Location::default();
    location.offset = Some(first.offset);
    let damaged = pages.iter().filter(|page| !page.intact).count();
    Some(Lost {
        location,
        rows: None,
        reason: format!(
            "{} pages, {damaged} of them damaged, are in no row group that is certainly complete",
            pages.len()
        ),
    })
}

/// The rows that the footer knows and that are in no row group.
fn lost_rows(known: i64, found: i64) -> Option<Lost> {
    let lost = known.checked_sub(found).filter(|lost| *lost > 0)?;
    Some(Lost {
        location: Location::default(),
        rows: u64::try_from(lost).ok(),
        reason: "the footer says that there are more rows than were found".to_owned(),
    })
}

fn metadata(
    schema: RepairSchema,
    row_groups: Vec<RowGroup>,
    limits: &Limits,
) -> Result<FileMetadata> {
    let rows = row_groups.iter().map(|it| it.num_rows);
    let parts = FileMetadataParts::new(
        2,
        schema.elements,
        rows.fold(0, i64::saturating_add),
        row_groups,
    )
    .key_value_metadata(schema.key_values)
    .created_by(schema.created_by);
    let mut writer = CompactWriter::new();
    parts.encode(&mut writer);
    FileMetadata::decode(writer.finish().into(), 0, limits)
}

//! Recovers data from a damaged file.
//!
//! ```text
//! footer readable             → its row groups                                ┐
//! footer damaged or truncated → its remaining schema and row groups,          ├─► each is read once
//!                               row groups assembled from pages after these   │   ─► the valid ones
//! footer lost                 → schema of a sibling, row groups from pages    ┘
//! ```
//!
//! We find pages by their plausible headers, verifying checksums if there are any. A row group's
//! pages follow each other, starting with the first leaf. We assemble a row group if its pages can
//! be decoded as pages of all leaves in turn, and if all leaves have the same row count. If pages
//! can be assembled or decompressed in several ways, we only accept the row groups common to all
//! ways, because a wrong guess would return wrong values. For the others, [`Lost::remedy`] has an
//! option to resolve the ambiguity.
//!
//! The following cannot be recovered:
//! - the rows of a row group with a damaged page in any column;
//! - without a footer, rows between two damaged places, unless the file has a single column;
//! - the schema, if it is missing from both the footer and the options;
//! - key-value metadata lost with the footer, and Arrow types recorded only there;
//! - encrypted pages, and pages out of schema order.
//!
//! Note that we trust the options. If a given schema swaps two columns of the same type, their
//! values are swapped too.

mod assemble;
mod codecs;
mod fit;
mod known;
mod losses;
mod metadata;
mod partial_metadata;
mod readings;
mod scan;

use std::path::PathBuf;
use std::sync::Arc;

use herringbone_format::footer::MAGIC_ENCRYPTED;
use herringbone_format::modular_encryption::Decryption;
use herringbone_format::{
    Error, ErrorKind, KeyValue, Limits, Location, PartialMetadata, Remedy, Result, SchemaElement,
};
use herringbone_schema::{Int96Overflow, ParquetSchema, WriteSchemaOptions, from_arrow};

use assemble::{Assembled, Assembly};
use codecs::{CodecSet, Codecs};
use fit::Fits;
use herringbone::ReadOptions;
use herringbone::Reader;
use herringbone::source::{CheckedSource, Source};
use herringbone::{MetadataHandle, OpenOptions, ParquetFile};
use herringbone_arrow::schema::Schema;
use readings::Readings;
use scan::{FoundPages, Scan};

/// The first possible page offset, right after the magic bytes.
const FIRST_PAGE: u64 = 4;
/// The name of fastparquet in a footer's `created_by`. If it is present, readers tolerate the zeros
/// that fastparquet appends to pages.
const FASTPARQUET: &str = "fastparquet-python";
/// The maximum number of row groups to inspect for codecs in a sibling file.
const SIBLING_ROW_GROUPS: usize = 16;

/// Options for a repair. The more of these you can set for a damaged file, the more can be
/// recovered.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::{ParquetFile, ReadOptions};
/// use herringbone_inspect::repair::{Repair, RepairOptions, RepairSchema};
///
/// // A file without its footer, and one with the same columns.
/// let mut bytes = std::fs::read("testdata/example.parquet")?;
/// let sibling = ParquetFile::from_bytes(bytes.clone())?;
/// bytes.truncate(bytes.len() - 4);
/// let schema = RepairSchema::of_file(&sibling);
/// let options = RepairOptions::new().schema(schema).ignore_footer(true);
/// let mut repair = Repair::open(bytes::Bytes::from(bytes), &options)?;
/// repair.check(&ReadOptions::new(), |_| ())?;
/// assert_eq!(repair.num_rows(), 24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RepairOptions {
    /// The schema, for a file without a usable footer.
    pub schema: Option<RepairSchema>,
    /// The row count per row group. Set this if the pages alone are ambiguous.
    pub row_group_rows: Option<u64>,
    /// True to search for pages even if there is a footer.
    pub ignore_footer: bool,
    /// Resource limits, for untrusted files.
    pub limits: Limits,
    /// The key provider for an encrypted file. Nothing can be recovered if the footer can't be
    /// decrypted.
    pub decryption: Option<Arc<dyn Decryption>>,
    /// The file's path. Decryption needs it if each file has its own keys.
    pub path: Option<PathBuf>,
}

impl RepairOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone_format::setters! { RepairOptions {
    /// Sets the schema, for a file without a usable footer.
    schema: RepairSchema => Some;
    /// Sets the row count per row group, for ambiguous pages.
    row_group_rows: u64 => Some;
    /// Selects whether pages are searched for even if there is a footer.
    ignore_footer: bool;
    /// Sets the resource limits.
    limits: Limits;
    /// Sets the key provider for an encrypted file.
    decryption: Arc<dyn Decryption> => Some;
    /// Sets the file's path, for decryption with separate keys per file.
    path: impl Into<PathBuf> => |path| Some(Into::into(path));
}}

/// The schema of a damaged file, taken from another source.
#[derive(Debug, Clone, PartialEq)]
pub struct RepairSchema {
    elements: Vec<SchemaElement>,
    key_values: Vec<KeyValue>,
    created_by: Option<String>,
    /// The codecs of each leaf, if they are known.
    codecs: Vec<CodecSet>,
}

impl RepairSchema {
    /// Takes the schema and codecs from a sibling, that is, an intact file written by the same
    /// program.
    #[must_use]
    pub fn of_file(sibling: &ParquetFile) -> Self {
        Self {
            elements: sibling.metadata().schema().to_vec(),
            key_values: sibling.metadata().key_value_metadata().to_vec(),
            created_by: sibling.metadata().created_by().map(str::to_owned),
            codecs: sibling_codecs(sibling),
        }
    }

    /// Combines the schema from the options with the remains of the damaged file's footer.
    fn of_damaged(options: &RepairOptions, left: Option<&PartialMetadata>) -> Result<Self> {
        let codecs = left.map(|left| known::codecs(&left.row_groups));
        let codecs = codecs.filter(|codecs| !codecs.is_empty());
        let created_by = left.and_then(|left| left.created_by.clone());
        match (&options.schema, left) {
            (Some(given), _) => Ok(Self {
                created_by: created_by.or_else(|| given.created_by.clone()),
                codecs: codecs.unwrap_or_else(|| given.codecs.clone()),
                ..given.clone()
            }),
            (None, Some(left)) => Ok(Self {
                elements: left.schema.clone(),
                key_values: left.key_value_metadata.clone(),
                created_by,
                codecs: codecs.unwrap_or_default(),
            }),
            (None, None) => Err(Error::corrupt("the schema is lost with the footer")
                .with_remedy(Remedy::GiveSchema)),
        }
    }

    /// Takes the schema that this library would write for an Arrow schema. Prefer a sibling file if
    /// there is one, because other writers might store some types differently, for example
    /// timestamps as INT96 or small decimals as byte arrays.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Unsupported`] if Parquet cannot represent a type.
    pub fn of_arrow(schema: &Schema) -> Result<Self> {
        let mapping = from_arrow(schema, &WriteSchemaOptions::default())?;
        Ok(Self {
            key_values: mapping.key_values(&[], &[])?,
            elements: mapping.elements,
            created_by: None,
            codecs: Vec::new(),
        })
    }
}

/// The origin of a repaired file's metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RepairSource {
    /// A complete footer.
    Footer,
    /// Row groups still listed in the footer, and the pages after them.
    PartialMetadata,
    /// Pages only. The schema can still come from the footer.
    Pages,
}

/// A lost part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// The location of the lost part.
    pub location: Location,
    /// The number of lost rows, if it is known.
    pub rows: Option<u64>,
    /// The reason for the loss.
    pub reason: String,
    /// An option to avoid the loss, if there is one.
    pub remedy: Option<Remedy>,
}

/// A damaged file and the data recovered from it. Open it, check it, then read the valid row groups
/// like those of any other file.
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
    /// The fully readable row groups.
    valid: Vec<usize>,
    lost: Vec<Lost>,
    /// True if the last row group found is also the file's last.
    end_is_known: bool,
}

impl Repair {
    /// Finds a file's row groups. This doesn't read their values yet. Call [`Self::check`] for
    /// that.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Corrupt`] if the schema is missing, with [`ErrorKind::Argument`] if
    /// pages can be assembled in several ways, and with [`ErrorKind::Io`] if the source fails.
    /// Fails with [`ErrorKind::Key`] if the file is encrypted, and its footer is lost or the
    /// footer's key is missing.
    pub fn open(source: impl Source + 'static, options: &RepairOptions) -> Result<Self> {
        let source: Arc<dyn Source> = Arc::new(CheckedSource::new(Arc::new(source)));
        if !options.ignore_footer {
            let mut open = OpenOptions::from(options.limits.clone());
            (open.decryption, open.path) = (options.decryption.clone(), options.path.clone());
            match ParquetFile::from_source(source.clone(), open) {
                Ok(file) => return Ok(Self::new(file, RepairSource::Footer, Vec::new())),
                Err(error) if error.is_of_source() || error.kind() == ErrorKind::Key => {
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        let magic = 0..source.len().min(MAGIC_ENCRYPTED.len() as u64);
        if source.read(magic)?[..] == MAGIC_ENCRYPTED {
            let message = "the file is encrypted, and it cannot be recovered without its footer, \
                           which contains the identifier needed to decrypt all other parts";
            return Err(Error::new(ErrorKind::Key, message));
        }
        Self::without_footer(source, options)
    }

    fn new(file: ParquetFile, source: RepairSource, lost: Vec<Lost>) -> Self {
        Self {
            file,
            source,
            valid: Vec::new(),
            lost,
            end_is_known: true,
        }
    }

    fn without_footer(source: Arc<dyn Source>, options: &RepairOptions) -> Result<Self> {
        let limits = &options.limits;
        let partial = partial_metadata::find(&*source, limits)?;
        let (partial, footer) = partial.unzip();
        let end = footer.unwrap_or(source.len());
        let mut known = RepairSchema::of_damaged(options, partial.as_ref())?;
        let schema = ParquetSchema::new(&known.elements, limits)?;
        let num_rows = partial.as_ref().and_then(|left| left.num_rows);
        let left = partial.filter(|_| !options.ignore_footer);
        let left = left.map_or_else(Vec::new, |left| left.row_groups);
        let (mut row_groups, taken) = known::usable(left, &schema, end);
        let from = match row_groups.is_empty() {
            true => RepairSource::Pages,
            false => RepairSource::PartialMetadata,
        };
        let start = taken.end().unwrap_or(FIRST_PAGE);
        let scan = Scan::new(&*source, start..end.max(start), footer.is_some(), limits);
        let mut unexplained = Vec::new();
        for gap in taken.gaps(FIRST_PAGE) {
            unexplained.push(scan.between(gap)?.unexplained);
        }
        unexplained.retain(|unexplained| !unexplained.is_empty());
        let found = scan.pages()?;
        let mut parts = Parts {
            source: &*source,
            limits,
            schema: &schema,
            found: &found,
            created_by: known.created_by.clone(),
            row_group_rows: options.row_group_rows,
        };
        let assembled = parts.assemble(&known.codecs)?;
        known.created_by = parts.created_by.take();
        if row_groups.is_empty()
            && assembled.row_groups.is_empty()
            && let Some(ambiguity) = assembled.ambiguities.first()
        {
            return Err(ambiguity.error(&found));
        }
        let assembly = assembled.row_groups.iter();
        row_groups
            .extend(assembly.map(|assembly| metadata::row_group(assembly, &found.pages, &schema)));
        let rows_found = row_groups.iter().map(|row_group| row_group.num_rows);
        let rows_found = rows_found.fold(0, i64::saturating_add);
        let mut lost = Vec::new();
        if num_rows != Some(rows_found) {
            lost.extend(losses::of_pages(&found, &assembled, &unexplained));
            lost.extend(num_rows.and_then(|rows| lost_rows(rows, rows_found)));
        }
        let metadata = metadata::of_file(known, row_groups, limits)?;
        let handle = MetadataHandle::new(metadata, source.len(), limits.clone())?;
        let file = ParquetFile::with_metadata(source, handle)?;
        let end_is_known = found.end_is_known || num_rows == Some(rows_found);
        Ok(Self {
            end_is_known,
            ..Self::new(file, from, lost)
        })
    }

    /// Reads each row group to its end, calling `progress` with the number of row groups read so
    /// far. From then on, only valid row groups are returned. A timestamp out of its unit's range
    /// doesn't count as damage.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the source fails, and with [`ErrorKind::Argument`] if the
    /// options name something that the file does not have.
    pub fn check(&mut self, options: &ReadOptions, mut progress: impl FnMut(usize)) -> Result<()> {
        self.valid.clear();
        let overlapping = known::overlapping(self.file.metadata())?;
        for row_group in 0..self.num_row_groups() {
            match self.read_to_end(row_group, options) {
                Ok(()) if overlapping.contains(&row_group) => {
                    let error = Error::corrupt("column chunks overlap");
                    self.lose(row_group, error)?;
                }
                Ok(()) => self.valid.push(row_group),
                Err(error) if error.is_of_source() || error.kind() == ErrorKind::Argument => {
                    return Err(error);
                }
                Err(error) => self.lose(row_group, error)?,
            }
            progress(row_group + 1);
        }
        Ok(())
    }

    fn lose(&mut self, row_group: usize, error: Error) -> Result<()> {
        let error = error.in_row_group(row_group);
        let header = self.file.metadata().row_group_header(row_group)?;
        self.lost.push(Lost {
            location: error.location().clone(),
            rows: u64::try_from(header.num_rows).ok(),
            reason: error.message().to_owned(),
            remedy: error.remedy(),
        });
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

    /// Returns a reader for the valid row groups.
    ///
    /// # Errors
    /// See [`ParquetFile::read`].
    pub fn read(&self, options: ReadOptions) -> Result<Reader> {
        self.file.read(options.row_groups(self.valid.clone()))
    }

    /// Returns the file with the best recoverable metadata.
    #[must_use]
    pub fn file(&self) -> &ParquetFile {
        &self.file
    }

    /// Returns the origin of the metadata.
    #[must_use]
    pub fn source(&self) -> RepairSource {
        self.source
    }

    /// Returns the number of row groups found, valid or not.
    #[must_use]
    pub fn num_row_groups(&self) -> usize {
        self.file.metadata().num_row_groups()
    }

    /// Returns the ordinals of the valid row groups. This is empty before a [check](Self::check).
    #[must_use]
    pub fn valid_row_groups(&self) -> &[usize] {
        &self.valid
    }

    /// Returns the number of rows in the valid row groups.
    #[must_use]
    pub fn num_rows(&self) -> u64 {
        let header = |row_group: &usize| self.file.metadata().row_group_header(*row_group).ok();
        let headers = self.valid.iter().filter_map(header);
        headers
            .filter_map(|header| u64::try_from(header.num_rows).ok())
            .sum()
    }

    /// Returns false if the file might have had more row groups after the last one found. In that
    /// case, we can't tell whether any are lost.
    #[must_use]
    pub fn is_end_known(&self) -> bool {
        self.end_is_known
    }

    /// Returns the known losses.
    #[must_use]
    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }
}

/// The inputs for assembling row groups.
struct Parts<'a> {
    source: &'a dyn Source,
    limits: &'a Limits,
    schema: &'a ParquetSchema,
    found: &'a FoundPages,
    created_by: Option<String>,
    row_group_rows: Option<u64>,
}

impl Parts<'_> {
    /// Assembles row groups. `codecs` has each leaf's codecs from a footer or a sibling. If the
    /// writer is unknown and we find no row groups, we try again as if the writer were fastparquet,
    /// because its pages end with zeros that we otherwise reject.
    fn assemble(&mut self, codecs: &[CodecSet]) -> Result<Assembled> {
        let assembled = self.assemble_as(self.created_by.as_deref(), codecs)?;
        let is_nothing = assembled.row_groups.is_empty() && assembled.ambiguities.is_empty();
        if !is_nothing || self.created_by.is_some() {
            return Ok(assembled);
        }
        let assembled = self.assemble_as(Some(FASTPARQUET), codecs)?;
        if !assembled.row_groups.is_empty() {
            self.created_by = Some(FASTPARQUET.to_owned());
        }
        Ok(assembled)
    }

    fn assemble_as(&self, created_by: Option<&str>, codecs: &[CodecSet]) -> Result<Assembled> {
        let (pages, limits) = (&self.found.pages, self.limits);
        let codecs = Codecs::new(self.source, pages, codecs.to_vec(), created_by, limits)?;
        let has_several = self.schema.leaves().len() > 1;
        let fits = Fits::new(self.source, limits, pages, created_by, has_several);
        let readings = Readings::new(self.schema, self.found, &codecs, fits, self.row_group_rows);
        let mut assembled = Assembly::new(self.schema, self.found, readings).run()?;
        for ambiguity in &mut assembled.ambiguities {
            ambiguity.explain(&codecs, self.row_group_rows);
        }
        Ok(assembled)
    }
}

/// Returns each leaf's codecs in a file's first row groups.
fn sibling_codecs(sibling: &ParquetFile) -> Vec<CodecSet> {
    let metadata = sibling.metadata();
    let mut codecs = vec![CodecSet::default(); sibling.parquet_schema().leaves().len()];
    for row_group in 0..metadata.num_row_groups().min(SIBLING_ROW_GROUPS) {
        for (leaf, codecs) in codecs.iter_mut().enumerate() {
            if let Ok(chunk) = metadata.column_chunk(row_group, leaf)
                && let Some(metadata) = &chunk.meta_data
            {
                codecs.insert(metadata.codec);
            }
        }
    }
    codecs
}

/// Returns the loss of rows counted in the footer but missing from all row groups.
fn lost_rows(known: i64, found: i64) -> Option<Lost> {
    let lost = known.checked_sub(found).filter(|lost| *lost > 0)?;
    Some(Lost {
        location: Location::default(),
        rows: u64::try_from(lost).ok(),
        reason: "the footer declares more rows than were found".to_owned(),
        remedy: None,
    })
}

//! Carries everything except the rows over from Parquet files to a new file.
//!
//! ```text
//! each file ── add ──► CarryOver ── apply ──► WriteOptions, Arrow schema, notes
//! ```
//!
//! Files are added one after the other and do not have to stay open.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use herringbone::encryption::FileDecryptionProperties;
use herringbone::geospatial::geoparquet::KEY;
use herringbone::modular_encryption::Encryption;
use herringbone::schema::ParquetSchema;
use herringbone::{BloomFilterOptions, Error, ParquetFile, Result, WriteOptions};
use herringbone_arrow::schema::SchemaRef;
use herringbone_schema::from_arrow;

use crate::bloom_filters;
use crate::encryption::{EncryptedFile, Protection, keep};
use crate::geometries::{has_geometries, unusable, without_geoparquet};
use crate::key_values::{
    CalendarKeys, Descriptions, KeyValues, NewFile, OriginalFile, check_calendars,
};
use crate::note::Note;
use crate::origins::{ColumnOrigin, Origins};
use crate::parquet_schema::common_parquet_schema;
use crate::sorting::CommonSorting;

/// A file to read rows from.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct InputFile<'a> {
    /// The file's name in notes and errors.
    pub name: &'a str,
    /// The open file. You may close it after [`CarryOver::add`].
    pub file: &'a ParquetFile,
    /// The ordinals of the row groups to read.
    pub row_groups: &'a [usize],
    /// The file's keys, if it has any.
    pub decryption: Option<&'a FileDecryptionProperties>,
}

impl<'a> InputFile<'a> {
    /// Describes an unencrypted file.
    #[must_use]
    pub fn new(name: &'a str, file: &'a ParquetFile, row_groups: &'a [usize]) -> Self {
        Self {
            name,
            file,
            row_groups,
            decryption: None,
        }
    }

    /// Sets the file's keys, if it has any.
    #[must_use]
    pub fn decryption(self, decryption: Option<&'a FileDecryptionProperties>) -> Self {
        Self { decryption, ..self }
    }
}

/// Collects files' properties other than their rows, and passes them to a writer's options. Use
/// this to rewrite or merge files without losing what belongs to their rows.
///
/// The properties are the Parquet schema, the key-value metadata, the columns with bloom filters,
/// the encryption, and any sorting columns that still apply. If a property cannot be kept, a
/// [`Note`] names it.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::{ParquetFile, ReadOptions, WriteOptions, Writer};
/// use herringbone_rewrite::{CarryOver, InputFile};
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let mut carry_over = CarryOver::new();
/// carry_over.add(InputFile::new("example.parquet", &file, &[0, 1]))?;
/// let reader = file.read(ReadOptions::new())?;
/// let mut options = WriteOptions::new();
/// let carried = carry_over.apply(&reader.schema(), &mut options)?;
/// assert!(carried.notes.is_empty());
/// let mut out = Vec::new();
/// let mut writer = Writer::new(&mut out, carried.schema, options)?;
/// for batch in reader {
///     writer.write(&batch?)?;
/// }
/// writer.finish()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CarryOver {
    bloom_filters: Option<BloomFilterOptions>,
    plain_geometries: bool,
    protection: Protection,
    origins: Origins,
    files: Vec<OriginalFile>,
    /// Each file's schema, with the new file's column names.
    schemas: Vec<ParquetSchema>,
    key_values: KeyValues,
    with_bloom_filter: BTreeSet<Vec<String>>,
    sorting: CommonSorting,
    /// Each file's name and encryption, or `None` for an unencrypted file.
    encrypted: Vec<(String, Option<EncryptedFile>)>,
    notes: Vec<Note>,
}

/// The outcome of [`CarryOver::apply`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Carried {
    /// The Arrow schema for the new file. Its fields are those passed to [`CarryOver::apply`],
    /// while its metadata is adapted.
    pub schema: SchemaRef,
    /// The properties that could not be kept unchanged. You will usually want to show these to the
    /// user.
    pub notes: Vec<Note>,
    /// True if the new file needs a copy of the first file's [key
    /// material](crate::encryption::KeyMaterial), because the material is stored outside the file.
    pub external_key_material: bool,
}

impl Default for CarryOver {
    fn default() -> Self {
        Self {
            bloom_filters: Some(BloomFilterOptions::default()),
            plain_geometries: false,
            protection: Protection::Keep,
            origins: Origins::default(),
            files: Vec::new(),
            schemas: Vec::new(),
            key_values: KeyValues::default(),
            with_bloom_filter: BTreeSet::new(),
            sorting: CommonSorting::default(),
            encrypted: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl CarryOver {
    /// Creates a collector without files that keeps everything by default.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the bloom filters for columns that had one. Pass `None` to leave them out.
    #[must_use]
    pub fn bloom_filters(self, bloom_filters: Option<BloomFilterOptions>) -> Self {
        Self {
            bloom_filters,
            ..self
        }
    }

    /// Selects whether geometries are written without their annotation.
    #[must_use]
    pub fn plain_geometries(self, plain_geometries: bool) -> Self {
        Self {
            plain_geometries,
            ..self
        }
    }

    /// Sets what happens to the encryption.
    #[must_use]
    pub fn protection(self, protection: Protection) -> Self {
        Self { protection, ..self }
    }

    /// Sets the origins of all columns in the new file. You need this if any column's name or type
    /// differs from the input files.
    #[must_use]
    pub fn origins(self, origins: Vec<ColumnOrigin>) -> Self {
        Self {
            origins: Origins(origins),
            ..self
        }
    }

    /// Collects the next file's properties.
    ///
    /// # Errors
    /// Fails with [Corrupt](herringbone::ErrorKind::Corrupt) if metadata that we need cannot be
    /// decoded. If encryption has to be kept, fails with [Key](herringbone::ErrorKind::Key) if the
    /// file is encrypted and has no keys, and with
    /// [Unsupported](herringbone::ErrorKind::Unsupported) if columns have new names.
    pub fn add(&mut self, input: InputFile<'_>) -> Result<()> {
        let InputFile {
            name,
            file,
            row_groups,
            decryption,
        } = input;
        let pairs = file.metadata().key_value_metadata();
        self.key_values.add(name, pairs, &mut self.notes);
        self.files.push(OriginalFile {
            name: name.to_owned(),
            schema: match self.origins.are_unchanged() {
                true => file.parquet_schema().clone(),
                false => self.origins.unchanged(file.parquet_schema())?,
            },
            is_whole: row_groups
                .iter()
                .copied()
                .eq(0..file.metadata().num_row_groups()),
            calendar: CalendarKeys::of(pairs),
        });
        self.schemas.push(match self.origins.are_unchanged() {
            true => file.parquet_schema().clone(),
            false => self.origins.renamed(file.parquet_schema())?,
        });
        if let Some(extension) = file.metadata().extension() {
            self.notes.push(Note::FooterExtension {
                file: name.to_owned(),
                bytes: extension.bytes().len(),
                uuid: extension.uuid(),
            });
        }
        if self.bloom_filters.is_some() {
            bloom_filters::add(&mut self.with_bloom_filter, file, row_groups);
        }
        self.sorting.add(file, row_groups)?;
        if matches!(self.protection, Protection::Keep) {
            let encrypted = EncryptedFile::of(file, row_groups, decryption)?;
            if encrypted.is_some() && !self.origins.are_unchanged() {
                return Err(Error::unsupported(
                    "columns of an encrypted file with new names or types, whose keys are not known; use `decrypt`, \
                     and `encrypt` the new file",
                ));
            }
            self.encrypted.push((name.to_owned(), encrypted));
        }
        Ok(())
    }

    /// Adds the collected properties to the options, for rows with this Arrow schema.
    ///
    /// # Errors
    /// Fails with [Unsupported](herringbone::ErrorKind::Unsupported) if the files are encrypted in
    /// different ways, or if a column's encryption is not known. Also returns the writer's errors.
    pub fn apply(mut self, schema: &SchemaRef, options: &mut WriteOptions) -> Result<Carried> {
        let mut notes = Vec::new();
        options.schema.parquet_schema =
            common_parquet_schema(&self.schemas, schema, self.plain_geometries, &mut notes)?;
        notes.append(&mut self.notes);
        let mapping = from_arrow(schema, &options.schema)?;
        let leaves = &mapping.leaves;
        let schema = self.key_value_metadata(schema, &mapping.schema, options, &mut notes)?;
        if let Some(filter) = self.bloom_filters {
            let paths = self.with_bloom_filter.iter();
            let paths = paths
                .flat_map(|path| self.origins.new_paths(path))
                .collect();
            bloom_filters::ask_for(&paths, leaves, filter, options, &mut notes);
        }
        if options.sort_by.is_empty() {
            self.sorting
                .declare(&self.origins, leaves, options, &mut notes);
        }
        let mut external_key_material = false;
        let properties = match self.protection {
            Protection::Keep => match keep(&self.encrypted, leaves, &mut notes)? {
                Some(kept) => {
                    external_key_material = kept.external_key_material;
                    Some(kept.properties)
                }
                None => None,
            },
            Protection::Decrypt => None,
            Protection::Encrypt(properties) => Some(*properties),
        };
        options.encryption =
            properties.map(|properties| Arc::new(properties) as Arc<dyn Encryption>);
        Ok(Carried {
            schema,
            notes,
            external_key_material,
        })
    }

    /// Adds the key-value metadata that is true for the new file to the options, returning the
    /// Arrow schema with the same metadata.
    fn key_value_metadata(
        &self,
        arrow_schema: &SchemaRef,
        schema: &ParquetSchema,
        options: &mut WriteOptions,
        notes: &mut Vec<Note>,
    ) -> Result<SchemaRef> {
        let new = NewFile {
            arrow_schema,
            schema,
            is_sorted: !options.sort_by.is_empty(),
        };
        let descriptions = Descriptions::new(&self.files, &new);
        let (mut pairs, arrow_schema) = descriptions.adapt(&self.key_values, arrow_schema, notes);
        check_calendars(&self.files, &pairs, schema)?;
        let kept: HashSet<&str> = pairs.iter().map(|pair| pair.key.as_str()).collect();
        for (key, file) in self.key_values.unshared() {
            if let (true, Some(file)) = (kept.contains(key), self.files.get(file)) {
                notes.push(Note::KeyNotInAll {
                    file: file.name.clone(),
                    key: key.to_owned(),
                });
            }
        }
        for (pair, file) in self.key_values.pairs().filter(|(pair, _)| pair.key == KEY) {
            let reason = unusable(pair.text(), &arrow_schema);
            if let (Some(reason), Some(file)) = (reason, self.files.get(file)) {
                notes.push(Note::UnusableGeoParquet {
                    file: file.name.clone(),
                    reason,
                });
            }
        }
        let has_geometries = has_geometries(&arrow_schema);
        // Without geometries, this metadata would describe columns missing from the file.
        pairs.retain(|pair| has_geometries || pair.key != KEY);
        options.key_value_metadata = pairs;
        Ok(match has_geometries {
            true => arrow_schema,
            false => without_geoparquet(&arrow_schema),
        })
    }
}

//! All that goes from Parquet files into the file that their rows are written to, besides the rows.
//!
//! ```text
//! each file ── add ──► CarryOver ── apply ──► WriteOptions, Arrow schema, notes
//! ```
//!
//! Files are looked at one after the other: none has to stay open.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use herringbone::encryption::FileDecryptionProperties;
use herringbone::geospatial::geoparquet::KEY;
use herringbone::modular_encryption::Encryption;
use herringbone::schema::{ParquetSchema, from_arrow};
use herringbone::{BloomFilterOptions, ParquetFile, Result, WriteOptions};
use herringbone_arrow::schema::SchemaRef;

use crate::bloom_filters;
use crate::encryption::{EncryptedFile, Protection, keep};
use crate::geometries::{has_geometries, without_geoparquet};
use crate::key_values::{
    CalendarKeys, Descriptions, KeyValues, NewFile, OriginalFile, check_calendars,
};
use crate::note::Note;
use crate::parquet_schema::common_parquet_schema;
use crate::sorting::CommonSorting;

/// A file that rows come from.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct InputFile<'a> {
    /// Name of the file in notes and errors.
    pub name: &'a str,
    /// The open file. It may be closed after [`CarryOver::add`].
    pub file: &'a ParquetFile,
    /// Ordinals of the row groups that are read.
    pub row_groups: &'a [usize],
    /// Keys of the file, if there are any.
    pub decryption: Option<&'a FileDecryptionProperties>,
}

impl<'a> InputFile<'a> {
    /// Describes a file that is not encrypted.
    #[must_use]
    pub fn new(name: &'a str, file: &'a ParquetFile, row_groups: &'a [usize]) -> Self {
        Self {
            name,
            file,
            row_groups,
            decryption: None,
        }
    }

    /// Sets the keys of the file, if there are any.
    #[must_use]
    pub fn decryption(self, decryption: Option<&'a FileDecryptionProperties>) -> Self {
        Self { decryption, ..self }
    }
}

/// Collects what files have besides their rows, and puts it into the options of a writer.
///
/// That is the Parquet schema, key-value metadata, which columns have bloom filters, what rows are sorted by as far
/// as they still are, and encryption. A [`Note`] names each thing that cannot be kept.
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
    files: Vec<OriginalFile>,
    key_values: KeyValues,
    with_bloom_filter: BTreeSet<Vec<String>>,
    sorting: CommonSorting,
    /// Name of each file, and how it is encrypted; `None` if it is not.
    encrypted: Vec<(String, Option<EncryptedFile>)>,
    notes: Vec<Note>,
}

/// The outcome of [`CarryOver::apply`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Carried {
    /// Arrow schema that the file is written with. Its fields are those that were given.
    pub schema: SchemaRef,
    /// Things that are not kept as they were.
    pub notes: Vec<Note>,
    /// Whether the new file needs a copy of the [key material](crate::encryption::KeyMaterial) of the first file,
    /// because this lies outside of that file.
    pub external_key_material: bool,
}

impl Default for CarryOver {
    fn default() -> Self {
        Self {
            bloom_filters: Some(BloomFilterOptions::default()),
            plain_geometries: false,
            protection: Protection::Keep,
            files: Vec::new(),
            key_values: KeyValues::default(),
            with_bloom_filter: BTreeSet::new(),
            sorting: CommonSorting::default(),
            encrypted: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl CarryOver {
    /// Starts without files. Everything is kept.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the bloom filters of columns that had one; `None` leaves them out.
    #[must_use]
    pub fn bloom_filters(self, bloom_filters: Option<BloomFilterOptions>) -> Self {
        Self {
            bloom_filters,
            ..self
        }
    }

    /// Chooses whether geometries are written without annotation.
    #[must_use]
    pub fn plain_geometries(self, plain_geometries: bool) -> Self {
        Self {
            plain_geometries,
            ..self
        }
    }

    /// Chooses what becomes of encryption.
    #[must_use]
    pub fn protection(self, protection: Protection) -> Self {
        Self { protection, ..self }
    }

    /// Takes what is to be kept from the next file.
    ///
    /// # Errors
    /// Corrupt if metadata that matter cannot be decoded; key if the file is encrypted, this is to be kept, and
    /// there are no keys.
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
            schema: file.parquet_schema().clone(),
            is_whole: row_groups
                .iter()
                .copied()
                .eq(0..file.metadata().num_row_groups()),
            calendar: CalendarKeys::of(pairs),
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
            self.encrypted.push((name.to_owned(), encrypted));
        }
        Ok(())
    }

    /// Has the options keep what the files have, for rows of the Arrow schema.
    ///
    /// # Errors
    /// Unsupported if the files are encrypted in different ways, or the encryption of a column is not known;
    /// whatever the writer refuses.
    pub fn apply(mut self, schema: &SchemaRef, options: &mut WriteOptions) -> Result<Carried> {
        let mut notes = Vec::new();
        let schemas = self.files.iter().map(|file| &file.schema);
        options.schema.parquet_schema =
            common_parquet_schema(schemas, (schema, self.plain_geometries), &mut notes)?;
        notes.append(&mut self.notes);
        let mapping = from_arrow(schema, &options.schema)?;
        let leaves = &mapping.leaves;
        let schema = self.key_value_metadata(schema, &mapping.schema, options, &mut notes)?;
        if let Some(filter) = self.bloom_filters {
            let paths = &self.with_bloom_filter;
            bloom_filters::ask_for(paths, leaves, filter, options, &mut notes);
        }
        if options.sort_by.is_empty() {
            self.sorting.declare(leaves, options, &mut notes);
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

    /// Has the options write the key-value metadata that are true of the new file. Returns the Arrow schema with the
    /// same metadata.
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
        let has_geometries = has_geometries(&arrow_schema);
        // Without geometries, they would be about columns that are not there.
        pairs.retain(|pair| has_geometries || pair.key != KEY);
        options.key_value_metadata = pairs;
        Ok(match has_geometries {
            true => arrow_schema,
            false => without_geoparquet(&arrow_schema),
        })
    }
}

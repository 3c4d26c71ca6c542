//! Planning a read, that is, finding its files and the options for reading each file.
//!
//! A file's partition columns have the same value in all of its rows, so we test the filter with
//! these values first. If it rejects them, the file is left out. If it accepts them regardless of
//! the other columns, the file is read without a filter.

use std::ops::Range;
use std::sync::Arc;

use herringbone::arrow::schema::{Field, FieldRef, Schema, SchemaRef};
use herringbone::filter::{Predicate, Verdict};
use herringbone::{Error, Projection, ReadOptions, Result, VirtualColumn, WantedSchema};

use crate::dataset::Inner;
use crate::options::DatasetReadOptions;
use crate::part::DataPart;
use crate::partition_value::value;
use crate::pool::FileMemory;
use crate::walk::{DataFile, verdicts};

/// A dataset read's plan.
pub(crate) struct DatasetPlan {
    dataset: Arc<Inner>,
    pub(crate) options: DatasetReadOptions,
    /// The schema of the returned batches.
    pub(crate) schema: SchemaRef,
    filter: Option<Predicate>,
    /// The files that might have selected rows.
    files: Vec<PlannedFile>,
    /// The number of files, or parts of files, ruled out by their partition columns.
    pub(crate) ruled_out: usize,
    /// The memory shared by all files.
    pub(crate) pool: Arc<FileMemory>,
}

/// A file to read, or a part of one.
struct PlannedFile {
    /// The file's ordinal in the dataset.
    ordinal: usize,
    /// The filter's verdict on the partition columns, for example `All` if it selects all of the
    /// file's rows.
    verdict: Verdict,
    /// The byte range for selecting row groups by their first bytes, or `None` for all row groups.
    bytes: Option<Range<u64>>,
}

impl DatasetPlan {
    /// Plans a read.
    ///
    /// # Errors
    /// Fails with Argument if the options name columns that the dataset does not have, or select
    /// parts of a single file.
    pub(crate) fn new(dataset: Arc<Inner>, mut options: DatasetReadOptions) -> Result<Self> {
        check(&options.read)?;
        let limits = || dataset.options.files.open.limits.clone();
        options.read.limits.get_or_insert_with(limits);
        let filter = match (&dataset.options.filter, &options.read.filter) {
            (Some(first), Some(second)) => Some(first.clone().and(second.clone())),
            (first, second) => first.clone().or_else(|| second.clone()),
        };
        let partitions: Vec<_> = dataset.found.iter().map(|file| &file.partition).collect();
        let verdicts = verdicts(&dataset.types, &partitions, filter.as_ref())?;
        let planned = |ordinal: usize, bytes: Option<Range<u64>>| PlannedFile {
            verdict: verdicts.get(ordinal).copied().unwrap_or(Verdict::None),
            ordinal,
            bytes,
        };
        let mut files: Vec<_> = match &options.parts {
            None => (0..verdicts.len())
                .map(|file| planned(file, None))
                .collect(),
            Some(parts) => {
                if let Some(part) = parts.iter().find(|part| part.file >= verdicts.len()) {
                    let (part, files) = (part.file, verdicts.len());
                    return Err(Error::argument(format!(
                        "there is no part of file {part}: the dataset has {files} files"
                    )));
                }
                let parts = parts.iter();
                let planned = |part: &DataPart| planned(part.file, Some(part.bytes.clone()));
                parts.map(planned).collect()
            }
        };
        let all = files.len();
        files.retain(|file| file.verdict != Verdict::None);
        let pool = FileMemory::new(&options.read);
        Ok(Self {
            schema: schema(&dataset, &options)?,
            dataset,
            options,
            filter,
            ruled_out: all - files.len(),
            files,
            pool,
        })
    }

    /// Returns the number of threads reading files concurrently, and the number of threads within
    /// each file. If there are enough files, each thread has its own file. Otherwise, all threads
    /// share each file.
    pub(crate) fn threads(&self) -> (usize, usize) {
        let threads = herringbone_pipeline::threads(self.options.read.threads);
        let open_files = self.num_files().min(self.options.most_open());
        match open_files >= threads {
            true => (threads, 1),
            false => (1, threads),
        }
    }

    /// Returns the number of files to open.
    pub(crate) fn num_files(&self) -> usize {
        self.files.len()
    }

    /// Returns the dataset.
    pub(crate) fn dataset(&self) -> &Inner {
        &self.dataset
    }

    /// Returns the file at this position in the plan.
    pub(crate) fn file(&self, at: usize) -> Result<&DataFile> {
        let file = self
            .files
            .get(at)
            .and_then(|file| self.dataset.found.get(file.ordinal));
        file.ok_or_else(|| Error::argument("there is no such file in the plan"))
    }

    /// Returns the byte range for selecting row groups, for the file at this position in the plan,
    /// or `None` for all row groups.
    pub(crate) fn bytes_of(&self, at: usize) -> Option<Range<u64>> {
        self.files.get(at).and_then(|file| file.bytes.clone())
    }

    /// Returns the options for reading the file at this position in the plan, skipping the
    /// `emitted` rows already returned.
    ///
    /// # Errors
    /// Fails with Argument if a value in the file path does not fit its column's type.
    pub(crate) fn options_of(&self, at: usize, emitted: u64) -> Result<ReadOptions> {
        let file = self.file(at)?;
        let mut wanted = WantedSchema::new(self.dataset.schema.clone());
        for (name, text) in file.partition() {
            let field = self.dataset.schema.field_with_name(name);
            let field = field.map_err(|error| Error::argument(error.to_string()))?;
            let value = value(text, field.data_type()).map_err(|e| e.in_column(name))?;
            wanted = wanted.constant(name, value);
        }
        let mut read = self.options.read.clone();
        let is_selected = self
            .files
            .get(at)
            .is_some_and(|file| file.verdict == Verdict::All);
        let filter = self.filter.as_ref().filter(|_| !is_selected);
        let types = &self.dataset.types;
        read.filter = filter.map(|filter| types.by_value(filter, &[&file.partition]));
        // A file never has to return more rows than the whole read, unless earlier rows might be
        // lost to damage.
        read.limit = read.limit.filter(|_| !self.options.is_tolerant());
        read.limit = read.limit.map(|limit| limit.saturating_add(read.offset));
        read.limit = read.limit.map(|limit| limit.saturating_sub(emitted));
        read.offset = emitted;
        read.memory_pool = Some(self.pool.clone());
        read.wanted_schema = Some(wanted);
        if let Some(name) = &self.options.path_column {
            read = read.virtual_column(VirtualColumn::file_name(name, file.path()));
        }
        Ok(read)
    }
}

/// Rejects options that only make sense for a single file.
fn check(read: &ReadOptions) -> Result<()> {
    let wrong = [
        ("row_groups", read.row_groups.is_some()),
        ("row_ranges", read.row_ranges.is_some()),
        ("row_selections", !read.row_selections.is_empty()),
        ("wanted_schema", read.wanted_schema.is_some()),
        ("decryption", read.decryption.is_some()),
        ("extension_columns", !read.extension_columns.is_empty()),
    ];
    match wrong.iter().find(|wrong| wrong.1) {
        None => Ok(()),
        Some((name, _)) => Err(Error::argument(format!(
            "the option `{name}` is that of one file; a dataset has `DatasetOptions` for its schema \
             and keys"
        ))),
    }
}

/// Returns the schema of the batches returned by a read.
fn schema(inner: &Inner, options: &DatasetReadOptions) -> Result<SchemaRef> {
    let dataset = &inner.schema;
    let names: Vec<&String> = match &options.read.projection {
        Projection::All => dataset.fields().iter().map(|field| field.name()).collect(),
        Projection::Names(names) => names.iter().collect(),
        Projection::Paths(paths) if paths.iter().all(|path| path.len() == 1) => {
            paths.iter().flatten().collect()
        }
        _ => {
            return Err(Error::argument(
                "a projection of a dataset can name its top-level columns only",
            ));
        }
    };
    if let Some(name) = names.iter().find(|name| dataset.index_of(name).is_err()) {
        let remedy = match inner.found.is_empty() {
            true => {
                "; it has no files, so its columns are those of a given schema (`SchemaFrom::Given`)"
            }
            false => "",
        };
        return Err(Error::argument(format!(
            "the dataset has no column `{name}`{remedy}"
        )));
    }
    let is_read = |field: &&FieldRef| names.contains(&field.name());
    let mut fields: Vec<FieldRef> = dataset.fields().iter().filter(is_read).cloned().collect();
    let added = options.read.virtual_columns.iter();
    fields.extend(added.map(|column| column.field().clone()));
    if let Some(name) = &options.path_column {
        let column = VirtualColumn::file_name(name, "");
        fields.push(Arc::new(Field::clone(column.field())));
    }
    Ok(Arc::new(Schema::new_with_metadata(
        fields,
        dataset.metadata().clone(),
    )))
}

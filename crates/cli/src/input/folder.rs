//! Handles directories, patterns and store prefixes on the command line. Each of these is a table
//! made of many files.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
#[cfg(feature = "remote")]
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use herringbone::filter::Predicate;
use herringbone::source::Source;
use herringbone::{ErrorKind, OpenOptions, ParquetFile, SchemaOptions};
use herringbone_arrow::array::{RecordBatch, StringArray};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use herringbone_dataset::{DataFile, Dataset, DatasetOptions, SchemaFrom};
#[cfg(feature = "remote")]
use herringbone_remote::blocking::RemoteSource;
use herringbone_remote::escaped_key;

use crate::args::fields_of;
use crate::base::advice::Advised;
use crate::base::failure::{Failure, Result};
use crate::base::url::{as_url, is_store, name_of, path_part};
use crate::input::context::Context;
#[cfg(feature = "remote")]
use crate::remote::Bucket;

/// The characters that make a path a pattern.
const PATTERN: [char; 3] = ['*', '?', '['];

/// Advice for files with other columns than the first file.
pub(crate) const BY_NAME: &str =
    "--by-name reads the columns of all files, and --cast those of different types";

/// The maximum number of lost columns to name in a message.
const NAMED: usize = 20;

/// Columns and nested fields lost from a table because its files differ.
#[derive(Debug, Default)]
pub(crate) struct LostColumns {
    /// The columns in the file but not in the table.
    left_out: Vec<Vec<String>>,
    /// The columns in the table but not in the file. They are null in the file's rows.
    missing: Vec<Vec<String>>,
}

impl LostColumns {
    /// Returns true if nothing is lost.
    pub(crate) fn is_empty(&self) -> bool {
        self.left_out.is_empty() && self.missing.is_empty()
    }
}

/// The outcome of a loss, for the wording of its message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The output has lost the columns.
    Done,
    /// The command stops instead, so nothing is lost.
    Refused,
}

impl LostColumns {
    /// Returns a text that describes the lost columns.
    pub(crate) fn text(&self, loss: Loss) -> String {
        let sentence = |paths: &[Vec<String>], fate: &str, file: &str| {
            let named = paths.iter().take(NAMED);
            let named = named.map(|path| format!("`{}`", path.join(".")));
            let mut names = named.collect::<Vec<_>>().join(", ");
            if paths.len() > NAMED {
                names += &format!(" and {} more", paths.len() - NAMED);
            }
            let (column, is, pronoun) = match paths {
                [] => return None,
                [_] => ("column", "is", "it"),
                _ => ("columns", "are", "them"),
            };
            let is = if loss == Loss::Refused {
                "would be"
            } else {
                is
            };
            Some(format!(
                "the {column} {names} {is} {fate}, because {file} does not have {pronoun}"
            ))
        };
        let sentences = [
            sentence(&self.left_out, "left out", "the first file"),
            sentence(&self.missing, "null", "this file"),
        ];
        sentences
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("; ")
    }
}

/// The source of the footers for reading rows.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Footers {
    /// Each file's own footer, with all metadata.
    #[default]
    Own,
    /// The directory's `_metadata` file, as far as it has footers. We still compare such a footer
    /// with the file's own before reading rows, in case it's stale. All other files use their own
    /// footers.
    Shared,
}

/// Options for finding and reading a folder's files.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    /// A condition for ruling out files by their paths.
    pub(crate) filter: Option<&'a Predicate>,
    /// The name of the file path column.
    pub(crate) path_column: Option<&'a str>,
    pub(crate) footers: Footers,
}

/// The files of one command line operand.
pub(crate) struct Folder {
    /// The operand as written by the user, without secrets.
    pub(crate) name: String,
    dataset: Dataset,
    /// The columns filled from file paths: the partition columns and the path itself.
    columns: SchemaRef,
    /// The name of the file path column.
    path_column: Option<String>,
    footers: Footers,
    /// True if the command line named the files one by one, rather than by a directory or pattern.
    is_of_named_files: bool,
    /// The lost columns already noted, to avoid repeating a note for each file.
    noted: Mutex<HashSet<Vec<String>>>,
    /// The objects in the store, if the operand is a URL.
    #[cfg(feature = "remote")]
    objects: Vec<Arc<RemoteSource>>,
    /// The number of footers requested so far.
    #[cfg(feature = "remote")]
    opened: AtomicUsize,
}

/// The maximum number of footer requests in flight.
#[cfg(feature = "remote")]
const FOOTERS_AHEAD: usize = 16;

/// A file's place in a folder.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) folder: Arc<Folder>,
    at: usize,
}

impl Member {
    /// Returns true for the first file, whose schema is the table's.
    pub(crate) fn is_first(&self) -> bool {
        self.at == 0 || self.is_named()
    }

    /// Returns the file.
    pub(crate) fn file(&self) -> Option<&DataFile> {
        self.folder.files().get(self.at)
    }

    /// Returns the file's object, if the folder is at a URL.
    #[cfg(feature = "remote")]
    pub(crate) fn object(&self) -> Option<&Arc<RemoteSource>> {
        self.folder.objects.get(self.at)
    }

    /// Returns true if the user named the file itself, next to others with the same partition
    /// columns. Such a file is a table of its own.
    pub(crate) fn is_named(&self) -> bool {
        self.folder.is_of_named_files
    }

    /// Returns the file's partition values as a single row. The table can have more partition
    /// columns than this file.
    pub(crate) fn partition(&self) -> herringbone::Result<RecordBatch> {
        let Some(file) = self.file() else {
            return Ok(RecordBatch::new_empty(Arc::new(Schema::empty())));
        };
        let folder = &self.folder;
        let values = folder.dataset.partition_values(file)?;
        let Some(column) = &folder.path_column else {
            return Ok(values);
        };
        let mut fields = values.schema_ref().fields().to_vec();
        fields.push(Arc::new(Field::new(column, DataType::Utf8, false)));
        let mut columns = values.columns().to_vec();
        columns.push(Arc::new(StringArray::from(vec![folder.name_of(file)])));
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
            .map_err(herringbone::Error::from)
    }

    /// Returns a filter for the file's rows. It compares whole numbers with texts in the path by
    /// value.
    pub(crate) fn filter(&self, filter: Predicate) -> Predicate {
        match self.file() {
            Some(file) => self.folder.dataset.filter_of(file, &filter),
            None => filter,
        }
    }

    /// Checks that the file does not have a column with the same name as the column of paths.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if it does.
    pub(crate) fn check_path_column(&self, file: &ParquetFile) -> Result<()> {
        let Some(column) = &self.folder.path_column else {
            return Ok(());
        };
        let schema = file.parquet_schema();
        let mut nodes = schema
            .children(0)
            .filter_map(|node| schema.nodes().get(node));
        match nodes.any(|node| node.element.name == *column) {
            true => Err(taken(column)),
            false => Ok(()),
        }
    }

    /// Opens the file with these bytes using its footer in the directory's `_metadata` file.
    /// Returns `None` if there is no such footer or if we use the files' own footers.
    pub(crate) fn known_file(
        &self,
        source: &Arc<dyn Source>,
    ) -> herringbone::Result<Option<ParquetFile>> {
        match (self.folder.footers, self.file()) {
            (Footers::Shared, Some(file)) => self.folder.dataset.known_file(file, source.clone()),
            _ => Ok(None),
        }
    }

    /// Returns true if the file's path has a value for this column.
    pub(crate) fn has_value_of(&self, column: &str) -> bool {
        self.folder
            .partition_columns()
            .any(|partition_column| partition_column.name() == column)
    }

    /// Returns the columns and nested fields lost from the table with this file. The caller names
    /// those dropped or unread anyway.
    ///
    /// # Errors
    /// Fails with [`Failure::Data`] if the file's columns do not have Arrow types.
    pub(crate) fn lost_columns(
        &self,
        (file, types): (&ParquetFile, &SchemaOptions),
        table: &Schema,
        is_dropped: impl Fn(&[String]) -> bool,
        is_unread: impl Fn(&[String]) -> bool,
    ) -> Result<LostColumns> {
        let name = self.file().map(|file| self.folder.name_of(file));
        let schema = file.arrow_schema(types);
        let schema = schema.map_err(|error| Failure::parquet(&name.unwrap_or_default(), &error))?;
        let is_in_path = |path: &[String]| {
            let [name] = path else { return false };
            self.has_value_of(name)
        };
        let (in_file, in_table) = (schema.fields(), table.fields());
        let mut lost = LostColumns::default();
        push_missing(&[], in_file, in_table, &is_dropped, &mut lost.left_out);
        let is_unread = |path: &[String]| is_in_path(path) || is_unread(path);
        push_missing(&[], in_table, in_file, &is_unread, &mut lost.missing);
        Ok(lost)
    }

    /// Writes a note about lost columns, unless another file of the folder has already caused it.
    /// `--quiet` doesn't hide this note.
    pub(crate) fn note_lost(&self, context: &Context, name: &str, mut lost: LostColumns) {
        let mut noted = self.folder.noted.lock();
        let noted = noted.as_deref_mut().map_err(|_| ());
        if let Ok(noted) = noted {
            lost.left_out.retain(|path| noted.insert(path.clone()));
            lost.missing.retain(|path| noted.insert(path.clone()));
        }
        if !lost.is_empty() {
            context.loud_note(&format!("{name}: {}; {BY_NAME}", lost.text(Loss::Done)));
        }
    }

    /// Requests the footers of this file and of some files after it. We ramp up the number with the
    /// footers read so far, so that a command that only needs a few files doesn't pay for many.
    #[cfg(feature = "remote")]
    pub(crate) fn open_ahead(&self) -> Result<()> {
        let folder = &self.folder;
        let ahead = folder.objects.get(self.at..).unwrap_or_default();
        if ahead.first().is_none_or(|file| file.is_retained()) {
            return Ok(());
        }
        let most = folder
            .opened
            .load(Ordering::Relaxed)
            .clamp(1, FOOTERS_AHEAD);
        let ahead = ahead.get(..most).unwrap_or(ahead);
        folder.opened.fetch_add(ahead.len(), Ordering::Relaxed);
        let before = folder.objects.get(..self.at).unwrap_or_default();
        RemoteSource::fetch_ends(before, ahead).map_err(|(at, error)| {
            let file = folder.files().get(self.at + at);
            let name = file.map_or_else(String::new, |file| folder.name_of(file));
            Failure::parquet(&name, &error)
        })
    }
}

impl Folder {
    /// Creates a folder without objects.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if a partition column has the same name as the column of
    /// paths.
    fn new(name: String, dataset: Dataset, reading: Reading<'_>) -> Result<Self> {
        let mut columns: Vec<FieldRef> = dataset.schema().fields().iter().cloned().collect();
        if let Some(column) = reading.path_column {
            if columns.iter().any(|field| field.name() == column) {
                return Err(taken(column));
            }
            columns.push(Arc::new(Field::new(column, DataType::Utf8, false)));
        }
        Ok(Self {
            name,
            dataset,
            columns: Arc::new(Schema::new(columns)),
            path_column: reading.path_column.map(str::to_owned),
            footers: reading.footers,
            is_of_named_files: false,
            noted: Mutex::default(),
            #[cfg(feature = "remote")]
            objects: Vec::new(),
            #[cfg(feature = "remote")]
            opened: AtomicUsize::default(),
        })
    }

    /// Returns the columns whose values come from file paths.
    pub(crate) fn partition_columns(&self) -> impl Iterator<Item = &FieldRef> {
        self.columns.fields().iter()
    }

    /// Returns the number of listed directories.
    pub(crate) fn directories_listed(&self) -> usize {
        self.dataset.directories_listed()
    }

    /// Returns the files.
    pub(crate) fn files(&self) -> &[DataFile] {
        self.dataset.files()
    }

    /// Returns a file's path for messages.
    pub(crate) fn name_of(&self, file: &DataFile) -> String {
        match as_url(Path::new(&self.name)) {
            // The scheme and the bucket of the URL are its first three parts.
            Some(url) => {
                let bucket: Vec<&str> = url.split('/').take(3).collect();
                format!("{}/{}", bucket.join("/"), escaped_key(file.path()))
            }
            None => file.path().to_owned(),
        }
    }
}

/// Returns true if an operand is a directory, a pattern, or a prefix in a store.
pub(crate) fn is_folder(path: &Path) -> bool {
    if as_url(path).is_some() {
        let part = path_part(path).to_string_lossy();
        return is_store(path) && (part.ends_with('/') || part.contains(PATTERN));
    }
    match path.metadata() {
        Ok(metadata) => metadata.is_dir(),
        // File names can contain these characters too, so an existing file isn't a pattern.
        Err(_) => path.to_string_lossy().contains(PATTERN),
    }
}

/// Finds an operand's files. The filter can rule out files, and even directories before listing
/// them.
///
/// If it rules out everything, we still keep the very first file, because it determines the table's
/// columns.
///
/// # Errors
/// Fails with [`Failure::Usage`] if there are no files, if they have different partition columns,
/// or if a partition column has the same name as the column of paths. Fails with
/// [`Failure::System`] if a directory cannot be listed.
pub(crate) fn find(path: &Path, reading: Reading<'_>, context: &Context) -> Result<Vec<Member>> {
    let mut folder = open(path, reading, context)?;
    let mut most = usize::MAX;
    if folder.files().is_empty() && reading.filter.is_some() {
        let unfiltered = Reading {
            filter: None,
            ..reading
        };
        folder = open(path, unfiltered, context)?;
        most = 1;
    }
    if folder.files().is_empty() {
        return Err(Failure::Usage(format!(
            "{}: no files were found; names that begin with `.` or `_` are left out",
            folder.name
        )));
    }
    let folder = Arc::new(folder);
    let places = 0..folder.files().len().min(most);
    let member = |at| Member {
        folder: folder.clone(),
        at,
    };
    Ok(places.map(member).collect())
}

/// Returns the members for files named one by one, if all of their paths have the same partition
/// columns. This way, a pattern gives the same columns whether the shell or this command expands
/// it.
pub(crate) fn of_named_files(paths: &[PathBuf]) -> Vec<Member> {
    let has_key = |path: &PathBuf| path.to_string_lossy().contains('=');
    if paths.len() < 2 || !paths.iter().all(has_key) {
        return Vec::new();
    }
    // If the partition columns differ, we read each file on its own.
    let Ok(dataset) = Dataset::open_all(paths, options()) else {
        return Vec::new();
    };
    let names = |file: &DataFile| -> BTreeSet<String> {
        file.partition().map(|(name, _)| name.to_owned()).collect()
    };
    let first = dataset.files().first().map(names).unwrap_or_default();
    let all_same = dataset.files().iter().all(|file| names(file) == first);
    if first.is_empty() || !all_same || dataset.files().len() != paths.len() {
        return Vec::new();
    }
    let reading = Reading {
        filter: None,
        path_column: None,
        footers: Footers::Own,
    };
    let Ok(folder) = Folder::new(String::new(), dataset, reading) else {
        return Vec::new();
    };
    let folder = Arc::new(Folder {
        is_of_named_files: true,
        ..folder
    });
    let member = |at| Member {
        folder: folder.clone(),
        at,
    };
    (0..paths.len()).map(member).collect()
}

/// Returns the options for a dataset with lazily read footers.
fn options() -> DatasetOptions {
    let no_columns = Arc::new(Schema::empty());
    DatasetOptions::new().schema(SchemaFrom::Given(no_columns))
}

fn open(path: &Path, reading: Reading<'_>, context: &Context) -> Result<Folder> {
    let name = name_of(path);
    let mut options = options();
    options.filter = reading.filter.cloned();
    options.use_metadata_file = reading.footers == Footers::Shared;
    options.files.open = OpenOptions::from(context.limits.clone());
    let failed = |error: herringbone::Error| failure(&name, &error);
    #[cfg(feature = "remote")]
    if as_url(path).is_some() {
        let bucket = Bucket::of(path)?;
        let dataset = bucket.find(options, context).map_err(failed)?;
        let files = dataset.files().iter();
        let objects: herringbone::Result<_> = files.map(|file| bucket.object(file)).collect();
        let objects = objects.map_err(failed)?;
        let folder = Folder::new(name, dataset, reading)?;
        return Ok(Folder { objects, ..folder });
    }
    let dataset = Dataset::open(path, options).map_err(failed)?;
    Folder::new(name, dataset, reading)
}

/// Adds the paths of all fields missing from `others`, except for dropped fields. We treat
/// extension types as opaque.
fn push_missing(
    above: &[String],
    fields: &[FieldRef],
    others: &[FieldRef],
    is_dropped: &impl Fn(&[String]) -> bool,
    missing: &mut Vec<Vec<String>>,
) {
    let others: HashMap<&str, &FieldRef> = others
        .iter()
        .map(|other| (other.name().as_str(), other))
        .collect();
    for field in fields {
        let path = [above, std::slice::from_ref(field.name())].concat();
        if is_dropped(&path) {
            continue;
        }
        match others.get(field.name().as_str()) {
            None => missing.push(path),
            Some(same) if field.extension_type_name().is_none() => {
                let (field, same) = (field.data_type(), same.data_type());
                push_missing_inside(&path, field, same, is_dropped, missing);
            }
            Some(_) => {}
        }
    }
}

/// Adds the paths of a type's inner fields missing from another type.
fn push_missing_inside(
    path: &[String],
    data_type: &DataType,
    other: &DataType,
    is_dropped: &impl Fn(&[String]) -> bool,
    missing: &mut Vec<Vec<String>>,
) {
    let (fields, others) = (fields_of(data_type), fields_of(other));
    match data_type {
        // The field names of a map's keys and values can differ between files, so we match them by
        // position.
        DataType::Map(..) => {
            for (field, other) in fields.iter().zip(others) {
                let (field, other) = (field.data_type(), other.data_type());
                push_missing_inside(path, field, other, is_dropped, missing);
            }
        }
        _ => push_missing(path, fields, others, is_dropped, missing),
    }
}

/// Returns the failure for a path column with a name already taken by another column.
fn taken(column: &str) -> Failure {
    Failure::Usage(format!(
        "the table has a column `{column}` already; choose another name for --path-column"
    ))
}

/// Converts an error from finding files. Most messages already name a path, so we don't add
/// another.
fn failure(name: &str, error: &herringbone::Error) -> Failure {
    let plain = name.trim_end_matches('/');
    let advised = Advised::new(error);
    let message = advised.without_kind();
    match (error.message().contains(plain), error.kind()) {
        (true, ErrorKind::Argument) => Failure::Usage(message),
        (false, ErrorKind::Argument) => Failure::Usage(format!("{name}: {message}")),
        (false, _) => Failure::parquet(name, error),
        (true, ErrorKind::Io | ErrorKind::Replaced) => Failure::System(message),
        (true, _) => Failure::Data(message),
    }
}

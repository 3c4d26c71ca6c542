//! The files that the command line names.

pub(crate) mod column_chunks;
mod common_types;
pub(crate) mod context;
pub(crate) mod folder;
pub(crate) mod foreign_file;
pub(crate) mod import;
mod imported;
pub(crate) mod opened;
mod pipe;
pub(crate) mod schema_file;
pub(crate) mod spool;
pub(crate) mod urls;

use std::fs;
use std::io::{self, Cursor, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use herringbone::encryption::FileDecryptionProperties;
use herringbone::format::footer::{MAGIC, MAGIC_ENCRYPTED};
use herringbone::modular_encryption::Decryption;
use herringbone::source::Source;
use herringbone::{ErrorKind, Limits, Location, OpenOptions, ParquetFile, Remedy};
use herringbone_arrow::schema::Field;
use herringbone_dataset::DataFile;
use herringbone_inspect::repair::{Repair, RepairOptions};
use herringbone_interchange::read;
use herringbone_interchange::read::foreign::{Foreign, foreign, text_format};
#[cfg(feature = "remote")]
use herringbone_remote::blocking::{RemoteReader, RemoteSource};

use crate::args::{FileFormat, Wanted};
use crate::base::advice::{Advised, advice};
use crate::base::failure::{Failure, Result};
#[cfg(feature = "remote")]
use crate::base::url::as_url;
use crate::base::url::name_of;
use crate::encryption::Keys;
use crate::input::common_types::common_types;
use crate::input::context::Context;
use crate::input::folder::{Footers, Member, Reading, find, is_folder, of_named_files};
use crate::input::import::Import;
use crate::input::imported::Imported;
use crate::input::opened::{Footer, LocalFile, OpenFiles};
use crate::input::pipe::Pipe;
use crate::rows::Rows;

/// The number of bytes for detecting a file's format.
const BEGINNING: u64 = 256;

/// The path that stands for standard input.
const STDIN: &str = "-";

/// An input file of a command. It can be opened any number of times.
pub(crate) struct Input {
    /// The file's name in output and errors.
    pub(crate) name: String,
    /// The file's size in bytes, or zero for a pipe of unknown size.
    pub(crate) size: u64,
    data: Data,
    limits: Limits,
    decryption: Option<FileDecryptionProperties>,
    ignores_checksums: Option<&'static str>,
    /// The file's place among the files of a folder, or among named files with the same partition
    /// columns.
    pub(crate) member: Option<Member>,
    files: Arc<OpenFiles>,
    local: OnceLock<Arc<LocalFile>>,
    /// The footer, once it has been read and is kept.
    footer: OnceLock<Footer>,
    /// The import of a file in a format other than Parquet.
    imported: Option<Imported>,
}

/// Options for opening a command's files.
#[derive(Default)]
pub(crate) struct Opening<'a> {
    /// The selection of rows, which can rule out files by their paths.
    pub(crate) wanted: Option<&'a Wanted>,
    pub(crate) footers: Footers,
    /// The import of files in formats other than Parquet. `None` means that the command refuses
    /// such files.
    pub(crate) import: Option<Arc<Import>>,
}

enum Data {
    Path(PathBuf),
    Memory(Bytes),
    Pipe(Pipe),
    #[cfg(feature = "remote")]
    Remote(Arc<RemoteSource>),
}

impl Data {
    /// Opens an input, returning its size in bytes. The size is zero if unknown, as for standard
    /// input and other pipes.
    fn of(path: &Path, name: &str) -> Result<(Self, u64)> {
        let refused = |name: &str, error: &io::Error| Failure::System(format!("{name}: {error}"));
        #[cfg(feature = "remote")]
        if as_url(path).is_some() {
            let file = crate::remote::open(path)?;
            let size = file.len();
            return Ok((Self::Remote(file), size));
        }
        if path.as_os_str() == STDIN {
            return Ok((Self::Pipe(Pipe::new(io::stdin())), 0));
        }
        let metadata = fs::metadata(path).map_err(|error| match is_word(path) {
            true if error.kind() == io::ErrorKind::NotFound => {
                refused(name, &error).hinting("; -c names columns")
            }
            _ => refused(name, &error),
        })?;
        if metadata.is_file() {
            return Ok((Self::Path(path.to_owned()), metadata.len()));
        }
        let file = fs::File::open(path).map_err(|error| refused(name, &error))?;
        Ok((Self::Pipe(Pipe::new(file)), 0))
    }

    /// Reads a pipe to its end to allow random access. Also returns the size in bytes.
    fn whole(self, size: u64) -> io::Result<(Self, u64)> {
        let Self::Pipe(pipe) = self else {
            return Ok((self, size));
        };
        let mut bytes = Vec::new();
        pipe.take()
            .map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut bytes))?;
        let size = bytes.len() as u64;
        Ok((Self::Memory(bytes.into()), size))
    }

    /// Returns the first bytes, or nothing if they cannot be read.
    fn beginning(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self {
            Self::Path(path) => {
                // We ignore errors here, since other reads of the file report them.
                fs::File::open(path)
                    .and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes))
                    .ok();
            }
            Self::Pipe(pipe) => bytes = pipe.beginning(),
            Self::Memory(memory) => bytes.extend_from_slice(memory),
            #[cfg(feature = "remote")]
            Self::Remote(file) => {
                let end = file.read(file.len().saturating_sub(4)..file.len());
                if !end.is_ok_and(|end| end == MAGIC.as_slice()) {
                    let beginning = file.read(0..file.len().min(BEGINNING));
                    bytes.extend(beginning.unwrap_or_default());
                }
            }
        }
        bytes
    }

    /// Returns the bytes for sequential reading. A pipe's bytes can only be read once.
    fn bytes(&self, name: &str) -> Result<read::Bytes> {
        Ok(match self {
            Self::Path(path) => foreign_file::open(path)?,
            Self::Memory(bytes) => {
                let length = bytes.len() as u64;
                read::Bytes::File(Box::new(Cursor::new(bytes.clone())), length)
            }
            Self::Pipe(pipe) => {
                read::Bytes::Pipe(pipe.take().ok_or_else(|| {
                    Failure::Usage(format!("{name}: a pipe can be read once only"))
                })?)
            }
            #[cfg(feature = "remote")]
            Self::Remote(file) => {
                let length = file.len();
                read::Bytes::File(Box::new(RemoteReader::new(file.clone())), length)
            }
        })
    }

    /// Returns the data of a file in a folder.
    fn of_member(member: &Member, file: &DataFile) -> Self {
        #[cfg(feature = "remote")]
        if let Some(object) = member.object() {
            return Self::Remote(object.clone());
        }
        let _ = member;
        Self::Path(file.path().into())
    }

    /// Returns the path of a local file.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            _ => None,
        }
    }
}

/// Returns the properties for decryption, if there are keys.
fn decryption(path: Option<&Path>, context: &Context) -> Result<Option<FileDecryptionProperties>> {
    let keys = context.keys.as_ref();
    keys.map(|keys| keys.decryption(path)).transpose()
}

impl Input {
    /// Checks that the file exists. This reads all of an input without random access if it could be
    /// Parquet, and the end of a file at a URL.
    fn new(path: &Path, import: Option<&Arc<Import>>, context: &Context) -> Result<Self> {
        let name = name_of(path);
        let named = import.map_or(Ok(None), |import| import.format_of(path))?;
        let (mut data, mut size) = Data::of(path, &name)?;
        let imported = import.and_then(|import| match named {
            Some(format) => Imported::of(format, import),
            None => Imported::guessed(&data.beginning(), import),
        });
        if imported.is_none() {
            let name = if name == STDIN {
                "standard input"
            } else {
                &name
            };
            let whole = data.whole(size);
            (data, size) = whole.map_err(|error| Failure::System(format!("{name}: {error}")))?;
        }
        Ok(Self {
            name,
            size,
            limits: context.limits.clone(),
            decryption: decryption(data.path(), context)?,
            data,
            ignores_checksums: context.ignores_checksums,
            member: None,
            files: context.files.clone(),
            local: OnceLock::new(),
            footer: OnceLock::new(),
            imported,
        })
    }

    /// Creates the input for a file in a folder. This opens nothing, since a folder can have many
    /// files.
    fn of_member(
        member: Member,
        import: Option<&Arc<Import>>,
        context: &Context,
    ) -> Result<Option<Self>> {
        let Some(file) = member.file() else {
            return Ok(None);
        };
        let named = import.map_or(Ok(None), |import| import.format_of(Path::new(file.path())))?;
        let imported = import.zip(named);
        let imported = imported.and_then(|(import, format)| Imported::of(format, import));
        let data = Data::of_member(&member, file);
        Ok(Some(Self {
            name: member.folder.name_of(file),
            size: file.identity().length,
            limits: context.limits.clone(),
            decryption: decryption(data.path(), context)?,
            data,
            ignores_checksums: context.ignores_checksums,
            member: Some(member),
            files: context.files.clone(),
            local: OnceLock::new(),
            footer: OnceLock::new(),
            imported,
        }))
    }

    /// Returns the file's format.
    pub(crate) fn format(&self) -> FileFormat {
        let imported = self.imported.as_ref();
        imported.map_or(FileFormat::Parquet, |imported| imported.format)
    }

    /// Returns true if the file is Parquet.
    pub(crate) fn is_parquet(&self) -> bool {
        self.imported.is_none()
    }

    /// Returns true if the command sees all rows of the file. It doesn't if it only needs the first
    /// rows of a text.
    pub(crate) fn has_all_rows(&self) -> bool {
        let mut imported = self.imported.iter();
        imported.all(Imported::has_all_rows)
    }

    /// Passes a non-Parquet file's rows to `take`. If a guessed column type turns out wrong, this
    /// starts over and calls `take` again with new rows. Returns `None` for Parquet.
    ///
    /// # Errors
    /// See [`Import::rows`]; also fails if `take` does.
    pub(crate) fn take_other_rows<T>(
        &self,
        take: impl Fn(Rows<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(imported) = &self.imported else {
            return Ok(None);
        };
        let read = || take(imported.rows(&self.name, self.data.bytes(&self.name)?)?);
        imported.again_without_dates(&self.name, read).map(Some)
    }

    /// Returns the file's place in the directory, pattern or prefix that the user names.
    pub(crate) fn folder(&self) -> Option<&Member> {
        self.member.as_ref().filter(|member| !member.is_named())
    }

    /// Returns true if both files belong to one folder.
    pub(crate) fn is_in_folder_of(&self, other: &Self) -> bool {
        match (self.folder(), other.folder()) {
            (Some(one), Some(other)) => Arc::ptr_eq(&one.folder, &other.folder),
            _ => false,
        }
    }

    /// Returns the table's name. This is the folder's name, or the file's if there is no folder.
    pub(crate) fn table_name(&self) -> &str {
        let folder_name = self.folder().map(|member| &member.folder.name);
        folder_name.unwrap_or(&self.name)
    }

    /// Opens the file. This reads the footer, unless it has been read before and is kept.
    pub(crate) fn open(&self) -> Result<ParquetFile> {
        if let Some(footer) = self.footer.get() {
            return footer.open().map_err(|error| self.failure(&error));
        }
        let source = match &self.imported {
            Some(imported) => imported.parquet(&self.name, || self.data.bytes(&self.name))?,
            None => self.source().map_err(|error| self.unopened(&error))?,
        };
        let known = self.known_file(&source);
        if let Some(file) = known.map_err(|error| self.failure(&error))? {
            return Ok(file);
        }
        #[cfg(feature = "remote")]
        if let Some(member) = &self.member {
            member.open_ahead()?;
        }
        let mut options = OpenOptions::from(self.limits.clone());
        if self.is_parquet() {
            options.decryption = self.seam();
            options.path = self.path().map(Path::to_path_buf);
        }
        let file = ParquetFile::from_source(source, options);
        let file = file.map_err(|error| self.unopened(&error))?;
        if let Some(footer) = self.files.keep(&file) {
            self.footer.set(footer).ok();
        }
        Ok(file)
    }

    /// Returns the file with its footer from a `_metadata` file. With keys, files must use their
    /// own footers.
    fn known_file(&self, source: &Arc<dyn Source>) -> herringbone::Result<Option<ParquetFile>> {
        let member = self.member.as_ref().filter(|_| self.decryption.is_none());
        member.map_or(Ok(None), |member| member.known_file(source))
    }

    /// Returns the file if it is at a URL.
    #[cfg(feature = "remote")]
    pub(crate) fn remote(&self) -> Option<&RemoteSource> {
        match &self.data {
            Data::Remote(file) => Some(file),
            _ => None,
        }
    }

    /// Returns the failure for a file that cannot be opened. If the file has another format, the
    /// message names it.
    pub(crate) fn unopened(&self, error: &herringbone::Error) -> Failure {
        let is_io = matches!(error.kind(), ErrorKind::Io | ErrorKind::Replaced);
        match (!is_io).then(|| self.foreign()).flatten() {
            Some(foreign) => Failure::Data(foreign.instead_of("Parquet", &self.name)),
            None if !is_io && self.has_lost_its_end() => self.failure(error).hinting(&format!(
                "; it begins like Parquet, so its end may be missing, as after an incomplete download: `herringbone \
                 repair {} OUT.parquet` recovers the readable parts",
                self.name
            )),
            None => self.failure(error),
        }
    }

    /// Returns true if the file begins with the Parquet magic bytes but does not end with them.
    fn has_lost_its_end(&self) -> bool {
        let Ok(source) = self.source() else {
            return false;
        };
        let size = source.len();
        let mark = |range| source.read(range).unwrap_or_default();
        let (first, last) = (mark(0..size.min(4)), mark(size.saturating_sub(4)..size));
        let is_mark = |bytes: &[u8]| [MAGIC, MAGIC_ENCRYPTED].iter().any(|mark| bytes == mark);
        is_mark(&first) && (!is_mark(&last) || size < 8)
    }

    /// Detects another format by the file's first bytes, unless either end has the Parquet magic
    /// bytes.
    pub(crate) fn foreign(&self) -> Option<Foreign> {
        let source = self.source().ok()?;
        let size = source.len();
        let beginning = source.read(0..size.min(BEGINNING)).ok()?;
        let end = source.read(size.saturating_sub(4)..size).ok()?;
        let marks = [MAGIC, MAGIC_ENCRYPTED];
        match marks
            .iter()
            .any(|mark| beginning.starts_with(mark) || end.ends_with(mark))
        {
            true => None,
            false => foreign(&beginning).or_else(|| text_format(&beginning)),
        }
    }

    /// Returns the file's bytes as a source.
    pub(crate) fn source(&self) -> herringbone::Result<Arc<dyn Source>> {
        Ok(match &self.data {
            Data::Path(path) => match self.local.get() {
                Some(file) => file.clone(),
                None => {
                    // The caller adds the file's name to errors.
                    let file = LocalFile::open(path, &self.files)?;
                    self.local.get_or_init(|| file).clone()
                }
            },
            Data::Memory(bytes) => Arc::new(bytes.clone()),
            Data::Pipe(pipe) => Arc::new(Bytes::from(pipe.beginning())),
            #[cfg(feature = "remote")]
            Data::Remote(file) => file.clone(),
        })
    }

    /// Returns the file's path, unless the file was read into memory.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.data.path()
    }

    /// Returns the properties for decryption, if there are keys.
    pub(crate) fn decryption(&self) -> Option<&FileDecryptionProperties> {
        self.decryption.as_ref()
    }

    /// Returns the properties for decryption in the library's form.
    fn seam(&self) -> Option<Arc<dyn Decryption>> {
        let decryption = self.decryption.clone();
        decryption.map(|properties| Arc::new(properties) as Arc<dyn Decryption>)
    }

    /// Searches for the file's intact parts.
    pub(crate) fn repair(&self, options: &RepairOptions) -> herringbone::Result<Repair> {
        let mut options = options.clone();
        options.decryption = self.seam();
        options.path = self.path().map(Path::to_owned);
        Repair::open(self.source()?, &options)
    }

    /// Returns the limits for reading the file.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Rephrases a library error for the command line.
    pub(crate) fn advised<'a>(&self, error: &'a herringbone::Error) -> Advised<'a> {
        Advised {
            error,
            ignores_checksums: self.ignores_checksums,
            directory: self.directory(),
        }
    }

    /// Returns the directory of a `_metadata` file, to suggest naming that instead, since its files
    /// have the rows.
    fn directory(&self) -> Option<String> {
        match self.name.rsplit_once('/') {
            Some((above, "_metadata")) => Some(format!("{above}/")),
            None if self.name == "_metadata" => Some(".".to_owned()),
            _ => None,
        }
    }

    /// Returns advice about an option that helps with an error at this location.
    pub(crate) fn advice(&self, remedy: Remedy, location: &Location) -> Option<String> {
        advice(remedy, location, self.ignores_checksums)
    }

    /// Converts a library error about this file.
    pub(crate) fn failure(&self, error: &herringbone::Error) -> Failure {
        Failure::advised(&self.name, &self.advised(error))
    }
}

/// Returns the command line's files, for a command that takes single files. Checks that they exist.
///
/// # Errors
/// Fails with [`Failure::System`] if one does not exist, and with [`Failure::Usage`] if one is a
/// directory or pattern, or if standard input is named twice.
pub(crate) fn all(paths: &[PathBuf], context: &Context) -> Result<Vec<Input>> {
    check_stdin(paths, context)?;
    if let Some(path) = paths.iter().find(|path| is_folder(path)) {
        return Err(Failure::Usage(format!(
            "{}: this is a directory or pattern, but the command is about single files; name one of \
             them. `info`, `schema`, `verify` and commands that read rows work on directories",
            name_of(path)
        )));
    }
    let input = |path: &PathBuf| Input::new(path, None, context);
    paths.iter().map(input).collect()
}

/// Returns the files for a command that reads tables together. If the paths of named files have the
/// same partition columns, the files get these columns, as they would by a pattern.
///
/// # Errors
/// See [`each_table`].
pub(crate) fn tables(
    paths: &[PathBuf],
    opening: &Opening<'_>,
    context: &Context,
) -> Result<Vec<Input>> {
    let mut inputs = each_table(paths, opening, context)?;
    let is_named = |input: &&mut Input| input.member.is_none() && input.path().is_some();
    let named = inputs.iter().filter(|input| input.member.is_none());
    let named: Vec<PathBuf> = named
        .filter_map(|named| Some(named.path()?.to_owned()))
        .collect();
    let members = of_named_files(&named);
    for (input, member) in inputs.iter_mut().filter(is_named).zip(members) {
        input.member = Some(member);
    }
    Ok(inputs)
}

/// Returns the files for a command that takes several tables. Directories and patterns are expanded
/// to their files, except for files ruled out by conditions on partition columns.
///
/// # Errors
/// See [`all`] and [`folder::find`](crate::input::folder::find). Also fails with [`Failure::Usage`]
/// if the user wants a column of paths, but names a single file.
pub(crate) fn each_table(
    paths: &[PathBuf],
    opening: &Opening<'_>,
    context: &Context,
) -> Result<Vec<Input>> {
    check_stdin(paths, context)?;
    let (wanted, import) = (opening.wanted, opening.import.as_ref());
    let mut inputs = Vec::with_capacity(paths.len());
    for path in paths {
        if !is_folder(path) {
            check_no_path_column(wanted, path)?;
            inputs.push(Input::new(path, import, context)?);
            continue;
        }
        let condition = wanted.map_or(Ok(None), |wanted| wanted.condition(None));
        let condition = condition.map_err(|error| Failure::Usage(error.message().to_owned()))?;
        let reading = Reading {
            filter: condition.as_ref(),
            path_column: wanted.and_then(|wanted| wanted.path_column.as_deref()),
            footers: opening.footers,
        };
        for member in find(path, reading, context)? {
            inputs.extend(Input::of_member(member, import, context)?);
        }
    }
    if let Some(import) = import {
        import.check(&inputs)?;
        if context.keys.as_ref().is_some_and(Keys::is_option)
            && !inputs.iter().any(Input::is_parquet)
        {
            let message = "--keys is for Parquet input; to encrypt OUT, see `encrypt`";
            return Err(Failure::Usage(message.into()));
        }
        share_types(import, &mut inputs)?;
    }
    Ok(inputs)
}

/// Gives text files common types that fit all of them. Pipes keep their own types, since they can
/// only be read once.
fn share_types(import: &Import, inputs: &mut [Input]) -> Result<()> {
    let is_text = |input: &&mut Input| {
        let is_pipe = matches!(input.data, Data::Pipe(..));
        !is_pipe && (input.format().is_csv() || input.format().is_json())
    };
    let mut texts: Vec<&mut Input> = inputs.iter_mut().filter(is_text).collect();
    if texts.len() < 2 || !import.infers_types() {
        return Ok(());
    }
    let fields = texts.iter().map(|input| {
        let bytes = input.data.bytes(&input.name)?;
        import.fields(&input.name, bytes, input.format())
    });
    let fields: Vec<Vec<Field>> = fields.collect::<Result<_>>()?;
    let are_csv = texts.iter().all(|input| input.format().is_csv());
    for (input, types) in texts.iter_mut().zip(common_types(&fields, are_csv)) {
        if let Some(imported) = &mut input.imported {
            imported.share(types);
        }
    }
    Ok(())
}

/// Checks that the user doesn't ask for a path column with a single file.
///
/// # Errors
/// Fails with [`Failure::Usage`] if the user does.
pub(crate) fn check_no_path_column(wanted: Option<&Wanted>, path: &Path) -> Result<()> {
    match wanted.and_then(|wanted| wanted.path_column.as_ref()) {
        None => Ok(()),
        Some(_) => Err(Failure::Usage(format!(
            "{}: --path-column is for directories and patterns such as 'DIRECTORY/*.parquet', not for single files",
            name_of(path)
        ))),
    }
}

/// Returns true if a path could also be a column name that the user put in the wrong place.
fn is_word(path: &Path) -> bool {
    path.extension().is_none() && path.components().count() == 1
}

/// Groups files by table. A table is the files of one folder, or a single file.
pub(crate) fn by_table(inputs: &[Input]) -> impl Iterator<Item = &[Input]> {
    inputs.chunk_by(Input::is_in_folder_of)
}

/// Returns true if standard input has bytes for us, that is, if it is neither a terminal nor
/// closed.
#[cfg(unix)]
pub(crate) fn is_piped() -> bool {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::FileTypeExt as _;
    let stdin = io::stdin().as_fd().try_clone_to_owned();
    let metadata = stdin.and_then(|stdin| fs::File::from(stdin).metadata());
    metadata.is_ok_and(|metadata| metadata.is_file() || metadata.file_type().is_fifo())
}

/// Returns true if standard input is not a terminal.
#[cfg(not(unix))]
pub(crate) fn is_piped() -> bool {
    use io::IsTerminal as _;
    !io::stdin().is_terminal()
}

fn check_stdin(paths: &[PathBuf], context: &Context) -> Result<()> {
    let reads_stdin = paths.iter().filter(|path| path.as_os_str() == STDIN);
    let keys_too = context.keys.as_ref().is_some_and(Keys::is_stdin);
    match reads_stdin.count() + usize::from(keys_too) > 1 {
        true => Err(Failure::Usage(
            "standard input can be read once only".into(),
        )),
        false => Ok(()),
    }
}

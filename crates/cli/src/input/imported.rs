//! A file in a format other than Parquet, among a command's files.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use herringbone::source::Source;
use herringbone_arrow::schema::Field;
use herringbone_interchange::read::{Bytes, JsonDates};

use crate::args::FileFormat;
use crate::base::failure::{Failure, Result};
use crate::input::import::Import;
use crate::rows::Rows;

/// The retry limit for wrongly guessed dates. Each such column costs another read of the file, so
/// after this many we stop guessing dates for the file.
const MAX_TEXTS: usize = 3;

/// A file in a format other than Parquet.
pub(super) struct Imported {
    pub(super) format: FileFormat,
    /// True if the format was only guessed from the first bytes.
    is_guessed: bool,
    import: Arc<Import>,
    /// The common types of columns with different types across files.
    types: Vec<Field>,
    /// True if the columns share their types with other files.
    is_shared: bool,
    /// The JSON columns kept as text, because a later row turned out not to be a date.
    texts: Mutex<Vec<String>>,
    /// The file's rows as Parquet, converted on first use.
    parquet: OnceLock<Arc<dyn Source>>,
}

impl Imported {
    /// Returns the import of a file in this format, unless the format is Parquet.
    pub(super) fn of(format: FileFormat, import: &Arc<Import>) -> Option<Self> {
        (format != FileFormat::Parquet).then(|| Self {
            format,
            is_guessed: false,
            import: import.clone(),
            types: Vec::new(),
            is_shared: false,
            texts: Mutex::default(),
            parquet: OnceLock::new(),
        })
    }

    /// Returns the import for a file with these first bytes. A file of unknown format is read as
    /// Parquet, because the resulting error has the best guess at the format.
    pub(super) fn guessed(beginning: &[u8], import: &Arc<Import>) -> Option<Self> {
        let imported = Self::of(FileFormat::of_beginning(beginning)?, import)?;
        Some(Self {
            is_guessed: true,
            ..imported
        })
    }

    /// Gives the columns the common types of several files.
    pub(super) fn share(&mut self, types: Vec<Field>) {
        (self.types, self.is_shared) = (types, true);
    }

    /// Returns true if the command sees all rows of the file.
    pub(super) fn has_all_rows(&self) -> bool {
        !self.import.is_partial()
    }

    /// Returns the file's rows.
    ///
    /// # Errors
    /// See [`Import::rows`].
    pub(super) fn rows(&self, name: &str, bytes: Bytes) -> Result<Rows<'_>> {
        let texts = self.texts().clone();
        let dates = match bytes.length() {
            Some(_) if !self.is_shared && !self.import.is_once() && texts.len() < MAX_TEXTS => {
                JsonDates::Inferred {
                    except: texts.clone(),
                }
            }
            // We can't read this file again or have done so often enough, so we must not guess.
            _ => JsonDates::IfAllSeen,
        };
        let how = (self.format, self.types.as_slice());
        let rows = self
            .import
            .rows(name, bytes, how, (dates, texts.is_empty()));
        let rows = rows.map_err(|failure| self.explained(failure))?;
        let batches = rows
            .batches
            .map(|batch| batch.map_err(|failure| self.explained(failure)));
        Ok(Rows {
            batches: Box::new(batches),
            ..rows
        })
    }

    /// Returns the file's rows as Parquet. They are converted only once.
    ///
    /// # Errors
    /// See [`Import::parquet`].
    pub(super) fn parquet(
        &self,
        name: &str,
        bytes: impl Fn() -> Result<Bytes>,
    ) -> Result<Arc<dyn Source>> {
        if let Some(parquet) = self.parquet.get() {
            return Ok(parquet.clone());
        }
        let read = || self.import.parquet(name, self.rows(name, bytes()?)?);
        let parquet = self.again_without_dates(name, read)?;
        Ok(self.parquet.get_or_init(|| parquet).clone())
    }

    /// Reads the file, starting over with a column as text whenever a later row isn't a date after
    /// all.
    ///
    /// # Errors
    /// Fails if `read` does.
    pub(super) fn again_without_dates<T>(
        &self,
        name: &str,
        read: impl Fn() -> Result<T>,
    ) -> Result<T> {
        loop {
            match read() {
                Err(Failure::NotADate { column, message }) if self.texts().len() < MAX_TEXTS => {
                    self.import.note(&format!(
                        "{name}: `{column}` stays text, though its first rows have dates: {message}"
                    ));
                    self.texts().push(column);
                }
                other => return other,
            }
        }
    }

    fn texts(&self) -> MutexGuard<'_, Vec<String>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn explained(&self, failure: Failure) -> Failure {
        match (self.is_guessed, &failure) {
            (true, Failure::Data(_)) => failure.hinting(&format!(
                "; the file is read as {}, because of its first bytes, and --from names another format",
                self.format.name()
            )),
            _ => failure,
        }
    }
}

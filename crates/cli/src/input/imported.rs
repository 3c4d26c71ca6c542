//! A file in another format than Parquet, among the files of a command.

use std::sync::{Arc, OnceLock};

use herringbone::source::Source;
use herringbone_arrow::schema::Field;
use herringbone_interchange::read::Bytes;

use crate::args::FileFormat;
use crate::base::failure::{Failure, Result};
use crate::input::import::Import;
use crate::rows::Rows;

/// A file in another format than Parquet.
pub(super) struct Imported {
    pub(super) format: FileFormat,
    /// True if only the first bytes show the format.
    is_guessed: bool,
    import: Arc<Import>,
    /// The common types of columns whose types differ between the files.
    types: Vec<Field>,
    /// Its rows as Parquet, once they are needed.
    parquet: OnceLock<Arc<dyn Source>>,
}

impl Imported {
    /// Returns the import, unless the format is Parquet.
    pub(super) fn of(format: FileFormat, import: &Arc<Import>) -> Option<Self> {
        (format != FileFormat::Parquet).then(|| Self {
            format,
            is_guessed: false,
            import: import.clone(),
            types: Vec::new(),
            parquet: OnceLock::new(),
        })
    }

    /// Returns the import for these first bytes. A file of an unknown format is read as Parquet, because that error
    /// shows the format.
    pub(super) fn guessed(beginning: &[u8], import: &Arc<Import>) -> Option<Self> {
        let imported = Self::of(FileFormat::of_beginning(beginning)?, import)?;
        Some(Self {
            is_guessed: true,
            ..imported
        })
    }

    /// Gives columns the common types of several files.
    pub(super) fn share(&mut self, types: Vec<Field>) {
        self.types = types;
    }

    /// Returns true if the command sees all rows of the file.
    pub(super) fn has_all_rows(&self) -> bool {
        !self.import.is_partial()
    }

    /// Returns the rows.
    ///
    /// # Errors
    /// See [`Import::rows`].
    pub(super) fn rows(&self, name: &str, bytes: Bytes) -> Result<Rows<'_>> {
        let rows = self.import.rows(name, bytes, (self.format, &self.types));
        let rows = rows.map_err(|failure| self.explained(failure))?;
        let batches = rows
            .batches
            .map(|batch| batch.map_err(|failure| self.explained(failure)));
        Ok(Rows {
            batches: Box::new(batches),
            ..rows
        })
    }

    /// Returns the rows as Parquet.
    ///
    /// # Errors
    /// See [`Import::parquet`].
    pub(super) fn parquet(
        &self,
        name: &str,
        bytes: impl FnOnce() -> Result<Bytes>,
    ) -> Result<Arc<dyn Source>> {
        if let Some(parquet) = self.parquet.get() {
            return Ok(parquet.clone());
        }
        let parquet = self.import.parquet(name, self.rows(name, bytes()?)?)?;
        Ok(self.parquet.get_or_init(|| parquet).clone())
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

//! Preliminary reads of a request, before reading the rows themselves.

use herringbone::format::Type;
use herringbone::{Int96Overflow, Int96Units, ParquetFile, Projection};

use super::request::int96_unit;
use super::{Request, Window, count, count_read, expression, options, sample, survey};
use crate::base::failure::Result;
use crate::input::Input;
use crate::input::context::Context;

impl Request<'_> {
    /// Finds the columns needed for tests, if columns are matched by name. Call this before
    /// selecting rows by their values, unless a [`survey`] comes first.
    ///
    /// # Errors
    /// See [`survey`].
    pub(crate) fn find_columns(&mut self, inputs: &[Input]) -> Result<()> {
        if self.is_filtered() && inputs.iter().any(|input| self.seeks_columns(input)) {
            survey(inputs, self)?;
        }
        Ok(())
    }

    /// Returns the number of rows of a read, ignoring any sample.
    ///
    /// # Errors
    /// Fails if the rows cannot be read on which a condition is tested.
    pub(crate) fn num_rows(&self, context: &Context, inputs: &[Input]) -> Result<u64> {
        let mut rows = 0_u64;
        for (at, input) in inputs.iter().enumerate() {
            let file = input.open()?;
            let options = options((at, input), &file, self)?;
            let more = match self.is_filtered() {
                true => {
                    let options = options.projection(Projection::Paths(Vec::new()));
                    count_read(context, input, &file, options)?
                }
                false => count(input, &file, &options)?,
            };
            rows = rows.saturating_add(more);
        }
        Ok(rows)
    }

    /// Chooses the sample's rows, if a sample is requested.
    ///
    /// # Errors
    /// Fails if the rows cannot be read on which a condition is tested.
    pub(crate) fn choose_sample(&mut self, context: &Context, inputs: &[Input]) -> Result<()> {
        if let Some(sample) = self.sample.take() {
            self.positions = Some(sample::positions(context, inputs, self, sample)?);
        }
        Ok(())
    }

    /// Chooses the finest unit that can represent all INT96 timestamps in the window, unless the user chose one. This is a
    /// request's first read of its columns, so it refuses expressions in place of them.
    ///
    /// # Errors
    /// Data if such a unit does not exist; Usage if a column is an expression; errors of reading the timestamps.
    pub(crate) fn choose_int96_unit(&mut self, inputs: &[Input], mut window: Window) -> Result<()> {
        expression::check_columns(inputs, self)?;
        if self.options.schema.int96_overflow != Int96Overflow::CoarserUnit {
            return Ok(());
        }
        if self.is_filtered() && inputs.iter().any(|input| self.seeks_columns(input)) {
            // We don't know yet how many rows match, so we look at all timestamps.
            window = Window::default();
        }
        let mut units = Int96Units::default();
        let mut skipped: Option<&Input> = None;
        for (at, input) in inputs.iter().enumerate() {
            if window.is_past() {
                break;
            }
            if skipped.is_some_and(|skipped| skipped.is_in_folder_of(input)) {
                continue;
            }
            let file = input.open()?;
            if input.member.is_some() && !has_int96(&file) {
                // The folder's files share one schema, which has no INT96 timestamps, so we skip
                // the others.
                skipped = Some(input);
                continue;
            }
            if let Some(options) = window.options((at, input), &file, self)? {
                let found = file.int96_units(&options);
                units.merge(&found.map_err(|error| input.failure(&error))?);
            }
        }
        self.options.schema.int96_unit = int96_unit(&units)?;
        self.options.schema.int96_overflow = Int96Overflow::Error;
        Ok(())
    }
}

/// Returns true if a file has INT96 timestamps.
fn has_int96(file: &ParquetFile) -> bool {
    let schema = file.parquet_schema();
    let mut leaves = 0..schema.leaves().len();
    leaves.any(|leaf| schema.element(leaf).type_ == Some(Type::Int96))
}

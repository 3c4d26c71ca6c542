//! The rows of several files as one sequence of batches.

use std::cell::Cell;
use std::iter::Enumerate;
use std::rc::Rc;

use herringbone::{Loss, Lost, ParquetFile, ReadOptions, Reader, SchemaOptions};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;
use herringbone_rewrite::SchemaMerge;

use super::{Request, Window};
use crate::context::Context;
use crate::failure::Result;
use crate::folder::BY_NAME;
use crate::input::Input;
use crate::render::plural::counted;

/// The index of the current input.
pub(crate) type Place = Rc<Cell<usize>>;

/// The rows of several files in a window.
pub(crate) struct Batches<'a> {
    context: &'a Context,
    request: &'a Request<'a>,
    inputs: Enumerate<std::slice::Iter<'a, Input>>,
    /// The rest of the window.
    window: Window,
    place: Place,
    current: Option<Rows<'a>>,
}

impl<'a> Batches<'a> {
    /// Creates an iterator over the rows of `inputs` in `window`. The request must read them with equal schemas.
    pub(crate) fn new(
        context: &'a Context,
        inputs: &'a [Input],
        request: &'a Request<'a>,
        window: Window,
    ) -> Self {
        Self {
            context,
            request,
            inputs: inputs.iter().enumerate(),
            window,
            place: Place::default(),
            current: None,
        }
    }

    /// Returns the index of the input of the newest batch. It changes with each batch.
    pub(crate) fn place(&self) -> Place {
        self.place.clone()
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(rows) = &mut self.current
                && let Some(batch) = rows.next_batch()?
            {
                return Ok(Some(match rows.is_counted {
                    true => batch,
                    false => self.window.take(&batch),
                }));
            }
            let next = self.inputs.next().filter(|_| !self.window.is_past());
            let Some((at, input)) = next else {
                return Ok(None);
            };
            let file = input.open()?;
            let options = self.window.options((at, input), &file, self.request)?;
            self.place.set(at);
            if let Some(member) = &input.member {
                let lost = self.request.lost_columns(member, &file)?;
                member.note_lost(self.context, &input.name, lost);
            }
            self.current = match options {
                Some(options) => Some(Rows::start(self.context, input, &file, options)?),
                None => None,
            };
        }
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

/// The rows of one file.
struct Rows<'a> {
    context: &'a Context,
    input: &'a Input,
    reader: Reader,
    /// True if the options of the read end it at the end of the window.
    is_counted: bool,
    /// The number of losses reported so far.
    losses_said: usize,
}

impl<'a> Rows<'a> {
    /// Starts reading, and emits the warnings of the reader as notes.
    fn start(
        context: &'a Context,
        input: &'a Input,
        file: &ParquetFile,
        options: ReadOptions,
    ) -> Result<Self> {
        let is_counted = options.filter.is_none() && options.row_ranges.is_none();
        let wanted = options.wanted_schema.clone();
        let reader = file.read(options).map_err(|error| {
            let failure = input.failure(&error);
            let is_later = input.member.as_ref().is_some_and(|it| !it.is_first());
            match wanted.filter(|_| is_later) {
                Some(wanted) => failure.in_data().hinting(&advice(file, wanted.schema())),
                None => failure,
            }
        })?;
        for warning in reader.warnings() {
            context.note(&format!("{}: {warning}", input.name));
        }
        Ok(Self {
            context,
            input,
            reader,
            is_counted,
            losses_said: 0,
        })
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let broken = |error| self.input.failure(&error).in_data();
        let batch = self.reader.next_batch().map_err(broken)?;
        let losses = self.reader.losses();
        for loss in losses.kept().iter().skip(self.losses_said) {
            self.context.lost(&self.input.name, &said(self.input, loss));
        }
        self.losses_said = losses.kept().len();
        if batch.is_none() && losses.not_kept() > 0 {
            let more = format!("{} more losses that are not listed", losses.not_kept());
            self.context.lost(&self.input.name, &more);
        }
        Ok(batch)
    }
}

/// Returns advice about a file that cannot be read with the columns of the first file of its folder.
fn advice(file: &ParquetFile, table: &SchemaRef) -> String {
    let mut merge = SchemaMerge::default();
    (merge.by_name, merge.cast) = (true, true);
    let schema = file.arrow_schema(&SchemaOptions::default());
    let helps = schema.and_then(|schema| merge.schema(&[("", table.clone()), ("", schema)]));
    match helps {
        Ok(_) => format!("; {BY_NAME}"),
        Err(_) => {
            "; no type has the values of both: leave the column out with -c '!COLUMN', or change its type in one of \
             the files with `rewrite -c`"
                .into()
        }
    }
}

fn said(input: &Input, loss: &Loss) -> String {
    let error = input.advised(&loss.error);
    match loss.lost {
        Lost::Rows(rows) => format!("{}: {error}", counted(rows, "row")),
        Lost::Values(0) => format!("a dictionary: {error}"),
        Lost::Values(1) => format!("1 value replaced by null: {error}"),
        Lost::Values(values) => format!("{values} values replaced by nulls: {error}"),
    }
}

/// Returns the number of rows that a read returns.
pub(crate) fn count_read(
    context: &Context,
    input: &Input,
    file: &ParquetFile,
    options: ReadOptions,
) -> Result<u64> {
    let options = options.limits(input.limits().clone());
    let mut rows = Rows::start(context, input, file, options)?;
    let mut count = 0_u64;
    while let Some(batch) = rows.next_batch()? {
        count = count.saturating_add(batch.num_rows() as u64);
    }
    Ok(count)
}

//! The rows of several files as one sequence of batches, for all commands that read rows.

use std::sync::Arc;

use herringbone::variant::extension::VariantExtension;
use herringbone::variant::json::LostTypes;
use herringbone::variant::shredding::{UnshredOptions, is_variant};
use herringbone::{
    Int96Overflow, Int96Units, Loss, Lost, ParquetFile, Projection, ReadOptions, Reader,
};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use herringbone_rewrite::{SchemaMerge, difference, names_that_differ_in_case};

use crate::advice::Advised;
use crate::args::{Read, RowFormat, RowGroups, Wanted, chosen};
use crate::commands::explain;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input::Input;
use crate::output::Output;
use crate::progress::Progress;
use crate::render::plural::counted;
use crate::render::sink::Sink;

/// A range of rows, counted over all files.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Window {
    /// The number of rows to skip.
    pub(crate) offset: u64,
    /// The maximum number of rows to print.
    pub(crate) limit: Option<u64>,
}

/// Prints the rows of `inputs` in `window`.
pub(crate) fn print(
    context: &Context,
    inputs: &[Input],
    read: &Read,
    window: Window,
    output: &mut Output<'_>,
) -> Result<()> {
    let format = format(read.format, output)?;
    if (read.csv.has_null() || read.csv.crlf) && format != RowFormat::Csv {
        let message = "--null and --crlf need --format csv";
        return Err(Failure::Usage(message.into()));
    }
    let mut request = Request {
        options: read.options(),
        row_groups: read.chunks.row_groups.as_ref(),
        wanted: Some(&read.wanted),
        merge: read.merge.choice(),
        unshreds: false,
        unshredding: read.wanted.variants.options(),
    };
    request.unshred();
    if read.wanted.explain {
        if request.merge.by_name {
            survey(inputs, &mut request)?;
        }
        for input in inputs {
            let file = input.open()?;
            let options = options(input, &file, &request)?;
            explain::file(input, &file, &options, output)?;
        }
        return Ok(());
    }
    request.choose_int96_unit(inputs, window)?;
    let Some((schema, rows)) = survey(inputs, &mut request)? else {
        return Ok(());
    };
    request.note_case(context, &schema);
    let rows = rows
        .saturating_sub(window.offset)
        .min(window.limit.unwrap_or(u64::MAX));
    let sink = Sink::new(format, read.csv.style(), &schema, output)?;
    if let Some(note) = &sink.note {
        context.note(note);
    }
    let mut printer = Printer {
        context,
        request,
        window,
        sink,
        progress: Progress::new(!context.quiet, rows, "rows"),
    };
    for input in inputs {
        printer.file(input)?;
    }
    let lost = printer.sink.finish()?;
    note_lost(context, lost);
    Ok(())
}

/// Emits a note about types of variants that JSON does not preserve.
pub(crate) fn note_lost(context: &Context, lost: LostTypes) {
    if !lost.is_empty() {
        context.note(&format!(
            "JSON cannot represent these types of variants: {lost}; --format arrow keeps them"
        ));
    }
}

fn format(asked: Option<RowFormat>, output: &Output<'_>) -> Result<RowFormat> {
    match asked {
        Some(RowFormat::Arrow) if output.is_terminal() => Err(Failure::Usage(
            "an Arrow stream cannot be printed on a terminal; send it to a file or a program"
                .into(),
        )),
        Some(format) => Ok(format),
        None if output.is_terminal() => Ok(RowFormat::Table),
        None => Ok(RowFormat::Jsonl),
    }
}

/// The parts of each file to read, and the options.
pub(crate) struct Request<'a> {
    pub(crate) options: ReadOptions,
    /// The row groups. `None` means all of them.
    pub(crate) row_groups: Option<&'a RowGroups>,
    /// The selection of rows by value. `None` means all of them.
    pub(crate) wanted: Option<&'a Wanted>,
    /// The allowed differences between the files.
    pub(crate) merge: SchemaMerge,
    /// True if variants are read unshredded.
    pub(crate) unshreds: bool,
    /// The options for unshredding.
    pub(crate) unshredding: UnshredOptions,
}

impl Request<'_> {
    /// Enables the unshredding of variants.
    pub(crate) fn unshred(&mut self) {
        let extension = VariantExtension::new().unshred(self.unshredding.clone());
        self.options.extensions.push(Arc::new(extension));
        self.unshreds = true;
    }

    /// Returns true if columns are matched by name, and the set of columns is not known yet.
    fn seeks_columns(&self) -> bool {
        self.merge.by_name && self.options.wanted_schema.is_none()
    }

    /// Returns true if columns are matched by name, and tests may need columns outside the projection.
    fn looks_at_other_columns(&self) -> bool {
        let tests = self.wanted.is_some_and(Wanted::is_given);
        let at_top = match &self.options.projection {
            Projection::Paths(paths) => paths.iter().all(|path| path.len() == 1),
            _ => false,
        };
        self.merge.by_name && tests && at_top
    }

    /// Emits a note about columns, matched by name, whose names differ only in case.
    pub(crate) fn note_case(&self, context: &Context, schema: &Schema) {
        let names = names_that_differ_in_case(schema);
        if self.merge.by_name && !names.is_empty() {
            context.note(&format!(
                "these columns differ only in case, so some readers cannot distinguish them: {}",
                names.join(", ")
            ));
        }
    }

    /// Chooses the finest unit that can represent all INT96 timestamps in the window, unless the user chose one.
    ///
    /// # Errors
    /// Data if such a unit does not exist; errors of reading the timestamps.
    pub(crate) fn choose_int96_unit(&mut self, inputs: &[Input], mut window: Window) -> Result<()> {
        if self.options.schema.int96_overflow != Int96Overflow::CoarserUnit {
            return Ok(());
        }
        let mut units = Int96Units::default();
        for input in inputs {
            let file = input.open()?;
            if let Some(options) = window.options(input, &file, self)? {
                let of_file = file.int96_units(&options);
                units.merge(&of_file.map_err(|error| input.failure(&error))?);
            }
        }
        self.options.schema.int96_unit = int96_unit(&units)?;
        self.options.schema.int96_overflow = Int96Overflow::Error;
        Ok(())
    }
}

/// Returns the finest unit that holds all timestamps with all their digits.
///
/// # Errors
/// Data if such a unit does not exist.
pub(crate) fn int96_unit(units: &Int96Units) -> Result<TimeUnit> {
    units.finest().ok_or_else(|| {
        Failure::Data(
            "no unit holds all INT96 timestamps without loss; choose a unit with --int96-unit, and \
             use --int96-overflow for timestamps that do not fit it"
                .into(),
        )
    })
}

impl Window {
    /// Returns the options for reading the rows of the next file in the window, if there are any. Moves the window
    /// past the file.
    fn options(
        &mut self,
        input: &Input,
        file: &ParquetFile,
        request: &Request<'_>,
    ) -> Result<Option<ReadOptions>> {
        if self.limit == Some(0) {
            return Ok(None);
        }
        let mut options = options(input, file, request)?;
        if options.filter.is_some() {
            // The number of matching rows is known only after reading them.
            options.limit = self.limit.map(|limit| limit.saturating_add(self.offset));
            return Ok(Some(options));
        }
        let rows = count(input, file, &options)?;
        if rows <= self.offset {
            self.offset -= rows;
            return Ok(None);
        }
        options = options.offset(self.offset);
        if let Some(limit) = &mut self.limit {
            options = options.limit(*limit);
            // Lost rows count too: the selection of rows does not depend on damage.
            *limit = limit.saturating_sub(rows - self.offset);
        }
        self.offset = 0;
        Ok(Some(options))
    }
}

impl Window {
    /// Returns the rows of a batch in the window. Moves the window past the batch.
    fn take(&mut self, batch: &RecordBatch) -> RecordBatch {
        let rows = batch.num_rows() as u64;
        let passed = rows.min(self.offset);
        self.offset -= passed;
        let taken = (rows - passed).min(self.limit.unwrap_or(u64::MAX));
        if let Some(limit) = &mut self.limit {
            *limit -= taken;
        }
        // Both are at most the number of rows in the batch.
        batch.slice(passed as usize, taken as usize)
    }
}

/// Returns the common schema of all files, and their total number of rows. If the files differ, the request is
/// changed to read them with that schema.
///
/// All files are checked before the first row is printed: a partial output is worse than none.
///
/// # Errors
/// Data if the files have no common schema.
pub(crate) fn survey(
    inputs: &[Input],
    request: &mut Request<'_>,
) -> Result<Option<(SchemaRef, u64)>> {
    let mut schemas: Vec<SchemaRef> = Vec::new();
    let mut rows = 0_u64;
    for input in inputs {
        let file = input.open()?;
        let mut options = options(input, &file, request)?;
        rows = rows.saturating_add(count(input, &file, &options)?);
        if request.looks_at_other_columns() {
            options.projection = Projection::All;
        }
        schemas.push(schema_of(input, &file, options)?);
    }
    let Some(first) = schemas.first() else {
        return Ok(None);
    };
    let same = |a: &Schema, b: &Schema| difference("", a, "", b).is_none();
    if request.merge.by_name {
        some_file_has_each_column(inputs, request)?;
    } else if schemas.iter().all(|schema| same(first, schema)) {
        return Ok(Some((first.clone(), rows)));
    }
    let shredded_otherwise = |schema: &SchemaRef| variants(schema) != variants(first);
    if !request.unshreds && schemas.iter().any(shredded_otherwise) {
        // The schemas are equal once variants are unshredded.
        request.unshred();
        return survey(inputs, request);
    }
    let named = inputs.iter().map(|input| input.name.as_str()).zip(schemas);
    let named: Vec<(&str, SchemaRef)> = named.collect();
    let merge = request.merge;
    let mut all = merge.schema(&named).map_err(|error| differ(&error))?;
    merge.read_as(&all, &mut request.options);
    let is_wanted = request.options.wanted_schema.is_some();
    if is_wanted && !request.looks_at_other_columns() {
        request.options.projection = Projection::All;
    }
    for (at, input) in inputs.iter().enumerate() {
        let file = input.open()?;
        let read = schema_of(input, &file, options(input, &file, request)?)?;
        if is_wanted {
            all = read;
        } else if !same(&all, &read) {
            return Err(differ(&merge.refusal(&named, at)));
        }
    }
    Ok(Some((all, rows)))
}

/// Returns the failure for differing files. The message already names them.
fn differ(error: &herringbone::Error) -> Failure {
    let advised = Advised {
        error,
        ignores_checksums: None,
    };
    Failure::Data(advised.without_kind())
}

/// Checks that each requested column exists in at least one file.
///
/// # Errors
/// Usage if a column exists in none.
fn some_file_has_each_column(inputs: &[Input], request: &Request<'_>) -> Result<()> {
    let Projection::Paths(paths) = &request.options.projection else {
        return Ok(());
    };
    let mut missing: Vec<&Vec<String>> = paths.iter().collect();
    for input in inputs {
        if missing.is_empty() {
            return Ok(());
        }
        let file = input.open()?;
        missing.retain(|path| !has_column(&file, &request.options, path));
    }
    match missing.first() {
        None => Ok(()),
        Some(path) => Err(Failure::Usage(format!(
            "there is no column `{}` in any of the files",
            path.join(".")
        ))),
    }
}

/// Returns true if `file` has the column or nested field at `path`.
fn has_column(file: &ParquetFile, options: &ReadOptions, path: &[String]) -> bool {
    let mut options = options.clone();
    options.projection = Projection::Paths(vec![path.to_owned()]);
    file.plan(&options).is_ok()
}

/// Returns the storage types of all variants.
fn variants(schema: &Schema) -> Vec<&DataType> {
    let fields = schema.flattened_fields().into_iter();
    let variants = fields.filter(|field| is_variant(field));
    variants.map(Field::data_type).collect()
}

/// Returns the schema of the batches.
fn schema_of(input: &Input, file: &ParquetFile, options: ReadOptions) -> Result<SchemaRef> {
    let reader = file.read(options.limit(0));
    let reader = reader.map_err(|error| input.failure(&error))?;
    Ok(reader.schema())
}

/// Returns the requested row groups.
///
/// # Errors
/// Usage if the file has fewer.
pub(crate) fn row_groups(
    input: &Input,
    file: &ParquetFile,
    request: &Request<'_>,
) -> Result<Vec<usize>> {
    chosen(request.row_groups, file.metadata().num_row_groups())
        .map_err(|failure| failure.in_file(&input.name))
}

fn options(input: &Input, file: &ParquetFile, request: &Request<'_>) -> Result<ReadOptions> {
    let mut options = request.options.clone().limits(input.limits().clone());
    if let (true, Projection::Paths(paths)) = (request.seeks_columns(), &options.projection) {
        let here = paths.iter().filter(|path| has_column(file, &options, path));
        options.projection = Projection::Paths(here.cloned().collect());
    }
    if let (Some(wanted), false) = (request.wanted, request.seeks_columns()) {
        let filter = wanted.filter(file);
        options.filter = filter.map_err(|error| input.failure(&error))?;
    }
    match request.row_groups {
        None => Ok(options),
        Some(_) => Ok(options.row_groups(row_groups(input, file, request)?)),
    }
}

/// Returns the number of rows in the selected row groups.
fn count(input: &Input, file: &ParquetFile, options: &ReadOptions) -> Result<u64> {
    let metadata = file.metadata();
    let all = || (0..metadata.num_row_groups()).collect();
    let mut rows = 0_u64;
    for row_group in options.row_groups.clone().unwrap_or_else(all) {
        let header = metadata
            .row_group_header(row_group)
            .map_err(|error| input.failure(&error))?;
        rows = rows.saturating_add(u64::try_from(header.num_rows).unwrap_or(0));
    }
    Ok(rows)
}

/// All rows of several files.
pub(crate) struct Batches<'a> {
    context: &'a Context,
    request: &'a Request<'a>,
    inputs: std::slice::Iter<'a, Input>,
    current: Option<Rows<'a>>,
}

impl<'a> Batches<'a> {
    /// Creates an iterator over the rows of `inputs`. The request must read them with equal schemas.
    pub(crate) fn new(context: &'a Context, inputs: &'a [Input], request: &'a Request<'a>) -> Self {
        Self {
            context,
            request,
            inputs: inputs.iter(),
            current: None,
        }
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(rows) = &mut self.current
                && let Some(batch) = rows.next_batch()?
            {
                return Ok(Some(batch));
            }
            let Some(input) = self.inputs.next() else {
                return Ok(None);
            };
            let file = input.open()?;
            let options = options(input, &file, self.request)?;
            self.current = Some(Rows::start(self.context, input, &file, options)?);
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
        let reader = file.read(options).map_err(|error| input.failure(&error))?;
        for warning in reader.warnings() {
            context.note(&format!("{}: {warning}", input.name));
        }
        Ok(Self {
            context,
            input,
            reader,
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

fn said(input: &Input, loss: &Loss) -> String {
    let error = input.advised(&loss.error);
    match loss.lost {
        Lost::Rows(rows) => format!("{}: {error}", counted(rows, "row")),
        Lost::Values(0) => format!("a dictionary: {error}"),
        Lost::Values(1) => format!("1 value replaced by null: {error}"),
        Lost::Values(values) => format!("{values} values replaced by nulls: {error}"),
    }
}

struct Printer<'o, 'w> {
    context: &'o Context,
    request: Request<'o>,
    /// The rest of the window.
    window: Window,
    sink: Sink<'o, 'w>,
    progress: Progress,
}

impl Printer<'_, '_> {
    fn file(&mut self, input: &Input) -> Result<()> {
        let file = input.open()?;
        let Some(options) = self.window.options(input, &file, &self.request)? else {
            return Ok(());
        };
        let mut rows = Rows::start(self.context, input, &file, options)?;
        let is_filtered = self.request.wanted.is_some_and(Wanted::is_given);
        while let Some(mut batch) = rows.next_batch()? {
            if is_filtered {
                batch = self.window.take(&batch);
            }
            self.sink.write(&batch, &input.name)?;
            self.progress.add(batch.num_rows() as u64);
        }
        Ok(())
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

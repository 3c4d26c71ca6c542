//! Writes rows to files of any format.

pub(crate) mod carry_over;
pub(crate) mod interrupt;
pub(crate) mod parts;
pub(crate) mod target;

use std::io::{self, BufWriter, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::slice;

use herringbone::format::FileMetadata;
use herringbone::schema::EmptyStructs;
use herringbone::variant::extension::VariantExtension;
use herringbone::{ColumnSelector, Error, WriteOptions, Writer};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::ipc::writer::FileWriter;
use herringbone_arrow::schema::{DataType, Field, Schema, SchemaRef};
use herringbone_interchange::read::Work;
use herringbone_interchange::write::csv::CsvStyle;
use herringbone_schema::from_arrow;

use crate::args::{Destination, FileFormat, RowFormat};
use crate::base::failure::{Failure, Result};
use crate::input::Input;
use crate::input::context::Context;
use crate::output::Output;
use crate::output::progress::Progress;
use crate::render::sink::Sink;
use crate::rows::{Batches, Request, Rows, Shape, Window, note_lost, row_groups};
use crate::save::target::Target;

/// Writes a Parquet file.
///
/// # Errors
/// Fails if the rows cannot be read or the file cannot be written. No file remains in this case.
pub(crate) fn parquet(
    context: &Context,
    destination: &Destination,
    options: WriteOptions,
    rows: Rows<'_>,
) -> Result<()> {
    let target = Target::create(destination)?;
    parquet_to(context, (destination, target), options, rows)
}

/// Writes a Parquet file to an existing target for this destination.
///
/// # Errors
/// See [`parquet`].
pub(crate) fn parquet_to(
    context: &Context,
    to: (&Destination, Target),
    options: WriteOptions,
    rows: Rows<'_>,
) -> Result<()> {
    let batches = rows.batches;
    let write = |saver: &mut Saver<'_>| saver.batches(batches);
    parquet_with(context, to, (options, rows.schema, rows.work), write)
}

/// Writes a Parquet file by copying the row groups of `inputs` without decoding them. If an input
/// has to be re-encoded, a note gives the reason.
///
/// # Errors
/// See [`parquet`].
pub(crate) fn copies(
    context: &Context,
    destination: &Destination,
    plan: (WriteOptions, SchemaRef, Work),
    (inputs, request, shape): (&[Input], &Request<'_>, Shape),
) -> Result<()> {
    let write = |saver: &mut Saver<'_>| {
        inputs
            .iter()
            .try_for_each(|input| saver.copy(input, (request, &shape)))
    };
    let target = Target::create(destination)?;
    parquet_with(context, (destination, target), plan, write)
}

fn parquet_with(
    context: &Context,
    (destination, mut target): (&Destination, Target),
    (options, schema, work): (WriteOptions, SchemaRef, Work),
    write: impl FnOnce(&mut Saver<'_>) -> Result<()>,
) -> Result<()> {
    let name = target.name.clone();
    all_columns_exist(&schema, &options, &name)?;
    let is_sorted = !options.sorting_columns.is_empty();
    let sorts = !options.sort_by.is_empty();
    let written = target.written.clone();
    // Variants keep their shredding, in the order and form that all readers accept.
    let mut options = options.extension(VariantExtension::new());
    if options.sort_folder.is_none() && Target::is_local(&destination.path) {
        // Spill to the destination's folder, because if it has room for the file, it probably also
        // has room for the rows to sort.
        options.sort_folder = Some(folder_of(&destination.path));
    }
    let writer = Writer::new(&mut target, schema, options)
        .map_err(|error| Failure::written(&name, &error))?;
    let mut saver = Saver {
        context,
        noted: note_warnings(context, &name, writer.warnings()),
        name: &name,
        writer,
        meter: Meter::new(context, destination, work, sorts),
    };
    write(&mut saver)?;
    let Saver { writer, meter, .. } = saver;
    drop(meter);
    if sorts {
        written.show(is_wanted(context, destination));
    }
    let finished = writer.finish();
    written.hide();
    let metadata = finished.map_err(|error| broken(&name, &error))?;
    if is_sorted {
        note_unsorted(context, &name, &metadata);
    }
    target.commit()
}

fn broken(name: &str, error: &Error) -> Failure {
    Failure::written(name, error).in_data()
}

/// A Parquet file being written.
struct Saver<'a> {
    context: &'a Context,
    name: &'a str,
    writer: Writer<&'a mut Target>,
    meter: Meter,
    /// True once the writer's warnings have been noted.
    noted: bool,
}

impl Saver<'_> {
    fn batches(&mut self, batches: impl Iterator<Item = Result<RecordBatch>>) -> Result<()> {
        for batch in batches {
            let batch = batch?;
            let written = self.writer.write(&batch);
            written.map_err(|error| broken(self.name, &error))?;
            // With geometries, the writer only starts the file at the first batch, so there might
            // be new warnings now.
            let warnings = self.writer.warnings();
            self.noted = self.noted || note_warnings(self.context, self.name, warnings);
            self.meter.batch(batch.num_rows());
        }
        Ok(())
    }

    /// Copies an input's chosen row groups, falling back to re-encoding its rows.
    fn copy(&mut self, input: &Input, (request, shape): (&Request<'_>, &Shape)) -> Result<()> {
        let file = input.open()?;
        if let Err(error) = self.writer.check_copy(&file) {
            self.context
                .note(&format!("{}: {}", input.name, error.message()));
            let inputs = slice::from_ref(input);
            let rows = Batches::new(self.context, inputs, request, Window::default());
            return self.batches(rows.map(|batch| shape.apply(&batch?)));
        }
        for row_group in row_groups(input, &file, request)? {
            let copied = self.writer.copy_row_group(&file, row_group);
            copied.map_err(|error| input.failure(&error))?;
            let header = file.metadata().row_group_header(row_group);
            let rows = header.map_or(0, |header| header.num_rows);
            self.meter.batch(usize::try_from(rows).unwrap_or_default());
        }
        Ok(())
    }
}

/// Returns a file's folder.
fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Writes notes about differences from the input's schema. Returns true if there were any.
fn note_warnings(context: &Context, name: &str, warnings: &[String]) -> bool {
    for warning in warnings {
        context.note(&format!("{name}: {warning}"));
    }
    !warnings.is_empty()
}

/// Writes a note with the number of row groups no longer sorted.
fn note_unsorted(context: &Context, name: &str, metadata: &FileMetadata) {
    let all = metadata.num_row_groups();
    let is_sorted = |row_group: &usize| {
        let header = metadata.row_group_header(*row_group);
        header.is_ok_and(|header| header.sorting_columns.is_some())
    };
    let sorted = (0..all).filter(is_sorted).count();
    if sorted < all {
        context.note(&format!(
            "{name}: {} of {all} row groups do not have sorting columns, because their rows come \
             from several row groups and are not sorted; sort them with --sort-by",
            all - sorted
        ));
    }
}

/// Checks that all columns named in options exist.
fn all_columns_exist(schema: &Schema, options: &WriteOptions, name: &str) -> Result<()> {
    let mapping = from_arrow(schema, &options.schema).map_err(|error| {
        let mut fields = schema.flattened_fields().into_iter();
        let is_empty =
            |field: &Field| matches!(field.data_type(), DataType::Struct(fields) if fields.is_empty());
        let failure = Failure::written(name, &error);
        match options.schema.empty_structs == EmptyStructs::Error && fields.any(is_empty) {
            true => failure.hinting("; --fill-empty-structs adds a field of nulls"),
            false => failure,
        }
    })?;
    for (selector, _) in &options.overrides {
        let ColumnSelector::Path(path) = selector else {
            continue;
        };
        let mut leaves = mapping.leaves.iter();
        if !leaves.any(|leaf| selector.selects(leaf)) {
            let path = path.join(".");
            return Err(Failure::Usage(format!("there is no column `{path}`")));
        }
    }
    Ok(())
}

/// Writes an Arrow IPC file.
///
/// # Errors
/// See [`parquet`].
pub(crate) fn arrow(context: &Context, destination: &Destination, rows: Rows<'_>) -> Result<()> {
    let mut target = Target::create(destination)?;
    let name = target.name.clone();
    let refused = |error| Failure::arrow_output(&name, &error);
    let mut writer =
        FileWriter::try_new(BufWriter::new(&mut target), &rows.schema).map_err(refused)?;
    let mut meter = Meter::new(context, destination, rows.work, false);
    for batch in rows.batches {
        let batch = batch?;
        writer.write(&batch).map_err(refused)?;
        meter.batch(batch.num_rows());
    }
    writer.finish().map_err(refused)?;
    // Flush the buffer explicitly, since dropping it would ignore errors.
    let buffered = writer.into_inner().map_err(refused)?;
    buffered
        .into_inner()
        .map_err(|error| Failure::output(&name, error.error()))?;
    target.commit()
}

/// Writes the rows of the file with the name `input` as CSV, JSON, GeoJSON or an Arrow IPC stream.
/// `csv` is the style of CSV.
///
/// # Errors
/// See [`parquet`].
pub(crate) fn stream(
    context: &Context,
    (input, destination): (&str, &Destination),
    format: FileFormat,
    csv: CsvStyle,
    rows: Rows<'_>,
) -> Result<()> {
    let mut target = Target::create(destination)?;
    let mut output = Output::new(&target.name.clone(), &mut target);
    let format = match format {
        FileFormat::Csv => RowFormat::Csv,
        FileFormat::Tsv => RowFormat::Tsv,
        FileFormat::Jsonl => RowFormat::Jsonl,
        FileFormat::Json => RowFormat::Json,
        FileFormat::Geojson => RowFormat::Geojson,
        FileFormat::Geojsonl => RowFormat::Geojsonl,
        FileFormat::Parquet | FileFormat::Arrow | FileFormat::ArrowStream => RowFormat::Arrow,
    };
    let mut sink = Sink::new(format, csv, &rows.schema, &mut output)?;
    if let Some(note) = &sink.note {
        context.note(note);
    }
    let mut meter = Meter::new(context, destination, rows.work, false);
    for batch in rows.batches {
        let batch = batch?;
        sink.write(&batch, input)?;
        meter.batch(batch.num_rows());
    }
    note_lost(context, sink.finish()?);
    output.flush()?;
    drop(output);
    target.commit()
}

/// Returns true if progress should be shown while rows are written.
fn is_wanted(context: &Context, destination: &Destination) -> bool {
    let has_terminal = Target::is_stdout(&destination.path) && io::stdout().is_terminal();
    !context.quiet && !has_terminal
}

/// Shows how much of the work is done.
struct Meter {
    progress: Progress,
    work: Work,
    shown: u64,
}

impl Meter {
    fn new(context: &Context, destination: &Destination, work: Work, sorts: bool) -> Self {
        let (total, unit) = match &work {
            Work::Rows(total) => (*total, "rows"),
            Work::Batches(total) => (*total, "batches"),
            Work::Bytes(total, _) => (*total, "bytes"),
            Work::Unknown => (0, ""),
        };
        let wanted = is_wanted(context, destination) && !matches!(work, Work::Unknown);
        let progress = match sorts {
            true => Progress::before_sorting(wanted, total, unit),
            false => Progress::of_file(wanted, total, unit),
        };
        Self {
            progress,
            work,
            shown: 0,
        }
    }

    /// Records that a batch is done.
    fn batch(&mut self, rows: usize) {
        let done = match &self.work {
            Work::Rows(_) => self.shown + rows as u64,
            Work::Batches(_) => self.shown + 1,
            Work::Bytes(_, read) => read.get(),
            Work::Unknown => return,
        };
        self.progress.add(done.saturating_sub(self.shown));
        self.shown = done;
    }
}

//! The rows of several files as one sequence of batches, for all commands that read rows.

mod arrange;
mod batches;
mod sample;
mod shape;
mod window;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use herringbone::variant::extension::VariantExtension;
use herringbone::variant::json::LostTypes;
use herringbone::variant::shredding::{UnshredOptions, is_variant};
use herringbone::{Int96Overflow, Int96Units, ParquetFile, Projection, ReadOptions};
use herringbone_arrow::schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use herringbone_rewrite::{SchemaMerge, difference, names_that_differ_in_case};

use crate::advice::Advised;
use crate::args::{Choice, Read, RowFormat, RowGroups, Selection, Sort, Wanted, chosen};
use crate::commands::explain;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input::Input;
use crate::output::Output;
use crate::progress::Progress;
use crate::render::sink::Sink;

pub(crate) use arrange::{Source, chosen as chosen_rows, sorted, windowed};
pub(crate) use batches::{Batches, count_read};
pub(crate) use shape::Shape;
pub(crate) use window::Window;

/// The rows to print, out of the chosen ones.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pick {
    /// A range of rows.
    Window(Window),
    /// A range of rows, as a table.
    Table(Window),
    /// A number of rows at random.
    Sample(usize),
}

/// Prints the chosen rows of `inputs` that `pick` names.
pub(crate) fn print(
    context: &Context,
    inputs: &[Input],
    read: &Read,
    pick: Pick,
    output: &mut Output<'_>,
) -> Result<()> {
    let format = match pick {
        Pick::Table(_) => RowFormat::Table,
        _ => format(read.format(), output)?,
    };
    if (read.csv.has_null() || read.csv.crlf) && format != RowFormat::Csv {
        let message = "--null and --crlf need --format csv";
        return Err(Failure::Usage(message.into()));
    }
    let mut request = Request::new(inputs, read.options(), &read.choice, read.merge.choice())?;
    let window = match pick {
        Pick::Window(window) | Pick::Table(window) => window,
        Pick::Sample(rows) => {
            request.sample = Some((rows, read.choice.seed));
            Window::default()
        }
    };
    request.unshred();
    if read.explain {
        if request.merge.by_name {
            survey(inputs, &mut request)?;
        }
        for (at, input) in inputs.iter().enumerate() {
            let file = input.open()?;
            let options = options((at, input), &file, &request)?;
            explain::file(input, &file, &options, output)?;
        }
        return Ok(());
    }
    request.choose_int96_unit(inputs, window)?;
    let Some((schema, rows)) = survey(inputs, &mut request)? else {
        return Ok(());
    };
    request.note_case(context, &schema);
    request.choose_sample(context, inputs)?;
    let shape = Shape::new(request.columns, &schema)?;
    let schema = shape.schema().clone();
    let mut sink = Sink::new(format, read.csv.style(), &schema, output)?;
    if let Some(note) = &sink.note {
        context.note(note);
    }
    let mut progress = Progress::new(!context.quiet, window.rows(rows), "rows");
    let (batches, place) = arranged(context, inputs, &request, shape, window)?;
    for batch in batches {
        let batch = batch?;
        let name = inputs.get(place.get()).map_or("", |input| &input.name);
        sink.write(&batch, name)?;
        progress.add(batch.num_rows() as u64);
    }
    note_lost(context, sink.finish()?);
    Ok(())
}

/// Returns the rows of a request in the columns of `shape`, sorted and in `window`. Also returns the index of their input.
///
/// # Errors
/// Usage if the rows cannot be sorted.
pub(crate) fn arranged<'a>(
    context: &'a Context,
    inputs: &'a [Input],
    request: &'a Request<'a>,
    shape: Shape,
    window: Window,
) -> Result<(Source<'a>, batches::Place)> {
    let schema = shape.schema().clone();
    let is_sorted = request.sort.is_some_and(Sort::is_given);
    let of_files = match is_sorted {
        true => Window::default(),
        false => window,
    };
    let batches = Batches::new(context, inputs, request, of_files);
    let place = batches.place();
    let batches: Source<'a> = Box::new(batches.map(move |batch| shape.apply(&batch?)));
    Ok(match request.sort {
        Some(sort) if is_sorted => (windowed(sorted(batches, &schema, sort)?, window), place),
        _ => (batches, place),
    })
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
#[derive(Clone)]
pub(crate) struct Request<'a> {
    pub(crate) options: ReadOptions,
    /// The row groups. `None` means all of them.
    pub(crate) row_groups: Option<&'a RowGroups>,
    /// The selection of rows by value. `None` means all of them.
    pub(crate) wanted: Option<&'a Wanted>,
    /// The columns of the output. `None` means all of them.
    pub(crate) columns: Option<&'a Selection>,
    /// The number of rows of a sample, and its seed.
    sample: Option<(usize, Option<u64>)>,
    /// The rows of the sample in each file, once they are chosen.
    positions: Option<Vec<Vec<Range<u64>>>>,
    /// The order of the output.
    pub(crate) sort: Option<&'a Sort>,
    /// The allowed differences between the files.
    pub(crate) merge: SchemaMerge,
    /// True if variants are read unshredded.
    pub(crate) unshreds: bool,
    /// The options for unshredding.
    pub(crate) unshredding: UnshredOptions,
}

impl<'a> Request<'a> {
    /// Creates the request for the chosen rows and columns of `inputs`.
    ///
    /// # Errors
    /// Errors of opening the files, if the columns depend on them.
    pub(crate) fn new(
        inputs: &[Input],
        options: ReadOptions,
        choice: &'a Choice,
        merge: SchemaMerge,
    ) -> Result<Self> {
        let mut request = Self {
            row_groups: choice.row_groups.as_ref(),
            wanted: Some(&choice.wanted),
            columns: choice.columns.as_ref(),
            sample: choice.sample.map(|rows| (rows, choice.seed)),
            sort: Some(&choice.sort),
            merge,
            unshredding: choice.wanted.variants.options(),
            ..Self::all(options)
        };
        let Some(selection) = &choice.columns else {
            return Ok(request);
        };
        let paths = match selection.has_rest() {
            false => selection.taken().map(|taken| taken.path.clone()).collect(),
            true => {
                let all = request.all_fields(inputs)?;
                if let Some(path) = selection.dropped().iter().find(|path| !has(&all, path)) {
                    let path = path.join(".");
                    return Err(Failure::Usage(format!(
                        "--columns !{path}: there is no column `{path}`"
                    )));
                }
                let taken = selection.of(&all).into_iter();
                taken.map(|taken| taken.path).collect()
            }
        };
        request.options.projection = Projection::Paths(paths);
        Ok(request)
    }

    /// Creates the request for all rows and columns.
    pub(crate) fn all(options: ReadOptions) -> Self {
        Self {
            options,
            row_groups: None,
            wanted: None,
            columns: None,
            sample: None,
            positions: None,
            sort: None,
            merge: SchemaMerge::default(),
            unshreds: false,
            unshredding: UnshredOptions::default(),
        }
    }

    /// Returns the columns that at least one of the inputs has, those of the first one first.
    fn all_fields(&self, inputs: &[Input]) -> Result<Fields> {
        let mut fields: Vec<Arc<Field>> = Vec::new();
        let mut names = HashSet::new();
        let inputs = match self.merge.by_name {
            true => inputs,
            false => inputs.get(..1).unwrap_or_default(),
        };
        for input in inputs {
            let schema = schema_of(input, &input.open()?, self.options.clone())?;
            let fields_of_file = schema.fields().iter();
            fields.extend(
                fields_of_file
                    .filter(|it| names.insert(it.name().clone()))
                    .cloned(),
            );
        }
        Ok(fields.into())
    }

    /// Returns true if rows are selected by their values.
    pub(crate) fn is_filtered(&self) -> bool {
        self.wanted.is_some_and(Wanted::is_given)
    }

    /// Returns the number of rows that a read returns, without regard to a sample.
    ///
    /// # Errors
    /// Errors of reading the rows that a condition is tested on.
    pub(crate) fn num_rows(&self, context: &Context, inputs: &[Input]) -> Result<u64> {
        let mut rows = 0_u64;
        for (at, input) in inputs.iter().enumerate() {
            let file = input.open()?;
            let options = options((at, input), &file, self)?;
            let more = match self.is_filtered() {
                true => {
                    let options = options.projection(Projection::Leaves(Vec::new()));
                    count_read(context, input, &file, options)?
                }
                false => count(input, &file, &options)?,
            };
            rows = rows.saturating_add(more);
        }
        Ok(rows)
    }

    /// Chooses the rows of the sample, if there is to be one.
    ///
    /// # Errors
    /// Errors of reading the rows that a condition is tested on.
    pub(crate) fn choose_sample(&mut self, context: &Context, inputs: &[Input]) -> Result<()> {
        if let Some(sample) = self.sample.take() {
            self.positions = Some(sample::positions(context, inputs, self, sample)?);
        }
        Ok(())
    }

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
        for (at, input) in inputs.iter().enumerate() {
            let file = input.open()?;
            if let Some(options) = window.options((at, input), &file, self)? {
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
    for (at, input) in inputs.iter().enumerate() {
        let file = input.open()?;
        let mut options = options((at, input), &file, request)?;
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
        let read = schema_of(input, &file, options((at, input), &file, request)?)?;
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

fn options(
    (at, input): (usize, &Input),
    file: &ParquetFile,
    request: &Request<'_>,
) -> Result<ReadOptions> {
    let mut options = request.options.clone().limits(input.limits().clone());
    if let (true, Projection::Paths(paths)) = (request.seeks_columns(), &options.projection) {
        let here = paths.iter().filter(|path| has_column(file, &options, path));
        options.projection = Projection::Paths(here.cloned().collect());
    }
    if let Some(positions) = &request.positions {
        // The condition holds for these rows.
        options.row_ranges = positions.get(at).cloned();
    } else if let (Some(wanted), false) = (request.wanted, request.seeks_columns()) {
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
    let all = || (0..file.metadata().num_row_groups()).collect();
    let row_groups = options.row_groups.clone().unwrap_or_else(all);
    in_row_groups(input, file, &row_groups)
}

/// Returns the number of rows in row groups.
pub(crate) fn in_row_groups(
    input: &Input,
    file: &ParquetFile,
    row_groups: &[usize],
) -> Result<u64> {
    let mut rows = 0_u64;
    for row_group in row_groups {
        let header = file.metadata().row_group_header(*row_group);
        let header = header.map_err(|error| input.failure(&error))?;
        rows = rows.saturating_add(u64::try_from(header.num_rows).unwrap_or(0));
    }
    Ok(rows)
}

/// Returns true if the fields contain the one at a path. Lists and maps may contain any.
fn has(fields: &Fields, path: &[String]) -> bool {
    let Some((first, rest)) = path.split_first() else {
        return true;
    };
    match fields.find(first).map(|(_, field)| field.data_type()) {
        Some(DataType::Struct(fields)) => has(fields, rest),
        Some(data_type) => rest.is_empty() || data_type.is_nested(),
        None => false,
    }
}

//! The rows of several files as one sequence of batches, for all commands that read rows.

mod arrange;
mod batches;
mod sample;
mod shape;
mod window;

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use herringbone::format::Type;
use herringbone::variant::extension::VariantExtension;
use herringbone::variant::json::LostTypes;
use herringbone::variant::shredding::{UnshredOptions, is_variant};
use herringbone::{Int96Overflow, Int96Units, ParquetFile, Projection, ReadOptions, WantedSchema};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use herringbone_rewrite::{SchemaMerge, difference, names_that_differ_in_case};

use crate::advice::Advised;
use crate::args::{Choice, Read, RowFormat, RowGroups, Selection, Sort, Wanted, chosen};
use crate::commands::Explained;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::folder::Member;
use crate::input::{Input, by_table};
use crate::output::Output;
use crate::progress::Progress;
use crate::render::plural::counted;
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
    if let Some(option) = read.csv.given()
        && !matches!(format, RowFormat::Csv | RowFormat::Tsv)
    {
        return Err(Failure::Usage(format!(
            "{option} needs --format csv or tsv"
        )));
    }
    let style = read.csv.style(format == RowFormat::Tsv)?;
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
        let is_json = read.format() == Some(RowFormat::Jsonl);
        return explain(inputs, &request, is_json, output);
    }
    request.choose_int96_unit(inputs, window)?;
    let Some((schema, rows)) = survey(inputs, &mut request)? else {
        return Ok(());
    };
    request.note_case(context, &schema);
    request.choose_sample(context, inputs)?;
    let shape = Shape::new(request.columns, &schema)?;
    let schema = shape.schema().clone();
    let mut sink = Sink::new(format, style, &schema, output)?;
    if let Some(note) = &sink.note {
        context.note(note);
    }
    let in_window = rows.map(|rows| window.rows(rows));
    let mut progress = Progress::new(!context.quiet, in_window, "rows");
    let (batches, place) = arranged(context, inputs, &request, shape, window)?;
    for batch in batches {
        let batch = batch?;
        let name = inputs.get(place.get()).map_or("", |input| &input.name);
        sink.write(&batch, name)?;
        progress.add(batch.num_rows() as u64);
    }
    let shown = sink.rows();
    note_lost(context, sink.finish()?);
    let has_total = matches!(format, RowFormat::Table | RowFormat::Vertical);
    if has_total && !matches!(pick, Pick::Table(_)) {
        output.line(&match rows {
            Some(rows) if !request.is_filtered() && shown != rows => {
                format!("{shown} of {}", counted(rows, "row"))
            }
            // Not all footers were read.
            None if window.limit == Some(shown) => {
                format!("{}; the table may have more", counted(shown, "row"))
            }
            _ => counted(shown, "row"),
        })?;
    }
    Ok(())
}

/// Explains the read of each table.
///
/// # Errors
/// Usage if rows are not selected by their values.
pub(crate) fn explain(
    inputs: &[Input],
    request: &Request<'_>,
    is_json: bool,
    output: &mut Output<'_>,
) -> Result<()> {
    for table in by_table(inputs) {
        let mut request = request.clone();
        request.find_columns(match request.merge.by_name {
            true => inputs,
            false => table,
        })?;
        let mut explained = Explained::new(table);
        for (at, input) in table.iter().enumerate() {
            let file = input.open()?;
            explained.add(input, &file, &options((at, input), &file, &request)?)?;
        }
        explained.print(is_json, output)?;
    }
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
    /// True if all columns of all files are read.
    reads_all: bool,
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
            reads_all: false,
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
            let schema = columns_of(input, &input.open()?, self.options.clone(), self)?;
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

    /// Finds the columns that tests need, if columns are matched by name. Call it before rows are selected by values
    /// without a [`survey`].
    ///
    /// # Errors
    /// See [`survey`].
    pub(crate) fn find_columns(&mut self, inputs: &[Input]) -> Result<()> {
        if self.is_filtered() && inputs.iter().any(|input| self.seeks_columns(input)) {
            survey(inputs, self)?;
        }
        Ok(())
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
                    let options = options.projection(Projection::Paths(Vec::new()));
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

    /// Returns true if the columns of a file are matched by name, and the set of columns is not known yet.
    fn seeks_columns(&self, input: &Input) -> bool {
        let by_name = self.merge.by_name || input.member.is_some();
        by_name && self.options.wanted_schema.is_none()
    }

    /// Returns true if the columns of a file contribute to the schema of all. In a folder, only the first file does,
    /// unless columns are matched by name.
    fn is_surveyed(&self, input: &Input) -> bool {
        let member = input.member.as_ref();
        self.merge.by_name || member.is_none_or(Member::is_first)
    }

    /// Limits the wanted columns to those of the projection. Other columns are there for tests.
    fn read_wanted_columns(&mut self) {
        self.options.projection = match &self.options.projection {
            Projection::Paths(paths) if self.is_filtered() => {
                let tops = paths.iter().filter_map(|path| path.first());
                let tops: BTreeSet<&String> = tops.collect();
                Projection::Paths(tops.into_iter().map(|name| vec![name.clone()]).collect())
            }
            _ => Projection::All,
        };
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
        if self.is_filtered() && inputs.iter().any(|input| self.seeks_columns(input)) {
            // The number of matching rows is not known yet.
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
                // The schema of its folder has none.
                skipped = Some(input);
                continue;
            }
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

/// Returns the common schema of all files, and their total number of rows if it is known. If the files differ, the
/// request is changed to read them with that schema.
///
/// The schemas of all files are checked before the first row is printed: a partial output is worse than none. In a
/// folder, the schema is that of the first file. Others are checked when they are read.
///
/// # Errors
/// Data if the files have no common schema.
pub(crate) fn survey(
    inputs: &[Input],
    request: &mut Request<'_>,
) -> Result<Option<(SchemaRef, Option<u64>)>> {
    let mut named: Vec<(&str, SchemaRef)> = Vec::new();
    let mut rows = Some(0_u64);
    for (at, input) in inputs.iter().enumerate() {
        if !request.is_surveyed(input) {
            rows = None;
            continue;
        }
        let file = input.open()?;
        let options = options((at, input), &file, request)?;
        let more = count(input, &file, &options)?;
        rows = rows.map(|rows| rows.saturating_add(more));
        named.push((&input.name, columns_of(input, &file, options, request)?));
    }
    let Some((_, first)) = named.first() else {
        return Ok(None);
    };
    let same = |a: &Schema, b: &Schema| difference("", a, "", b).is_none();
    let has_folder = inputs.iter().any(|input| input.member.is_some());
    if request.merge.by_name || has_folder {
        some_file_has_each_column(inputs, request)?;
    } else if named.iter().all(|(_, schema)| same(first, schema)) {
        return Ok(Some((first.clone(), rows)));
    }
    let shredded_otherwise = |schema: &SchemaRef| variants(schema) != variants(first);
    let may_be = rows.is_none() && !variants(first).is_empty();
    if !request.unshreds && (may_be || named.iter().any(|it| shredded_otherwise(&it.1))) {
        // The schemas are equal once variants are unshredded.
        request.unshred();
        return survey(inputs, request);
    }
    let merge = request.merge;
    let mut all = merge.schema(&named).map_err(|error| differ(&error))?;
    if request.options.wanted_schema.is_none() {
        request.reads_all = match request.columns {
            Some(columns) => columns.has_rest(),
            None => matches!(request.options.projection, Projection::All),
        };
    }
    match has_folder {
        true => request.options.wanted_schema = Some(WantedSchema::new(all.clone())),
        false => merge.read_as(&all, &mut request.options),
    }
    let is_wanted = request.options.wanted_schema.is_some();
    if is_wanted {
        request.read_wanted_columns();
    }
    let surveyed = inputs.iter().enumerate();
    let surveyed: Vec<_> = surveyed.filter(|it| request.is_surveyed(it.1)).collect();
    for (of_named, (at, input)) in surveyed.into_iter().enumerate() {
        let file = input.open()?;
        let read = schema_of(input, &file, options((at, input), &file, request)?)?;
        if is_wanted {
            all = read;
        } else if !same(&all, &read) {
            return Err(differ(&merge.refusal(&named, of_named)));
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
    for input in inputs.iter().filter(|input| request.is_surveyed(input)) {
        if missing.is_empty() {
            return Ok(());
        }
        let file = input.open()?;
        missing
            .retain(|path| !is_in_path(input, path) && !has_column(&file, &request.options, path));
    }
    match missing.first() {
        None => Ok(()),
        Some(path) => Err(Failure::Usage(format!(
            "there is no column `{}` in {}",
            path.join("."),
            match inputs {
                [first, rest @ ..] if rest.iter().all(|it| it.is_in_folder_of(first)) =>
                    &first.name,
                _ => "any of the files",
            }
        ))),
    }
}

/// Returns true if a column has its value in the path of the file.
fn is_in_path(input: &Input, path: &[String]) -> bool {
    let member = input.member.as_ref().zip(path.first());
    member.is_some_and(|(member, name)| path.len() == 1 && member.has_value_of(name))
}

/// Returns true if a file has INT96 timestamps.
fn has_int96(file: &ParquetFile) -> bool {
    let schema = file.parquet_schema();
    let mut leaves = 0..schema.leaves().len();
    leaves.any(|leaf| schema.element(leaf).type_ == Some(Type::Int96))
}

/// Returns the schema that a file contributes: the columns of the projection, those in its path, and those that only
/// tests may need.
fn columns_of(
    input: &Input,
    file: &ParquetFile,
    options: ReadOptions,
    request: &Request<'_>,
) -> Result<SchemaRef> {
    let projected = schema_of(input, file, options.clone())?;
    if !request.seeks_columns(input) {
        return Ok(projected);
    }
    let is_read = |name: &String| match &request.options.projection {
        Projection::Paths(paths) => paths.iter().any(|path| path == slice::from_ref(name)),
        _ => true,
    };
    let in_path = input.member.as_ref().map(Member::partition).transpose();
    let in_path = in_path.map_err(|error| input.failure(&error))?;
    let in_path = in_path.as_ref().map(|batch| batch.schema_ref().fields());
    let in_path: Vec<&FieldRef> = in_path.into_iter().flatten().collect();
    let mut fields: Vec<FieldRef> = projected.fields().iter().cloned().collect();
    fields.retain(|field| in_path.iter().all(|it| it.name() != field.name()));
    let (read, tested): (Vec<_>, Vec<_>) = in_path.into_iter().partition(|it| is_read(it.name()));
    fields.extend(read.into_iter().cloned());
    if request.is_filtered() {
        let all = schema_of(input, file, options.projection(Projection::All))?;
        for field in tested.into_iter().chain(all.fields()) {
            if fields.iter().all(|it| it.name() != field.name()) {
                fields.push(field.clone());
            }
        }
    }
    let metadata = projected.metadata().clone();
    Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
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
    if let Some(member) = &input.member {
        let checked = member.check_path_column(file);
        checked.map_err(|failure| failure.in_file(&input.name))?;
    }
    let mut options = request.options.clone().limits(input.limits().clone());
    let seeks_columns = request.seeks_columns(input);
    if let (true, Projection::Paths(paths)) = (seeks_columns, &options.projection) {
        let here = paths
            .iter()
            .filter(|path| !is_in_path(input, path) && has_column(file, &options, path));
        options.projection = Projection::Paths(here.cloned().collect());
    }
    if let Some(member) = &input.member
        && let Some(mut wanted) = options.wanted_schema.take()
    {
        let values = member.partition().map_err(|error| input.failure(&error))?;
        for (field, value) in values.schema_ref().fields().iter().zip(values.columns()) {
            if wanted.schema().field_with_name(field.name()).is_ok() {
                wanted = wanted.constant(field.name(), value.clone());
            }
        }
        options.wanted_schema = Some(wanted);
    }
    if let Some(positions) = &request.positions {
        // The condition holds for these rows.
        options.row_ranges = positions.get(at).cloned();
    } else if let (Some(wanted), false) = (request.wanted, seeks_columns) {
        let columns = options
            .wanted_schema
            .as_ref()
            .filter(|_| input.member.is_some());
        let filter = wanted.filter(file, columns.map(WantedSchema::schema));
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

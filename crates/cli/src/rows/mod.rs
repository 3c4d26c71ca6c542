//! Reads the rows of several files as one sequence of batches. All commands that read rows share
//! this room.

mod arrange;
mod batches;
mod explained;
mod expression;
mod preparation;
mod print;
mod request;
mod sample;
mod shape;
mod survey;
mod window;

use herringbone::{ParquetFile, Projection, ReadOptions, WantedSchema};
use herringbone_interchange::read;

use crate::args::{Sort, chosen};
use crate::base::failure::{Failure, Result};
use crate::input::Input;
use crate::input::context::Context;
use arrange::NO_ROW_GROUPS;

pub(crate) use arrange::{Source, chosen as chosen_rows, schema_of_sorted, sorted, windowed};
pub(crate) use batches::{Batches, count_read};
pub(crate) use print::{Pick, explain, note_lost, print};
pub(crate) use request::{Request, int96_unit};
pub(crate) use shape::Shape;
pub(crate) use survey::survey;
pub(crate) use window::Window;

/// Rows from a file of any format.
pub(crate) type Rows<'a> = read::Rows<'a, Failure>;

/// Returns a request's rows in the columns of `shape`, sorted if requested and cut to `window`.
/// Also returns the input index of the newest batch.
///
/// # Errors
/// Fails with [`Failure::Usage`] if the rows cannot be sorted.
pub(crate) fn arranged<'a>(
    context: &'a Context,
    inputs: &'a [Input],
    request: &'a Request<'a>,
    shape: Shape,
    window: Window,
) -> Result<(Source<'a>, batches::Place)> {
    let schema = shape.schema().clone();
    let is_sorted = request.sort.is_some_and(Sort::is_given);
    let file_window = match is_sorted {
        true => Window::default(),
        false => window,
    };
    let batches = Batches::new(context, inputs, request, file_window);
    let place = batches.place();
    let batches: Source<'a> = Box::new(batches.map(move |batch| shape.apply(&batch?)));
    Ok(match request.sort {
        Some(sort) if is_sorted => (windowed(sorted(batches, &schema, sort)?, window), place),
        _ => (batches, place),
    })
}

/// Returns true if the column's value is in the file's path.
fn is_in_path(input: &Input, path: &[String]) -> bool {
    let member = input.member.as_ref().zip(path.first());
    member.is_some_and(|(member, name)| path.len() == 1 && member.has_value_of(name))
}

/// Returns true if `file` has the column or nested field at `path`.
fn has_column(file: &ParquetFile, options: &ReadOptions, path: &[String]) -> bool {
    let mut options = options.clone();
    options.projection = Projection::Paths(vec![path.to_owned()]);
    file.plan(&options).is_ok()
}

/// Returns true if the column or nested field at `path` is stored in the file itself, rather than
/// taken from the file's own path.
pub(crate) fn is_stored(input: &Input, file: &ParquetFile, path: &[String]) -> bool {
    !is_in_path(input, path) && has_column(file, &ReadOptions::new(), path)
}

/// Returns the requested row groups.
///
/// # Errors
/// Fails with [`Failure::Usage`] if the file does not have one of them, or if it is not Parquet.
pub(crate) fn row_groups(
    input: &Input,
    file: &ParquetFile,
    request: &Request<'_>,
) -> Result<Vec<usize>> {
    if request.row_groups.is_some() && !input.is_parquet() {
        return Err(Failure::Usage(format!("{}: {NO_ROW_GROUPS}", input.name)));
    }
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
        // These rows were chosen from matching rows, so there is no need to test the condition
        // again.
        options.row_ranges = positions.get(at).cloned();
    } else if let (Some(wanted), false) = (request.wanted, seeks_columns) {
        let columns = options
            .wanted_schema
            .as_ref()
            .filter(|_| input.member.is_some());
        let filter = wanted.filter(file, columns.map(WantedSchema::schema));
        let filter = filter.map_err(|error| input.failure(&error))?;
        options.filter = match &input.member {
            Some(member) => filter.map(|filter| member.filter(filter)),
            None => filter,
        };
    }
    match request.row_groups {
        None => Ok(options),
        Some(_) => Ok(options.row_groups(row_groups(input, file, request)?)),
    }
}

/// Returns the number of rows in the chosen row groups.
fn count(input: &Input, file: &ParquetFile, options: &ReadOptions) -> Result<u64> {
    let all = || (0..file.metadata().num_row_groups()).collect();
    let row_groups = options.row_groups.clone().unwrap_or_else(all);
    in_row_groups(input, file, &row_groups)
}

/// Returns the number of rows in these row groups.
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

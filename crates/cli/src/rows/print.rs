//! Prints rows or explains how they would be read.

use herringbone::variant::json::LostTypes;

use super::explained::Explained;
use super::{Request, Shape, Window, arranged, options, schema_of_sorted, survey};
use crate::args::{Read, RowFormat};
use crate::base::failure::{Failure, Result};
use crate::base::plural::counted;
use crate::input::context::Context;
use crate::input::{Input, by_table};
use crate::output::Output;
use crate::output::progress::Progress;
use crate::render::sink::Sink;

/// Selects rows to print from those chosen by the user.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Pick {
    /// A range of rows.
    Window(Window),
    /// A range of rows, always printed as a table.
    Table(Window),
    /// This number of rows at random.
    Sample(usize),
}

/// Prints the chosen rows that `pick` names.
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
    let is_csv = matches!(format, RowFormat::Csv | RowFormat::Tsv);
    let reads_csv = inputs.iter().any(|input| input.format().is_csv());
    let given = match reads_csv {
        true => read.csv.crlf.then_some("--crlf"),
        false => read.csv.given(),
    };
    if let Some(option) = given.filter(|_| !is_csv) {
        return Err(Failure::Usage(format!(
            "{option} needs --format csv or tsv"
        )));
    }
    let style = read.csv.style(format == RowFormat::Tsv)?;
    let mut request = Request::new(inputs, read.options(), &read.choice, read.merge.choice())?;
    let window = match pick {
        Pick::Window(window) | Pick::Table(window) => window,
        Pick::Sample(rows) => {
            request.sample = Some((rows, read.choice.sampling.seed));
            Window {
                offset: read.choice.part.offset,
                limit: None,
            }
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
    let schema = schema_of_sorted(shape.schema(), request.sort);
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
    let has_all_rows = inputs.iter().all(Input::has_all_rows);
    let has_total = matches!(format, RowFormat::Table | RowFormat::Vertical);
    if has_total && !matches!(pick, Pick::Table(_)) {
        output.line(&match rows {
            Some(rows) if has_all_rows && !request.is_filtered() && shown != rows => {
                format!("{shown} of {}", counted(rows, "row"))
            }
            // We haven't seen all rows, so the table might have more.
            _ if !(has_all_rows && rows.is_some()) && window.limit == Some(shown) => {
                format!("{}; the table may have more", counted(shown, "row"))
            }
            _ => counted(shown, "row"),
        })?;
    }
    Ok(())
}

/// Explains how each table would be read.
///
/// # Errors
/// Fails with [`Failure::Usage`] if rows are not selected by their values.
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

/// Writes a note about variant types lost in JSON.
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

//! `repair` writes the intact parts of a damaged file to a new one.

use std::iter;
use std::path::Path;
use std::slice;

use herringbone::{Int96Overflow, Location, ReadOptions, Remedy};
use herringbone_inspect::repair::{Lost, RepairOptions, RepairSchema, RepairSource};
use herringbone_interchange::read::Work;
use herringbone_rewrite::encryption::{Protection, without_keys};

use crate::args::Repair;
use crate::base::failure::{Failure, Result};
use crate::base::plural::counted;
use crate::base::printable::json_line;
use crate::base::url::name_of;
use crate::describe::Object;
use crate::encryption::Summary;
use crate::input::context::Context;
use crate::input::schema_file::schema_file;
use crate::input::{self, Input};
use crate::output::Output;
use crate::output::progress::Progress;
use crate::rows::{Rows, int96_unit};
use crate::save;
use crate::save::carry_over;
use crate::save::target::Target;

/// Writes the valid row groups to a new file, and reports the losses.
pub(crate) fn run(context: &Context, request: &Repair, output: &mut Output<'_>) -> Result<()> {
    let destination = &request.output.destination();
    Target::check(destination)?;
    if request.json.json {
        Target::leave_stdout(destination)?;
    }
    let inputs = input::all(slice::from_ref(&request.input), context)?;
    let Some(input) = inputs.first() else {
        return Ok(());
    };
    let mut options = RepairOptions::default();
    options.limits = context.limits.clone();
    options.row_group_rows = request.input_row_group_rows;
    options.ignore_footer = request.ignore_footer;
    if let Some(path) = &request.schema {
        options.schema = Some(schema(context, path)?);
    }
    let mut read = request.decode.options().limits(context.limits.clone());
    let repair = checked(context, input, &options, &read)?;
    tell_losses(context, (request, input), &repair, output)?;
    let is_whole = repair.source() == RepairSource::Footer && repair.lost().is_empty();
    if repair.valid_row_groups().is_empty() && !is_whole {
        let is_encrypted = encryption(input, &repair)?.is_some();
        let advice = match uses_footer(&repair, &options) && !is_encrypted {
            true => "; --ignore-footer looks for pages without the footer",
            false => "",
        };
        return Err(Failure::Data(format!(
            "{}: no intact row group was found{advice}",
            input.name
        )));
    }
    if read.schema.int96_overflow == Int96Overflow::CoarserUnit {
        let valid = read.clone().row_groups(repair.valid_row_groups().to_vec());
        let units = repair.file().int96_units(&valid);
        let units = units.map_err(|error| input.failure(&error))?;
        read.schema.int96_unit = int96_unit(&units)?;
        read.schema.int96_overflow = Int96Overflow::Error;
    }
    let mut reader = repair.read(read).map_err(|error| input.failure(&error))?;
    let mut kept = carry_over::start(&request.write, Protection::Keep, Vec::new());
    carry_over::add(&mut kept, input, repair.file(), repair.valid_row_groups())?;
    let mut write = request.write.options(request.decode.threads);
    request.sort.choose(&mut write);
    // Values that violate their annotation aren't lost, so the writer has to accept them.
    let mut write = write.allow_out_of_range(true);
    let ends = (input, destination);
    let (schema, material) = carry_over::apply(context, kept, &reader.schema(), ends, &mut write)?;
    let rows = Rows {
        schema,
        work: Work::Rows(repair.num_rows()),
        batches: Box::new(iter::from_fn(move || {
            let batch = reader.next_batch().map_err(|error| input.failure(&error));
            batch.map_err(Failure::in_data).transpose()
        })),
    };
    save::parquet(context, destination, write, rows)?;
    carry_over::finish(material)?;
    tell_result(context, (request, input), (&repair, &options), output)
}

/// Reports the written file, either in notes or as JSON.
fn tell_result(
    context: &Context,
    (request, input): (&Repair, &Input),
    (repair, options): (&herringbone_inspect::repair::Repair, &RepairOptions),
    output: &mut Output<'_>,
) -> Result<()> {
    if request.json.json {
        let object = Object::new()
            .with("kind", "repaired")
            .with("file", input.name.as_str())
            .with("output", name_of(&request.output.destination().path))
            .with("footer", footer(repair).0)
            .with("num_rows", repair.num_rows())
            .with("row_groups", repair.valid_row_groups().len())
            .with("is_end_known", repair.is_end_known());
        return output.line(&json_line(&object.into()));
    }
    if !repair.is_end_known() {
        context.note(&format!(
            "{}: the file does not show whether rows followed the last of these row groups",
            input.name
        ));
    }
    if !repair.lost().is_empty() && uses_footer(repair, options) {
        context.note(&format!(
            "{}: if the footer is damaged, --ignore-footer may find more",
            input.name
        ));
    }
    context.note(&format!(
        "{}: {} in {}",
        input.name,
        counted(repair.num_rows(), "row"),
        counted(repair.valid_row_groups().len() as u64, "row group")
    ));
    Ok(())
}

/// Returns the file's encryption, if its footer records it.
fn encryption(
    input: &Input,
    repair: &herringbone_inspect::repair::Repair,
) -> Result<Option<Summary>> {
    Summary::of(repair.file()).map_err(|error| input.failure(&error))
}

/// Returns true if the row group locations are from the footer, right or wrong. We might find more
/// row groups by ignoring it.
fn uses_footer(repair: &herringbone_inspect::repair::Repair, options: &RepairOptions) -> bool {
    repair.source() != RepairSource::Pages && !options.ignore_footer
}

/// Searches for intact parts and verifies them by reading them.
fn checked(
    context: &Context,
    input: &Input,
    options: &RepairOptions,
    read: &ReadOptions,
) -> Result<herringbone_inspect::repair::Repair> {
    let opened = input.repair(options);
    let mut repair = opened.map_err(|error| match input.foreign() {
        Some(_) => input.unopened(&error),
        None => failed(input, &error),
    })?;
    if input.decryption().is_none() && encryption(input, &repair)?.is_some() {
        return Err(input.failure(&without_keys()));
    }
    let total = repair.num_row_groups() as u64;
    let mut progress = Progress::of_file(!context.quiet, total, "row groups read");
    let checked = repair.check(read, |_| progress.add(1));
    drop(progress);
    checked.map_err(|error| input.failure(&error))?;
    Ok(repair)
}

/// Returns the footer's state, once for JSON and once as text.
fn footer(repair: &herringbone_inspect::repair::Repair) -> (&'static str, &'static str) {
    match repair.source() {
        RepairSource::Footer => ("intact", "the footer is intact"),
        RepairSource::PartialMetadata => ("partial", "a part of the footer is intact"),
        _ => (
            "lost",
            "the footer is lost; row groups are assembled from pages",
        ),
    }
}

/// Reports the footer's state and the losses, either on standard error or as JSON lines.
fn tell_losses(
    context: &Context,
    (request, input): (&Repair, &Input),
    repair: &herringbone_inspect::repair::Repair,
    output: &mut Output<'_>,
) -> Result<()> {
    if !request.json.json {
        context.note(&format!("{}: {}", input.name, footer(repair).1));
    }
    for lost in repair.lost() {
        if !request.json.json {
            context.lost(&input.name, &said(input, lost));
            continue;
        }
        context.count_lost();
        let place = &lost.location;
        let object = Object::new()
            .with("kind", "lost")
            .with("file", input.name.as_str())
            .some("num_rows", lost.rows)
            .with("message", lost.reason.as_str())
            .some("advice", advice(input, lost))
            .some("row_group", place.row_group)
            .some("column", place.column.as_deref())
            .some("page", place.page)
            .some("offset", place.offset);
        output.line(&json_line(&object.into()))?;
    }
    Ok(())
}

/// Returns the failure for a file in which nothing was found.
fn failed(input: &Input, error: &herringbone::Error) -> Failure {
    match error.remedy() {
        // Ambiguous pages are the data's fault, not the command line's.
        Some(Remedy::GiveRowGroupRows) => input.failure(error).in_data(),
        _ => input.failure(error),
    }
}

/// Returns an option to avoid the loss, if there is one.
fn advice(input: &Input, lost: &Lost) -> Option<String> {
    lost.remedy
        .and_then(|remedy| input.advice(remedy, &lost.location))
}

fn said(input: &Input, lost: &Lost) -> String {
    let rows = lost
        .rows
        .map_or_else(String::new, |rows| format!("{}: ", counted(rows, "row")));
    let advice = advice(input, lost).map_or_else(String::new, |advice| format!("; {advice}"));
    let place = match &lost.location {
        nowhere if *nowhere == Location::default() => String::new(),
        place => format!(" ({place})"),
    };
    format!("{rows}{}{advice}{place}", lost.reason)
}

/// Returns a Parquet file's schema, or the Parquet schema that we would write for an Arrow schema.
fn schema(context: &Context, path: &Path) -> Result<RepairSchema> {
    schema_file(
        path,
        context,
        |sibling| Ok(RepairSchema::of_file(&sibling.open()?)),
        |schema| {
            let schema = RepairSchema::of_arrow(&schema);
            schema.map_err(|error| Failure::parquet(&name_of(path), &error))
        },
    )
}

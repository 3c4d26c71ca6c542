//! `rewrite` writes the same rows to a new file.

use std::io;
use std::slice;

use herringbone::{Explanation, WriteOptions};
use herringbone_rewrite::encryption::Protection;

use crate::args::{Destination, Rewrite, Write};
use crate::base::failure::{Failure, Result};
use crate::describe::explain_encodings;
use crate::input::context::Context;
use crate::input::import::Import;
use crate::input::{self, Input, Opening};
use crate::output::Output;
use crate::rows::{Request, Rows, Shape, Window, arranged, row_groups, schema_of_sorted, survey};
use crate::save;
use crate::save::carry_over;
use crate::save::target::Target;

/// Rewrites the file, and explains the encodings if the user asks for this.
pub(crate) fn run(context: &Context, rewrite: &Rewrite) -> Result<()> {
    let destination = &rewrite.output.destination();
    Target::check(destination)?;
    let opening = Opening {
        wanted: Some(&rewrite.rewriting.choice.wanted),
        import: Some(Import::of(
            context,
            &rewrite.other_files,
            Some(&rewrite.rewriting.damage),
        )?),
        ..Opening::default()
    };
    let inputs = input::tables(slice::from_ref(&rewrite.input), &opening, context)?;
    let choice = &rewrite.rewriting.choice;
    let options = rewrite.rewriting.read_options();
    let request = Request::new(&inputs, options, choice, rewrite.merge.choice())?;
    let mut options = rewrite.rewriting.write_options();
    choice.sort.choose(&mut options);
    let explanation = rewrite.explain.then(Explanation::new);
    options.explanation.clone_from(&explanation);
    let target = (destination, &rewrite.rewriting.write, rewrite.copy.copy);
    let window = Window::of(&choice.part);
    anew(
        context,
        &inputs,
        (request, window),
        target,
        options,
        Protection::Keep,
    )?;
    let Some(explanation) = explanation else {
        return Ok(());
    };
    let mut out = match Target::is_stdout(&destination.path) {
        true => Output::new("standard error", io::stderr()),
        false => Output::stdout(),
    };
    let print = match rewrite.json {
        true => explain_encodings::print_json,
        false => explain_encodings::print,
    };
    print(&explanation.take(), &rewrite.rewriting.write, &mut out)
}

/// Writes the rows of `inputs` to a single file, with everything that is carried over from them.
/// Copies column chunks without decoding them if `copy` is set.
///
/// # Errors
/// Fails with [`Failure::Data`] if the schemas differ, and if reading or writing fails.
pub(super) fn anew(
    context: &Context,
    inputs: &[Input],
    (mut request, window): (Request<'_>, Window),
    (destination, write, copy): (&Destination, &Write, bool),
    mut options: WriteOptions,
    protection: Protection,
) -> Result<()> {
    request.is_written = true;
    request.choose_int96_unit(inputs, window)?;
    let Some((schema, rows)) = survey(inputs, &mut request)? else {
        return Ok(());
    };
    request.note_case(context, &schema);
    if request.unshreds {
        context.note("files may shred variants in different ways, so they are written unshredded");
    }
    let Some(first) = inputs.first() else {
        return Ok(());
    };
    request.choose_sample(context, inputs)?;
    let shape = Shape::new(request.columns, &schema)?;
    let origins = shape.renamed();
    if copy && !origins.is_empty() {
        let message = "--copy keeps columns as they are, without new names and types in --columns";
        return Err(Failure::Usage(message.into()));
    }
    let mut members = inputs.iter().filter_map(|input| input.member.as_ref());
    if copy && members.any(|member| member.folder.partition_columns().next().is_some()) {
        let message = "--copy keeps columns as they are, but the paths of files have columns, too";
        return Err(Failure::Usage(message.into()));
    }
    let mut kept = carry_over::start(write, protection, origins);
    for input in inputs {
        let file = input.open()?;
        if !input.is_parquet() {
            continue;
        }
        let row_groups = row_groups(input, &file, &request)?;
        carry_over::add(&mut kept, input, &file, &row_groups)?;
    }
    if window.limit.is_none() && window.offset == 0 {
        // Unless a window selects sorted rows, we leave the sorting to the writer.
        request.sort = None;
    }
    let (schema, material) = carry_over::apply(
        context,
        kept,
        &schema_of_sorted(shape.schema(), request.sort),
        (first, destination),
        &mut options,
    )?;
    let work = window.work(rows);
    if copy {
        let plan = (options, schema, work);
        save::copies(context, destination, plan, (inputs, &request, shape))?;
    } else {
        let (batches, _) = arranged(context, inputs, &request, shape, window)?;
        let rows = Rows {
            schema,
            batches,
            work,
        };
        save::parquet(context, destination, options, rows)?;
    }
    carry_over::finish(material)
}

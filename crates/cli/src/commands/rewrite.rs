//! `rewrite`: the same rows in a new file.

use std::io;
use std::slice;

use herringbone::variant::shredding::UnshredOptions;
use herringbone::{Explanation, WriteOptions};
use herringbone_rewrite::SchemaMerge;
use herringbone_rewrite::encryption::Protection;

use crate::args::{Destination, Rewrite, Write};
use crate::carry_over;
use crate::context::Context;
use crate::explain_encodings;
use crate::failure::Result;
use crate::input::{self, Input};
use crate::load::{Rows, Work};
use crate::output::Output;
use crate::rows::{Batches, Request, Window, row_groups, survey};
use crate::save;
use crate::target::Target;

/// Rewrites the file.
pub(crate) fn run(context: &Context, rewrite: &Rewrite) -> Result<()> {
    let destination = &rewrite.destination;
    Target::check(destination)?;
    let inputs = input::all(slice::from_ref(&rewrite.input), context)?;
    let request = Request {
        options: rewrite
            .damage
            .choose(rewrite.decode.options())
            .projection(rewrite.chunks.projection()),
        row_groups: rewrite.chunks.row_groups.as_ref(),
        wanted: None,
        merge: SchemaMerge::default(),
        unshreds: false,
        unshredding: UnshredOptions::default(),
    };
    let mut options = rewrite.write.options(rewrite.decode.threads);
    let explanation = rewrite.explain.then(Explanation::new);
    options.explanation.clone_from(&explanation);
    let target = (destination, &rewrite.write, rewrite.copy.copy);
    anew(context, &inputs, request, target, options, Protection::Keep)?;
    let Some(explanation) = explanation else {
        return Ok(());
    };
    let mut out = match Target::is_stdout(&destination.path) {
        true => Output::new("standard error", io::stderr()),
        false => Output::stdout(),
    };
    explain_encodings::print(&explanation.take(), &rewrite.write, &mut out)
}

/// Writes the rows of `inputs` to a single file, with everything carried over. Copies column chunks if `copy` is true.
///
/// # Errors
/// Data if the schemas differ; errors of reading and writing.
pub(super) fn anew(
    context: &Context,
    inputs: &[Input],
    mut request: Request<'_>,
    (destination, write, copy): (&Destination, &Write, bool),
    mut options: WriteOptions,
    protection: Protection,
) -> Result<()> {
    request.choose_int96_unit(inputs, Window::default())?;
    let Some((schema, rows)) = survey(inputs, &mut request)? else {
        return Ok(());
    };
    request.note_case(context, &schema);
    if request.unshreds {
        context.note("the files shred variants in different ways; they are written unshredded");
    }
    let Some(first) = inputs.first() else {
        return Ok(());
    };
    let mut kept = carry_over::start(write, protection);
    for input in inputs {
        let file = input.open()?;
        let row_groups = row_groups(input, &file, &request)?;
        carry_over::add(&mut kept, input, &file, &row_groups)?;
    }
    let (schema, material) =
        carry_over::apply(context, kept, &schema, (first, destination), &mut options)?;
    let work = Work::Rows(rows);
    if copy {
        let plan = (options, schema, work);
        save::copies(context, destination, plan, (inputs, &request))?;
    } else {
        let rows = Rows {
            schema,
            batches: Box::new(Batches::new(context, inputs, &request)),
            work,
        };
        save::parquet(context, destination, options, rows)?;
    }
    carry_over::finish(material)
}

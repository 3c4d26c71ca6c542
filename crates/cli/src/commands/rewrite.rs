//! `rewrite`: the same rows in a new file.

use std::slice;

use herringbone::WriteOptions;
use herringbone::format::KeyValue;
use herringbone::schema::ARROW_SCHEMA_KEY;

use crate::args::{Destination, Rewrite};
use crate::context::Context;
use crate::failure::Result;
use crate::input::{self, Input};
use crate::load::{Rows, Work};
use crate::rows::{Batches, Request, Window, survey};
use crate::save;
use crate::target::Target;

/// Writes the file anew.
pub(crate) fn run(context: &Context, rewrite: &Rewrite) -> Result<()> {
    let destination = &rewrite.destination;
    Target::check(destination)?;
    let inputs = input::all(slice::from_ref(&rewrite.input), &context.limits)?;
    let request = Request {
        options: rewrite
            .damage
            .choose(rewrite.decode.options())
            .projection(rewrite.chunks.projection()),
        row_groups: rewrite.chunks.row_groups.as_ref(),
    };
    let mut options = rewrite.write.options(rewrite.decode.threads);
    for input in &inputs {
        options.key_value_metadata.extend(key_values(input)?);
    }
    anew(context, &inputs, request, destination, options)
}

/// Writes the rows of `inputs` to one file.
///
/// # Errors
/// Data where the schemas differ; what reading and writing end with.
pub(super) fn anew(
    context: &Context,
    inputs: &[Input],
    mut request: Request<'_>,
    destination: &Destination,
    options: WriteOptions,
) -> Result<()> {
    request.choose_int96_unit(inputs, Window::default())?;
    let Some((schema, rows)) = survey(inputs, &request)? else {
        return Ok(());
    };
    let rows = Rows {
        schema,
        batches: Box::new(Batches::new(context, inputs, &request)),
        work: Work::Rows(rows),
    };
    save::parquet(context, destination, options, rows)
}

/// The metadata that stays: all but the Arrow schema, of which the writer makes its own.
pub(super) fn key_values(input: &Input) -> Result<Vec<KeyValue>> {
    let file = input.open()?;
    let pairs = file.metadata().key_value_metadata().iter();
    let kept = pairs.filter(|pair| pair.key != ARROW_SCHEMA_KEY);
    Ok(kept.cloned().collect())
}

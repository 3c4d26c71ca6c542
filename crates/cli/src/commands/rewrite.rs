//! `rewrite`: the same rows in a new file.

use std::slice;

use herringbone::format::KeyValue;
use herringbone::schema::ARROW_SCHEMA_KEY;

use crate::args::Rewrite;
use crate::context::Context;
use crate::failure::Result;
use crate::input::{self, Input};
use crate::rows::{Batches, Request, survey};
use crate::save::{self, File};
use crate::target::Target;

/// Writes the file anew.
pub(crate) fn run(context: &Context, rewrite: &Rewrite) -> Result<()> {
    let destination = rewrite.destination();
    Target::check(&destination)?;
    let inputs = input::all(slice::from_ref(&rewrite.input), &context.limits)?;
    let request = Request {
        options: rewrite
            .decode
            .options()
            .projection(rewrite.chunks.projection()),
        row_groups: rewrite.chunks.row_groups.as_ref(),
    };
    let Some((schema, rows)) = survey(&inputs, &request)? else {
        return Ok(());
    };
    let mut options = rewrite.write.options(rewrite.decode.threads);
    for input in &inputs {
        options.key_value_metadata.extend(key_values(input)?);
    }
    let file = File {
        destination: &destination,
        schema,
        rows,
    };
    save::parquet(
        context,
        &file,
        options,
        Batches::new(context, &inputs, &request),
    )
}

/// The metadata that stays: all but the Arrow schema, of which the writer makes its own.
fn key_values(input: &Input) -> Result<Vec<KeyValue>> {
    let file = input.open()?;
    let pairs = file.metadata().key_value_metadata().iter();
    let kept = pairs.filter(|pair| pair.key != ARROW_SCHEMA_KEY);
    Ok(kept.cloned().collect())
}

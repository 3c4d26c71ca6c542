//! `concat`: the rows of several files in one.

use herringbone::format::KeyValue;

use crate::args::Concat;
use crate::commands::rewrite::{anew, key_values};
use crate::context::Context;
use crate::failure::Result;
use crate::input::{self, Input};
use crate::rows::Request;
use crate::target::Target;

/// Writes the rows of all files to one.
pub(crate) fn run(context: &Context, concat: &Concat) -> Result<()> {
    let destination = concat.destination();
    Target::check(&destination)?;
    let inputs = input::all(&concat.files.files, &context.limits)?;
    let request = Request {
        options: concat
            .damage
            .choose(concat.decode.options())
            .projection(concat.chunks.projection()),
        row_groups: concat.chunks.row_groups.as_ref(),
    };
    let mut options = concat.write.options(concat.decode.threads);
    options.key_value_metadata = merged(context, &inputs)?;
    anew(context, &inputs, request, &destination, options)
}

/// The metadata of all files; of those that differ, that of the first file that has them.
fn merged(context: &Context, inputs: &[Input]) -> Result<Vec<KeyValue>> {
    let mut merged: Vec<(KeyValue, &Input)> = Vec::new();
    for input in inputs {
        for pair in key_values(input)? {
            match merged.iter().find(|(known, _)| known.key == pair.key) {
                None => merged.push((pair, input)),
                Some((known, _)) if known.value == pair.value => {}
                Some((_, first)) => context.note(&format!(
                    "{}: the metadata `{}` differ; those of {} are kept",
                    input.name, pair.key, first.name
                )),
            }
        }
    }
    Ok(merged.into_iter().map(|(pair, _)| pair).collect())
}

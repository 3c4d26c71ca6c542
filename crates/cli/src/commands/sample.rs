//! `sample` prints rows at random.

use super::head::ROWS;
use crate::args::Read;
use crate::base::failure::{Failure, Result};
use crate::input::Input;
use crate::input::context::Context;
use crate::output::Output;
use crate::rows::{self, Pick};

/// Prints randomly chosen rows, in the order of the file.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    read: &Read,
    output: &mut Output<'_>,
) -> Result<()> {
    let rows = match (read.choice.part.limit, read.choice.sampling.sample) {
        (Some(_), Some(_)) => {
            let message = "`sample` takes the number of rows by -n; --sample is for other commands";
            return Err(Failure::Usage(message.into()));
        }
        (Some(limit), None) => usize::try_from(limit).unwrap_or(usize::MAX),
        (None, Some(rows)) => rows,
        (None, None) => ROWS as usize,
    };
    rows::print(context, inputs, read, Pick::Sample(rows), output)
}

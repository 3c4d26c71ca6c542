//! `tail` prints the last rows.

use super::head::ROWS;
use crate::args::Read;
use crate::base::failure::Result;
use crate::input::Input;
use crate::input::context::Context;
use crate::output::Output;
use crate::rows::{self, Pick, Window};

/// Prints the last rows.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    read: &Read,
    output: &mut Output<'_>,
) -> Result<()> {
    let wanted = read.choice.part.limit.unwrap_or(ROWS);
    let mut request =
        rows::Request::new(inputs, read.options(), &read.choice, read.merge.choice())?;
    request.find_columns(inputs)?;
    let rows = match read.choice.sampling.sample {
        Some(rows) => (rows as u64).min(request.num_rows(context, inputs)?),
        None => request.num_rows(context, inputs)?,
    };
    let rows = rows.saturating_sub(read.choice.part.offset);
    let window = Window {
        offset: read.choice.part.offset + rows.saturating_sub(wanted),
        limit: Some(wanted),
    };
    rows::print(context, inputs, read, Pick::Window(window), output)
}

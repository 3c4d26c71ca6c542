//! `head`: the first rows.

use crate::args::Read;
use crate::context::Context;
use crate::failure::Result;
use crate::input::Input;
use crate::output::Output;
use crate::rows::{self, Window};

/// Prints the first `rows` rows.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    read: &Read,
    rows: u64,
    output: &mut Output<'_>,
) -> Result<()> {
    let window = Window {
        offset: 0,
        limit: Some(rows),
    };
    rows::print(context, inputs, read, window, output)
}

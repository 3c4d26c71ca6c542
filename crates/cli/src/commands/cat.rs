//! `cat`: rows in any format.

use crate::args::Read;
use crate::context::Context;
use crate::failure::Result;
use crate::input::Input;
use crate::output::Output;
use crate::rows::{self, Window};

/// Prints the rows in `window`.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    read: &Read,
    window: Window,
    output: &mut Output<'_>,
) -> Result<()> {
    rows::print(context, inputs, read, window, output)
}

//! `head` prints the first rows.

use crate::args::Read;
use crate::base::failure::Result;
use crate::input::Input;
use crate::input::context::Context;
use crate::output::Output;
use crate::rows::{self, Pick, Window};

/// The number of rows that are printed by default.
pub(super) const ROWS: u64 = 10;

/// Prints the first rows.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    read: &Read,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut window = Window::of(&read.choice.part);
    window.limit.get_or_insert(ROWS);
    rows::print(context, inputs, read, Pick::Window(window), output)
}

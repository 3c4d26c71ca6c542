//! `concat`: the rows of several files in one file.

use herringbone_rewrite::encryption::Protection;

use crate::args::Concat;
use crate::commands::rewrite::anew;
use crate::context::Context;
use crate::failure::Result;
use crate::folder::Footers;
use crate::input;
use crate::rows::{Request, Window};
use crate::target::Target;

/// Writes the rows of all files to one.
pub(crate) fn run(context: &Context, concat: &Concat) -> Result<()> {
    let destination = concat.output.destination();
    Target::check(&destination)?;
    let inputs = input::tables(
        &concat.files.files,
        Some(&concat.choice.wanted),
        Footers::Own,
        context,
    )?;
    let choice = &concat.choice;
    let options = concat.damage.choose(concat.decode.options());
    let request = Request::new(&inputs, options, choice, concat.merge.choice())?;
    let target = (&destination, &concat.write, concat.copy.copy);
    let mut options = concat.write.options(concat.decode.threads);
    choice.sort.choose(&mut options);
    let request = (request, Window::of(choice));
    anew(context, &inputs, request, target, options, Protection::Keep)
}

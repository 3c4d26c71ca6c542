//! `concat` writes the rows of several files to one file.

use herringbone_rewrite::encryption::Protection;

use crate::args::Concat;
use crate::base::failure::Result;
use crate::commands::rewrite::anew;
use crate::input::context::Context;
use crate::input::import::Import;
use crate::input::{self, Opening};
use crate::rows::{Request, Window};
use crate::save::target::Target;

/// Writes the rows of all input files to one file.
pub(crate) fn run(context: &Context, concat: &Concat) -> Result<()> {
    let destination = concat.output.destination();
    Target::check(&destination)?;
    let opening = Opening {
        wanted: Some(&concat.rewriting.choice.wanted),
        import: Some(Import::of(
            context,
            &concat.other_files,
            Some(&concat.rewriting.damage),
        )?),
        ..Opening::default()
    };
    let inputs = input::tables(&concat.files.files, &opening, context)?;
    let choice = &concat.rewriting.choice;
    let options = concat.rewriting.read_options();
    let request = Request::new(&inputs, options, choice, concat.merge.choice())?;
    let target = (&destination, &concat.rewriting.write, concat.copy.copy);
    let mut options = concat.rewriting.write_options();
    choice.sort.choose(&mut options);
    let request = (request, Window::of(&choice.part));
    anew(context, &inputs, request, target, options, Protection::Keep)
}

//! `concat`: the rows of several files in one file.

use herringbone::variant::shredding::UnshredOptions;
use herringbone_rewrite::encryption::Protection;

use crate::args::Concat;
use crate::commands::rewrite::anew;
use crate::context::Context;
use crate::failure::Result;
use crate::input;
use crate::rows::Request;
use crate::target::Target;

/// Writes the rows of all files to one.
pub(crate) fn run(context: &Context, concat: &Concat) -> Result<()> {
    let destination = concat.output.destination();
    Target::check(&destination)?;
    let inputs = input::all(&concat.files.files, context)?;
    let request = Request {
        options: concat
            .damage
            .choose(concat.decode.options())
            .projection(concat.chunks.projection()),
        row_groups: concat.chunks.row_groups.as_ref(),
        wanted: None,
        merge: concat.merge.choice(),
        unshreds: false,
        unshredding: UnshredOptions::default(),
    };
    let target = (&destination, &concat.write, concat.copy.copy);
    let options = concat.write.options(concat.decode.threads);
    anew(context, &inputs, request, target, options, Protection::Keep)
}

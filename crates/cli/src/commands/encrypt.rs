//! `encrypt` writes rows encrypted with the keys in the keys file, and `decrypt` writes them
//! without encryption.

use std::slice;

use herringbone_rewrite::SchemaMerge;
use herringbone_rewrite::encryption::Protection;

use crate::args::Encrypt;
use crate::base::failure::{Failure, Result};
use crate::commands::rewrite::anew;
use crate::input;
use crate::input::context::Context;
use crate::rows::{Request, Window};
use crate::save::carry_over::encrypted;
use crate::save::target::Target;

/// Writes the file encrypted with the keys that the user gives for this.
pub(crate) fn encrypt(context: &Context, request: &Encrypt) -> Result<()> {
    let Some(keys) = &context.keys else {
        return Err(missing("encrypt"));
    };
    let properties = keys.encryption()?;
    run(context, request, encrypted(properties))
}

/// Writes the file without encryption.
pub(crate) fn decrypt(context: &Context, request: &Encrypt) -> Result<()> {
    match &context.keys {
        Some(_) => run(context, request, Protection::Decrypt),
        None => Err(missing("decrypt")),
    }
}

fn run(context: &Context, request: &Encrypt, protection: Protection) -> Result<()> {
    let destination = request.output.destination();
    Target::check(&destination)?;
    let inputs = input::all(slice::from_ref(&request.input), context)?;
    let choice = &request.rewriting.choice;
    input::check_no_path_column(Some(&choice.wanted), &request.input)?;
    let options = request.rewriting.read_options();
    let rows = Request::new(&inputs, options, choice, SchemaMerge::default())?;
    let target = (&destination, &request.rewriting.write, false);
    let mut options = request.rewriting.write_options();
    choice.sort.choose(&mut options);
    let rows = (rows, Window::of(&choice.part));
    anew(context, &inputs, rows, target, options, protection)
}

fn missing(command: &str) -> Failure {
    Failure::Usage(format!(
        "`{command}` needs keys: use --keys FILE, or set HERRINGBONE_KEYS to its path; \
         `herringbone help {command}` shows a keys file"
    ))
}

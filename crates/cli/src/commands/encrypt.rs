//! `encrypt` and `decrypt`: rows encrypted with the keys of the keys file, or no longer encrypted.

use std::slice;

use herringbone::variant::shredding::UnshredOptions;
use herringbone_rewrite::SchemaMerge;
use herringbone_rewrite::encryption::Protection;

use crate::args::Encrypt;
use crate::carry_over::encrypted;
use crate::commands::rewrite::anew;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input;
use crate::rows::Request;
use crate::target::Target;

/// Writes the file with the keys for encryption.
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
    let rows = Request {
        options: request
            .damage
            .choose(request.decode.options())
            .projection(request.chunks.projection()),
        row_groups: request.chunks.row_groups.as_ref(),
        wanted: None,
        merge: SchemaMerge::default(),
        unshreds: false,
        unshredding: UnshredOptions::default(),
    };
    let target = (&destination, &request.write, false);
    let options = request.write.options(request.decode.threads);
    anew(context, &inputs, rows, target, options, protection)
}

fn missing(command: &str) -> Failure {
    Failure::Usage(format!(
        "`{command}` needs keys: use --keys FILE, or set HERRINGBONE_KEYS to its path; \
         `herringbone help {command}` shows a keys file"
    ))
}

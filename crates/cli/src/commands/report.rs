//! `report`: an HTML page with the findings about a file; also the findings as JSON.

use std::io::Write as _;

use crate::args::Report;
use crate::base::failure::{Failure, Result};
use crate::base::printable::json_line;
use crate::describe::Object;
use crate::encryption::encrypted_leaves;
use crate::input::context::Context;
use crate::input::{self, Input};
use crate::output::Output;
use crate::report::{Facts, findings, page};
use crate::save::target::Target;

/// Writes the page, prints the findings, or both.
pub(crate) fn run(context: &Context, report: &Report, output: &mut Output<'_>) -> Result<()> {
    let destination = report.destination();
    if let Some(destination) = &destination {
        Target::check(destination)?;
        if report.json {
            Target::leave_stdout(destination)?;
        }
    }
    let inputs = input::all(std::slice::from_ref(&report.file), context)?;
    let Some(input) = inputs.first() else {
        return Err(Failure::Usage("no file is named".into()));
    };
    if destination.is_some() && !report.no_values && !report.plaintext_values {
        check_values(input)?;
    }
    let facts = Facts::of(context, input, report.no_values)?;
    if let Some(destination) = &destination {
        let html = page(&facts);
        let mut target = Target::create(destination)?;
        let name = target.name.clone();
        let written = target.write_all(html.as_bytes());
        written.map_err(|error| Failure::output(&name, &error))?;
        target.commit()?;
    }
    if report.json {
        for finding in findings(&facts) {
            let object = Object::new()
                .with("file", input.name.as_str())
                .with("kind", finding.rule)
                .with("message", finding.text)
                .some("command", finding.command);
            output.line(&json_line(&object.into()))?;
        }
    }
    Ok(())
}

/// Checks that a page with values has none of encrypted columns. Without keys, it cannot have any.
///
/// # Errors
/// Data if the keys of encrypted columns are given.
fn check_values(input: &Input) -> Result<()> {
    if input.decryption().is_none() {
        return Ok(());
    }
    let leaves = encrypted_leaves(&input.open()?).map_err(|error| input.failure(&error))?;
    match leaves.first() {
        None => Ok(()),
        Some(path) => Err(Failure::Data(format!(
            "{}: the column `{}` is encrypted, but the page would have its values in plaintext; --no-values leaves \
             values out, and --plaintext-values allows them",
            input.name,
            path.join(".")
        ))),
    }
}

//! `report`: one HTML page about a file.

use std::io::Write as _;

use crate::args::Report;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input;
use crate::report::{Facts, page};
use crate::target::Target;

/// Writes the page.
pub(crate) fn run(context: &Context, report: &Report) -> Result<()> {
    let destination = report.output.destination();
    Target::check(&destination)?;
    let inputs = input::all(std::slice::from_ref(&report.file), context)?;
    let Some(input) = inputs.first() else {
        return Err(Failure::Usage("no file is named".into()));
    };
    let facts = Facts::of(context, input, report.no_values)?;
    let html = page(&facts);
    let mut target = Target::create(&destination)?;
    let name = target.name.clone();
    let written = target.write_all(html.as_bytes());
    written.map_err(|error| Failure::output(&name, &error))?;
    target.commit()
}

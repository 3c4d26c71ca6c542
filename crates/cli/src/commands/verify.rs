//! `verify` compares a file's metadata with its data.

use herringbone_inspect::verify::{Finding, Severity};
use serde_json::Value;

use crate::base::failure::{Failure, Result};
use crate::base::plural::counted;
use crate::base::printable::{json_line, printable};
use crate::describe::Object;
use crate::describe::page::unchecked_pages;
use crate::encryption::Summary;
use crate::input::Input;
use crate::input::context::{Context, complain};
use crate::output::Output;
use crate::output::progress::Progress;

/// The options for checking files.
#[derive(Clone, Copy)]
pub(super) struct Options {
    pub(super) json: bool,
    pub(super) threads: usize,
}

/// Prints the findings about all files.
///
/// # Errors
/// Fails with [`Failure::System`], or with the exit code of the worst file.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    options: Options,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut code = Failure::SUCCESS;
    for input in inputs {
        let found = match file(context, input, options, output) {
            // Keep going if a file is unreadable, so that the others are still checked.
            Err(failure @ Failure::Data(_)) => {
                output.flush()?;
                complain(&failure.to_string());
                failure.code()
            }
            other => other?,
        };
        code = code.max(found);
    }
    match code {
        Failure::SUCCESS => Ok(()),
        code => Err(Failure::Told(code)),
    }
}

/// Prints the findings about a file. Returns the exit code for them.
fn file(context: &Context, input: &Input, options: Options, output: &mut Output<'_>) -> Result<u8> {
    let Options { json, threads } = options;
    let opened = input.open()?;
    let encryption = Summary::of(&opened).map_err(|error| input.failure(&error))?;
    if let Some(caution) = encryption.as_ref().and_then(Summary::caution) {
        context.note(&format!("{}: {caution}", input.name));
    }
    let mut verify = herringbone_inspect::verify(&opened).threads(threads);
    // A pager has the terminal to itself, so we don't draw progress over it.
    let mut progress =
        Progress::of_check(!context.quiet && !output.is_paged(), &opened, input.size);
    let (mut errors, mut warnings, mut notes) = (0_u64, 0_u64, 0_u64);
    while let Some(findings) = verify.next_part().map_err(|error| input.failure(&error))? {
        for finding in &findings {
            match finding.severity {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
                Severity::Note => notes += 1,
            }
            output.line(&if json {
                json_line(&object(&input.name, finding))
            } else {
                printable(&format!("{}: {finding}", input.name))
            })?;
        }
        if !findings.is_empty() && output.is_terminal() {
            progress.hidden(|| output.flush())?;
        }
        progress.advance_to(verify.chunks_done());
    }
    drop(progress);
    if let Some(remark) = unchecked_pages(verify.pages_without_checksum(), verify.num_pages()) {
        context.note(&format!("{}: {remark}", input.name));
    }
    let is_sound = errors + warnings == 0;
    if !json {
        let mut summary = match is_sound {
            true => "sound".to_owned(),
            false => format!(
                "{}, {}",
                counted(errors, "error"),
                counted(warnings, "warning")
            ),
        };
        if notes > 0 {
            summary += &format!(", {}", counted(notes, "note"));
        }
        output.line(&printable(&format!("{}: {summary}", input.name)))?;
    }
    Ok(match is_sound {
        true => Failure::SUCCESS,
        false => Failure::FINDINGS,
    })
}

fn object(file: &str, finding: &Finding) -> Value {
    let location = &finding.location;
    Object::new()
        .with("file", file)
        .name("severity", finding.severity)
        .name("kind", finding.kind)
        .with("message", finding.message.as_str())
        .some("row_group", location.row_group)
        .some("column", location.column.as_deref())
        .some("page", location.page)
        .some("offset", location.offset)
        .into()
}

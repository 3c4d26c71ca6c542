//! `report` writes an HTML page with findings about a file or directory, and prints the findings as
//! JSON.

use std::io::Write as _;

use crate::args::{Level, Report};
use crate::base::failure::{Failure, Result};
use crate::base::printable::json_line;
use crate::base::url::name_of;
use crate::describe::Object;
use crate::encryption::encrypted_leaves;
use crate::input::context::Context;
use crate::input::folder::is_folder;
use crate::input::{self, Input, Opening};
use crate::output::Output;
use crate::report::{Facts, Findings, Folder, findings, page};
use crate::save::target::Target;

/// Writes the page, prints the findings, or does both.
///
/// # Errors
/// Fails if reading or writing fails, or with the exit code that `--fail-on` asks for.
pub(crate) fn run(context: &Context, report: &Report, output: &mut Output<'_>) -> Result<()> {
    let destination = report.destination();
    if let Some(destination) = &destination {
        Target::check(destination)?;
        if report.json {
            Target::leave_stdout(destination)?;
        }
    }
    let subject = match is_folder(&report.file) {
        true => Subject::Folder(folder(context, report)?),
        false => Subject::File(file(context, report, destination.is_some())?),
    };
    let findings = subject.findings();
    if let Some(destination) = &destination {
        let html = subject.page(&findings);
        let mut target = Target::create(destination)?;
        let name = target.name.clone();
        let written = target.write_all(html.as_bytes());
        written.map_err(|error| Failure::output(&name, &error))?;
        target.commit()?;
    }
    if report.json {
        print(subject.name(), &findings, output)?;
    }
    let (errors, warnings) = subject.of_verify();
    let fails = match report.fail_on {
        Some(Level::Warning) => !findings.each.is_empty() || errors + warnings > 0,
        Some(Level::Error) => errors > 0,
        None => false,
    };
    match fails {
        true => Err(Failure::Told(Failure::FINDINGS)),
        false => Ok(()),
    }
}

/// The file or folder that a report is about.
enum Subject {
    File(Facts),
    Folder(Folder),
}

impl Subject {
    fn name(&self) -> &str {
        match self {
            Self::File(facts) => &facts.name,
            Self::Folder(folder) => &folder.name,
        }
    }

    fn findings(&self) -> Findings {
        match self {
            Self::File(facts) => findings(facts),
            Self::Folder(folder) => folder.findings(),
        }
    }

    fn page(&self, findings: &Findings) -> String {
        match self {
            Self::File(facts) => page(facts, findings),
            Self::Folder(folder) => folder.page(findings),
        }
    }

    /// Returns the counts of errors and warnings that `verify` found. They are zero for a
    /// directory, since its report doesn't run `verify`.
    fn of_verify(&self) -> (u64, u64) {
        match self {
            Self::File(facts) => (facts.errors, facts.warnings),
            Self::Folder(_) => (0, 0),
        }
    }
}

fn folder(context: &Context, report: &Report) -> Result<Folder> {
    let files = std::slice::from_ref(&report.file);
    let inputs = input::each_table(files, &Opening::default(), context)?;
    Folder::of(&name_of(&report.file), &inputs)
}

fn file(context: &Context, report: &Report, has_page: bool) -> Result<Facts> {
    let inputs = input::all(std::slice::from_ref(&report.file), context)?;
    let Some(input) = inputs.first() else {
        return Err(Failure::Usage("no file is named".into()));
    };
    if has_page && !report.no_values && !report.plaintext_values {
        check_values(input)?;
    }
    Facts::of(context, input, report.no_values)
}

/// Prints the findings as JSON lines. The last line has a single command that fixes all of them.
fn print(file: &str, findings: &Findings, output: &mut Output<'_>) -> Result<()> {
    for finding in &findings.each {
        let object = Object::new()
            .with("file", file)
            .with("kind", finding.rule)
            .with("message", finding.text.as_str())
            .some("command", finding.command.as_deref());
        output.line(&json_line(&object.into()))?;
    }
    if let Some(command) = &findings.together {
        let object = Object::new()
            .with("file", file)
            .with("kind", "all_findings")
            .with(
                "message",
                "One command mends all of them, and reads the file once",
            )
            .with("command", command.as_str());
        output.line(&json_line(&object.into()))?;
    }
    Ok(())
}

/// Refuses to put values from encrypted columns on a page. This can't happen without keys, since we
/// can't read such values then.
///
/// # Errors
/// Fails with [`Failure::Data`] if a column is encrypted and we have keys.
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

//! The reasons for the storage choices of columns, as text.

use std::fmt::Write as _;

use herringbone::{ColumnChoice, Compression, StoredAs};

use crate::args::Write;
use crate::failure::Result;
use crate::output::Output;
use crate::render::plural::counted;
use crate::render::printable::printable;

/// One form in which to store a column. Sums up the row groups in which it was tried.
struct Form {
    stored_as: StoredAs,
    compression: Compression,
    bytes: u64,
    nanoseconds: u64,
    row_groups: usize,
}

/// Prints the choice for each column, and its alternatives. `write` contains the options of the user.
///
/// # Errors
/// System if the text cannot be written.
pub(crate) fn print(choices: &[ColumnChoice], write: &Write, out: &mut Output<'_>) -> Result<()> {
    let mut paths: Vec<&[String]> = Vec::new();
    // All row groups have the same columns.
    for choice in choices.iter().filter(|choice| choice.row_group == 0) {
        paths.push(&choice.path);
    }
    for path in paths {
        let chunks: Vec<_> = choices.iter().filter(|it| it.path == path).collect();
        out.line(&printable(&path.join(".")))?;
        for (chosen, row_groups) in chosen(&chunks) {
            out.line(&format!(
                "  chosen: {chosen}, in {}",
                counted(row_groups as u64, "row group")
            ))?;
        }
        let forms = forms(&chunks);
        if forms.is_empty() {
            out.line(match write.may_set_encoding(path) {
                true => {
                    "  no alternatives were sampled: options set the encoding, or there are too \
                     few values"
                }
                false => {
                    "  no alternatives were sampled: only one encoding is possible, or there are \
                     too few values"
                }
            })?;
            continue;
        }
        out.line("  by a sample:")?;
        for form in forms {
            out.line(&line(&form))?;
        }
    }
    out.flush()
}

/// Returns each choice, with the number of its row groups.
fn chosen(chunks: &[&ColumnChoice]) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> = Vec::new();
    for chunk in chunks {
        let text = format!("{}, {}", chunk.stored_as, chunk.compression);
        match all.iter_mut().find(|(known, _)| *known == text) {
            Some((_, row_groups)) => *row_groups += 1,
            None => all.push((text, 1)),
        }
    }
    all
}

/// Returns all forms tried, the smallest first.
fn forms(chunks: &[&ColumnChoice]) -> Vec<Form> {
    let mut forms: Vec<Form> = Vec::new();
    for estimate in chunks.iter().flat_map(|chunk| &chunk.estimates) {
        let (stored_as, compression) = (estimate.stored_as, estimate.compression);
        let known = forms
            .iter_mut()
            .find(|form| (form.stored_as, form.compression) == (stored_as, compression));
        match known {
            Some(form) => {
                form.bytes += estimate.bytes;
                form.nanoseconds += estimate.nanoseconds;
                form.row_groups += 1;
            }
            None => forms.push(Form {
                stored_as,
                compression,
                bytes: estimate.bytes,
                nanoseconds: estimate.nanoseconds,
                row_groups: 1,
            }),
        }
    }
    forms.sort_by_key(|form| form.bytes);
    forms
}

fn line(form: &Form) -> String {
    let mut line = String::new();
    let milliseconds = form.nanoseconds as f64 / 1e6;
    // Writing to a string never fails.
    write!(
        line,
        "    {:>12} bytes, {milliseconds:>9.3} ms to read: {}, {}, in {}",
        form.bytes,
        form.stored_as,
        form.compression,
        counted(form.row_groups as u64, "row group")
    )
    .ok();
    line
}

//! Explains how columns are stored, and why, for `rewrite --explain`.

use std::fmt::Write as _;

use herringbone::{ColumnChoice, Compression, StoredAs};

use crate::args::Write;
use crate::base::failure::Result;
use crate::base::plural::counted;
use crate::base::printable::{json_line, printable};
use crate::describe::{Object, list};
use crate::output::Output;

/// A candidate storage form for a column, with sums over the row groups where it was tried.
struct Form {
    stored_as: StoredAs,
    compression: Compression,
    bytes: u64,
    nanoseconds: u64,
    row_groups: usize,
}

/// Prints the choice for each column and the alternatives tried. `write` has the user's options,
/// since they can be the reason why nothing was tried.
///
/// # Errors
/// Fails with [`Failure::System`](crate::base::failure::Failure::System) if the text cannot be
/// written.
pub(crate) fn print(choices: &[ColumnChoice], write: &Write, out: &mut Output<'_>) -> Result<()> {
    for (path, chunks) in by_column(choices) {
        out.line(&printable(&path.join(".")))?;
        for ((stored_as, compression), row_groups) in chosen(&chunks) {
            out.line(&format!(
                "  chosen: {stored_as}, {compression}, in {}",
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

/// Prints the choices as an object per column.
///
/// # Errors
/// Fails with [`Failure::System`](crate::base::failure::Failure::System) if the text cannot be
/// written.
pub(crate) fn print_json(choices: &[ColumnChoice], _: &Write, out: &mut Output<'_>) -> Result<()> {
    for (path, chunks) in by_column(choices) {
        let chosen = list(chosen(&chunks), |((stored_as, compression), row_groups)| {
            Object::new()
                .name("stored_as", stored_as)
                .name("compression", compression)
                .with("row_groups", row_groups)
        });
        let sampled = list(forms(&chunks), |form| {
            Object::new()
                .name("stored_as", form.stored_as)
                .name("compression", form.compression)
                .with("bytes", form.bytes)
                .with("nanoseconds", form.nanoseconds)
                .with("row_groups", form.row_groups)
        });
        let object = Object::new()
            .with("path", path)
            .with("chosen", chosen)
            .with("sampled", sampled);
        out.line(&json_line(&object.into()))?;
    }
    out.flush()
}

/// Returns each column with its choices in all row groups.
fn by_column(choices: &[ColumnChoice]) -> Vec<(&[String], Vec<&ColumnChoice>)> {
    // All row groups have the same columns, so the first row group lists them all.
    let first = choices.iter().filter(|choice| choice.row_group == 0);
    first
        .map(|first| {
            let chunks = choices.iter().filter(|choice| choice.path == first.path);
            (first.path.as_slice(), chunks.collect())
        })
        .collect()
}

/// Returns each choice with its number of row groups.
fn chosen(chunks: &[&ColumnChoice]) -> Vec<((StoredAs, Compression), usize)> {
    let mut all: Vec<((StoredAs, Compression), usize)> = Vec::new();
    for chunk in chunks {
        let choice = (chunk.stored_as, chunk.compression);
        match all.iter_mut().find(|(known, _)| *known == choice) {
            Some((_, row_groups)) => *row_groups += 1,
            None => all.push((choice, 1)),
        }
    }
    all
}

/// Returns all forms tried, smallest first.
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
    // Writing to a string can't fail.
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

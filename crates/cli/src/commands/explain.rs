//! `--explain`: shows the facts known about rows before they are read.

use herringbone::filter::{PruningStep, RowGroupExplanation};
use herringbone::{ParquetFile, ReadOptions};

use crate::failure::{Failure, Result};
use crate::input::Input;
use crate::output::Output;
use crate::render::plural::counted;
use crate::render::printable::printable;

/// Prints the result of each pruning step for the rows of a file. Also prints the rows left to be tested, and the
/// bytes to be fetched.
///
/// # Errors
/// Usage if rows are not selected by their values.
pub(crate) fn file(
    input: &Input,
    file: &ParquetFile,
    options: &ReadOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let Some(filter) = &options.filter else {
        return Err(Failure::Usage("--explain needs --where or --bbox".into()));
    };
    let row_groups = file
        .explain(options)
        .map_err(|error| input.failure(&error))?;
    let rows: u64 = row_groups.iter().map(|it| it.rows).sum();
    output.line(&format!(
        "{}: {} in {}",
        printable(&input.name),
        counted(rows, "row"),
        counted(row_groups.len() as u64, "row group")
    ))?;
    output.line(&format!("  where {}", printable(&filter.to_string())))?;
    for (step, name) in STEPS {
        if let Some(line) = line(&row_groups, step) {
            output.line(&format!("  {name:<15}  {line}"))?;
        }
    }
    let undecided: Vec<_> = row_groups.iter().filter(|it| it.undecided() > 0).collect();
    let rows: u64 = undecided.iter().map(|it| it.undecided()).sum();
    output.line(&format!(
        "  {:<15}  {} in {}",
        "left to test",
        counted(rows, "row"),
        counted(undecided.len() as u64, "row group")
    ))?;
    let wanted: u64 = row_groups.iter().map(|it| it.wanted_bytes).sum();
    let fetched: u64 = row_groups.iter().map(|it| it.fetched.bytes).sum();
    let requests: u64 = row_groups.iter().map(|it| it.fetched.requests).sum();
    output.line(&format!(
        "  {:<15}  {}; {} in {}",
        "pages to fetch",
        counted(wanted, "byte"),
        counted(fetched, "byte"),
        counted(requests, "request")
    ))?;
    #[cfg(feature = "remote")]
    if let Some(file) = input.remote() {
        let traffic = file.traffic();
        output.line(&format!(
            "  {:<15}  {} in {}, {}",
            "sent so far",
            counted(traffic.requests, "request"),
            counted(traffic.rounds, "round"),
            counted(traffic.bytes, "byte")
        ))?;
    }
    Ok(())
}

const STEPS: [(PruningStep, &str); 5] = [
    (PruningStep::Statistics, "statistics"),
    (PruningStep::BloomFilters, "bloom filters"),
    (PruningStep::Dictionaries, "dictionaries"),
    (PruningStep::ColumnIndexes, "column indexes"),
    (PruningStep::PageMaps, "offset indexes"),
];

/// Returns a line about the row groups that a step examined, if it examined any.
fn line(row_groups: &[RowGroupExplanation], step: PruningStep) -> Option<String> {
    let (mut asked, mut ruled_out, mut accepted, mut bytes) = (0, 0, 0, 0);
    for row_group in row_groups {
        let at = row_group.steps.iter().position(|it| it.step == step);
        let Some((at, taken)) = at.and_then(|at| Some((at, row_group.steps.get(at)?))) else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|at| row_group.steps.get(at));
        asked += 1;
        ruled_out += taken.ruled_out - before.map_or(0, |it| it.ruled_out);
        accepted += taken.accepted - before.map_or(0, |it| it.accepted);
        bytes += taken.bytes;
    }
    let has_looked = step == PruningStep::Statistics || bytes > 0;
    (asked > 0 && has_looked).then(|| {
        format!(
            "{} ruled out, {accepted} accepted; read {} of {}",
            counted(ruled_out, "row"),
            counted(bytes, "byte"),
            counted(asked, "row group")
        )
    })
}

//! `--explain` shows how many rows are ruled out or accepted without reading any values.

use herringbone::filter::{PruningStep, RowGroupExplanation};
use herringbone::{ParquetFile, ReadOptions};

use serde_json::Value;

use crate::base::failure::{Failure, Result};
use crate::base::plural::counted;
use crate::base::printable::{json_line, printable};
use crate::describe::Object;
use crate::input::Input;
use crate::output::Output;
#[cfg(feature = "remote")]
use herringbone_remote::blocking::{RemoteSource, Traffic};

/// Pruning statistics of a table, added up over its files.
pub(crate) struct Explained<'a> {
    table: &'a [Input],
    /// The condition as text.
    filter: Option<String>,
    row_groups: Vec<RowGroupExplanation>,
}

impl<'a> Explained<'a> {
    pub(crate) fn new(table: &'a [Input]) -> Self {
        Self {
            table,
            filter: None,
            row_groups: Vec::new(),
        }
    }

    /// Adds the facts about a file. This reads the file's indexes, but no values.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if rows are not selected by their values.
    pub(crate) fn add(
        &mut self,
        input: &Input,
        file: &ParquetFile,
        options: &ReadOptions,
    ) -> Result<()> {
        let Some(filter) = &options.filter else {
            return Err(Failure::Usage("--explain needs --where or --bbox".into()));
        };
        self.filter.get_or_insert_with(|| filter.to_string());
        let more = file.explain(options);
        self.row_groups
            .extend(more.map_err(|error| input.failure(&error))?);
        Ok(())
    }

    /// Prints the result of each pruning step, the number of rows left to test, and the number of
    /// bytes to fetch. Prints an object if `is_json` is set.
    pub(crate) fn print(&self, is_json: bool, output: &mut Output<'_>) -> Result<()> {
        match is_json {
            true => output.line(&json_line(&self.object().into())),
            false => self.lines(output),
        }
    }

    /// Returns the explanation as an object.
    fn object(&self) -> Object {
        let row_groups = &self.row_groups;
        let sum = |of: fn(&RowGroupExplanation) -> u64| row_groups.iter().map(of).sum::<u64>();
        let steps = STEPS.into_iter().filter_map(|(step, name)| {
            let done = done(row_groups, step)?;
            Some(Value::from(
                Object::new()
                    .with("step", name)
                    .with("row_groups", done.row_groups)
                    .with("ruled_out", done.ruled_out)
                    .with("accepted", done.accepted)
                    .with("bytes", done.bytes),
            ))
        });
        let name = self.table.first().map_or("", Input::table_name);
        Object::new()
            .with("file", name)
            .with("where", self.filter.as_deref().unwrap_or_default())
            .with("num_rows", sum(|row_group| row_group.rows))
            .with("row_groups", row_groups.len())
            .with("steps", steps.collect::<Vec<_>>())
            .with("rows_to_test", sum(RowGroupExplanation::undecided))
            .with("bytes_wanted", sum(|row_group| row_group.wanted_bytes))
            .with("bytes_fetched", sum(|row_group| row_group.fetched.bytes))
            .with("requests", sum(|row_group| row_group.fetched.requests))
    }

    fn lines(&self, output: &mut Output<'_>) -> Result<()> {
        let Some(first) = self.table.first() else {
            return Ok(());
        };
        let row_groups = &self.row_groups;
        let rows: u64 = row_groups.iter().map(|row_group| row_group.rows).sum();
        output.line(&format!(
            "{}: {} in {}",
            printable(first.table_name()),
            counted(rows, "row"),
            counted(row_groups.len() as u64, "row group")
        ))?;
        let mut line = |name: &str, text: &str| output.line(&format!("  {name:<15}  {text}"));
        if let Some(member) = first.folder() {
            let listed = counted(member.folder.directories_listed() as u64, "folder");
            let files = counted(self.table.len() as u64, "file");
            line("listing", &format!("{files} in {listed}"))?;
        }
        let filter = self.filter.as_deref().unwrap_or_default();
        output.line(&format!("  where {}", printable(filter)))?;
        let mut line = |name: &str, text: &str| output.line(&format!("  {name:<15}  {text}"));
        for (step, name) in STEPS {
            if let Some(text) = text_of(row_groups, step) {
                line(name, &text)?;
            }
        }
        let undecided: Vec<_> = row_groups
            .iter()
            .filter(|row_group| row_group.undecided() > 0)
            .collect();
        let rows: u64 = undecided
            .iter()
            .map(|undecided| undecided.undecided())
            .sum();
        let groups = counted(undecided.len() as u64, "row group");
        line(
            "left to test",
            &format!("{} in {groups}", counted(rows, "row")),
        )?;
        let wanted: u64 = row_groups
            .iter()
            .map(|row_group| row_group.wanted_bytes)
            .sum();
        let fetched: u64 = row_groups
            .iter()
            .map(|row_group| row_group.fetched.bytes)
            .sum();
        let requests: u64 = row_groups
            .iter()
            .map(|row_group| row_group.fetched.requests)
            .sum();
        let fetched = format!(
            "{} in {}",
            counted(fetched, "byte"),
            counted(requests, "request")
        );
        line(
            "pages to fetch",
            &format!("{}; {fetched}", counted(wanted, "byte")),
        )?;
        #[cfg(feature = "remote")]
        if first.remote().is_some() {
            let files = self.table.iter().filter_map(Input::remote);
            let traffic: Traffic = files.map(RemoteSource::traffic).sum();
            let rounds = counted(traffic.rounds, "round");
            let requests = counted(traffic.requests, "request");
            let bytes = counted(traffic.bytes, "byte");
            line("sent so far", &format!("{requests} in {rounds}, {bytes}"))?;
        }
        Ok(())
    }
}

const STEPS: [(PruningStep, &str); 5] = [
    (PruningStep::Statistics, "statistics"),
    (PruningStep::BloomFilters, "bloom filters"),
    (PruningStep::Dictionaries, "dictionaries"),
    (PruningStep::ColumnIndexes, "column indexes"),
    (PruningStep::PageMaps, "offset indexes"),
];

/// The outcome of a pruning step.
struct Done {
    /// The number of row groups examined.
    row_groups: u64,
    ruled_out: u64,
    accepted: u64,
    bytes: u64,
}

/// Returns the outcome of a step, if it examined any row groups.
fn done(row_groups: &[RowGroupExplanation], step: PruningStep) -> Option<Done> {
    let mut done = Done {
        row_groups: 0,
        ruled_out: 0,
        accepted: 0,
        bytes: 0,
    };
    for row_group in row_groups {
        let at = row_group.steps.iter().position(|entry| entry.step == step);
        let Some((at, taken)) = at.and_then(|at| Some((at, row_group.steps.get(at)?))) else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|at| row_group.steps.get(at));
        done.row_groups += 1;
        done.ruled_out += taken.ruled_out - before.map_or(0, |before| before.ruled_out);
        done.accepted += taken.accepted - before.map_or(0, |before| before.accepted);
        done.bytes += taken.bytes;
    }
    let has_looked = step == PruningStep::Statistics || done.bytes > 0;
    (done.row_groups > 0 && has_looked).then_some(done)
}

/// Returns a text about a step's outcome, if the step examined any row groups.
fn text_of(row_groups: &[RowGroupExplanation], step: PruningStep) -> Option<String> {
    done(row_groups, step).map(|done| {
        format!(
            "{} ruled out, {} accepted; read {} of {}",
            counted(done.ruled_out, "row"),
            done.accepted,
            counted(done.bytes, "byte"),
            counted(done.row_groups, "row group")
        )
    })
}

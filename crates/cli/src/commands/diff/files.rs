//! Groups files by schema and prints how the schemas differ.

use std::collections::HashMap;

use herringbone::ReadOptions;
use herringbone::geospatial::Geospatial;

use super::schemas::Column;
use super::{changes, columns};
use crate::base::failure::{Failure, Result};
use crate::base::plural::counted;
use crate::base::printable::{json_line, printable};
use crate::describe::Object;
use crate::input::Input;
use crate::output::Output;

/// A schema with the names of its files.
struct Group<'a> {
    columns: Vec<Column>,
    files: Vec<&'a str>,
}

/// Prints the schemas. The exit code is 1 if there are several.
pub(super) fn compare(inputs: &[Input], is_json: bool, output: &mut Output<'_>) -> Result<()> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known: HashMap<Vec<Column>, usize> = HashMap::new();
    for input in inputs {
        let file = input.open()?;
        let plan = file.plan(&ReadOptions::new().extension(Geospatial::new()));
        let columns = columns(plan.map_err(|error| input.failure(&error))?.schema());
        let at = *known.entry(columns.clone()).or_insert_with(|| {
            groups.push(Group {
                columns,
                files: Vec::new(),
            });
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(at) {
            group.files.push(&input.name);
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.files.len()));
    let Some((most, others)) = groups.split_first() else {
        return Ok(());
    };
    if is_json {
        for (at, group) in groups.iter().enumerate() {
            let changes = changes(&most.columns, &group.columns);
            let line = Object::new()
                .with("files", group.files.clone())
                .with("differences", if at == 0 { Vec::new() } else { changes });
            output.line(&json_line(&line.into()))?;
        }
        return outcome(others);
    }
    let name = |group: &Group<'_>| printable(group.files.first().copied().unwrap_or_default());
    let count = |group: &Group<'_>| counted(group.files.len() as i128, "file");
    output.line(&format!("{} as {}", count(most), name(most)))?;
    for group in others {
        let changes = changes(&most.columns, &group.columns).join("; ");
        output.line(&format!(
            "{} as {}: {}",
            count(group),
            name(group),
            printable(&changes)
        ))?;
        for file in group.files.iter().skip(1) {
            output.line(&format!("  {}", printable(file)))?;
        }
    }
    outcome(others)
}

/// Returns the command's outcome: exit code 1 if there are other schemas.
fn outcome(others: &[Group<'_>]) -> Result<()> {
    match others.is_empty() {
        true => Ok(()),
        false => Err(Failure::Told(Failure::FINDINGS)),
    }
}

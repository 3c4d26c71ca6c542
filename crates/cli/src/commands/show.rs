//! `herringbone FILE` prints a short summary and the first rows.

use std::collections::BTreeSet;

use herringbone::ParquetFile;

use super::head::ROWS;
use crate::args::{Read, RowFormat};
use crate::base::failure::Result;
use crate::base::plural::{counted, size};
use crate::base::printable::printable;
use crate::input::context::Context;
use crate::input::{Input, by_table};
use crate::output::Output;
use crate::render::table::shown;
use crate::rows::{self, Pick, Window};

/// Prints a line and the first rows of each file. In formats other than tables, this prints the
/// rows alone, so that programs can read them.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    read: &Read,
    output: &mut Output<'_>,
) -> Result<()> {
    let has_summary = matches!(read.format(), None | Some(RowFormat::Table));
    let mut window = Window::of(&read.choice.part);
    window.limit.get_or_insert(ROWS);
    if !has_summary {
        return rows::print(context, inputs, read, Pick::Window(window), output);
    }
    for (at, table) in by_table(inputs).enumerate() {
        if at > 0 {
            output.write(b"\n")?;
        }
        let input = match table {
            [input] if input.folder().is_none() => input,
            _ => {
                output.line(&summary_of_folder(table)?)?;
                rows::print(context, table, read, Pick::Table(window), output)?;
                continue;
            }
        };
        let file = input.open()?;
        let line = match input.is_parquet() {
            true => summary(input, &file).map_err(|error| input.failure(&error))?,
            false => summary_of_other(input, &file),
        };
        output.line(&line)?;
        rows::print(context, table, read, Pick::Table(window), output)?;
        let all = file.metadata().num_rows_of_row_groups();
        if !input.has_all_rows() {
            if window
                .limit
                .is_some_and(|limit| limit.saturating_add(window.offset) == all)
            {
                let rows = counted(i128::from(window.rows(all)), "row");
                output.line(&format!(
                    "the first {rows}; see also `tail`, `sample`, `stats`, -n and -w"
                ))?;
            }
            continue;
        }
        let is_filtered = read.choice.leaves_out_rows() && !read.choice.has_window();
        let shown = window.rows(all);
        if shown < all && !is_filtered && !read.choice.wanted.is_given() {
            let rows = counted(i128::from(all), "row");
            output.line(&format!(
                "{shown} of {rows}; see also `tail`, `sample`, `stats`, -n and -w"
            ))?;
        }
    }
    Ok(())
}

/// Returns a one-line summary of a folder's files. This reads only one footer.
fn summary_of_folder(table: &[Input]) -> Result<String> {
    let bytes: i128 = table.iter().map(|input| i128::from(input.size)).sum();
    let Some((first, member)) = table
        .first()
        .and_then(|table| Some((table, table.member.as_ref()?)))
    else {
        return Ok(String::new());
    };
    let file = first.open()?;
    let schema = file.parquet_schema();
    let names = schema
        .children(0)
        .filter_map(|node| schema.nodes().get(node));
    let stored = names.filter(|node| !member.has_value_of(&node.element.name));
    let in_path: Vec<String> = member
        .folder
        .partition_columns()
        .map(|field| shown(field.name()))
        .collect();
    let columns = counted((stored.count() + in_path.len()) as i128, "column");
    let by = match in_path.is_empty() {
        true => String::new(),
        false => format!(" (by {})", in_path.join(", ")),
    };
    Ok(format!(
        "{}: {}, {columns}, {}{by}",
        printable(&member.folder.name),
        counted(table.len() as i128, "file"),
        size(bytes)
    ))
}

/// Returns a line about a file that is not Parquet.
fn summary_of_other(input: &Input, file: &ParquetFile) -> String {
    let columns = file.parquet_schema().children(0).count();
    let columns = counted(columns as i128, "column");
    let name = printable(&input.name);
    let format = input.format().name();
    match input.size {
        // We don't know the size of a pipe.
        0 => format!("{name}: {columns} ({format})"),
        bytes => format!("{name}: {columns}, {} ({format})", size(i128::from(bytes))),
    }
}

/// Returns a one-line summary of a file.
fn summary(input: &Input, file: &ParquetFile) -> herringbone::Result<String> {
    let metadata = file.metadata();
    let groups = metadata.num_row_groups();
    let mut codecs = BTreeSet::new();
    for row_group in 0..groups {
        for leaf in 0..metadata.num_columns(row_group) {
            let chunk = metadata.column_chunk(row_group, leaf)?;
            codecs.extend(chunk.meta_data.map(|data| data.codec.to_string()));
        }
    }
    let mut details = vec![counted(groups as i128, "row group")];
    details.extend(codecs);
    details.extend(
        metadata
            .created_by()
            .map(|name| format!("by {}", shown(name))),
    );
    let columns = file.parquet_schema().children(0).count();
    Ok(format!(
        "{}: {}, {}, {} ({})",
        printable(&input.name),
        counted(i128::from(metadata.num_rows_of_row_groups()), "row"),
        counted(columns as i128, "column"),
        size(i128::from(input.size)),
        details.join(", ")
    ))
}

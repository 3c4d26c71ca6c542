//! `count` prints the number of rows.

use herringbone::{Projection, ReadOptions};

use crate::args::Count;
use crate::base::failure::Result;
use crate::base::printable::{json_line, printable};
use crate::describe::Object;
use crate::input::context::Context;
use crate::input::import::Import;
use crate::input::{self, Opening, by_table};
use crate::output::Output;
use crate::rows::{Request, explain};

/// Prints the bare number for a single table. For several tables, prints a line for each and then
/// the total.
pub(crate) fn run(context: &Context, count: &Count, output: &mut Output<'_>) -> Result<()> {
    let opening = Opening {
        wanted: Some(&count.wanted),
        footers: count.footers.get(),
        import: Some(Import::of(context, &count.other_files, None)?),
    };
    let inputs = input::tables(&count.files.files, &opening, context)?;
    let options = ReadOptions::new().projection(Projection::Paths(Vec::new()));
    let mut request = Request::all(options);
    request.wanted = Some(&count.wanted);
    request.merge = count.merge.choice();
    request.row_groups = count.row_groups.as_ref();
    if count.explain {
        return explain(&inputs, &request, count.json.json, output);
    }
    let mut total = 0_u128;
    let is_single = by_table(&inputs).count() == 1;
    for table in by_table(&inputs) {
        let mut request = request.clone();
        request.find_columns(table)?;
        let rows = request.num_rows(context, table)?;
        total += u128::from(rows);
        let name = table.first().map_or("", |input| input.table_name());
        if count.json.json {
            let line = Object::new().with("file", name).with("num_rows", rows);
            output.line(&json_line(&line.into()))?;
            continue;
        }
        output.line(&match is_single {
            true => rows.to_string(),
            false => format!("{rows}\t{}", printable(name)),
        })?;
    }
    match is_single || count.json.json {
        true => Ok(()),
        false => output.line(&format!("{total}\ttotal")),
    }
}

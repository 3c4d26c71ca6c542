//! `count`: the number of rows.

use herringbone::{Projection, ReadOptions};

use super::explain;
use crate::args::{Count, chosen};
use crate::context::Context;
use crate::failure::Result;
use crate::input;
use crate::output::Output;
use crate::render::printable::printable;
use crate::rows;

/// Prints only the number for a single file. For several files, prints one line each and a total.
pub(crate) fn run(context: &Context, request: &Count, output: &mut Output<'_>) -> Result<()> {
    let inputs = input::all(&request.files.files, context)?;
    let mut total = 0_i128;
    for input in &inputs {
        let file = input.open()?;
        let filter = request.wanted.filter(&file);
        let mut options = ReadOptions::new().projection(Projection::Leaves(Vec::new()));
        options.filter = filter.map_err(|error| input.failure(&error))?;
        let row_groups = chosen(
            request.row_groups.as_ref(),
            file.metadata().num_row_groups(),
        )
        .map_err(|failure| failure.in_file(&input.name))?;
        if request.explain {
            let options = options.row_groups(row_groups);
            explain::file(input, &file, &options, output)?;
            continue;
        }
        let rows = match (&options.filter, &request.row_groups) {
            (None, None) => file.metadata().num_rows_of_row_groups(),
            (None, Some(_)) => rows::in_row_groups(input, &file, &row_groups)?,
            (Some(_), _) => {
                let options = options.row_groups(row_groups);
                rows::count_read(context, input, &file, options)?
            }
        };
        total += i128::from(rows);
        if inputs.len() == 1 {
            output.line(&rows.to_string())?;
        } else {
            output.line(&format!("{rows}\t{}", printable(&input.name)))?;
        }
    }
    if inputs.len() > 1 && !request.explain {
        output.line(&format!("{total}\ttotal"))?;
    }
    Ok(())
}

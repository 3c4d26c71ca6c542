//! `count`: the number of rows.

use herringbone::{Projection, ReadOptions};

use super::explain;
use crate::args::Wanted;
use crate::context::Context;
use crate::failure::Result;
use crate::input::Input;
use crate::output::Output;
use crate::render::printable::printable;
use crate::rows;

/// Prints only the number for a single file. For several files, prints one line each and a total.
pub(crate) fn run(
    context: &Context,
    inputs: &[Input],
    wanted: &Wanted,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut total = 0_i128;
    for input in inputs {
        let file = input.open()?;
        if wanted.explain {
            let mut options = ReadOptions::new().projection(Projection::Leaves(Vec::new()));
            let filter = wanted.filter(&file);
            options.filter = filter.map_err(|error| input.failure(&error))?;
            explain::file(input, &file, &options, output)?;
            continue;
        }
        let rows = match wanted
            .filter(&file)
            .map_err(|error| input.failure(&error))?
        {
            None => file.metadata().num_rows_of_row_groups(),
            Some(filter) => {
                let options = ReadOptions::new()
                    .projection(Projection::Leaves(Vec::new()))
                    .filter(filter);
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
    if inputs.len() > 1 && !wanted.explain {
        output.line(&format!("{total}\ttotal"))?;
    }
    Ok(())
}

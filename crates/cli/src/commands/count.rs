//! `count`: the number of rows.

use crate::failure::Result;
use crate::input::Input;
use crate::output::Output;
use crate::render::printable::printable;

/// Prints the number alone; of several files, one line each and a total.
pub(crate) fn run(inputs: &[Input], output: &mut Output<'_>) -> Result<()> {
    let mut total = 0_i128;
    for input in inputs {
        let rows = input.open()?.metadata().num_rows_of_row_groups();
        total += i128::from(rows);
        if inputs.len() == 1 {
            output.line(&rows.to_string())?;
        } else {
            output.line(&format!("{rows}\t{}", printable(&input.name)))?;
        }
    }
    if inputs.len() > 1 {
        output.line(&format!("{total}\ttotal"))?;
    }
    Ok(())
}

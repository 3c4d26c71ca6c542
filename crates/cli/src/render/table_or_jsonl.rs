//! Lists other than rows: a table for people, JSON lines for programs.

use serde_json::Value;

use crate::args::ListFormat;
use crate::base::failure::Result;
use crate::base::printable::{json_line, printable};
use crate::input::Input;
use crate::output::Output;
pub(crate) use crate::render::table::Header;
use crate::render::table::print_list;

/// The number of lines in one table.
const BLOCK_LINES: usize = 1000;

/// A list being printed.
pub(crate) struct Listing<'o, 'w> {
    format: ListFormat,
    header: Header<'static>,
    output: &'o mut Output<'w>,
    block: Vec<Vec<String>>,
    begun: bool,
}

impl<'o, 'w> Listing<'o, 'w> {
    /// Creates an empty list in the given format.
    pub(crate) fn new(
        format: ListFormat,
        header: Header<'static>,
        output: &'o mut Output<'w>,
    ) -> Self {
        Self {
            format,
            header,
            output,
            block: Vec::new(),
            begun: false,
        }
    }

    /// Adds a line, by its cells or its JSON.
    pub(crate) fn line(
        &mut self,
        cells: impl FnOnce() -> Vec<String>,
        json: impl FnOnce() -> Result<Value>,
    ) -> Result<()> {
        match self.format {
            ListFormat::Jsonl => self.output.line(&json_line(&json()?)),
            ListFormat::Table => {
                self.block.push(cells());
                if self.block.len() == BLOCK_LINES {
                    self.print()?;
                }
                Ok(())
            }
        }
    }

    /// Prints the remaining lines. An empty table still has its header.
    pub(crate) fn finish(mut self) -> Result<()> {
        if self.format == ListFormat::Table && (!self.begun || !self.block.is_empty()) {
            self.print()?;
        }
        Ok(())
    }

    fn print(&mut self) -> Result<()> {
        self.begun = true;
        print_list(&self.header, std::mem::take(&mut self.block), self.output)
    }
}

/// Prints a list for each file, with a heading if there are several tables. `add` adds the lines of a file.
///
/// # Errors
/// The errors of `add` and of the output.
pub(crate) fn by_file(
    inputs: &[Input],
    (asked, header): (Option<ListFormat>, Header<'static>),
    output: &mut Output<'_>,
    mut add: impl FnMut(&Input, &mut Listing<'_, '_>) -> Result<()>,
) -> Result<()> {
    let format = format(asked, output);
    for input in inputs {
        if format == ListFormat::Table && inputs.len() > 1 {
            output.line(&format!("{}:", printable(&input.name)))?;
        }
        let mut list = Listing::new(format, header, output);
        add(input, &mut list)?;
        list.finish()?;
    }
    Ok(())
}

/// Returns the requested format, or the default for the output.
pub(crate) fn format(asked: Option<ListFormat>, output: &Output<'_>) -> ListFormat {
    asked.unwrap_or(match output.is_terminal() {
        true => ListFormat::Table,
        false => ListFormat::Jsonl,
    })
}

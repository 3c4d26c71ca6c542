//! Prints lists other than rows: as a table for people, as JSON lines for programs, or as CSV for
//! spreadsheets.

use serde_json::Value;

use crate::args::ListFormat;
use crate::base::failure::Result;
use crate::base::printable::{json_line, printable};
use crate::input::Input;
use crate::output::Output;
pub(crate) use crate::render::table::Header;
use crate::render::table::print_list;

/// The number of lines per table. This bounds the memory for a long list.
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

    /// Adds a line. We only call one of the closures, since a format needs either cells or JSON.
    pub(crate) fn line(
        &mut self,
        cells: impl FnOnce() -> Vec<String>,
        json: impl FnOnce() -> Result<Value>,
    ) -> Result<()> {
        match self.format {
            ListFormat::Jsonl => self.output.line(&json_line(&json()?)),
            ListFormat::Csv => {
                let json = json()?;
                let values = self.header.keys.iter().map(|key| json.get(key));
                let fields: Vec<String> = values.map(field).collect();
                self.fields(&fields, self.header.keys)
            }
            ListFormat::Table => {
                self.block.push(cells());
                if self.block.len() == BLOCK_LINES {
                    self.print()?;
                }
                Ok(())
            }
        }
    }

    /// Prints a CSV line, preceded by the header if it's the first.
    pub(crate) fn fields<N: AsRef<str>>(&mut self, fields: &[String], names: &[N]) -> Result<()> {
        if !self.begun {
            self.begun = true;
            let names: Vec<String> = names.iter().map(|name| quoted(name.as_ref())).collect();
            self.output.line(&names.join(","))?;
        }
        self.output.line(&fields.join(","))
    }

    /// Returns true if the list is CSV.
    pub(crate) fn is_csv(&self) -> bool {
        self.format == ListFormat::Csv
    }

    /// Prints the remaining lines. An empty table still has its header.
    pub(crate) fn finish(mut self) -> Result<()> {
        if self.format == ListFormat::Csv && !self.begun {
            return self.output.line(&self.header.keys.join(","));
        }
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

/// Returns a value as a CSV field. An empty text gets quotes, since an unknown value or null is an
/// empty field.
pub(crate) fn field(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => quoted(text),
        Some(Value::Array(parts)) if !parts.is_empty() && parts.iter().all(Value::is_string) => {
            let names: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
            quoted(&names.join("."))
        }
        Some(other) => quoted(&other.to_string()),
    }
}

/// Returns a text as a CSV field (RFC 4180, section 2).
fn quoted(text: &str) -> String {
    match text.is_empty() || text.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// Prints a list for each file, with a heading if there are several tables. `add` adds a file's
/// lines.
///
/// # Errors
/// Fails if `add` or the output does.
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

/// Returns the requested format, or the default for this output.
pub(crate) fn format(asked: Option<ListFormat>, output: &Output<'_>) -> ListFormat {
    asked.unwrap_or(match output.is_terminal() {
        true => ListFormat::Table,
        false => ListFormat::Jsonl,
    })
}

//! Options for writing CSV.

use clap::Args;

use crate::render::csv::CsvStyle;

/// The options for CSV.
#[derive(Debug, Args)]
pub(crate) struct Csv {
    /// Text for null in CSV, without quotes [default: an empty field]
    #[arg(long, value_name = "TEXT", value_parser = checked)]
    null: Option<String>,
    /// End the lines of written CSV with CR LF, as in RFC 4180 [default: LF]
    #[arg(long)]
    pub(crate) crlf: bool,
}

impl Csv {
    /// Returns true if there is a text for null.
    pub(crate) fn has_null(&self) -> bool {
        self.null.is_some()
    }

    /// Returns the text for null, which is empty by default.
    pub(crate) fn null(&self) -> &str {
        self.null.as_deref().unwrap_or_default()
    }

    /// Returns the style of written CSV.
    pub(crate) fn style(&self) -> CsvStyle {
        CsvStyle {
            null: self.null().to_owned(),
            line_end: if self.crlf { "\r\n" } else { "\n" },
        }
    }
}

fn checked(text: &str) -> Result<String, String> {
    if text.contains(['"', ',', '\r', '\n']) {
        return Err("must not contain quotes, commas or line ends".into());
    }
    Ok(text.into())
}

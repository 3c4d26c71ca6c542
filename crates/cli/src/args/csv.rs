//! The options for reading and writing CSV.

use clap::Args;
use encoding_rs::Encoding;
use herringbone_interchange::read::{DateFormat, Marks};
use herringbone_interchange::write::csv::CsvStyle;

use crate::base::failure::{Failure, Result};

/// The shape of CSV, for reading and writing.
#[derive(Debug, Args)]
#[command(next_help_heading = "CSV")]
pub(crate) struct CsvShape {
    /// Text for null in CSV, without quotes [default: an empty field]
    #[arg(long, value_name = "TEXT", value_parser = null)]
    null: Option<String>,
    /// Field separator of CSV: one ASCII character, or `tab`
    ///
    /// By default, CSV is written with commas. When CSV is read, the default is a comma, or `;`, tab or `|` if the
    /// first lines are separated by it.
    #[arg(short, long, value_name = "CHARACTER", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// The first line of CSV does not contain names
    #[arg(long)]
    pub(crate) no_header: bool,
}

impl CsvShape {
    /// Returns the first given option, if any.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            (self.null.is_some(), "--null"),
            (self.delimiter.is_some(), "--delimiter"),
            (self.no_header, "--no-header"),
        ];
        let given = options.into_iter().find(|(is_given, _)| *is_given);
        given.map(|(_, name)| name)
    }

    /// Returns the text that stands for null, which is empty by default.
    pub(crate) fn null(&self) -> &str {
        self.null.as_deref().unwrap_or_default()
    }
}

/// The options for writing CSV. Its shape also applies when reading CSV.
#[derive(Debug, Args)]
#[command(next_help_heading = "CSV")]
pub(crate) struct Csv {
    #[command(flatten)]
    pub(crate) shape: CsvShape,
    /// End the lines of written CSV with CR LF, as in RFC 4180 [default: LF]
    #[arg(long)]
    pub(crate) crlf: bool,
}

impl Csv {
    /// Returns the first given option, if any.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.shape.given().or(self.crlf.then_some("--crlf"))
    }

    /// Returns the style in which CSV is written, or text separated by tabs if `has_tabs` is set.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if the options contradict each other.
    pub(crate) fn style(&self, has_tabs: bool) -> Result<CsvStyle> {
        let shape = &self.shape;
        let delimiter = match (shape.delimiter, has_tabs) {
            (None | Some(b'\t'), true) => b'\t',
            (Some(_), true) => {
                let message = "--delimiter: tabs separate the fields of tsv; use csv";
                return Err(Failure::Usage(message.into()));
            }
            (delimiter, false) => delimiter.unwrap_or(b','),
        };
        if shape.null().contains(char::from(delimiter)) {
            return Err(Failure::Usage(
                "the text for null must not contain the delimiter".into(),
            ));
        }
        Ok(CsvStyle {
            null: shape.null().to_owned(),
            delimiter,
            has_header: !shape.no_header,
            line_end: if self.crlf { "\r\n" } else { "\n" },
        })
    }
}

/// The options for reading CSV.
#[derive(Debug, Args)]
#[command(next_help_heading = "CSV")]
pub(crate) struct CsvInput {
    /// Ignore lines that begin with this character, e.g. `#`
    #[arg(long, value_name = "CHARACTER", value_parser = comment)]
    pub(crate) comment: Option<u8>,
    /// Ignore the first N lines
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) skip_lines: usize,
    /// Numbers have a comma before the fraction, as in 1.234,50
    ///
    /// Dots may stand between groups of three digits, and only there.
    #[arg(long)]
    decimal_comma: bool,
    /// Numbers have commas between groups of three digits, as in 1,234.50
    #[arg(long, conflicts_with = "decimal_comma")]
    thousands: bool,
    /// Format of dates or timestamps, e.g. `%d.%m.%Y`
    ///
    /// The syntax is that of `strftime`. Dates of ISO 8601 are read as well. The option may be given several times. A column has the
    /// first of them that fits all of its dates.
    #[arg(long = "date-format", value_name = "FORMAT")]
    pub(crate) date_formats: Vec<DateFormat>,
    /// Encoding of the text, e.g. `latin1` or `utf-16le` [default: UTF-8]
    ///
    /// The names are those of web browsers, so `latin1` is windows-1252. A byte order mark in the file decides
    /// instead.
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    pub(crate) csv_encoding: Option<&'static Encoding>,
}

impl CsvInput {
    /// Returns the decimal and thousands marks that numbers have.
    pub(crate) fn marks(&self) -> Marks {
        match (self.decimal_comma, self.thousands) {
            (true, _) => Marks::DecimalComma,
            (false, true) => Marks::Thousands,
            (false, false) => Marks::Usual,
        }
    }

    /// Returns the first given option, if any.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            (self.comment.is_some(), "--comment"),
            (self.skip_lines > 0, "--skip-lines"),
            (self.decimal_comma, "--decimal-comma"),
            (self.thousands, "--thousands"),
            (!self.date_formats.is_empty(), "--date-format"),
            (self.csv_encoding.is_some(), "--csv-encoding"),
        ];
        let given = options.into_iter().find(|(is_given, _)| *is_given);
        given.map(|(_, name)| name)
    }
}

fn null(text: &str) -> Result<String, String> {
    if text.contains(['"', '\r', '\n']) {
        return Err("must not contain quotes or line ends".into());
    }
    Ok(text.into())
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [b'"' | b'\r' | b'\n'] => Err("has another meaning in CSV".into()),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one ASCII character, or `tab`".into()),
    }
}

fn comment(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [b'"' | b'\r' | b'\n'] => Err("has another meaning in CSV".into()),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one ASCII character".into()),
    }
}

fn encoding(text: &str) -> Result<&'static Encoding, String> {
    let label = match text.to_ascii_lowercase().as_str() {
        "latin-1" => "latin1".to_owned(),
        other => other.to_owned(),
    };
    Encoding::for_label(label.as_bytes()).ok_or_else(|| {
        "unknown encoding; use e.g. latin1, windows-1252, iso-8859-15, utf-16le, shift_jis".into()
    })
}

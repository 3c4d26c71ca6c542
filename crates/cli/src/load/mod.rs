//! Rows from files of any format.
//!
//! ```text
//! CSV        ─► sample ─► kinds of columns ─► records ─► values ─┐
//! JSON lines ─► sample ─► kinds of columns ─► rows ────► values ─┼─► record batches
//!   ▲ GeoJSON                                                    │
//! Arrow      ─► ipc ─────────────────────────────────────────────┘
//! ```

pub(crate) mod cast;
mod csv;
pub(crate) mod foreign;
mod geojson;
mod ipc;
mod json;
mod numbers;
mod opened;
mod decoded;
mod row_size;
mod sample;
mod schema_file;
mod schema_text;
mod type_names;
mod unpacked;
mod value;

use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use herringbone::Limits;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{Field, SchemaRef};

pub(crate) use csv::{DateFormat, Dialect, csv, reads_as_text};
pub(crate) use geojson::geojson;
pub(crate) use ipc::{ipc_file_or_stream, schema_of as ipc_schema};
pub(crate) use json::jsonl;
pub(crate) use schema_file::schema_file;
pub(crate) use schema_text::{data_type_of, field_of};
pub(crate) use value::{hex, value_of, variant_type};

use opened::Opened;

use crate::failure::{Failure, Result};
use crate::url::name_of;

/// A source of rows.
pub(crate) struct Rows<'a> {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Box<dyn Iterator<Item = Result<RecordBatch>> + 'a>,
    pub(crate) work: Work,
}

/// The amount of work, if it is known.
pub(crate) enum Work {
    /// The number of rows.
    Rows(u64),
    /// The number of batches.
    Batches(u64),
    /// The total number of bytes, and a counter of the bytes read so far.
    Bytes(u64, Rc<Cell<u64>>),
    /// An unknown amount.
    Unknown,
}

/// The maximum number of rows in a batch from text.
const BATCH_ROWS: usize = 8192;

/// The maximum number of text bytes in a batch. Does not count the last row.
const BATCH_BYTES: usize = 16 << 20;

/// Returns the maximum number of text bytes in a row: those of a single value. Offsets of 32 bits must reach its end.
fn max_row_bytes(limits: &Limits) -> usize {
    limits.batch_column_bytes.min(i32::MAX as usize)
}

/// Returns the message about a row with more bytes than [`max_row_bytes`].
fn too_long(max_row_bytes: usize) -> String {
    let advice = match max_row_bytes < i32::MAX as usize {
        true => "; raise it with --max batch_column_bytes=N",
        false => "",
    };
    format!("a row of more than {max_row_bytes} bytes, the limit `batch_column_bytes`{advice}")
}

/// Advice for values that do not fit the inferred type.
const INFERRED: &str = "; the types were inferred: use --infer-rows N to look at more rows, or set \
                        types with --type COLUMN=TYPE or --schema FILE";

/// The options for reading text.
pub(crate) struct TextOptions<'a> {
    /// The schema, if one is given.
    pub(crate) schema: Option<SchemaRef>,
    /// The number of rows to infer the schema from.
    pub(crate) infer_rows: usize,
    /// The columns with given types.
    pub(crate) types: Vec<Field>,
    /// The callback for notes to the user.
    pub(crate) note: &'a dyn Fn(&str),
    /// True if CSV has a line of names.
    pub(crate) header: bool,
    /// The delimiter of CSV. `None` means that it is detected.
    pub(crate) delimiter: Option<u8>,
    /// The text of a null in CSV, without quotes.
    pub(crate) null: String,
    /// The number of lines before the CSV.
    pub(crate) skip_lines: usize,
    /// The character at the beginning of comment lines in CSV.
    pub(crate) comment: Option<u8>,
    /// The notation of numbers and dates in CSV.
    pub(crate) dialect: Dialect,
    /// Limits on the memory and work that a text may cause.
    pub(crate) limits: &'a Limits,
}

impl TextOptions<'_> {
    /// Checks that every column with a given type exists in the file.
    ///
    /// # Errors
    /// Usage.
    fn all_are_in(&self, file: &str, is_there: impl Fn(&String) -> bool) -> Result<()> {
        match self.types.iter().find(|it| !is_there(it.name())) {
            None => Ok(()),
            Some(field) => Err(Failure::Usage(format!(
                "--type, --variant: {file} does not have a column `{}`",
                field.name()
            ))),
        }
    }
}

/// A file read from its beginning to its end.
pub(crate) struct Stream {
    /// The name of the file in errors.
    pub(crate) name: String,
    bytes: Box<dyn Read>,
    total: Option<u64>,
    source: Source,
}

/// The state of reading the bytes of a file.
#[derive(Clone, Default)]
struct Source {
    /// The number of bytes read.
    read: Rc<Cell<u64>>,
    /// True if the system failed to read.
    has_failed: Rc<Cell<bool>>,
}

/// Bytes that update the state of their source.
struct Counted<R> {
    bytes: R,
    source: Source,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer);
        match &count {
            Ok(count) => {
                let read = &self.source.read;
                read.set(read.get() + *count as u64);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.source.has_failed.set(true),
        }
        count
    }
}

impl Stream {
    /// Opens a file. `-` is standard input.
    ///
    /// # Errors
    /// System.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = name_of(path);
        if path.as_os_str() == "-" {
            return Ok(Self::new(name, io::stdin(), None));
        }
        let opened = Opened::new(path)?;
        Ok(Self::new(name, opened.bytes, opened.length))
    }

    fn new(name: String, bytes: impl Read + 'static, total: Option<u64>) -> Self {
        let source = Source::default();
        let counted = Counted {
            bytes,
            source: source.clone(),
        };
        Self {
            name,
            bytes: Box::new(counted),
            total,
            source,
        }
    }

    /// Unpacks the bytes if they are compressed with gzip or Zstandard. A read fails if they are too many.
    ///
    /// # Errors
    /// System.
    pub(crate) fn unpacked(mut self, limits: &Limits) -> Result<Self> {
        let unpacked = unpacked::unpacked(self.bytes, &self.source, limits);
        self.bytes = unpacked.map_err(|error| unreadable(&self.name, &error))?;
        Ok(self)
    }

    /// Decodes the bytes to UTF-8. Bytes with a byte order mark are in the encoding of the mark.
    pub(crate) fn decoded(mut self, encoding: &'static encoding_rs::Encoding) -> Self {
        self.bytes = Box::new(decoded::Decoded::new(self.bytes, encoding));
        self
    }

    /// Creates a stream of bytes in memory.
    pub(crate) fn of_bytes(name: &str, bytes: Vec<u8>) -> Self {
        let total = bytes.len() as u64;
        Self::new(name.to_owned(), io::Cursor::new(bytes), Some(total))
    }

    /// Returns the amount of work.
    fn work(&self) -> Work {
        match self.total {
            Some(total) => Work::Bytes(total, self.source.read.clone()),
            None => Work::Unknown,
        }
    }
}

/// Returns the failure of reading a text. Errors about invalid data are data errors; all others are system errors.
fn unreadable(name: &str, error: &io::Error) -> Failure {
    let text = format!("{name}: {error}");
    match error.kind() {
        io::ErrorKind::InvalidData => Failure::Data(text),
        _ => Failure::System(text),
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::LazyLock;

    use super::*;

    static LIMITS: LazyLock<Limits> = LazyLock::new(Limits::default);

    /// Returns the default options.
    pub(crate) fn text_options() -> TextOptions<'static> {
        TextOptions {
            schema: None,
            infer_rows: 10_000,
            types: Vec::new(),
            note: &|_| {},
            header: true,
            delimiter: None,
            null: String::new(),
            skip_lines: 0,
            comment: None,
            dialect: Dialect::default(),
            limits: &LIMITS,
        }
    }
}

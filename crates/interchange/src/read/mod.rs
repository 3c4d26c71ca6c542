//! Reads rows from files of any format.
//!
//! ```text
//! CSV        ─► sample ─► kinds of columns ─► records ─► values ─┐
//! JSON lines ─► sample ─► kinds of columns ─► rows ────► values ─┼─► record batches
//!   ▲ GeoJSON                                                    │
//! Arrow      ─► ipc ─────────────────────────────────────────────┘
//! ```

pub mod cast;
mod csv;
mod decoded;
pub mod foreign;
mod geojson;
mod ipc;
mod json;
mod lenient;
mod numbers;
mod row_size;
mod sample;
mod schema_text;
mod stream;
mod type_names;
mod unpacked;
mod value;

use std::cell::Cell;
use std::rc::Rc;

use herringbone::Limits;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{Field, SchemaRef};

pub use csv::{DateFormat, Dialect, Marks, csv, csv_fields, reads_as_text};
pub use geojson::geojson;
pub use ipc::{MAGIC, STREAM_MARK, ipc};
pub use json::{JsonDates, jsonl};
pub use lenient::Lenient;
pub use schema_text::{data_type_of, field_of, schema};
pub use stream::{Bytes, ReadSeek, Stream};
pub use value::{hex, value_of, variant_type};

use stream::unreadable;

use crate::error::{Error, Result};

/// A source of rows.
pub struct Rows<'a, E = Error> {
    /// The schema of all batches.
    pub schema: SchemaRef,
    /// The rows, in order.
    pub batches: Box<dyn Iterator<Item = Result<RecordBatch, E>> + 'a>,
    /// The total amount of work, for showing progress.
    pub work: Work,
}

impl<'a> Rows<'a> {
    /// Converts the errors of the batches.
    pub fn with_errors_of<E: From<Error> + 'a>(self) -> Rows<'a, E> {
        Rows {
            schema: self.schema,
            batches: Box::new(self.batches.map(|batch| batch.map_err(E::from))),
            work: self.work,
        }
    }
}

/// The amount of work, as far as it is known.
pub enum Work {
    /// The number of rows.
    Rows(u64),
    /// The number of batches.
    Batches(u64),
    /// The total number of bytes, with a counter of the bytes read so far.
    Bytes(u64, Rc<Cell<u64>>),
    /// An unknown amount.
    Unknown,
}

/// Returns the batches up to the first error.
fn until_error<'a>(
    mut next: impl FnMut() -> Result<Option<RecordBatch>> + 'a,
) -> Box<dyn Iterator<Item = Result<RecordBatch>> + 'a> {
    let mut has_failed = false;
    Box::new(std::iter::from_fn(move || {
        if has_failed {
            return None;
        }
        let batch = next();
        has_failed = batch.is_err();
        batch.transpose()
    }))
}

/// The maximum number of rows in a batch from text.
const BATCH_ROWS: usize = 8192;

/// The maximum number of text bytes in a batch. The last row can overshoot it.
const BATCH_BYTES: usize = 16 << 20;

/// Returns the maximum number of text bytes in a row. Since a single value could take all of them,
/// they must fit in 32-bit offsets.
fn max_row_bytes(limits: &Limits) -> usize {
    limits.batch_column_bytes.min(i32::MAX as usize)
}

/// Returns the message for a row with more bytes than [`max_row_bytes`].
fn too_long(max_row_bytes: usize) -> String {
    let advice = match max_row_bytes < i32::MAX as usize {
        true => "; raise it with --max batch_column_bytes=N",
        false => "",
    };
    format!("a row of more than {max_row_bytes} bytes, the limit `batch_column_bytes`{advice}")
}

/// Advice for values that do not fit the inferred type.
const INFERRED: &str = "; the types were inferred: use --infer-rows N to look at more rows, or set \
                        types with --type COLUMN=TYPE or --schema FILE; --on-error skip leaves out \
                        such rows";

/// Advice for values that do not fit a given type.
const GIVEN: &str = "; --on-error skip leaves out such rows, and --on-error null such values";

/// Options for reading text.
pub struct TextOptions<'a> {
    /// The schema, if one is given.
    pub schema: Option<SchemaRef>,
    /// The number of rows to infer the schema from.
    pub infer_rows: usize,
    /// The columns with given types.
    pub types: Vec<Field>,
    /// The callback for notes to the user.
    pub note: &'a dyn Fn(&str),
    /// True if CSV has a header.
    pub header: bool,
    /// The delimiter in CSV, or `None` to detect it.
    pub delimiter: Option<u8>,
    /// The unquoted text of a null in CSV.
    pub null: String,
    /// The number of lines before the CSV begins.
    pub skip_lines: usize,
    /// The first character of comment lines in CSV.
    pub comment: Option<u8>,
    /// The key of the row array in JSON, or `None` if the objects themselves are rows.
    pub json_path: Option<String>,
    /// The JSON columns eligible for dates.
    pub json_dates: JsonDates,
    /// Options for skipping bad rows, or `None` to fail on them.
    pub lenient: Option<Lenient>,
    /// The notation of numbers and dates in CSV.
    pub dialect: Dialect,
    /// Limits on the memory and work for a text, which matter for untrusted input.
    pub limits: &'a Limits,
}

impl TextOptions<'_> {
    /// Checks that the file has every column whose type is given.
    ///
    /// # Errors
    /// Fails with [Options](crate::Error::Options) if a column is missing.
    fn all_are_in(&self, file: &str, is_there: impl Fn(&String) -> bool) -> Result<()> {
        match self.types.iter().find(|type_| !is_there(type_.name())) {
            None => Ok(()),
            Some(field) => Err(Error::Options(format!(
                "--type, --variant: {file} does not have a column `{}`",
                field.name()
            ))),
        }
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
            json_path: None,
            json_dates: JsonDates::default(),
            lenient: None,
            dialect: Dialect::default(),
            limits: &LIMITS,
        }
    }
}

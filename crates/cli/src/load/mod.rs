//! Rows out of files of any format.
//!
//! ```text
//! CSV        ─► sample ─► schema ─► text: records and columns   ─┐
//! JSON lines ─► sample ─► infer  ─► text: decoder of arrow-json ─┼─► record batches
//! Arrow      ─► ipc ─────────────────────────────────────────────┘
//! ```

mod csv;
mod infer;
mod interval;
mod ipc;
mod json;
mod sample;
mod schema_file;
mod schema_text;
mod text;
mod values;

use std::cell::Cell;
use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;

pub(crate) use csv::csv;
pub(crate) use ipc::{ipc_file_or_stream, schema_of as ipc_schema};
pub(crate) use json::jsonl;
pub(crate) use schema_file::schema_file;

use crate::failure::{Failure, Result};

/// Rows to come.
pub(crate) struct Rows<'a> {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Box<dyn Iterator<Item = Result<RecordBatch>> + 'a>,
    pub(crate) work: Work,
}

/// How much there is to do, as far as it is known.
pub(crate) enum Work {
    /// So many rows.
    Rows(u64),
    /// So many batches.
    Batches(u64),
    /// So many bytes, of which so many were read.
    Bytes(u64, Rc<Cell<u64>>),
    /// Nobody knows.
    Unknown,
}

/// How text is read.
pub(crate) struct TextOptions {
    /// The schema, where it is given.
    pub(crate) schema: Option<SchemaRef>,
    /// Rows to infer the schema from.
    pub(crate) infer_rows: usize,
    /// Whether CSV has a line of names.
    pub(crate) header: bool,
    /// What stands between the fields of CSV.
    pub(crate) delimiter: u8,
    /// What a null is in CSV, without quotes.
    pub(crate) null: String,
}

/// A file that is read from its beginning to its end.
pub(crate) struct Stream {
    /// How it is called in errors.
    pub(crate) name: String,
    bytes: Box<dyn Read>,
    total: Option<u64>,
    read: Rc<Cell<u64>>,
}

impl Stream {
    /// Opens a file, or standard input for `-`.
    ///
    /// # Errors
    /// System.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let read = Rc::default();
        if path.as_os_str() == "-" {
            let bytes = Box::new(io::stdin());
            return Ok(Self {
                name,
                bytes,
                total: None,
                read,
            });
        }
        let refused = |error: io::Error| Failure::System(format!("{name}: {error}"));
        let file = fs::File::open(path).map_err(refused)?;
        let metadata = file.metadata().map_err(refused)?;
        Ok(Self {
            bytes: Box::new(file),
            total: metadata.is_file().then_some(metadata.len()),
            name,
            read,
        })
    }

    /// How much there is to read.
    fn work(&self) -> Work {
        match self.total {
            Some(total) => Work::Bytes(total, self.read.clone()),
            None => Work::Unknown,
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer)?;
        self.read.set(self.read.get() + count as u64);
        Ok(count)
    }
}

//! `--schema FILE`: a schema out of another file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::slice;

use herringbone::SchemaOptions;
use herringbone_arrow::schema::SchemaRef;

use super::ipc::MAGIC;
use super::{ipc_schema, schema_text};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input;

/// What an Arrow stream begins with: the marker of a message.
const STREAM: &[u8] = &[0xff; 4];

/// Bytes of a schema in text, at most.
const MOST: u64 = 64 << 20;

/// The schema of a Parquet file, of an Arrow IPC file or stream, or what a text says.
///
/// # Errors
/// Data where it is none of these, System.
pub(crate) fn schema_file(path: &Path, context: &Context) -> Result<SchemaRef> {
    let name = path.display();
    let mut text = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST).read_to_end(&mut text))
        .map_err(|error| Failure::System(format!("{name}: {error}")))?;
    if text.starts_with(b"PAR1") {
        let inputs = input::all(slice::from_ref(&path.to_owned()), context)?;
        if let Some(input) = inputs.first() {
            let schema = input.open()?.arrow_schema(&SchemaOptions::default());
            return schema.map_err(|error| input.failure(&error));
        }
    }
    if text.starts_with(MAGIC) || text.starts_with(STREAM) {
        return ipc_schema(path);
    }
    String::from_utf8(text)
        .map_err(|_| "neither Parquet nor Arrow nor text".to_owned())
        .and_then(|text| schema_text::schema(&text))
        .map_err(|message| Failure::Data(format!("{name}: {message}")))
}

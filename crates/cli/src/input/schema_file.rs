//! `--schema FILE` takes the schema from another file.

use std::io::{self, Read as _};
use std::path::Path;
use std::slice;

use herringbone_arrow::schema::SchemaRef;
use herringbone_interchange::read;

use crate::base::failure::{Failure, Result};
use crate::base::url::name_of;
use crate::input::context::Context;
use crate::input::foreign_file::{arrow_schema, open};
use crate::input::{self, Input};

/// The maximum size of a schema as text, in bytes.
const MAX_SCHEMA_BYTES: u64 = 64 << 20;

/// Calls `read_parquet` if the file is Parquet. Calls `read_arrow` with the schema if the file is
/// an Arrow IPC file or stream, or a schema as text. A pipe can only be a schema as text, since we
/// have to read the other formats twice.
///
/// # Errors
/// Fails with [`Failure::Data`] if the file is none of these, or if the text has more than 64 MiB.
/// Fails with [`Failure::System`] if it cannot be read.
pub(crate) fn schema_file<T>(
    path: &Path,
    context: &Context,
    read_parquet: impl FnOnce(&Input) -> Result<T>,
    read_arrow: impl FnOnce(SchemaRef) -> Result<T>,
) -> Result<T> {
    let name = name_of(path);
    let refused = |error: io::Error| Failure::System(format!("{name}: {error}"));
    let mut text = Vec::new();
    let mut file = open(path)?;
    let beginning = file
        .by_ref()
        .take(read::MAGIC.len() as u64)
        .read_to_end(&mut text);
    beginning.map_err(refused)?;
    let is_parquet = text.starts_with(b"PAR1");
    let is_arrow = text.starts_with(read::MAGIC) || text.starts_with(read::STREAM_MARK);
    if (is_parquet || is_arrow) && file.length().is_none() {
        return Err(Failure::Usage(format!(
            "{name}: only a schema as text can be read from a pipe; a Parquet or Arrow file has to \
             be on disk"
        )));
    }
    if is_parquet {
        let inputs = input::all(slice::from_ref(&path.to_owned()), context)?;
        if let Some(input) = inputs.first() {
            return read_parquet(input);
        }
    }
    if is_arrow {
        return read_arrow(arrow_schema(path, &context.limits)?);
    }
    file.take(MAX_SCHEMA_BYTES + 1)
        .read_to_end(&mut text)
        .map_err(refused)?;
    if text.len() as u64 > MAX_SCHEMA_BYTES {
        return Err(Failure::Data(format!(
            "{name}: neither Parquet nor Arrow, and larger than 64 MiB, the limit for a schema as \
             text"
        )));
    }
    let schema = String::from_utf8(text)
        .map_err(|_| "neither Parquet nor Arrow nor text".to_owned())
        .and_then(|text| read::schema(&text))
        .map_err(|message| Failure::Data(format!("{name}: {message}")))?;
    read_arrow(schema)
}

//! Reads Arrow IPC files and streams.
//!
//! ```text
//! stream ─► messages ─┐
//! file ─► footer ─────┴─► check ─► arrow-ipc ─► record batches
//! ```
//!
//! `arrow-ipc` trusts the lengths in a message, so we check each length against the available bytes
//! before decoding.

mod check;
mod decode;
mod messages;

use std::io::{self, BufReader, Cursor, Read};
use std::panic::{self, AssertUnwindSafe};

use herringbone::{Error, ErrorKind, Limits};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::ipc::{self, MessageHeader};

use self::decode::Decoder;
use self::messages::{Blocks, Message, next_message};
use super::foreign::foreign;
use super::{Bytes, ReadSeek, Rows, Stream, Work, until_error};
use crate::error::Result;

/// The magic number of an IPC file. Streams don't have it.
pub const MAGIC: &[u8] = b"ARROW1";

/// The marker that begins an IPC stream's first message.
pub const STREAM_MARK: &[u8] = &[0xff; 4];

/// Reads the rows of an IPC file or stream. `name` is the file's name in errors.
///
/// # Errors
/// Fails with [Data](crate::Error::Data) if it is neither, and with [System](crate::Error::System)
/// if it cannot be read.
pub fn ipc(name: &str, mut bytes: Bytes, limits: &Limits) -> Result<Rows<'static>> {
    let refused = |error: io::Error| crate::Error::System(format!("{name}: {error}"));
    let mut beginning = Vec::new();
    bytes
        .by_ref()
        .take(MAGIC.len() as u64)
        .read_to_end(&mut beginning)
        .map_err(refused)?;
    if beginning == MAGIC {
        let bytes: Box<dyn ReadSeek> = match bytes {
            Bytes::File(bytes, _) => bytes,
            Bytes::Pipe(mut bytes) => {
                bytes.read_to_end(&mut beginning).map_err(refused)?;
                Box::new(Cursor::new(beginning))
            }
        };
        return file_rows(name, bytes, limits.clone());
    }
    // A stream's marker looks like another format, so we exclude it here.
    if let Some(foreign) = foreign(&beginning).filter(|_| !beginning.starts_with(STREAM_MARK)) {
        return Err(crate::Error::Data(foreign.instead_of("Arrow IPC", name)));
    }
    let length = bytes.length();
    let stream = Stream::counted(name.to_owned(), Cursor::new(beginning).chain(bytes), length);
    let work = stream.work();
    stream_rows(
        name.to_owned(),
        BufReader::new(stream),
        limits.clone(),
        work,
    )
}

fn stream_rows(
    name: String,
    mut bytes: impl Read + 'static,
    limits: Limits,
    work: Work,
) -> Result<Rows<'static>> {
    let mut decoder = guarded(&name, || {
        let first = next_message(&mut bytes, &limits)?;
        let first = first.ok_or_else(|| Problem::corrupt("the schema is missing"))?;
        Ok(Decoder::of_message(&first, limits.clone())?)
    })?;
    Ok(Rows {
        schema: decoder.schema.clone(),
        batches: batches(name, move || {
            while let Some(message) = next_message(&mut bytes, &limits)? {
                if let Some(batch) = decoder.take(&message)? {
                    return Ok(Some(batch));
                }
            }
            Ok(None)
        }),
        work,
    })
}

fn file_rows(name: &str, mut bytes: Box<dyn ReadSeek>, limits: Limits) -> Result<Rows<'static>> {
    let (blocks, mut decoder) = guarded(name, || {
        let (blocks, schema) = Blocks::read(&mut bytes, &limits)?;
        let mut decoder = Decoder::new(schema, limits.clone());
        for block in &blocks.dictionaries {
            let message = expected(&mut bytes, block, MessageHeader::DictionaryBatch, &limits)?;
            decoder.keep_dictionary(&message)?;
        }
        Ok((blocks, decoder))
    })?;
    let count = blocks.batches.len() as u64;
    let mut blocks = blocks.batches.into_iter();
    Ok(Rows {
        schema: decoder.schema.clone(),
        batches: batches(name.to_owned(), move || {
            let Some(block) = blocks.next() else {
                return Ok(None);
            };
            let message = expected(&mut bytes, &block, MessageHeader::RecordBatch, &limits)?;
            Ok(decoder.take(&message)?)
        }),
        work: Work::Batches(count),
    })
}

/// Reads a block's message and checks its kind.
fn expected(
    bytes: &mut Box<dyn ReadSeek>,
    block: &ipc::Block,
    kind: MessageHeader,
    limits: &Limits,
) -> Result<Message, Problem> {
    let message = Message::of_block(bytes, block, limits)?;
    let found = message.root(limits)?.header_type();
    match found == kind {
        true => Ok(message),
        false => Err(Problem::corrupt(format!(
            "the footer names a message of kind {kind:?}, but it is {found:?} (offset {})",
            block.offset()
        ))),
    }
}

fn batches(
    name: String,
    mut next: impl FnMut() -> Result<Option<RecordBatch>, Problem> + 'static,
) -> Box<dyn Iterator<Item = Result<RecordBatch>>> {
    until_error(move || guarded(&name, &mut next))
}

/// The reason why there are no more batches.
enum Problem {
    /// The bytes are malformed, or exceed a limit.
    Bytes(Error),
    /// The system failed to read.
    System(io::Error),
}

impl Problem {
    fn corrupt(text: impl Into<String>) -> Self {
        Self::Bytes(Error::corrupt(text))
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Bytes(error)
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::corrupt("the file ends within a message"),
            _ => Self::System(error),
        }
    }
}

/// Runs `read`. Should `arrow-ipc` panic in spite of our checks, the panic becomes an error.
fn guarded<T>(name: &str, read: impl FnOnce() -> Result<T, Problem>) -> Result<T> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let read = panic::catch_unwind(AssertUnwindSafe(read));
    panic::set_hook(hook);
    let contradiction = || Problem::corrupt("lengths or offsets contradict each other");
    read.unwrap_or_else(|_| Err(contradiction()))
        .map_err(|problem| match problem {
            Problem::System(error) => crate::Error::System(format!("{name}: {error}")),
            Problem::Bytes(error) if error.kind() == ErrorKind::Limit => crate::Error::Limit {
                file: name.to_owned(),
                error,
            },
            Problem::Bytes(error) => {
                crate::Error::Data(format!("{name}: damaged Arrow data: {}", error.message()))
            }
        })
}

#[cfg(test)]
mod tests;

//! Reads the messages of a stream and the blocks of a file.
//!
//! ```text
//! message  0xffffffff (absent before Arrow 0.15) | length of metadata, i32 | metadata | body
//! file     "ARROW1" 0 0 | messages | footer | length of footer, i32 | "ARROW1"
//! ```
//!
//! <https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>

use std::io::{Read, SeekFrom};

use flatbuffers::VerifierOptions;
use herringbone::{Error, Limits, Result};
use herringbone_arrow::buffer::{Buffer, MutableBuffer};
use herringbone_arrow::ipc::{self, Block, root_as_footer_with_opts, root_as_message_with_opts};
use herringbone_arrow::schema::Schema;

use super::decode::schema_of;
use super::{MAGIC, Problem, ReadSeek};

/// The maximum allocation for a body before reading any of it. We don't trust the declared length,
/// so larger bodies grow as we read.
const AT_ONCE: usize = 1 << 20;

/// The number of bytes that a flatbuffer is always allowed to refer to, on top of the limit
/// `overlap_ratio`.
const GRANTED: usize = 64 << 10;

/// The marker before a message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The number of bytes after the footer, for its length and the magic.
const TRAILER: usize = 10;

/// A message with its body.
pub(super) struct Message {
    metadata: Vec<u8>,
    pub(super) body: Buffer,
}

impl Message {
    /// Reads the message in a file's block.
    pub(super) fn of_block(
        bytes: &mut impl ReadSeek,
        block: &Block,
        limits: &Limits,
    ) -> Result<Self, Problem> {
        bytes.seek(SeekFrom::Start(size(block.offset())? as u64))?;
        let mut metadata = Vec::new();
        let length = size(block.metaDataLength().into())?;
        read_exactly(bytes, length, &mut metadata)?;
        let marker = if metadata.starts_with(&CONTINUATION) {
            4
        } else {
            0
        };
        let length = metadata
            .get(marker..)
            .and_then(|metadata| metadata.first_chunk());
        let length = size(i32::from_le_bytes(*length.ok_or_else(truncated)?).into())?;
        metadata.drain(..marker + 4);
        if metadata.len() < length {
            return Err(truncated().into());
        }
        metadata.truncate(length);
        let message = Self {
            metadata,
            body: body(bytes, size(block.bodyLength())?)?,
        };
        message.root(limits)?;
        Ok(message)
    }

    /// Returns the metadata after verifying its offsets.
    pub(super) fn root(&self, limits: &Limits) -> Result<ipc::Message<'_>> {
        let options = verifier(self.metadata.len(), limits);
        root_as_message_with_opts(&options, &self.metadata).map_err(invalid)
    }
}

/// Reads the next message of a stream, or returns `None` at the end.
pub(super) fn next_message(
    bytes: &mut impl Read,
    limits: &Limits,
) -> Result<Option<Message>, Problem> {
    let mut prefix = Vec::new();
    bytes.by_ref().take(4).read_to_end(&mut prefix)?;
    // The end marker is optional.
    if prefix.is_empty() {
        return Ok(None);
    }
    if prefix == CONTINUATION {
        prefix.clear();
        bytes.by_ref().take(4).read_to_end(&mut prefix)?;
    }
    let length = prefix.first_chunk().ok_or_else(truncated)?;
    let length = size(i32::from_le_bytes(*length).into())?;
    if length == 0 {
        return Ok(None);
    }
    let mut message = Message {
        metadata: Vec::new(),
        body: Buffer::default(),
    };
    read_exactly(bytes, length, &mut message.metadata)?;
    let length = size(message.root(limits)?.bodyLength())?;
    message.body = body(bytes, length)?;
    Ok(Some(message))
}

/// The message blocks listed in a file's footer.
pub(super) struct Blocks {
    pub(super) dictionaries: Vec<Block>,
    pub(super) batches: Vec<Block>,
}

impl Blocks {
    /// Reads the footer.
    pub(super) fn read(
        bytes: &mut impl ReadSeek,
        limits: &Limits,
    ) -> Result<(Self, Schema), Problem> {
        let file = bytes.seek(SeekFrom::End(0))?;
        let trailer = file.checked_sub(TRAILER as u64).ok_or_else(truncated)?;
        bytes.seek(SeekFrom::Start(trailer))?;
        let mut end = Vec::new();
        read_exactly(bytes, TRAILER, &mut end)?;
        let length = end.first_chunk().filter(|_| end.ends_with(MAGIC));
        let length = length.ok_or_else(|| {
            Error::corrupt("the file does not end in \"ARROW1\", so it is not complete")
        })?;
        let length = size(i32::from_le_bytes(*length).into())?;
        let start = trailer.checked_sub(length as u64).ok_or_else(truncated)?;
        bytes.seek(SeekFrom::Start(start))?;
        let mut footer = Vec::new();
        read_exactly(bytes, length, &mut footer)?;
        let footer =
            root_as_footer_with_opts(&verifier(length, limits), &footer).map_err(invalid)?;
        let schema = footer.schema();
        let schema =
            schema.ok_or_else(|| Error::corrupt("the footer does not contain a schema"))?;
        let blocks = Self {
            dictionaries: footer
                .dictionaries()
                .into_iter()
                .flatten()
                .copied()
                .collect(),
            batches: footer
                .recordBatches()
                .into_iter()
                .flatten()
                .copied()
                .collect(),
        };
        blocks.check(start, limits)?;
        Ok((blocks, schema_of(schema, limits)?))
    }

    /// Checks that all blocks lie before the footer and don't refer to the same bytes over and
    /// over.
    fn check(&self, footer: u64, limits: &Limits) -> Result<()> {
        let mut sum = 0_u64;
        for block in self.dictionaries.iter().chain(&self.batches) {
            let offset = size(block.offset())? as u64;
            let metadata = size(block.metaDataLength().into())? as u64;
            let length = metadata.saturating_add(size(block.bodyLength())? as u64);
            if offset.saturating_add(length) > footer {
                return Err(Error::corrupt(format!(
                    "a message of {length} bytes at offset {offset} extends past the start of the \
                     footer at {footer}"
                )));
            }
            sum = sum.saturating_add(length);
        }
        let most = footer.saturating_mul(limits.overlap_ratio as u64);
        match sum > most {
            true => Err(Error::limit(
                "overlap_ratio",
                sum / footer.max(1),
                limits.overlap_ratio as u64,
            )),
            false => Ok(()),
        }
    }
}

/// Returns the options for verifying a flatbuffer. A table counts each time it's referenced, so the
/// resulting schema's size stays proportional to the byte count.
fn verifier(length: usize, limits: &Limits) -> VerifierOptions {
    VerifierOptions {
        max_apparent_size: length
            .saturating_mul(limits.overlap_ratio)
            .saturating_add(GRANTED),
        ..VerifierOptions::default()
    }
}

/// Converts a length or an offset, failing if it's negative.
pub(super) fn size(declared: i64) -> Result<usize> {
    let size = usize::try_from(declared);
    size.map_err(|_| Error::corrupt(format!("a length or offset of {declared} bytes")))
}

fn truncated() -> Error {
    Error::corrupt("the file ends within a message")
}

fn invalid(error: flatbuffers::InvalidFlatbuffer) -> Error {
    // We drop the error's other lines, which are a trace.
    let error = error.to_string();
    let first = error.lines().next().unwrap_or_default();
    Error::corrupt(format!(
        "the metadata of a message is not a flatbuffer: {first}"
    ))
}

/// Appends `length` bytes. Memory grows only with the bytes actually read.
fn read_exactly(bytes: &mut impl Read, length: usize, out: &mut Vec<u8>) -> Result<(), Problem> {
    let read = bytes.by_ref().take(length as u64).read_to_end(out)?;
    match read == length {
        true => Ok(()),
        false => Err(truncated().into()),
    }
}

/// Reads a body into an aligned buffer. Memory grows only with the bytes actually read.
fn body(bytes: &mut impl Read, length: usize) -> Result<Buffer, Problem> {
    let mut body = MutableBuffer::new(length.min(AT_ONCE));
    while body.len() < length {
        let start = body.len();
        let end = start
            .saturating_mul(2)
            .clamp(AT_ONCE, length.max(AT_ONCE))
            .min(length);
        body.resize(end, 0);
        let part = body.as_slice_mut().get_mut(start..).unwrap_or_default();
        bytes.read_exact(part)?;
    }
    Ok(body.into())
}

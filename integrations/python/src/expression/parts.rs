//! The parts of a pickled expression, in order.

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, RecordBatch};
use herringbone::arrow::buffer::Buffer;
use herringbone::arrow::ipc::reader::StreamDecoder;
use herringbone::arrow::ipc::root_as_message;
use pyo3::pybacked::PyBackedBytes;

use super::not_understood;
use crate::error::{Result, argument};

/// The largest number of parts, beyond which pyarrow has to test the rows.
const MAX_PARTS: usize = 400_000;
/// The first bytes of an Arrow IPC file, which a stream follows.
const MAGIC: &[u8] = b"ARROW1\0\0";
/// The four bytes that precede each message's length.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// One part of an expression.
pub(super) enum Part {
    /// The start of a call, with the function's name, which its arguments follow.
    Call(String),
    /// A column's path, which has its name, then the names of struct fields.
    Column(Vec<String>),
    /// The number of the column that has the literal.
    Literal(usize),
    /// The number of the column that has the open call's options.
    Options(usize),
    /// The end of a call.
    End,
}

/// The parts of an expression, with its literals and options.
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    values: RecordBatch,
}

impl Parts {
    /// Reads a file that pyarrow pickled.
    pub(super) fn of_file(file: PyBackedBytes) -> Result<Self> {
        let bytes: &[u8] = &file;
        let stream = bytes.strip_prefix(MAGIC).ok_or_else(damaged)?;
        let parts = listed(stream)?;
        let mut rest = Buffer::from(Bytes::from_owner(file)).slice(MAGIC.len());
        let values = StreamDecoder::new().decode(&mut rest)?;
        Ok(Self {
            parts,
            values: values.ok_or_else(damaged)?,
        })
    }

    /// Returns the names of columns, without the fields below them.
    pub(super) fn columns(&self) -> Vec<String> {
        let paths = self.parts.iter().filter_map(|part| match part {
            Part::Column(path) => path.first().cloned(),
            _ => None,
        });
        paths.collect()
    }

    /// Returns an array of one slot that has a literal or options.
    pub(super) fn value(&self, column: usize) -> Result<&ArrayRef> {
        self.values.columns().get(column).ok_or_else(damaged)
    }
}

/// Lists the parts in the metadata of the schema, which is the first message. We decode it
/// ourselves, because schema readers keep only one pair per key.
fn listed(stream: &[u8]) -> Result<Vec<Part>> {
    let after = stream.strip_prefix(&CONTINUATION).ok_or_else(damaged)?;
    let (length, message) = after.split_first_chunk::<4>().ok_or_else(damaged)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| damaged())?;
    let message = message.get(..length).ok_or_else(damaged)?;
    let message = root_as_message(message).map_err(|_| damaged())?;
    let schema = message.header_as_schema().ok_or_else(damaged)?;
    let pairs = schema.custom_metadata().ok_or_else(damaged)?;
    if pairs.len() > MAX_PARTS {
        return Err(not_understood(format!(
            "it has {} parts; at most {MAX_PARTS} are allowed",
            pairs.len()
        )));
    }
    let mut pairs = pairs.iter();
    let mut parts = Vec::new();
    while let Some(pair) = pairs.next() {
        let (kind, text) = pair.key().zip(pair.value()).ok_or_else(damaged)?;
        parts.push(match kind {
            "call" => Part::Call(text.to_owned()),
            "field_ref" => Part::Column(vec![text.to_owned()]),
            // The names follow.
            "nested_field_ref" => {
                let names = pairs.by_ref().take(number(text)?);
                let names = names.map(|name| name.value().map(str::to_owned).ok_or_else(damaged));
                Part::Column(names.collect::<Result<_>>()?)
            }
            "literal" => Part::Literal(number(text)?),
            "options" => Part::Options(number(text)?),
            "end" => Part::End,
            _ => {
                return Err(not_understood(format!(
                    "it has a part of the kind {kind:?}"
                )));
            }
        });
    }
    Ok(parts)
}

fn number(text: &str) -> Result<usize> {
    text.parse().map_err(|_| damaged())
}

#[cold]
pub(super) fn damaged() -> crate::error::Failure {
    argument("the pickled expression does not have the form of pyarrow's")
}

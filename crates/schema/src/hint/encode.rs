//! Encoding an Arrow schema for a file's metadata, as a base64 Arrow IPC message.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use herringbone_arrow::ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use herringbone_arrow::schema::{Fields, Schema};
use herringbone_format::{Error, Result};

use super::decode::put_values;

/// The most metadata bytes that fit in a 2 GiB footer. The footer contains them twice, once plain
/// and once in base64 (4 bytes for 3).
const MAX_METADATA_BYTES: u64 = i32::MAX as u64 / 7 * 3;

/// Returns an Arrow schema in IPC form, in base64.
///
/// Fails with Unsupported if the schema is larger than 2 GiB, and with Limit if its metadata is too
/// large.
pub(crate) fn arrow_schema_text(
    fields: &Fields,
    metadata: HashMap<String, String>,
) -> Result<String> {
    let metadata = metadata.into_iter();
    text_of(
        fields,
        metadata
            .map(|(key, value)| (key, value.into_bytes()))
            .collect(),
    )
}

/// Returns the text of an Arrow schema with arbitrary bytes as metadata. Note that Arrow C++ reads
/// and writes such schemas too.
pub(crate) fn text_of(fields: &Fields, metadata: HashMap<String, Vec<u8>>) -> Result<String> {
    const CONTINUATION: [u8; 4] = [0xFF; 4];
    let lengths = metadata.iter().map(|(key, value)| key.len() + value.len());
    let bytes = lengths.sum::<usize>() as u64;
    if bytes > MAX_METADATA_BYTES {
        return Err(Error::beyond_format(
            "bytes of key-value metadata",
            bytes,
            MAX_METADATA_BYTES,
        ));
    }
    // Arrow's writer only takes text. For other bytes, we pass a placeholder of the same length and
    // patch in the bytes afterwards.
    let mut others = HashMap::new();
    let metadata = metadata.into_iter().map(|(key, value)| {
        let value = String::from_utf8(value).unwrap_or_else(|error| {
            let value = error.into_bytes();
            let place = " ".repeat(value.len());
            others.insert(key.clone(), value);
            place
        });
        (key, value)
    });
    let metadata: HashMap<String, String> = metadata.collect();
    let mut message = IpcDataGenerator::default()
        .schema_to_bytes_with_dictionary_tracker(
            &Schema::new_with_metadata(fields.clone(), metadata),
            &mut DictionaryTracker::new(false),
            &IpcWriteOptions::default(),
        )
        .ipc_message;
    if !others.is_empty() {
        put_values(&mut message, &others)
            .map_err(|why| Error::unsupported(format!("the Arrow schema for the file: {why}")))?;
    }
    let length = i32::try_from(message.len())
        .map_err(|_| Error::unsupported("an Arrow schema of more than 2 GiB"))?;
    let mut bytes = Vec::with_capacity(message.len() + 8);
    bytes.extend_from_slice(&CONTINUATION);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&message);
    Ok(STANDARD.encode(bytes))
}

//! Converts messages to record batches, keeping track of dictionaries.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::{Error, Limits, Result};
use herringbone_arrow::array::{Array, ArrayRef, RecordBatch};
use herringbone_arrow::buffer::Buffer;
#[cfg(not(feature = "arrow-60"))]
use herringbone_arrow::ipc::convert::fb_to_schema;
#[cfg(feature = "arrow-60")]
use herringbone_arrow::ipc::convert::try_fb_to_schema;
use herringbone_arrow::ipc::reader::RecordBatchDecoder;
use herringbone_arrow::ipc::{self, MessageHeader, MetadataVersion};
use herringbone_arrow::schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use herringbone_filter::concat;

use super::check::{check_batch, check_repeats};
use super::messages::Message;

/// Decodes a sequence of messages into batches.
pub(super) struct Decoder {
    pub(super) schema: SchemaRef,
    limits: Limits,
    /// Each dictionary's value type, keyed by dictionary ID.
    types: HashMap<i64, DataType>,
    dictionaries: HashMap<i64, ArrayRef>,
    /// The byte count of all messages so far.
    read: u64,
    /// The number of bytes copied to extend dictionaries.
    copied: u64,
}

impl Decoder {
    pub(super) fn new(schema: Schema, limits: Limits) -> Self {
        Self {
            types: dictionaries(&schema),
            schema: Arc::new(schema),
            limits,
            dictionaries: HashMap::new(),
            read: 0,
            copied: 0,
        }
    }

    /// Creates a decoder from a stream's first message, which contains the schema.
    pub(super) fn of_message(message: &Message, limits: Limits) -> Result<Self> {
        let root = message.root(&limits)?;
        let schema = root.header_as_schema();
        let kind = root.header_type();
        let schema = schema.ok_or_else(|| {
            Error::corrupt(format!(
                "expected a schema as the first message, found {kind:?}"
            ))
        })?;
        let schema = schema_of(schema, &limits)?;
        Ok(Self::new(schema, limits))
    }

    /// Processes a message of a stream. Streams are allowed to replace dictionaries. Returns the
    /// message's batch, if it has one.
    pub(super) fn take(&mut self, message: &Message) -> Result<Option<RecordBatch>> {
        let limits = self.limits.clone();
        let root = message.root(&limits)?;
        self.read += message.body.len() as u64;
        match root.header_type() {
            MessageHeader::RecordBatch => {
                let batch = root.header_as_record_batch().ok_or_else(no_header)?;
                let schema = self.schema.clone();
                self.decode(batch, &message.body, schema, root.version())
                    .map(Some)
            }
            MessageHeader::DictionaryBatch => {
                let (id, is_delta, values) = self.dictionary(message)?;
                if is_delta {
                    self.extend(id, &values)?;
                } else {
                    self.dictionaries.insert(id, values);
                }
                Ok(None)
            }
            kind => Err(Error::corrupt(format!(
                "expected a record batch or a dictionary, found {kind:?}"
            ))),
        }
    }

    /// Processes a dictionary of a file. Files must not replace dictionaries, because earlier
    /// batches would then use the wrong dictionary.
    pub(super) fn keep_dictionary(&mut self, message: &Message) -> Result<()> {
        self.read += message.body.len() as u64;
        let (id, is_delta, values) = self.dictionary(message)?;
        if is_delta {
            return self.extend(id, &values);
        }
        match self.dictionaries.insert(id, values) {
            None => Ok(()),
            Some(_) => Err(Error::corrupt(format!(
                "duplicate dictionary {id}; only a stream may replace a dictionary"
            ))),
        }
    }

    /// Decodes a dictionary. Returns its ID, a flag (true for a delta to append to an earlier
    /// dictionary), and the values.
    fn dictionary(&self, message: &Message) -> Result<(i64, bool, ArrayRef)> {
        let root = message.root(&self.limits)?;
        let dictionary = root.header_as_dictionary_batch().ok_or_else(no_header)?;
        let id = dictionary.id();
        let data_type = self.types.get(&id).ok_or_else(|| {
            Error::corrupt(format!("no column of the schema uses the dictionary {id}"))
        })?;
        let field = Field::new(format!("dictionary {id}"), data_type.clone(), true);
        let batch = dictionary.data().ok_or_else(no_header)?;
        let most = self.limits.dictionary_values as u64;
        let length = u64::try_from(batch.length()).unwrap_or(u64::MAX);
        if length > most {
            return Err(Error::limit("dictionary_values", length, most));
        }
        let schema = Arc::new(Schema::new(vec![field]));
        let batch = self.decode(batch, &message.body, schema, root.version())?;
        let values = batch.columns().first().cloned().ok_or_else(no_header)?;
        Ok((id, dictionary.isDelta(), values))
    }

    /// Appends values to a dictionary. Since this copies the dictionary, many small deltas would be
    /// quadratic, so we limit the total size of copies in proportion to the message bytes.
    fn extend(&mut self, id: i64, values: &ArrayRef) -> Result<()> {
        let earlier = self.dictionaries.get(&id);
        let earlier = earlier.ok_or_else(|| {
            Error::corrupt(format!("values are added to the missing dictionary {id}"))
        })?;
        let parts = [earlier.clone(), values.clone()];
        let bytes = earlier.to_data().get_slice_memory_size();
        let bytes = bytes.unwrap_or(usize::MAX);
        self.copied = self.copied.saturating_add(bytes as u64);
        let ratio = self.limits.overlap_ratio as u64;
        let granted = self.limits.memory_bytes;
        let most = self.read.saturating_mul(ratio).saturating_add(granted);
        if self.copied > most {
            return Err(Error::limit("memory_bytes", self.copied, granted));
        }
        if let Some(joined) = concat(&parts)? {
            self.dictionaries.insert(id, joined);
        }
        Ok(())
    }

    fn decode(
        &self,
        batch: ipc::RecordBatch<'_>,
        body: &Buffer,
        schema: SchemaRef,
        version: MetadataVersion,
    ) -> Result<RecordBatch> {
        check_batch(&batch, body, &schema, version, &self.limits)?;
        let dictionaries = &self.dictionaries;
        let decoder = RecordBatchDecoder::try_new(body, batch, schema, dictionaries, &version);
        let batch = decoder.and_then(RecordBatchDecoder::read_record_batch);
        let batch = batch.map_err(|error| arrow_error(&error))?;
        check_repeats(&batch, &self.limits)?;
        Ok(batch)
    }
}

fn no_header() -> Error {
    Error::corrupt("a message lacks its header")
}

fn arrow_error(error: &ArrowError) -> Error {
    Error::corrupt(error.to_string())
}

/// Converts a schema. Note that Arrow 59 panics if a part is missing. `guarded` turns this into an
/// error.
#[cfg(not(feature = "arrow-60"))]
fn try_fb_to_schema(schema: ipc::Schema<'_>) -> std::result::Result<Schema, ArrowError> {
    Ok(fb_to_schema(schema))
}

/// Returns a flatbuffer's schema after checking its types.
pub(super) fn schema_of(schema: ipc::Schema<'_>, limits: &Limits) -> Result<Schema> {
    if !schema.endianness().equals_to_target_endianness() {
        return Err(Error::unsupported(
            "big-endian Arrow data; pyarrow can read and rewrite it",
        ));
    }
    let schema = try_fb_to_schema(schema).map_err(|error| arrow_error(&error))?;
    let fields = schema.flattened_fields();
    if fields.len() > limits.schema_nodes {
        let (found, most) = (fields.len() as u64, limits.schema_nodes as u64);
        return Err(Error::limit("schema_nodes", found, most));
    }
    for field in fields {
        check_type(field)?;
    }
    Ok(schema)
}

/// Checks a type's parameters.
fn check_type(field: &Field) -> Result<()> {
    let is_sound = match field.data_type() {
        DataType::FixedSizeBinary(size) | DataType::FixedSizeList(_, size) => *size >= 0,
        DataType::Decimal32(precision, _) => (1..=9).contains(precision),
        DataType::Decimal64(precision, _) => (1..=18).contains(precision),
        DataType::Decimal128(precision, _) => (1..=38).contains(precision),
        DataType::Decimal256(precision, _) => (1..=76).contains(precision),
        _ => true,
    };
    match is_sound {
        true => Ok(()),
        false => {
            let (name, data_type) = (field.name(), field.data_type());
            Err(Error::corrupt(format!(
                "column `{name}`: invalid type {data_type}"
            )))
        }
    }
}

/// Returns each dictionary's value type.
#[expect(deprecated, reason = "a field has no other way to its dictionary")]
fn dictionaries(schema: &Schema) -> HashMap<i64, DataType> {
    let mut types = HashMap::new();
    for field in schema.flattened_fields() {
        if let (Some(id), DataType::Dictionary(_, values)) = (field.dict_id(), field.data_type()) {
            types.entry(id).or_insert_with(|| values.as_ref().clone());
        }
    }
    types
}

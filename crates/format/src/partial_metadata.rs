//! What is left of a file's metadata whose end is lost, or in which something is damaged.

use crate::{
    KeyValue, Limits, Result, RowGroup, SchemaElement,
    schema_element::{lossy_text, read_schema},
    thrift::{CompactReader, Value, Wire},
};

/// The front part of a file's metadata, as far as it can be decoded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PartialMetadata {
    /// The nodes of the schema tree.
    pub schema: Vec<SchemaElement>,
    /// Rows in the file, if that is left.
    pub num_rows: Option<i64>,
    /// The row groups up to the first one that cannot be decoded.
    pub row_groups: Vec<RowGroup>,
    /// What the writer added, if that is left.
    pub key_value_metadata: Vec<KeyValue>,
    /// Which program wrote the file, if that is left.
    pub created_by: Option<String>,
}

impl PartialMetadata {
    /// Decodes what is left at the start of `bytes`; `None` where not even the schema is.
    #[must_use]
    pub fn decode(bytes: &[u8], limits: &Limits) -> Option<Self> {
        let mut reader = CompactReader::new(bytes, limits.schema_depth);
        let mut schema = None;
        let mut partial = Self {
            schema: Vec::new(),
            num_rows: None,
            row_groups: Vec::new(),
            key_value_metadata: Vec::new(),
            created_by: None,
        };
        // Whatever ends it, what came before is kept.
        partial.fields(&mut reader, limits, &mut schema).ok();
        partial.schema = schema?;
        Some(partial)
    }

    fn fields(
        &mut self,
        reader: &mut CompactReader<'_>,
        limits: &Limits,
        schema: &mut Option<Vec<SchemaElement>>,
    ) -> Result<()> {
        let mut last = 0;
        while let Some(field) = reader.field(&mut last)? {
            match field.id {
                2 => {
                    let elements = read_schema(reader, field.wire)?;
                    if elements.len() > limits.schema_nodes {
                        return Ok(());
                    }
                    *schema = Some(elements);
                }
                3 => self.num_rows = Some(i64::read(reader, field.wire)?),
                4 if field.wire == Wire::List => {
                    let (wire, size) = reader.list()?;
                    for _ in 0..size.min(limits.row_groups) {
                        self.row_groups.push(RowGroup::read(reader, wire)?);
                    }
                }
                5 if field.wire == Wire::List => {
                    self.key_value_metadata = Vec::read(reader, field.wire)?;
                }
                6 if field.wire == Wire::Binary => {
                    self.created_by = Some(lossy_text(reader, field.wire)?);
                }
                _ => reader.skip(field.wire)?,
            }
        }
        Ok(())
    }
}

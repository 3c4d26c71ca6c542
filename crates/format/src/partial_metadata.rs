//! Partial metadata, recovered from a damaged or truncated file.

use crate::{
    KeyValue, Limits, Result, RowGroup, SchemaElement,
    schema_element::{lossy_text, read_schema},
    thrift::{CompactReader, Value, Wire},
};

/// The beginning of a file's metadata, up to the first part that cannot be decoded. Use this to recover as much as
/// possible from a damaged footer.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::Limits;
/// use herringbone::format::PartialMetadata;
///
/// let file = std::fs::read("testdata/example.parquet")?;
/// let (start, tail) = file.split_at(file.len() - 8);
/// let length = u32::from_le_bytes(tail[..4].try_into()?) as usize;
/// let footer = &start[start.len() - length..];
/// // The second half of the footer is lost.
/// let half = &footer[..footer.len() / 2];
/// let partial = PartialMetadata::decode(half, &Limits::default()).ok_or("no schema")?;
/// assert_eq!(partial.num_rows, Some(24));
/// assert!(partial.row_groups.len() < 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PartialMetadata {
    /// The schema tree's nodes.
    pub schema: Vec<SchemaElement>,
    /// The file's row count, if it was decoded.
    pub num_rows: Option<i64>,
    /// The row groups before any that cannot be decoded.
    pub row_groups: Vec<RowGroup>,
    /// The key-value pairs added by the writer, if decoded.
    pub key_value_metadata: Vec<KeyValue>,
    /// The program that wrote the file, if decoded.
    pub created_by: Option<String>,
}

impl PartialMetadata {
    /// Decodes as much as possible from the start of `bytes`. Returns `None` if the schema cannot be decoded.
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
        // We ignore an error, because everything decoded before it is still useful.
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

//! `meta` prints a file's complete metadata as JSON.
//!
//! We stream the document while decoding the footer, one column chunk at a time, because the JSON
//! is many times the size of the footer.

use std::cell::RefCell;

use herringbone::ParquetFile;
use herringbone::format::{FileMetadata, FooterExtension};
use serde::ser::{Error as _, Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::Value;

use crate::base::failure::{Failure, Result};
use crate::base::printable::write_json;
use crate::describe::bound::Bounds;
use crate::describe::chunk::{column_chunk, key_values, row_group};
use crate::describe::index::{bloom_filter_header, column_index, offset_index};
use crate::describe::schema::element;
use crate::describe::{FORMAT_VERSION, Object, base64, list};
use crate::input::Input;
use crate::output::Output;

/// The extent and style of the output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// True to include page indexes and bloom filter headers.
    pub(crate) indexes: bool,
    /// True to indent the document.
    pub(crate) pretty: bool,
}

/// Prints a document for each file.
pub(crate) fn run(inputs: &[Input], options: Options, output: &mut Output<'_>) -> Result<()> {
    let pretty = options.pretty || output.is_terminal();
    for input in inputs {
        let file = input.open()?;
        let document = Document {
            input,
            file: &file,
            options,
            failure: RefCell::new(None),
        };
        if let Err(error) = write_json(output.writer(), &document, pretty) {
            return Err(document
                .failure
                .take()
                .unwrap_or_else(|| Failure::output(output.name(), &error.into())));
        }
        output.write(b"\n")?;
    }
    Ok(())
}

struct Document<'a> {
    input: &'a Input,
    file: &'a ParquetFile,
    options: Options,
    /// The reason why the document is incomplete, unless the output failed.
    failure: RefCell<Option<Failure>>,
}

impl Document<'_> {
    fn metadata(&self) -> &FileMetadata {
        self.file.metadata()
    }

    /// Records a library error on the side. The serializer would only pass on its text, but we need
    /// its kind for the exit code.
    fn checked<T, E: serde::ser::Error>(&self, result: herringbone::Result<T>) -> Result<T, E> {
        result.map_err(|error| {
            self.failure.replace(Some(self.input.failure(&error)));
            E::custom("the metadata cannot be read")
        })
    }

    fn column(&self, row_group: usize, leaf: usize) -> herringbone::Result<Value> {
        let schema = self.file.parquet_schema();
        let bounds = Bounds::of(schema, leaf);
        let chunk = self.metadata().column_chunk(row_group, leaf)?;
        let mut object = column_chunk(&bounds, &chunk);
        // A row group can claim more columns than the schema has, and the extra columns have no
        // index.
        if self.options.indexes && leaf < schema.leaves().len() {
            let file = self.file;
            let columns = file.column_index(row_group, leaf)?;
            let offsets = file.offset_index(row_group, leaf)?;
            let bloom = file.bloom_filter_header(row_group, leaf)?;
            object = object
                .some(
                    "column_index",
                    columns.map(|columns| column_index(&bounds, &columns)),
                )
                .some(
                    "offset_index",
                    offsets.map(|offsets| offset_index(&offsets)),
                )
                .some(
                    "bloom_filter_header",
                    bloom.map(|bloom| bloom_filter_header(&bloom)),
                );
        }
        Ok(object.into())
    }
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let metadata = self.metadata();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("format_version", &FORMAT_VERSION)?;
        map.serialize_entry("file", &self.input.name)?;
        map.serialize_entry("file_size", &self.input.size)?;
        map.serialize_entry("metadata_size", &metadata.encoded_len())?;
        map.serialize_entry("version", &metadata.version())?;
        if let Some(created_by) = metadata.created_by() {
            map.serialize_entry("created_by", created_by)?;
        }
        map.serialize_entry("num_rows", &metadata.num_rows())?;
        map.serialize_entry(
            "key_value_metadata",
            &key_values(metadata.key_value_metadata()),
        )?;
        if let Some(orders) = metadata.column_orders() {
            map.serialize_entry("column_orders", &list(orders, ToString::to_string))?;
        }
        if let Some(bytes) = metadata.encryption_algorithm() {
            map.serialize_entry("encryption_algorithm", &base64(bytes))?;
        }
        if let Some(bytes) = metadata.footer_signing_key_metadata() {
            map.serialize_entry("footer_signing_key_metadata", &base64(bytes))?;
        }
        if let Some(extension) = metadata.extension() {
            let object = Object::new()
                .with("field", FooterExtension::FIELD)
                .with("size", extension.bytes().len())
                .some("uuid", extension.uuid());
            map.serialize_entry("extension", &Value::from(object))?;
        }
        map.serialize_entry("schema", &list(metadata.schema(), element))?;
        map.serialize_entry("row_groups", &RowGroups(self))?;
        map.end()
    }
}

struct RowGroups<'a>(&'a Document<'a>);

impl Serialize for RowGroups<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = self.0.metadata().num_row_groups();
        let mut sequence = serializer.serialize_seq(Some(count))?;
        for ordinal in 0..count {
            sequence.serialize_element(&RowGroup {
                document: self.0,
                ordinal,
            })?;
        }
        sequence.end()
    }
}

struct RowGroup<'a> {
    document: &'a Document<'a>,
    ordinal: usize,
}

impl Serialize for RowGroup<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let header = self.document.metadata().row_group_header(self.ordinal);
        let header = self.document.checked(header)?;
        let mut map = serializer.serialize_map(None)?;
        let Value::Object(fields) = row_group(header).into() else {
            return Err(S::Error::custom("a row group is an object"));
        };
        for (name, value) in &fields {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("columns", &Columns(self))?;
        map.end()
    }
}

struct Columns<'a>(&'a RowGroup<'a>);

impl Serialize for Columns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RowGroup { document, ordinal } = *self.0;
        let count = document.metadata().num_columns(ordinal);
        let mut sequence = serializer.serialize_seq(Some(count))?;
        for leaf in 0..count {
            sequence.serialize_element(&document.checked(document.column(ordinal, leaf))?)?;
        }
        sequence.end()
    }
}

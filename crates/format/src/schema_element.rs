//! The nodes of the schema, and key-value pairs.

use crate::{
    ConvertedType, LogicalType, Repetition, Result, Type,
    thrift::{CompactReader, CompactWriter, Value, Wire, required, thrift_struct},
};

thrift_struct! {
    /// One node of the schema tree; the tree is stored as a list, depth first.
    ///
    /// Nothing here is checked against the other elements: `num_children` may be negative or absurd.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct SchemaElement {
        /// The physical type of a leaf; absent on a group.
        1: optional type_: Type,
        /// Bytes a value of a FIXED_LEN_BYTE_ARRAY.
        2: optional type_length: i32,
        /// How often the field occurs in its parent; absent on the root.
        3: optional repetition_type: Repetition,
        /// The field's name.
        4: required name: String,
        /// How many fields a group has; absent on a leaf.
        5: optional num_children: i32,
        /// The older annotation.
        6: optional converted_type: ConvertedType,
        /// Digits right of the point, for [`ConvertedType::Decimal`].
        7: optional scale: i32,
        /// Digits in all, for [`ConvertedType::Decimal`].
        8: optional precision: i32,
        /// The field's id in the original schema.
        9: optional field_id: i32,
        /// The annotation; wins over `converted_type`.
        10: optional logical_type: LogicalType,
    }
}

/// A key and its value, from the writer for its readers. Writers put what they like into it, so
/// bytes that are not UTF-8 are no error: they are replaced by U+FFFD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyValue {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Option<String>,
}

impl KeyValue {
    /// Writes it as a struct of the compact protocol.
    pub fn encode(&self, writer: &mut CompactWriter) {
        self.write(writer);
    }
}

impl Value for KeyValue {
    const WIRE: Wire = Wire::Struct;

    fn read(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Self> {
        reader.expect(wire, Wire::Struct)?;
        let (mut key, mut value, mut last) = (None, None, 0);
        while let Some(field) = reader.field(&mut last)? {
            match field.id {
                1 if field.wire == Wire::Binary => key = Some(lossy_text(reader, field.wire)?),
                2 if field.wire == Wire::Binary => value = Some(lossy_text(reader, field.wire)?),
                _ => reader.skip(field.wire)?,
            }
        }
        Ok(Self {
            key: required(reader, "KeyValue.key", key)?,
            value,
        })
    }

    fn write(&self, writer: &mut CompactWriter) {
        writer.begin_struct();
        self.key.write_field(writer, 1);
        if let Some(value) = &self.value {
            value.write_field(writer, 2);
        }
        writer.end_struct();
    }
}

/// Text for people, where bytes that are not UTF-8 must not make a file unreadable.
pub(crate) fn lossy_text(reader: &mut CompactReader<'_>, wire: Wire) -> Result<String> {
    reader.expect(wire, Wire::Binary)?;
    // Looking for bytes to replace takes several times as long as finding that there are none.
    reader.binary().map(|bytes| match str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    })
}

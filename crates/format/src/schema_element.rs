//! Schema nodes and key-value pairs.

use crate::{
    ConvertedType, LogicalType, Repetition, Result, Type,
    thrift::{CompactReader, CompactWriter, Value, Wire, required, thrift_struct},
};

/// The repetition used by some writers for a root without one.
const NO_REPETITION: i32 = -1;

thrift_struct! {
    /// A node of the schema tree, which is stored as a list in depth-first order.
    ///
    /// Elements aren't checked against each other, so `num_children` can be negative or too large.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub struct SchemaElement {
        /// The physical type of a leaf. It is absent on a group.
        1: optional type_: Type,
        /// The number of bytes per value of a FIXED_LEN_BYTE_ARRAY.
        2: optional type_length: i32,
        /// The number of times that the field occurs in its parent. It is absent on the root.
        3: optional repetition_type: Repetition,
        /// The field name.
        4: required name: String,
        /// The number of fields in a group. It is absent on a leaf.
        5: optional num_children: i32,
        /// The older annotation.
        6: optional converted_type: ConvertedType,
        /// The number of digits after the decimal point, for [`ConvertedType::Decimal`].
        7: optional scale: i32,
        /// The total number of digits, for [`ConvertedType::Decimal`].
        8: optional precision: i32,
        /// The field's id in the original schema.
        9: optional field_id: i32,
        /// The annotation. This takes precedence over `converted_type`.
        10: optional logical_type: LogicalType,
    }
}

impl SchemaElement {
    /// Returns the heap bytes used by the element.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let logical_type = self.logical_type.as_ref();
        self.name.capacity() + logical_type.map_or(0, LogicalType::heap_bytes)
    }
}

thrift_struct! {
    /// The root as stored in the file. Some writers bend the rules here, since its fields aren't needed.
    struct Root {
        1: optional type_: Type,
        2: optional type_length: i32,
        3: optional repetition_type: i32,
        4: required name: String,
        5: optional num_children: i32,
        6: optional converted_type: ConvertedType,
        7: optional scale: i32,
        8: optional precision: i32,
        9: optional field_id: i32,
        10: optional logical_type: LogicalType,
    }
}

impl Root {
    /// Returns the element. This removes a repetition of -1, and the type if there are children.
    fn element(self, reader: &CompactReader<'_>) -> Result<SchemaElement> {
        let repetition_type = match self.repetition_type {
            None | Some(NO_REPETITION) => None,
            Some(id) => Some(Repetition::known(id, reader)?),
        };
        let has_children = self.num_children.is_some_and(|children| children > 0);
        Ok(SchemaElement {
            type_: self.type_.filter(|_| !has_children),
            type_length: self.type_length,
            repetition_type,
            name: self.name,
            num_children: self.num_children,
            converted_type: self.converted_type,
            scale: self.scale,
            precision: self.precision,
            field_id: self.field_id,
            logical_type: self.logical_type,
        })
    }
}

/// Reads all nodes of a schema, starting with its root.
pub(crate) fn read_schema(
    reader: &mut CompactReader<'_>,
    wire: Wire,
) -> Result<Vec<SchemaElement>> {
    reader.expect(wire, Wire::List)?;
    let (wire, size) = reader.list()?;
    // An element is larger in memory than in the file, so we don't trust the claimed number of elements when reserving
    // memory.
    let reserve = size.min(reader.remaining() / size_of::<SchemaElement>() + 1);
    let mut elements = Vec::with_capacity(reserve);
    for ordinal in 0..size {
        elements.push(match ordinal {
            0 => Root::read_element(reader, wire)?.element(reader)?,
            _ => SchemaElement::read_element(reader, wire)?,
        });
    }
    Ok(elements)
}

/// A key-value pair added by the writer for its readers. Values should be UTF-8, but in practice writers put any bytes
/// there.
///
/// ```
/// use herringbone_format::KeyValue;
///
/// assert_eq!(KeyValue::new("writer", "a program").text(), Some("a program"));
/// assert_eq!(KeyValue::new("pickle", [0x80, 0x04]).text(), None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyValue {
    /// The key, with invalid UTF-8 replaced by U+FFFD.
    pub key: String,
    /// The value's bytes.
    pub value: Option<Vec<u8>>,
}

impl KeyValue {
    /// Creates a pair with a key and a value.
    #[must_use]
    pub fn new(key: impl Into<String>, value: impl Into<Vec<u8>>) -> Self {
        Self {
            key: key.into(),
            value: Some(value.into()),
        }
    }

    /// Creates a pair without a value.
    #[must_use]
    pub fn without_value(key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            value: None,
        }
    }

    /// Returns the value, if there is one and it is UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        str::from_utf8(self.value.as_deref()?).ok()
    }

    /// Writes the pair as a struct in the compact protocol.
    pub fn encode(&self, writer: &mut CompactWriter) {
        self.write(writer);
    }
}

impl<K: Into<String>, V: Into<Vec<u8>>> From<(K, V)> for KeyValue {
    /// Creates a pair with a key and a value.
    fn from((key, value): (K, V)) -> Self {
        Self::new(key, value)
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
                2 if field.wire == Wire::Binary => value = Some(reader.binary()?.to_vec()),
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
            writer.field(2, Wire::Binary);
            writer.binary(value);
        }
        writer.end_struct();
    }
}

/// Reads human-readable text. Invalid UTF-8 in such text must not make the file unreadable.
pub(crate) fn lossy_text(reader: &mut CompactReader<'_>, wire: Wire) -> Result<String> {
    reader.expect(wire, Wire::Binary)?;
    // We validate first, because lossy conversion takes several times as long even for valid text.
    reader.binary().map(|bytes| match str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    })
}

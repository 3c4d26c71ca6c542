//! Reads bytes in base64, UUIDs and geometries.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use herringbone::format::uuid;
use herringbone::geospatial::wkt;
use herringbone_arrow::array::builder::{
    BinaryBuilder, BinaryViewBuilder, FixedSizeBinaryBuilder, LargeBinaryBuilder,
};
use herringbone_arrow::array::{ArrayRef, BinaryArray};
use herringbone_arrow::schema::{DataType, Field};

use super::{Column, ParseError, Result, Scalar};
use crate::write::geometry::is_geometry;

/// A column of bytes.
pub(super) struct Bytes<B> {
    builder: B,
    text: BytesText,
}

/// The textual form of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BytesText {
    Base64,
    Uuid,
    /// Well-known text, or base64 for geometries without such a text.
    Wkt,
}

impl BytesText {
    pub(super) fn of(field: &Field) -> Self {
        match field.extension_type_name() {
            Some("arrow.uuid") => Self::Uuid,
            _ if is_geometry(field) => Self::Wkt,
            _ => Self::Base64,
        }
    }

    fn read(self, text: &str) -> Result<Vec<u8>, (&'static str, String)> {
        let in_base64 = || STANDARD.decode(text).ok();
        match self {
            Self::Base64 => in_base64().ok_or(("bytes in base64", String::new())),
            Self::Uuid => {
                let uuid = uuid::parse(text).map(Vec::from);
                uuid.ok_or(("UUID", String::new()))
            }
            Self::Wkt => {
                let mut value = Vec::new();
                match wkt::read(text, &mut value) {
                    Ok(()) => Ok(value),
                    Err(error) => {
                        let why = error.message().to_owned();
                        in_base64().ok_or(("geometry in well-known text", why))
                    }
                }
            }
        }
    }
}

impl<B> Bytes<B> {
    pub(super) fn new(builder: B, text: BytesText) -> Self {
        Self { builder, text }
    }
}

/// A builder that collects byte strings.
pub(super) trait Builder {
    fn null(&mut self);
    fn value(&mut self, bytes: &[u8]) -> Result<(), String>;
    fn array(&mut self) -> ArrayRef;
}

/// Implements the builders for bytes of any length.
macro_rules! any_length {
    ($($builder:ty)*) => {$(
        impl Builder for $builder {
            fn null(&mut self) {
                self.append_null();
            }

            fn value(&mut self, bytes: &[u8]) -> Result<(), String> {
                self.append_value(bytes);
                Ok(())
            }

            fn array(&mut self) -> ArrayRef {
                Arc::new(self.finish())
            }
        }
    )*};
}

any_length! { BinaryBuilder LargeBinaryBuilder BinaryViewBuilder }

impl Builder for FixedSizeBinaryBuilder {
    fn null(&mut self) {
        self.append_null();
    }

    fn value(&mut self, bytes: &[u8]) -> Result<(), String> {
        let count = bytes.len();
        self.append_value(bytes)
            .map_err(|_| format!("it has {count} bytes"))
    }

    fn array(&mut self) -> ArrayRef {
        Arc::new(self.finish())
    }
}

impl<B: Builder> Column for Bytes<B> {
    fn null(&mut self) {
        self.builder.null();
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        let (Scalar::Text(text) | Scalar::Cell(text)) = scalar else {
            return Err(ParseError::invalid(scalar, &"string", "expected base64"));
        };
        let bytes = self.text.read(text);
        let bytes = bytes.map_err(|(what, why)| ParseError::invalid(scalar, &what, &why))?;
        let appended = self.builder.value(&bytes);
        appended.map_err(|why| ParseError::invalid(scalar, &"value of the column's length", &why))
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        Ok(self.builder.array())
    }
}

/// Returns an array with the bytes in a literal such as `x'00ff'`. Returns `None` if the text isn't
/// a literal or the field isn't binary.
pub(super) fn of_hex_literal(field: &Field, text: &str) -> Option<Result<ArrayRef, String>> {
    let digits = text.strip_prefix(['x', 'X'])?.strip_prefix('\'')?;
    let bytes = hex(digits.strip_suffix('\'')?)?;
    match field.data_type() {
        DataType::Binary => Some(Ok(Arc::new(BinaryArray::from_iter_values([bytes])))),
        DataType::FixedSizeBinary(length) => {
            let mut builder = FixedSizeBinaryBuilder::new(*length);
            let value = Builder::value(&mut builder, &bytes);
            let value = value.map_err(|why| format!("{why}, but each value has {length}"));
            Some(value.map(|()| builder.array()))
        }
        _ => None,
    }
}

/// Decodes hexadecimal digits, two per byte.
pub fn hex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? * 16 + digit(*low)?).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

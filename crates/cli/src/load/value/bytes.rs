//! Bytes in base64, UUIDs and geometries.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use herringbone::geospatial::wkt;
use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::array::builder::{
    BinaryBuilder, BinaryViewBuilder, FixedSizeBinaryBuilder, LargeBinaryBuilder,
};

use herringbone_arrow::schema::Field;

use super::{Column, Result, Scalar, Wrong};
use crate::render::geometry::is_geometry;

/// A column of bytes.
pub(super) struct Bytes<B> {
    builder: B,
    text: BytesText,
}

/// What stands for bytes in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BytesText {
    Base64,
    Uuid,
    /// Well-known text; else base64, as of geometries that have no such text.
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
            Self::Uuid => uuid(text).ok_or(("UUID", String::new())),
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

/// What collects bytes.
pub(super) trait Builder {
    fn null(&mut self);
    fn value(&mut self, bytes: &[u8]) -> Result<(), String>;
    fn array(&mut self) -> ArrayRef;
}

/// Builders of bytes of any length.
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
            .map_err(|_| format!("these are {count} bytes"))
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
            return Err(Wrong::misfit(scalar, &"string", "bytes are base64"));
        };
        let bytes = self.text.read(text);
        let bytes = bytes.map_err(|(what, why)| Wrong::misfit(scalar, &what, &why))?;
        let appended = self.builder.value(&bytes);
        appended.map_err(|why| Wrong::misfit(scalar, &"value of the column's length", &why))
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        Ok(self.builder.array())
    }
}

/// The bytes of `00112233-4455-6677-8899-aabbccddeeff`.
fn uuid(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.split('-').collect();
    let dashes = [8, 13, 18, 23];
    let fits = text.len() == 36
        && dashes
            .iter()
            .all(|at| text.as_bytes().get(*at) == Some(&b'-'));
    if !fits || digits.len() != 32 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    (0..32).step_by(2).map(byte).collect()
}

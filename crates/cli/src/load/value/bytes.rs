//! Bytes in base64, and UUIDs.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::array::builder::{
    BinaryBuilder, BinaryViewBuilder, FixedSizeBinaryBuilder, LargeBinaryBuilder,
};

use super::{Column, Result, Scalar, Wrong};

/// A column of bytes.
pub(super) struct Bytes<B> {
    builder: B,
    uuid: bool,
}

impl<B> Bytes<B> {
    pub(super) fn new(builder: B, uuid: bool) -> Self {
        Self { builder, uuid }
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
        let bytes = if self.uuid {
            uuid(text).ok_or_else(|| Wrong::misfit(scalar, &"UUID", ""))?
        } else {
            let bytes = STANDARD.decode(text);
            bytes.map_err(|_| Wrong::misfit(scalar, &"bytes in base64", ""))?
        };
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

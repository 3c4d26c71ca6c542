//! Builds columns of text, and columns of only nulls.

use std::sync::Arc;

use herringbone_arrow::array::builder::{LargeStringBuilder, StringBuilder, StringViewBuilder};
use herringbone_arrow::array::{ArrayRef, NullArray};

use super::{Column, ParseError, Result, Scalar};

/// A column of text.
pub(super) struct Texts<B> {
    builder: B,
    /// True to accept numbers and booleans as text too.
    any: bool,
}

impl<B> Texts<B> {
    pub(super) fn new(builder: B, any: bool) -> Self {
        Self { builder, any }
    }
}

/// Implements the columns of text, one per layout.
macro_rules! texts {
    ($($builder:ty)*) => {$(
        impl Column for Texts<$builder> {
            fn null(&mut self) {
                self.builder.append_null();
            }

            fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
                if !self.any && matches!(scalar, Scalar::Boolean(_) | Scalar::Number(_)) {
                    return Err(ParseError::invalid(scalar, &"string", ""));
                }
                self.builder.append_value(scalar.text());
                Ok(())
            }

            fn usual(&mut self, text: &str) -> bool {
                self.builder.append_value(text);
                true
            }

            fn finish(&mut self) -> Result<ArrayRef> {
                Ok(Arc::new(self.builder.finish()))
            }
        }
    )*};
}

texts! { StringBuilder LargeStringBuilder StringViewBuilder }

/// A column of nulls.
#[derive(Default)]
pub(super) struct Nulls(usize);

impl Column for Nulls {
    fn null(&mut self) {
        self.0 += 1;
    }

    fn scalar(&mut self, scalar: Scalar<'_>) -> Result<()> {
        Err(ParseError::invalid(scalar, &"null", ""))
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        Ok(Arc::new(NullArray::new(std::mem::take(&mut self.0))))
    }
}

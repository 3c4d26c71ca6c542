//! Reads and writes all-null columns of any physical type (LogicalTypes, "UNKNOWN (always null)"). A value in the file
//! is an error, because it would be lost.

use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, NullArray};
use herringbone_arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};
use herringbone_format::{Encoding, Error, Remedy, Result, Type};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_schema::WriteLeaf;

use super::LeafArray;
use crate::encoding::Rest;
use crate::encoding::physical_values::Values;

/// An array of nulls.
#[derive(Default)]
pub(super) struct NullLeaf {
    slots: usize,
}

impl LeafArray for NullLeaf {
    fn set_dictionary(&mut self, _values: &Buffer, _num_values: usize) -> Result<()> {
        Ok(())
    }

    fn set_page(&mut self, _encoding: Encoding, _values: Buffer, _n: usize) -> Result<()> {
        Ok(())
    }

    fn release_page(&mut self) {}

    fn most_bytes(&mut self, _n: usize) -> usize {
        0
    }

    fn append(&mut self, n: usize) -> Result<()> {
        match n {
            0 => Ok(()),
            _ => {
                let message = format!("{n} values in an UNKNOWN column, which can hold only nulls");
                Err(Error::corrupt(message).with_remedy(Remedy::IgnoreAnnotations))
            }
        }
    }

    fn skip(&mut self, _n: usize) -> Result<()> {
        Ok(())
    }

    fn rest(&self) -> Rest<'_> {
        Rest::Nothing
    }

    fn expand(&mut self, validity: &Bitmap, start: usize, slots: usize) -> Result<()> {
        self.slots += slots - validity.set_in(start..start.saturating_add(slots));
        Ok(())
    }

    fn append_wanted(&mut self, wanted: &BooleanBuffer) -> Result<()> {
        self.append(wanted.len())
    }

    fn bytes(&self) -> usize {
        0
    }

    fn finish(&mut self, _nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        Ok(Arc::new(NullArray::new(std::mem::take(&mut self.slots))))
    }
}

/// Returns the values of an all-null column, that is, none.
pub(super) fn values(leaf: &WriteLeaf, width: usize) -> Values<'static> {
    match leaf.physical_type {
        Type::Boolean => Values::Boolean {
            bits: &[],
            first: 0,
            len: 0,
        },
        Type::Int32 => Values::Int32(&[]),
        Type::Int64 => Values::Int64(&[]),
        Type::Float => Values::Float(&[]),
        Type::Double => Values::Double(&[]),
        Type::ByteArray => Values::ByteArray(Vec::new()),
        Type::Int96 | Type::FixedLenByteArray => Values::Fixed { bytes: &[], width },
    }
}

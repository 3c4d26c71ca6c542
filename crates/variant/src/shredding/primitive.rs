//! Builds the columns that primitive values are shredded into.

use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::array::builder::{
    ArrayBuilder as _, BinaryViewBuilder, BooleanBuilder, FixedSizeBinaryBuilder, PrimitiveBuilder,
    StringViewBuilder,
};
use herringbone_arrow::array::types::{
    Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use herringbone_format::{Error, Result};

use super::of_arrow;
use crate::cast::{PrimitiveType, Scalar};
use crate::types::{id, primitive_header};
use crate::value::{integer, text};

const TRUE: u8 = primitive_header(id::TRUE);
const FALSE: u8 = primitive_header(id::FALSE);
const DOUBLE: u8 = primitive_header(id::DOUBLE);

/// A column builder for one of the primitive types.
pub(super) enum PrimitiveColumn {
    Boolean(BooleanBuilder),
    Int8(PrimitiveBuilder<Int8Type>),
    Int16(PrimitiveBuilder<Int16Type>),
    Int32(PrimitiveBuilder<Int32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    Float(PrimitiveBuilder<Float32Type>),
    Double(PrimitiveBuilder<Float64Type>),
    Decimal4(PrimitiveBuilder<Decimal32Type>),
    Decimal8(PrimitiveBuilder<Decimal64Type>),
    Decimal16(PrimitiveBuilder<Decimal128Type>),
    Date(PrimitiveBuilder<Date32Type>),
    Time(PrimitiveBuilder<Time64MicrosecondType>),
    Micros(PrimitiveBuilder<TimestampMicrosecondType>),
    Nanos(PrimitiveBuilder<TimestampNanosecondType>),
    String(StringViewBuilder),
    Binary(BinaryViewBuilder),
    Uuid(FixedSizeBinaryBuilder),
}

/// Applies an expression to a column of any type.
macro_rules! any {
    ($columns:expr, $column:ident => $work:expr) => {
        match $columns {
            Self::Boolean($column) => $work,
            Self::Int8($column) => $work,
            Self::Int16($column) => $work,
            Self::Int32($column) => $work,
            Self::Int64($column) => $work,
            Self::Float($column) => $work,
            Self::Double($column) => $work,
            Self::Decimal4($column) => $work,
            Self::Decimal8($column) => $work,
            Self::Decimal16($column) => $work,
            Self::Date($column) => $work,
            Self::Time($column) => $work,
            Self::Micros($column) => $work,
            Self::Nanos($column) => $work,
            Self::String($column) => $work,
            Self::Binary($column) => $work,
            Self::Uuid($column) => $work,
        }
    };
}

impl PrimitiveColumn {
    /// Creates a column with capacity for `capacity` values.
    pub(super) fn with_capacity(primitive: PrimitiveType, capacity: usize) -> Self {
        use PrimitiveType as T;
        macro_rules! values {
            () => {
                PrimitiveBuilder::with_capacity(capacity)
            };
            (of its type) => {
                values!().with_data_type(primitive.data_type())
            };
        }
        match primitive {
            T::Boolean => Self::Boolean(BooleanBuilder::with_capacity(capacity)),
            T::Int8 => Self::Int8(values!()),
            T::Int16 => Self::Int16(values!()),
            T::Int32 => Self::Int32(values!()),
            T::Int64 => Self::Int64(values!()),
            T::Float => Self::Float(values!()),
            T::Double => Self::Double(values!()),
            T::Decimal { precision, .. } => match precision {
                0..=9 => Self::Decimal4(values!(of its type)),
                10..=18 => Self::Decimal8(values!(of its type)),
                _ => Self::Decimal16(values!(of its type)),
            },
            T::Date => Self::Date(values!()),
            T::Time => Self::Time(values!()),
            T::Timestamp { nanos: false, .. } => Self::Micros(values!(of its type)),
            T::Timestamp { nanos: true, .. } => Self::Nanos(values!(of its type)),
            T::String => Self::String(StringViewBuilder::with_capacity(capacity)),
            T::Binary => Self::Binary(BinaryViewBuilder::with_capacity(capacity)),
            T::Uuid => Self::Uuid(FixedSizeBinaryBuilder::with_capacity(capacity, 16)),
        }
    }

    /// Returns the number of values, including nulls.
    #[inline]
    fn len(&self) -> usize {
        any!(self, column => column.len())
    }

    pub(super) fn append_null(&mut self) {
        any!(self, column => column.append_null());
    }

    /// Appends nulls until the column has `len` values.
    #[inline]
    pub(super) fn append_nulls_up_to(&mut self, len: usize) {
        for _ in self.len()..len {
            self.append_null();
        }
    }

    /// Fast path for appending an encoded value of a matching type. Returns false, without
    /// appending anything, if the fast path doesn't apply.
    #[inline]
    pub(super) fn append_bytes(&mut self, bytes: &[u8]) -> Result<bool> {
        match self {
            Self::Int64(column) => match integer(bytes) {
                Some(value) => column.append_value(value),
                None => return Ok(false),
            },
            Self::Int32(column) => {
                match integer(bytes).and_then(|integer| i32::try_from(integer).ok()) {
                    Some(value) => column.append_value(value),
                    None => return Ok(false),
                }
            }
            Self::Boolean(column) => match bytes {
                [TRUE] => column.append_value(true),
                [FALSE] => column.append_value(false),
                _ => return Ok(false),
            },
            Self::Double(column) => match bytes.split_first_chunk() {
                Some(([DOUBLE], data)) => match data.try_into() {
                    Ok(data) => column.append_value(f64::from_le_bytes(data)),
                    Err(_) => return Ok(false),
                },
                _ => return Ok(false),
            },
            Self::String(column) => match text(bytes)? {
                Some(value) => column.try_append_value(value).map_err(of_arrow)?,
                None => return Ok(false),
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Appends a value of the column's type.
    pub(super) fn append(&mut self, value: &Scalar<'_>) -> Result<()> {
        match (self, value) {
            (Self::Boolean(column), Scalar::Boolean(value)) => column.append_value(*value),
            (Self::Int8(column), Scalar::Int(value)) => column.append_value(narrow(*value)?),
            (Self::Int16(column), Scalar::Int(value)) => column.append_value(narrow(*value)?),
            (Self::Int32(column), Scalar::Int(value)) => column.append_value(narrow(*value)?),
            (Self::Int64(column), Scalar::Int(value)) => column.append_value(*value),
            (Self::Float(column), Scalar::Float(value)) => column.append_value(*value),
            (Self::Double(column), Scalar::Double(value)) => column.append_value(*value),
            (Self::Decimal4(column), Scalar::Decimal(value)) => {
                column.append_value(narrow(value.unscaled)?);
            }
            (Self::Decimal8(column), Scalar::Decimal(value)) => {
                column.append_value(narrow(value.unscaled)?);
            }
            (Self::Decimal16(column), Scalar::Decimal(value)) => {
                column.append_value(value.unscaled);
            }
            (Self::Date(column), Scalar::Date(value)) => column.append_value(*value),
            (Self::Time(column), Scalar::Time(value)) => column.append_value(*value),
            (Self::Micros(column), Scalar::Timestamp(value)) => column.append_value(*value),
            (Self::Nanos(column), Scalar::Timestamp(value)) => column.append_value(*value),
            (Self::String(column), Scalar::String(value)) => {
                column.try_append_value(value).map_err(of_arrow)?;
            }
            (Self::Binary(column), Scalar::Binary(value)) => {
                column.try_append_value(value).map_err(of_arrow)?;
            }
            (Self::Uuid(column), Scalar::Uuid(value)) => {
                column.append_value(value).map_err(of_arrow)?;
            }
            _ => return Err(other_type()),
        }
        Ok(())
    }

    /// Returns the array of the appended values. Timestamps and decimals have the type that the
    /// column was created with.
    pub(super) fn finish(&mut self) -> ArrayRef {
        any!(self, column => Arc::new(column.finish()))
    }
}

fn narrow<W, N: TryFrom<W>>(value: W) -> Result<N> {
    N::try_from(value).map_err(|_| other_type())
}

#[cold]
fn other_type() -> Error {
    Error::argument("a value of another type than the column it is shredded into")
}

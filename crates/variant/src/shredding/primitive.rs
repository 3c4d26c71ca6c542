//! Columns that primitive values are shredded into, while they are built.

use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::array::builder::{
    BinaryViewBuilder, BooleanBuilder, FixedSizeBinaryBuilder, PrimitiveBuilder, StringViewBuilder,
};
use herringbone_arrow::array::types::{
    Date32Type, Decimal32Type, Decimal64Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType,
    TimestampNanosecondType,
};
use herringbone_format::{Error, Result};

use super::of_arrow;
use crate::cast::{PrimitiveType, Scalar};

/// A column of one of the types that primitive values may be shredded as.
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

impl PrimitiveColumn {
    pub(super) fn new(primitive: PrimitiveType) -> Self {
        use PrimitiveType as T;
        let data_type = primitive.data_type();
        match primitive {
            T::Boolean => Self::Boolean(BooleanBuilder::new()),
            T::Int8 => Self::Int8(PrimitiveBuilder::new()),
            T::Int16 => Self::Int16(PrimitiveBuilder::new()),
            T::Int32 => Self::Int32(PrimitiveBuilder::new()),
            T::Int64 => Self::Int64(PrimitiveBuilder::new()),
            T::Float => Self::Float(PrimitiveBuilder::new()),
            T::Double => Self::Double(PrimitiveBuilder::new()),
            T::Decimal { precision, .. } => match precision {
                0..=9 => Self::Decimal4(PrimitiveBuilder::new().with_data_type(data_type)),
                10..=18 => Self::Decimal8(PrimitiveBuilder::new().with_data_type(data_type)),
                _ => Self::Decimal16(PrimitiveBuilder::new().with_data_type(data_type)),
            },
            T::Date => Self::Date(PrimitiveBuilder::new()),
            T::Time => Self::Time(PrimitiveBuilder::new()),
            T::Timestamp { nanos: false, .. } => {
                Self::Micros(PrimitiveBuilder::new().with_data_type(data_type))
            }
            T::Timestamp { nanos: true, .. } => {
                Self::Nanos(PrimitiveBuilder::new().with_data_type(data_type))
            }
            T::String => Self::String(StringViewBuilder::new()),
            T::Binary => Self::Binary(BinaryViewBuilder::new()),
            T::Uuid => Self::Uuid(FixedSizeBinaryBuilder::new(16)),
        }
    }

    pub(super) fn append_null(&mut self) {
        match self {
            Self::Boolean(column) => column.append_null(),
            Self::Int8(column) => column.append_null(),
            Self::Int16(column) => column.append_null(),
            Self::Int32(column) => column.append_null(),
            Self::Int64(column) => column.append_null(),
            Self::Float(column) => column.append_null(),
            Self::Double(column) => column.append_null(),
            Self::Decimal4(column) => column.append_null(),
            Self::Decimal8(column) => column.append_null(),
            Self::Decimal16(column) => column.append_null(),
            Self::Date(column) => column.append_null(),
            Self::Time(column) => column.append_null(),
            Self::Micros(column) => column.append_null(),
            Self::Nanos(column) => column.append_null(),
            Self::String(column) => column.append_null(),
            Self::Binary(column) => column.append_null(),
            Self::Uuid(column) => column.append_null(),
        }
    }

    /// Appends a value of the type of the column.
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

    /// The array of what was appended. Timestamps and decimals have the type they were made for.
    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Boolean(column) => Arc::new(column.finish()),
            Self::Int8(column) => Arc::new(column.finish()),
            Self::Int16(column) => Arc::new(column.finish()),
            Self::Int32(column) => Arc::new(column.finish()),
            Self::Int64(column) => Arc::new(column.finish()),
            Self::Float(column) => Arc::new(column.finish()),
            Self::Double(column) => Arc::new(column.finish()),
            Self::Decimal4(column) => Arc::new(column.finish()),
            Self::Decimal8(column) => Arc::new(column.finish()),
            Self::Decimal16(column) => Arc::new(column.finish()),
            Self::Date(column) => Arc::new(column.finish()),
            Self::Time(column) => Arc::new(column.finish()),
            Self::Micros(column) => Arc::new(column.finish()),
            Self::Nanos(column) => Arc::new(column.finish()),
            Self::String(column) => Arc::new(column.finish()),
            Self::Binary(column) => Arc::new(column.finish()),
            Self::Uuid(column) => Arc::new(column.finish()),
        }
    }
}

fn narrow<W, N: TryFrom<W>>(value: W) -> Result<N> {
    N::try_from(value).map_err(|_| other_type())
}

#[cold]
fn other_type() -> Error {
    Error::argument("a value of another type than the column it is shredded into")
}

//! A column's stored form.

use herringbone_format::{ConvertedType, LogicalType, SchemaElement, Type};

use super::WriteConversion;
use crate::ColumnOrderKind;

/// A column's storage. Only the type-related parts of its element are set.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) element: SchemaElement,
    pub(super) conversion: WriteConversion,
    pub(super) order: ColumnOrderKind,
}

impl Stored {
    pub(super) fn new(physical: Type, order: ColumnOrderKind) -> Self {
        Self {
            element: SchemaElement::default().type_(physical),
            conversion: WriteConversion::Identity,
            order,
        }
    }

    pub(super) fn fixed(length: i32, order: ColumnOrderKind) -> Self {
        let mut stored = Self::new(Type::FixedLenByteArray, order);
        stored.element.type_length = Some(length);
        stored
    }

    pub(super) fn logical(mut self, logical: LogicalType) -> Self {
        self.element.logical_type = Some(logical);
        self
    }

    pub(super) fn converted(mut self, converted: ConvertedType) -> Self {
        self.element.converted_type = Some(converted);
        self
    }

    pub(super) fn by(mut self, conversion: WriteConversion) -> Self {
        self.conversion = conversion;
        self
    }
}

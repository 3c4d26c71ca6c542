//! What is around the decoded values of a field: run ends, dictionaries, other scales, extension types.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};

/// A step from the values that a field is decoded to, to the Arrow type that it has.
///
/// A column decodes to dictionary arrays by itself; this is about what columns do not: groups in
/// dictionaries, runs of anything, dictionaries of runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ArrowWrapper {
    /// Equal values side by side become one.
    RunEnds {
        /// The field of the run ends.
        run_ends: FieldRef,
        /// The field of the values; its data type is for the wrappers below to say.
        values: FieldRef,
    },
    /// Equal values become one, wherever they are.
    Dictionary {
        /// The type of the keys.
        key: DataType,
    },
    /// Decimals of the scale 0 become such of a negative scale: they end in that many zeros.
    NegativeScale {
        /// The decimal in the file.
        stored: DataType,
        /// The decimal of negative scale.
        restored: DataType,
    },
    /// A struct loses its fields: they were written for want of any.
    NoFields,
    /// An extension type makes arrays of its own.
    Extension {
        /// Its ordinal among [`ReadExtensions::types`](crate::ReadExtensions::types).
        ordinal: usize,
        /// The type that its arrays are made from.
        storage: DataType,
        /// The type of its arrays.
        data_type: DataType,
    },
}

impl ArrowWrapper {
    /// The type that values of the type `inner` get.
    #[must_use]
    pub fn around(&self, inner: DataType) -> DataType {
        match self {
            Self::RunEnds { run_ends, values } => {
                let values = Field::clone(values).with_data_type(inner);
                DataType::RunEndEncoded(run_ends.clone(), Arc::new(values))
            }
            Self::Dictionary { key } => {
                DataType::Dictionary(Box::new(key.clone()), Box::new(inner))
            }
            Self::NegativeScale { restored, .. } => restored.clone(),
            Self::NoFields => DataType::Struct(Fields::empty()),
            Self::Extension { data_type, .. } => data_type.clone(),
        }
    }

    /// The type of the values that get the type `outer`.
    pub(crate) fn within(&self, outer: &DataType) -> DataType {
        match (self, outer) {
            (Self::RunEnds { .. }, DataType::RunEndEncoded(_, values)) => {
                values.data_type().clone()
            }
            (Self::Dictionary { .. }, DataType::Dictionary(_, values)) => values.as_ref().clone(),
            (Self::NegativeScale { stored, .. }, _) => stored.clone(),
            (Self::Extension { storage, .. }, _) => storage.clone(),
            _ => outer.clone(),
        }
    }
}

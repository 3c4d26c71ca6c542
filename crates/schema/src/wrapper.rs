//! Steps around the decoded values of a field: run ends, dictionaries, other scales, extension types.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};

/// A step from the decoded values of a field towards its Arrow type.
///
/// A column decodes to dictionary arrays by itself. The wrappers cover the rest: groups in dictionaries, runs
/// of anything, dictionaries of runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ArrowWrapper {
    /// Adjacent equal values become one run.
    RunEnds {
        /// The field of the run ends.
        run_ends: FieldRef,
        /// The field of the values. The wrappers below determine its data type.
        values: FieldRef,
    },
    /// Equal values become one dictionary entry, wherever they are.
    Dictionary {
        /// The type of the keys.
        key: DataType,
    },
    /// Decimals of scale 0 become decimals of a negative scale. They end in the corresponding number of zeros.
    NegativeScale {
        /// The decimal in the file.
        stored: DataType,
        /// The decimal of negative scale.
        restored: DataType,
    },
    /// A struct loses its fields, which were written only because Parquet has no empty groups.
    NoFields,
    /// An extension type makes its own arrays.
    Extension {
        /// The extension type's ordinal in [`ReadExtensions::types`](crate::ReadExtensions::types).
        ordinal: usize,
        /// The type that its arrays are made from.
        storage: DataType,
        /// The type of its arrays.
        data_type: DataType,
    },
}

impl ArrowWrapper {
    /// Returns the type that results from wrapping the type `inner`.
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

    /// Returns the type inside this wrapper, given the wrapped type `outer`.
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

//! Steps around a field's decoded values, such as run ends, dictionaries, other scales and
//! extension types.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};

/// A step from a field's decoded values towards its Arrow type.
///
/// A column decodes to dictionary arrays by itself. The wrappers are for all other cases: groups in
/// dictionaries, runs of anything, and dictionaries of runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ArrowWrapper {
    /// Adjacent equal values become one run.
    RunEnds {
        /// The run ends' field.
        run_ends: FieldRef,
        /// The values' field, whose data type the wrappers below determine.
        values: FieldRef,
    },
    /// Equal values become one dictionary entry, wherever they are.
    Dictionary {
        /// The keys' type.
        key: DataType,
    },
    /// Decimals of scale 0 become decimals of a negative scale, by dropping the zeros that they end
    /// in.
    NegativeScale {
        /// The decimal type in the file.
        stored: DataType,
        /// The decimal type of negative scale.
        restored: DataType,
    },
    /// A struct loses its fields, which are only there because Parquet has no empty groups.
    NoFields,
    /// An extension type makes its own arrays.
    Extension {
        /// The extension type's ordinal in [`ReadExtensions::types`](crate::ReadExtensions::types).
        ordinal: usize,
        /// The type that the extension type's arrays are made from.
        storage: DataType,
        /// The type of the extension type's arrays.
        data_type: DataType,
    },
}

impl ArrowWrapper {
    /// Returns the type that results from wrapping `inner`.
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

    /// Returns the type inside this wrapper, if `outer` is the wrapped type.
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

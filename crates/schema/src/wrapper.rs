//! Wrappers around a field's decoded values, such as run ends, dictionaries, other scales and
//! extension types.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};

/// A step from a field's decoded values towards its Arrow type.
///
/// A column decodes to dictionary arrays by itself. The wrappers are for all other cases: groups in
/// dictionaries, runs of anything, and dictionaries of runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ArrowWrapper {
    /// Merges adjacent equal values into runs.
    RunEnds {
        /// The field of the run ends.
        run_ends: FieldRef,
        /// The field of the values. Its data type depends on the inner wrappers.
        values: FieldRef,
    },
    /// Merges all equal values into one dictionary entry.
    Dictionary {
        /// The key type.
        key: DataType,
    },
    /// Turns decimals of scale 0 into decimals of a negative scale, dropping their trailing zeros.
    NegativeScale {
        /// The decimal type in the file.
        stored: DataType,
        /// The decimal type with a negative scale.
        restored: DataType,
    },
    /// Drops a struct's fields. They only exist because Parquet has no empty groups.
    NoFields,
    /// Lets an extension type build its own arrays.
    Extension {
        /// The extension type's ordinal in [`ReadExtensions::types`](crate::ReadExtensions::types).
        ordinal: usize,
        /// The type of the arrays to build from.
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

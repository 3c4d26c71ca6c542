//! Arrays of extension types, made from those of their storage.

use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef};
use herringbone_arrow::schema::Field;
use herringbone_format::{Error, Result};

use herringbone_core::extension::ExtensionType;

/// An extension type and the field that it makes.
#[derive(Debug, Clone)]
pub(crate) struct ExtensionArray {
    pub(crate) extension: Arc<dyn ExtensionType>,
    pub(crate) field: Arc<Field>,
}

impl ExtensionArray {
    /// The array for a storage.
    ///
    /// # Errors
    /// What the extension type says; Argument where its array is not what it was said to be.
    pub(crate) fn make(&self, storage: &ArrayRef) -> Result<ArrayRef> {
        let array = self.extension.make_array(storage, &self.field)?;
        let data_type = self.field.data_type();
        if array.len() != storage.len() || array.data_type() != data_type {
            return Err(Error::argument(format!(
                "an extension type made {} values of {} from {} of {data_type}",
                array.len(),
                array.data_type(),
                storage.len(),
            )));
        }
        Ok(array)
    }
}

/// A column from a storage that was put aside.
#[derive(Debug)]
pub(crate) struct KeptColumn {
    /// Ordinal among the arrays that are put aside.
    pub(crate) slot: usize,
    /// What makes the column; none where it is the storage.
    pub(crate) array: Option<ExtensionArray>,
}

impl KeptColumn {
    /// The column, from the arrays that were put aside.
    pub(crate) fn make(&self, kept: &[Option<ArrayRef>]) -> Result<ArrayRef> {
        let storage = kept.get(self.slot).and_then(Option::as_ref);
        let storage = storage.ok_or_else(|| Error::argument("a storage was not kept"))?;
        match &self.array {
            Some(array) => array
                .make(storage)
                .map_err(|error| error.in_column(array.field.name())),
            None => Ok(storage.clone()),
        }
    }
}

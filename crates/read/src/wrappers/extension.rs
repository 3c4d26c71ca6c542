//! Creates extension type arrays from their storage arrays.

use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef};
use herringbone_arrow::schema::Field;
use herringbone_format::{Error, Result};

use herringbone_core::extension::ExtensionType;

/// An extension type and the field it creates.
#[derive(Debug, Clone)]
pub(crate) struct ExtensionArray {
    pub(crate) extension: Arc<dyn ExtensionType>,
    pub(crate) field: Arc<Field>,
}

impl ExtensionArray {
    /// Creates the extension array from a storage array.
    ///
    /// # Errors
    /// Returns the extension type's errors. Fails with `Argument` if its array does not have the expected length and
    /// type.
    pub(crate) fn make(&self, storage: &ArrayRef) -> Result<ArrayRef> {
        let array = self.extension.make_array(storage, &self.field)?;
        let data_type = self.field.data_type();
        if array.len() != storage.len() || array.data_type() != data_type {
            return Err(Error::argument(format!(
                "an extension type created {} values of {}; expected {} of {data_type}",
                array.len(),
                array.data_type(),
                storage.len(),
            )));
        }
        Ok(array)
    }
}

/// A column created from a retained storage array.
#[derive(Debug)]
pub(crate) struct StorageColumn {
    /// The storage array's index among the retained ones.
    pub(crate) slot: usize,
    /// The extension array to create, or `None` if the column is the storage itself.
    pub(crate) array: Option<ExtensionArray>,
}

impl StorageColumn {
    /// Creates the column from the retained arrays.
    pub(crate) fn make(&self, kept: &[Option<ArrayRef>]) -> Result<ArrayRef> {
        let storage = kept.get(self.slot).and_then(Option::as_ref);
        let storage = storage.ok_or_else(|| Error::argument("a storage array was not kept"))?;
        match &self.array {
            Some(array) => array
                .make(storage)
                .map_err(|error| error.in_column(array.field.name())),
            None => Ok(storage.clone()),
        }
    }
}

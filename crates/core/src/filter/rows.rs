//! Predicates of one's own.

use std::fmt;

use herringbone_arrow::array::{BooleanArray, RecordBatch};
use herringbone_format::{FileMetadata, Result};
use herringbone_schema::ParquetSchema;

use super::{Predicate, Verdict};
use crate::extension::ExtensionColumnOption;

/// A predicate that looks at Arrow arrays by itself: a function, or a kind of test that the library does not know.
pub trait RowPredicate: fmt::Debug + Send + Sync {
    /// The columns that it looks at: each a path, from the root to a field.
    fn columns(&self) -> Vec<Vec<String>>;

    /// Further columns that it looks at, which extension types make: in the batch under their names.
    fn extension_columns(&self) -> Vec<ExtensionColumnOption> {
        Vec::new()
    }

    /// Whether each row is wanted; null where that is unknown, which wants none. `batch` has the columns that were asked
    /// for, in the order of the file, and may have others.
    ///
    /// # Errors
    /// Whatever is wrong; the read ends with it.
    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray>;

    /// A predicate that is true wherever this one is, by which rows are passed over: its statistics, page indexes and bloom
    /// filters are looked at, its values only [on request](Self::tests_implied). Its columns are leaves of the file, wherever
    /// they lie; they need not be among [those](Self::columns) that this one looks at.
    ///
    /// # Errors
    /// Whatever is wrong; the read does not begin.
    fn implied(&self, _schema: &ParquetSchema) -> Result<Option<Predicate>> {
        Ok(None)
    }

    /// Whether rows are tested by what is [implied](Self::implied) before the columns of this one are decoded, and those alone
    /// that are left by it: worth it where it looks at other columns, of far fewer bytes.
    fn tests_implied(&self) -> bool {
        false
    }

    /// What the metadata of a row group tells without any row of it.
    ///
    /// # Errors
    /// Whatever is wrong; the read ends with it.
    fn verdict(&self, _metadata: &FileMetadata, _row_group: usize) -> Result<Verdict> {
        Ok(Verdict::Some)
    }
}

//! Custom predicates.

use std::error::Error;
use std::fmt;

use herringbone_arrow::array::{BooleanArray, RecordBatch};
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::FileMetadata;
use herringbone_schema::ParquetSchema;

use super::{Predicate, Verdict};
use crate::pruning::ColumnBounds;
use herringbone_core::extension::ExtensionColumnOption;

/// An error of a custom predicate. The read ends with it: the error of the read has it as its
/// [source](std::error::Error::source). An error of this library is returned as it is.
pub type RowError = Box<dyn Error + Send + Sync>;

/// The test of a [`RowPredicate`] that was bound. It returns one slot per row, which is true if the row is selected. A row with
/// a null is not selected, and the opposite of the predicate does not select it either.
pub type RowTest = Box<dyn Fn(&RecordBatch) -> Result<BooleanArray, RowError> + Send + Sync>;

/// A custom predicate, which looks at Arrow arrays: a function, or a kind of test that the library does not have.
///
/// In an [`and`](Predicate::and) it sees only the rows that the operands before it left, and its columns are decoded for these
/// rows alone. It sees them in the order of the read, in batches of any size. A read may drop work and do it again, as when
/// memory becomes short: then the predicate is called again for the same rows. Threads may call it at the same time.
///
/// ```
/// use herringbone_arrow::array::{BooleanArray, cast::AsArray, types::Int64Type};
/// use herringbone_arrow::schema::SchemaRef;
/// use herringbone_filter::{Predicate, RowError, RowPredicate, RowTest, col};
///
/// #[derive(Debug)]
/// struct IsSquare;
///
/// impl RowPredicate for IsSquare {
///     fn columns(&self) -> Vec<Vec<String>> {
///         vec![vec!["a".to_owned()]]
///     }
///
///     fn bind(&self, columns: &SchemaRef) -> Result<RowTest, RowError> {
///         if !columns.field(0).data_type().is_integer() {
///             return Err("only integers can be squares".into());
///         }
///         Ok(Box::new(|batch| {
///             let values = batch.column(0).as_primitive_opt::<Int64Type>();
///             let values = values.ok_or("the integers do not have 64 bits")?;
///             let is_square = |value: i64| value >= 0 && value.isqrt().pow(2) == value;
///             Ok(BooleanArray::from_unary(values, is_square))
///         }))
///     }
/// }
///
/// let squares = col("a").between(0, 100).and(Predicate::rows(IsSquare));
/// ```
pub trait RowPredicate: fmt::Debug + Send + Sync {
    /// Returns the columns that it looks at, each as the path from the root to a field. A path through structs gives the field
    /// at its end. A path into a list gives the list.
    fn columns(&self) -> Vec<Vec<String>>;

    /// Returns further columns that it looks at, which extension types make.
    fn extension_columns(&self) -> Vec<ExtensionColumnOption> {
        Vec::new()
    }

    /// Returns the test of one plan, for batches that have exactly these `columns`: the [named ones](Self::columns) in their
    /// order, then the [extension columns](Self::extension_columns). It is called once when a read is planned.
    ///
    /// # Errors
    /// Any error; the read is not planned.
    fn bind(&self, columns: &SchemaRef) -> Result<RowTest, RowError>;

    /// Returns a predicate that is true wherever this one is. A read passes over rows by its statistics, page indexes and bloom
    /// filters, and looks at its values only [on request](Self::tests_implied). Its columns are leaves of the file, and need
    /// not be among [those](Self::columns) that this predicate looks at.
    ///
    /// # Errors
    /// Any error; the read is not planned.
    fn implied(&self, _schema: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        Ok(None)
    }

    /// Returns true if rows are to be tested by the [implied](Self::implied) predicate before the columns of this one are decoded.
    /// That pays if it looks at other columns, which have far fewer bytes.
    fn tests_implied(&self) -> bool {
        false
    }

    /// Returns a verdict on all rows of a row group by its metadata.
    ///
    /// # Errors
    /// Any error; the read ends with it.
    fn verdict(&self, _metadata: &FileMetadata, _row_group: usize) -> Result<Verdict, RowError> {
        Ok(Verdict::Some)
    }

    /// Returns the leaves of the file by whose page bounds it can [rule pages out](Self::verdicts_of_pages), each as its path in
    /// the Parquet schema.
    fn page_columns(&self) -> Vec<Vec<String>> {
        Vec::new()
    }

    /// Returns a verdict on the rows of each page of a column chunk. `column` is an index into [`Self::page_columns`]. Pages of
    /// other columns are not considered: `All` means that all rows are selected whatever these have.
    ///
    /// # Errors
    /// Any error; the read ends with it.
    fn verdicts_of_pages(
        &self,
        _column: usize,
        pages: &ColumnBounds,
    ) -> Result<Vec<Verdict>, RowError> {
        Ok(vec![Verdict::Some; pages.row_counts.len()])
    }
}

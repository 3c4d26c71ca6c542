//! The interface for custom predicates.

use std::error::Error;
use std::fmt;

use herringbone_arrow::array::{BooleanArray, RecordBatch};
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::FileMetadata;
use herringbone_schema::ParquetSchema;

use super::{Predicate, Verdict};
use crate::pruning::ColumnBounds;
use herringbone_core::extension::ExtensionColumnOption;

/// An error from a custom predicate, ending the read. The read's error has it as its
/// [source](std::error::Error::source), except that this library's own errors are returned unchanged.
pub type RowError = Box<dyn Error + Send + Sync>;

/// The test of a bound [`RowPredicate`]. It returns one slot per row, true if the row is selected. If a slot is null,
/// neither the predicate nor its negation selects the row.
pub type RowTest = Box<dyn Fn(&RecordBatch) -> Result<BooleanArray, RowError> + Send + Sync>;

/// A custom predicate on Arrow arrays. Use this for a function or any other kind of test missing from this library.
///
/// In an [`and`](Predicate::and), it only sees the rows accepted by earlier operands, and its columns are only decoded
/// for these rows. It sees rows in read order, in batches of any size. Note that a read can drop and repeat work, for
/// example when memory is short. The predicate is then called again for the same rows. Several threads can call it at
/// once.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::arrow::array::{BooleanArray, cast::AsArray, types::Int64Type};
/// use herringbone::arrow::schema::SchemaRef;
/// use herringbone::filter::{Predicate, RowError, RowPredicate, RowTest, col};
/// use herringbone::{ParquetFile, ReadOptions};
///
/// #[derive(Debug)]
/// struct IsSquare;
///
/// impl RowPredicate for IsSquare {
///     fn columns(&self) -> Vec<Vec<String>> {
///         vec![vec!["id".to_owned()]]
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
/// // The column `id` has the numbers 0 to 99.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let squares = col("id").lt(50).and(Predicate::rows(IsSquare));
/// let batch = file.read(ReadOptions::new().filter(squares))?.next_batch()?.ok_or("no rows")?;
/// assert_eq!(batch.num_rows(), 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait RowPredicate: fmt::Debug + Send + Sync {
    /// Returns the columns used by the predicate, each as the path from the root to a field. A path through structs
    /// selects the field at its end, and a path into a list selects the whole list.
    fn columns(&self) -> Vec<Vec<String>>;

    /// Returns any additional columns that extension types create for the predicate.
    fn extension_columns(&self) -> Vec<ExtensionColumnOption> {
        Vec::new()
    }

    /// Returns the test for one plan. Its batches have exactly these `columns`: the [named columns](Self::columns) in
    /// their order, followed by the [extension columns](Self::extension_columns). This is called once when a read is
    /// planned.
    ///
    /// # Errors
    /// May return any error. Planning the read then fails.
    fn bind(&self, columns: &SchemaRef) -> Result<RowTest, RowError>;

    /// Returns true if the predicate was made for this very file. A read with a wanted schema then asks for the
    /// [implied](Self::implied) predicate and for [verdicts](Self::verdict), too. By default, it doesn't ask, because a
    /// column of a wanted schema might have another name or type in the file.
    fn knows_file(&self) -> bool {
        false
    }

    /// Returns a predicate that is true wherever this predicate is true. A read prunes rows with the implied predicate
    /// by statistics, page indexes and bloom filters, but only tests values with it [on request](Self::tests_implied).
    /// The implied predicate's columns are leaves of the file and don't have to be among this predicate's
    /// [columns](Self::columns). Its literals are compared with values as returned by the read, that is, after any
    /// conversion by extension types.
    ///
    /// # Errors
    /// May return any error. Planning the read then fails.
    fn implied(&self, _schema: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        Ok(None)
    }

    /// Returns true if the [implied](Self::implied) predicate should test rows before this predicate's columns are
    /// decoded. This pays off if the implied predicate uses other columns with far fewer bytes.
    fn tests_implied(&self) -> bool {
        false
    }

    /// Returns a verdict on a whole row group, based on its metadata. A read asks for it on reaching the row group
    /// rather than during planning, so that the verdict can depend on earlier rows.
    ///
    /// # Errors
    /// May return any error, which ends the read.
    fn verdict(&self, _metadata: &FileMetadata, _row_group: usize) -> Result<Verdict, RowError> {
        Ok(Verdict::Some)
    }

    /// Returns the file leaves with page bounds useful for [ruling out pages](Self::verdicts_of_pages), each as its
    /// path in the Parquet schema. Note that the bounds apply to the stored values, even if an extension type converts
    /// the column.
    fn page_columns(&self) -> Vec<Vec<String>> {
        Vec::new()
    }

    /// Returns a verdict on the rows of each page in a column chunk. `column` is an index into [`Self::page_columns`].
    /// The pages of other columns aren't considered, so `All` means that all rows are selected, regardless of the other
    /// columns.
    ///
    /// # Errors
    /// May return any error, which ends the read.
    fn verdicts_of_pages(
        &self,
        _column: usize,
        pages: &ColumnBounds,
    ) -> Result<Vec<Verdict>, RowError> {
        Ok(vec![Verdict::Some; pages.row_counts.len()])
    }
}

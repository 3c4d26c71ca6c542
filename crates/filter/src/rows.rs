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

/// An error of a custom predicate, which ends the read. The error of the read has it as its
/// [source](std::error::Error::source). An error of this library is returned unchanged.
pub type RowError = Box<dyn Error + Send + Sync>;

/// The test of a bound [`RowPredicate`]. It returns one slot per row, which is true if the row is selected. If the
/// slot is null, neither the predicate nor its negation selects the row.
pub type RowTest = Box<dyn Fn(&RecordBatch) -> Result<BooleanArray, RowError> + Send + Sync>;

/// A custom predicate, which looks at Arrow arrays: a function, or a kind of test that the library lacks.
///
/// In an [`and`](Predicate::and) it sees only the rows accepted by the operands before it, and its columns are
/// decoded for these rows only. It sees them in the order of the read, in batches of any size. A read may drop work
/// and repeat it, for example when memory is short. The predicate is then called again for the same rows. Several
/// threads may call it at the same time.
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
    /// Returns the columns that the predicate looks at, each as the path from the root to a field. A path through
    /// structs selects the field at its end. A path into a list selects the list.
    fn columns(&self) -> Vec<Vec<String>>;

    /// Returns further columns that the predicate looks at, which extension types create.
    fn extension_columns(&self) -> Vec<ExtensionColumnOption> {
        Vec::new()
    }

    /// Returns the test for one plan, for batches that have exactly these `columns`: the [named
    /// columns](Self::columns) in their order, followed by the [extension columns](Self::extension_columns). It is
    /// called once when a read is planned.
    ///
    /// # Errors
    /// Any error; the read is not planned.
    fn bind(&self, columns: &SchemaRef) -> Result<RowTest, RowError>;

    /// Returns true if the predicate was made for this very file. A read with a wanted schema then asks for the
    /// [implied](Self::implied) predicate and for [verdicts](Self::verdict) as well. By default, it does not, because a
    /// column of a wanted schema may have another name or type in the file.
    fn knows_file(&self) -> bool {
        false
    }

    /// Returns a predicate that is true wherever this one is true. A read prunes rows with its statistics, page
    /// indexes and bloom filters, and tests its values only [on request](Self::tests_implied). Its columns are leaves
    /// of the file, and need not be among the [columns](Self::columns) of this predicate. Its literals are compared with
    /// values as the read returns them, after extension types converted them.
    ///
    /// # Errors
    /// Any error; the read is not planned.
    fn implied(&self, _schema: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        Ok(None)
    }

    /// Returns true if the [implied](Self::implied) predicate is to test rows before the columns of this one are
    /// decoded. That pays if it looks at other columns, which have far fewer bytes.
    fn tests_implied(&self) -> bool {
        false
    }

    /// Returns a verdict on all rows of a row group by its metadata. A read asks for it when it reaches the row group,
    /// not when it is planned. The verdict may therefore depend on the rows read before.
    ///
    /// # Errors
    /// Any error; the read ends with it.
    fn verdict(&self, _metadata: &FileMetadata, _row_group: usize) -> Result<Verdict, RowError> {
        Ok(Verdict::Some)
    }

    /// Returns the leaves of the file whose page bounds can be used to [rule pages out](Self::verdicts_of_pages),
    /// each as its path in the Parquet schema. Bounds are those of the stored values, even if an extension type
    /// converts the column.
    fn page_columns(&self) -> Vec<Vec<String>> {
        Vec::new()
    }

    /// Returns a verdict on the rows of each page of a column chunk. `column` is an index into
    /// [`Self::page_columns`]. Pages of other columns are not considered: `All` means that all rows are selected,
    /// whatever the other columns contain.
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

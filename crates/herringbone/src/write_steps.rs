//! Writing a file in parts.

use herringbone_arrow::array::RecordBatch;
use herringbone_format::Result;

/// Stepwise writing, for programs that take the output between two steps, such as uploads and
/// servers.
///
/// You rarely need this, because [`Writer::write`](crate::Writer::write) and its siblings run all
/// steps by themselves. Here, a method that starts work does only a little of it, and you then call
/// [`step`](Self::step) until it returns false. Each step encodes some rows or writes one column
/// chunk, so the output between two calls stays small. [`Writer`](crate::Writer) implements this
/// trait.
///
/// ```
/// # use std::sync::Arc;
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::push::WriteSteps;
/// use herringbone::{WriteOptions, Writer};
///
/// # let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10));
/// # let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// let options = WriteOptions::new().row_group_rows(2);
/// let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
/// let mut sent = Vec::new();
/// writer.start_write(&batch)?;
/// while writer.step()? {
///     sent.append(writer.get_mut().ok_or("no output")?);
/// }
/// let (metadata, rest) = writer.finish_into()?;
/// sent.extend(rest);
/// assert_eq!(metadata.num_row_groups(), 5);
/// assert_eq!(herringbone::ParquetFile::from_bytes(sent)?.metadata().num_rows(), 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait WriteSteps {
    /// Starts appending a batch's rows.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Writer::write`](crate::Writer::write).
    fn start_write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Starts ending the row group, if it has rows. See [`Writer::flush`](crate::Writer::flush).
    ///
    /// # Errors
    /// Fails for the same reasons as [`Writer::write`](crate::Writer::write).
    fn start_flush(&mut self) -> Result<()>;

    /// Starts ending the file. After that, you can only call [`finish`](crate::Writer::finish) or
    /// [`finish_into`](crate::Writer::finish_into).
    ///
    /// # Errors
    /// Fails for the same reasons as [`Writer::write`](crate::Writer::write).
    fn start_finish(&mut self) -> Result<()>;

    /// Does one step of the started work, returning false if nothing was left to do. A step encodes
    /// some rows, or writes either one column chunk or the end of a row group.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Writer::write`](crate::Writer::write).
    fn step(&mut self) -> Result<bool>;
}

//! Data lost by a read, if the caller prefers part of a damaged file to an error.

use herringbone_format::{Error, ErrorKind};

/// A read's reaction to damage. Change this if you'd rather have part of a damaged file than an error.
///
/// Damage is any cause of an error whose kind is Corrupt, Unsupported or Limit, because a flipped byte can look like
/// any of these. Other errors always end the read, and so does damage to the footer.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # let metadata = writer.finish()?;
/// # let chunk = metadata.column_chunk(1, 0)?.meta_data.ok_or("no metadata")?;
/// # let end = chunk.data_page_offset as usize + 50;
/// # bytes[end] ^= 1;
/// use herringbone::{OnError, ParquetFile, ReadOptions};
///
/// // 100 rows in two row groups. A bit of the second one has flipped.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let mut reader = file.read(ReadOptions::new().on_error(OnError::SkipRowGroup))?;
/// assert_eq!(reader.next_batch()?.ok_or("no rows")?.num_rows(), 50);
/// assert!(reader.next_batch()?.is_none());
/// // Without the option, the read fails at this row group.
/// let mut reader = file.read(ReadOptions::new())?;
/// assert!(reader.next_batch().and_then(|_| reader.next_batch()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnError {
    /// The read ends with the error.
    #[default]
    Fail,
    /// The read skips the rest of the row group, that is, its rows from the damaged batch on.
    SkipRowGroup,
    /// The values of a damaged page become null. This works for nullable columns without lists, if the page header is
    /// intact but its body is damaged, or if its dictionary is missing. A struct around the column becomes null if
    /// another of its columns shows that the struct is null. It counts as present if all of its columns are damaged or
    /// not read. Any other damage costs the rest of the row group.
    NullPage,
}

impl OnError {
    /// Returns true if a read continues after a row group with this error.
    #[must_use]
    pub fn goes_on(self, error: &Error) -> bool {
        self != Self::Fail && is_damage(error)
    }
}

pub(crate) fn is_damage(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Corrupt | ErrorKind::Unsupported | ErrorKind::Limit
    )
}

/// A loss of data in a read.
#[derive(Debug)]
pub struct Loss {
    /// The damage, with its location.
    pub error: Error,
    /// The amount of lost data.
    pub lost: Lost,
}

/// The amount of lost data.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::{Lost, OnError, ParquetFile, ReadOptions, WriteOptions, Writer};
///
/// let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100));
/// let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// let mut writer = Writer::new(Vec::new(), batch.schema(), WriteOptions::new().row_group_rows(50))?;
/// writer.write(&batch)?;
/// let (_, mut file) = writer.finish_into()?;
/// // Damages the first page.
/// file[4..12].fill(0xFF);
///
/// let options = ReadOptions::new().on_error(OnError::SkipRowGroup);
/// let mut reader = ParquetFile::from_bytes(file)?.read(options)?;
/// assert_eq!(reader.next_batch()?.ok_or("no rows")?.num_rows(), 50);
/// assert_eq!(reader.losses().kept()[0].lost, Lost::Rows(50));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// The number of rows missing from all batches. With a filter, this is an upper bound.
    Rows(u64),
    /// The number of a single column's values replaced by nulls. This is 0 for a damaged dictionary, because each page
    /// that needs the dictionary is recorded as its own loss.
    Values(u64),
}

/// A read's first losses, and the number of further losses. We don't keep them all, because even a small file can have
/// very many.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # let metadata = writer.finish()?;
/// # let chunk = metadata.column_chunk(1, 0)?.meta_data.ok_or("no metadata")?;
/// # let end = chunk.data_page_offset as usize + 50;
/// # bytes[end] ^= 1;
/// use herringbone::{Lost, OnError, ParquetFile, ReadOptions};
///
/// // 100 rows in two row groups. A bit of the second one has flipped.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let mut reader = file.read(ReadOptions::new().on_error(OnError::SkipRowGroup))?;
/// while let Some(_batch) = reader.next_batch()? {}
/// let loss = &reader.losses().kept()[0];
/// assert_eq!(loss.lost, Lost::Rows(50));
/// assert_eq!(loss.error.location().row_group, Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Losses {
    kept: Vec<Loss>,
    more: u64,
}

impl Losses {
    /// The maximum number of losses kept.
    pub const MAX: usize = 1000;

    /// Returns the kept losses, in order.
    #[must_use]
    pub fn kept(&self) -> &[Loss] {
        &self.kept
    }

    /// Returns the number of losses not kept.
    #[must_use]
    pub fn not_kept(&self) -> u64 {
        self.more
    }

    /// Adds a loss.
    #[doc(hidden)] // For the crates of this workspace.
    pub fn push(&mut self, loss: Loss) {
        if self.kept.len() < Self::MAX {
            self.kept.push(loss);
        } else {
            self.more += 1;
        }
    }

    /// Appends the losses from a later part of the read.
    #[doc(hidden)] // For the crates of this workspace.
    pub fn append(&mut self, next: Self) {
        next.kept.into_iter().for_each(|loss| self.push(loss));
        self.more = self.more.saturating_add(next.more);
    }

    /// Changes the error of each kept loss, for example to name its file.
    #[must_use]
    #[doc(hidden)] // For the crates of this workspace.
    pub fn map_errors(mut self, mut change: impl FnMut(Error) -> Error) -> Self {
        let kept = self.kept.into_iter();
        let changed = kept.map(|Loss { error, lost }| Loss {
            error: change(error),
            lost,
        });
        self.kept = changed.collect();
        self
    }

    /// Returns true if nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(from: usize, n: usize) -> Losses {
        let mut losses = Losses::default();
        for i in from..from + n {
            losses.push(Loss {
                error: Error::corrupt(i.to_string()),
                lost: Lost::Values(1),
            });
        }
        losses
    }

    #[test]
    fn the_first_are_kept_and_the_others_counted() {
        let mut all = losses(0, 700);
        assert_eq!((all.kept().len(), all.not_kept()), (700, 0));
        all.append(losses(700, 1200));
        let kept = all.kept().iter().map(|loss| loss.error.message());
        let expected = (0..Losses::MAX).map(|i| i.to_string());
        assert!(kept.eq(expected));
        assert_eq!(all.not_kept(), 900);
        let all = all.map_errors(|error| Error::corrupt(format!("{}!", error.message())));
        assert_eq!(all.kept().last().unwrap().error.message(), "999!");
        assert_eq!(all.not_kept(), 900);
    }
}

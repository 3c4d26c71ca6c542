//! Options for writing an object.

use std::sync::Arc;

use herringbone::{Error, MemoryPool, Result, WriteOptions};

use crate::parts::{MAX_PART_BYTES, PartSizes};

/// Options for writing an object. [`WriteOptions`] alone convert into these.
///
/// ```
/// use herringbone::WriteOptions;
/// use herringbone_remote::RemoteWriteOptions;
///
/// let options = RemoteWriteOptions::from(WriteOptions::new().row_group_rows(100_000))
///     .part_bytes(16 << 20)
///     .max_bytes_in_flight(32 << 20);
/// assert_eq!(options.max_bytes_in_flight, 32 << 20);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RemoteWriteOptions {
    /// The file's form, and the threads for encoding.
    pub write: WriteOptions,
    /// The size of the first parts in bytes. The default is 8 MiB, and S3 requires at least 5 MiB.
    /// A file of at most this size takes a single request.
    ///
    /// The first 1,000 parts have this size, and each later part is larger than the previous one by
    /// 2 percent of it. For example, 10,000 parts starting at 8 MiB add up to 6 TiB. No part
    /// exceeds 5 GiB.
    pub part_bytes: u64,
    /// True if all parts except the last have the same size, as required by Cloudflare R2. A file
    /// is then limited to 10,000 times `part_bytes`, by default 78 GiB. Note that R2 also accepts
    /// files of up to 1,000 parts without this flag.
    pub equal_parts: bool,
    /// The most bytes in flight, 64 MiB by default. A single part is always allowed, even if it is
    /// larger.
    pub max_bytes_in_flight: u64,
    /// A memory pool to share with reads and other writers. The writer takes memory for the
    /// encoder, the open part and the parts in flight. Since it only does so after using the
    /// memory, it can exceed the pool by as much as one step adds, that is, a slice of rows or an
    /// encoded column chunk. If the pool refuses, the writer waits for the parts in flight and then
    /// ends the row group early. It fails if the rest is still refused.
    pub memory_pool: Option<Arc<dyn MemoryPool>>,
}

impl Default for RemoteWriteOptions {
    fn default() -> Self {
        Self {
            write: WriteOptions::default(),
            part_bytes: 8 << 20,
            equal_parts: false,
            max_bytes_in_flight: 64 << 20,
            memory_pool: None,
        }
    }
}

impl RemoteWriteOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the size of the first parts in bytes.
    #[must_use]
    pub fn part_bytes(self, part_bytes: u64) -> Self {
        Self { part_bytes, ..self }
    }

    /// Selects whether all parts except the last have the same size.
    #[must_use]
    pub fn equal_parts(self, equal_parts: bool) -> Self {
        Self {
            equal_parts,
            ..self
        }
    }

    /// Sets the most bytes in flight.
    #[must_use]
    pub fn max_bytes_in_flight(self, max_bytes_in_flight: u64) -> Self {
        Self {
            max_bytes_in_flight,
            ..self
        }
    }

    /// Sets a memory pool to share with reads and other writers.
    #[must_use]
    pub fn memory_pool(self, pool: Arc<dyn MemoryPool>) -> Self {
        Self {
            memory_pool: Some(pool),
            ..self
        }
    }

    /// Returns the part sizes.
    ///
    /// # Errors
    /// Fails with Argument if no part can have the size in the options.
    pub(crate) fn part_sizes(&self) -> Result<PartSizes> {
        let first = self.part_bytes;
        if !(1..=MAX_PART_BYTES).contains(&first) {
            return Err(Error::argument(format!(
                "`part_bytes` is {first}, and must be between 1 and {MAX_PART_BYTES}"
            )));
        }
        Ok(PartSizes {
            first,
            are_equal: self.equal_parts,
        })
    }
}

impl From<WriteOptions> for RemoteWriteOptions {
    fn from(write: WriteOptions) -> Self {
        Self {
            write,
            ..Self::default()
        }
    }
}

//! Options for writing an object.

use std::sync::Arc;

use herringbone::{Error, MemoryPool, Result, WriteOptions};

use crate::parts::{MAX_PART_BYTES, PartSizes};

/// Options for writing an object. You can convert [`WriteOptions`] alone into them.
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
    /// The form of the file, and the threads that encode.
    pub write: WriteOptions,
    /// The size of the first parts in bytes, which is 8 MiB by default. A file of at most this size
    /// takes one request. Note that S3 requires at least 5 MiB.
    ///
    /// The first 1,000 parts have this size. Each later part is larger than the one before, by 2
    /// percent of this size. So 10,000 parts of 8 MiB and more are 6 TiB, and no part exceeds 5
    /// GiB.
    pub part_bytes: u64,
    /// True if all parts except the last have the same size, which Cloudflare R2 requires. A file
    /// then has at most 10,000 times `part_bytes`, which is 78 GiB by default. Without this flag,
    /// files of up to 1,000 parts suit R2, too.
    pub equal_parts: bool,
    /// The number of bytes of parts in flight, which is 64 MiB by default. One part may always be
    /// in flight.
    pub max_bytes_in_flight: u64,
    /// The memory that the writer shares with reads and other writers. It takes the bytes of the
    /// encoder, of the open part and of the parts in flight. Because it takes these bytes only when
    /// it has them, it may exceed the pool by as much as one step adds, which is a slice of rows or
    /// an encoded column chunk. If the pool refuses them, the writer waits for the parts in flight,
    /// and then ends the row group early. It fails if the rest is still refused.
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

    /// Sets the number of bytes of parts in flight.
    #[must_use]
    pub fn max_bytes_in_flight(self, max_bytes_in_flight: u64) -> Self {
        Self {
            max_bytes_in_flight,
            ..self
        }
    }

    /// Sets the memory that the writer shares with reads and other writers.
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

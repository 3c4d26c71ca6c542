//! Drops a read that waits for a store. Its memory is returned at once, and its requests are
//! dropped with it.
//!
//! cargo run -p herringbone-remote --example cancelled_read

use std::future::pending;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::executor::block_on;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::filter::col;
use herringbone::{OpenOptions, ReadOptions, Result, SharedMemory, Writer};
use herringbone_remote::{Answer, BoxFuture, Identity, Object, RemoteFile};

/// An object in memory, whose store only answers the request for the object's end.
#[derive(Debug)]
struct Slow(Bytes);

impl Object for Slow {
    fn name(&self) -> &str {
        "slow.parquet"
    }

    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
        let length = self.0.len() as u64;
        let range = length.saturating_sub(bytes)..length;
        let bytes = self.0.slice(range.start as usize..);
        let identity = Identity::new(length);
        Box::pin(async move {
            Ok(Answer {
                bytes,
                range,
                identity,
            })
        })
    }

    fn range(&self, _: Range<u64>, _: &Identity) -> BoxFuture<Result<Answer>> {
        Box::pin(pending())
    }
}

fn main() -> Result<()> {
    // These 800 KB are more than the end that is read with the footer, because neither encodings
    // nor codecs can make them smaller.
    let values = (0..100_000_u64).map(|row| row.wrapping_mul(0x9E37_79B9_7F4A_7C15) as i64);
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    let batch = RecordBatch::try_from_iter([("value", values)])?;
    let mut writer = Writer::new(Vec::new(), batch.schema(), Default::default())?;
    writer.write(&batch)?;
    let (_, file) = writer.finish_into()?;
    let object = Arc::new(Slow(file.into()));
    let file = block_on(RemoteFile::open(object, OpenOptions::new()))?;

    let pool = SharedMemory::new(64 << 20);
    let options = ReadOptions::new().filter(col("value").ge(0)).limit(2);
    let mut batches = file.read(options.memory_pool(pool.clone()))?;
    // We poll the future once and drop it, as if a deadline had passed or a client had left.
    assert!(batches.next_batch().now_or_never().is_none());
    println!("{} bytes are taken for requests", pool.used());
    assert!(pool.used() > 0);
    drop(batches);
    assert_eq!(pool.used(), 0);
    Ok(())
}

//! Reads an object of a store without a runtime, while the program's own threads decode.
//!
//! cargo run -p herringbone-remote --example async_read

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::filter::col;
use herringbone::{OpenOptions, ReadOptions, Result, Spawn};
use herringbone_remote::{Answer, BoxFuture, Identity, Object, RemoteFile};

/// An object whose bytes are in memory. Another one would send requests here.
#[derive(Debug)]
struct InMemory(Bytes);

impl InMemory {
    fn answer(&self, range: Range<u64>) -> BoxFuture<Result<Answer>> {
        let bytes = self.0.slice(range.start as usize..range.end as usize);
        let identity = Identity::new(self.0.len() as u64);
        Box::pin(async move {
            Ok(Answer {
                bytes,
                range,
                identity,
            })
        })
    }
}

impl Object for InMemory {
    fn name(&self) -> &str {
        "example.parquet"
    }

    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
        let length = self.0.len() as u64;
        self.answer(length.saturating_sub(bytes)..length)
    }

    fn range(&self, range: Range<u64>, _: &Identity) -> BoxFuture<Result<Answer>> {
        self.answer(range)
    }
}

/// Threads for decoding. Here, each batch gets a new one.
#[derive(Debug)]
struct Threads;

impl Spawn for Threads {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        std::thread::spawn(job);
    }
}

async fn read(object: Arc<dyn Object>) -> Result<usize> {
    let file = RemoteFile::open(object, OpenOptions::new()).await?;
    let options = ReadOptions::new().filter(col("id").ge(20));
    let mut batches = file.read(options.spawn(Arc::new(Threads)))?;
    let mut rows = 0;
    while let Some(batch) = batches.next_batch().await? {
        rows += batch.num_rows();
    }
    println!("{} requests", 1 + batches.metrics().fetched.requests);
    Ok(rows)
}

fn main() -> Result<()> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/example.parquet"
    );
    let object = Arc::new(InMemory(std::fs::read(path)?.into()));
    let rows = block_on(read(object))?;
    println!("{rows} rows");
    assert_eq!(rows, 4);
    Ok(())
}

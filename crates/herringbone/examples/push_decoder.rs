//! Reads over an async store with the push decoder. The program fetches, and the decoder decodes.
//!
//! cargo run --example push_decoder

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::executor::block_on;
use futures::future::try_join_all;
use herringbone::push::{FetchPolicy, Poll, PushDecoder, requests};
use herringbone::{Limits, MetadataHandle, OpenOptions, ReadOptions, Result, Step};

/// A store with async reads. This one has its object in memory.
struct Store(Bytes);

impl Store {
    async fn get(&self, range: Range<u64>) -> Result<(u64, Bytes)> {
        let bytes = self.0.slice(range.start as usize..range.end as usize);
        Ok((range.start, bytes))
    }
}

async fn read(store: &Store, length: u64) -> Result<usize> {
    let policy = FetchPolicy::remote();
    // This takes one request for the end of the file, and one more if the footer is longer.
    let mut start = length.saturating_sub(policy.suffix_bytes);
    let handle = loop {
        let (_, end) = store.get(start..length).await?;
        match MetadataHandle::decode(&end, length, OpenOptions::from(Limits::default()))? {
            Step::Ready(handle) => break handle,
            Step::Need(range) => start = range.start,
        }
    };

    // docs: poll
    let plan = handle.plan(&ReadOptions::new().columns(["id", "name"]))?;
    let mut decoder = PushDecoder::with_policy(Arc::new(plan), policy.clone());
    let mut rows = 0;
    loop {
        match decoder.poll()? {
            Poll::Needs(needs) => {
                // Ranges that lie close to each other become one request. All requests run at the same time.
                let ranges = requests(needs.now, &policy).map(|request| store.get(request.range));
                for (offset, bytes) in try_join_all(ranges).await? {
                    decoder.supply(offset, &bytes);
                }
            }
            Poll::Batch(batch) => rows += batch.num_rows(),
            Poll::Finished => return Ok(rows),
            step => return Err(herringbone::Error::unsupported(format!("{step:?}"))),
        }
    }
    // docs: end
}

fn main() -> Result<()> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/example.parquet"
    );
    let store = Store(std::fs::read(path)?.into());
    let rows = block_on(read(&store, store.0.len() as u64))?;
    println!("{rows} rows");
    assert_eq!(rows, 24);
    Ok(())
}

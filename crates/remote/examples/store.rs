//! Writes a file to a store of the crate `object_store`, and reads it.
//!
//! cargo run -p herringbone-remote --features object-store-014 --example store

use futures::executor::block_on;
use object_store_014 as object_store;

type Store = std::sync::Arc<object_store::memory::InMemory>;

fn read(store: Store) -> herringbone::Result<usize> {
    // docs: read
    use std::sync::Arc;

    use herringbone::{OpenOptions, ReadOptions, Result, filter::col};
    use herringbone_remote::{RemoteFile, object_store_014::StoreObject};
    use object_store::ObjectStore;

    async fn count(store: Arc<dyn ObjectStore>, path: &str) -> Result<usize> {
        let object = StoreObject::new(store, path);
        let file = RemoteFile::open(Arc::new(object), OpenOptions::new()).await?;
        let options = ReadOptions::new().filter(col("id").ge(20)).columns(["id"]);
        let mut batches = file.read(options)?;
        let mut rows = 0;
        while let Some(batch) = batches.next_batch().await? {
            rows += batch.num_rows();
        }
        Ok(rows)
    }
    // docs: end
    block_on(count(store, "a.parquet"))
}

fn open_metadata(store: Store) -> herringbone::Result<herringbone_remote::RemoteFile> {
    // docs: chunks
    use std::sync::Arc;

    use herringbone::{OpenOptions, Result};
    use herringbone_remote::RemoteFile;
    use herringbone_remote::object_store_014::{StoreChunks, StoreObject};
    use object_store::ObjectStore;

    async fn open(store: Arc<dyn ObjectStore>) -> Result<RemoteFile> {
        let metadata = StoreObject::new(store.clone(), "table/_metadata");
        let file = RemoteFile::open(Arc::new(metadata), OpenOptions::new()).await?;
        file.with_chunk_objects(&StoreChunks::new(store, "table"))
            .await
    }
    // docs: end
    block_on(open(store))
}

fn written(store: Store) -> herringbone::Result<i64> {
    // docs: write
    use std::sync::Arc;

    use herringbone::{Result, WriteOptions, arrow::array::RecordBatch};
    use herringbone_remote::{RemoteWriter, object_store_014::StoreSink};
    use object_store::ObjectStore;

    async fn write(
        store: Arc<dyn ObjectStore>,
        path: &str,
        batches: &[RecordBatch],
    ) -> Result<i64> {
        // With tokio: `.runtime(move |abort| drop(handle.spawn(abort)))` aborts the upload of a dropped writer.
        let sink = Arc::new(StoreSink::new(store, path));
        let mut writer = RemoteWriter::new(sink, batches[0].schema(), WriteOptions::new())?;
        for batch in batches {
            writer.write(batch).await?;
        }
        let metadata = writer.finish().await?;
        Ok(metadata.num_rows())
    }
    // docs: end
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/example.parquet"
    );
    let batches: Vec<RecordBatch> = herringbone::open(path)?.collect::<Result<_>>()?;
    block_on(write(store, "a.parquet", &batches))
}

fn main() -> herringbone::Result<()> {
    let store = Store::default();
    let all_rows = written(store.clone())?;
    assert_eq!(all_rows, 24);
    let rows = read(store.clone())?;
    println!("{rows} of {all_rows} rows");
    assert_eq!(rows, 4);

    // The store has no file `table/_metadata`.
    let missing = open_metadata(store).err();
    let kind = missing.map(|error| error.kind());
    assert_eq!(kind, Some(herringbone::ErrorKind::Io));
    Ok(())
}

//! Reads and writes datasets in the in-memory store of `object_store`.

use std::sync::Arc;

use futures::executor::block_on;
use herringbone::ReadOptions;
use herringbone::filter::col;
use herringbone_dataset::{AsyncDatasetWriter, Dataset, DatasetOptions, DatasetWriteOptions};

use crate::async_writers::rows;
use crate::files::{all, batch, file, ids};

macro_rules! tests_of {
    ($module:ident) => {
        mod $module {
            use ::$module::memory::InMemory;
            use ::$module::path::Path;
            use ::$module::{ObjectStore, PutOptions, PutPayload};
            use herringbone_dataset::$module::StoreListing;

            use super::*;

            fn put(store: &Arc<dyn ObjectStore>, path: &str, ids: std::ops::Range<i64>) {
                let payload = PutPayload::from_bytes(file(&batch(ids)));
                let path = Path::parse(path).unwrap();
                block_on(store.put_opts(&path, payload, PutOptions::default())).unwrap();
            }

            #[test]
            fn prefixes_are_listed_level_by_level() {
                let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                put(&store, "t/c=a%2Fb/m=01/x.parquet", 0..3);
                put(&store, "t/c=a%2Fb/m=02/x.parquet", 3..6);
                put(&store, "t/c=z/m=01/x.parquet", 6..9);
                put(&store, "t/_SUCCESS", 0..1);
                put(&store, "tt/x.parquet", 0..1);
                let listing = Arc::new(StoreListing::new(store));
                let open = |path: &str, options: DatasetOptions| {
                    let paths = [path.to_owned()];
                    block_on(Dataset::open_async(listing.clone(), &paths, options))
                };
                let options = DatasetOptions::new().filter(col("c").eq("a/b"));
                let dataset = open("t", options).unwrap();
                assert_eq!(
                    (dataset.directories_listed(), dataset.files().len()),
                    (4, 2)
                );
                let read = ReadOptions::new().filter(col("id").gt(1));
                let blocking = all(dataset.read(read.clone()).unwrap()).unwrap();
                assert_eq!(ids(&blocking), [2, 3, 4, 5]);
                let mut stream = dataset.stream(read).unwrap();
                let mut streamed = Vec::new();
                while let Some(batch) = block_on(stream.next_batch()).unwrap() {
                    streamed.push(batch);
                }
                assert_eq!(streamed, blocking);
                let one = open("t/c=z/m=01/x.parquet", DatasetOptions::new()).unwrap();
                assert_eq!(one.files().len(), 1);
                let pattern = open("t/*/m=01/*.parquet", DatasetOptions::new()).unwrap();
                assert_eq!(pattern.files().len(), 2);
                let pattern = open("t/*/m=01/", DatasetOptions::new()).unwrap();
                assert_eq!(pattern.files().len(), 2);
                // We get no error, because a store does not know if a prefix exists.
                let none = open("missing", DatasetOptions::new()).unwrap();
                assert_eq!(none.files().len(), 0);
                assert!(open("a//b", DatasetOptions::new()).is_err());
            }

            #[test]
            fn written_partitions_come_back() {
                let listing = Arc::new(StoreListing::new(Arc::new(InMemory::new())));
                let batch = rows(0..6);
                let options = DatasetWriteOptions::new().partition_by(["text"]);
                let schema = batch.schema();
                let written: herringbone::Result<_> = block_on(async {
                    let store = listing.clone();
                    let mut writer = AsyncDatasetWriter::create(store, "t", schema, options)?;
                    writer.write(&batch).await?;
                    writer.finish().await
                });
                let files = written.unwrap().len();
                let paths = ["t".to_owned()];
                let dataset = Dataset::open_async(listing, &paths, DatasetOptions::new());
                let dataset = block_on(dataset).unwrap();
                assert_eq!(dataset.files().len(), files);
                let read = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
                let mut found = ids(&read);
                found.sort_unstable();
                assert_eq!(found, [0, 1, 2, 3, 4, 5]);
            }
        }
    };
}

#[cfg(feature = "object-store-013")]
tests_of!(object_store_013);
#[cfg(feature = "object-store-014")]
tests_of!(object_store_014);

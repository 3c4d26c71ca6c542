//! Rows, files that have them, and reads.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::push::FetchPolicy;
use herringbone::{ColumnOptions, Compression, Limits, ReadOptions, Result, WriteOptions, Writer};
use herringbone_remote::object_store_014::StoreObject;
use herringbone_remote::{Object, RemoteFile};
use object_store::ObjectStore;
use object_store::path::Path;

/// Returns a batch with a column that counts, and a column of values that do not repeat. `seed` changes only the
/// values.
pub fn rows(rows: i64, seed: i64) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows));
    let mix = |row: i64| (row ^ seed << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64);
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows).map(mix)));
    RecordBatch::try_from_iter([("id", ids), ("value", values)]).expect("equal lengths")
}

/// Returns options for files whose length depends only on the number of rows.
pub fn options() -> WriteOptions {
    let columns = ColumnOptions::new()
        .compression(Compression::Uncompressed)
        .dictionary(false);
    WriteOptions::new().columns(columns).row_group_rows(100_000)
}

/// Writes a batch with the blocking writer.
pub fn file(rows: &RecordBatch) -> Bytes {
    let mut writer = Writer::new(Vec::new(), rows.schema(), options()).expect("a writer");
    writer.write(rows).expect("rows");
    writer.finish_into().expect("a file").1.into()
}

/// Returns an object whose data is not fetched together with the footer.
pub fn object(store: &Arc<dyn ObjectStore>, path: &str) -> Arc<StoreObject> {
    let mut policy = FetchPolicy::remote();
    policy.suffix_bytes = 20_000;
    let path = Path::parse(path).expect("a path");
    Arc::new(StoreObject::new(store.clone(), path).fetch_policy(policy))
}

/// Opens an object.
pub async fn open(object: Arc<dyn Object>) -> Result<RemoteFile> {
    RemoteFile::open(object, Limits::default()).await
}

/// Reads all rows of a file.
pub async fn read(file: &RemoteFile) -> Result<Vec<RecordBatch>> {
    let mut stream = file.read(ReadOptions::new())?;
    let mut batches = Vec::new();
    while let Some(batch) = stream.next_batch().await? {
        batches.push(batch);
    }
    Ok(batches)
}

/// Panics unless the batches have exactly the rows of another batch.
pub fn assert_rows(batches: &[RecordBatch], expected: &RecordBatch) {
    let mut at = 0;
    for batch in batches {
        assert_eq!(*batch, expected.slice(at, batch.num_rows()));
        at += batch.num_rows();
    }
    assert_eq!(at, expected.num_rows());
}

//! Tests bloom filters in files with BOOLEAN columns.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use herringbone::{
    BloomFilterOptions, ColumnOptions, ErrorKind, ParquetFile, WriteOptions, Writer,
};

/// The format has no bloom filters for BOOLEAN columns. If they are requested by name, pyarrow 26 refuses them, too.
#[test]
fn an_option_for_all_columns_leaves_out_bloom_filters_of_booleans() {
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let batch = RecordBatch::try_from_iter([("flag", flags), ("id", ids)]).unwrap();
    let filtered = ColumnOptions::new().bloom_filter(BloomFilterOptions::new(0.01));
    let options = WriteOptions::new().columns(filtered.clone());
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let has_filter = [0, 1].map(|leaf| {
        let chunk = file.metadata().column_chunk(0, leaf).unwrap();
        chunk.meta_data.unwrap().bloom_filter_offset.is_some()
    });
    assert_eq!(has_filter, [false, true]);
    let by_name = WriteOptions::new().column("flag", filtered);
    let error = Writer::new(Vec::new(), batch.schema(), by_name)
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert_eq!(error.location().column.as_deref(), Some("flag"));
}

//! Tests that page indexes, bounds, bloom filters and explanations are the same for files in stores
//! and for local files.

use std::sync::Arc;

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::filter::col;
use herringbone::push::FetchPolicy;
use herringbone::{
    BloomFilterOptions, ColumnOptions, ErrorKind, Limits, ParquetFile, ReadOptions, WriteOptions,
};
use herringbone_remote::RemoteFile;

use crate::files::{batch, written};
use crate::memory::Memory;

/// Returns a file of four row groups and three columns, with pages of 500 rows and bloom filters.
fn file() -> Bytes {
    let columns = ColumnOptions::new().page_rows(500);
    let columns = columns.bloom_filter(BloomFilterOptions::new(0.01));
    let options = WriteOptions::new().columns(columns).row_group_rows(5_000);
    written(&batch(3, 20_000), options)
}

/// Opens an object. Only its footer arrives with the first request.
fn object(bytes: &Bytes) -> Arc<Memory> {
    let policy = FetchPolicy::remote().suffix_bytes(8).max_gap_bytes(1000);
    Arc::new(Memory::new(bytes.clone()).policy(policy))
}

#[test]
fn lookups_are_those_of_a_local_file() {
    let bytes = file();
    let local = ParquetFile::from_bytes(bytes.clone()).unwrap();
    block_on(async {
        let object = object(&bytes);
        let file = RemoteFile::open(object.clone(), Limits::default());
        let file = file.await.unwrap();
        for leaf in 0..3 {
            let bounds = file.row_group_bounds(leaf).unwrap();
            let expected = local.row_group_bounds(leaf).unwrap();
            assert_eq!(bounds.min.to_data(), expected.min.to_data());
            for row_group in 0..4 {
                let place = (row_group, leaf);
                let columns = file.column_index(row_group, leaf).await.unwrap();
                assert_eq!(columns, local.column_index(row_group, leaf).unwrap());
                let offsets = file.offset_index(row_group, leaf).await.unwrap();
                assert_eq!(offsets, local.offset_index(row_group, leaf).unwrap());
                assert!(columns.is_some() && offsets.is_some(), "{place:?}");
                let bounds = file.page_bounds(row_group, leaf).await.unwrap().unwrap();
                let expected = local.page_bounds(row_group, leaf).unwrap().unwrap();
                assert_eq!(bounds.max.to_data(), expected.max.to_data());
                for value in [0_i64, 4_999, 5_000, 19_999, 20_000] {
                    let found = file.bloom_filter_may_contain(row_group, leaf, value).await;
                    let expected = local.bloom_filter_may_contain(row_group, leaf, value);
                    assert_eq!(found.unwrap(), expected.unwrap(), "{place:?} {value}");
                }
                let filter = file.load_bloom_filter(row_group, leaf).await.unwrap();
                assert!(filter.is_some());
            }
        }
        assert_eq!(object.live(), 0);
        let error = file.column_index(9, 0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        let error = file.load_page_indexes([(0, 9)]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        object.break_by(|_, _| Err(std::io::Error::other("the store is down").into()));
        let error = file.column_index(0, 0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
    });
}

#[test]
fn page_indexes_arrive_in_one_round_and_are_retained() {
    let bytes = file();
    block_on(async {
        let object = object(&bytes);
        let file = RemoteFile::open(object.clone(), Limits::default());
        let file = file.await.unwrap();
        object.take();
        let all = || (0..4).flat_map(|row_group| (0..3).map(move |leaf| (row_group, leaf)));
        let cells = file.load_page_indexes(all()).await.unwrap();
        assert_eq!(cells.len(), 12);
        assert!(
            cells
                .iter()
                .all(|cell| cell.columns.is_some() && cell.offsets.is_some())
        );
        // The indexes lie next to each other.
        assert_eq!(object.take().len(), 1);
        file.load_page_indexes(all()).await.unwrap();
        assert_eq!(object.take().len(), 0);
        assert!(file.metadata_handle().page_index(3, 2).is_some());
    });
}

#[test]
fn explanations_are_those_of_a_local_file() {
    let bytes = file();
    let local = ParquetFile::from_bytes(bytes.clone()).unwrap();
    for filter in [
        col("id").ge(17_321),
        col("id").eq(5_000).or(col("c1").eq(7)),
        col("c2").eq(3),
        col("id").lt(0),
    ] {
        let options = ReadOptions::new().filter(filter.clone());
        let expected = local.explain(&options).unwrap();
        let (found, rounds) = block_on(async {
            let object = object(&bytes);
            let file = RemoteFile::open(object.clone(), Limits::default());
            let file = file.await.unwrap();
            object.take();
            let found = file.explain(&options).await.unwrap();
            (found, object.take().len())
        });
        // Only the decisions are equal, because the source's policy decides how requests are
        // counted.
        let decisions = |of: &[herringbone::filter::RowGroupExplanation]| -> Vec<_> {
            let steps = of.iter().flat_map(|explanation| &explanation.steps);
            steps
                .map(|steps| (steps.step, steps.ruled_out, steps.accepted))
                .collect()
        };
        assert_eq!(decisions(&found), decisions(&expected), "{filter}");
        // The lookups of four row groups share the rounds of their steps.
        assert!(rounds <= 24, "{filter}: {rounds} requests");
    }
    let file = block_on(RemoteFile::open(object(&bytes), Limits::default()));
    let options = ReadOptions::new().filter(col("none").eq(1));
    let error = block_on(file.unwrap().explain(&options)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
}

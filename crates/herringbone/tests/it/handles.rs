//! Tests of metadata that reads share, and of its page indexes.

use std::ops::Range;

use herringbone::source::FetchPolicy;
use herringbone::{
    ErrorKind, Limits, MetadataHandle, PageIndexCell, ParquetFile, ReadOptions, Step,
};

use crate::common::{Recorded, file, numbers, plain, written};

fn indexed() -> bytes::Bytes {
    let mut options = plain().row_group_rows(1_000);
    options.columns.page_rows = Some(100);
    written(&numbers(0, 3_000), options)
}

fn has(handle: &MetadataHandle) -> Vec<bool> {
    let chunks = (0..3).flat_map(|row_group| [(row_group, 0), (row_group, 1)]);
    let has = chunks.map(|(row_group, leaf)| handle.page_index(row_group, leaf).is_some());
    has.collect()
}

#[test]
fn page_indexes_are_retained_by_the_handles_that_share_them() {
    let file = ParquetFile::from_bytes(indexed()).unwrap();
    let handle = file.metadata_handle();
    let start = handle.heap_bytes();
    assert!(start > size_of::<Limits>(), "{start}");
    let cell = file.load_page_index(1, 0).unwrap();
    let offsets = cell.offsets.clone().unwrap();
    assert_eq!(offsets.page_locations.len(), 10);
    let own = |handle: &MetadataHandle| has(handle).into_iter().filter(|it| *it).count();
    // A handle is a copy. This one has the index, because it was made after the index was loaded.
    let after = file.metadata_handle();
    assert_eq!(has(&after), [false, false, true, false, false, false]);
    // An index of ten pages has ten locations and bounds of eight bytes.
    assert!(after.heap_bytes() >= start + 10 * (8 + 8 + 8));

    let frozen = after.frozen();
    let (footer, empty) = (after.footer_alone(), after.without_page_indexes());
    assert_eq!((own(&frozen), own(&footer), own(&empty)), (1, 0, 0));
    let size = frozen.heap_bytes();
    for each in [&after, &frozen, &footer, &empty] {
        each.insert_page_index(2, 1, cell.clone()).unwrap();
    }
    assert_eq!((own(&after), own(&frozen)), (2, 1));
    assert_eq!((own(&footer), own(&empty)), (0, 1));
    assert_eq!(frozen.heap_bytes(), size);
    after.drop_page_indexes();
    assert_eq!((own(&after), own(&frozen), own(&empty)), (0, 1, 1));
    for (row_group, leaf) in [(3, 0), (0, 2)] {
        let refused = after.insert_page_index(row_group, leaf, PageIndexCell::default());
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(
            error.message().contains("3 row groups of 2 columns"),
            "{error}"
        );
    }
}

/// Indexes are read only once, and all of them in one call.
#[test]
fn indexes_that_a_handle_has_are_not_requested_again() {
    let source = Recorded::new(indexed(), FetchPolicy::local());
    let handle = source.open().metadata_handle();
    let file = ParquetFile::with_metadata(source.clone(), handle).unwrap();
    source.take();
    let cells = file.load_page_indexes([(0, 0), (0, 1), (2, 0)]).unwrap();
    assert_eq!(cells.len(), 3);
    for (cell, row_group) in cells.iter().zip([0, 0, 2]) {
        let columns = cell.columns.as_ref().unwrap();
        assert_eq!(columns.null_pages.len(), 10, "row group {row_group}");
    }
    // The bounds of `a` are the ordinals of the first and last row of each page.
    let least = |cell: &PageIndexCell| {
        cell.columns
            .as_ref()
            .unwrap()
            .min_values
            .get(3)
            .unwrap()
            .to_vec()
    };
    assert_eq!(least(&cells[0]), 300_i64.to_le_bytes());
    assert_eq!(least(&cells[1]), 90_000_i64.to_le_bytes());
    assert_eq!(least(&cells[2]), 2_300_i64.to_le_bytes());
    assert!(!source.take().is_empty());
    let again = file.load_page_index(2, 0).unwrap();
    assert_eq!(again.columns, cells[2].columns);
    assert_eq!(source.take(), [] as [Range<u64>; 0]);
    assert!(file.load_page_index(1, 0).unwrap().offsets.is_some());
    assert!(!source.take().is_empty());
    assert_eq!(
        file.load_page_index(3, 0).unwrap_err().kind(),
        ErrorKind::Argument
    );
}

/// A footer is decoded from the last bytes, or the answer names the bytes that it needs.
#[test]
fn a_handle_is_decoded_from_the_end_of_a_file() {
    let bytes = file(2, 50);
    let length = bytes.len() as u64;
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap());
    let footer = length - 8 - u64::from(footer);
    let decode = |from: u64| {
        let end = bytes.slice(usize::try_from(from).unwrap()..);
        MetadataHandle::decode(&end, length, Limits::default()).unwrap()
    };
    for from in [0, footer - 1, footer] {
        let Step::Ready(handle) = decode(from) else {
            panic!("the footer is complete from {from}");
        };
        assert_eq!(handle.file_length(), length);
        assert_eq!(handle.metadata().num_rows(), 100);
        let rows = handle.plan(&ReadOptions::new()).unwrap().row_groups().len();
        assert_eq!(rows, 2);
    }
    let Step::Need(range) = decode(footer + 1) else {
        panic!("a byte is missing");
    };
    assert!(range.start <= footer && range.end > footer, "{range:?}");
    let handle = ParquetFile::from_bytes(bytes.clone())
        .unwrap()
        .metadata_handle();
    let error = ParquetFile::with_metadata(bytes.slice(1..), handle).unwrap_err();
    assert!(error.message().contains(&length.to_string()), "{error}");
}

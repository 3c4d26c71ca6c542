//! Tests of the row groups, pages, bounds and bloom filters of opened files.

use herringbone::arrow::array::ArrayRef;
use herringbone::arrow::array::cast::AsArray as _;
use herringbone::arrow::array::types::Int64Type;
use herringbone::source::FetchPolicy;
use herringbone::{BloomFilterOptions, ErrorKind, ParquetFile, SchemaOptions};

use crate::common::{Recorded, file, numbers, plain, written};

#[test]
fn splits_of_a_file_have_each_row_group_once() {
    let bytes = file(4, 500);
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let length = bytes.len() as u64;
    assert_eq!(file.row_groups_in(0..length).unwrap(), [0, 1, 2, 3]);
    for parts in 1..7 {
        let ends: Vec<u64> = (0..=parts).map(|at| length * at / parts).collect();
        let found = ends
            .windows(2)
            .flat_map(|pair| file.row_groups_in(pair[0]..pair[1]).unwrap());
        assert_eq!(found.collect::<Vec<_>>(), [0, 1, 2, 3], "{parts} parts");
    }
}

/// Pages of 100 rows have the right places, sizes and counts.
#[test]
fn pages_fill_their_chunk() {
    let mut options = plain().row_group_rows(450);
    options.columns.page_rows = Some(100);
    let file = ParquetFile::from_bytes(written(&numbers(0, 900), options)).unwrap();
    for (row_group, leaf) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let chunk = file.metadata().column_chunk(row_group, leaf).unwrap();
        let chunk = chunk.meta_data.unwrap();
        let (mut at, mut values) = (chunk.data_page_offset as u64, 0);
        let offsets = file.offset_index(row_group, leaf).unwrap().unwrap();
        let pages: Vec<_> = file.pages(row_group, leaf).unwrap().collect();
        assert_eq!(pages.len(), 5);
        for (ordinal, (page, location)) in pages.iter().zip(&offsets.page_locations).enumerate() {
            let page = page.as_ref().unwrap();
            let rows = if ordinal < 4 { 100 } else { 50 };
            assert_eq!((page.start.ordinal, page.start.offset), (ordinal, at));
            assert_eq!(page.start.num_values_before, values);
            assert_eq!(page.header.num_values(), Some(rows));
            let stored = page.header_bytes as u64 + page.body_bytes;
            assert!(page.body_bytes >= 8 * rows as u64);
            assert_eq!(location.offset as u64, at);
            assert_eq!(location.compressed_page_size as u64, stored);
            (at, values) = (at + stored, values + rows as u64);
        }
        let end = chunk.data_page_offset + chunk.total_compressed_size;
        assert_eq!((at, values), (end as u64, 450));
        let columns = file.column_index(row_group, leaf).unwrap().unwrap();
        assert_eq!(columns.null_pages, [false; 5]);
    }
    let error = file.pages(2, 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}

#[test]
fn bounds_are_those_of_the_values() {
    let mut options = plain().row_group_rows(450);
    options.columns.page_rows = Some(100);
    let file = ParquetFile::from_bytes(written(&numbers(0, 900), options)).unwrap();
    let column = |values: &ArrayRef| values.as_primitive::<Int64Type>().values().to_vec();
    let bounds = file.row_group_bounds(0).unwrap();
    assert_eq!(column(&bounds.min), [0, 450]);
    assert_eq!(column(&bounds.max), [449, 899]);
    assert_eq!(bounds.row_counts.values().to_vec(), [450, 450]);
    assert_eq!(bounds.null_counts.values().to_vec(), [0, 0]);
    let bounds = file.page_bounds(1, 1).unwrap().unwrap();
    let squares = |rows: [i64; 5]| rows.map(|row| row * row);
    assert_eq!(column(&bounds.min), squares([450, 550, 650, 750, 850]));
    assert_eq!(column(&bounds.max), squares([549, 649, 749, 849, 899]));
    assert_eq!(
        bounds.row_counts.values().to_vec(),
        [100, 100, 100, 100, 50]
    );
    assert!(file.page_bounds(2, 0).is_err());
    let mut options = plain();
    options.page_index = false;
    let without = ParquetFile::from_bytes(written(&numbers(0, 10), options)).unwrap();
    assert!(without.page_bounds(0, 0).unwrap().is_none());
}

/// A filter has every value of its chunk, and few others.
#[test]
fn bloom_filters_are_asked_for_values() {
    let mut options = plain().row_group_rows(500);
    options.columns.bloom_filter = Some(BloomFilterOptions::new(0.001));
    let source = Recorded::new(written(&numbers(0, 1_000), options), FetchPolicy::local());
    let file = source.open();
    for row_group in [0, 1] {
        let first = row_group as i64 * 500;
        let may = |value: i64| file.bloom_filter_may_contain(row_group, 0, value).unwrap();
        assert!((first..first + 500).all(|value| may(value) == Some(true)));
        let others = (10_000..11_000).filter(|value| may(*value) == Some(true));
        assert!(others.count() < 20);
        let header = file.bloom_filter_header(row_group, 0).unwrap().unwrap();
        let filter = file.load_bloom_filter(row_group, 0).unwrap();
        assert!(filter.is_some() && header.num_bytes % 32 == 0);
    }
    let without = ParquetFile::from_bytes(crate::common::file(1, 10)).unwrap();
    assert!(without.bloom_filter(0, 0).unwrap().is_none());
    assert!(without.bloom_filter_header(0, 0).unwrap().is_none());
    assert!(without.load_bloom_filter(0, 0).unwrap().is_none());
    assert_eq!(without.bloom_filter_may_contain(0, 0, 7_i64).unwrap(), None);
}

/// An error has its file's name, if the file was opened by path.
#[test]
fn files_have_names() {
    let path = std::env::temp_dir().join(format!("herringbone-named-{}", std::process::id()));
    std::fs::write(&path, file(2, 10)).unwrap();
    let file = ParquetFile::open(&path).unwrap();
    let name = path.display().to_string();
    let error = file.pages(9, 0).unwrap_err();
    assert!(error.to_string().contains(&name), "{error}");
    let error = file.without_name().pages(9, 0).unwrap_err();
    assert!(!error.to_string().contains(&name), "{error}");
    let shown = format!("{file:?}");
    assert!(shown.contains("rows: 20, row_groups: 2"), "{shown}");
    let schema = file.arrow_schema(&SchemaOptions::default()).unwrap();
    assert_eq!(schema, numbers(0, 1).schema());
    std::fs::remove_file(&path).unwrap();
    assert_eq!(ParquetFile::open(&path).unwrap_err().kind(), ErrorKind::Io);
}

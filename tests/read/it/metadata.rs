//! Reads metadata without data, and checks that pages, indexes and bloom filters agree with the column chunks.

use herringbone::ParquetFile;
use herringbone::format::{ColumnMetaData, PageHeader};

use crate::files;
use crate::table::without_panic;

/// Returns the number of values that a page header declares, or `None` for dictionary, index and unknown pages.
fn num_values(header: &PageHeader) -> Option<i64> {
    let v1 = header.data_page_header.as_ref().map(|h| h.num_values);
    let v2 = header.data_page_header_v2.as_ref().map(|h| h.num_values);
    v1.or(v2).map(i64::from)
}

fn metadata(file: &ParquetFile, row_group: usize, leaf: usize) -> ColumnMetaData {
    file.metadata()
        .column_chunk(row_group, leaf)
        .unwrap()
        .meta_data
        .unwrap()
}

/// Returns the fault in a column chunk's pages, if there is one.
fn check_pages(file: &ParquetFile, row_group: usize, leaf: usize) -> Option<String> {
    let metadata = metadata(file, row_group, leaf);
    let mut pages = Vec::new();
    for page in file
        .pages(row_group, leaf)
        .map_err(|e| e.to_string())
        .ok()?
    {
        match page {
            Ok(page) => pages.push(page),
            Err(error) => return Some(error.to_string()),
        }
    }
    let values: i64 = pages
        .iter()
        .filter_map(|page| num_values(&page.header))
        .sum();
    if values != metadata.num_values {
        return Some(format!(
            "{values} values in pages, {} in the chunk",
            metadata.num_values
        ));
    }
    for pair in pages.windows(2) {
        let body = u64::try_from(pair[0].header.compressed_page_size).unwrap();
        let end = pair[0].start.offset + pair[0].header_bytes as u64 + body;
        if pair[1].start.offset != end {
            return Some(format!(
                "a page at {}, the one before ends at {end}",
                pair[1].start.offset
            ));
        }
    }
    let index = file.offset_index(row_group, leaf).unwrap()?;
    let located: Vec<_> = index
        .page_locations
        .iter()
        .map(|l| u64::try_from(l.offset).unwrap())
        .collect();
    let data: Vec<_> = pages
        .iter()
        .filter(|p| num_values(&p.header).is_some())
        .map(|p| p.start.offset)
        .collect();
    (located != data).then(|| format!("the offset index says {located:?}, pages are at {data:?}"))
}

/// Checks the files, and returns how many chunks and offset indexes they have.
fn check(paths: &[std::path::PathBuf]) -> (usize, usize) {
    let (mut wrong, mut chunks, mut indexes) = (Vec::new(), 0, 0);
    for path in paths {
        let name = files::short(path);
        let file = ParquetFile::open(path).unwrap_or_else(|error| panic!("{name}: {error}"));
        for row_group in 0..file.metadata().num_row_groups() {
            for leaf in 0..file.parquet_schema().leaves().len() {
                chunks += 1;
                indexes += usize::from(file.offset_index(row_group, leaf).unwrap().is_some());
                let fault = without_panic(|| check_pages(&file, row_group, leaf));
                if let Some(fault) = fault.unwrap_or_else(Some) {
                    wrong.push(format!(
                        "{name}, row group {row_group}, leaf {leaf}: {fault}"
                    ));
                }
                let column = file.column_index(row_group, leaf).unwrap();
                let offset = file.offset_index(row_group, leaf).unwrap();
                if let (Some(column), Some(offset)) = (column, offset) {
                    assert_eq!(
                        column.null_pages.len(),
                        offset.page_locations.len(),
                        "{name}"
                    );
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    (chunks, indexes)
}

#[test]
fn pages_add_up() {
    let (chunks, indexes) = check(&files::generated());
    assert!(
        chunks > 1000 && indexes > 100,
        "{chunks} chunks, {indexes} offset indexes"
    );
}

#[test]
fn pages_of_official_files_add_up() {
    let Some(root) = files::official() else {
        return;
    };
    let mut paths = files::parquet_files(&root.join("data"));
    // The footer and the pages of 2 GiB in this file are valid, but pages that exceed the limit are an error.
    paths.retain(|path| !path.ends_with("large_string_map.brotli.parquet"));
    let (chunks, indexes) = check(&paths);
    assert!(
        chunks > 500 && indexes > 20,
        "{chunks} chunks, {indexes} offset indexes"
    );
}

/// The README of the data describes these bloom filters.
#[test]
fn bloom_filters_have_headers() {
    let Some(root) = files::official() else {
        return;
    };
    for name in [
        "data_index_bloom_encoding_stats",
        "data_index_bloom_encoding_with_length",
    ] {
        let file = ParquetFile::open(root.join(format!("data/{name}.parquet"))).unwrap();
        let header = file
            .bloom_filter_header(0, 0)
            .unwrap()
            .expect("a bloom filter");
        assert!(
            header.num_bytes > 0 && header.num_bytes % 32 == 0,
            "{name}: {header:?}"
        );
        let index = file.column_index(0, 0).unwrap().expect("a column index");
        assert_eq!(index.null_pages.len(), 1, "{name}");
        assert_eq!(index.min_values.get(0), Some(&b"Hello"[..]), "{name}");
        assert_eq!(index.max_values.get(0), Some(&b"today"[..]), "{name}");
    }
    let with_length =
        ParquetFile::open(root.join("data/data_index_bloom_encoding_with_length.parquet"));
    let length = metadata(&with_length.unwrap(), 0, 0).bloom_filter_length;
    assert!(length.is_some_and(|length| length > 0));
}

/// If a chunk is in another file, the error contains that file's name and the chunk's location.
#[test]
fn chunks_in_other_files_are_clear_errors() {
    let path = files::testdata().join("hostile/external_file.parquet");
    let file = ParquetFile::open(path).unwrap();
    let read = file.read(herringbone::ReadOptions::default());
    let error = read.and_then(|mut reader| reader.next_batch()).unwrap_err();
    assert_eq!(error.kind(), herringbone::ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("elsewhere.parquet"), "{error}");
    assert!(
        error.location().column.is_some() && error.location().row_group == Some(0),
        "{error}"
    );
}

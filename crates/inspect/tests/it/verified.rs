//! Tests that sound files have no findings, and that damaged ones have some.

use std::collections::BTreeSet;

use herringbone::{
    BloomFilterOptions, ColumnOptions, DataPageVersion, ParquetFile, SortingColumnOption,
    WriteOptions,
};
use herringbone_inspect::verify::{Finding, FindingKind, Severity};

use crate::files::{GROUP, ROWS, batch, footer_start, options, written};

fn findings(file: &[u8]) -> Option<Vec<Finding>> {
    let file = ParquetFile::from_bytes(file.to_vec()).ok()?;
    herringbone_inspect::verify(&file)
        .threads(1)
        .collect::<Result<_, _>>()
        .ok()
}

/// Returns options that write the table in different ways.
fn ways() -> Vec<WriteOptions> {
    let bloom = ColumnOptions::new().bloom_filter(BloomFilterOptions::default());
    let sorted = vec![
        SortingColumnOption::new(["row"]),
        SortingColumnOption::new(["float"]),
    ];
    vec![
        options(),
        options().data_page_version(DataPageVersion::V2),
        options().page_index(false),
        options().crc(false),
        options().columns(ColumnOptions::new().dictionary(false)),
        options().column("row", bloom.clone()).column("text", bloom),
        options().sorting_columns(sorted),
    ]
}

#[test]
fn sound_files_have_no_findings() {
    for (at, options) in ways().into_iter().enumerate() {
        let bytes = written(&batch(), options);
        assert_eq!(findings(&bytes), Some(Vec::new()), "{at}");
    }
}

#[test]
fn chunks_and_pages_are_counted() {
    let bytes = written(
        &batch(),
        options()
            .crc(false)
            .columns(ColumnOptions::new().dictionary(false)),
    );
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let mut verify = herringbone_inspect::verify(&file).threads(1);
    let chunks = 7 * (ROWS / GROUP) as u64;
    assert_eq!(
        (
            verify.num_chunks(),
            verify.chunks_done(),
            verify.num_pages()
        ),
        (chunks, 0, 0)
    );
    let mut done = 0;
    while let Some(found) = verify.next_part().unwrap() {
        assert!(found.is_empty(), "{found:?}");
        assert!(verify.chunks_done() >= done);
        done = verify.chunks_done();
    }
    assert_eq!(done, chunks);
    // Each chunk has two pages, and these do not have checksums.
    assert_eq!(
        (verify.num_pages(), verify.pages_without_checksum()),
        (2 * chunks, 2 * chunks)
    );
    let file = ParquetFile::from_bytes(written(&batch(), options())).unwrap();
    let mut verify = herringbone_inspect::verify(&file);
    while verify.next_part().unwrap().is_some() {}
    assert_eq!(verify.pages_without_checksum(), 0);
    assert_eq!(verify.chunks_done(), chunks);
}

/// A changed byte in a page's body contradicts the checksum. Headers and indexes have bytes that do
/// not mean anything, and bounds can be wider than needed, so some changes in these are not found.
#[test]
fn changed_bytes_of_pages_and_indexes_are_found() {
    let bytes = written(&batch(), options());
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let pages = (0..3).flat_map(|row_group| (0..7).map(move |leaf| (row_group, leaf)));
    let pages = pages.flat_map(|(row_group, leaf)| file.pages(row_group, leaf).unwrap());
    let bodies = pages.map(|page| {
        let page = page.unwrap();
        let start = page.start.offset as usize + page.header_bytes;
        start..start + page.header.compressed_page_size as usize
    });
    let bodies: Vec<_> = bodies.collect();
    let mut kinds = BTreeSet::new();
    let (mut silent, mut found_ones) = (0, 0);
    for at in (4..footer_start(&bytes)).step_by(5) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        let found = findings(&damaged).unwrap();
        let is_body = bodies.iter().any(|body| body.contains(&at));
        let has_checksum = found
            .iter()
            .any(|finding| finding.kind == FindingKind::Checksum);
        assert!(has_checksum || !is_body, "{at}: {found:?}");
        match found.is_empty() {
            true => silent += 1,
            false => found_ones += 1,
        }
        kinds.extend(found.iter().map(|finding| finding.kind.to_string()));
    }
    assert!(3 * silent < found_ones, "{silent} {found_ones}");
    for kind in ["checksum", "page_header", "column_index", "offset_index"] {
        assert!(kinds.contains(kind), "no {kind} in {kinds:?}");
    }
}

/// If a file has no checksums, its metadata is compared with its values. Few bits of the metadata
/// can have any value.
#[test]
fn changed_bytes_of_the_footer_are_found() {
    let bytes = written(&batch(), options());
    let (start, end) = (footer_start(&bytes), bytes.len() - 8);
    // The writer's name and the Arrow schema are text that nothing contradicts.
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let text = file.metadata().created_by().unwrap().len()
        + file
            .metadata()
            .key_value_metadata()
            .iter()
            .map(|pair| pair.value.as_ref().map_or(0, |it| it.len()))
            .sum::<usize>();
    let (mut silent, mut kinds) = (0, BTreeSet::new());
    for at in (start..end).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        match findings(&damaged) {
            Some(found) if found.is_empty() => silent += 1,
            Some(found) => kinds.extend(found.into_iter().map(|it| it.kind.to_string())),
            None => {}
        }
    }
    // Names are not contradicted either, because a renamed column is still a column.
    assert!(
        3 * silent < text + (end - start) / 5,
        "{silent} of {}, with {text} bytes of text",
        end - start
    );
    for kind in [
        "column_metadata",
        "statistics",
        "size_statistics",
        "encodings",
        "rows",
        "offset_index",
        "column_index",
        "range",
    ] {
        assert!(kinds.contains(kind), "no {kind} in {kinds:?}");
    }
}

#[test]
fn wrong_orders_and_sums_are_found() {
    let kinds = |bytes: &[u8]| -> Vec<(FindingKind, Severity)> {
        let found = findings(bytes).unwrap();
        found
            .iter()
            .map(|finding| (finding.kind, finding.severity))
            .collect()
    };
    // The numbers fall in the second half of the first row group.
    use herringbone::arrow::array::{ArrayRef, Int32Array, RecordBatch};
    let falling: ArrayRef = std::sync::Arc::new(Int32Array::from(vec![1, 2, 3, 4, 9, 8, 7, 6]));
    let batch = RecordBatch::try_from_iter([("n", falling)]).unwrap();
    let sound = written(&batch, options());
    assert_eq!(kinds(&sound), []);
    let unsorted = options().sorting_columns(vec![SortingColumnOption::new(["n"])]);
    let found = kinds(&written(&batch, unsorted));
    assert!(
        found.iter().any(|(kind, _)| *kind == FindingKind::Sorting),
        "{found:?}"
    );
    // The first file has lost its magic bytes at the start, and the second one ends early.
    let mut damaged = sound.clone();
    damaged[0] = b'X';
    assert_eq!(kinds(&damaged), [(FindingKind::Magic, Severity::Error)]);
    assert!(findings(&sound[..sound.len() - 1]).is_none());
}

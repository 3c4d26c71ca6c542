//! Verifies pages and bloom filters in which some bits were changed.

use herringbone::{DataPageVersion, ParquetFile};
use herringbone_inspect::verify::{Finding, FindingKind, Severity};

use super::findings;
use crate::damage::{ID, LIST, NAME, SCORE, body, sound, with_metadata};

/// Returns the kinds of the findings. Checks that all of them are errors in this column of row group 0.
fn kinds(found: &[Finding], column: &str) -> Vec<FindingKind> {
    for finding in found {
        assert_eq!(
            finding.location.column.as_deref(),
            Some(column),
            "{finding}"
        );
        assert_eq!(finding.location.row_group, Some(0), "{finding}");
        assert_eq!(finding.severity, Severity::Error, "{finding}");
    }
    found.iter().map(|finding| finding.kind).collect()
}

#[test]
fn a_flipped_value_is_seen_by_checksum_and_bounds() {
    let mut file = sound(DataPageVersion::V1);
    let place = body(&file, ID, 1);
    // The second page's last value, which is 110, becomes 65646.
    file[place.end - 2] = 1;
    let found = findings(&file);
    let (kind, checksum) = (FindingKind::Checksum, &found[0]);
    assert_eq!(checksum.kind, kind);
    assert_eq!(checksum.location.page, Some(1));
    assert!(checksum.location.offset.unwrap() < place.start as u64);
    assert_eq!(
        kinds(&found, "id"),
        [kind, FindingKind::ColumnIndex, FindingKind::Statistics]
    );
    assert_eq!(
        found[2].message,
        "max_value is 110, but the greatest value is 65646"
    );
}

#[test]
fn text_that_is_not_utf8() {
    let mut file = sound(DataPageVersion::V1);
    // This is the dictionary's second entry. Each entry has a length prefix, and the first entry is "cod".
    let place = body(&file, NAME, 0).start + 4 + 3 + 4;
    assert_eq!(&file[place..place + 3], b"eel");
    file[place] = 0xff;
    let found = findings(&file);
    let utf8: Vec<_> = found
        .iter()
        .filter(|found| found.kind == FindingKind::Utf8)
        .collect();
    assert_eq!(utf8.len(), 4, "{found:?}");
    assert_eq!(
        (utf8[0].location.page, utf8[0].message.as_str()),
        (
            Some(0),
            "1 values are not UTF-8, the first of them is value 1"
        )
    );
    assert_eq!(
        (utf8[1].location.page, utf8[1].message.as_str()),
        (
            Some(2),
            "1 values are not UTF-8, the first of them is value 0"
        )
    );
    // The bloom filter no longer matches the value, either.
    assert!(
        found
            .iter()
            .any(|found| found.kind == FindingKind::BloomFilter)
    );
}

#[test]
fn indices_behind_the_end_of_the_dictionary() {
    let mut file = sound(DataPageVersion::V1);
    let place = body(&file, NAME, 2);
    // The page has three codes of two bits, and padding fills a group of eight.
    file[place.end - 2] = 0xff;
    let found = findings(&file);
    assert_eq!(
        kinds(&found, "name"),
        [FindingKind::Checksum, FindingKind::Page]
    );
    assert_eq!(found[1].location.page, Some(2));
    assert_eq!(found[1].message, "an index past the end of the dictionary");
}

#[test]
fn levels_that_end_early_or_are_too_high() {
    let file = sound(DataPageVersion::V1);
    let place = body(&file, SCORE, 0);
    let mut short = file.clone();
    short[place.start] = 1;
    let found = findings(&short);
    assert_eq!(
        kinds(&found, "score"),
        [FindingKind::Checksum, FindingKind::Page]
    );
    let mut high = file;
    let place = body(&high, LIST, 0);
    high[place.start..place.end].fill(0xff);
    let found = findings(&high);
    assert_eq!(
        kinds(&found, "list.list.element"),
        [FindingKind::Checksum, FindingKind::Page]
    );
}

#[test]
fn headers_of_version_2_count_nulls_and_rows() {
    let file = sound(DataPageVersion::V2);
    let page = |leaf| {
        let opened = ParquetFile::from_bytes(file.clone()).unwrap();
        opened.pages(0, leaf).unwrap().next().unwrap().unwrap()
    };
    // Each count is a single byte, because it is a short zigzag varint after its field header.
    let header = |leaf| {
        let page = page(leaf);
        let start = page.start.offset as usize;
        (start..start + page.header_bytes, page.header)
    };
    let (range, parsed) = header(SCORE);
    let v2 = parsed.data_page_header_v2.unwrap();
    assert_eq!((v2.num_values, v2.num_nulls, v2.num_rows), (6, 2, 6));
    let counts = [0x15, 12, 0x15, 4, 0x15, 12];
    let at = file[range.clone()]
        .windows(6)
        .position(|window| window == counts)
        .unwrap();
    let mut other = file.clone();
    other[range.start + at + 3] = 2;
    let found = findings(&other);
    assert_eq!(kinds(&found, "score"), [FindingKind::PageHeader]);
    assert_eq!(found[0].message, "num_nulls is 1, but the levels give 2");
    assert_eq!(found[0].location.page, Some(0));
    other[range.start + at + 3] = 4;
    other[range.start + at + 5] = 14;
    let found = findings(&other);
    assert_eq!(kinds(&found, "score"), [FindingKind::PageHeader]);
    assert_eq!(found[0].message, "num_rows is 7, but the levels give 6");
}

#[test]
fn a_header_that_is_none() {
    let mut file = sound(DataPageVersion::V1);
    let offset = {
        let opened = ParquetFile::from_bytes(file.clone()).unwrap();
        opened
            .pages(0, ID)
            .unwrap()
            .nth(1)
            .unwrap()
            .unwrap()
            .start
            .offset
    };
    file[offset as usize] = 0;
    let found = findings(&file);
    assert_eq!(kinds(&found, "id"), [FindingKind::PageHeader]);
    assert_eq!(found[0].location.offset, Some(offset));
    assert_eq!(found[0].location.page, Some(1));
    // The other columns and the other row group are undamaged.
    assert_eq!(found.len(), 1);
}

#[test]
fn a_bloom_filter_with_bits_cleared() {
    let file = sound(DataPageVersion::V1);
    let opened = ParquetFile::from_bytes(file.clone()).unwrap();
    let chunk = opened.metadata().column_chunk(0, NAME).unwrap();
    let metadata = chunk.meta_data.unwrap();
    let offset = metadata.bloom_filter_offset.unwrap() as usize;
    let end = offset + metadata.bloom_filter_length.unwrap() as usize;
    let mut cleared = file.clone();
    cleared[end - 32..end].fill(0);
    let found = findings(&cleared);
    assert_eq!(kinds(&found, "name"), [FindingKind::BloomFilter]);
    assert_eq!(
        found[0].message,
        "12 of 12 values are not in the filter, though they occur"
    );
    assert_eq!(found[0].location.offset, Some(offset as u64));
    assert_eq!(found[0].location.page, Some(1));

    let other = with_metadata(&file, NAME, |it| {
        it.bloom_filter_length = it
            .bloom_filter_length
            .map(|bloom_filter_length| bloom_filter_length - 1);
    });
    let found = findings(&other);
    assert_eq!(kinds(&found, "name"), [FindingKind::BloomFilter]);
    assert!(
        found[0].message.starts_with("the bloom filter has "),
        "{}",
        found[0].message
    );
}

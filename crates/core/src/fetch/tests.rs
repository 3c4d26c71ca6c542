use std::ops::Range;

use herringbone_format::thrift::CompactWriter;
use herringbone_format::{
    ColumnChunk, ColumnMetaData, CompressionCodec, FileMetadata, FileMetadataParts, Limits,
    RowGroup, SchemaElement, Type,
};

use super::*;

/// Pseudorandom numbers from the upper half of a linear congruential generator.
struct Random(u64);

impl Random {
    /// Returns a number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn policy(max_gap_bytes: u64, max_request_bytes: u64) -> FetchPolicy {
    FetchPolicy {
        max_gap_bytes,
        max_request_bytes,
        ..FetchPolicy::remote()
    }
}

fn ranges_of(ranges: &[Range<u64>], policy: &FetchPolicy) -> Vec<Range<u64>> {
    let requests = requests(ranges.iter().cloned(), policy);
    requests.map(|request| request.range).collect()
}

#[test]
fn chunks_of_columns_and_row_groups_share_requests() {
    // There are three columns in two row groups, and the second row group is stored first.
    let chunks = [
        5000..5100,
        5100..5200,
        5900..6000,
        0..100,
        100..200,
        900..1000,
    ];
    let asked = |gap, most| ranges_of(&chunks, &policy(gap, most));
    assert_eq!(asked(0, 1000), [0..200, 900..1000, 5000..5200, 5900..6000]);
    assert_eq!(asked(699, 1000), asked(0, 1000));
    assert_eq!(asked(700, 1000), [0..1000, 5000..6000]);
    assert_eq!(asked(u64::MAX, u64::MAX), [0..6000]);
    // A chunk is not split if it fits into a request.
    assert_eq!(asked(0, 199)[..2], [0..100, 100..200]);
    assert_eq!(asked(0, 60)[..3], [0..60, 60..100, 100..160]);
}

#[test]
fn what_overlaps_is_fetched_once() {
    let wanted = [10..20, 15..30, 10..12, 30..40, 7..7, 100..100];
    let requests: Vec<_> = requests(wanted, &policy(0, 100)).collect();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].range, 10..40);
    assert_eq!(requests[0].wanted, [10..30, 30..40]);
    assert_eq!(requests[0].fetched_bytes(), 30);
    assert_eq!(requests[0].wanted_bytes(), 30);
}

#[test]
fn the_largest_ranges_take_no_memory() {
    let all = 0..u64::MAX;
    let mut requests = requests([all.clone(), all], &policy(u64::MAX, 0));
    assert_eq!(requests.next().unwrap().range, 0..1);
    assert_eq!(requests.next().unwrap().range, 1..2);
    assert_eq!(
        ranges_of(&[0..u64::MAX], &FetchPolicy::memory()),
        [0..u64::MAX]
    );
}

#[test]
fn random_ranges_are_covered_once_within_the_limits() {
    let mut random = Random(46);
    for _ in 0..2_000 {
        let file_length = 1 + random.below(400);
        let count = random.below(20);
        let wanted: Vec<_> = (0..count)
            .map(|_| {
                let start = random.below(file_length);
                start..(start + random.below(60)).min(file_length)
            })
            .collect();
        let policy = policy(random.below(30), 1 + random.below(80));
        // Counts how often each of the file's bytes is wanted, listed as wanted, and fetched.
        let mut bytes = vec![(0, 0, 0); file_length as usize];
        let slots = |range: &Range<u64>| range.start as usize..range.end as usize;
        for range in &wanted {
            bytes[slots(range)].iter_mut().for_each(|byte| byte.0 = 1);
        }
        let requests: Vec<_> = requests(wanted.clone(), &policy).collect();
        for request in &requests {
            assert!(request.fetched_bytes() <= policy.max_request_bytes);
            assert_eq!(request.wanted[0].start, request.range.start);
            assert_eq!(request.wanted.last().unwrap().end, request.range.end);
            for pair in request.wanted.windows(2) {
                let gap = pair[1].start.checked_sub(pair[0].end).unwrap();
                assert!(gap <= policy.max_gap_bytes);
            }
            for range in &request.wanted {
                bytes[slots(range)].iter_mut().for_each(|byte| byte.1 += 1);
            }
            let fetched = &mut bytes[slots(&request.range)];
            fetched.iter_mut().for_each(|byte| byte.2 += 1);
        }
        assert!(bytes.iter().all(|byte| byte.0 == byte.1), "{wanted:?}");
        assert!(bytes.iter().all(|byte| byte.2 <= 1), "{wanted:?}");
        let listed: u64 = requests.iter().map(Request::wanted_bytes).sum();
        assert_eq!(listed, bytes.iter().map(|byte| byte.0).sum::<u64>());
        // Mergeable requests are merged, unless a range was split because of its size.
        for pair in requests.windows(2) {
            let gap = pair[1].range.start - pair[0].range.end;
            let together = pair[1].wanted[0].end - pair[0].range.start;
            assert!(gap > policy.max_gap_bytes || together > policy.max_request_bytes);
        }
    }
}

/// Returns the footer of a file with these row groups. Each row group has three offsets: the first column's dictionary,
/// its first data page, and the row group's own offset as the footer states it.
fn footer(row_groups: &[(Option<i64>, i64, Option<i64>)]) -> FileMetadata {
    let row_group = |&(dictionary, data, stated): &(Option<i64>, i64, Option<i64>)| {
        let codec = CompressionCodec::Uncompressed;
        let metadata = ColumnMetaData::new(Type::Int64, Vec::new(), codec, 10, 80, 80, data)
            .dictionary_page_offset(dictionary);
        let chunk = ColumnChunk::new(0).meta_data(metadata);
        RowGroup::new(vec![chunk], 80, 10).file_offset(stated)
    };
    let root = SchemaElement::new("root".into()).num_children(1);
    let leaf = SchemaElement::new("a".into()).type_(Type::Int64);
    let row_groups: Vec<_> = row_groups.iter().map(row_group).collect();
    let num_rows = 10 * row_groups.len() as i64;
    let mut writer = CompactWriter::new();
    FileMetadataParts::new(2, vec![root, leaf], num_rows, row_groups).encode(&mut writer);
    FileMetadata::decode(writer.finish().into(), 0, &Limits::default()).unwrap()
}

#[test]
fn a_row_group_belongs_to_the_range_of_its_first_byte() {
    // The row groups are in the order of the footer, which differs from their order in the file. Some writers set the
    // offset of a missing dictionary or of missing data pages to 0.
    let footer = footer(&[
        (Some(400), 450, None),
        (Some(0), 4, Some(200)),
        (None, 200, None),
        (Some(300), 0, None),
        (None, 5000, None),
    ]);
    let row_groups = |bytes| row_groups_in(&bytes, &footer, 1000).unwrap();
    assert_eq!(row_groups(0..1000), [0, 1, 2, 3, 4]);
    assert_eq!(row_groups(0..200), [1]);
    assert_eq!(row_groups(200..201), [2]);
    assert_eq!(row_groups(201..401), [0, 3]);
    assert!(row_groups(401..999).is_empty());
    // The last row group starts past the end of the file.
    assert_eq!(row_groups(999..1000), [4]);
}

#[test]
fn ranges_that_tile_a_file_tile_its_row_groups() {
    let mut random = Random(7);
    for _ in 0..500 {
        let file_length = 12 + random.below(200);
        let offset = |random: &mut Random| random.below(2 * file_length) as i64 - 20;
        let count = random.below(12);
        let row_groups: Vec<_> = (0..count)
            .map(|_| {
                // The footer decoder refuses data pages at negative offsets.
                let data = offset(&mut random).max(0);
                let dictionary = (random.below(2) == 0).then(|| offset(&mut random));
                (dictionary, data, Some(offset(&mut random)))
            })
            .collect();
        let footer = footer(&row_groups);
        let mut borders: Vec<_> = (0..random.below(6))
            .map(|_| random.below(file_length))
            .chain([0, file_length])
            .collect();
        borders.sort_unstable();
        let mut found = Vec::new();
        for border in borders.windows(2) {
            found.extend(row_groups_in(&(border[0]..border[1]), &footer, file_length).unwrap());
        }
        found.sort_unstable();
        assert!(found.into_iter().eq(0..count as usize), "{row_groups:?}");
    }
}

//! Tests the rounds and requests of reads from a remote source. The relevant constants of its fetch policy are next to
//! each count.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use herringbone::filter::{PruningSteps, col};
use herringbone::source::FetchPolicy;
use herringbone::{ColumnOptions, Compression, ReadOptions, WriteOptions, Writer};

use crate::remote::traffic;
use crate::requests::{Recorder, rows};

/// Returns numbers that do not compress, from a generator with fixed constants.
fn noise(seed: u64, rows: u64) -> impl Iterator<Item = u64> {
    (0..rows).map(move |row| {
        let mut x = (seed << 40 | row).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x ^= x >> 31;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^ x >> 29
    })
}

/// Writes a file with `columns` columns of noise, except that the first one counts the rows.
fn file(columns: u64, row_groups: u64, rows: u64) -> Bytes {
    let column = |column: u64| -> (String, ArrayRef) {
        let values = noise(column, row_groups * rows).map(|bits| bits as i64 >> 8);
        match column {
            0 => (
                "id".to_owned(),
                Arc::new(Int64Array::from_iter_values(0..(row_groups * rows) as i64)),
            ),
            _ => (
                format!("c{column}"),
                Arc::new(Int64Array::from_iter_values(values)),
            ),
        }
    };
    let batch = RecordBatch::try_from_iter((0..columns).map(column)).unwrap();
    let columns = ColumnOptions::new().page_rows(1000);
    let columns = columns.compression(Compression::Uncompressed);
    let options = WriteOptions::new()
        .columns(columns)
        .row_group_rows(rows as usize);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

/// Returns the requests in each round of a read, and the number of rows.
fn read(file: &Bytes, options: &ReadOptions) -> (Vec<Vec<Range<u64>>>, usize) {
    let source = Recorder::new(file.clone(), FetchPolicy::remote());
    let opened = source.open();
    let rows = rows(&opened, options.clone());
    let rounds = source.take();
    // An async read takes as many rounds and requests. The first round is the footer.
    let column_requests: usize = rounds.iter().skip(1).map(Vec::len).sum();
    let expected = (column_requests as u64, rounds.len() as u64 - 1);
    assert_eq!(traffic(&opened, options, FetchPolicy::remote()), expected);
    (rounds, rows)
}

fn bytes(rounds: &[Vec<Range<u64>>]) -> u64 {
    let ranges = rounds.iter().flatten();
    ranges.map(|range| range.end - range.start).sum()
}

/// 262,144 bytes arrive with the footer, and up to 67,108,864 bytes may be requested ahead.
#[test]
fn three_columns_of_four_row_groups_take_two_rounds() {
    let file = file(19, 4, 20_000);
    let options = ReadOptions::new().columns(["c3", "c9", "c15"]);
    for threads in [1, 2] {
        let source = Recorder::new(file.clone(), FetchPolicy::remote());
        let opened = source.open();
        let mut reader = opened.read(options.clone().threads(threads)).unwrap();
        let rows: usize = reader
            .by_ref()
            .map(|reader| reader.unwrap().num_rows())
            .sum();
        assert_eq!(rows, 80_000);
        let rounds = source.take();
        assert_eq!(rounds.len(), 2, "{rounds:?}");
        // The footer is not part of the read.
        assert_eq!(reader.metrics().rounds, 1, "{threads}");
        // Between two of the columns there are five others of 160,000 bytes each, but we only read over gaps of up to
        // 262,144 bytes.
        assert_eq!(rounds[1].len(), 12);
    }
}

#[test]
fn five_columns_of_a_hundred_take_two_rounds() {
    let file = file(100, 16, 2000);
    let names = ["c10", "c30", "c50", "c70", "c90"];
    for threads in [1, 4] {
        let (rounds, rows) = read(&file, &ReadOptions::new().columns(names).threads(threads));
        assert_eq!(rows, 32_000);
        assert_eq!(rounds.len(), 2);
        let requests: usize = rounds.iter().map(Vec::len).sum();
        assert!(requests <= 81, "{requests}");
        // There are 5 columns of 32,000 numbers of 8 bytes, and the headers of their pages.
        let chunk_bytes = 5 * 32_000 * 8;
        let fetched = bytes(&rounds[1..]);
        assert!(
            (chunk_bytes..chunk_bytes + chunk_bytes / 20).contains(&fetched),
            "{fetched}"
        );
    }
}

#[test]
fn a_row_by_a_sorted_key_takes_three_rounds() {
    let file = file(6, 4, 80_000);
    let options = ReadOptions::new()
        .filter(col("id").eq(200_001))
        .columns(["id", "c1", "c2", "c3", "c4"])
        .threads(1);
    let (rounds, rows) = read(&file, &options);
    assert_eq!(rows, 1);
    assert!(rounds.len() <= 3, "{rounds:?}");
    // In addition to the first 262,144 bytes, each column needs one page of 1,000 numbers.
    assert!(bytes(&rounds[1..]) < 5 * 10_000, "{rounds:?}");
    // The explanation contains the last round's requests. That round only needs pages of one row group.
    let source = Recorder::new(file, FetchPolicy::remote());
    let explained = source.open().explain(&options).unwrap();
    let pages: Vec<_> = explained
        .iter()
        .filter(|explained| explained.rounds > 0)
        .collect();
    assert_eq!((explained.len(), pages.len()), (4, 1));
    assert_eq!(pages[0].row_group, 2);
    let pages_of = 5 * 8000..5 * 9000;
    assert!(pages_of.contains(&pages[0].wanted_bytes), "{pages:?}");
    assert_eq!(pages[0].fetched.requests, rounds[2].len() as u64);
    assert_eq!(pages[0].fetched.bytes, pages[0].wanted_bytes);
}

#[test]
fn a_filter_that_keeps_most_rows_takes_two_rounds_per_row_group() {
    let floats = noise(7, 100_000).map(|bits| (bits >> 11) as f64 / (1_u64 << 53) as f64);
    let (floats, others) = (Float64Array::from_iter_values(floats), noise(8, 100_000));
    let others = Int64Array::from_iter_values(others.map(|other| other as i64));
    let batch = RecordBatch::try_from_iter([
        ("x", Arc::new(floats) as ArrayRef),
        ("y", Arc::new(others.clone()) as ArrayRef),
        ("z", Arc::new(others) as ArrayRef),
    ]);
    let batch = batch.unwrap();
    let options = WriteOptions::new().row_group_rows(10_000);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let file = Bytes::from(file);
    let options = ReadOptions::new().filter(col("x").lt(0.77));
    // The limit of 67,108,864 bytes ahead exceeds the file, so there are one round for the footer and one for all
    // pages.
    let rounds_with = |mut policy: FetchPolicy| {
        policy.suffix_bytes = 20_000;
        let rounds = [1, 2].map(|threads| {
            let source = Recorder::new(file.clone(), policy.clone());
            let rows = crate::requests::rows(&source.open(), options.clone().threads(threads));
            assert!((76_000..78_000).contains(&rows), "{rows}");
            source.take().len()
        });
        // Two threads fetch the bytes of several row groups in one round.
        assert!(rounds[1] <= rounds[0], "{rounds:?}");
        rounds[0]
    };
    assert!(rounds_with(FetchPolicy::remote()) <= 3);
    // Nothing is requested ahead. The row group has 235,000 bytes, which cost less than a quarter of a round trip.
    let mut policy = FetchPolicy::remote();
    policy.max_bytes_ahead = 0;
    assert_eq!(policy.round_trip_bytes, 4 << 20);
    assert_eq!(rounds_with(policy.clone()), 1 + 10);
    // Each step is a round. The steps are the first page headers and the pages, of the tested column and of the other
    // columns.
    policy.round_trip_bytes = 0;
    assert!(rounds_with(policy) <= 1 + 4 * 10);
}

/// The file has 6 columns of 160,000 bytes in each of 4 row groups. The filter tests the last column. The other five
/// cost more than a round trip, so they wait for the test.
#[test]
fn a_filter_tests_all_row_groups_in_one_round() {
    let file = file(6, 4, 20_000);
    let mut policy = FetchPolicy::remote();
    (policy.round_trip_bytes, policy.max_gap_bytes) = (200_000, 10_000);
    policy.suffix_bytes = 20_000;
    let filter = col("c5").lt(-((1_i64 << 55) / 100 * 98));
    // Page indexes would take another round.
    let options = ReadOptions::new().filter(filter).threads(1);
    let options = options.pruning(PruningSteps::none());
    let source = Recorder::new(file, policy);
    let rows = rows(&source.open(), options);
    assert!((700..900).contains(&rows), "{rows}");
    let requests: Vec<_> = source.take().iter().map(Vec::len).collect();
    // The rounds fetch the footer, the tested columns, and the other columns.
    assert_eq!(requests, [1, 4, 4]);
}

/// Each of 4 row groups has 5 columns of 40,000 bytes of dictionary and 33,000 bytes of pages. If we leave out such
/// pages, we save less than a request for the first one's header costs.
#[test]
fn small_chunks_are_read_whole() {
    let rows = 80_000_u64;
    let column = |column: u64| -> (String, ArrayRef) {
        let value = |row: u64| ((row * 2_654_435_761 + column) % 5_000) << 40 | column;
        let values = Int64Array::from_iter_values((0..rows).map(|row| value(row) as i64));
        (format!("c{column}"), Arc::new(values))
    };
    let runs = (0..rows as i64).map(|row| row / 100 * 37 % 101);
    let run: ArrayRef = Arc::new(Int64Array::from_iter_values(runs));
    let columns = [("run".to_owned(), run)].into_iter();
    let batch = RecordBatch::try_from_iter(columns.chain((0..5).map(column))).unwrap();
    let pages = ColumnOptions::new().page_rows(1000);
    let options = WriteOptions::new()
        .columns(pages.compression(Compression::Uncompressed))
        .row_group_rows(20_000);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let file = Bytes::from(file);
    let options = ReadOptions::new().filter(col("run").eq(5));
    let mut policy = FetchPolicy::remote();
    policy.round_trip_bytes = 200_000;
    let mut source = |max_gap_bytes| {
        policy.max_gap_bytes = max_gap_bytes;
        Recorder::new(file.clone(), policy.clone())
    };
    let is_header = |range: &&Range<u64>| range.end - range.start == 128;
    let headers = |source: &Recorder| source.take().concat().iter().filter(is_header).count();
    for threads in [1, 2] {
        for (max_gap_bytes, expected) in [(40_000, 0..1), (10_000, 15..25)] {
            let source = source(max_gap_bytes);
            let options = options.clone().threads(threads);
            assert_eq!(crate::requests::rows(&source.open(), options), 800);
            let headers = headers(&source);
            assert!(expected.contains(&headers), "{threads}: {headers}");
        }
    }
    // The explanation has the read's steps, with the headers of `run` by themselves.
    for (max_gap_bytes, expected) in [(40_000, 4..5), (10_000, 15..25)] {
        let source = source(max_gap_bytes);
        let opened = source.open();
        source.take();
        opened.explain(&options).unwrap();
        let headers = headers(&source);
        assert!(expected.contains(&headers), "{headers}");
    }
}

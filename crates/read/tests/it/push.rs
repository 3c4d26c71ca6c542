//! The push decoder, driven by hand. We check its lists, bytes and counts after each step.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::filter::col;
use herringbone::push::{Needs, Poll, PushDecoder, RowGroupPoll};
use herringbone::source::FetchPolicy;
use herringbone::{ErrorKind, Limits, ReadOptions};
use herringbone_arrow::array::RecordBatch;
use herringbone_read::{AheadStep, DetachedRowGroup};

use crate::damage::damaged;
use crate::table::{GROUP, ROWS, compare, file, kind, open, options, rows_of, slice, text};

/// Returns the byte range of a column chunk.
fn chunk(file: &Bytes, row_group: usize, leaf: usize) -> Range<u64> {
    let chunk = open(file).metadata().column_chunk(row_group, leaf).unwrap();
    let metadata = chunk.meta_data.unwrap();
    let start = metadata
        .dictionary_page_offset
        .unwrap_or(metadata.data_page_offset) as u64;
    start..start + metadata.total_compressed_size as u64
}

fn length(range: &Range<u64>) -> u64 {
    range.end - range.start
}

/// Returns a decoder for the column `row`, the first leaf.
fn decoder(file: &Bytes, policy: FetchPolicy, options: &ReadOptions) -> PushDecoder {
    let plan = open(file).plan(&options.clone().columns(["row"])).unwrap();
    PushDecoder::with_policy(Arc::new(plan), policy)
}

fn needs(decoder: &mut PushDecoder) -> Needs {
    match decoder.poll().unwrap() {
        Poll::Needs(needs) => needs,
        other => panic!("{other:?} in place of needs"),
    }
}

fn batch(decoder: &mut PushDecoder) -> RecordBatch {
    match decoder.poll().unwrap() {
        Poll::Batch(batch) => batch,
        other => panic!("{other:?} in place of a batch"),
    }
}

fn supply(decoder: &mut PushDecoder, file: &Bytes, range: &Range<u64>) {
    decoder.supply(range.start, &slice(file, range));
}

#[test]
fn row_groups_are_listed_supplied_and_counted_one_by_one() {
    let file = file(options());
    let chunks: Vec<_> = (0..4).map(|row_group| chunk(&file, row_group, 0)).collect();
    let mut decoder = decoder(&file, FetchPolicy::remote(), &ReadOptions::new());
    assert_eq!((decoder.rows_left(), decoder.buffered_bytes()), (1_000, 0));
    let first = needs(&mut decoder);
    assert_eq!(first.now, [chunks[0].clone()]);
    let soon: Vec<_> = first.soon.iter().map(|soon| soon.range.clone()).collect();
    assert_eq!(soon, chunks[1..]);
    let rows: Vec<_> = first.soon.iter().map(|soon| soon.first_row).collect();
    assert_eq!(rows, [300, 600, 900]);
    assert!(first.soon.iter().all(|soon| !soon.decides));
    assert!(first.cancelled.is_empty());
    // The last row group arrives first, in two parts.
    let middle = chunks[3].start + 10;
    supply(&mut decoder, &file, &(chunks[3].start..middle));
    assert_eq!(decoder.buffered_bytes(), 10);
    assert_eq!(needs(&mut decoder).soon[2].range, middle..chunks[3].end);
    supply(&mut decoder, &file, &(middle..chunks[3].end));
    let listed = needs(&mut decoder);
    assert_eq!(
        (listed.now, listed.soon.len()),
        (vec![chunks[0].clone()], 2)
    );
    supply(&mut decoder, &file, &chunks[0]);
    let both = length(&chunks[0]) + length(&chunks[3]);
    assert_eq!(decoder.buffered_bytes(), both);
    assert_eq!(
        rows_of(&[batch(&mut decoder)]),
        (0..GROUP).collect::<Vec<_>>()
    );
    // The bytes of a row group are dropped with its last batch.
    assert_eq!(decoder.buffered_bytes(), length(&chunks[3]));
    assert_eq!(decoder.rows_left(), 700);
    assert_eq!(needs(&mut decoder).now, [chunks[1].clone()]);
    supply(&mut decoder, &file, &chunks[2]);
    supply(&mut decoder, &file, &chunks[1]);
    for (row_group, left) in [(1, 400), (2, 100), (3, 0)] {
        let first = row_group * GROUP;
        let expected: Vec<_> = (first..ROWS.min(first + GROUP)).collect();
        assert_eq!(rows_of(&[batch(&mut decoder)]), expected);
        assert_eq!(decoder.rows_left(), left);
    }
    assert_eq!(decoder.buffered_bytes(), 0);
    assert!(matches!(decoder.poll(), Ok(Poll::Finished)));
    assert!(matches!(decoder.poll(), Ok(Poll::Finished)));
    let metrics = decoder.metrics();
    let all: u64 = chunks.iter().map(length).sum();
    // There are five pieces, because the last row group took two.
    assert_eq!((metrics.fetched.requests, metrics.fetched.bytes), (5, all));
    assert_eq!((metrics.row_groups, metrics.row_groups_pruned), (4, 0));
}

#[test]
fn no_more_is_listed_ahead_than_policy_and_memory_allow() {
    let file = file(options());
    let of_chunk = length(&chunk(&file, 0, 0));
    let ahead = |bytes: u64, limits: Option<u64>| {
        let mut policy = FetchPolicy::remote();
        policy.max_bytes_ahead = bytes;
        let mut options = ReadOptions::new();
        if let Some(bytes) = limits {
            let mut limits = Limits::default();
            limits.memory_bytes = bytes;
            options = options.limits(limits);
        }
        needs(&mut decoder(&file, policy, &options)).soon.len()
    };
    assert_eq!(ahead(0, None), 0);
    // The bytes the decoder is waiting for count as bytes ahead, too.
    assert_eq!(ahead(of_chunk, None), 0);
    assert_eq!(ahead(of_chunk + 1, None), 1);
    assert_eq!(ahead(2 * of_chunk + 1, None), 2);
    assert_eq!(ahead(u64::MAX, None), 3);
    // At most half of the memory is used ahead.
    assert_eq!(ahead(u64::MAX, Some(2 * of_chunk)), 0);
    assert_eq!(ahead(u64::MAX, Some(1 << 20)), 3);
}

#[test]
fn bytes_ahead_take_memory_and_bytes_in_flight_do_too() {
    let file = file(options());
    let chunks: Vec<_> = (0..4).map(|row_group| chunk(&file, row_group, 0)).collect();
    let mut limits = Limits::default();
    limits.memory_bytes = 100_000;
    let options = ReadOptions::new().limits(limits);
    let mut decoder = decoder(&file, FetchPolicy::remote(), &options);
    assert_eq!(decoder.free_memory(), 100_000);
    needs(&mut decoder);
    let before = decoder.free_memory();
    assert!(decoder.reserve_in_flight(40_000));
    assert_eq!(decoder.free_memory(), before - 40_000);
    assert!(!decoder.reserve_in_flight(100_001));
    assert_eq!(decoder.free_memory(), before - 40_000);
    assert!(decoder.reserve_in_flight(0));
    supply(&mut decoder, &file, &chunks[1]);
    assert_eq!(decoder.free_memory(), before - length(&chunks[1]));
    // The decoder has reserved memory for the bytes it is waiting for.
    supply(&mut decoder, &file, &chunks[0]);
    assert_eq!(decoder.free_memory(), before - length(&chunks[1]));
    assert!(!decoder.is_refused_memory());
}

#[test]
fn a_filter_lists_the_tested_column_first_and_cancels_what_it_rules_out() {
    let file = file(options().page_index(false));
    let mut policy = FetchPolicy::remote();
    // No bytes cost less than a round trip here, so each stage waits for the stage before it.
    (policy.round_trip_bytes, policy.max_gap_bytes) = (0, 0);
    let options = ReadOptions::new().filter(col("text").eq("text 402"));
    let mut decoder = decoder(&file, policy, &options);
    // The bounds of the first three row groups have the text: "text 1" to "text 99", "text 301" to "text 599", ….
    let tested: Vec<_> = (0..4).map(|row_group| chunk(&file, row_group, 1)).collect();
    let listed = needs(&mut decoder);
    let mut first_rows = vec![0];
    first_rows.extend(listed.soon.iter().map(|soon| soon.first_row));
    assert!(listed.soon.iter().all(|soon| soon.decides), "{listed:?}");
    assert!(first_rows.contains(&300), "{listed:?}");
    assert_eq!(listed.now, [tested[0].clone()]);
    for (soon, row) in listed.soon.iter().zip(&first_rows[1..]) {
        assert_eq!(soon.range, tested[*row as usize / GROUP]);
    }
    supply(&mut decoder, &file, &tested[0]);
    let listed = needs(&mut decoder);
    assert_eq!(listed.now, [tested[1].clone()]);
    supply(&mut decoder, &file, &tested[1]);
    // Then it needs the other column of the found row.
    let listed = needs(&mut decoder);
    let other = chunk(&file, 1, 0);
    assert_eq!(listed.now, std::slice::from_ref(&other));
    supply(&mut decoder, &file, &other);
    assert_eq!(rows_of(&[batch(&mut decoder)]), [402]);
}

#[test]
fn a_tighter_filter_cancels_ranges_listed_before() {
    let file = file(options());
    let chunks: Vec<_> = (0..4).map(|row_group| chunk(&file, row_group, 0)).collect();
    let options = ReadOptions::new().filter(col("row").ge(0));
    let mut decoder = decoder(&file, FetchPolicy::remote(), &options);
    assert_eq!(needs(&mut decoder).soon.len(), 3);
    supply(&mut decoder, &file, &chunks[0]);
    decoder.tighten_filter(&col("row").ge(700)).unwrap();
    let listed = needs(&mut decoder);
    assert!(listed.cancelled.contains(&chunks[1]), "{listed:?}");
    let error = decoder.tighten_filter(&col("row").ge(5)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    let mut rows = Vec::new();
    loop {
        match decoder.poll().unwrap() {
            Poll::Needs(needs) => needs
                .now
                .iter()
                .for_each(|range| supply(&mut decoder, &file, range)),
            Poll::Batch(batch) => rows.extend(rows_of(&[batch])),
            Poll::NeedsKeys(keys) => panic!("{keys:?}"),
            Poll::Finished => break,
        }
    }
    assert_eq!(rows, (700..ROWS).collect::<Vec<_>>());
}

#[test]
fn nothing_follows_an_error() {
    let file = file(options());
    let mut decoder = decoder(&file, FetchPolicy::remote(), &ReadOptions::new());
    let range = needs(&mut decoder).now[0].clone();
    decoder.supply(range.start, &vec![0xff; length(&range) as usize].into());
    let error = decoder.poll().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.location().row_group, Some(0));
    assert_eq!(decoder.rows_left(), 0);
    assert!(matches!(decoder.poll(), Ok(Poll::Finished)));
}

#[test]
fn the_window_counts_down() {
    let file = file(options());
    let options = ReadOptions::new().offset(250).limit(400).batch_size(100);
    for filter in [None, Some(col("row").ge(0))] {
        let mut options = options.clone();
        options.filter = filter;
        let mut decoder = decoder(&file, FetchPolicy::memory(), &options);
        supply(&mut decoder, &file, &(0..file.len() as u64));
        let mut left = 400;
        while let Poll::Batch(batch) = decoder.poll().unwrap() {
            left -= batch.num_rows() as u64;
            assert_eq!(decoder.rows_left(), left);
        }
        assert_eq!(left, 0);
    }
}

/// Polls a row group to its end, returning its rows.
fn rest_of(mut row_group: DetachedRowGroup, file: &Bytes) -> Vec<usize> {
    let mut rows = Vec::new();
    let mut left = row_group.rows_left();
    loop {
        match row_group.poll().unwrap() {
            RowGroupPoll::Needs(ranges) => {
                assert!(!ranges.is_empty());
                for range in ranges {
                    row_group.supply(range.start, &slice(file, &range));
                }
            }
            RowGroupPoll::Batch(batch) => {
                assert!(row_group.rows_left() <= left - batch.num_rows() as u64);
                left = row_group.rows_left();
                rows.extend(rows_of(&[batch]));
            }
            RowGroupPoll::Finished => break,
        }
    }
    assert_eq!(row_group.rows_left(), 0);
    rows
}

#[test]
fn row_groups_are_detached_in_order_and_continue_alone() {
    let file = file(options());
    let options = ReadOptions::new().batch_size(110);
    let mut decoder = decoder(&file, FetchPolicy::remote(), &options);
    let mut detached = Vec::new();
    for ordinal in 0..3 {
        let row_group = decoder.take_row_group().unwrap();
        assert_eq!((row_group.ordinal(), row_group.rows_left()), (ordinal, 300));
        detached.push(row_group);
    }
    assert_eq!(decoder.rows_left(), 100);
    for (ordinal, row_group) in detached.into_iter().enumerate().rev() {
        let first = ordinal * GROUP;
        assert_eq!(
            rest_of(row_group, &file),
            (first..first + GROUP).collect::<Vec<_>>()
        );
    }
    // The decoder itself continues with the last row group. It can't be detached after its first batch.
    supply(&mut decoder, &file, &chunk(&file, 3, 0));
    assert_eq!(
        rows_of(&[batch(&mut decoder)]),
        (900..ROWS).collect::<Vec<_>>()
    );
    assert!(decoder.take_row_group().is_none());
    assert!(matches!(decoder.poll(), Ok(Poll::Finished)));
}

#[test]
fn a_row_group_with_emitted_rows_or_a_counting_limit_stays() {
    let file = file(options());
    let small = ReadOptions::new().batch_size(110);
    let mut begun = decoder(&file, FetchPolicy::remote(), &small);
    supply(&mut begun, &file, &chunk(&file, 0, 0));
    assert_eq!(rows_of(&[batch(&mut begun)]), (0..110).collect::<Vec<_>>());
    assert!(begun.take_row_group().is_none());
    let filter = || ReadOptions::new().filter(col("row").ge(0));
    for (options, may_take) in [
        (filter(), true),
        (filter().limit(5), false),
        (filter().offset(5), false),
        (ReadOptions::new().limit(5).offset(5), true),
    ] {
        let mut decoder = decoder(&file, FetchPolicy::remote(), &options);
        assert_eq!(decoder.take_row_group().is_some(), may_take, "{options:?}");
    }
}

/// A tighter filter that tests another column begins the row group again. Only rows that were emitted before tie it to
/// the decoder.
#[test]
fn a_row_group_that_begins_again_is_detached_unless_rows_were_emitted() {
    let file = file(options());
    let wide = col("text").is_not_null();
    let tight = wide.clone().and(col("kind").ne("red"));
    let options = ReadOptions::new().batch_size(60).filter(wide);
    let mut begun = decoder(&file, FetchPolicy::remote(), &options);
    assert!(!needs(&mut begun).now.is_empty());
    begun.tighten_filter(&tight).unwrap();
    let row_group = begun.take_row_group().unwrap();
    assert_eq!(row_group.ordinal(), 0);
    let is_wanted = |row: &usize| text(*row).is_some() && kind(*row) != "red";
    let expected: Vec<_> = (0..GROUP).filter(is_wanted).collect();
    assert_eq!(rest_of(row_group, &file), expected);
    let mut emitted = decoder(&file, FetchPolicy::remote(), &options);
    supply(&mut emitted, &file, &(0..file.len() as u64));
    batch(&mut emitted);
    emitted.tighten_filter(&tight).unwrap();
    assert!(emitted.take_row_group().is_none());
}

/// While bytes of the emitted column are missing, the decoder tests more rows. An error among these waits for its turn.
#[test]
fn an_error_of_a_test_ahead_comes_after_the_rows_before_it() {
    // The sixth page of `text` in the first row group has the rows 250 to 299.
    let file = damaged(0, 1, 5);
    let options = ReadOptions::new()
        .batch_size(60)
        .filter(col("text").is_not_null());
    let mut decoder = decoder(&file, FetchPolicy::remote(), &options);
    // The emitted column is the first one of the file. All bytes after it are there.
    let emitted = chunk(&file, 0, 0);
    supply(&mut decoder, &file, &(emitted.end..file.len() as u64));
    assert_eq!(needs(&mut decoder).now, std::slice::from_ref(&emitted));
    assert_eq!(needs(&mut decoder).now, std::slice::from_ref(&emitted));
    supply(&mut decoder, &file, &emitted);
    // Of each 60 rows, 48 have a text. The rows 0 to 239 are tested without error, and 180 of them fill batches.
    let mut expected = (0..240).filter(|row| text(*row).is_some());
    for _ in 0..3 {
        let batch = batch(&mut decoder);
        assert_eq!(
            rows_of(&[batch]),
            expected.by_ref().take(60).collect::<Vec<_>>()
        );
    }
    let error = decoder.poll().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.location().column.as_deref(), Some("text"));
}

#[test]
fn a_complete_row_group_is_detached_and_put_back() {
    let file = file(options());
    let options = ReadOptions::new().batch_size(110);
    let mut decoder = decoder(&file, FetchPolicy::remote(), &options);
    assert!(decoder.take_complete_row_group().is_none());
    let listed = decoder.look_ahead().unwrap();
    assert_eq!(listed.now, []);
    assert_eq!(listed.soon.len(), 4);
    let first = chunk(&file, 0, 0);
    supply(&mut decoder, &file, &(first.start..first.end - 1));
    assert!(decoder.take_complete_row_group().is_none());
    supply(&mut decoder, &file, &(first.end - 1..first.end));
    let mut row_group = decoder.take_complete_row_group().unwrap();
    assert_eq!((row_group.ordinal(), decoder.rows_left()), (0, 700));
    assert_eq!(decoder.buffered_bytes(), 0);
    let next = |row_group: &mut DetachedRowGroup| match row_group.poll_ahead(true) {
        AheadStep::Batch(batch) => batch,
        AheadStep::Finished(_) | AheadStep::Failed => panic!("three batches are complete"),
    };
    let first_batch = next(&mut row_group);
    assert_eq!(
        (first_batch.batch.num_rows(), first_batch.rows_left),
        (110, 190)
    );
    let second_batch = next(&mut row_group);
    assert_eq!(
        (second_batch.batch.num_rows(), second_batch.rows_left),
        (110, 80)
    );
    assert_eq!(row_group.rows_left(), 80);
    // The second batch was not emitted, so the read continues with it.
    decoder.put_back(row_group, Some(&second_batch));
    assert_eq!(decoder.rows_left(), 890);
    let rows = rows_of(&[batch(&mut decoder)]);
    assert_eq!(rows, (110..220).collect::<Vec<_>>());
    // The rest of the row group is complete, too.
    let mut row_group = decoder.take_complete_row_group().unwrap();
    let last = next(&mut row_group);
    assert_eq!((last.batch.num_rows(), last.rows_left), (80, 0));
    assert!(matches!(row_group.poll_ahead(true), AheadStep::Finished(_)));
    compare(
        std::slice::from_ref(&last.batch),
        &(220..300).collect::<Vec<_>>(),
        "the last batch",
    );
}

#[test]
fn a_row_group_without_its_bytes_fails_ahead_and_waits() {
    let file = file(options());
    let mut decoder = decoder(&file, FetchPolicy::remote(), &ReadOptions::new());
    let mut row_group = decoder.take_row_group().unwrap();
    assert!(!row_group.is_short());
    assert!(matches!(row_group.poll_ahead(true), AheadStep::Failed));
    decoder.put_back(row_group, None);
    assert_eq!(decoder.rows_left(), 1_000);
    // Decoding ahead failed, so the decoder itself decodes the row group.
    assert!(decoder.take_complete_row_group().is_none());
    supply(&mut decoder, &file, &(0..file.len() as u64));
    let mut rows = Vec::new();
    while let Poll::Batch(batch) = decoder.poll().unwrap() {
        rows.extend(rows_of(&[batch]));
    }
    assert_eq!(rows, (0..ROWS).collect::<Vec<_>>());
}

#[test]
fn keys_are_for_encrypted_files() {
    let file = file(options());
    let decoder = decoder(&file, FetchPolicy::remote(), &ReadOptions::new());
    assert_eq!(decoder.plan().row_groups().len(), 4);
    assert!(format!("{decoder:?}").contains("rows_left: 1000"));
    assert!(decoder.losses().kept().is_empty());
}

//! Tests of blocking reads and writes of objects.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use herringbone::push::FetchPolicy;
use herringbone::source::Source as _;
use herringbone::{ErrorKind, Limits, ParquetFile, ReadOptions};
use herringbone_remote::RemoteWriteOptions;
use herringbone_remote::blocking::{RemoteOutput, RemoteReader, RemoteSource};

use crate::bucket::{Bucket, Call};
use crate::files::{blocking, file};
use crate::memory::Memory;

/// Returns a number for each of `length` bytes.
fn bytes(length: usize) -> Bytes {
    (0..length).map(|at| (at % 251) as u8).collect()
}

/// An object with a first request for its last 1,000 bytes.
fn object(length: usize) -> Arc<Memory> {
    let mut policy = FetchPolicy::remote();
    policy.suffix_bytes = 1000;
    policy.max_requests_in_flight = 3;
    Arc::new(Memory::new(bytes(length)).policy(policy))
}

fn open(object: &Arc<Memory>) -> Arc<RemoteSource> {
    Arc::new(RemoteSource::open(object.clone()).unwrap())
}

#[test]
fn a_parquet_file_is_read_with_several_requests_in_flight() {
    let bytes = file(6, 4, 20_000);
    let options = ReadOptions::new().columns(["c1", "c3", "c5"]);
    let expected = blocking(&bytes, Limits::default(), &options).unwrap();
    let mut policy = FetchPolicy::remote();
    policy.max_gap_bytes = 0;
    let object = Arc::new(Memory::new(bytes).policy(policy));
    let source = open(&object);
    assert_eq!(object.take().len(), 1);
    let file = ParquetFile::from_source(source.clone(), Limits::default()).unwrap();
    // The footer came with the end.
    assert_eq!(object.take(), []);
    let batches = file.read(options).unwrap();
    let batches: Vec<_> = batches.map(|batch| batch.unwrap()).collect();
    assert!(batches == expected);
    let traffic = source.traffic();
    assert_eq!(traffic.requests, 1 + object.take().len() as u64);
    assert!(object.most_in_flight.load(Ordering::SeqCst) >= 3);
}

#[test]
fn the_end_is_kept_and_ranges_over_its_start_are_joined() {
    let object = object(10_000);
    let source = open(&object);
    assert_eq!(object.take(), [9000..10_000]);
    let all = bytes(10_000);
    let ranges: [Range<u64>; 4] = [9500..9600, 8900..9100, 0..10, 10_000..10_000];
    let read = source.read_many(&ranges).unwrap();
    for (read, range) in read.iter().zip(&ranges) {
        assert_eq!(*read, all[range.start as usize..range.end as usize]);
    }
    let mut requests = object.take();
    requests.sort_by_key(|range| range.start);
    assert_eq!(requests, [0..10, 8900..9000]);
    let traffic = source.traffic();
    assert_eq!(
        (traffic.requests, traffic.rounds, traffic.bytes),
        (3, 2, 1110)
    );
    let beyond = source.read(9999..10_001).unwrap_err();
    assert_eq!(beyond.kind(), ErrorKind::Corrupt);
    assert_eq!(object.take(), []);
}

#[test]
fn requests_in_flight_are_limited() {
    let object = object(100_000);
    let source = open(&object);
    let ranges: Vec<_> = (0..50).map(|at| at * 1000..at * 1000 + 10).collect();
    assert_eq!(source.read_many(&ranges).unwrap().len(), 50);
    assert_eq!(object.take().len(), 1 + 50);
    assert_eq!(object.most_in_flight.load(Ordering::SeqCst), 3);
}

#[test]
fn a_replaced_object_is_an_error() {
    let object = object(10_000);
    let source = open(&object);
    *object.e_tag.lock().unwrap() = "\"second\"".to_owned();
    let error = source.read(0..10).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replaced);
    assert_eq!(source.read(9000..9010).unwrap().len(), 10);
}

#[test]
fn ends_of_listed_objects_are_read_side_by_side() {
    let listed = |length| {
        let mut object = Arc::try_unwrap(object(length)).unwrap();
        object.listed = true;
        Arc::new(object)
    };
    let objects = [listed(5000), listed(0), listed(700)];
    let sources = objects.each_ref().map(open);
    assert!(objects.iter().all(|object| object.take().is_empty()));
    RemoteSource::fetch_ends(&[], &sources).unwrap();
    let taken = objects.each_ref().map(|object| object.take());
    assert_eq!(taken, [vec![4000..5000], vec![], vec![0..700]]);
    let rounds = sources
        .iter()
        .map(|source| source.traffic().rounds)
        .sum::<u64>();
    assert_eq!(rounds, 1);
    assert_eq!(sources[2].read(0..700).unwrap(), bytes(700));
    assert_eq!(objects[2].take(), []);
    // The second of these fails.
    let objects = [listed(5000), listed(6000)];
    let sources = objects.each_ref().map(open);
    objects[1].break_by(|_, _| Err(std::io::Error::other("unplugged").into()));
    let (at, error) = RemoteSource::fetch_ends(&[], &sources).unwrap_err();
    assert_eq!(at, 1);
    assert!(error.message().contains("unplugged"), "{error}");
    assert!(sources[0].is_retained() && !sources[1].is_retained());
}

#[test]
fn a_reader_has_all_bytes_and_reads_ahead() {
    // The first request is for 8 MiB, and the later ones are for four times as much.
    let length = 20 << 20;
    let object = object(length);
    let mut reader = RemoteReader::new(open(&object));
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    assert!(all == bytes(length));
    assert_eq!(object.take().len(), 1 + 3);
    reader.seek(SeekFrom::End(-10)).unwrap();
    let mut end = Vec::new();
    reader.read_to_end(&mut end).unwrap();
    assert_eq!(end, all[length - 10..]);
    assert_eq!(object.take(), []);
    assert!(
        reader
            .seek(SeekFrom::Current(-(length as i64) - 1))
            .is_err()
    );
}

fn output(bucket: &Bucket) -> RemoteOutput {
    let options = RemoteWriteOptions::new()
        .part_bytes(100)
        .max_bytes_in_flight(250);
    RemoteOutput::new(Arc::new(bucket.clone()), &options).unwrap()
}

#[test]
fn an_object_appears_when_it_is_completed() {
    for length in [0, 1, 100, 101, 1050] {
        let bucket = Bucket::new(2);
        let mut output = output(&bucket);
        output.write_all(&bytes(length)).unwrap();
        assert_eq!(output.is_started(), length > 100);
        assert_eq!(bucket.object(), None);
        output.complete().unwrap();
        assert_eq!(bucket.object(), Some(bytes(length)));
        let starts = bucket
            .calls()
            .iter()
            .filter(|call| **call == Call::Start)
            .count();
        assert_eq!(starts, usize::from(length > 100), "{length}");
        assert!(bucket.look(|state| state.most_in_flight.1) <= 250);
    }
}

#[test]
fn an_object_may_wait_for_its_last_request() {
    let bucket = Bucket::new(2);
    let mut output = output(&bucket);
    output.write_all(&bytes(1050)).unwrap();
    output.send_all().unwrap();
    assert_eq!(output.held_bytes(), 0);
    assert!(!bucket.calls().contains(&Call::Complete));
    output.complete().unwrap();
    assert_eq!(bucket.object(), Some(bytes(1050)));
}

#[test]
fn an_upload_without_an_end_is_aborted() {
    for by_call in [false, true] {
        let bucket = Bucket::new(0);
        let mut output = output(&bucket);
        output.write_all(&bytes(1050)).unwrap();
        assert_eq!(bucket.look(|state| state.open), 1);
        match by_call {
            true => {
                let abort = output.abort_call();
                std::thread::spawn(abort).join().unwrap();
                assert!(output.write_all(&bytes(1050)).is_err());
            }
            false => drop(output),
        }
        assert_eq!(bucket.look(|state| state.open), 0);
        assert_eq!(bucket.object(), None);
    }
    // The store refuses a part.
    let bucket = Bucket::new(0).fails(|call| {
        let is_second = matches!(call, Call::Part(2, _));
        is_second.then_some(std::io::ErrorKind::PermissionDenied)
    });
    let mut output = output(&bucket);
    let written = output.write_all(&bytes(1050));
    let failed = written.and_then(|()| Ok(output.complete()?)).unwrap_err();
    assert_eq!(failed.kind(), std::io::ErrorKind::PermissionDenied);
    assert!(
        failed.to_string().contains("part 2, bytes 100..200"),
        "{failed}"
    );
    assert_eq!(bucket.look(|state| state.open), 0);
}

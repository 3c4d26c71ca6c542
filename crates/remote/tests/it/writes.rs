//! Tests of asynchronous writes: the files' bytes, requests and memory.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::executor::block_on;
use futures::task::noop_waker;
use herringbone::arrow::array::RecordBatch;
use herringbone::format::FileMetadata;
use herringbone::{
    ColumnOptions, Compression, ErrorKind, MemoryPool, ParquetFile, ReadOptions, Remedy, Result,
    SharedMemory, SortingColumnOption, WriteOptions, Writer,
};
use herringbone_remote::{RemoteWriteOptions, RemoteWriter};

use crate::bucket::{Bucket, Call};
use crate::files::{batch, written};
use crate::keys;
use crate::memory::{Host, Runs};

/// The size of a part.
const PART: usize = 50_000;

/// Returns options for 160,000-byte row groups, given a batch with two columns.
fn plain() -> WriteOptions {
    let columns = ColumnOptions::new().page_rows(1_000);
    let columns = columns.compression(Compression::Uncompressed);
    WriteOptions::new().columns(columns).row_group_rows(10_000)
}

fn parts(write: WriteOptions) -> RemoteWriteOptions {
    let options = RemoteWriteOptions::from(write).part_bytes(PART as u64);
    options.max_bytes_in_flight(3 * PART as u64)
}

async fn write(
    bucket: &Bucket,
    batches: &[RecordBatch],
    options: RemoteWriteOptions,
) -> Result<FileMetadata> {
    let sink = Arc::new(bucket.clone());
    let mut writer = RemoteWriter::new(sink, batches[0].schema(), options)?;
    for batch in batches {
        writer.write(batch).await?;
    }
    writer.add_key_value(("batch", "17"));
    writer.finish().await
}

/// Writes the same rows to memory.
fn blocking(batches: &[RecordBatch], options: WriteOptions) -> (FileMetadata, Bytes) {
    let mut writer = Writer::new(Vec::new(), batches[0].schema(), options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.add_key_value(("batch", "17"));
    let (metadata, file) = writer.finish_into().unwrap();
    (metadata, file.into())
}

/// Returns a batch of 45,000 rows, and others of 5,000.
fn batches() -> Vec<RecordBatch> {
    let all = batch(2, 60_000);
    let slices = [(0, 45_000), (45_000, 5_000), (50_000, 0), (50_000, 10_000)];
    slices.map(|(at, rows)| all.slice(at, rows)).to_vec()
}

#[test]
fn the_bytes_are_those_of_the_blocking_writer() {
    let sorted = vec![SortingColumnOption::new(["c1"])];
    let mut sorts = plain().sort_by(sorted);
    // Temporary files contain the sorted rows.
    sorts.sort_memory_bytes = 200_000;
    let mut short = plain().row_group_rows(1 << 20);
    short.memory_bytes = 300_000;
    for (name, options) in [
        ("plain", plain().threads(1)),
        ("two threads", plain().threads(2)),
        ("default", WriteOptions::new()),
        ("sorted", sorts),
        ("row groups by memory", short),
    ] {
        let (metadata, file) = blocking(&batches(), options.clone());
        for runs in [
            None,
            Some(Runs::AtOnce),
            Some(Runs::Never),
            Some(Runs::OnThreads),
        ] {
            let bucket = Bucket::new(2);
            let hosted = match runs {
                Some(runs) => options.clone().spawn(Arc::new(Host::new(runs))),
                None => options.clone(),
            };
            let written = block_on(write(&bucket, &batches(), parts(hosted))).unwrap();
            assert_eq!(bucket.object().unwrap(), file, "{name}, {runs:?}");
            assert_eq!(written.num_rows(), metadata.num_rows());
            assert_eq!(
                written.key_value_metadata().to_vec(),
                metadata.key_value_metadata().to_vec()
            );
            assert_eq!(bucket.look(|state| state.open), 0);
        }
    }
}

#[test]
fn an_encrypted_file_is_read_with_its_keys() {
    let bucket = Bucket::new(1);
    let rows = batch(3, 10_000);
    let options = keys::encrypting(plain());
    block_on(write(&bucket, std::slice::from_ref(&rows), parts(options))).unwrap();
    let file = bucket.object().unwrap();
    let read = crate::files::blocking(&file, keys::known(), &ReadOptions::new()).unwrap();
    assert_eq!(
        read.iter().map(RecordBatch::num_rows).sum::<usize>(),
        10_000
    );
    let first = &read[0];
    assert_eq!(first.columns(), rows.slice(0, first.num_rows()).columns());
    crate::files::blocking(&file, herringbone::Limits::default(), &ReadOptions::new()).unwrap_err();
}

#[test]
fn a_small_file_is_one_request() {
    let rows = batch(1, 100);
    let file = written(&rows, plain());
    // One size of parts is larger than the file, and one is exactly the file's length.
    for part in [1 << 20, file.len() + 1, file.len()] {
        let bucket = Bucket::new(1);
        block_on(async {
            let options = parts(plain()).part_bytes(part as u64);
            let sink = Arc::new(bucket.clone());
            let mut writer = RemoteWriter::new(sink, rows.schema(), options).unwrap();
            writer.write(&rows).await.unwrap();
            writer.flush().await.unwrap();
            assert_eq!(bucket.calls(), []);
            writer.finish().await.unwrap();
        });
        assert_eq!(bucket.calls(), [Call::Put(file.len())]);
        assert_eq!(bucket.object().unwrap(), file);
    }
    let bucket = Bucket::new(1);
    block_on(async {
        let options = parts(plain()).part_bytes(file.len() as u64 - 1);
        let sink = Arc::new(bucket.clone());
        let mut writer = RemoteWriter::new(sink, rows.schema(), options).unwrap();
        writer.write(&rows).await.unwrap();
        writer.finish().await.unwrap();
    });
    let first = Call::Part(1, file.len() - 1);
    let expected = [Call::Start, first, Call::Part(2, 1), Call::Complete];
    assert_eq!(bucket.calls(), expected);
    assert_eq!(bucket.object().unwrap(), file);
}

#[test]
fn parts_are_full_and_the_last_has_the_rest() {
    let bucket = Bucket::new(50);
    block_on(write(&bucket, &batches(), parts(plain()))).unwrap();
    let file = blocking(&batches(), plain()).1;
    let mut expected = vec![Call::Start];
    for (index, part) in file.chunks(PART).enumerate() {
        expected.push(Call::Part(index + 1, part.len()));
    }
    expected.push(Call::Complete);
    assert_eq!(bucket.calls(), expected);
    // There are 60,000 rows of 16 bytes.
    assert!(expected.len() > 20);
    // Three parts are in flight, and no more than that.
    assert_eq!(bucket.look(|state| state.most_in_flight), (3, 3 * PART));
}

/// Rows have 16 bytes each, so that a row group has 160,000 bytes, half of them in each column.
#[test]
fn the_memory_does_not_grow_with_the_file() {
    let all = batch(2, 200_000);
    let bucket = Bucket::new(50);
    let pool = Arc::new(Highest::default());
    let options = parts(plain().threads(1)).memory_pool(pool.clone());
    block_on(async {
        let sink = Arc::new(bucket.clone());
        let mut writer = RemoteWriter::new(sink, all.schema(), options).unwrap();
        // This is one batch of 20 row groups.
        writer.write(&all).await.unwrap();
        assert!(writer.memory_size() < 600_000, "{}", writer.memory_size());
        assert_eq!(writer.num_rows(), 200_000);
        assert!(writer.bytes_written() > 3_000_000);
        writer.finish().await.unwrap();
    });
    let (used, most) = *pool.0.lock().unwrap();
    assert_eq!(used, 0);
    assert!((3 * PART as u64..700_000).contains(&most), "{most}");
    assert_eq!(bucket.look(|state| state.most_in_flight.1), 3 * PART);
}

/// A pool that remembers the largest number of bytes taken.
#[derive(Debug, Default)]
struct Highest(std::sync::Mutex<(u64, u64)>);

impl MemoryPool for Highest {
    fn take(&self, bytes: u64) -> bool {
        let mut used = self.0.lock().unwrap();
        used.0 += bytes;
        used.1 = used.1.max(used.0);
        true
    }

    fn give_back(&self, bytes: u64) {
        self.0.lock().unwrap().0 -= bytes;
    }
}

#[test]
fn a_pool_that_refuses_waits_for_parts_ends_row_groups_and_then_is_an_error() {
    // This suffices for a row group and one part in flight, but not for three parts.
    let pool = SharedMemory::new(470_000);
    let bucket = Bucket::new(20);
    let options = parts(plain().threads(1)).memory_pool(pool);
    block_on(write(&bucket, &batches(), options)).unwrap();
    assert_eq!(bucket.object().unwrap(), blocking(&batches(), plain()).1);
    // This isn't enough for a row group, since it takes 400,000 bytes until it ends. Rows arrive in
    // slices of 8,000 bytes.
    let all = batch(2, 60_000);
    let slices: Vec<_> = (0..120).map(|at| all.slice(at * 500, 500)).collect();
    for size in (140_000..480_000).step_by(20_000) {
        let pool = SharedMemory::new(size);
        let bucket = Bucket::new(20);
        let options = parts(plain().threads(1)).memory_pool(pool.clone());
        let metadata = block_on(write(&bucket, &slices, options)).unwrap();
        assert_eq!(pool.used(), 0);
        let (whole, _) = blocking(&batches(), plain());
        let has_more = metadata.num_row_groups() > whole.num_row_groups();
        assert!(has_more || size > 300_000, "{size}");
        let file = ParquetFile::from_bytes(bucket.object().unwrap()).unwrap();
        let mut at = 0;
        for read in file.read(ReadOptions::new()).unwrap() {
            let read = read.unwrap();
            assert_eq!(read.columns(), all.slice(at, read.num_rows()).columns());
            at += read.num_rows();
        }
        assert_eq!(at, 60_000);
    }
    // This does not suffice for a part and a slice of rows.
    let pool = SharedMemory::new(30_000);
    let bucket = Bucket::new(20);
    let options = parts(plain().threads(1)).memory_pool(pool.clone());
    let error = block_on(write(&bucket, &batches(), options)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(error.remedy(), Some(Remedy::EnlargeMemoryPool));
    assert_eq!(pool.used(), 0);
    assert_eq!(bucket.object(), None);
    assert_eq!(
        bucket.look(|state| (state.open, state.in_flight)),
        (0, (0, 0))
    );
}

#[test]
fn a_file_of_too_many_parts_is_an_error() {
    let options = parts(plain()).part_bytes(1).equal_parts(true);
    let bucket = Bucket::new(0);
    let error = block_on(write(&bucket, &[batch(2, 2_000)], options)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    let message = "mem://bucket/new.parquet: 10000 bytes are 10000 parts, which";
    assert!(error.message().starts_with(message), "{error}");
    // The requests are a start, the parts and an abort.
    assert_eq!(bucket.calls().len(), 10_002);
    assert_eq!(bucket.calls().last(), Some(&Call::Abort));
    assert_eq!(bucket.object(), None);
    // Parts that grow hold the same rows.
    let bucket = Bucket::new(0);
    let options = parts(plain()).part_bytes(50);
    let rows = [batch(2, 20_000)];
    block_on(write(&bucket, &rows, options)).unwrap();
    assert_eq!(bucket.object().unwrap(), blocking(&rows, plain()).1);
    assert!((1_000..6_000).contains(&bucket.calls().len()));
    for bytes in [0, (5 << 30) + 1] {
        let options = parts(plain()).part_bytes(bytes);
        let error = block_on(write(&Bucket::new(0), &batches(), options)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
    }
}

/// Each request fails in turn. The upload is then aborted, and no object appears.
#[test]
fn a_request_that_fails_aborts_the_upload() {
    for (call, what) in [
        (Call::Start, "the start of the upload"),
        (Call::Part(1, PART), "part 1, bytes 0..50000"),
        (Call::Part(2, PART), "part 2, bytes 50000..100000"),
        (Call::Complete, "the end of the upload of 20 parts"),
    ] {
        for abort_fails in [false, true] {
            for runs in [None, Some(Runs::OnThreads)] {
                let bucket = Bucket::new(1).fails(move |it| match it {
                    Call::Abort => abort_fails.then_some(std::io::ErrorKind::TimedOut),
                    it => (it == call).then_some(std::io::ErrorKind::AlreadyExists),
                });
                let mut options = plain();
                if let Some(runs) = runs {
                    options = options.spawn(Arc::new(Host::new(runs)));
                }
                let error = block_on(write(&bucket, &batches(), parts(options))).unwrap_err();
                let kind = error.io_error().unwrap().kind();
                assert_eq!(kind, std::io::ErrorKind::AlreadyExists);
                let mut expected = format!("mem://bucket/new.parquet, {what}: no luck");
                let aborts = usize::from(call != Call::Start);
                if abort_fails && aborts > 0 {
                    expected.push_str(
                        "; then mem://bucket/new.parquet, the abort of the upload, whose parts may \
                         stay in the store: no luck",
                    );
                }
                assert_eq!(error.message(), expected);
                assert_eq!(bucket.object(), None);
                let calls = bucket.calls();
                let aborted = calls.iter().filter(|call| **call == Call::Abort);
                assert_eq!(aborted.count(), aborts, "{calls:?}");
                let left = usize::from(abort_fails) * aborts;
                assert_eq!(
                    bucket.look(|state| (state.open, state.in_flight)),
                    (left, (0, 0))
                );
                assert_eq!(bucket.look(|state| state.detached.len()), 0);
            }
        }
    }
}

#[test]
fn a_put_that_fails_is_an_error() {
    let bucket = Bucket::new(1).fails(|_| Some(std::io::ErrorKind::AlreadyExists));
    let error = block_on(write(&bucket, &[batch(1, 10)], parts(plain()))).unwrap_err();
    let message = error.message();
    assert!(message.starts_with("mem://bucket/new.parquet, "), "{error}");
    assert!(message.ends_with(" bytes: no luck"), "{error}");
    assert_eq!(bucket.calls().len(), 1);
    assert_eq!(bucket.object(), None);
}

#[test]
fn a_batch_that_cannot_be_written_aborts_the_upload() {
    let bucket = Bucket::new(1);
    let rows = batches();
    block_on(async {
        let sink = Arc::new(bucket.clone());
        let mut writer = RemoteWriter::new(sink, rows[0].schema(), parts(plain())).unwrap();
        writer.write(&rows[0]).await.unwrap();
        let error = writer.write(&batch(1, 1)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        let again = writer.write(&rows[0]).await.unwrap_err();
        assert!(again.message().contains("failed earlier"), "{again}");
        let again = writer.finish().await.unwrap_err();
        assert!(again.message().contains("failed earlier"), "{again}");
    });
    assert_eq!(bucket.calls().last(), Some(&Call::Abort));
    assert_eq!(
        bucket.look(|state| (state.open, state.in_flight)),
        (0, (0, 0))
    );
    assert_eq!(bucket.object(), None);
}

#[test]
fn an_abort_removes_the_parts() {
    let rows = batches();
    for fails in [false, true] {
        let kind = std::io::ErrorKind::NotFound;
        let bucket = Bucket::new(500).fails(move |it| (fails && it == Call::Abort).then_some(kind));
        block_on(async {
            let sink = Arc::new(bucket.clone());
            let mut writer = RemoteWriter::new(sink, rows[0].schema(), parts(plain())).unwrap();
            writer.write(&rows[0]).await.unwrap();
            assert!(bucket.look(|state| state.in_flight.0) > 0);
            let aborted = writer.abort().await;
            assert_eq!(aborted.is_err(), fails);
            if let Err(error) = aborted {
                let message = "mem://bucket/new.parquet, the abort of the upload, whose";
                assert!(error.message().starts_with(message), "{error}");
            }
        });
        assert_eq!(bucket.look(|state| state.in_flight), (0, 0));
        assert_eq!(bucket.look(|state| state.open), usize::from(fails));
        assert_eq!(bucket.object(), None);
    }
    // Without an upload, nothing is requested.
    let bucket = Bucket::new(1);
    let sink = Arc::new(bucket.clone());
    let writer = RemoteWriter::new(sink, rows[0].schema(), parts(plain())).unwrap();
    block_on(writer.abort()).unwrap();
    assert_eq!(bucket.calls(), []);
}

/// If a future is dropped, its rows might be missing, so the file cannot be finished.
#[test]
fn a_dropped_future_of_a_batch_ends_the_file() {
    let (bucket, rows) = (Bucket::new(9), batches());
    let sink = Arc::new(bucket.clone());
    let mut writer = RemoteWriter::new(sink, rows[0].schema(), parts(plain())).unwrap();
    let waker = noop_waker();
    let mut cx = Context::from_waker(&waker);
    {
        let mut writing = pin!(writer.write(&rows[0]));
        for _ in 0..20 {
            assert!(writing.as_mut().poll(&mut cx).is_pending());
        }
    }
    assert!(block_on(writer.write(&rows[1])).is_err());
    assert!(block_on(writer.flush()).is_err());
    block_on(writer.abort()).unwrap();
    assert_eq!(
        bucket.look(|state| (state.open, state.in_flight)),
        (0, (0, 0))
    );
}

/// Polls a write `polls` times, and then drops it. Returns false if the write was over before.
fn dropped_after(bucket: &Bucket, options: RemoteWriteOptions, polls: usize) -> bool {
    let waker = noop_waker();
    let mut cx = Context::from_waker(&waker);
    let rows = batches();
    let mut writing = pin!(write(bucket, &rows, options));
    (0..polls).all(|_| match writing.as_mut().poll(&mut cx) {
        Poll::Pending => true,
        Poll::Ready(done) => {
            done.unwrap();
            false
        }
    })
}

#[test]
fn a_writer_dropped_at_every_await_leaves_nothing() {
    let expected = blocking(&batches(), plain()).1;
    for runs in [None, Some(Runs::AtOnce), Some(Runs::Never)] {
        let host = runs.map(Host::new);
        let pool = SharedMemory::new(1 << 30);
        let mut polls = 0;
        let mut aborts = 0;
        loop {
            let bucket = Bucket::new(20);
            let options = match &host {
                Some(host) => plain().spawn(Arc::new(host.clone())),
                None => plain().threads(1),
            };
            let options = parts(options).memory_pool(pool.clone());
            let is_dropped = dropped_after(&bucket, options, polls);
            assert_eq!(pool.used(), 0, "{polls}");
            let jobs = host
                .as_ref()
                .map_or(0, |host| host.jobs.load(Ordering::SeqCst));
            assert_eq!(jobs, 0, "{polls}");
            let detached = bucket.look(|state| std::mem::take(&mut state.detached));
            aborts += detached.len();
            detached.into_iter().for_each(block_on);
            assert_eq!(bucket.look(|state| state.in_flight), (0, 0), "{polls}");
            assert_eq!(bucket.look(|state| state.open), 0, "{polls}");
            let object = bucket.object();
            assert_eq!(object.is_some(), !is_dropped, "{polls}");
            if !is_dropped {
                assert_eq!(object.unwrap(), expected);
                break;
            }
            polls += 1;
        }
        assert!(polls > 20 && aborts > 15, "{polls} {aborts}");
    }
}

#[test]
fn a_writer_dropped_while_threads_encode_leaves_nothing() {
    let host = Host::new(Runs::OnThreads);
    let pool = SharedMemory::new(1 << 30);
    for polls in 0..40 {
        let bucket = Bucket::new(2);
        let options = plain().spawn(Arc::new(host.clone()));
        let options = parts(options).memory_pool(pool.clone());
        dropped_after(&bucket, options, polls);
        let patience = Instant::now() + Duration::from_secs(60);
        while host.jobs.load(Ordering::SeqCst) > 0 && Instant::now() < patience {
            std::thread::yield_now();
        }
        assert_eq!(host.jobs.load(Ordering::SeqCst), 0);
        assert_eq!((pool.used(), bucket.object()), (0, None));
        let detached = bucket.look(|state| std::mem::take(&mut state.detached));
        detached.into_iter().for_each(block_on);
        assert_eq!(bucket.look(|state| state.in_flight), (0, 0), "{polls}");
    }
}

#[test]
fn futures_move_between_threads() {
    fn check(_: &impl Send) {}
    let rows = batch(1, 1);
    let sink = || Arc::new(Bucket::new(0));
    let mut writer = RemoteWriter::new(sink(), rows.schema(), plain()).unwrap();
    check(&writer);
    check(&writer.write(&rows));
    check(&writer.flush());
    check(&writer.finish());
    let writer = RemoteWriter::new(sink(), rows.schema(), plain()).unwrap();
    check(&writer.abort());
}

/// Several objects can appear together, because the store has all their parts, and only waits for
/// the request at the end.
#[test]
fn a_sent_object_appears_when_it_is_completed() {
    let (metadata, file) = blocking(&batches(), plain());
    for (part_bytes, last) in [(PART, Call::Complete), (10 << 20, Call::Put(file.len()))] {
        for completes in [true, false] {
            let bucket = Bucket::new(2);
            let options = parts(plain()).part_bytes(part_bytes as u64);
            let sink = Arc::new(bucket.clone());
            let schema = batches()[0].schema();
            let mut writer = RemoteWriter::new(sink, schema, options).unwrap();
            for batch in &batches() {
                block_on(writer.write(batch)).unwrap();
            }
            writer.add_key_value(("batch", "17"));
            assert!(writer.estimated_bytes() >= writer.bytes_written());
            let sent = block_on(writer.send_all()).unwrap();
            assert_eq!(sent.bytes(), file.len() as u64);
            assert_eq!(sent.metadata().num_rows(), metadata.num_rows());
            assert_eq!(bucket.object(), None);
            assert!(!bucket.calls().contains(&last));
            let calls = bucket.calls().len();
            if completes {
                assert_eq!(block_on(sent.complete()).unwrap().num_rows(), 60_000);
                assert_eq!(bucket.object().unwrap(), file);
                assert_eq!(bucket.calls()[calls..], [last]);
            } else {
                block_on(sent.abort()).unwrap();
                assert_eq!(bucket.object(), None);
                let is_started = last == Call::Complete;
                let aborts = [Call::Abort];
                assert_eq!(bucket.calls()[calls..], aborts[..usize::from(is_started)]);
            }
            assert_eq!(bucket.look(|state| state.open), 0);
        }
    }
}

#[test]
fn a_sent_object_that_cannot_be_completed_is_aborted() {
    let fault = |call| (call == Call::Complete).then_some(std::io::ErrorKind::AlreadyExists);
    let bucket = Bucket::new(1).fails(fault);
    let error = block_on(write(&bucket, &batches(), parts(plain()))).unwrap_err();
    let kind = error.io_error().unwrap().kind();
    assert_eq!(kind, std::io::ErrorKind::AlreadyExists);
    assert_eq!(bucket.calls().last(), Some(&Call::Abort));
}

/// Parts arrive while the program makes the next batch.
#[test]
fn parts_arrive_during_a_future_of_the_program() {
    let bucket = Bucket::new(20);
    let sink = Arc::new(bucket.clone());
    let schema = batches()[0].schema();
    let mut writer = RemoteWriter::new(sink, schema, parts(plain())).unwrap();
    block_on(writer.write(&batches()[0])).unwrap();
    let in_flight = || bucket.look(|state| state.in_flight.0);
    assert!(in_flight() > 0);
    let mut polls = 0;
    let made = std::future::poll_fn(|cx| {
        polls += 1;
        cx.waker().wake_by_ref();
        match polls > 30 {
            true => Poll::Ready(17),
            false => Poll::Pending,
        }
    });
    assert_eq!(block_on(writer.during(made)).unwrap(), 17);
    assert_eq!(in_flight(), 0);

    // These are more polls than the encoder takes.
    let failing = Bucket::new(1000).fails(|call| {
        let is_part = matches!(call, Call::Part(..));
        is_part.then_some(std::io::ErrorKind::Other)
    });
    let sink = Arc::new(failing.clone());
    let schema = batches()[0].schema();
    let mut writer = RemoteWriter::new(sink, schema, parts(plain())).unwrap();
    block_on(writer.write(&batch(2, 10_000))).unwrap();
    let never = std::future::pending::<()>();
    let error = block_on(writer.during(never)).unwrap_err();
    assert!(error.message().contains("part 1"), "{error}");
    assert_eq!(failing.calls().last(), Some(&Call::Abort));
    assert!(block_on(writer.finish()).is_err());
}

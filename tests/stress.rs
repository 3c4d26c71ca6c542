//! Tests readers and writers with threads, on slow and failing files, which we drop at any time. They leave no files,
//! no memory, and no threads except the pool's threads.
//!
//! The test needs its own process, because it counts its allocations and threads.

#![allow(clippy::unwrap_used, reason = "a test that cannot run has failed")]

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use herringbone::source::{FetchPolicy, Source};
use herringbone::{
    ColumnOptions, Error, Limits, OnError, ParquetFile, ReadOptions, WriteOptions, Writer,
};
use herringbone_arrow::array::types::Int32Type;
use herringbone_arrow::array::{
    ArrayRef, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The number of rounds in each test.
const ROUNDS: u64 = 40;
const ROWS: i32 = 40_000;
/// The maximum number of threads that a test requests.
const MAX_THREADS: u64 = 6;
/// The number of bytes that others in this process, such as the test harness, may have allocated meanwhile.
const SLACK: usize = 16 << 10;

/// A generator of choices that are the same in each run.
#[derive(Clone)]
struct Choices(u64);

impl Choices {
    /// Returns a number below `n`, by splitmix64.
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// Returns columns that take different amounts of time, with enough values for several threads.
fn batch() -> RecordBatch {
    let rows = 0..ROWS;
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(rows.clone().collect::<Int32Array>())),
        (
            "few",
            Arc::new(
                rows.clone()
                    .map(|row| (row % 9 > 0).then_some(i64::from(row % 50)))
                    .collect::<Int64Array>(),
            ),
        ),
        (
            "text",
            Arc::new(
                rows.clone()
                    .map(|row| Some(format!("{:x}", row.wrapping_mul(77_777))))
                    .collect::<StringArray>(),
            ),
        ),
        (
            "list",
            Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(rows.map(
                |row| (row % 7 > 0).then(|| (0..row % 4).map(Some).collect::<Vec<_>>()),
            ))),
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .unwrap()
}

fn options() -> WriteOptions {
    WriteOptions::new()
        .row_group_rows(9_000)
        .columns(ColumnOptions::new().page_rows(700))
}

fn file(batch: &RecordBatch) -> Bytes {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options().threads(1)).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    bytes.into()
}

/// A file that threads read in small parts, and then yield to each other. It fails at read number `fails_at`.
struct Slow {
    bytes: Bytes,
    reads: AtomicU64,
    fails_at: u64,
}

impl Source for Slow {
    fn len(&self) -> u64 {
        Source::len(&self.bytes)
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, Error> {
        let reads = self.reads.fetch_add(1, Ordering::Relaxed);
        if reads == self.fails_at {
            return Err(io::Error::other("the disk is gone").into());
        }
        for _ in 0..reads % 4 {
            std::thread::yield_now();
        }
        // We return a copy, as if we read from a file.
        Source::read(&self.bytes, range).map(|bytes| Bytes::copy_from_slice(&bytes))
    }

    fn fetch_policy(&self) -> FetchPolicy {
        // No bytes arrive with the footer, so that all reads are visible.
        let mut policy = FetchPolicy::local();
        policy.suffix_bytes = 0;
        policy
    }
}

/// An output that accepts a few bytes at a time, and fails after it has taken `left` bytes.
struct Trickle {
    choices: Choices,
    left: usize,
    taken: Vec<u8>,
}

impl Write for Trickle {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(1 + self.choices.below(5_000) as usize);
        if n > self.left {
            return Err(io::Error::other("the disk is full"));
        }
        if n.is_multiple_of(3) {
            std::thread::yield_now();
        }
        self.left -= n;
        self.taken.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the number of threads in this process, or `None` if the system does not list them.
fn threads() -> Option<usize> {
    Some(std::fs::read_dir("/proc/self/task").ok()?.count())
}

/// Checks that there are no more threads than `before` and the pool's threads. A joined thread may still be listed for
/// a moment.
fn check_threads(before: Option<usize>, when: &str) {
    let cores = std::thread::available_parallelism().unwrap().get();
    let expected = before.map(|before| before + cores.max(MAX_THREADS as usize));
    for _ in 0..1000 {
        if threads() <= expected {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(
        threads() <= expected,
        "more than {expected:?} threads {when}"
    );
}

/// Reads some batches, drops the reader, and returns the batches.
fn read_some(bytes: &Bytes, choices: &mut Choices) -> Result<Vec<RecordBatch>, Error> {
    let fails_at = match choices.below(3) {
        0 => choices.below(30),
        _ => u64::MAX,
    };
    let source = Slow {
        bytes: bytes.clone(),
        reads: AtomicU64::new(0),
        fails_at,
    };
    let threads = 1 + choices.below(MAX_THREADS) as usize;
    let options = ReadOptions::default()
        .threads(threads)
        .batch_size(200 + choices.below(3_000) as usize)
        .on_error(OnError::SkipRowGroup);
    let mut reader = ParquetFile::from_source(source, Limits::default())?.read(options)?;
    let most = match choices.below(4) {
        0 => u64::MAX,
        _ => choices.below(40),
    };
    let mut batches = Vec::new();
    for _ in 0..most {
        match reader.next_batch()? {
            Some(batch) => batches.push(batch),
            None => break,
        }
    }
    Ok(batches)
}

/// Writes some rows and drops the writer, or finishes the file and compares it.
fn write_some(batch: &RecordBatch, whole: &Bytes, choices: &mut Choices) {
    let mut out = Trickle {
        choices: choices.clone(),
        left: match choices.below(3) {
            0 => choices.below(whole.len() as u64) as usize,
            _ => usize::MAX,
        },
        taken: Vec::new(),
    };
    let options = options().threads(1 + choices.below(MAX_THREADS) as usize);
    let Ok(mut writer) = Writer::new(&mut out, batch.schema(), options) else {
        return;
    };
    let slice = 300 + choices.below(9_000) as usize;
    let rows = match choices.below(2) {
        0 => batch.num_rows(),
        _ => choices.below(ROWS as u64) as usize,
    };
    for start in (0..rows).step_by(slice) {
        if writer
            .write(&batch.slice(start, slice.min(rows - start)))
            .is_err()
        {
            return;
        }
    }
    if rows < batch.num_rows() {
        return;
    }
    if writer.finish().is_ok() {
        let is_same = out.taken == whole[..];
        assert!(is_same, "slices of {slice} rows make another file");
    }
}

/// Starts a file in a folder and drops the writer, which removes the file.
fn create_some(batch: &RecordBatch, folder: &Path, choices: &mut Choices) {
    let path = folder.join("file.parquet");
    let options = options().threads(1 + choices.below(4) as usize);
    let mut writer = herringbone::create_with(&path, batch.schema(), options).unwrap();
    for _ in 0..choices.below(4) {
        writer.write(batch).unwrap();
    }
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
    drop(writer);
    assert_eq!(
        std::fs::read_dir(folder).unwrap().count(),
        0,
        "a file is left"
    );
}

/// Repeats `round`. Afterwards, there are no threads except the pool's threads, and the memory is the same as after the
/// first rounds, which fill the process's caches.
fn leaves_nothing(before: Option<usize>, what: &str, mut round: impl FnMut(&mut Choices)) {
    let mut taken = 0;
    for seed in 0..ROUNDS {
        if seed == 5 {
            taken = ALLOCATOR.current_usage();
        }
        round(&mut Choices(seed));
        check_threads(before, &format!("after round {seed} of {what}"));
    }
    let now = ALLOCATOR.current_usage();
    assert!(now <= taken + SLACK, "{what} holds {} bytes", now - taken);
}

#[test]
fn nothing_is_left_behind() {
    let before = threads();
    if before.is_none() {
        eprintln!("threads are not counted: this system does not list them");
    }
    let batch = batch();
    let whole = file(&batch);
    let (mut in_full, mut in_part, mut failed) = (0, 0, 0);
    leaves_nothing(before, "reading", |choices| {
        match read_some(&whole, choices) {
            Err(error) => {
                assert!(error.to_string().contains("the disk is gone"), "{error}");
                failed += 1;
            }
            Ok(batches) => {
                let mut start = 0;
                for part in batches {
                    assert_eq!(part, batch.slice(start, part.num_rows()));
                    start += part.num_rows();
                }
                match start < batch.num_rows() {
                    true => in_part += 1,
                    false => in_full += 1,
                }
            }
        }
    });
    assert!(
        in_full > 3 && in_part > 3 && failed > 3,
        "{in_full}, {in_part}, {failed}"
    );
    leaves_nothing(before, "writing", |choices| {
        write_some(&batch, &whole, choices)
    });
    let folder = std::env::temp_dir().join(format!("herringbone-stress-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    leaves_nothing(before, "creating", |choices| {
        create_some(&batch, &folder, choices)
    });
    std::fs::remove_dir(&folder).unwrap();
    open_writers_share_threads(&batch, before);
}

/// Checks two hundred open writers, which have all used several threads.
fn open_writers_share_threads(batch: &RecordBatch, before: Option<usize>) {
    let batch = batch.slice(0, 3_000);
    let new = |_| {
        let options = options().threads(MAX_THREADS as usize);
        Writer::new(Vec::new(), batch.schema(), options).unwrap()
    };
    let mut writers: Vec<_> = (0..200).map(new).collect();
    for _ in 0..4 {
        for writer in &mut writers {
            writer.write(&batch).unwrap();
        }
        check_threads(before, "with two hundred open writers");
    }
    for writer in writers {
        assert_eq!(writer.finish().unwrap().num_rows(), 12_000);
    }
}

//! Tests writers and `verify` when they run on a program's threads.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::extension::{
    ChunkStatistics, ColumnStatistics, ColumnStatisticsFactory, ColumnValues, StatisticsColumn,
};
use herringbone::{ParquetFile, Result, Spawn, WriteOptions, Writer};

use crate::random::Random;

/// The way in which a program runs jobs.
#[derive(Debug, Clone, Copy)]
enum Runs {
    OnThreads,
    AtOnce,
    Never,
}

/// A program that records the threads on which jobs ran.
#[derive(Debug)]
struct Program {
    runs: Runs,
    threads: Arc<Mutex<HashSet<ThreadId>>>,
}

impl Program {
    fn new(runs: Runs) -> Arc<Self> {
        let threads = Arc::default();
        Arc::new(Self { runs, threads })
    }

    fn num_threads(&self) -> usize {
        self.threads.lock().unwrap().len()
    }
}

impl Spawn for Program {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        let threads = self.threads.clone();
        let job = move || {
            threads.lock().unwrap().insert(thread::current().id());
            job();
        };
        match self.runs {
            Runs::OnThreads => drop(thread::spawn(job)),
            Runs::AtOnce => job(),
            Runs::Never => {}
        }
    }
}

fn batch() -> RecordBatch {
    let mut random = Random(11);
    let columns = (0..6).map(|column| {
        let values = (0..40_000).map(|_| random.below(1 << (9 * column)) as i64);
        let array: ArrayRef = Arc::new(Int64Array::from_iter_values(values.collect::<Vec<_>>()));
        (format!("c{column}"), array)
    });
    RecordBatch::try_from_iter(columns.collect::<Vec<_>>()).unwrap()
}

fn written(batch: &RecordBatch, options: WriteOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = options.row_group_rows(9_000);
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    for start in (0..batch.num_rows()).step_by(4_000) {
        writer.write(&batch.slice(start, 4_000)).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

/// The file is the same as on a single thread, even if no job ever runs.
#[test]
fn a_program_writes_on_its_own_threads() {
    let batch = batch();
    let alone = written(&batch, WriteOptions::new().threads(1));
    for runs in [Runs::OnThreads, Runs::AtOnce, Runs::Never] {
        let program = Program::new(runs);
        let options = WriteOptions::new().threads(3).spawn(program.clone());
        assert!(written(&batch, options) == alone, "{runs:?}");
        let threads = program.num_threads();
        match runs {
            Runs::OnThreads => assert!(threads > 0),
            Runs::AtOnce => assert_eq!(threads, 1),
            Runs::Never => assert_eq!(threads, 0),
        }
    }
}

#[test]
fn a_program_verifies_on_its_own_threads() {
    let file = ParquetFile::from_bytes(written(&batch(), WriteOptions::new())).unwrap();
    for runs in [Runs::OnThreads, Runs::AtOnce, Runs::Never] {
        let program = Program::new(runs);
        let verify = herringbone_inspect::verify(&file).threads(3);
        assert_eq!(verify.spawn(program.clone()).count(), 0, "{runs:?}");
        assert_eq!(program.num_threads() > 0, !matches!(runs, Runs::Never));
    }
}

/// A plug-in that panics on all threads except the caller's, which waits for the panic.
#[derive(Debug, Clone)]
struct Panics {
    caller: ThreadId,
    panicked: Arc<AtomicBool>,
}

impl ColumnStatisticsFactory for Panics {
    fn column(&self, _: &StatisticsColumn<'_>) -> Result<Option<Box<dyn ColumnStatistics>>> {
        Ok(Some(Box::new(self.clone())))
    }
}

impl ColumnStatistics for Panics {
    fn update(&mut self, _: ColumnValues<'_>) {
        if thread::current().id() != self.caller {
            self.panicked.store(true, Ordering::SeqCst);
            panic_any("on a thread of the program");
        }
        let end = Instant::now() + Duration::from_secs(60);
        while !self.panicked.load(Ordering::SeqCst) && Instant::now() < end {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn finish(self: Box<Self>) -> ChunkStatistics {
        ChunkStatistics::default()
    }
}

#[test]
fn a_panic_on_a_thread_of_the_program_reaches_the_caller() {
    // The batch is so large that its first rows are encoded on two threads.
    let batch = batch();
    let panics = Panics {
        caller: thread::current().id(),
        panicked: Arc::default(),
    };
    let program = Program::new(Runs::OnThreads);
    let options = WriteOptions::new().threads(2).spawn(program);
    let options = options.column_statistics(panics);
    let written = catch_unwind(AssertUnwindSafe(|| {
        let mut writer = Writer::new(Vec::new(), batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
    }));
    let panic = written.unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&"on a thread of the program"));
}

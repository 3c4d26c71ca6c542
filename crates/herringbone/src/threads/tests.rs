//! Tests of the row groups that threads begin, driven by hand without threads.

use bytes::Bytes;
use herringbone_arrow::array::{ArrayRef, Int64Array};

use super::*;
use crate::source::FetchPolicy;
use crate::{ParquetFile, ReadOptions, WriteOptions, Writer};

const ROWS: usize = 1_000;

/// Bytes in memory that have any policy.
struct Stored(Bytes, FetchPolicy);

impl Source for Stored {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read(&self, range: std::ops::Range<u64>) -> Result<Bytes> {
        self.0.read(range)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.1.clone()
    }
}

/// Returns a file of many row groups with two columns of integers.
fn file(row_groups: usize) -> Bytes {
    let column: ArrayRef = Arc::new((0..ROWS as i64).collect::<Int64Array>());
    let batch = RecordBatch::try_from_iter([("a", column.clone()), ("b", column)]).unwrap();
    let options = WriteOptions::new().row_group_rows(ROWS);
    let mut writer = Writer::new(Vec::new(), batch.schema(), options).unwrap();
    (0..row_groups).for_each(|_| writer.write(&batch).unwrap());
    writer.finish_into().unwrap().1.into()
}

/// Returns the work of two threads over a file of 12 row groups, and its state.
fn work(grain: Grain, options: ReadOptions, fetched: Option<usize>) -> (ReadWork, State) {
    let policy = match fetched {
        None => FetchPolicy::memory(),
        Some(_) => FetchPolicy::remote(),
    };
    let bytes = file(12);
    let plan = ParquetFile::from_bytes(bytes.clone())
        .unwrap()
        .plan(&options);
    let sequence = ReadSequence::new(Arc::new(plan.unwrap()));
    let budget = sequence.budget().clone();
    let source: Arc<dyn Source> = Arc::new(Stored(bytes, policy));
    let bytes = Arc::new(SharedBytes::new(source, budget.clone()));
    let work = ReadWork {
        bytes: bytes.clone(),
        budget,
        threads: 2,
        grain,
        fetched_row_groups: fetched,
    };
    (work, State::new(sequence, bytes))
}

/// Takes tasks until there are none, leaves them undone, and returns one letter for each.
fn take_all(work: &ReadWork, state: &mut State) -> String {
    let task = || {
        Some(match work.take(state, &mut None)? {
            Task::Whole { .. } => "w".to_owned(),
            Task::Open { reads, .. } => format!("o{}", reads.len()),
            Task::Stage(..) => "s".to_owned(),
        })
    };
    std::iter::from_fn(task).collect()
}

fn filtered() -> ReadOptions {
    ReadOptions::new().filter(herringbone_filter::col("a").gt(10_i64))
}

#[test]
fn two_whole_row_groups_are_begun_for_each_thread() {
    let (work, mut state) = work(Grain::RowGroup, ReadOptions::new(), None);
    assert_eq!(take_all(&work, &mut state), "wwww");
    assert_eq!((state.slots.len(), state.running), (4, 4));
}

/// Rows that a limit leaves out are not tested ahead of time.
#[test]
fn one_row_group_is_begun_under_a_limit() {
    for (options, begun) in [
        (filtered(), 4),
        (filtered().limit(5), 1),
        // Without a filter, we know that the limit leaves out whole row groups.
        (ReadOptions::new().limit(2_500), 3),
    ] {
        let (work, mut state) = work(Grain::RowGroup, options, None);
        assert_eq!(take_all(&work, &mut state), "w".repeat(begun));
        assert_eq!(state.slots.len(), begun);
    }
}

#[test]
fn one_row_group_is_begun_if_memory_refused_another() {
    let (work, mut state) = work(Grain::RowGroup, ReadOptions::new(), None);
    assert_eq!(take_all(&work, &mut state), "wwww");
    state.work_alone();
    assert_eq!(state.slots.len(), 1);
    // The tasks that still run have the row groups.
    assert_eq!(take_all(&work, &mut state), "");
    assert_eq!(state.slots.len(), 1);
}

/// Row groups of a slow source are opened together, and again once half of them are left.
#[test]
fn row_groups_of_a_slow_source_are_begun_in_groups() {
    let (work, mut state) = work(Grain::RowGroup, ReadOptions::new(), Some(6));
    assert!(work.may_fetch(&state));
    let Some(Task::Open { reads, ahead }) = work.take(&mut state, &mut None) else {
        panic!("the first task is to open row groups");
    };
    assert_eq!((reads.len(), state.slots.len()), (6, 6));
    assert!(!work.may_fetch(&state));
    let opened = work.open(reads, ahead);
    assert!(opened.iter().all(|it| matches!(it.is_open, Ok(true))));
    work.finish(&mut state, Done::Open(opened));
    // Two threads take four of the six open row groups.
    assert_eq!(take_all(&work, &mut state), "wwww");
    assert_eq!((state.slots.len(), state.running), (6, 4));
    (0..3).for_each(|_| state.pop_front());
    assert!(work.may_fetch(&state));
    assert!(work.wants_help(&mut state));
    let Some(Task::Open { reads, .. }) = work.take(&mut state, &mut None) else {
        panic!("half of the row groups are left");
    };
    assert_eq!((reads.len(), state.slots.len()), (3, 6));
    state.is_alone = true;
    (0..6).for_each(|_| drop(state.slots.pop_front()));
    assert!(!work.may_fetch(&state));
}

//! Tests a filter that we tighten during a read, within a row group.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::filter::{Predicate, col};
use herringbone::push::{Poll, PushDecoder};
use herringbone::{Limits, ParquetFile, ReadOptions, WriteOptions};

use crate::push::written;

const ROWS: i64 = 400_000;
/// The first row that the last filter selects.
const LEAST: i64 = 330_000;
/// The number of rows that may be processed before a tighter filter takes effect.
const SPAN: i64 = 1 << 17;
const BATCH: usize = 1000;

fn odd(row: i64) -> i64 {
    (row * 7919 % 1013) % 2
}

/// A file, its bytes, and the number of rows in each row group.
struct Table {
    file: ParquetFile,
    bytes: Bytes,
    row_group_rows: i64,
}

impl Table {
    fn new(row_group_rows: i64) -> Self {
        let column = |of: &dyn Fn(i64) -> i64| -> ArrayRef {
            Arc::new(Int64Array::from_iter_values((0..ROWS).map(of)))
        };
        let columns = [
            ("odd", column(&odd)),
            ("row", column(&|row| row)),
            ("again", column(&|row| row * 3)),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut options = WriteOptions::new();
        options.row_group_rows = row_group_rows as usize;
        let bytes = written(&batch, options);
        Self {
            file: ParquetFile::from_bytes(bytes.clone()).unwrap(),
            bytes,
            row_group_rows,
        }
    }

    /// Reads the file with the filter `first`, and returns the rows. After each batch, `next` may return a tighter
    /// filter that it derives from the last row.
    fn rows(
        &self,
        case: &Case,
        first: Option<&Predicate>,
        mut next: impl FnMut(i64) -> Option<Predicate>,
    ) -> Vec<i64> {
        let mut options = case.options(col("row").ge(0));
        options.filter = first.cloned();
        let mut rows = Vec::new();
        if !case.is_pushed {
            let mut reader = self.file.read(options).unwrap();
            while let Some(batch) = reader.next_batch().unwrap() {
                rows.extend(rows_of(&batch));
                if let Some(filter) = next(*rows.last().unwrap()) {
                    reader.tighten_filter(&filter).unwrap();
                }
            }
            assert_eq!(reader.rows_left(), 0);
            return rows;
        }
        let mut decoder = PushDecoder::new(Arc::new(self.file.plan(&options).unwrap()));
        loop {
            match decoder.poll().unwrap() {
                Poll::Needs(needs) => {
                    for need in needs.now {
                        let part = need.start as usize..need.end as usize;
                        decoder.supply(need.start, &self.bytes.slice(part));
                    }
                }
                Poll::Batch(batch) => {
                    rows.extend(rows_of(&batch));
                    if let Some(filter) = next(*rows.last().unwrap()) {
                        decoder.tighten_filter(&filter).unwrap();
                    }
                }
                Poll::NeedsKeys(_) => unreachable!("nothing is encrypted"),
                Poll::Finished => break,
            }
        }
        assert_eq!(decoder.rows_left(), 0);
        rows
    }

    /// Returns the minimum memory with which columns can be read one by one. It is too little for several threads.
    fn memory_of_one(&self, first: &First) -> u64 {
        let is_enough = |memory: &u64| {
            let case = Case {
                memory: *memory,
                ..Case::ONE_THREAD
            };
            [0, SPAN, LEAST].into_iter().all(|least| {
                let options = case.options(first.at_least(least));
                let mut reader = self.file.read(options).unwrap();
                std::iter::from_fn(|| reader.next_batch().transpose()).all(|it| it.is_ok())
            })
        };
        (5..).map(|n| n << 17).find(is_enough).unwrap()
    }
}

/// Returns the row numbers, after checking that all columns agree.
fn rows_of(batch: &RecordBatch) -> Vec<i64> {
    let column = |name| Int64Array::from(batch.column_by_name(name).unwrap().to_data());
    let (row, again, of_odd) = (column("row"), column("again"), column("odd"));
    for ((row, again), of_odd) in row.values().iter().zip(again.values()).zip(of_odd.values()) {
        assert_eq!((*again, *of_odd), (row * 3, odd(*row)));
    }
    row.values().to_vec()
}

/// The driver of a read, and its limits.
#[derive(Debug, Clone, Copy)]
struct Case {
    threads: usize,
    is_pushed: bool,
    limit: Option<u64>,
    memory: u64,
}

impl Case {
    const ONE_THREAD: Self = Self {
        threads: 1,
        is_pushed: false,
        limit: None,
        memory: u64::MAX,
    };

    /// Returns each driver, with and without a limit or little memory.
    fn all(memory_of_one: u64) -> Vec<Self> {
        let one = Self::ONE_THREAD;
        let pushed = Self {
            is_pushed: true,
            ..one
        };
        let three = Self { threads: 3, ..one };
        let mut cases = vec![one, pushed, three];
        for case in [one, three] {
            let limit = Some(40_000);
            cases.push(Self { limit, ..case });
        }
        for case in [pushed, three] {
            let memory = memory_of_one;
            cases.push(Self { memory, ..case });
        }
        cases
    }

    fn options(&self, filter: Predicate) -> ReadOptions {
        let mut limits = Limits::default();
        limits.memory_bytes = self.memory;
        let options = ReadOptions::new().filter(filter).limits(limits);
        let options = options.batch_size(BATCH).threads(self.threads);
        match self.limit {
            Some(limit) => options.limit(limit),
            None => options,
        }
    }

    fn limit(&self) -> usize {
        self.limit.map_or(usize::MAX, |limit| limit as usize)
    }
}

/// The first filter of a read.
struct First {
    filter: Predicate,
    /// The rows that the filter selects.
    rows: Vec<i64>,
}

impl First {
    fn all() -> [Self; 4] {
        let few: Vec<i64> = (0..ROWS / 100).map(|row| row * 300).collect();
        [
            (col("row").ge(0), (|_| true) as fn(i64) -> bool),
            // After the first page, statistics accept all rows.
            (col("row").ge(1000), |row| row >= 1000),
            (col("odd").eq(1), |row| odd(row) == 1),
            // This filter selects few rows in most pages.
            (col("again").is_in(few), |row| row % 100 == 0),
        ]
        .map(|(filter, is_wanted)| Self {
            filter,
            rows: (0..ROWS).filter(|row| is_wanted(*row)).collect(),
        })
    }

    fn at_least(&self, least: i64) -> Predicate {
        self.filter.clone().and(col("row").ge(least))
    }

    /// Returns the selected rows whose number is at least `least`.
    fn rows_from(&self, least: i64) -> &[i64] {
        let before = self.rows.partition_point(|row| *row < least);
        &self.rows[before..]
    }
}

/// Every driver applies a tighter filter within a row group. This holds for tested rows, and also for rows that page
/// statistics accept as a whole.
#[test]
fn filters_are_tightened_within_a_row_group() {
    for row_group_rows in [ROWS, ROWS / 2, ROWS / 4] {
        let table = Table::new(row_group_rows);
        for first in First::all() {
            for case in Case::all(table.memory_of_one(&first)) {
                tighten_once(&table, &first, &case);
                tighten_again_and_again(&table, &first, &case);
            }
        }
    }
}

/// Tightens the filter to the last rows, after the first batch. All of these are emitted, but of the earlier rows, only
/// those that were already begun.
fn tighten_once(table: &Table, first: &First, case: &Case) {
    let mut tight = Some(first.at_least(LEAST));
    let rows = table.rows(case, Some(&first.filter), |_| tight.take());
    let context = format!("{} {:?} {case:?}", table.row_group_rows, first.filter);
    let old = rows.partition_point(|row| *row < LEAST);
    let (old, new) = rows.split_at(old);
    assert!(first.rows.starts_with(old), "{context}");
    let expected = first.rows_from(LEAST);
    let expected = expected.get(..case.limit() - old.len()).unwrap_or(expected);
    assert!(new == expected, "{context}");
    // One thread has selected the first batch's rows, and at most the rows of a second batch. Threads that share
    // columns, and readers that wait for bytes, may have tested the whole row group.
    let last = *old.last().unwrap();
    let most = match case.threads == 1 && !case.is_pushed {
        true => first.rows[2 * BATCH] + BATCH as i64,
        false => ROWS,
    };
    assert!(last < most, "{context}: {last}");
}

/// Tightens the filter by 20,000 rows, after each batch.
fn tighten_again_and_again(table: &Table, first: &First, case: &Case) {
    let rows = table.rows(case, Some(&first.filter), |row| {
        Some(first.at_least(row + 20_000))
    });
    let context = format!("{} {:?} {case:?}", table.row_group_rows, first.filter);
    assert!(rows.is_sorted_by(|a, b| a < b), "{context}");
    let mut wanted = first.rows.iter();
    assert!(
        rows.iter().all(|row| wanted.any(|wanted| wanted == row)),
        "{context}"
    );
    // Threads that share the columns of the only row group have tested all of it before the first batch.
    let may_be_late = case.threads > 1 && table.row_group_rows == ROWS;
    assert!(
        may_be_late || case.limit() == rows.len() || rows.len() < first.rows.len(),
        "{context}"
    );
}

/// A read can start without a filter, and receive one later.
#[test]
fn a_read_without_a_filter_receives_one() {
    for row_group_rows in [ROWS, ROWS / 4] {
        let table = Table::new(row_group_rows);
        let cases = Case::all(u64::MAX).into_iter();
        for case in cases.filter(|case| case.limit.is_none()) {
            let mut tight = Some(col("row").ge(LEAST));
            let rows = table.rows(&case, None, |_| tight.take());
            let context = format!("{row_group_rows} {case:?}");
            let old = rows.partition_point(|row| *row < LEAST);
            let (old, new) = rows.split_at(old);
            assert!(old.iter().copied().eq(0..old.len() as i64), "{context}");
            assert!(new.iter().copied().eq(LEAST..ROWS), "{context}");
            // Several threads may have decoded other row groups before.
            if case.threads == 1 || row_group_rows == ROWS {
                let most = SPAN.min(row_group_rows) as usize + BATCH;
                assert!(old.len() < most, "{context}: {}", old.len());
            }
        }
    }
}

#[test]
fn pages_are_passed_over_that_a_tighter_filter_does_not_want() {
    let table = Table::new(ROWS);
    let pages_read = |least: i64| {
        let options = |least| Case::ONE_THREAD.options(col("row").ge(least));
        let mut reader = table.file.read(options(0)).unwrap();
        reader.next_batch().unwrap();
        reader.tighten_filter(&col("row").ge(least)).unwrap();
        while reader.next_batch().unwrap().is_some() {}
        reader.metrics().pages_read
    };
    let (few, all) = (pages_read(ROWS - 1), pages_read(0));
    assert!(2 * few < all, "{few} of {all} pages");
}

/// If statistics accept all rows, several threads read no more row groups than a limit needs.
#[test]
fn row_groups_beyond_a_limit_are_not_looked_at() {
    let table = Table::new(ROWS / 8);
    for (limit, row_groups) in [(10, 1), (60_000, 2)] {
        let case = Case {
            threads: 3,
            limit: Some(limit),
            ..Case::ONE_THREAD
        };
        let mut reader = table.file.read(case.options(col("row").ge(0))).unwrap();
        let batches = std::iter::from_fn(|| reader.next_batch().unwrap());
        let rows: u64 = batches.map(|batch| batch.num_rows() as u64).sum();
        assert_eq!((rows, reader.metrics().row_groups), (limit, row_groups));
    }
}

//! Writes that a program ends early.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::{ColumnOptions, Compression, Interrupt, Result, WriteOptions, Writer, ZstdLevel};

use crate::random::Random;

/// The pages of one column: 100,000 rows in pages of 100.
const PAGES: usize = 1000;

/// Fails from a call on, and counts the calls.
#[derive(Debug)]
struct FailsFrom {
    call: usize,
    calls: AtomicUsize,
}

impl Interrupt for FailsFrom {
    fn check(&self) -> Result<()> {
        match self.calls.fetch_add(1, Ordering::SeqCst) + 1 < self.call {
            true => Ok(()),
            false => Err(io::Error::other("the user has seen enough").into()),
        }
    }
}

fn batch(columns: usize) -> RecordBatch {
    let mut random = Random(5);
    let mut column = |at: usize| {
        let values = (0..100 * PAGES).map(|_| random.below(1 << 40) as i64);
        let values: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
        (format!("c{at}"), values)
    };
    RecordBatch::try_from_iter((0..columns).map(&mut column)).unwrap()
}

/// Writes the batch. Returns the file and the number of questions.
fn write(batch: &RecordBatch, threads: usize, call: usize) -> (Result<Vec<u8>>, usize) {
    let interrupt = Arc::new(FailsFrom {
        call,
        calls: AtomicUsize::new(0),
    });
    let level = ZstdLevel::new(1).unwrap();
    let options = WriteOptions::new()
        .threads(threads)
        .columns(ColumnOptions::new().page_rows(100).dictionary(false))
        .compression(Compression::Zstd(level))
        .interrupt(interrupt.clone());
    let written = || -> Result<Vec<u8>> {
        let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
        writer.write(batch)?;
        Ok(writer.finish_into()?.1)
    };
    (written(), interrupt.calls.load(Ordering::SeqCst))
}

#[test]
fn a_write_ends_at_its_next_pages() {
    for (columns, threads) in [(1, 1), (1, 4), (3, 1), (3, 4)] {
        let batch = batch(columns);
        let (whole, calls) = write(&batch, threads, usize::MAX);
        assert!(calls >= columns * PAGES, "{calls} questions");
        for call in [1, 7, 500] {
            let (written, calls) = write(&batch, threads, call);
            let error = written.unwrap_err().to_string();
            assert!(error.contains("the user has seen enough"), "{error}");
            // Each column and each thread asks again, and so does each waiting page.
            assert!(calls < call + 50, "{calls} questions, {threads} threads");
        }
        let (again, _) = write(&batch, 1, usize::MAX);
        assert!(whole.unwrap() == again.unwrap());
    }
}

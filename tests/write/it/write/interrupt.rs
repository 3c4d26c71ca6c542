//! Tests writes that a program ends early.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use herringbone::format::Encoding;
use herringbone::{ColumnOptions, Interrupt, Result, WriteOptions, Writer};

use crate::random::Random;

/// The number of pages in one column, which has 100,000 rows in pages of 100.
const PAGES: usize = 1000;

/// An interrupt that fails from a call on, and counts the calls.
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

/// Writes the batch in pages of 100 rows. Returns the file, and the number of questions.
fn write(batch: &RecordBatch, threads: usize, call: usize) -> (Result<Vec<u8>>, usize) {
    let options = WriteOptions::new()
        .threads(threads)
        .columns(ColumnOptions::new().page_rows(100).dictionary(false))
        .compression("zstd:1".parse().unwrap());
    written(batch, options, call)
}

/// Writes the batch, but ends the write at question number `call`.
fn written(batch: &RecordBatch, options: WriteOptions, call: usize) -> (Result<Vec<u8>>, usize) {
    let interrupt = Arc::new(FailsFrom {
        call,
        calls: AtomicUsize::new(0),
    });
    let options = options.interrupt(interrupt.clone());
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

/// This is a page of one text of 524,288 bytes. With the four bytes of its length, it has four pieces of 131,072 and a
/// rest.
#[test]
fn a_write_ends_within_a_page_that_is_slow_to_compress() {
    let mut random = Random(6);
    let mut text: String = (0..200_000)
        .map(|_| format!("{} ", random.below(5000)))
        .collect();
    text.truncate(512 << 10);
    let column: ArrayRef = Arc::new(StringArray::from_iter_values([text]));
    let batch = RecordBatch::try_from_iter([("text", column)]).unwrap();
    let with = |codec: &str, call| {
        let columns = ColumnOptions::new()
            .dictionary(false)
            .encoding(Encoding::Plain);
        let options = WriteOptions::new()
            .threads(1)
            .columns(columns)
            .compression(codec.parse().unwrap());
        written(&batch, options, call)
    };
    for (quick, slow) in [("zstd:1", "zstd:13"), ("brotli:4", "brotli:9")] {
        let (_, before) = with(quick, usize::MAX);
        let (whole, calls) = with(slow, usize::MAX);
        assert!(whole.is_ok());
        assert_eq!(calls, before + 4, "{slow}");
        // These are the second question within the page, and its last one.
        for call in [calls - 2, calls] {
            let (ended, calls) = with(slow, call);
            let error = ended.unwrap_err().to_string();
            assert!(error.contains("the user has seen enough"), "{error}");
            assert_eq!(calls, call, "{slow}");
        }
    }
}

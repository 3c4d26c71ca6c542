//! Tests sources that answer with too few or too many bytes.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use herringbone::filter::col;
use herringbone::source::{FetchPolicy, Source};
use herringbone::{
    BloomFilterOptions, ColumnOptions, ErrorKind, Limits, ParquetFile, ReadOptions, Result,
    WriteOptions, Writer,
};
use herringbone_inspect::repair::{Repair, RepairOptions};

/// The answer to a request for a range's bytes.
type Answer = fn(&Bytes, Range<u64>) -> Bytes;

/// A source that gives wrong answers to requests, unless these are for the last bytes of its file.
#[derive(Clone)]
struct Wrong {
    file: Bytes,
    policy: FetchPolicy,
    answer: Answer,
    requests: Arc<AtomicUsize>,
}

impl Source for Wrong {
    fn len(&self) -> u64 {
        self.file.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        // We stop a decoder that asks for ever, so that the test ends.
        let requests = self.requests.fetch_add(1, Ordering::Relaxed);
        assert!(requests < 10_000, "{range:?} is requested for ever");
        match range.end == self.len() {
            true => self.file.read(range),
            false => Ok((self.answer)(&self.file, range)),
        }
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.policy.clone()
    }
}

fn slice(file: &Bytes, start: u64, end: u64) -> Bytes {
    file.slice(start as usize..(end as usize).min(file.len()))
}

const ANSWERS: [(&str, Answer); 4] = [
    ("one byte less", |file, range| {
        slice(file, range.start, range.end - 1)
    }),
    ("one byte alone", |file, range| {
        slice(file, range.start, range.start + 1)
    }),
    ("nothing", |_, _| Bytes::new()),
    ("ten bytes more", |file, range| {
        slice(file, range.start, range.end + 10)
    }),
];

/// Writes a file with a footer of some 20 KB, and with 20 row groups of 500 rows, which take some 200 KB.
fn file() -> Bytes {
    let ids = Int64Array::from_iter_values((0..10_000).map(|row| row * 7919 % 10_007));
    let texts = (0..10_000).map(|row| Some(format!("text {}", row * 104_729 % 1_000_003)));
    let texts: StringArray = texts.collect();
    let columns: [(_, ArrayRef); 2] = [("id", Arc::new(ids)), ("name", Arc::new(texts))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let column = ColumnOptions::new()
        .page_rows(100)
        .bloom_filter(BloomFilterOptions::new(0.01));
    let options = WriteOptions::new().row_group_rows(500).columns(column);
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    bytes.into()
}

fn policies() -> [FetchPolicy; 3] {
    let mut policies = [
        FetchPolicy::remote(),
        FetchPolicy::local(),
        FetchPolicy::memory(),
    ];
    // The first request must not fetch the whole file.
    for policy in &mut policies {
        policy.suffix_bytes = policy.suffix_bytes.min(1000);
    }
    policies
}

/// Runs something with each wrong source. It must fail with an Io error after few requests.
fn each(file: &Bytes, run: impl Fn(Wrong) -> Result<usize>) {
    for policy in policies() {
        for (name, answer) in ANSWERS {
            let source = Wrong {
                file: file.clone(),
                policy: policy.clone(),
                answer,
                requests: Arc::default(),
            };
            let requests = source.requests.clone();
            let error = run(source).expect_err(name);
            assert_eq!(error.kind(), ErrorKind::Io, "{name}: {error}");
            assert!(error.io_error().is_some(), "{name}: {error}");
            let requests = requests.load(Ordering::Relaxed);
            assert!(requests < 100, "{name}: {requests} requests");
        }
    }
}

fn rows(file: &ParquetFile, options: ReadOptions) -> Result<usize> {
    let mut reader = file.read(options)?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows();
    }
    Ok(rows)
}

#[test]
fn reads_end_with_an_error_of_the_source() {
    let file = file();
    for threads in [1, 4] {
        each(&file, |source| {
            let file = ParquetFile::from_source(source, Limits::default())?;
            rows(&file, ReadOptions::new().threads(threads))
        });
        // The metadata is known, so that all requests are for pages, indexes and bloom filters.
        let handle = ParquetFile::from_bytes(file.clone())
            .unwrap()
            .metadata_handle();
        let with_handle = |source| ParquetFile::with_metadata(source, handle.clone());
        let filter = || col("id").eq(5000).and(col("name").ne("x"));
        each(&file, |source| {
            rows(
                &with_handle(source)?,
                ReadOptions::new().threads(threads).filter(filter()),
            )
        });
        each(&file, |source| {
            let options = ReadOptions::new().threads(threads).columns(["name"]);
            rows(&with_handle(source)?, options.row_ranges(vec![777..779]))
        });
    }
}

#[test]
fn other_requests_end_with_an_error_of_the_source() {
    let file = file();
    let handle = ParquetFile::from_bytes(file.clone())
        .unwrap()
        .metadata_handle();
    let with_handle = |source| ParquetFile::with_metadata(source, handle.clone());
    each(&file, |source| {
        let explained =
            with_handle(source)?.explain(&ReadOptions::new().filter(col("id").eq(5)))?;
        Ok(explained.len())
    });
    each(&file, |source| {
        Ok(usize::from(
            with_handle(source)?.load_bloom_filter(0, 0)?.is_some(),
        ))
    });
    each(&file, |source| {
        with_handle(source)?.pages(0, 0)?.try_fold(0, |n, page| {
            page?;
            Ok(n + 1)
        })
    });
    each(&file, |source| {
        let mut options = RepairOptions::default();
        options.ignore_footer = true;
        Repair::open(source, &options).map(|_| 0)
    });
}

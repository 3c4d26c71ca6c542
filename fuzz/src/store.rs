//! Reads a valid file from a store that gives wrong answers. The read must fail or return the
//! file's rows, and never panic.

use std::future::poll_fn;
use std::io;
use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use herringbone::filter::col;
use herringbone::format::Encoding;
use herringbone::push::FetchPolicy;
use herringbone::{
    BloomFilterOptions, ColumnOptions, Compression, Error, ErrorKind, Limits, ParquetFile,
    ReadOptions, Spawn, WriteOptions, Writer,
};
use herringbone_arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use herringbone_remote::{Answer, BoxFuture, Identity, Object, RemoteFile, RemoteOptions};

/// The number of rows in the file, which has three row groups of six pages each.
const NUM_ROWS: i64 = 300;

/// The number of kinds of answers.
const KINDS: u8 = 14;

/// The number of polls after which we assume that a read never ends.
const POLLS: usize = 100_000;

/// Two versions of the file, which have the same length.
static VERSIONS: LazyLock<[Bytes; 2]> = LazyLock::new(|| {
    let versions = [file(0), file(700)];
    assert_eq!(versions[0].len(), versions[1].len());
    versions
});

fn file(first: i64) -> Bytes {
    let ids = first..first + NUM_ROWS;
    let text: StringArray = ids
        .clone()
        .map(|id| Some(format!("{:06}", id / 7)))
        .collect();
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(Int64Array::from_iter_values(ids.clone()))),
        ("text", Arc::new(text)),
        (
            "odd",
            Arc::new(
                ids.map(|id| (id % 2 == 1).then_some(id))
                    .collect::<Int64Array>(),
            ),
        ),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(n, a)| (n, a, true)));
    // In these forms, the length does not depend on the values.
    let columns = ColumnOptions::new()
        .page_rows(17)
        .compression(Compression::Uncompressed)
        .bloom_filter(BloomFilterOptions::default());
    let plain = columns.clone().dictionary(false).encoding(Encoding::Plain);
    let options = WriteOptions::new().columns(plain).row_group_rows(100);
    let options = options.column("text", columns.dictionary(true));
    let batch = batch.expect("equal lengths");
    let mut writer = Writer::new(Vec::new(), batch.schema(), options).expect("valid options");
    writer.write(&batch).expect("valid rows");
    writer.finish_into().expect("a file in memory").1.into()
}

/// A store that answers as the fuzzer chooses, and truthfully once the choices have run out.
struct Store {
    choices: Mutex<std::vec::IntoIter<u8>>,
    /// True if any answer was wrong.
    was_wrong: AtomicBool,
    /// True if an answer had other bytes, which only a checksum could show.
    had_other_bytes: AtomicBool,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Store")
    }
}

fn identity(version: usize) -> Identity {
    Identity::new(VERSIONS[version].len() as u64).e_tag(Some(format!("\"{version}\"")))
}

impl Store {
    fn answer(&self, range: Range<u64>) -> BoxFuture<Result<Answer, Error>> {
        let mut choices = self.choices.lock().expect("no thread panicked");
        let mut next = || choices.next().unwrap_or(0);
        let file = &VERSIONS[0];
        let slice = range.start as usize..range.end as usize;
        let mut answer = Answer {
            bytes: file.slice(slice.clone()),
            range,
            identity: identity(0),
        };
        let (kind, mut pending) = (next() % KINDS, 0);
        self.was_wrong.fetch_or(kind > 4, Ordering::Relaxed);
        match kind {
            0..4 => {}
            4 => pending = next() % 8,
            5 => answer.bytes.truncate(usize::from(next())),
            6 => {
                answer.bytes = [&answer.bytes[..], &vec![next(); 1 + usize::from(next())]]
                    .concat()
                    .into()
            }
            7 => {
                let start = usize::from(next()) * 64 % file.len();
                let end = (start + usize::from(next()) * 16).min(file.len());
                (answer.bytes, answer.range) = (file.slice(start..end), start as u64..end as u64);
            }
            8 => (answer.bytes, answer.range) = (file.clone(), 0..file.len() as u64),
            9 => answer.identity.length = u64::from(next()) << (next() % 64),
            10 => (answer.bytes, answer.identity) = (VERSIONS[1].slice(slice), identity(1)),
            11 => return Box::pin(std::future::ready(Err(error(next())))),
            12 => answer.range.end = u64::MAX - u64::from(next()),
            _ => {
                self.had_other_bytes.store(true, Ordering::Relaxed);
                let mut bytes = answer.bytes.to_vec();
                let at = usize::from(next()) * 64 + usize::from(next());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = next();
                }
                answer.bytes = bytes.into();
            }
        }
        let mut answer = Some(answer);
        Box::pin(poll_fn(move |_| match pending.checked_sub(1) {
            Some(left) => {
                pending = left;
                Poll::Pending
            }
            None => Poll::Ready(Ok(answer.take().expect("polled once after it was ready"))),
        }))
    }
}

fn error(choice: u8) -> Error {
    match choice % 4 {
        0 => Error::new(ErrorKind::Replaced, "412 Precondition Failed"),
        1 => io::Error::from(io::ErrorKind::NotFound).into(),
        2 => io::Error::from(io::ErrorKind::ConnectionReset).into(),
        _ => io::Error::other("503 Service Unavailable").into(),
    }
}

impl Object for Store {
    fn name(&self) -> &str {
        "an object"
    }

    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer, Error>> {
        let length = VERSIONS[0].len() as u64;
        self.answer(length.saturating_sub(bytes)..length)
    }

    fn range(&self, range: Range<u64>, _: &Identity) -> BoxFuture<Result<Answer, Error>> {
        self.answer(range)
    }
}

/// A host that runs jobs at once, or never.
#[derive(Debug)]
struct Host {
    runs: bool,
}

impl Spawn for Host {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        if self.runs {
            job();
        }
    }
}

fn options(way: u8) -> ReadOptions {
    let options = ReadOptions::new().batch_size(40);
    let options = match way % 6 {
        0 => options,
        1 => options.columns(["text"]),
        2 => options.offset(90).limit(30),
        3 => options.filter(col("id").ge(150)).columns(["odd"]),
        4 => options.filter(col("text").eq("000020")),
        _ => options.filter(col("odd").is_not_null()).limit(70),
    };
    match way / 6 % 3 {
        0 => options.threads(1),
        runs => options.threads(3).spawn(Arc::new(Host { runs: runs == 1 })),
    }
}

fn policy(choice: u8) -> FetchPolicy {
    let mut policy = FetchPolicy::remote();
    policy.suffix_bytes = [8, 100, 1000, 1 << 18][usize::from(choice % 4)];
    if choice & 4 != 0 {
        (policy.max_gap_bytes, policy.max_request_bytes) = (0, 500);
    }
    if choice & 8 != 0 {
        policy.max_requests_in_flight = 2;
    }
    policy
}

/// Reads the file by a stream, where the first two bytes choose the options and the others choose
/// the answers.
pub fn store_answers(data: &[u8]) {
    let (way, requests) = (
        data.first().map_or(0, |data| *data),
        data.get(1).map_or(0, |data| *data),
    );
    let choices = data.get(2..).unwrap_or_default().to_vec();
    let store = Arc::new(Store {
        choices: Mutex::new(choices.into_iter()),
        was_wrong: AtomicBool::new(false),
        had_other_bytes: AtomicBool::new(false),
    });
    let mut batches = Vec::new();
    let result = finish(async {
        let open = RemoteOptions::from(Limits::default()).fetch_policy(policy(requests));
        let file = RemoteFile::open(store.clone(), open).await?;
        let mut stream = file.read(options(way))?;
        while let Some(batch) = stream.next_batch().await? {
            batches.push(batch);
        }
        Ok::<_, Error>(())
    });
    if let Err(error) = &result {
        assert!(
            store.was_wrong.load(Ordering::Relaxed),
            "the answers were true: {error}"
        );
    }
    if store.had_other_bytes.load(Ordering::Relaxed) {
        return;
    }
    if let Err(error) = &result {
        let is_of_store = matches!(error.kind(), ErrorKind::Io | ErrorKind::Replaced);
        assert!(is_of_store, "the file is valid: {error}");
    }
    let is_one = VERSIONS.iter().any(|version| {
        let expected = blocking(version, options(way));
        match result {
            Ok(()) => batches == expected,
            Err(_) => expected.starts_with(&batches),
        }
    });
    assert!(is_one, "{} other batches, then {result:?}", batches.len());
}

fn blocking(file: &Bytes, options: ReadOptions) -> Vec<RecordBatch> {
    let file = ParquetFile::from_bytes(file.clone()).expect("a valid file");
    let batches = file.read(options.threads(1)).expect("valid options");
    batches.map(|batch| batch.expect("a valid file")).collect()
}

/// Polls a future until it is ready.
fn finish<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..POLLS {
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            return value;
        }
    }
    panic!("the read did not end after {POLLS} polls")
}

/// Returns inputs with one wrong answer each, where every kind occurs after up to five true
/// answers.
#[cfg(test)]
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for kind in 4..KINDS {
        for before in 0..6_u8 {
            let mut seed = vec![kind + before, kind + 7 * before];
            seed.extend(vec![0; usize::from(before)]);
            seed.extend([kind, 3, 1, 2]);
            seeds.push(seed);
        }
    }
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn one_or_many_wrong_answers() {
        seeds().iter().for_each(|seed| store_answers(seed));
        for number in 0..200 {
            let mut random = Random::new(&[number as u8, (number >> 8) as u8]);
            // We make some answers true, so that reads get past the footer.
            let choices: Vec<u8> = (0..60)
                .map(|_| random.next() as u8 & random.next() as u8)
                .collect();
            store_answers(&choices);
        }
    }
}

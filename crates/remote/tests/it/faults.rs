//! Tests of stores that fail or lie, and of replaced objects. The errors name the object and the
//! range.

use std::error::Error as _;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::push::FetchPolicy;
use herringbone::{Error, ErrorKind, Limits, ReadOptions, Result};
use herringbone_remote::{Answer, BoxFuture, Identity, Object, RemoteFile};

use crate::files::file;
use crate::memory::{Memory, read};

/// Returns an object too large for its data to come with the footer.
fn object() -> Arc<Memory> {
    let mut policy = FetchPolicy::remote();
    (policy.suffix_bytes, policy.max_gap_bytes) = (20_000, 0);
    Arc::new(Memory::new(file(3, 3, 5_000)).policy(policy))
}

/// Returns the error of a read with all answers changed after the first one.
fn error_of(
    change: impl Fn(&Range<u64>, Answer) -> herringbone::Result<Answer> + Send + Sync + 'static,
) -> Error {
    let object = object();
    object.break_by(move |range, answer| match range.start {
        0..150_000 => change(range, answer),
        _ => Ok(answer),
    });
    let error = read(object.clone(), Limits::default(), &ReadOptions::new()).unwrap_err();
    assert_eq!(object.live(), 0);
    let requests = object.take();
    // The first request is for the footer, so the message has one of the others.
    let is_named = |range: &Range<u64>| {
        let name = format!(
            "mem://bucket/file.parquet, bytes {}..{}: ",
            range.start, range.end
        );
        error.message().starts_with(&name)
    };
    assert!(
        requests[1..].iter().any(is_named),
        "{error} of {requests:?}"
    );
    error
}

#[test]
fn short_and_overlong_answers_are_errors() {
    let error = error_of(|_, mut answer| {
        answer.bytes.truncate(100);
        Ok(answer)
    });
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(
        error.message().contains("the answer ends after 100 of "),
        "{error}"
    );
    assert_eq!(
        error.io_error().unwrap().kind(),
        io::ErrorKind::UnexpectedEof
    );
    let error = error_of(|_, mut answer| {
        answer.bytes = [&*answer.bytes, b"more"].concat().into();
        Ok(answer)
    });
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.message().contains("bytes or more, not "), "{error}");
    let error = error_of(|_, mut answer| {
        answer.bytes = Bytes::new();
        Ok(answer)
    });
    assert!(
        error.message().contains("the answer ends after 0 of "),
        "{error}"
    );
}

#[test]
fn answers_of_another_range_are_errors() {
    let error = error_of(|range, mut answer| {
        answer.range = range.start + 1..range.end + 1;
        Ok(answer)
    });
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(
        error
            .message()
            .contains("the store answered with the bytes "),
        "{error}"
    );
    // This store ignores ranges.
    let error = error_of(|_, mut answer| {
        answer.range = 0..answer.identity.length;
        Ok(answer)
    });
    assert!(
        error
            .message()
            .contains("the store answered with the bytes 0.."),
        "{error}"
    );
}

#[test]
fn a_footer_of_another_range_is_an_error() {
    let object = object();
    object.break_by(|range, mut answer| {
        answer.range = range.start - 1..range.end - 1;
        Ok(answer)
    });
    let error = block_on(RemoteFile::open(object.clone(), Limits::default())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let name = "mem://bucket/file.parquet, the last 20000 bytes: the store answered with";
    assert!(error.message().starts_with(name), "{error}");
    object.break_by(|_, mut answer| {
        answer.bytes.truncate(7);
        Ok(answer)
    });
    let error = block_on(RemoteFile::open(object, Limits::default())).unwrap_err();
    assert!(
        error
            .message()
            .ends_with("the answer ends after 7 of 20000 bytes"),
        "{error}"
    );
}

/// The store ignores preconditions, so `polars` and `parquet` would not notice the new object.
#[test]
fn an_object_that_changed_is_replaced() {
    let changes: [fn(&mut Answer); 2] = [
        |answer| answer.identity.e_tag = Some("\"second\"".to_owned()),
        |answer| answer.identity.length += 1,
    ];
    for change in changes {
        let error = error_of(move |_, mut answer| {
            change(&mut answer);
            Ok(answer)
        });
        assert_eq!(error.kind(), ErrorKind::Replaced, "{error}");
        assert!(
            error
                .message()
                .contains("ETag \"first\" when it was opened"),
            "{error}"
        );
    }
}

/// A listing might only have an object's length. For example, this is the case for the log of a
/// Delta table.
#[test]
fn an_object_of_known_length_is_compared_with_its_first_answer() {
    #[derive(Debug)]
    struct OfLength(Arc<Memory>);
    impl Object for OfLength {
        fn name(&self) -> &str {
            self.0.name()
        }
        fn tail(&self, _: u64) -> BoxFuture<Result<Answer>> {
            panic!("the length is known");
        }
        fn range(&self, range: Range<u64>, identity: &Identity) -> BoxFuture<Result<Answer>> {
            self.0.range(range, identity)
        }
        fn identity(&self) -> Option<Identity> {
            Some(Identity::new(self.0.bytes.lock().unwrap().len() as u64))
        }
        fn fetch_policy(&self) -> FetchPolicy {
            self.0.fetch_policy()
        }
    }
    let object = object();
    let error = block_on(async {
        let known = Arc::new(OfLength(object.clone()));
        let file = RemoteFile::open(known, Limits::default()).await.unwrap();
        *object.bytes.lock().unwrap() = file_of_other_values(&object);
        *object.e_tag.lock().unwrap() = "\"second\"".to_owned();
        let mut stream = file.read(ReadOptions::new()).unwrap();
        stream.next_batch().await.unwrap_err()
    });
    assert_eq!(error.kind(), ErrorKind::Replaced);
}

#[test]
fn a_precondition_that_fails_is_replaced() {
    let object = object();
    let error = block_on(async {
        let file = RemoteFile::open(object.clone(), Limits::default())
            .await
            .unwrap();
        // The new object has the same length and other values.
        *object.bytes.lock().unwrap() = file_of_other_values(&object);
        *object.e_tag.lock().unwrap() = "\"second\"".to_owned();
        file.read(ReadOptions::new())
            .unwrap()
            .next_batch()
            .await
            .unwrap_err()
    });
    assert_eq!(error.kind(), ErrorKind::Replaced);
    assert!(
        error
            .to_string()
            .starts_with("file replaced: mem://bucket/file.parquet, bytes 4.."),
        "{error}"
    );
}

fn file_of_other_values(object: &Memory) -> Bytes {
    let mut bytes = object.bytes.lock().unwrap().to_vec();
    bytes[1000] ^= 1;
    bytes.into()
}

#[test]
fn errors_of_the_store_keep_their_kind_and_cause() {
    #[derive(Debug)]
    struct Status(u16);
    impl std::fmt::Display for Status {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "status {}", self.0)
        }
    }
    impl std::error::Error for Status {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&std::fmt::Error)
        }
    }
    for (status, kind) in [
        (403, io::ErrorKind::PermissionDenied),
        (404, io::ErrorKind::NotFound),
        (416, io::ErrorKind::Other),
        (503, io::ErrorKind::TimedOut),
    ] {
        let error = error_of(move |_, _| Err(io::Error::new(kind, Status(status)).into()));
        assert_eq!(error.kind(), ErrorKind::Io);
        assert_eq!(error.io_error().unwrap().kind(), kind);
        assert!(
            error.message().ends_with(&format!(": status {status}")),
            "{error}"
        );
        assert!(error.source().unwrap().is::<std::fmt::Error>());
        assert!(error.location().offset.is_some());
    }
    let object = object();
    object.break_by(|_, _| Err(io::Error::from(io::ErrorKind::NotFound).into()));
    let error = block_on(RemoteFile::open(object, Limits::default())).unwrap_err();
    assert_eq!(error.io_error().unwrap().kind(), io::ErrorKind::NotFound);
}

/// The error of a request ahead is returned after the batches that precede it, as if the request
/// had been made later.
#[test]
fn an_error_ahead_waits_for_its_turn() {
    let object = object();
    let rows = block_on(async {
        let file = RemoteFile::open(object.clone(), Limits::default()).await;
        let file = file.unwrap();
        let second = file.metadata().row_group(1).unwrap().columns[0].clone();
        let second = second.meta_data.unwrap().data_page_offset as u64;
        object.break_by(move |range, answer| match range.start >= second {
            true => Err(io::Error::other("unplugged").into()),
            false => Ok(answer),
        });
        let mut stream = file.read(ReadOptions::new().columns(["id"])).unwrap();
        let mut rows = 0;
        loop {
            match stream.next_batch().await {
                Ok(batch) => rows += batch.unwrap().num_rows(),
                Err(error) => {
                    assert!(error.message().contains("unplugged"), "{error}");
                    assert!(stream.next_batch().await.unwrap().is_none());
                    return rows;
                }
            }
        }
    });
    assert_eq!(rows, 5_000);
}

/// A failed read has no requests in flight, even though its stream still exists.
#[test]
fn an_error_ends_the_requests_ahead() {
    let mut policy = FetchPolicy::remote();
    (policy.max_request_bytes, policy.suffix_bytes) = (20_000, 20_000);
    policy.max_requests_in_flight = 16;
    let object = Arc::new(Memory::new(file(2, 8, 20_000)).policy(policy));
    block_on(async {
        let file = RemoteFile::open(object.clone(), Limits::default()).await;
        let mut stream = file.unwrap().read(ReadOptions::new()).unwrap();
        object.break_by(|range, answer| match range.start < 100_000 {
            true => Err(io::Error::other("unplugged").into()),
            false => Ok(answer),
        });
        stream.next_batch().await.unwrap_err();
        // Without the error, 2,560,000 bytes would have been requested.
        assert!((16..128).contains(&object.take().len()));
        assert_eq!(object.live(), 0);
        assert_eq!(stream.rows_left(), 0);
    });
}

/// Numbers from a generator with fixed constants.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^ x >> 27
    }

    /// A number near `near`, or any other.
    fn near(&mut self, near: u64) -> u64 {
        match self.next() % 4 {
            0 => near.wrapping_add(self.next() % 5).wrapping_sub(2),
            1 => near / 2,
            2 => [0, 1, u64::MAX, u64::MAX - 1, i64::MAX as u64][self.next() as usize % 5],
            _ => self.next(),
        }
    }

    /// Changes one field of an answer, but leaves the object's bytes as they are.
    fn change(&mut self, answer: &mut Answer) {
        match self.next() % 5 {
            0 => answer.range.start = self.near(answer.range.start),
            1 => answer.range.end = self.near(answer.range.end),
            2 => answer.identity.length = self.near(answer.identity.length),
            3 => answer.identity.e_tag = Some(format!("\"{}\"", self.next())),
            _ => {
                let mut bytes = answer.bytes.to_vec();
                bytes.resize(self.near(bytes.len() as u64).min(1 << 20) as usize, 0);
                answer.bytes = bytes.into();
            }
        }
    }
}

/// The store answers with any ranges, lengths and identities. A read must return the file's rows,
/// or an error with the file's name.
#[test]
fn arbitrary_answers_never_change_rows() {
    let bytes = object().bytes.lock().unwrap().clone();
    let all = ReadOptions::new();
    let expected = crate::files::blocking(&bytes, Limits::default(), &all).unwrap();
    let (mut errors, mut reads) = (0, 0);
    for seed in 0..400 {
        let object = object();
        let random = std::sync::Mutex::new(Random(seed));
        object.break_by(move |_, mut answer| {
            let mut random = random.lock().unwrap();
            if random.next().is_multiple_of(4) {
                random.change(&mut answer);
            }
            Ok(answer)
        });
        match read(object.clone(), Limits::default(), &all) {
            Ok(batches) => {
                assert_eq!(batches, expected, "seed {seed}");
                reads += 1;
            }
            Err(error) => {
                let message = error.message();
                assert!(
                    message.contains("mem://bucket/file.parquet"),
                    "{seed}: {error}"
                );
                errors += 1;
            }
        }
        assert_eq!(object.live(), 0);
    }
    assert!(errors > 50 && reads > 50, "{errors} errors, {reads} reads");
}

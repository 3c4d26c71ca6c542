//! One file through a web server with many manners (`tests/remote_manners.py`): each way to read it has the same rows, or the
//! same kind of error.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use herringbone::arrow::array::RecordBatch;
use herringbone::{Error, ErrorKind, Limits, ParquetFile, ReadOptions, Result};
use herringbone_remote::blocking::RemoteSource;
use herringbone_remote::urls::Location;
use herringbone_remote::{Object, RemoteFile};

use crate::data::{assert_rows, file, read, rows};

/// The exit codes of the command for a system error and for wrong bytes.
const SYSTEM: i32 = 4;
const DATA: i32 = 3;

/// The outcome of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Rows,
    /// A request failed, or its answer is not the requested range.
    Io,
    /// The object was replaced.
    Replaced,
    /// The bytes are no Parquet file.
    Corrupt,
}

use Outcome::{Corrupt, Io, Replaced, Rows};

/// The manners of the server, and the outcome of each way to read.
const MANNERS: [(&str, Outcome); 42] = [
    ("plain", Rows),
    // Servers without ranges, which send all bytes.
    ("whole", Rows),
    ("whole-chunked", Rows),
    // Servers without ranges for the end of an object.
    ("suffix-200", Rows),
    ("suffix-400", Rows),
    ("suffix-405", Rows),
    ("suffix-416", Rows),
    ("suffix-501", Rows),
    // Odd headers.
    ("chunked", Rows),
    ("closing", Rows),
    ("lower-case", Rows),
    ("no-etag", Rows),
    ("weak-etag", Rows),
    ("no-date", Rows),
    ("odd-date", Rows),
    ("identity-encoding", Rows),
    ("redirect-301", Rows),
    ("redirect-302", Rows),
    ("redirect-303", Rows),
    ("redirect-307", Rows),
    ("redirect-308", Rows),
    ("busy", Rows),
    // Wrong answers.
    ("short-length", Io),
    ("cut", Io),
    ("long-length", Io),
    ("shifted", Io),
    ("no-content-range", Io),
    ("star-length", Io),
    ("redirect-loop", Io),
    ("status-403", Io),
    ("status-404", Io),
    ("status-500", Io),
    ("gzip", Io),
    // Another object has the name.
    ("replaced", Replaced),
    ("precondition", Replaced),
    ("html", Corrupt),
    // Odd keys, of files with the manners of `plain`.
    ("plain/a b.parquet", Rows),
    ("plain/a+b.parquet", Rows),
    ("plain/100%.parquet", Rows),
    ("plain/ü日.parquet", Rows),
    ("plain/[a]*.parquet", Rows),
    ("plain/a&b=c;d.parquet", Rows),
];

/// Returns the outcome of a read, whose rows must be the expected ones.
fn outcome(read: Result<Vec<RecordBatch>>, expected: &RecordBatch) -> (Outcome, String) {
    match read {
        Ok(batches) => {
            assert_rows(&batches, expected);
            (Rows, String::new())
        }
        Err(error) => (kind(&error), error.to_string()),
    }
}

fn kind(error: &Error) -> Outcome {
    match error.kind() {
        ErrorKind::Io => Io,
        ErrorKind::Replaced => Replaced,
        ErrorKind::Corrupt => Corrupt,
        other => panic!("{other:?}: {error}"),
    }
}

/// Returns the object at a URL, whose footer arrives without the other bytes.
fn object(url: &str) -> Result<Arc<dyn Object>> {
    Location::of(url)?.object()
}

async fn asynchronous(url: &str) -> Result<Vec<RecordBatch>> {
    let opened = RemoteFile::open(object(url)?, Limits::default()).await?;
    read(&opened).await
}

fn blocking(url: &str) -> Result<Vec<RecordBatch>> {
    let source = Arc::new(RemoteSource::open(object(url)?)?);
    let opened = ParquetFile::from_source(source, Limits::default())?;
    let (mut reader, mut batches) = (opened.read(ReadOptions::new())?, Vec::new());
    while let Some(batch) = reader.next_batch()? {
        batches.push(batch);
    }
    Ok(batches)
}

/// Reads all rows with the command, and compares the sum of a column.
fn by_command(command: &str, url: &str, expected: &RecordBatch) -> (Outcome, String) {
    let run = Command::new(command)
        .args(["cat", "--columns", "id", "--format", "csv", url])
        .output()
        .expect("the command runs");
    let message = String::from_utf8_lossy(&run.stderr).into_owned();
    let outcome = match run.status.code() {
        Some(0) => {
            let rows = String::from_utf8(run.stdout).expect("text");
            let ids: Vec<_> = rows.lines().skip(1).map(str::to_owned).collect();
            let all = 0..expected.num_rows();
            assert!(
                ids == all.map(|id| id.to_string()).collect::<Vec<_>>(),
                "{url}"
            );
            Rows
        }
        Some(SYSTEM) if message.contains("replaced") || message.contains("was opened") => Replaced,
        Some(SYSTEM) => Io,
        Some(DATA) => Corrupt,
        other => panic!("{url}: {other:?}: {message}"),
    };
    (outcome, message)
}

/// Reads a file of `folder` in all manners of the server, and by the command if its path is given.
pub async fn check(endpoint: &str, folder: &str, command: Option<&str>) {
    // Longer than the first request for the end.
    let expected = rows(200_000, 1);
    let bytes = file(&expected);
    let mut wrong = Vec::new();
    for (manner, outcomes) in MANNERS {
        let (manner, name) = manner.split_once('/').unwrap_or((manner, "file.parquet"));
        fs::write(format!("{folder}/{name}"), &bytes).expect("a file");
        let url = format!("{endpoint}/{manner}/{}", escaped(name));
        let mut ways = vec![("async", outcome(asynchronous(&url).await, &expected))];
        ways.push(("blocking", outcome(blocking(&url), &expected)));
        if let Some(command) = command {
            ways.push(("command", by_command(command, &url, &expected)));
        }
        for (way, (found, message)) in ways {
            if found != outcomes {
                wrong.push(format!(
                    "{manner} {name}, {way}: {found:?}, not {outcomes:?}: {message}"
                ));
            }
            if found != Rows {
                println!("{manner}, {way}: {message}");
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a name with the escapes of a URL, except for signs that users leave as they are.
fn escaped(name: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'.' | b'+' | b'&' | b'=' | b';' | b'[' | b']' | b'*' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    name.bytes().map(escape).collect()
}

//! Reads one file through a web server with many manners (`tests/remote_manners.py`). Each way to read it returns the
//! same rows, or the same kind of error.

use std::fs;
use std::sync::Arc;

use herringbone::arrow::array::RecordBatch;
use herringbone::{Limits, ParquetFile, ReadOptions, Result};
use herringbone_remote::blocking::RemoteSource;
use herringbone_remote::urls::Location;
use herringbone_remote::{Object, RemoteFile};

use crate::data::{assert_rows, file, read, rows};
use crate::doors::Outcome::{Corrupt, Io, Replaced, Rows};
use crate::doors::{Door, Outcome, Remote};

/// The server's manners, and the outcome of every way to read.
const MANNERS: [(&str, Outcome); 42] = [
    ("plain", Rows),
    // These servers have no ranges, and send all bytes.
    ("whole", Rows),
    ("whole-chunked", Rows),
    // These servers have no ranges for the end of an object.
    ("suffix-200", Rows),
    ("suffix-400", Rows),
    ("suffix-405", Rows),
    ("suffix-416", Rows),
    ("suffix-501", Rows),
    // These have odd headers.
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
    // These give wrong answers.
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
    // Here another object has the name.
    ("replaced", Replaced),
    ("precondition", Replaced),
    ("html", Corrupt),
    // These are odd keys, for files with the manners of `plain`.
    ("plain/a b.parquet", Rows),
    ("plain/a+b.parquet", Rows),
    ("plain/100%.parquet", Rows),
    ("plain/ü日.parquet", Rows),
    ("plain/[a]*.parquet", Rows),
    ("plain/a&b=c;d.parquet", Rows),
];

/// The manners that have another outcome in an engine. The engine's HTTP client, which is `object_store` 0.13's,
/// decides most of them before the library sees an answer.
const ENGINES: [(&str, &str, Outcome); 13] = [
    // The client refuses answers without a length.
    ("whole-chunked", "datafusion", Io),
    ("whole-chunked", "delta", Io),
    ("chunked", "datafusion", Io),
    ("chunked", "delta", Io),
    ("closing", "datafusion", Io),
    ("closing", "delta", Io),
    // The client compares the unit of a range by letter case.
    ("lower-case", "datafusion", Io),
    ("lower-case", "delta", Io),
    // The client only parses dates in the usual form.
    ("odd-date", "datafusion", Io),
    ("odd-date", "delta", Io),
    // The client does not notice that bytes are compressed. The log of a table has the file's length.
    ("gzip", "datafusion", Corrupt),
    ("gzip", "delta", Replaced),
    ("html", "delta", Replaced),
];

/// Returns the outcome of a read, whose rows must be the expected ones.
fn outcome(read: Result<Vec<RecordBatch>>, expected: &RecordBatch) -> (Outcome, String) {
    match read {
        Ok(batches) => {
            assert_rows(&batches, expected);
            (Rows, String::new())
        }
        Err(error) => (Outcome::of_error(&error), error.to_string()),
    }
}

/// Returns the object at a URL. Its footer arrives without the other bytes.
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

/// Reads the file at a URL in each way. Returns the ways whose outcome differs from the expected one.
pub async fn differing(
    url: &str,
    (bytes, rows): (&[u8], &RecordBatch),
    expected: Outcome,
    doors: &mut [Door],
) -> Vec<String> {
    let remote = Remote {
        url,
        length: bytes.len(),
        num_rows: rows.num_rows(),
    };
    let mut ways = vec![
        ("async".to_owned(), outcome(asynchronous(url).await, rows)),
        ("blocking".to_owned(), outcome(blocking(url), rows)),
    ];
    for door in doors {
        ways.push((door.name().to_owned(), door.read(&remote)));
    }
    let mut wrong = Vec::new();
    for (way, (found, message)) in ways {
        let known = ENGINES
            .iter()
            .find(|(manner, engine, ..)| url.contains(&format!("/{manner}/")) && *engine == way);
        let expected = known.map_or(expected, |&(.., outcome)| outcome);
        if found != expected {
            wrong.push(format!(
                "{url}, {way}: {found:?}, not {expected:?}: {message}"
            ));
        }
        if found != Rows {
            println!("{url}, {way}: {message}");
        }
    }
    wrong
}

/// Reads a file in `folder` in all manners of the server, and also through each door.
pub async fn check(endpoint: &str, folder: &str, doors: &mut [Door]) {
    // The file is longer than the first request for the end.
    let expected = rows(200_000, 1);
    let bytes = file(&expected);
    let mut wrong = Vec::new();
    for (manner, outcome) in MANNERS {
        let (manner, name) = manner.split_once('/').unwrap_or((manner, "file.parquet"));
        fs::write(format!("{folder}/{name}"), &bytes).expect("a file");
        let url = format!("{endpoint}/{manner}/{}", escaped(name));
        wrong.extend(differing(&url, (&bytes, &expected), outcome, doors).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a name with URL escapes, except for signs that users leave as they are.
fn escaped(name: &str) -> String {
    let escape = |byte: u8| match byte {
        b'a'..=b'z' | b'0'..=b'9' | b'.' | b'+' | b'&' | b'=' | b';' | b'[' | b']' | b'*' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    name.bytes().map(escape).collect()
}

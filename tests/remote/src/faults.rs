//! Tests servers that give odd or wrong answers.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use herringbone::{Error, ErrorKind};
use object_store::ObjectStore;
use object_store::http::HttpBuilder;

use crate::data::{assert_rows, file, object, open, read, rows};
use crate::doors::{Door, Outcome};
use crate::manners::differing;

fn http(endpoint: &str, folder: &str) -> Arc<dyn ObjectStore> {
    let builder = HttpBuilder::new()
        .with_url(format!("{endpoint}/{folder}"))
        .with_client_options(crate::client())
        .with_retry(crate::retry());
    Arc::new(builder.build().expect("a store"))
}

/// Opens and reads the file in one of the server's folders, and returns the error.
async fn error_of(endpoint: &str, folder: &str) -> Error {
    let store = http(endpoint, folder);
    let opened = match open(object(&store, "file.parquet")).await {
        Ok(opened) => opened,
        Err(error) => return error,
    };
    match read(&opened).await {
        Ok(_) => panic!("{folder}: the rows were read"),
        Err(error) => error,
    }
}

/// Panics unless an error names the object and the requested bytes.
fn assert_named(folder: &str, error: &Error) {
    let message = error.message();
    let is_named = message.contains("/file.parquet, bytes ")
        || message.contains("/file.parquet, the last 20000 bytes");
    assert!(is_named, "{folder}: {error}");
    println!("{folder}: {error}");
}

/// Reads through nginx, which serves `folder` with ranges, through a redirect, and without ranges. Other addresses
/// fail.
pub async fn nginx(endpoint: &str, folder: &str) {
    let path = format!("{folder}/file.parquet");
    let (first, second) = (rows(40_000, 1), rows(40_000, 2));
    fs::write(&path, file(&first)).expect("a file");
    for place in ["ranges", "moved", "whole"] {
        let store = http(endpoint, place);
        let opened = open(object(&store, "file.parquet")).await.expect(place);
        assert_rows(&read(&opened).await.expect(place), &first);
    }
    for place in ["busy", "none"] {
        let error = error_of(endpoint, place).await;
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        assert_named(place, &error);
    }
    // The server's ETag has the time in seconds, and the length.
    let store = http(endpoint, "ranges");
    let opened = open(object(&store, "file.parquet")).await.expect("a file");
    fs::write(&path, file(&second)).expect("a file");
    let time = SystemTime::now() - Duration::from_secs(3600);
    let written = fs::File::options().write(true).open(&path).expect("a file");
    written.set_modified(time).expect("a time");
    let error = read(&opened).await.expect_err("the file was replaced");
    assert_eq!(error.kind(), ErrorKind::Replaced, "{error}");
    assert_named("replaced", &error);
}

/// Reads through nginx in all ways.
pub async fn nginx_doors(endpoint: &str, folder: &str, doors: &mut [Door]) {
    let rows = rows(200_000, 1);
    let bytes = file(&rows);
    fs::write(format!("{folder}/file.parquet"), &bytes).expect("a file");
    let mut wrong = Vec::new();
    for (place, outcome) in [
        ("ranges", Outcome::Rows),
        ("moved", Outcome::Rows),
        ("whole", Outcome::Rows),
        ("busy", Outcome::Io),
        ("none", Outcome::Io),
    ] {
        let url = format!("{endpoint}/{place}/file.parquet");
        wrong.extend(differing(&url, (&bytes, &rows), outcome, doors).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads through a server that serves `folder`, with a fault for each folder in its addresses.
pub async fn faulty(endpoint: &str, folder: &str) {
    let first = rows(40_000, 1);
    fs::write(format!("{folder}/file.parquet"), file(&first)).expect("a file");
    fs::write(format!("{folder}/other.parquet"), file(&rows(40_000, 2))).expect("a file");
    let store = http(endpoint, "right");
    let opened = open(object(&store, "file.parquet")).await.expect("a file");
    assert_rows(&read(&opened).await.expect("rows"), &first);
    for place in [
        "cut", "early", "long", "shifted", "shorter", "ignored", "403", "404", "416", "503",
    ] {
        let error = error_of(endpoint, place).await;
        assert_eq!(error.kind(), ErrorKind::Io, "{place}: {error}");
        assert_named(place, &error);
    }
    // After the footer, the server has another file of the same length. It ignores preconditions, or refuses them.
    for place in ["swapped", "412"] {
        let error = error_of(endpoint, place).await;
        assert_eq!(error.kind(), ErrorKind::Replaced, "{place}: {error}");
        assert_named(place, &error);
    }
}

//! Makes rows, and measures both sides in turns. The fastest of all turns counts.

use std::error::Error;
use std::time::{Duration, Instant};

pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;
pub(crate) type Work<'a> = &'a mut dyn FnMut() -> Result;

const TURNS: usize = 25;

/// Returns objects of about twelve fields, two levels deep.
pub(crate) fn small_rows() -> Vec<String> {
    let row = |id: usize| {
        format!(
            r#"{{"id": {id}, "user": {{"name": "user {id}", "email": "user{id}@example.com",
            "address": {{"city": "Berlin", "zip": "{id:05}", "geo": [52.5{id}, 13.4]}}}},
            "tags": ["a", "bcd", "tag {}"], "active": {}, "score": {}.25, "n": null,
            "ts": "2024-11-07T12:33:54.123456Z", "extra_{}": {},
            "text": "The quick brown fox jumps over the lazy dog, and then once more"}}"#,
            id % 10,
            id.is_multiple_of(2),
            id % 100,
            id % 7,
            id * 1000
        )
    };
    (0..2000).map(row).collect()
}

/// Returns objects of 300 fields.
pub(crate) fn wide_rows() -> Vec<String> {
    let field = |row: usize, field: usize| {
        format!(
            r#""field_{:03}": {}"#,
            (field * 37 + row) % 300,
            field * row
        )
    };
    let row = |row: usize| {
        let fields: Vec<String> = (0..300).map(|i| field(row, i)).collect();
        format!("{{{}}}", fields.join(", "))
    };
    (0..100).map(row).collect()
}

pub(crate) fn compare(name: &str, ours: Work<'_>, theirs: Work<'_>) -> Result {
    let (mut our_time, mut their_time) = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        our_time = our_time.min(time(ours)?);
        their_time = their_time.min(time(theirs)?);
    }
    let (ours, theirs) = (our_time.as_secs_f64() * 1e6, their_time.as_secs_f64() * 1e6);
    println!(
        "| {name} | {ours:.1} | {theirs:.1} | {:.2} |",
        theirs / ours
    );
    Ok(())
}

fn time(work: Work<'_>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

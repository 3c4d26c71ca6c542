//! Side by side with the `parquet-variant` crate: `cargo bench -p herringbone-variant`.
//!
//! Each side does the same work on the same values, in turns; the fastest of all turns counts.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use herringbone_variant::json::{JsonOptions, JsonWriter};
use herringbone_variant::{Limits, Variant, VariantBuf, VariantBuilder, VariantPath};
use parquet_variant_json::{JsonToVariant as _, VariantToJson as _};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;
type Work<'a> = &'a mut dyn FnMut() -> Result;

const TURNS: usize = 25;

fn main() -> Result {
    println!("| values | work | ours, ms | parquet-variant, ms | times as fast |");
    println!("|---|---|---:|---:|---:|");
    let small = ["$.user.address.city", "$.tags[2]", "$.id", "$.missing"];
    measure("2000 small", &small_rows(), &small)?;
    measure("100 wide", &wide_rows(), &["$.field_150", "$.missing"])
}

/// Objects of some twelve fields, two levels deep.
fn small_rows() -> Vec<String> {
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

/// Objects of 300 fields.
fn wide_rows() -> Vec<String> {
    let field = |row: usize, field: usize| {
        format!(
            r#""field_{:03}": {}"#,
            (field * 37 + row) % 300,
            field * row
        )
    };
    let row = |row: usize| {
        let fields: Vec<String> = (0..300).map(|it| field(row, it)).collect();
        format!("{{{}}}", fields.join(", "))
    };
    (0..100).map(row).collect()
}

fn measure(name: &str, rows: &[String], paths: &[&str]) -> Result {
    let options = JsonOptions::default();
    let mut builder = VariantBuilder::new();
    let mut values: Vec<VariantBuf> = Vec::new();
    for row in rows {
        builder.push_json(row, &options)?;
        values.push(builder.finish()?);
    }
    compare(
        &format!("{name} | JSON to variant"),
        &mut || {
            let (mut metadata, mut value) = (Vec::new(), Vec::new());
            for row in rows {
                builder.push_json(row, &options)?;
                builder.finish_into(&mut metadata, &mut value)?;
            }
            black_box((metadata, value));
            Ok(())
        },
        &mut || {
            for row in rows {
                let mut builder = parquet_variant::VariantBuilder::new();
                builder.append_json(row)?;
                black_box(builder.finish());
            }
            Ok(())
        },
    )?;
    for path in paths {
        get(name, path, &values)?;
    }
    let limits = Limits::default();
    compare(
        &format!("{name} | validation"),
        &mut || {
            Ok(values
                .iter()
                .try_for_each(|it| it.as_variant().validate(&limits))?)
        },
        &mut || {
            for it in &values {
                black_box(theirs_checked(it)?);
            }
            Ok(())
        },
    )?;
    let mut text = String::new();
    compare(
        &format!("{name} | variant to JSON"),
        &mut || {
            for it in &values {
                text.clear();
                JsonWriter::new().write(it.as_variant(), &mut text)?;
            }
            Ok(())
        },
        &mut || {
            for it in &values {
                black_box(theirs(it).to_json_string()?);
            }
            Ok(())
        },
    )
}

fn get(name: &str, path: &str, values: &[VariantBuf]) -> Result {
    let ours: VariantPath = path.parse()?;
    let their_path = path.trim_start_matches("$.");
    let their_path = parquet_variant::VariantPath::try_from(their_path)?;
    compare(
        &format!("{name} | {path}"),
        &mut || {
            for it in values {
                let variant = Variant::new(it.metadata_bytes(), it.value_bytes())?;
                black_box(variant.get(&ours)?);
            }
            Ok(())
        },
        &mut || {
            for it in values {
                black_box(theirs(it).get_path(&their_path));
            }
            Ok(())
        },
    )
}

fn theirs(value: &VariantBuf) -> parquet_variant::Variant<'_, '_> {
    parquet_variant::Variant::new(value.metadata_bytes(), value.value_bytes())
}

fn theirs_checked(value: &VariantBuf) -> Result<parquet_variant::Variant<'_, '_>> {
    let (metadata, value) = (value.metadata_bytes(), value.value_bytes());
    Ok(parquet_variant::Variant::try_new(metadata, value)?)
}

fn compare(name: &str, ours: Work<'_>, theirs: Work<'_>) -> Result {
    let (mut our_time, mut their_time) = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        our_time = our_time.min(time(ours)?);
        their_time = their_time.min(time(theirs)?);
    }
    let (ours, theirs) = (our_time.as_secs_f64() * 1e3, their_time.as_secs_f64() * 1e3);
    println!(
        "| {name} | {ours:.3} | {theirs:.3} | {:.2} |",
        theirs / ours
    );
    Ok(())
}

fn time(work: Work<'_>) -> Result<Duration> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

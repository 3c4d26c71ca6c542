//! Side by side with the `parquet-variant` crate: `cargo bench -p herringbone-variant`.
//!
//! Both sides do the same work on the same values. They run in turns, and the fastest of all turns
//! counts.

use std::hint::black_box;

use herringbone_variant::json::{JsonOptions, JsonWriter};
use herringbone_variant::{Limits, Variant, VariantBuf, VariantBuilder, VariantPath};
use parquet_variant_json::{JsonToVariant as _, VariantToJson as _};

#[allow(dead_code, reason = "the other benchmark needs the rest")]
mod common;

use common::{Result, compare, small_rows, wide_rows};

fn main() -> Result {
    println!("| values | work | ours, µs | parquet-variant, µs | times as fast |");
    println!("|---|---|---:|---:|---:|");
    let small = ["$.user.address.city", "$.tags[2]", "$.id", "$.missing"];
    measure("2000 small", &small_rows(), &small)?;
    measure("100 wide", &wide_rows(), &["$.field_150", "$.missing"])
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
                .try_for_each(|value| value.as_variant().validate(&limits))?)
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

//! Columns side by side with the `parquet-variant-compute` crate: `cargo bench -p herringbone-variant`.
//!
//! Both sides take the same arrays and do the same work on them, in turns.

#[allow(dead_code, reason = "the other benchmark needs the rest")]
mod common;

use std::hint::black_box;
use std::sync::Arc;

use common::{Result, compare, small_rows, wide_rows};
use herringbone_arrow::array::{Array, ArrayRef, StringArray, StructArray};
use herringbone_arrow::schema::{DataType, Field, Fields};
use herringbone_variant::json::JsonOptions;
use herringbone_variant::shredding::{
    GetOptions, Shredder, ShreddingType, UnshredOptions, VariantArray, variant_get,
};
use herringbone_variant::{PrimitiveType, VariantBuilder, VariantPath};
use parquet_variant_compute as theirs;

fn main() -> Result {
    println!("| rows | work | ours, µs | parquet-variant-compute, µs | times as fast |");
    println!("|---|---|---:|---:|---:|");
    let small = of(vec![
        ("id", DataType::Int64),
        ("active", DataType::Boolean),
        ("text", DataType::Utf8View),
        (
            "user",
            of(vec![
                ("name", DataType::Utf8View),
                ("email", DataType::Utf8View),
            ]),
        ),
    ]);
    let paths = [
        ("$.id", DataType::Int64),
        ("$.user.name", DataType::Utf8View),
        ("$.tags[2]", DataType::Utf8View),
    ];
    measure("2000 small", small_rows(), &small, &paths)?;
    let names: Vec<String> = (0..300).map(|field| format!("field_{field:03}")).collect();
    let wide = of(names
        .iter()
        .map(|name| (name.as_str(), DataType::Int64))
        .collect());
    measure(
        "100 wide",
        wide_rows(),
        &wide,
        &[("$.field_150", DataType::Int64)],
    )
}

fn of(fields: Vec<(&str, DataType)>) -> DataType {
    let fields = fields.into_iter();
    let fields = fields.map(|(name, data_type)| Field::new(name, data_type, true));
    DataType::Struct(fields.collect::<Fields>())
}

fn measure(name: &str, rows: Vec<String>, into: &DataType, paths: &[(&str, DataType)]) -> Result {
    let texts: ArrayRef = Arc::new(StringArray::from(rows.clone()));
    compare(
        &format!("{name} | JSON to an array"),
        &mut || {
            black_box(parse(&rows)?);
            Ok(())
        },
        &mut || {
            black_box(theirs::json_to_variant(&texts)?);
            Ok(())
        },
    )?;
    let plain = parse(&rows)?;
    let their_plain = theirs::VariantArray::try_new(&plain)?;
    let shredding = ShreddingType::of_values(into)?;
    let options = UnshredOptions::default();
    compare(
        &format!("{name} | shred"),
        &mut || {
            let array = VariantArray::try_new(&plain)?;
            black_box(array.shred(shredding.clone(), &options)?);
            Ok(())
        },
        &mut || {
            black_box(theirs::shred_variant(&their_plain, into)?);
            Ok(())
        },
    )?;
    let shredded = VariantArray::try_new(&plain)?.shred(shredding, &options)?;
    let their_shredded = theirs::VariantArray::try_new(&shredded)?;
    compare(
        &format!("{name} | unshred"),
        &mut || {
            black_box(VariantArray::try_new(&shredded)?.unshred(&options)?);
            Ok(())
        },
        &mut || {
            black_box(theirs::unshred_variant(&their_shredded)?);
            Ok(())
        },
    )?;
    for (path, wanted) in paths {
        get(
            &format!("{name} | {path}, unshredded"),
            path,
            wanted,
            &plain,
        )?;
        get(
            &format!("{name} | {path}, shredded"),
            path,
            wanted,
            &shredded,
        )?;
    }
    Ok(())
}

fn parse(rows: &[String]) -> Result<StructArray> {
    let mut shredder = Shredder::new(ShreddingType::Unshredded)?;
    let mut builder = VariantBuilder::new();
    let options = JsonOptions::default();
    for row in rows {
        builder.push_json(row, &options)?;
        shredder.append(builder.finish()?.as_variant())?;
    }
    Ok(shredder.finish()?)
}

fn get(name: &str, path: &str, wanted: &DataType, array: &StructArray) -> Result {
    let ours: VariantPath = path.parse()?;
    let primitive = PrimitiveType::of_data_type(wanted)?;
    let options = GetOptions::default();
    let their_path = path.trim_start_matches("$.");
    let their_path = parquet_variant::VariantPath::try_from(their_path)?;
    let field = Arc::new(Field::new("x", wanted.clone(), true));
    let input: ArrayRef = Arc::new(array.clone());
    let (mut our_values, mut their_values) = (0, 0);
    compare(
        name,
        &mut || {
            let values = variant_get(array, &ours, primitive, &options)?;
            our_values = values.len() - values.null_count();
            Ok(())
        },
        &mut || {
            let get = theirs::GetOptions::new_with_path(their_path.clone());
            let get = get.with_as_type(Some(field.clone()));
            let values = theirs::variant_get(&input, get)?;
            their_values = values.len() - values.null_count();
            Ok(())
        },
    )?;
    assert_eq!(our_values, their_values, "{name}");
    Ok(())
}

//! This library reads random files that the `parquet` crate writes.

use herringbone::ReadOptions;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{DataType, IntervalUnit, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{WriterProperties, WriterVersion};

use super::compare::{difference, read, report};
use super::properties::case;
use super::schemas::{Menu, leaf_types};
use crate::batches::Random;
use crate::random::cases;
use crate::table::without_panic;

/// Returns the types that the `parquet` crate writes without loss.
fn menu() -> Menu {
    use DataType as T;
    let mut leaves = leaf_types();
    leaves.retain(|leaf| !matches!(leaf, T::Interval(IntervalUnit::MonthDayNano)));
    Menu {
        leaves,
        dictionaries: vec![T::Utf8, T::LargeUtf8, T::Binary, T::LargeBinary],
        layers: false,
        runs: false,
        ..Menu::everything()
    }
}

fn written(
    random: &mut Random,
    schema: &SchemaRef,
    batches: &[RecordBatch],
) -> parquet::errors::Result<Vec<u8>> {
    let version = random.pick(&[WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]);
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_dictionary_enabled(random.below(2) == 0)
        .set_dictionary_page_size_limit(random.pick(&[100, 1 << 20]))
        .set_data_page_row_count_limit(random.pick(&[7, 20_000]))
        .set_write_batch_size(random.pick(&[5, 1024]))
        .set_max_row_group_row_count(Some(random.pick(&[40, 1 << 20])));
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut out, schema.clone(), Some(properties.build()))?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(out)
}

fn check(seed: u64) -> Option<String> {
    let random = &mut Random(seed);
    let (schema, batches) = case(random, &menu());
    let file = match without_panic(|| written(random, &schema, &batches)) {
        Ok(Ok(file)) => file,
        Ok(Err(error)) => return Some(format!("they write: {error} of {schema}")),
        Err(panic) => return Some(format!("they panic: {panic} of {schema}")),
    };
    let with = ReadOptions::default()
        .threads(random.pick(&[1, 2]))
        .batch_size(random.pick(&[3, 50, 8192]));
    match read(&file, with) {
        Err(error) => Some(format!("{error}: {schema}")),
        Ok((_, read)) => difference(&batches, &read, &schema),
    }
}

#[test]
fn files_of_the_parquet_crate_hold_what_it_was_given() {
    let wrong: Vec<_> = (0..cases(100))
        .filter_map(|seed| {
            let fault = without_panic(|| check(seed)).unwrap_or_else(Some);
            fault.map(|fault| format!("seed {seed}: {fault}"))
        })
        .collect();
    report(&wrong);
}

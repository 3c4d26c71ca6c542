//! What the `parquet` crate reads from files of this library.

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{DataType, IntervalUnit, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::choices;
use super::compare::{difference, num_cases, report, written};
use super::properties::case;
use super::schemas::{Menu, leaf_types};
use crate::batches::Noise;
use crate::table::without_panic;

/// What the `parquet` crate reads with the same values. It takes seconds for milliseconds, leaves
/// months out of intervals, knows dictionaries of few types, and does not look for types of values
/// in runs.
fn menu(runs: bool) -> Menu {
    use DataType as T;
    let mut leaves = leaf_types();
    leaves.retain(|leaf| match leaf {
        T::Time32(unit) | T::Timestamp(unit, _) => *unit != TimeUnit::Second,
        T::Interval(unit) => !runs && *unit == IntervalUnit::DayTime,
        T::Duration(_) => !runs,
        _ => true,
    });
    Menu {
        leaves,
        dictionaries: vec![
            T::Utf8,
            T::LargeUtf8,
            T::Binary,
            T::LargeBinary,
            T::Int32,
            T::UInt8,
        ],
        runs,
        ..Menu::everything()
    }
}

fn theirs(file: Vec<u8>) -> Result<Vec<RecordBatch>, String> {
    let read = || {
        let options = ArrowReaderOptions::new();
        let builder =
            ParquetRecordBatchReaderBuilder::try_new_with_options(Bytes::from(file), options)
                .map_err(|error| format!("they open it: {error}"))?;
        let reader = builder
            .with_batch_size(64)
            .build()
            .map_err(|error| error.to_string())?;
        reader
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| error.to_string())
    };
    without_panic(read).unwrap_or_else(Err)
}

fn check(seed: u64) -> Option<String> {
    let noise = &mut Noise(seed);
    let (schema, batches) = case(noise, &menu(seed.is_multiple_of(2)));
    let options = choices::options(noise, &schema);
    let about = format!("{options:?}");
    let file = written(&schema, &batches, options).unwrap();
    match theirs(file) {
        Err(error) => Some(format!("{error}: {schema}")),
        Ok(read) => difference(&batches, &read, &schema)
            .map(|difference| format!("{difference}, written with {about}")),
    }
}

#[test]
fn the_parquet_crate_reads_what_was_written() {
    let wrong: Vec<_> = (0..num_cases(200))
        .filter_map(|seed| {
            let fault = without_panic(|| check(seed)).unwrap_or_else(Some);
            fault.map(|fault| format!("seed {seed}: {fault}"))
        })
        .collect();
    report(&wrong);
}

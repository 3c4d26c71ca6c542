//! The `parquet` crate reads files that this library writes.

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{DataType, IntervalUnit, TimeUnit};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};

use super::choices;
use super::compare::{difference, report, written};
use super::properties::case;
use super::schemas::Menu;
use crate::batches::Random;
use crate::random::cases;
use crate::table::without_panic;

/// Returns the types that the `parquet` crate reads with equal values. It reads seconds as milliseconds, and omits the
/// months of intervals.
fn menu() -> Menu {
    use DataType as T;
    let mut menu = Menu::everything();
    menu.leaves.retain(|leaf| match leaf {
        T::Time32(unit) | T::Timestamp(unit, _) => *unit != TimeUnit::Second,
        T::Interval(unit) => *unit == IntervalUnit::DayTime,
        // The crate reads these in their stored form.
        T::Decimal32(_, scale) | T::Decimal64(_, scale) => *scale >= 0,
        T::Decimal128(_, scale) | T::Decimal256(_, scale) => *scale >= 0,
        _ => true,
    });
    menu
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
    let random = &mut Random(seed);
    let (schema, batches) = case(random, &menu());
    let options = choices::options(random, &schema);
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
    let wrong: Vec<_> = (0..cases(100))
        .filter_map(|seed| {
            let fault = without_panic(|| check(seed)).unwrap_or_else(Some);
            fault.map(|fault| format!("seed {seed}: {fault}"))
        })
        .collect();
    report(&wrong);
}

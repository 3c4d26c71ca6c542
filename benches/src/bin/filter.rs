//! Times reads with a filter: `filter [--seconds S] [PART_OF_A_NAME ...]`, with `ROWS` rows (10
//! million, or from the environment).
//!
//! There is one file per table and codec. Herringbone writes it with page indexes, in row groups of
//! a million rows. If the environment variable `KEEP` names a directory, we keep the files there
//! for `filters.py`, and read nothing.
//!
//! The sides run in turns:
//!
//! - our filter;
//! - our scan, followed by the filter of `arrow-select`;
//! - our filter without verifying checksums;
//! - the row filter of `parquet` with its page index, without verifying checksums;
//! - the scan of `parquet`, followed by the filter of `arrow-select`, without verifying checksums;
//! - with ZSTD, the codec alone over all pages of the columns.
//!
//! Each column of ratios is our time divided by another side's. Our time excludes checksums if the
//! other side's does. `above the codec` applies if so many rows are selected that all pages are
//! decompressed. It is our time above the codec alone, divided by the same for the better of
//! `parquet`'s two ways. Both are medians of the differences in each turn.

use std::path::Path;
use std::sync::Arc;

use arrow_select::filter::filter_record_batch;
use bytes::Bytes;
use herringbone::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, Scalar, StringArray,
    TimestampMicrosecondArray,
};
use herringbone::arrow::schema::ArrowError;
use herringbone::filter::{Literal, col};
use herringbone::{
    ColumnOptions, Compression, Limits, ParquetFile, ReadOptions, WriteOptions, Writer, ZstdLevel,
};
use herringbone_benches::arguments::Arguments;
use herringbone_benches::workload::{Work, side_by_side};
use herringbone_benches::{Result, measure, ours};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
    RowFilter,
};
use parquet::file::metadata::PageIndexPolicy;

/// The number of rows per batch, on all sides.
const BATCH_ROWS: usize = 8192;
/// The number of different random keys.
const KEYS: i64 = 1_000_000;

/// A test that a column is below a value, which selects a share of the rows.
struct Test {
    name: &'static str,
    column: &'static str,
    /// A function that returns the value below which a share of all rows lies.
    below: fn(share: f64, rows: usize) -> (Literal, ArrayRef),
}

const TESTS: [Test; 5] = [
    Test {
        name: "int_random",
        column: "random",
        below: |share, _| {
            let value = (share * KEYS as f64) as i64;
            (value.into(), Arc::new(Int64Array::from(vec![value])))
        },
    },
    Test {
        name: "int_clustered",
        column: "row",
        below: |share, rows| {
            let value = ((share * rows as f64) as i64).max(1);
            (value.into(), Arc::new(Int64Array::from(vec![value])))
        },
    },
    Test {
        name: "string_random",
        column: "text",
        below: |share, _| {
            let value = text((share * KEYS as f64) as i64);
            (
                value.as_str().into(),
                Arc::new(StringArray::from(vec![value])),
            )
        },
    },
    Test {
        name: "dictionary_random",
        column: "word",
        below: |share, _| {
            let value = word((share * 1000.0) as i64);
            (
                value.as_str().into(),
                Arc::new(StringArray::from(vec![value])),
            )
        },
    },
    Test {
        name: "timestamp_clustered",
        column: "time",
        below: |share, rows| {
            let value = time(((share * rows as f64) as i64).max(1));
            let literal = Literal::Timestamp {
                nanos: i128::from(value) * 1000,
                is_utc: false,
            };
            (
                literal,
                Arc::new(TimestampMicrosecondArray::from(vec![value])),
            )
        },
    },
];

fn key(row: i64) -> i64 {
    let mixed = (row as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed >> 20) % KEYS as u64) as i64
}

fn text(key: i64) -> String {
    format!("{key:07} some text")
}

fn word(key: i64) -> String {
    format!("word number {key:04}")
}

fn time(row: i64) -> i64 {
    1_700_000_000_000_000 + row * 1000
}

/// Returns the rows of one row group, which have the tested columns and ten columns of payload.
fn table(rows: std::ops::Range<i64>) -> Result<RecordBatch> {
    let mut columns: Vec<(String, ArrayRef)> = vec![
        (
            "row".into(),
            Arc::new(Int64Array::from_iter_values(rows.clone())),
        ),
        (
            "random".into(),
            Arc::new(Int64Array::from_iter_values(rows.clone().map(key))),
        ),
        (
            "text".into(),
            Arc::new(StringArray::from_iter_values(
                rows.clone().map(|row| text(key(row))),
            )),
        ),
        (
            "word".into(),
            Arc::new(StringArray::from_iter_values(
                rows.clone().map(|row| word(key(row) % 1000)),
            )),
        ),
        (
            "time".into(),
            Arc::new(TimestampMicrosecondArray::from_iter_values(
                rows.clone().map(time),
            )),
        ),
    ];
    for n in 0..10i64 {
        let rows = rows.clone().map(|row| row.wrapping_mul(n + 3));
        let column: ArrayRef = match n % 4 {
            0 => Arc::new(Int64Array::from_iter_values(rows.map(key))),
            1 => Arc::new(Float64Array::from_iter(
                rows.map(|row| (row % 10 != 0).then(|| key(row) as f64 / 16.0)),
            )),
            2 => Arc::new(StringArray::from_iter_values(
                rows.map(|row| word(key(row) % 500)),
            )),
            _ => Arc::new(StringArray::from_iter_values(
                rows.map(|row| text(key(row))),
            )),
        };
        columns.push((format!("payload{n}"), column));
    }
    Ok(RecordBatch::try_from_iter(columns)?)
}

fn write(rows: usize, codec: Compression) -> Result<Bytes> {
    let columns = ColumnOptions::new().compression(codec);
    let mut bytes = Vec::new();
    let mut start = 0;
    let first = table(0..1)?;
    let options = WriteOptions::new().columns(columns);
    let mut writer = Writer::new(&mut bytes, first.schema(), options)?;
    while start < rows as i64 {
        let end = (start + 100_000).min(rows as i64);
        writer.write(&table(start..end)?)?;
        start = end;
    }
    writer.finish()?;
    Ok(bytes.into())
}

fn main() -> Result<()> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let rows = std::env::var("ROWS")
        .ok()
        .and_then(|rows| rows.parse().ok());
    let rows: usize = rows.unwrap_or(10_000_000);
    println!(
        "| case | ours ms | of our scan and filter | without checksums, of `parquet`'s row filter | of its scan and filter | above the codec | two threads, of two reads side by side |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|");
    for (codec_name, codec) in [
        ("none", Compression::Uncompressed),
        ("zstd", Compression::Zstd(ZstdLevel::default())),
    ] {
        let bytes = write(rows, codec)?;
        if let Some(directory) = std::env::var_os("KEEP") {
            let path = Path::new(&directory).join(format!("{codec_name}.parquet"));
            std::fs::write(path, &bytes)?;
            continue;
        }
        let copy = Bytes::copy_from_slice(&bytes);
        for test in &TESTS {
            for payload in [1, 10] {
                for share in [1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 0.9] {
                    let name = format!("{}_{codec_name}_{payload}col_{share}", test.name);
                    if arguments.wants(&name) {
                        line(
                            &name,
                            [&bytes, &copy],
                            test,
                            (payload, share, rows),
                            arguments.seconds,
                        )?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn line(
    name: &str,
    [bytes, copy]: [&Bytes; 2],
    test: &Test,
    (payload, share, rows): (usize, f64, usize),
    seconds: f64,
) -> Result<()> {
    let (literal, scalar) = (test.below)(share, rows);
    let predicate = col(test.column).lt(literal);
    let names: Vec<String> = (0..payload).map(|n| format!("payload{n}")).collect();
    let options = ReadOptions::new().columns(names.clone());
    let options = options.batch_size(BATCH_ROWS).filter(predicate);
    let one = filtered(bytes.clone(), options.clone().threads(1));
    let [first, second] = [bytes, copy].map(|bytes| {
        let (bytes, options) = (bytes.clone(), options.clone().threads(1));
        move || read_filtered(&bytes, &options)
    });
    let apart = side_by_side(first, second);
    let two = filtered(bytes.clone(), options.clone().threads(2));
    let unchecked = filtered(bytes.clone(), options.threads(1).verify_crc(false));
    let scanned = scanned(bytes.clone(), names.clone(), test.column, scalar.clone());
    let row_filter = their_filter(bytes.clone(), names.clone(), test.column, scalar.clone());
    let their_scan = their_scan(bytes.clone(), names.clone(), test.column, scalar);
    let mut sides = vec![&one, &scanned, &unchecked, &row_filter, &their_scan];
    let floor = codec_alone(bytes.clone(), names, test.column, one()?);
    let has_floor = name.contains("_random_zstd") && share >= 0.1;
    if has_floor {
        sides.push(&floor);
    }
    let times = measure::in_turns(&sides, seconds)?;
    let above = times.get(5).map_or(String::new(), |floor| {
        let [ours, row_filter, scan] = [2, 3, 4].map(|side| times[side].median_above(floor));
        format!("{:.2}", ours / row_filter.min(scan))
    });
    let (ours, unchecked) = (times[0].median(), times[2].median());
    let threads = measure::in_turns(&[&two, &apart], seconds / 2.0)?;
    println!(
        "| {name} | {ours:.2} ±{:.0}% | {:.2} | {:.2} | {:.2} | {above} | {:.2} |",
        times[0].spread() * 100.0,
        ours / times[1].median(),
        unchecked / times[3].median(),
        unchecked / times[4].median(),
        threads[1].median() / 2.0 / threads[0].median(),
    );
    Ok(())
}

fn filtered(bytes: Bytes, options: ReadOptions) -> Work {
    Box::new(move || read_filtered(&bytes, &options))
}

fn read_filtered(bytes: &Bytes, options: &ReadOptions) -> Result<u64> {
    let file = ParquetFile::from_source(bytes.clone(), Limits::default())?;
    ours::stream(file, options.clone())
}

fn below(batch: &RecordBatch, column: &str, scalar: &ArrayRef) -> Result<BooleanArray, ArrowError> {
    let column = batch
        .column_by_name(column)
        .ok_or_else(|| ArrowError::SchemaError("a column is missing".into()))?;
    let scalar = Scalar::new(scalar.clone());
    arrow_ord::cmp::lt(
        &column.as_ref() as &dyn herringbone::arrow::array::Datum,
        &scalar,
    )
}

/// Returns how many of a batch's rows are selected, after filtering it without the tested column.
fn keep(batch: &RecordBatch, column: &str, scalar: &ArrayRef) -> Result<u64> {
    let wanted = below(batch, column, scalar)?;
    let payload: Vec<usize> = (0..batch.num_columns())
        .filter(|at| batch.schema().field(*at).name() != column)
        .collect();
    let kept = filter_record_batch(&batch.project(&payload)?, &wanted)?;
    Ok(std::hint::black_box(kept).num_rows() as u64)
}

fn scanned(bytes: Bytes, mut names: Vec<String>, column: &'static str, scalar: ArrayRef) -> Work {
    names.push(column.into());
    Box::new(move || {
        let file = ParquetFile::from_source(bytes.clone(), Limits::default())?;
        let options = ReadOptions::new().columns(names.clone()).threads(1);
        let mut rows = 0;
        for batch in file.read(options.batch_size(BATCH_ROWS))? {
            rows += keep(&batch?, column, &scalar)?;
        }
        Ok(rows)
    })
}

/// Decompresses all pages of the columns. Returns `rows`, because all sides must return the number
/// of selected rows.
fn codec_alone(bytes: Bytes, names: Vec<String>, column: &'static str, rows: u64) -> Work {
    Box::new(move || {
        ours::pages_of(&bytes, |name| {
            name == column || names.iter().any(|it| it == name)
        })?;
        Ok(rows)
    })
}

fn builder(bytes: &Bytes, with_index: bool) -> Result<ParquetRecordBatchReaderBuilder<Bytes>> {
    let policy = match with_index {
        true => PageIndexPolicy::Optional,
        false => PageIndexPolicy::Skip,
    };
    let options = ArrowReaderOptions::new().with_page_index_policy(policy);
    let metadata = ArrowReaderMetadata::load(bytes, options)?;
    Ok(
        ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata)
            .with_batch_size(BATCH_ROWS),
    )
}

fn their_filter(bytes: Bytes, names: Vec<String>, column: &'static str, scalar: ArrayRef) -> Work {
    Box::new(move || {
        let builder = builder(&bytes, true)?;
        let schema = builder.parquet_schema();
        let tested = ProjectionMask::columns(schema, [column]);
        let payload = ProjectionMask::columns(schema, names.iter().map(String::as_str));
        let scalar = scalar.clone();
        let predicate = ArrowPredicateFn::new(tested, move |batch| below(&batch, column, &scalar));
        let filter = RowFilter::new(vec![Box::new(predicate)]);
        let mut rows = 0;
        for batch in builder
            .with_projection(payload)
            .with_row_filter(filter)
            .build()?
        {
            rows += batch?.num_rows() as u64;
        }
        Ok(rows)
    })
}

fn their_scan(
    bytes: Bytes,
    mut names: Vec<String>,
    column: &'static str,
    scalar: ArrayRef,
) -> Work {
    names.push(column.into());
    Box::new(move || {
        let builder = builder(&bytes, false)?;
        let mask =
            ProjectionMask::columns(builder.parquet_schema(), names.iter().map(String::as_str));
        let mut rows = 0;
        for batch in builder.with_projection(mask).build()? {
            rows += keep(&batch?, column, &scalar)?;
        }
        Ok(rows)
    })
}

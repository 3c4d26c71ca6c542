//! Reads larger files that the `parquet` crate wrote. Reads return the written values, and also the values that the
//! `parquet` crate itself reads.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::{Error, ParquetFile, ReadOptions};
use herringbone_arrow::array::{Array, ArrayRef, RecordBatch};
use herringbone_arrow::schema::{DataType, Field, Schema, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};

use crate::batches::{self, Nulls, Random, Shape};
use crate::canonical;
use crate::files;
use crate::table::{Table, without_panic};

const ROWS: usize = 10_000;
const NULLS: [Nulls; 5] = [
    Nulls::Required,
    Nulls::None,
    Nulls::Sparse,
    Nulls::Runs,
    Nulls::All,
];

fn flat_types() -> Vec<DataType> {
    use DataType::*;
    let micros = TimeUnit::Microsecond;
    vec![
        Boolean,
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Utf8,
        LargeUtf8,
        Utf8View,
        Binary,
        FixedSizeBinary(7),
        FixedSizeBinary(16),
        Date32,
        Time32(TimeUnit::Millisecond),
        Time64(micros),
        Timestamp(micros, None),
        Timestamp(micros, Some("UTC".into())),
        Timestamp(micros, Some("Asia/Tokyo".into())),
        Decimal128(9, 2),
        Decimal128(18, 2),
        Decimal128(38, 10),
        Decimal256(60, 3),
    ]
}

/// Returns a batch with a column of every flat type, with the given density of nulls.
fn flat_batch(seed: u64, nulls: Nulls, shape: Shape) -> RecordBatch {
    let mut random = Random(seed);
    let columns = flat_types()
        .iter()
        .map(|t| {
            (
                t.to_string(),
                nulls != Nulls::Required,
                batches::flat(&mut random, t, nulls, shape, ROWS),
            )
        })
        .collect();
    batch(columns)
}

fn batch(columns: Vec<(String, bool, ArrayRef)>) -> RecordBatch {
    let fields: Vec<_> = columns
        .iter()
        .map(|(n, nullable, a)| Field::new(n, a.data_type().clone(), *nullable))
        .collect();
    let arrays = columns.into_iter().map(|(_, _, array)| array).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

fn written(batch: &RecordBatch, properties: WriterProperties) -> Bytes {
    let mut out = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut out, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    Bytes::from(out)
}

/// Reads the file, and compares it with the written batch slot by slot. Returns the first difference.
fn differs(
    bytes: &Bytes,
    batch: &RecordBatch,
    options: ReadOptions,
) -> Result<Option<String>, Error> {
    let mut reader = ParquetFile::from_bytes(bytes.clone())?.read(options)?;
    let mut row = 0;
    while let Some(read) = reader.next_batch()? {
        for (i, array) in read.columns().iter().enumerate() {
            let want = batch.column(i).slice(row, read.num_rows());
            if array.to_data() == want.to_data() {
                continue;
            }
            let name = batch.schema().field(i).name().clone();
            let types = (array.data_type().clone(), want.data_type().clone());
            if types.0 != types.1 {
                return Ok(Some(format!("{name}: {}, not {}", types.0, types.1)));
            }
            let (is, want) = (canonical::lines(array), canonical::lines(&want));
            let at = is.iter().zip(&want).position(|(a, b)| a != b);
            let at = at.map(|at| format!("row {} is {}, not {}", row + at, is[at], want[at]));
            return Ok(Some(format!(
                "{name}: {}",
                at.unwrap_or("unequal arrays".into())
            )));
        }
        row += read.num_rows();
    }
    Ok((row != batch.num_rows()).then(|| format!("{row} rows, not {}", batch.num_rows())))
}

/// Reads on one thread with the default batch size and an unusual one, and on two threads with the default batch size.
fn check(wrong: &mut Vec<String>, what: &str, batch: &RecordBatch, properties: WriterProperties) {
    let bytes = written(batch, properties);
    for (threads, size) in [(1, 8192), (1, 777), (2, 8192)] {
        let options = ReadOptions::default().threads(threads).batch_size(size);
        match without_panic(|| differs(&bytes, batch, options)) {
            Err(panic) => wrong.push(format!("{what}: panic: {panic}")),
            Ok(Err(error)) => wrong.push(format!("{what}: {error}")),
            Ok(Ok(Some(difference))) => wrong.push(format!("{what}: {difference}")),
            Ok(Ok(None)) => {}
        }
    }
}

fn report(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} faults:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn properties(version: WriterVersion) -> WriterPropertiesBuilder {
    WriterProperties::builder()
        .set_writer_version(version)
        .set_data_page_row_count_limit(3000)
        .set_write_batch_size(500)
        .set_max_row_group_row_count(Some(7000))
}

const VERSIONS: [WriterVersion; 2] = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0];

#[test]
fn plain_and_dictionary() {
    let mut wrong = Vec::new();
    for (seed, nulls) in NULLS.into_iter().enumerate() {
        for version in VERSIONS {
            for (dictionary, shape) in [
                (false, Shape::Random),
                (true, Shape::Few),
                (true, Shape::Random),
            ] {
                let batch = flat_batch(seed as u64, nulls, shape);
                let mut with = properties(version).set_dictionary_enabled(dictionary);
                for field in batch.schema().fields() {
                    if !dictionary {
                        let path =
                            parquet::schema::types::ColumnPath::new(vec![field.name().clone()]);
                        with = with.set_column_encoding(path, Encoding::PLAIN);
                    }
                }
                // Random values outgrow a small dictionary, so the column falls back midway.
                with = with.set_dictionary_page_size_limit(4000);
                let what = format!("{version:?} dictionary {dictionary} {shape:?} nulls {nulls:?}");
                check(&mut wrong, &what, &batch, with.build());
            }
        }
    }
    report(&wrong);
}

/// Returns the encodings that the `parquet` crate can write for a type, other than PLAIN and dictionary.
fn encodings(t: &DataType) -> Vec<Encoding> {
    use DataType::*;
    match t {
        Boolean => vec![Encoding::RLE],
        Float32 | Float64 => vec![Encoding::BYTE_STREAM_SPLIT, Encoding::ALP],
        Utf8 | LargeUtf8 | Utf8View | Binary => {
            vec![
                Encoding::DELTA_LENGTH_BYTE_ARRAY,
                Encoding::DELTA_BYTE_ARRAY,
            ]
        }
        FixedSizeBinary(_) | Float16 | Decimal256(..) => {
            vec![Encoding::DELTA_BYTE_ARRAY, Encoding::BYTE_STREAM_SPLIT]
        }
        Decimal128(p, _) if *p > 18 => {
            vec![Encoding::DELTA_BYTE_ARRAY, Encoding::BYTE_STREAM_SPLIT]
        }
        _ => vec![Encoding::DELTA_BINARY_PACKED, Encoding::BYTE_STREAM_SPLIT],
    }
}

#[test]
fn other_encodings() {
    let mut wrong = Vec::new();
    for (seed, nulls) in NULLS.into_iter().enumerate() {
        for choice in 0..2 {
            for (version, shape) in VERSIONS.into_iter().zip([Shape::Random, Shape::Sorted]) {
                let batch = flat_batch(40 + seed as u64, nulls, shape);
                let mut with = properties(version).set_dictionary_enabled(false);
                for field in batch.schema().fields() {
                    let path = parquet::schema::types::ColumnPath::new(vec![field.name().clone()]);
                    let all = encodings(field.data_type());
                    with = with.set_column_encoding(path, all[choice % all.len()]);
                }
                let what = format!("{version:?} encoding {choice} {shape:?} nulls {nulls:?}");
                check(&mut wrong, &what, &batch, with.build());
            }
        }
    }
    report(&wrong);
}

#[test]
fn codecs() {
    let mut wrong = Vec::new();
    let batch = flat_batch(9, Nulls::Sparse, Shape::Few);
    for codec in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::BROTLI(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ] {
        for version in VERSIONS {
            let with = properties(version).set_compression(codec).build();
            check(&mut wrong, &format!("{codec:?} {version:?}"), &batch, with);
        }
    }
    report(&wrong);
}

/// Returns lists, structs and maps, which are also nested in each other, with the given density of nulls at every
/// level.
fn nested_batch(seed: u64, nulls: Nulls, n: usize) -> RecordBatch {
    let random = &mut Random(seed);
    let inner = if nulls == Nulls::Required {
        Nulls::None
    } else {
        nulls
    };
    let int = &mut |random: &mut Random, n| {
        batches::flat(random, &DataType::Int64, inner, Shape::Random, n)
    };
    let text =
        &mut |random: &mut Random, n| batches::flat(random, &DataType::Utf8, inner, Shape::Few, n);
    let pair = &mut |random: &mut Random, n| batches::pair(random, inner, n);
    let columns = vec![
        ("list", batches::list(random, nulls, n, int)),
        ("list of text", batches::list(random, nulls, n, text)),
        ("struct", batches::pair(random, nulls, n)),
        ("map", batches::map(random, nulls, n, int)),
        ("list of struct", batches::list(random, nulls, n, pair)),
        (
            "list of list",
            batches::list(random, nulls, n, &mut |random, n| {
                batches::list(random, inner, n, int)
            }),
        ),
        (
            "list of list of struct",
            batches::list(random, nulls, n, &mut |random, n| {
                batches::list(random, inner, n, pair)
            }),
        ),
        (
            "map of list",
            batches::map(random, nulls, n, &mut |random, n| {
                batches::list(random, inner, n, text)
            }),
        ),
        (
            "list of map of struct",
            batches::list(random, nulls, n, &mut |random, n| {
                batches::map(random, inner, n, pair)
            }),
        ),
    ];
    let nullable = nulls != Nulls::Required;
    batch(
        columns
            .into_iter()
            .map(|(name, array)| (name.to_owned(), nullable, array))
            .collect(),
    )
}

#[test]
fn nested() {
    let mut wrong = Vec::new();
    for (seed, nulls) in NULLS.into_iter().enumerate() {
        for version in VERSIONS {
            for dictionary in [false, true] {
                let batch = nested_batch(seed as u64, nulls, ROWS / 4);
                let with = properties(version)
                    .set_dictionary_enabled(dictionary)
                    .set_max_row_group_row_count(Some(1100))
                    .set_data_page_row_count_limit(300)
                    .set_write_batch_size(100);
                let what = format!("nested {version:?} dictionary {dictionary} nulls {nulls:?}");
                check(&mut wrong, &what, &batch, with.build());
            }
        }
    }
    report(&wrong);
}

/// A row selection returns the same rows as a whole read, even if it starts inside a page of a nested column.
#[test]
fn selections_of_nested_rows() {
    let batch = nested_batch(77, Nulls::Sparse, 3000);
    let with = properties(WriterVersion::PARQUET_2_0)
        .set_max_row_group_row_count(Some(1100))
        .set_data_page_row_count_limit(90)
        .set_write_batch_size(30);
    let bytes = written(&batch, with.build());
    let ranges: Vec<_> = (0..3000_usize)
        .step_by(41)
        .map(|i| i..(i + i % 37).min(3000))
        .collect();
    let asked: Vec<_> = ranges
        .iter()
        .map(|r| r.start as u64..r.end as u64)
        .collect();
    let mut whole = Table::empty(&batch.schema());
    whole.push(&batch);
    for (threads, size) in [(1, 8192), (2, 100), (1, 1)] {
        let options = ReadOptions::default()
            .threads(threads)
            .batch_size(size)
            .row_ranges(asked.clone());
        let table = Table::read(
            ParquetFile::from_bytes(bytes.clone())
                .unwrap()
                .read(options)
                .unwrap(),
        );
        let table = table.unwrap();
        assert_eq!(table.difference(&whole.rows_of(&ranges), false), None);
    }
}

/// Reads other libraries' files with both readers. If arrow-rs returns the same Arrow type, it must return the same
/// values.
#[test]
fn agrees_with_arrow_rs_on_files_of_others() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for path in files::generated() {
        let name = files::short(&path);
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        // We cannot compare files that arrow-rs refuses, or on which it panics.
        let Ok(Some(theirs)) = without_panic(|| theirs(bytes.clone())) else {
            continue;
        };
        let read = || Table::read(ParquetFile::from_bytes(bytes)?.read(ReadOptions::default())?);
        let Ok(Ok(ours)) = without_panic(read) else {
            wrong.push(format!("{name}: they read it"));
            continue;
        };
        for (i, field) in ours.fields.iter().enumerate() {
            if theirs.fields.get(i) != Some(field) || is_their_fault(&name) {
                continue;
            }
            compared += 1;
            if ours.columns[i] != theirs.columns[i] {
                wrong.push(format!("{name}: {field:?} differs"));
            }
        }
    }
    report(&wrong);
    assert!(compared > 1000, "{compared} columns were compared");
}

/// The files that the `parquet` crate reads differently from the specification.
const THEIR_FAULTS: [(&str, &str); 3] = [
    (
        "built/bit_packed_levels.parquet",
        "bits from the wrong end of each byte, as pyarrow",
    ),
    (
        "built/pages_without_values.parquet",
        "stops at a page without values, as pyarrow",
    ),
    (
        "built/footer_of_no_rows.parquet",
        "believes the footer, and reads no row",
    ),
];

fn is_their_fault(name: &str) -> bool {
    THEIR_FAULTS.iter().any(|(file, _)| *file == name)
}

fn theirs(bytes: Bytes) -> Option<Table> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).ok()?;
    let mut table = Table::empty(builder.schema());
    for batch in builder.with_batch_size(8192).build().ok()? {
        table.push(&batch.ok()?);
    }
    Some(table)
}

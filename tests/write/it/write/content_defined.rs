//! Tests pages that end by their content.

use std::collections::HashSet;
use std::sync::Arc;

use herringbone::format::{Encoding, PageType};
use herringbone::{
    ColumnOptions, Compression, ContentDefinedChunking, ParquetFile, ReadOptions, WriteOptions,
};
use herringbone_arrow::array::builder::{Int64Builder, ListBuilder};
use herringbone_arrow::array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
    StructArray,
};
use herringbone_arrow::schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{CdcOptions, WriterProperties};

use super::compare::{difference, in_batches, read, written};
use crate::batches::Random;

const NUM_ROWS: usize = 200_000;

fn sizes(min: usize, max: usize) -> ContentDefinedChunking {
    ContentDefinedChunking::new()
        .min_chunk_bytes(min)
        .max_chunk_bytes(max)
}

/// Returns options for PLAIN values without a codec.
fn plain() -> WriteOptions {
    WriteOptions::new()
        .compression(Compression::Uncompressed)
        .columns(
            ColumnOptions::new()
                .dictionary(false)
                .encoding(Encoding::Plain),
        )
}

fn one_column(array: ArrayRef, nullable: bool) -> RecordBatch {
    let field = Field::new("a", array.data_type().clone(), nullable);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
}

fn numbers(seed: u64, len: usize) -> Int64Array {
    let random = &mut Random(seed);
    (0..len)
        .map(|_| Some(random.below(1 << 40) as i64))
        .collect()
}

/// Returns lists of 0 to 4 values, in which some lists and some values are null.
fn lists(seed: u64, len: usize) -> ArrayRef {
    let random = &mut Random(seed);
    let mut lists = ListBuilder::new(Int64Builder::new());
    for _ in 0..len {
        let valid = random.below(9) > 0;
        let values = if valid { random.below(5) } else { 0 };
        for _ in 0..values {
            let value = random.below(1 << 40) as i64;
            lists
                .values()
                .append_option((value % 7 > 0).then_some(value));
        }
        lists.append(valid);
    }
    Arc::new(lists.finish())
}

/// Returns one batch for each kind of levels and of values.
fn kinds(len: usize) -> Vec<(&'static str, RecordBatch)> {
    let random = &mut Random(7);
    let mut nullable = |nulls: usize| {
        (0..len)
            .map(|_| random.below(nulls) > 0)
            .collect::<Vec<_>>()
    };
    let integers: Int32Array = nullable(3)
        .iter()
        .enumerate()
        .map(|(i, valid)| valid.then_some((i as i32).wrapping_mul(1_234_567)))
        .collect();
    let booleans: BooleanArray = nullable(2).into_iter().map(Some).collect();
    let texts: StringArray = (0..len)
        .map(|i| (i % 11 > 0).then(|| format!("{:x}", i * i * 7919)))
        .collect();
    let floats: Float64Array = nullable(5)
        .iter()
        .enumerate()
        .map(|(i, valid)| valid.then_some((i as f64).sqrt()))
        .collect();
    let field = Arc::new(Field::new("x", DataType::Float64, true));
    let nulls = integers.nulls().cloned();
    let structs = StructArray::new(vec![field].into(), vec![Arc::new(floats)], nulls);
    vec![
        ("required", one_column(Arc::new(numbers(1, len)), false)),
        ("nullable", one_column(Arc::new(integers), true)),
        ("booleans", one_column(Arc::new(booleans), false)),
        ("strings", one_column(Arc::new(texts), true)),
        ("structs", one_column(Arc::new(structs), true)),
        ("lists", one_column(lists(3, len), true)),
    ]
}

/// Returns the number of levels in each data page, by row group.
fn pages(file: &[u8]) -> Vec<Vec<i32>> {
    let file = ParquetFile::from_bytes(file.to_vec()).unwrap();
    let row_groups = 0..file.metadata().num_row_groups();
    let row_group_cuts = |row_group| {
        let headers = file
            .pages(row_group, 0)
            .unwrap()
            .map(|page| page.unwrap().header);
        let counts = headers.filter_map(|header| header.data_page_header);
        counts.map(|header| header.num_values).collect()
    };
    row_groups.map(row_group_cuts).collect()
}

/// Returns the bodies of the first row group's data pages.
fn bodies(file: &[u8]) -> Vec<Vec<u8>> {
    let parquet = ParquetFile::from_bytes(file.to_vec()).unwrap();
    let pages = parquet.pages(0, 0).unwrap().map(Result::unwrap);
    let data = pages.filter(|page| page.header.type_ == PageType::DataPage);
    data.map(|page| {
        let start = page.start.offset as usize + page.header_bytes;
        file[start..start + page.body_bytes as usize].to_vec()
    })
    .collect()
}

fn theirs(batch: &RecordBatch, options: CdcOptions, row_group_rows: usize) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_content_defined_chunking(Some(options))
        .set_dictionary_enabled(false)
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(1 << 30)
        .set_max_row_group_row_count(Some(row_group_rows))
        .build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    file
}

#[test]
fn pages_end_as_those_of_the_parquet_crate() {
    let kinds = kinds(60_000).into_iter();
    // This crate ends pages of lists elsewhere. Ours end as in pyarrow, which the tests of the Python package compare.
    for (name, batch) in kinds.filter(|(name, _)| *name != "lists") {
        for (min, max, norm_level) in [(4 << 10, 16 << 10, 0), (1000, 30_000, 2), (1, 9000, -1)] {
            let options = CdcOptions {
                min_chunk_size: min,
                max_chunk_size: max,
                norm_level,
            };
            let expected = pages(&theirs(&batch, options, 25_000));
            assert!(expected.len() == 3 && expected[0].len() > 1, "{name}");
            let chunking = sizes(min, max).norm_level(norm_level);
            let options = plain()
                .row_group_rows(25_000)
                .content_defined_chunking(chunking);
            for rows in [60_000, 777] {
                let batches = in_batches(&batch, rows);
                let ours = written(&batch.schema(), &batches, options.clone()).unwrap();
                assert_eq!(
                    pages(&ours),
                    expected,
                    "{name}, {min} to {max}, batches of {rows}"
                );
            }
        }
    }
}

#[test]
fn rows_are_read_back_in_any_encoding() {
    for (name, batch) in kinds(30_000) {
        let options = WriteOptions::new()
            .row_group_rows(20_000)
            .content_defined_chunking(sizes(1 << 10, 4 << 10));
        for options in [
            options.clone(),
            options.columns(ColumnOptions::new().dictionary(true)),
        ] {
            let wrote = [batch.clone()];
            let file = written(&batch.schema(), &wrote, options).unwrap();
            assert!(pages(&file)[0].len() > 4, "{name}");
            let (_, ours) = read(&file, ReadOptions::default()).unwrap();
            assert_eq!(difference(&wrote, &ours, &batch.schema()), None, "{name}");
        }
    }
}

#[test]
fn an_insertion_changes_few_pages() {
    let before = numbers(1, NUM_ROWS);
    let middle = NUM_ROWS / 2;
    let parts = [
        before.slice(0, middle),
        numbers(2, 10),
        before.slice(middle, middle),
    ];
    let after: ArrayRef = Arc::new(parts.iter().flatten().collect::<Int64Array>());
    let bodies_of = |array: ArrayRef, options: WriteOptions| {
        let batch = one_column(array, false);
        bodies(&written(&batch.schema(), &[batch], options).unwrap())
    };
    // This returns the number of pages, and how many of them the file had before.
    let kept = |options: WriteOptions| {
        let old = bodies_of(Arc::new(before.clone()), options.clone());
        let old: HashSet<_> = old.into_iter().collect();
        let new = bodies_of(after.clone(), options);
        (
            new.len(),
            new.iter().filter(|body| old.contains(*body)).count(),
        )
    };
    let by_rows = plain().columns(ColumnOptions::new().page_rows(4000));
    let (pages, same) = kept(by_rows);
    assert_eq!((pages, same), (51, 25));
    let (pages, same) = kept(plain().content_defined_chunking(sizes(16 << 10, 64 << 10)));
    assert!(pages > 30 && pages - same <= 3, "{same} of {pages} pages");
}

#[test]
fn sizes_are_between_the_limits() {
    let batch = one_column(Arc::new(numbers(1, NUM_ROWS)), false);
    let options = plain().content_defined_chunking(sizes(16 << 10, 64 << 10));
    let file = written(
        &batch.schema(),
        std::slice::from_ref(&batch),
        options.clone(),
    )
    .unwrap();
    let bodies_of = bodies(&file);
    let (last, others) = bodies_of.split_last().unwrap();
    assert!(
        others
            .iter()
            .all(|body| (16 << 10..=64 << 10).contains(&body.len()))
    );
    assert!(last.len() <= 64 << 10);
    let lengths: HashSet<_> = others.iter().map(Vec::len).collect();
    assert!(lengths.len() > others.len() / 2, "pages differ in size");
    // The limits of pages hold, too.
    let options = options.columns(ColumnOptions::new().page_rows(1000));
    let file = written(&batch.schema(), &[batch], options).unwrap();
    assert!(pages(&file)[0].iter().all(|values| *values <= 1000));
    assert!(pages(&file)[0].contains(&1000));
}

/// Values without bytes never fill chunks, so the limit in bytes ends pages.
#[test]
fn empty_strings_fill_pages() {
    let texts = StringArray::from_iter_values(std::iter::repeat_n("", 1 << 20));
    let batch = one_column(Arc::new(texts), false);
    let options = plain().content_defined_chunking(ContentDefinedChunking::new());
    let file = written(&batch.schema(), &[batch], options).unwrap();
    // Each value has four bytes of length, and a page has at most twice the 1 MiB of a chunk.
    let pages = pages(&file).remove(0);
    assert!(
        pages.len() > 1 && pages.iter().all(|values| *values <= 1 << 19),
        "{pages:?}"
    );
}

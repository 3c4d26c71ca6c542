//! Tests the memory of the writer and the reader, as the allocator counts it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot run has failed"
)]

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::filter::col;
use herringbone::format::{
    BoundaryOrder, ByteArrays, ColumnIndex, CompressionCodec, Encoding, OffsetIndex, PageLocation,
    Repetition, SchemaElement, Statistics, Type,
};
use herringbone::schema::ByteLayout;
use herringbone::{
    ColumnOptions, Compression, ErrorKind, Limits, ParquetFile, ReadOptions, SortingColumnOption,
    WriteOptions, Writer, ZstdLevel,
};
use herringbone_arrow::array::{
    Array, ArrayRef, Float64Array, Int8Array, Int32Array, Int64Array, ListArray, RecordBatch,
    StringArray, new_null_array, types::Int32Type,
};
use herringbone_arrow::buffer::OffsetBuffer;
use herringbone_arrow::schema::{DataType, Field};
use herringbone_core::compression::compress;
use herringbone_inspect::verify::FindingKind;
use peak_alloc::PeakAlloc;

use herringbone_tests::crafted::{Chunk, Page, group, leaf, sorted_file};
use herringbone_tests::{crafted, dismantled, files};

#[path = "memory/held.rs"]
mod held;

#[path = "memory/chosen.rs"]
mod chosen;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// The lock that serializes the tests, because the allocator counts for all threads together.
static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// The writer's memory limit.
const BUDGET: usize = 24 << 20;

/// Returns 400 columns whose rows take from less than a byte to hundreds of bytes.
fn skewed(batch: usize, rows: usize) -> RecordBatch {
    let hash = |column: usize, row: usize| {
        let seed = (batch * rows + row) as u64 * 1000 + column as u64;
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 8
    };
    let column = |i: usize| -> (String, ArrayRef) {
        let values = (0..rows).map(|row| hash(i, row));
        let array: ArrayRef = match i % 20 {
            0 => Arc::new(StringArray::from_iter_values(
                values.map(|value| format!("{value:x}").repeat(1 + i / 10)),
            )),
            1..5 => Arc::new(Int64Array::from_iter_values(
                values.map(|value| value.cast_signed()),
            )),
            5..8 => Arc::new(Float64Array::from_iter(
                values.map(|value| (value % 3 > 0).then_some(value as f64)),
            )),
            8 => Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(
                values.map(|value| {
                    (value % 5 > 0).then(|| vec![Some(value as i32); value as usize % 9])
                }),
            )),
            9..15 => Arc::new(Int8Array::from_iter_values(values.map(|value| value as i8))),
            _ => Arc::new(Int64Array::from_iter_values(
                values.map(|value| (value % (1 + i as u64)) as i64),
            )),
        };
        (format!("c{i}"), array)
    };
    RecordBatch::try_from_iter((0..400).map(column)).unwrap()
}

/// The writer exceeds the budget only by the memory for a batch. Here, a batch is one slice. The memory is four times
/// the slice's bytes if values become codes, and a part of this again while tables grow. We do not count the memory
/// that compression allocates in C.
#[test]
fn the_budget_is_kept() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let batches: Vec<_> = (0..12).map(|batch| skewed(batch, 500)).collect();
    let slice = batches[0].get_array_memory_size();
    for threads in [1, 3] {
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let options = WriteOptions::new().memory_bytes(BUDGET).threads(threads);
        let mut writer = Writer::new(io::sink(), batches[0].schema(), options).unwrap();
        let mut said = 0;
        for batch in &batches {
            writer.write(batch).unwrap();
            said = said.max(writer.memory_size());
        }
        let metadata = writer.finish().unwrap();
        let peak = ALLOCATOR.peak_usage() - before;
        assert!(metadata.num_row_groups() > 1);
        assert!(
            said < BUDGET + 2 * slice,
            "{said} bytes said, {threads} threads"
        );
        assert!(said > BUDGET / 2, "{said} bytes said, {threads} threads");
        assert!(
            peak < BUDGET + 5 * slice,
            "{peak} bytes held, {threads} threads"
        );
    }
}

/// Only few pages wait for compression, even if it is much slower than encoding.
#[test]
fn pages_under_way_are_bounded() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    const ROWS: usize = 100_000;
    let values = |batch: usize| {
        let seeds = (batch * ROWS..(batch + 1) * ROWS).map(|row| row as u64);
        let mixed = seeds.map(|seed| seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        Int64Array::from_iter_values(mixed.map(|bits| (bits ^ (bits >> 29)).cast_signed()))
    };
    let batches: Vec<_> = (0..24)
        .map(|batch| RecordBatch::try_from_iter([("n", Arc::new(values(batch)) as _)]).unwrap())
        .collect();
    let level = ZstdLevel::new(9).unwrap();
    let columns = ColumnOptions::new()
        .encoding(Encoding::Plain)
        .compression(Compression::Zstd(level));
    let peak = |threads| {
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let options = WriteOptions::new()
            .columns(columns.clone())
            .memory_bytes(BUDGET)
            .threads(threads);
        let mut writer = Writer::new(io::sink(), batches[0].schema(), options).unwrap();
        for batch in &batches {
            writer.write(batch).unwrap();
        }
        writer.finish().unwrap();
        ALLOCATOR.peak_usage() - before
    };
    let alone = peak(1);
    for threads in [2, 8] {
        let peak = peak(threads);
        println!("{alone} bytes alone, {peak} with {threads} threads");
        // This allows six pages of a quarter of a megabyte, and their compressed bytes.
        assert!(
            peak < alone + 2 * BUDGET / 16 + (1 << 20),
            "{alone} bytes alone, {peak} with {threads} threads"
        );
    }
}

/// After the end of a row group, the writer retains neither the rows nor the buffers of a long list.
#[test]
fn rows_that_were_written_are_let_go() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    const VALUES: usize = 4 << 20;
    let numbers = || Int32Array::from(vec![7; VALUES]);
    let list = || {
        let field = Arc::new(Field::new("item", DataType::Int32, true));
        let ends = OffsetBuffer::from_lengths([VALUES]);
        ListArray::new(field, ends, Arc::new(numbers()), None)
    };
    let arrays: [&dyn Fn() -> ArrayRef; 2] = [&|| Arc::new(numbers()), &|| Arc::new(list())];
    for (array, threads) in arrays.iter().flat_map(|array| [(array, 1), (array, 3)]) {
        let before = ALLOCATOR.current_usage();
        let batch = RecordBatch::try_from_iter_with_nullable([("n", array(), true)]).unwrap();
        let few = RecordBatch::try_from_iter_with_nullable([(
            "n",
            new_null_array(batch.column(0).data_type(), 2),
            true,
        )])
        .unwrap();
        let options = WriteOptions::new().threads(threads);
        let mut writer = Writer::new(io::sink(), batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        writer.flush().unwrap();
        drop(batch);
        // The next row group may start while one is being encoded.
        writer.write(&few).unwrap();
        writer.flush().unwrap();
        let held = ALLOCATOR.current_usage() - before;
        assert!(held < VALUES, "{held} bytes held, {threads} threads");
        writer.finish().unwrap();
    }
}

/// A long value exists as a dictionary entry, as a page, and in compressed form. Neither bounds nor the encoder retain
/// it.
#[test]
fn a_long_value_is_not_copied_again_and_again() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    const LONG: usize = 32 << 20;
    let texts: ArrayRef = Arc::new(StringArray::from(vec![
        Some("a"),
        Some("b".repeat(LONG).as_str()),
        None,
    ]));
    let batch = RecordBatch::try_from_iter([("s", texts)]).unwrap();
    for dictionary in [true, false] {
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let columns = ColumnOptions::new().dictionary(dictionary);
        let options = WriteOptions::new().columns(columns).threads(1);
        let mut writer = Writer::new(io::sink(), batch.schema(), options).unwrap();
        writer.write(&batch).unwrap();
        let metadata = writer.finish().unwrap();
        let peak = ALLOCATOR.peak_usage() - before;
        println!("dictionary {dictionary}: {peak} bytes");
        assert!(peak < 4 * LONG + (4 << 20), "{dictionary}: {peak} bytes");
        let chunk = metadata.column_chunk(0, 0).unwrap().meta_data;
        let statistics = chunk.and_then(|chunk| chunk.statistics).unwrap();
        assert_eq!(statistics.max_value.as_ref().unwrap().len(), 64);
        assert_eq!(statistics.min_value.as_ref().unwrap(), b"a");
    }
}

/// The memory limit for sorting.
const SORT_BUDGET: usize = 4 << 20;

/// A sort takes its budget, the same amount again while a run is written or runs are merged, and the writer's memory.
/// The number of rows does not matter.
#[test]
fn a_sort_keeps_its_budget() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let batch = |batch: i64| {
        let mixed = (0..2_000)
            .map(|row| (batch * 2_000 + row).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()));
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(mixed.clone()));
        let texts =
            mixed.map(|bits| format!("{bits:x} and something behind it that makes the row longer"));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        RecordBatch::try_from_iter([("n", numbers), ("s", texts)]).unwrap()
    };
    for by in ["n", "s"] {
        let key = SortingColumnOption::new(vec![by.to_owned()]);
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let options = WriteOptions::new()
            .sort_by(vec![key])
            .sort_memory_bytes(SORT_BUDGET)
            .memory_bytes(SORT_BUDGET)
            .row_group_rows(20_000)
            .threads(1);
        let mut writer = Writer::new(io::sink(), batch(0).schema(), options).unwrap();
        for ordinal in 0..200 {
            writer.write(&batch(ordinal)).unwrap();
        }
        writer.finish().unwrap();
        // The input was eight times the budget.
        let peak = ALLOCATOR.peak_usage() - before;
        println!("by {by}: {peak} bytes");
        assert!(peak < 4 * SORT_BUDGET, "by {by}: {peak} bytes held");
    }
}

/// The reader's memory limit.
const READ_BUDGET: usize = 32 << 20;

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    compress(Compression::Zstd(ZstdLevel::default()), bytes, &mut out).unwrap();
    out
}

fn page(num_values: usize, plain: &[u8]) -> Page {
    Page::v1(num_values, &zstd(plain)).with_plain_size(plain.len())
}

/// Writes files of a hundred columns with these pages each. They are declared as sorted by all columns.
fn hundred(
    leaf: impl Fn(&str) -> SchemaElement,
    rows: usize,
    pages: impl Fn() -> Vec<Page>,
) -> Bytes {
    let mut schema = vec![group("schema", None, 100)];
    schema.extend((0..100).map(|i| leaf(&format!("c{i}"))));
    let physical = schema[1].type_.unwrap();
    let chunk = |_| Chunk {
        physical,
        codec: CompressionCodec::Zstd,
        num_values: rows as u64,
        pages: pages(),
    };
    sorted_file(schema, &[(rows as u64, (0..100).map(chunk).collect())]).into()
}

fn required(physical: Type) -> impl Fn(&str) -> SchemaElement {
    move |name| leaf(name, physical, Repetition::Required)
}

fn fixed(type_length: i32) -> impl Fn(&str) -> SchemaElement {
    move |name| leaf(name, Type::FixedLenByteArray, Repetition::Required).type_length(type_length)
}

/// Returns files that have kilobytes per column and expand to megabytes each, in several ways.
fn bombs() -> Vec<(&'static str, Bytes)> {
    let rows = 20_000;
    let zeros = |bytes: usize| vec![0_u8; bytes];
    let dictionary =
        |n: usize, plain: &[u8]| Page::dictionary(n, &zstd(plain)).with_plain_size(plain.len());
    // The indices have a width of no bits, and a run of the first entry for all rows, as a varint.
    let first = || {
        let run = rows << 1;
        let indices = [
            0,
            run as u8 | 0x80,
            (run >> 7) as u8 | 0x80,
            (run >> 14) as u8,
        ];
        page(rows, &indices).with_encoding(Encoding::RleDictionary)
    };
    // The levels are a run of nulls, after their length.
    let nulls = || {
        let run = rows << 1;
        let levels = [
            4,
            0,
            0,
            0,
            run as u8 | 0x80,
            (run >> 7) as u8 | 0x80,
            (run >> 14) as u8,
            0,
        ];
        page(rows, &levels)
    };
    let long_string = [&1000_u32.to_le_bytes()[..], &[b'x'; 1000]].concat();
    let wide =
        |name: &str| leaf(name, Type::FixedLenByteArray, Repetition::Optional).type_length(500);
    vec![
        ("one large page", {
            let plain = zeros(rows * 200);
            hundred(fixed(200), rows, || vec![page(rows, &plain)])
        }),
        ("ten large pages", {
            let plain = zeros(rows / 10 * 200);
            hundred(fixed(200), rows, || {
                (0..10).map(|_| page(rows / 10, &plain)).collect()
            })
        }),
        ("dictionaries of numbers", {
            let plain = zeros(1 << 20);
            let dictionary = || dictionary(plain.len() / 8, &plain);
            hundred(required(Type::Int64), rows, || vec![dictionary(), first()])
        }),
        ("dictionaries of empty strings", {
            let plain = zeros(1 << 20);
            let dictionary = || dictionary(plain.len() / 4, &plain);
            hundred(required(Type::ByteArray), rows, || {
                vec![dictionary(), first()]
            })
        }),
        ("one string again and again", {
            let dictionary = || dictionary(1, &long_string);
            hundred(required(Type::ByteArray), rows, || {
                vec![dictionary(), first()]
            })
        }),
        ("nulls of many bytes", hundred(wide, rows, || vec![nulls()])),
    ]
}

/// Reads a file batch by batch, and returns the peak memory and the error.
fn peak_of_reading(bytes: &Bytes, options: &ReadOptions) -> (usize, Option<herringbone::Error>) {
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let mut reader = file.read(options.clone()).unwrap();
    let error = loop {
        match reader.next_batch() {
            Ok(Some(_)) => {}
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    drop(reader);
    (ALLOCATOR.peak_usage().saturating_sub(before), error)
}

/// The error is the same for any number of threads. It occurs before more than the budget is allocated, apart from
/// small allocations that are not counted. A larger budget is sufficient.
#[test]
fn reads_keep_their_budget() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    for (name, bytes) in bombs() {
        for layout in [ByteLayout::Offsets, ByteLayout::Views] {
            let mut options = ReadOptions::new();
            options.schema.strings = layout;
            options.limits.get_or_insert_default().memory_bytes = READ_BUDGET as u64;
            let name = format!("{name}, {layout:?}, {} bytes", bytes.len());
            let (peak, first) = peak_of_reading(&bytes, &options.clone().threads(1));
            let first = first.map(|error| {
                assert_eq!(error.kind(), ErrorKind::Limit, "{name}: {error}");
                assert_eq!(error.limit_name(), Some("memory_bytes"), "{name}: {error}");
                error.to_string()
            });
            println!("{name}: {peak} bytes, {first:?}");
            assert!(peak < READ_BUDGET + READ_BUDGET / 8, "{name}: {peak}");
            for threads in [2, 4] {
                let (peak, error) = peak_of_reading(&bytes, &options.clone().threads(threads));
                assert_eq!(error.map(|error| error.to_string()), first, "{name}");
                // Each thread may be growing a vector, which exists twice meanwhile.
                assert!(
                    peak < READ_BUDGET + READ_BUDGET / 8 * threads,
                    "{name}, {threads} threads: {peak}"
                );
            }
            options.limits.get_or_insert_default().memory_bytes = 1 << 30;
            let (_, error) = peak_of_reading(&bytes, &options.limit(100));
            assert!(error.is_none(), "{name}: {error:?}");
        }
    }
}

/// Except for the order of rows, `verify` checks columns one by one. It reports the parts that it could not check.
#[test]
fn verifying_keeps_the_budget() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    // The other files have more values, but all of them are checked.
    for (name, bytes) in bombs().into_iter().take(3) {
        let mut limits = Limits::default();
        limits.memory_bytes = READ_BUDGET as u64;
        let file = ParquetFile::from_source(bytes, limits).unwrap();
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let mut refused = Vec::new();
        for finding in herringbone_inspect::verify(&file).threads(1) {
            let finding = finding.unwrap();
            if finding.message.contains("`memory_bytes`") {
                assert_eq!(finding.kind, FindingKind::NotChecked, "{name}");
                refused.push(finding.location.column);
            }
        }
        let peak = ALLOCATOR.peak_usage().saturating_sub(before);
        assert!(
            peak < READ_BUDGET + READ_BUDGET / 8,
            "{name}: {peak} bytes held"
        );
        // Each column fits alone.
        assert!(refused.iter().all(Option::is_none), "{name}: {refused:?}");
        println!("{name}: {peak} bytes, {} times refused", refused.len());
    }
}

/// A handle reports how much memory it takes, and takes no more than that.
#[test]
fn a_handle_counts_what_it_keeps() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let batch = skewed(0, 500);
    let mut file = Vec::new();
    let options = WriteOptions::new().row_group_rows(100).threads(1);
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let file = Bytes::from(file);
    for cells in [0, 1, 100, 900] {
        let before = ALLOCATOR.current_usage();
        let opened = ParquetFile::from_bytes(file.clone()).unwrap();
        for cell in 0..cells {
            opened.load_page_index(cell % 5, cell / 5).unwrap();
        }
        let handle = opened.metadata_handle();
        drop(opened);
        let (held, said) = (ALLOCATOR.current_usage() - before, handle.heap_bytes());
        let is_close = said.abs_diff(held) < held / 50;
        assert!(is_close, "{said} bytes said, {held} held, {cells} cells");
        drop(handle);
    }
}

/// Writes a column of 4,000 pages with values of 2^31 - 1 bytes, and indexes whose bounds are missing or have another
/// length.
fn wide_without_bounds() -> Bytes {
    const PAGES: usize = 4000;
    // The levels are a run of one definition level, which is 0.
    let null = Page::v1(1, &[2, 0, 0, 0, 2, 0]);
    let chunk = Chunk {
        physical: Type::FixedLenByteArray,
        codec: CompressionCodec::Uncompressed,
        num_values: PAGES as u64,
        pages: vec![null; PAGES],
    };
    let wide = leaf("x", Type::FixedLenByteArray, Repetition::Optional).type_length(i32::MAX);
    let schema = vec![group("schema", None, 1), wide];
    let file = crafted::file(schema, &[(PAGES as u64, vec![chunk])]);
    let mut parts = dismantled::Dismantled::new(&file.into());
    parts.order_by_type();
    let chunk = &mut parts.row_groups[0][0];
    let statistics = Statistics::new()
        .min_value(b"a".to_vec())
        .max_value(b"b".to_vec());
    chunk.chunk.meta_data.as_mut().unwrap().statistics = Some(statistics);
    let (mut min, mut max) = (ByteArrays::new(), ByteArrays::new());
    for page in 0..PAGES {
        min.push(if page % 2 == 0 { b"" } else { b"a" });
        max.push(b"");
    }
    let places = (0..PAGES).map(|page| PageLocation::new(0, 1, page as i64));
    chunk.columns = Some(ColumnIndex::new(
        vec![false; PAGES],
        min,
        max,
        BoundaryOrder::Unordered,
    ));
    chunk.offsets = Some(OffsetIndex::new(places.collect()));
    parts.assemble()
}

/// Missing bounds take no memory, no matter how long the column's values are.
#[test]
fn bounds_that_are_missing_take_no_memory() {
    const MOST: usize = 8 << 20;
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let bytes = wide_without_bounds();
    let hostile = files::testdata().join("hostile/null_fixed_of_2g.parquet");
    let hostile = Bytes::from(std::fs::read(hostile).unwrap());
    for (name, bytes) in [("pages", bytes), ("row group", hostile)] {
        let file = ParquetFile::from_bytes(bytes).unwrap();
        let before = ALLOCATOR.current_usage();
        ALLOCATOR.reset_peak_usage();
        let bounds = file.row_group_bounds(0).unwrap();
        assert!(bounds.min.is_null(0) && bounds.max.is_null(0), "{name}");
        if let Some(bounds) = file.page_bounds(0, 0).unwrap() {
            assert_eq!((bounds.min.len(), bounds.min.null_count()), (4000, 4000));
        }
        let column = file.parquet_schema().path(0)[0].to_owned();
        let options = ReadOptions::new().filter(col(&column).is_not_null());
        let rows = file.read(options.threads(1)).unwrap();
        let rows: usize = rows.filter_map(Result::ok).map(|it| it.num_rows()).sum();
        assert_eq!(rows, 0, "{name}");
        let peak = ALLOCATOR.peak_usage() - before;
        assert!(peak < MOST, "{name}: {peak} bytes");
    }
}

//! Tests the memory of a read. If a read succeeds on one thread, then it succeeds on any number of threads and with the
//! push decoder, and returns the same batches. But a read may succeed on several threads and be refused on one.
//!
//! The minimum memory for one thread is a number in each case, which we measured once.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::filter::col;
use herringbone::format::{CompressionCodec, Encoding, Repetition, SchemaElement, Type};
use herringbone::schema::{ByteLayout, DictionaryOutput};
use herringbone::{
    ColumnOptions, Compression, ErrorKind, Limits, OnError, ParquetFile, ReadOptions,
    StatisticsLevel, VirtualColumn, WantedSchema, WriteOptions, Writer, ZstdLevel,
};
use herringbone_arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use herringbone_arrow::schema::{DataType, Field, Schema};
use herringbone_core::compression::compress;

use crate::crafted::{Chunk, Page, file, group, leaf};
use crate::push::{SUPPLIES, Supply, pushed, read};

type Outcome = Result<Vec<RecordBatch>, String>;

fn with_memory(options: &ReadOptions, bytes: u64) -> ReadOptions {
    let mut options = options.clone();
    options.limits.get_or_insert_default().memory_bytes = bytes;
    options
}

/// Reads a file on one thread.
fn inline(bytes: &Bytes, options: &ReadOptions) -> Outcome {
    read(bytes, &options.clone().threads(1))
}

fn refused(outcome: &Outcome) -> bool {
    let refusal = |error: &String| error.contains("`memory_bytes`");
    outcome.as_ref().err().is_some_and(refusal)
}

/// Returns the minimum memory with which one thread reads the file.
fn least_memory(bytes: &Bytes, options: &ReadOptions) -> u64 {
    let (mut too_little, mut enough) = (0, 1 << 30);
    while too_little + 1 < enough {
        let middle = (too_little + enough) / 2;
        match refused(&inline(bytes, &with_memory(options, middle))) {
            true => too_little = middle,
            false => enough = middle,
        }
    }
    enough
}

/// The divisor for the deviation that we accept from a minimum. A minimum depends on the sizes of structs and on ZSTD's
/// output.
const TOLERANCE: u64 = 32;

/// Checks that one thread needs about `least` bytes of memory to read the file.
fn needs_about(name: &str, bytes: &Bytes, options: &ReadOptions, least: u64) {
    let is_refused = |memory| refused(&inline(bytes, &with_memory(options, memory)));
    let margin = least / TOLERANCE;
    assert!(
        !is_refused(least + margin) && is_refused(least - margin),
        "{name}: one thread needs {} bytes, not about {least}",
        least_memory(bytes, options)
    );
}

/// Checks that one thread needs about `least` bytes of memory. Then compares all drivers with less and with more memory
/// than that.
fn agrees(name: &str, bytes: Vec<u8>, options: &ReadOptions, least: u64) {
    let bytes = Bytes::from(bytes);
    needs_about(name, &bytes, options, least);
    let (whole, margin) = (inline(&bytes, options), least / TOLERANCE);
    for memory in [least / 3, least - margin, least + margin, 2 * least] {
        agrees_with(name, &bytes, options, memory, &whole);
    }
}

/// Checks that one thread needs about `least` bytes of memory. Then compares all drivers in 40 steps of increasing
/// memory.
fn agrees_with_any(name: &str, bytes: Vec<u8>, options: &ReadOptions, least: u64) {
    const STEPS: u64 = 40;
    let bytes = Bytes::from(bytes);
    needs_about(name, &bytes, options, least);
    let whole = inline(&bytes, options);
    for step in 1..=STEPS {
        agrees_with(name, &bytes, options, 2 * least * step / STEPS, &whole);
    }
}

/// Checks that if one thread reads the file with `memory` bytes, every driver does, and returns the same batches as
/// with enough memory. If one thread is refused, each other driver may be refused, too.
fn agrees_with(name: &str, bytes: &Bytes, options: &ReadOptions, memory: u64, whole: &Outcome) {
    let options = with_memory(options, memory);
    let alone = inline(bytes, &options);
    let may_be_refused = refused(&alone);
    let check = |got: Outcome, how: String| {
        if !(may_be_refused && refused(&got)) {
            assert_eq!(&got, whole, "{name} with {memory}, {how}");
        }
    };
    check(alone, "one thread".to_owned());
    for threads in [2, 4] {
        let got = read(bytes, &options.clone().threads(threads));
        check(got, format!("{threads} threads"));
    }
    for how in SUPPLIES {
        check(pushed(bytes, &options, how), format!("{how:?}"));
    }
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    compress(Compression::Zstd(ZstdLevel::default()), bytes, &mut out).unwrap();
    out
}

/// Returns a ZSTD page of these plain bytes.
fn page(num_values: usize, plain: &[u8]) -> Page {
    Page::v1(num_values, &zstd(plain)).with_plain_size(plain.len())
}

fn dictionary(num_values: usize, plain: &[u8]) -> Page {
    Page::dictionary(num_values, &zstd(plain)).with_plain_size(plain.len())
}

/// Returns numbers that vary.
fn numbers(from: usize, n: usize) -> Vec<u8> {
    let numbers = (from..from + n).map(|i| (i as i64).wrapping_mul(0x9e37_79b9) >> 20);
    numbers.flat_map(i64::to_le_bytes).collect()
}

fn chunk(physical: Type, num_values: usize, pages: Vec<Page>) -> Chunk {
    Chunk {
        physical,
        codec: CompressionCodec::Zstd,
        num_values: num_values as u64,
        pages,
    }
}

fn schema(leaves: Vec<SchemaElement>) -> Vec<SchemaElement> {
    let mut schema = vec![group("schema", None, leaves.len())];
    schema.extend(leaves);
    schema
}

/// Returns a schema of required columns that have one physical type.
fn columns(n: usize, physical: Type) -> Vec<SchemaElement> {
    let column = |i| leaf(&format!("c{i}"), physical, Repetition::Required);
    schema((0..n).map(column).collect())
}

/// Returns a file whose pages grow, in two row groups. They are smaller in some columns than in others.
fn growing_pages() -> Vec<u8> {
    const ROWS: usize = 12_000;
    let group = || {
        let column = |column: usize| {
            let mut pages = Vec::new();
            let (mut from, mut rows) = (0, 100 + 40 * column);
            while from < ROWS {
                rows = (rows * 2).min(ROWS - from);
                pages.push(page(rows, &numbers(from, rows)));
                from += rows;
            }
            chunk(Type::Int64, ROWS, pages)
        };
        (ROWS as u64, (0..12).map(column).collect())
    };
    file(columns(12, Type::Int64), &[group(), group()])
}

#[test]
fn pages_that_grow() {
    let options = ReadOptions::new().batch_size(1000);
    agrees("growing pages", growing_pages(), &options, 760_828);
}

/// Returns columns that take turns: at each position, one column has a large page, and the others have small pages.
fn pages_large_in_turn(columns: usize, rows: usize) -> Vec<Chunk> {
    const SMALL: usize = 500;
    let column = |column: usize| {
        let (mut from, mut pages) = (0, Vec::new());
        while from < rows {
            let is_large = from / SMALL % (2 * columns) == 2 * column;
            let n = if is_large { 20 * SMALL } else { SMALL }.min(rows - from);
            pages.push(page(n, &numbers(from, n)));
            from += n;
        }
        chunk(Type::Int64, rows, pages)
    };
    (0..columns).map(column).collect()
}

#[test]
fn pages_that_are_large_in_turn() {
    const ROWS: usize = 30_000;
    let groups = [
        (ROWS as u64, pages_large_in_turn(5, ROWS)),
        (ROWS as u64, pages_large_in_turn(5, ROWS)),
    ];
    let bytes = file(columns(5, Type::Int64), &groups);
    for (batch_size, least) in [(300, 542_305), (5000, 733_245)] {
        let options = ReadOptions::new().batch_size(batch_size);
        agrees_with_any("large pages in turn", bytes.clone(), &options, least);
    }
}

/// Returns a page of numbers that do not compress, so that decompressing it takes twice its size.
fn noise(num_values: usize) -> Page {
    let noise = (0..num_values as u64).map(|i| {
        let mixed = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    });
    let plain: Vec<u8> = noise.flat_map(u64::to_le_bytes).collect();
    page(num_values, &plain)
}

/// Returns a page that compresses well.
fn repeated(num_values: usize) -> Page {
    page(num_values, &numbers(0, num_values / 16).repeat(16))
}

/// Damages a page's body so that its codec rejects it.
fn damaged(mut page: Page) -> Page {
    page.body[0] ^= 0x55;
    page
}

/// If a column waits for bytes, or has many small pages, it retains little memory while another column needs much
/// memory and finishes. If we read one column after the other, both would retain much memory at the same time.
#[test]
fn columns_that_are_large_at_different_times() {
    const ROWS: usize = 80_000;
    let options = ReadOptions::new().batch_size(12_000);
    let mut slow = vec![noise(2); 5_000];
    slow.extend([repeated(40_000), noise(30_000)]);
    let waiting = vec![noise(10_000), repeated(40_000), noise(30_000)];
    for (first, least) in [(slow, 1_717_596), (waiting, 1_797_759)] {
        for second in [noise(ROWS), damaged(noise(ROWS))] {
            let chunks = [first.clone(), vec![second]].map(|pages| chunk(Type::Int64, ROWS, pages));
            let bytes = file(columns(2, Type::Int64), &[(ROWS as u64, chunks.into())]);
            agrees_with_any("large at different times", bytes, &options, least);
        }
    }
}

/// Several threads test all rows of a row group before they read its other columns, but one thread does both batch by
/// batch.
#[test]
fn a_filtered_row_group() {
    const ROWS: usize = 80_000;
    let options = ReadOptions::new().batch_size(1000);
    for (wrong, tested, least) in [
        (None, "c0", [409_749, 586_956]),
        (None, "c3", [387_516, 587_994]),
        (Some(0), "c0", [409_749, 586_953]),
        (Some(2), "c0", [409_749, 586_955]),
    ] {
        let mut chunks = pages_large_in_turn(4, ROWS);
        if let Some(column) = wrong {
            let pages = &mut chunks[column].pages;
            let middle = pages.len() / 2;
            pages[middle] = damaged(pages[middle].clone());
        }
        let bytes = file(columns(4, Type::Int64), &[(ROWS as u64, chunks)]);
        // The filter selects three quarters of the rows.
        let filtered = options.clone().filter(col(tested).lt(150_000_000_i64));
        let name = format!("{tested} tested, {wrong:?} damaged");
        let some = filtered.clone().columns(["c1", "c2"]);
        for (options, least) in [some, filtered].iter().zip(least) {
            agrees_with_any(&name, bytes.clone(), options, least);
        }
    }
}

/// If a page header does not fit in the supplied bytes, we request it again, together with more of the following bytes.
#[test]
fn long_headers() {
    const ROWS: usize = 100;
    let pages = || {
        let lengths = [50, 5000, 300_000, 100, 40_000];
        let page = |length| page(ROWS, &numbers(length, ROWS)).with_long_header(length);
        lengths.map(page).into()
    };
    let chunks: Vec<_> = (0..3)
        .map(|_| chunk(Type::Int64, 5 * ROWS, pages()))
        .collect();
    let bytes = file(columns(3, Type::Int64), &[(5 * ROWS as u64, chunks)]);
    agrees("long headers", bytes, &ReadOptions::new(), 362_337);
}

/// Several threads decode a column in parts, next to a short column.
#[test]
fn a_column_in_parts() {
    const ROWS: usize = 400_000;
    let long = || {
        let mut pages = Vec::new();
        let mut from = 0;
        for rows in [5000, 50_000, 1000, 30_000].into_iter().cycle() {
            let rows = rows.min(ROWS - from);
            pages.push(Page::v1(rows, &numbers(from, rows)));
            from += rows;
            if from == ROWS {
                break;
            }
        }
        Chunk {
            codec: CompressionCodec::Uncompressed,
            ..chunk(Type::Int64, ROWS, pages)
        }
    };
    let zeros = || chunk(Type::Int64, ROWS, vec![page(ROWS, &vec![0; 8 * ROWS])]);
    let bytes = file(
        columns(2, Type::Int64),
        &[(ROWS as u64, vec![long(), zeros()])],
    );
    agrees("a column in parts", bytes, &ReadOptions::new(), 3_753_461);
}

/// Returns dictionary strings that are all short except one, and a page without dictionary indices.
fn strings() -> Vec<u8> {
    const ROWS: usize = 20_000;
    let prefixed = |value: &[u8]| [&(value.len() as u32).to_le_bytes(), value].concat();
    let column = |column: usize| {
        let entries = (0..200).map(|i| match i {
            199 => prefixed(&vec![b'x'; 1000 * (column + 1)]),
            _ => prefixed(format!("entry {i} of column {column}").as_bytes()),
        });
        let entries: Vec<u8> = entries.flatten().collect();
        // The page starts with the bit width of eight, and then has the number of groups of eight indices as a varint.
        let mut indices = vec![8];
        let groups = (ROWS / 8) << 1 | 1;
        indices.extend([groups as u8 | 0x80, (groups >> 7) as u8]);
        assert!(groups < 1 << 14);
        indices.extend((0..ROWS).map(|i| match i % 1000 {
            999 => 199,
            i => (i % 150) as u8,
        }));
        let plain: Vec<u8> = (0..ROWS)
            .flat_map(|i| prefixed(i.to_string().as_bytes()))
            .collect();
        let pages = vec![
            dictionary(200, &entries),
            page(ROWS, &indices).with_encoding(Encoding::RleDictionary),
            page(ROWS, &plain),
        ];
        chunk(Type::ByteArray, 2 * ROWS, pages)
    };
    let chunks = (0..5).map(column).collect();
    file(columns(5, Type::ByteArray), &[(2 * ROWS as u64, chunks)])
}

#[test]
fn strings_in_all_layouts() {
    for (layout, least) in [
        (ByteLayout::Offsets, 1_623_918),
        (ByteLayout::LargeOffsets, 1_786_175),
        (ByteLayout::Views, 2_741_020),
    ] {
        let mut options = ReadOptions::new();
        options.schema.strings = layout;
        let name = format!("strings as {layout:?}");
        agrees(&name, strings(), &options, least);
    }
    let mut options = ReadOptions::new();
    options.schema.dictionary = DictionaryOutput::Always;
    agrees("dictionaries", strings(), &options, 2_489_070);
}

/// Returns lists of no number, of one number and of several numbers.
fn lists() -> Vec<u8> {
    const ROWS: usize = 3000;
    let column = |column: usize| {
        let mut repetition = Vec::new();
        for row in 0..ROWS {
            repetition.push(0);
            repetition.extend(std::iter::repeat_n(1, row * (column + 3) % 5));
        }
        let n = repetition.len();
        // The levels are bit-packed with a width of one, the lowest bit first.
        let packed: Vec<u8> = repetition
            .chunks(8)
            .map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit))
            .collect();
        let header = packed.len() << 1 | 1;
        assert!(header < 1 << 21);
        let mut runs = vec![
            header as u8 | 0x80,
            (header >> 7) as u8 | 0x80,
            (header >> 14) as u8,
        ];
        runs.extend(packed);
        // All definition levels are 1, so one run is enough.
        let mut ones = vec![
            (n << 1) as u8 | 0x80,
            (n >> 6) as u8 | 0x80,
            (n >> 13) as u8,
        ];
        ones.push(1);
        let mut body = Vec::new();
        for levels in [runs, ones] {
            body.extend((levels.len() as u32).to_le_bytes());
            body.extend(levels);
        }
        body.extend(numbers(0, n));
        chunk(Type::Int64, n, vec![page(n, &body)])
    };
    let column_of = |i| leaf(&format!("c{i}"), Type::Int64, Repetition::Repeated);
    let schema = schema((0..60).map(column_of).collect());
    file(schema, &[(ROWS as u64, (0..60).map(column).collect())])
}

#[test]
fn lists_of_many_lengths() {
    let options = ReadOptions::new().batch_size(500);
    agrees("lists", lists(), &options, 5_147_654);
}

/// The row groups need more and more memory, and a filter selects their rows.
#[test]
fn filtered_row_groups() {
    let group = |group: usize| {
        let rows = 4000 + 2000 * group;
        let column = |column: usize| {
            let values = numbers(column, rows);
            chunk(Type::Int64, rows, vec![page(rows, &values)])
        };
        (rows as u64, (0..4).map(column).collect())
    };
    let groups: Vec<_> = (0..6).map(group).collect();
    let bytes = file(columns(4, Type::Int64), &groups);
    for (wanted, least) in [(0, 188_584), (1 << 41, 799_872), (i64::MAX, 799_872)] {
        let options = ReadOptions::new().filter(col("c1").lt(wanted));
        let name = format!("rows below {wanted}");
        agrees(&name, bytes.clone(), &options, least);
        agrees(&name, bytes.clone(), &options.offset(7_000), least);
    }
}

/// The arrays for a wanted schema's casts and defaults count as memory of the read. They need seven times the memory of
/// the file's columns.
#[test]
fn casts_and_defaults() {
    const ROWS: usize = 20_000;
    const PLAIN: u64 = 946_336;
    const CAST: u64 = 3_403_936;
    // The casts and defaults have 8192 rows of four values of 32 bytes, 64 bytes of nulls and 100 bytes of text.
    const { assert!(CAST - PLAIN >= 8192 * (4 * 32 + 64 + 100)) };
    let column = |column: usize| {
        let values = numbers(column, ROWS);
        chunk(Type::Int64, ROWS, vec![page(ROWS, &values)])
    };
    let group = || (ROWS as u64, (0..4).map(column).collect());
    let bytes = file(columns(4, Type::Int64), &[group(), group()]);
    let plain = ReadOptions::new();
    needs_about("no casts", &bytes.clone().into(), &plain, PLAIN);
    let field = |name: String, data_type| Field::new(name, data_type, true);
    let mut fields: Vec<_> = (0..4)
        .map(|column| field(format!("c{column}"), DataType::Decimal256(40, 2)))
        .collect();
    fields.push(field("missing".into(), DataType::FixedSizeBinary(64)));
    fields.push(field("known".into(), DataType::Utf8));
    let text: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(100)]));
    let wanted = WantedSchema::new(Arc::new(Schema::new(fields)));
    let wanted = wanted.default_value(["known"], text);
    let options = plain.wanted_schema(wanted);
    agrees("casts and defaults", bytes, &options, CAST);
}

/// A damaged page is only reported if there is enough memory to reach it.
#[test]
fn damage_and_a_small_budget() {
    const ROWS: usize = 20_000;
    for damaged in [0, 5, 9] {
        let column = |column: usize| {
            let half = ROWS / 2;
            let mut pages = vec![page(half, &numbers(0, half)), page(half, &numbers(1, half))];
            if column == damaged {
                pages[1].body[20] ^= 0x55;
            }
            chunk(Type::Int64, ROWS, pages)
        };
        let chunks = || (ROWS as u64, (0..10).map(column).collect());
        let bytes = file(columns(10, Type::Int64), &[chunks(), chunks()]);
        for on_error in [OnError::Fail, OnError::SkipRowGroup, OnError::NullPage] {
            let options = ReadOptions::new().batch_size(3000).on_error(on_error);
            if on_error == OnError::Fail {
                agrees("damage", bytes.clone(), &options, 1_166_240);
                continue;
            }
            let bytes = Bytes::from(bytes.clone());
            // The filter selects half of the rows in each page.
            let filtered = options.clone().filter(col("c1").lt(12_000_000));
            let memory = [200_000, 400_000, 800_000, 1_600_000, 1 << 30];
            for (options, memory) in [options, filtered]
                .iter()
                .flat_map(|it| memory.map(|memory| (it, memory)))
            {
                let options = with_memory(options, memory);
                let (expected, lost_by_refusal) = read_some(&bytes, &options);
                let check = |got: Vec<RecordBatch>, how: String| match lost_by_refusal {
                    false => assert_eq!(got, expected, "{memory} bytes, {how}"),
                    true => assert!(rows(&got) >= rows(&expected), "{memory} bytes, {how}"),
                };
                for threads in [2, 4] {
                    let got = read(&bytes, &options.clone().threads(threads)).unwrap();
                    check(got, format!("{threads} threads"));
                }
                for how in SUPPLIES {
                    let got = pushed(&bytes, &options, how).unwrap();
                    check(got, format!("{how:?}"));
                }
            }
        }
    }
}

/// Reads the undamaged rows on one thread. Returns true if some rows were lost because of the budget.
fn read_some(bytes: &Bytes, options: &ReadOptions) -> (Vec<RecordBatch>, bool) {
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let mut reader = file.read(options.clone().threads(1)).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().unwrap() {
        batches.push(batch);
    }
    let limits = reader
        .losses()
        .kept()
        .iter()
        .map(|loss| loss.error.limit_name());
    (batches, limits.flatten().any(|it| it == "memory_bytes"))
}

fn rows(batches: &[RecordBatch]) -> usize {
    batches.iter().map(RecordBatch::num_rows).sum()
}

/// The file has a thousand columns, and each could be read alone.
#[test]
fn many_columns_of_zeros() {
    const VALUES: usize = 1 << 18;
    let zeros = zstd(&vec![0; 8 * VALUES]);
    let column = |_| {
        let page = Page::v1(VALUES, &zeros).with_plain_size(8 * VALUES);
        chunk(Type::Int64, VALUES, vec![page])
    };
    let chunks = (0..1000).map(column).collect();
    let bytes = file(columns(1000, Type::Int64), &[(VALUES as u64, chunks)]);
    assert!(bytes.len() < 1 << 20, "{} bytes", bytes.len());
    let bytes = Bytes::from(bytes);
    let options = ReadOptions::new();
    assert_eq!(options.limits_or_default().memory_bytes, 1 << 30);
    let options = with_memory(&options, 64 << 20);
    for threads in [1, 2, 4] {
        let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
        let error = file
            .read(options.clone().threads(threads))
            .unwrap()
            .next_batch()
            .expect_err("too little memory");
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert_eq!(error.limit_name(), Some("memory_bytes"), "{error}");
        assert_eq!(error.location().row_group, Some(0), "{error}");
        // Each column needs 2 MiB for a page and 64 KiB for an array.
        assert_eq!(error.location().column.as_deref(), Some("c30"), "{error}");
    }
    // We can read some of the columns in all rows.
    let some = options.columns((0..20).map(|i| format!("c{i}")));
    assert_eq!(inline(&bytes, &some).unwrap().len(), VALUES / 8192);
}

/// Constants that the caller adds to each row count as memory, with or without file columns next to them.
#[test]
fn large_constants() {
    let rows = 10_000;
    let pages = vec![page(rows, &numbers(0, rows))];
    let chunks = vec![chunk(Type::Int64, rows, pages)];
    let bytes = Bytes::from(file(columns(1, Type::Int64), &[(rows as u64, chunks)]));
    let text = "constant ".repeat(10_000);
    let text: ArrayRef = Arc::new(StringArray::from(vec![text]));
    let options = ReadOptions::new().virtual_column(VirtualColumn::constant("k", text));
    let options = with_memory(&options, 64 << 20);
    let none = Vec::<String>::new();
    for options in [
        options.clone(),
        options.clone().columns(none.clone()),
        options.columns(none).filter(col("c0").is_not_null()),
    ] {
        for threads in [1, 2] {
            let options = options.clone().threads(threads);
            assert!(refused(&read(&bytes, &options)), "{options:?}");
            // A batch has 9 MB.
            let batches = read(&bytes, &options.batch_size(100)).unwrap();
            assert_eq!(batches.len(), 100);
        }
    }
}

/// We can read ordinary wide files with the default limits, and with much less memory.
#[test]
fn wide_files() {
    for (n, rows) in [(10_000, 14), (5000, 30)] {
        let values = numbers(0, rows);
        let column = |_| chunk(Type::Int64, rows, vec![page(rows, &values)]);
        let chunks = (0..n).map(column).collect();
        let bytes = Bytes::from(file(columns(n, Type::Int64), &[(rows as u64, chunks)]));
        let all = inline(&bytes, &ReadOptions::new()).unwrap();
        assert_eq!((all[0].num_rows(), all[0].num_columns()), (rows, n));
        let options = with_memory(&ReadOptions::new(), 4096 * n as u64);
        for threads in [1, 2] {
            let got = read(&bytes, &options.clone().threads(threads)).unwrap();
            assert_eq!(got, all);
        }
        assert_eq!(pushed(&bytes, &options, Supply::Coalesced).unwrap(), all);
    }
}

/// This file is as wide as any in practice, but each column has few bytes.
#[test]
fn a_hundred_thousand_columns() {
    const COLUMNS: usize = 100_000;
    let columns = (0..COLUMNS).map(|i| -> (String, ArrayRef) {
        let i = i as i32;
        (format!("c{i}"), Arc::new(Int32Array::from(vec![i, -i, 7])))
    });
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let plain = ColumnOptions::new()
        .dictionary(false)
        .statistics(StatisticsLevel::Counts)
        .compression(Compression::Uncompressed);
    let options = WriteOptions::new().columns(plain).page_index(false);
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let bytes = Bytes::from(bytes);
    let budget = Limits::default().memory_bytes;
    for (threads, memory) in [(1, budget), (2, 4096 * COLUMNS as u64)] {
        let options = with_memory(&ReadOptions::new(), memory);
        let got = read(&bytes, &options.threads(threads)).unwrap();
        assert!(got == [batch.clone()], "{threads} threads");
    }
}

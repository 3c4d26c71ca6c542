//! Tests small files that need much work. The work must stay in proportion to their bytes and to the values that they
//! declare. No test measures time, but quadratic work would take hours.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use herringbone::filter::col;
use herringbone::format::{CompressionCodec, Encoding, Repetition, Type};
use herringbone::source::{FetchPolicy, Source};
use herringbone::{
    BrotliLevel, Compression, Error, ErrorKind, GzipLevel, Limits, ParquetFile, ReadOptions,
    WriteOptions, Writer, ZstdLevel,
};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, ArrayRef, RecordBatch, StringArray};
use herringbone_arrow::schema::DataType;
use herringbone_core::compression::compress;
use herringbone_inspect::verify::{Finding, FindingKind};

use crate::crafted::{Chunk, Page, file, group, leaf, shared_file};
use crate::push::{SUPPLIES, pushed};
use crate::table::Table;

/// The number of plain bytes in a page that takes half a KiB.
const BOMB: usize = 16 << 20;

/// Bytes in memory that count the reads.
#[derive(Clone)]
struct Counting {
    bytes: Bytes,
    reads: Arc<AtomicU64>,
    bytes_read: Arc<AtomicU64>,
}

impl Counting {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes: bytes.into(),
            reads: Arc::default(),
            bytes_read: Arc::default(),
        }
    }

    fn read_all(&self) -> Result<Table, Error> {
        let file = ParquetFile::from_source(self.clone(), Limits::default())?;
        Table::read(file.read(ReadOptions::default().threads(1))?)
    }

    fn counts(&self) -> (u64, u64) {
        (
            self.reads.load(Ordering::Relaxed),
            self.bytes_read.load(Ordering::Relaxed),
        )
    }
}

impl Source for Counting {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, range: std::ops::Range<u64>) -> Result<Bytes, Error> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes_read
            .fetch_add(range.end - range.start, Ordering::Relaxed);
        self.bytes.read(range)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::local()
    }
}

fn root(children: usize) -> herringbone::format::SchemaElement {
    group("schema", None, children)
}

/// Returns four numbers in PLAIN.
fn four() -> Vec<u8> {
    (0..4_i32).flat_map(i32::to_le_bytes).collect()
}

fn int32(pages: Vec<Page>, codec: CompressionCodec) -> Chunk {
    Chunk {
        physical: Type::Int32,
        codec,
        num_values: 4,
        pages,
    }
}

fn required() -> Vec<herringbone::format::SchemaElement> {
    vec![root(1), leaf("x", Type::Int32, Repetition::Required)]
}

const FOUR: [&str; 4] = ["0", "1", "2", "3"];

#[test]
fn a_long_page_header_is_not_read_again_for_each_byte() {
    for length in [70_000, 300_000, 3_000_000] {
        let page = Page::v1(4, &four()).with_long_header(length);
        let chunk = int32(vec![page], CompressionCodec::Uncompressed);
        let source = Counting::new(file(required(), &[(4, vec![chunk])]));
        assert_eq!(source.read_all().unwrap().columns[0], FOUR);
        let (reads, bytes) = source.counts();
        assert!(reads < 12, "{reads} reads");
        assert!(
            bytes < 4 * source.len(),
            "{bytes} bytes of {}",
            source.len()
        );
    }
}

#[test]
fn many_pages_without_values() {
    let mut pages: Vec<_> = (0..50_000).map(|_| Page::v1(0, b"")).collect();
    pages.push(Page::v1(4, &four()));
    let chunk = int32(pages, CompressionCodec::Uncompressed);
    let source = Counting::new(file(required(), &[(4, vec![chunk])]));
    assert_eq!(source.read_all().unwrap().columns[0], FOUR);
    let (_, bytes) = source.counts();
    assert!(
        bytes < 3 * source.len(),
        "{bytes} bytes of {}",
        source.len()
    );
}

#[test]
fn many_row_groups_without_rows() {
    let empty = || {
        let mut chunk = int32(Vec::new(), CompressionCodec::Uncompressed);
        chunk.num_values = 0;
        (0, vec![chunk])
    };
    let mut groups: Vec<_> = (0..50_000).map(|_| empty()).collect();
    let chunk = int32(vec![Page::v1(4, &four())], CompressionCodec::Uncompressed);
    groups.push((4, vec![chunk]));
    let source = Counting::new(file(required(), &groups));
    assert_eq!(source.read_all().unwrap().columns[0], FOUR);
    let (reads, _) = source.counts();
    assert!(reads < 12, "{reads} reads");
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    compress(Compression::Zstd(ZstdLevel::default()), bytes, &mut out).unwrap();
    out
}

/// Each page has 16 MiB of zeros in half a KiB. We do not decompress pages that no value needs.
#[test]
fn bombs_in_pages_that_nobody_needs() {
    let bomb = zstd(&vec![0; BOMB]);
    let good = || Page::v1(4, &zstd(&four())).with_plain_size(16);
    let dictionary = || Page::dictionary(1 << 22, &bomb).with_plain_size(BOMB);
    let mut pages: Vec<_> = (0..2000).map(|_| dictionary()).collect();
    pages.push(good());
    let chunk = int32(pages, CompressionCodec::Zstd);
    let error = Counting::new(file(required(), &[(4, vec![chunk])]))
        .read_all()
        .expect_err("a chunk has one dictionary");
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(error.location().page, Some(1), "{error}");

    // The pages have no values, first in a flat column, and then in a list.
    let empty = || Page::v1(0, &bomb).with_plain_size(BOMB);
    let mut pages: Vec<_> = (0..2000).map(|_| empty()).collect();
    pages.push(good());
    let chunk = int32(pages, CompressionCodec::Zstd);
    let source = Counting::new(file(required(), &[(4, vec![chunk])]));
    assert_eq!(source.read_all().unwrap().columns[0], FOUR);
    let mut pages: Vec<_> = (0..2000).map(|_| empty()).collect();
    // The levels have their byte lengths and runs of four, with the repetition levels 0 and the definition levels 1.
    let levels = [&[2, 0, 0, 0, 8, 0][..], &[2, 0, 0, 0, 8, 1], &four()].concat();
    pages.push(Page::v1(4, &zstd(&levels)).with_plain_size(levels.len()));
    let schema = vec![root(1), leaf("x", Type::Int32, Repetition::Repeated)];
    let source = Counting::new(file(
        schema,
        &[(4, vec![int32(pages, CompressionCodec::Zstd)])],
    ));
    let table = source.read_all().unwrap();
    assert_eq!(table.columns[0], ["[0]", "[1]", "[2]", "[3]"]);
}

/// The page has 2^28 nulls in thirty bytes, but we only build the requested number of nulls.
#[test]
fn a_page_of_many_nulls() {
    let rows = 1 << 28;
    // There is a run of 2^28 as a varint, and then the level 0.
    let levels = [0x80, 0x80, 0x80, 0x80, 0x02, 0];
    let chunk = Chunk {
        physical: Type::Boolean,
        codec: CompressionCodec::Uncompressed,
        num_values: rows,
        pages: vec![Page::v2(1 << 28, Encoding::Plain, &levels, &[])],
    };
    let schema = vec![root(1), leaf("x", Type::Boolean, Repetition::Optional)];
    let bytes = file(schema, &[(rows, vec![chunk])]);
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let options = ReadOptions::default().threads(1).batch_size(1 << 24);
    let mut nulls = 0;
    for batch in file.read(options.clone()).unwrap() {
        nulls += batch.unwrap().column(0).null_count() as u64;
    }
    assert_eq!(nulls, rows);
    let last = options.offset(rows - 3);
    let table = Table::read(file.read(last).unwrap()).unwrap();
    assert_eq!(table.columns[0], ["null"; 3]);
}

/// A chain of nested groups is an error, and not a stack overflow.
#[test]
fn a_schema_of_100_000_levels() {
    for repetition in [
        Repetition::Required,
        Repetition::Optional,
        Repetition::Repeated,
    ] {
        let mut schema = vec![root(1)];
        schema.extend((0..100_000).map(|_| group("g", Some(repetition), 1)));
        schema.push(leaf("x", Type::Int32, Repetition::Required));
        let error = Counting::new(file(schema, &[]))
            .read_all()
            .expect_err("too deep");
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert!(error.message().contains("schema_depth"), "{error}");
    }
}

/// A batch of null slots with 64 KiB each ends when it has enough bytes, even if no byte of the page was consumed.
#[test]
fn nulls_count_as_bytes_of_a_batch() {
    let mut wide = leaf("x", Type::FixedLenByteArray, Repetition::Optional);
    wide.type_length = Some(64 << 10);
    let rows = 5000;
    // There is a run of 5000 zeros.
    let body = [3, 0, 0, 0, 0x90, 0x4e, 0];
    let chunk = Chunk {
        physical: Type::FixedLenByteArray,
        codec: CompressionCodec::Uncompressed,
        num_values: rows,
        pages: vec![Page::v1(5000, &body)],
    };
    let bytes = file(vec![root(1), wide], &[(rows, vec![chunk])]);
    let mut options = ReadOptions::default().threads(1).limit(100);
    options.batch_bytes = 1 << 20;
    let reader = ParquetFile::from_bytes(bytes)
        .unwrap()
        .read(options)
        .unwrap();
    let sizes: Vec<_> = reader.map(|batch| batch.unwrap().num_rows()).collect();
    assert_eq!(sizes, [16, 16, 16, 16, 16, 16, 4]);
}

/// There are 16 MiB in half a KiB, again and again, for a few values each. One such page is allowed, but not many. For
/// every driver, the granted bytes and the chunk's bytes bound the work.
#[test]
fn many_bombs_with_few_values_each() {
    const VALUES: usize = 100;
    const PAGES: usize = 1500;
    // The page has one long value of zeros, and empty values.
    let mut plain = vec![0; BOMB];
    plain[..4].copy_from_slice(&(BOMB as u32 - 4 * VALUES as u32).to_le_bytes());
    let bomb = zstd(&plain);
    let chunk = Chunk {
        physical: Type::ByteArray,
        codec: CompressionCodec::Zstd,
        num_values: (PAGES * VALUES) as u64,
        pages: (0..PAGES)
            .map(|_| Page::v1(VALUES, &bomb).with_plain_size(BOMB))
            .collect(),
    };
    let rows = chunk.num_values;
    let schema = vec![root(1), leaf("x", Type::ByteArray, Repetition::Required)];
    let bytes = Bytes::from(file(schema, &[(rows, vec![chunk])]));
    let mut options = ReadOptions::default();
    options.limits.get_or_insert_default().memory_bytes = 64 << 20;
    options.batch_bytes = 1 << 20;
    // These are twice 256 bytes, and eight bytes for the level, for each value.
    let accounted = bomb.len() * options.limits_or_default().decompression_ratio + VALUES * 520;
    let page = (64 << 20) / (BOMB - accounted);
    let mut errors = Vec::new();
    for threads in [1, 2, 4] {
        let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
        let error = Table::read(file.read(options.clone().threads(threads)).unwrap())
            .expect_err("too much work");
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert_eq!(error.limit_name(), Some("decompression_ratio"), "{error}");
        assert_eq!(error.location().page, Some(page), "{error}");
        errors.push(error.to_string());
    }
    errors.push(pushed(&bytes, &options, SUPPLIES[0]).unwrap_err());
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    let mut limits = Limits::default();
    limits.memory_bytes = options.limits_or_default().memory_bytes;
    let file = ParquetFile::from_source(bytes.clone(), limits).unwrap();
    let found: Vec<_> = herringbone_inspect::verify(&file)
        .map(Result::unwrap)
        .collect();
    let place = |it: &Finding| it.kind == FindingKind::NotChecked && it.location.page == Some(page);
    assert!(found.iter().any(place), "{found:?}");
    // A higher ratio grants more bytes.
    options.limits.get_or_insert_default().decompression_ratio = 1 << 16;
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let table = Table::read(file.read(options.limit(250)).unwrap()).unwrap();
    let is_long = |value: &String| value.len() >= BOMB / 2;
    let long: Vec<_> = table.columns[0].iter().map(is_long).collect();
    assert_eq!(
        long,
        (0..250).map(|row| row % VALUES == 0).collect::<Vec<_>>()
    );
}

/// We do not refuse single pages for a high compression ratio. Examples are a value of 40 MB of zeros, as this library
/// writes it, and a page that repeats one text.
#[test]
fn pages_that_compress_very_well() {
    const LONG: usize = 40_000_000;
    let zeros = "0".repeat(LONG);
    let values = StringArray::from(vec![zeros.as_str(), "short", zeros.as_str()]);
    let batch = RecordBatch::try_from_iter([("x", Arc::new(values) as ArrayRef)]).unwrap();
    let options = WriteOptions::default();
    let mut long = Vec::new();
    let mut writer = Writer::new(&mut long, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    assert!(LONG > 9000 * long.len() / 2, "{} bytes", long.len());

    let text = "a text that is told again and again. ".repeat(500);
    let value = [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let count = LONG / value.len();
    let plain = value.repeat(count);
    let body = zstd(&plain);
    assert!(plain.len() > 9000 * body.len(), "{} bytes", body.len());
    let page = Page::v1(count, &body).with_plain_size(plain.len());
    let chunk = Chunk {
        physical: Type::ByteArray,
        codec: CompressionCodec::Zstd,
        num_values: count as u64,
        pages: vec![page],
    };
    let schema = vec![root(1), leaf("x", Type::ByteArray, Repetition::Required)];
    let repeated = file(schema, &[(count as u64, vec![chunk])]);

    let lengths = |batches: Vec<RecordBatch>| -> Vec<usize> {
        let columns = batches.iter().map(|batch| lengths(batch.column(0)));
        columns.collect::<Vec<_>>().concat()
    };
    for (bytes, expected) in [
        (Bytes::from(long), vec![LONG, 5, LONG]),
        (Bytes::from(repeated), vec![text.len(); count]),
    ] {
        for threads in [1, 2] {
            let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
            let reader = file.read(ReadOptions::default().threads(threads)).unwrap();
            assert_eq!(lengths(reader.map(Result::unwrap).collect()), expected);
        }
        let batches = pushed(&bytes, &ReadOptions::default(), SUPPLIES[0]).unwrap();
        assert_eq!(lengths(batches), expected);
        let file = ParquetFile::from_bytes(bytes).unwrap();
        let found = herringbone_inspect::verify(&file).map(Result::unwrap);
        let unchecked = |it: &Finding| it.kind == FindingKind::NotChecked;
        assert_eq!(found.filter(unchecked).count(), 0);
    }
}

/// Returns the byte count of each string or binary value.
fn lengths(array: &ArrayRef) -> Vec<usize> {
    let offsets = match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().offsets(),
        _ => array.as_binary::<i32>().offsets(),
    };
    offsets.lengths().collect()
}

/// If a page announces more bytes than it can contain, we detect this before we allocate memory for it.
#[test]
fn pages_that_announce_more_than_they_hold() {
    let announced = 1 << 29;
    let plain = vec![7; 1 << 20];
    for (codec, level) in [
        (CompressionCodec::Snappy, Compression::Snappy),
        (
            CompressionCodec::Gzip,
            Compression::Gzip(GzipLevel::default()),
        ),
        (
            CompressionCodec::Brotli,
            Compression::Brotli(BrotliLevel::default()),
        ),
        (
            CompressionCodec::Zstd,
            Compression::Zstd(ZstdLevel::default()),
        ),
        (CompressionCodec::Lz4Raw, Compression::Lz4Raw),
    ] {
        let mut body = Vec::new();
        compress(level, &plain, &mut body).unwrap();
        let page = Page::v1(4, &body).with_plain_size(announced);
        let bytes = file(required(), &[(4, vec![int32(vec![page], codec)])]);
        let error = Counting::new(bytes).read_all().expect_err("a lie");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{codec}: {error}");
        let message = format!("cannot expand to the {announced} uncompressed bytes");
        assert!(error.message().contains(&message), "{codec}: {error}");
    }
}

/// Bytes for which values account are never too many, no matter how well they compress.
#[test]
fn long_runs_of_zeros_are_no_bombs() {
    const VALUES: usize = 1 << 17;
    let zeros = zstd(&vec![0; 4 * VALUES]);
    let page = |_| Page::v1(VALUES, &zeros).with_plain_size(4 * VALUES);
    let pages = 100;
    let chunk = Chunk {
        physical: Type::Int32,
        codec: CompressionCodec::Zstd,
        num_values: (pages * VALUES) as u64,
        pages: (0..pages).map(page).collect(),
    };
    let rows = chunk.num_values;
    let bytes = file(required(), &[(rows, vec![chunk])]);
    // These are more than the granted bytes, and more than the default ratio allows for the bytes in the file.
    assert!(4 * pages * VALUES > BOMB + 4096 * bytes.len());
    let mut options = ReadOptions::default().threads(1).batch_size(VALUES);
    options.limits.get_or_insert_default().memory_bytes = BOMB as u64;
    let reader = ParquetFile::from_bytes(bytes)
        .unwrap()
        .read(options)
        .unwrap();
    let read: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(read as u64, rows);
}

/// The chunks of a thousand columns, or of a thousand row groups, are the same bytes.
#[test]
fn chunks_over_each_other() {
    let values: Vec<u8> = (0..20_000_i32).flat_map(i32::to_le_bytes).collect();
    let chunk = || Chunk {
        physical: Type::Int32,
        codec: CompressionCodec::Uncompressed,
        num_values: 20_000,
        pages: vec![Page::v1(20_000, &values)],
    };
    let columns = |n: usize| {
        let mut schema = vec![root(n)];
        schema.extend((0..n).map(|i| leaf(&format!("c{i}"), Type::Int32, Repetition::Required)));
        schema
    };
    let group = |n: usize| (20_000, (0..n).map(|_| chunk()).collect());
    let wide = shared_file(columns(1000), &[group(1000)]);
    let long = shared_file(columns(1), &(0..1000).map(|_| group(1)).collect::<Vec<_>>());
    for (bytes, row_group) in [(&wide, Some(0)), (&long, None)] {
        assert!(bytes.len() < 200_000, "{} bytes", bytes.len());
        let mut errors = Vec::new();
        for (threads, is_filtered) in [(1, false), (2, false), (4, false), (1, true), (4, true)] {
            let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
            let mut options = ReadOptions::default().threads(threads);
            if is_filtered {
                options = options.filter(col("c0").ge(0));
            }
            let error = Table::read(file.read(options).unwrap()).expect_err("too much work");
            assert_eq!(error.limit_name(), Some("overlap_ratio"), "{error}");
            assert!(
                row_group.is_none_or(|row_group| error.location().row_group == Some(row_group))
            );
            errors.push(error.to_string());
        }
        assert_eq!(errors[0], errors[1]);
        assert_eq!(errors[0], errors[2]);
        // A filter reads its column in addition, so it may reach the limit earlier.
        assert_eq!(errors[3], errors[4]);
    }
    // You may read the same row group several times on request, or read some of the columns.
    let file = ParquetFile::from_bytes(long).unwrap();
    let again = ReadOptions::default().row_groups(vec![0; 100]);
    assert_eq!(
        Table::read(file.read(again).unwrap()).unwrap().rows,
        2_000_000
    );
    let file = ParquetFile::from_bytes(wide).unwrap();
    let some = ReadOptions::default().columns(["c1", "c999"]);
    assert_eq!(Table::read(file.read(some).unwrap()).unwrap().rows, 20_000);
}

#[test]
fn a_schema_of_very_many_nodes() {
    let columns = |n: usize| {
        let mut schema = vec![root(n)];
        schema.extend((0..n).map(|i| leaf(&i.to_string(), Type::Int32, Repetition::Optional)));
        file(schema, &[])
    };
    let wide = ParquetFile::from_bytes(columns(100_000)).unwrap();
    assert_eq!(wide.parquet_schema().leaves().len(), 100_000);
    let error = ParquetFile::from_bytes(columns(300_000)).err().unwrap();
    assert_eq!(error.limit_name(), Some("schema_nodes"), "{error}");
}

/// The text has 8 MiB, and the patterns have 1 to 4 MiB. If we compared each position anew, a pattern would take 2^40
/// comparisons.
#[test]
fn like_with_many_wildcards_and_long_pieces() {
    let text = StringArray::from(vec!["a".repeat(8 << 20), "a".repeat(9) + "b"]);
    let batch = RecordBatch::try_from_iter([("x", Arc::new(text) as ArrayRef)]).unwrap();
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), WriteOptions::default()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let file = ParquetFile::from_bytes(bytes).unwrap();
    for (pattern, rows) in [
        (format!("%{}b%", "a".repeat(4 << 20)), 0),
        (format!("%{}b", "_".repeat(4 << 20)), 0),
        (format!("{}%b%", "a%".repeat(1 << 18)), 0),
        (format!("{}%", "%a".repeat(1 << 18)), 1),
        ("%a%a%a%a%b".to_owned(), 1),
    ] {
        let options = ReadOptions::default().filter(col("x").like(pattern));
        let reader = file.read(options).unwrap();
        assert_eq!(
            reader
                .map(|reader| reader.unwrap().num_rows())
                .sum::<usize>(),
            rows
        );
    }
}

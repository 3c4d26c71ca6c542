//! Small files that ask for much work: it stays in proportion to their bytes and to the values that
//! they declare. Nothing here looks at a clock; what is quadratic takes hours.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use herringbone::core::compression::{Compression, ZstdLevel, compress};
use herringbone::format::{CompressionCodec, Encoding, Repetition, Type};
use herringbone::source::Source;
use herringbone::{Error, ErrorKind, Limits, ParquetFile, ReadOptions};

use crate::crafted::{Chunk, Page, file, group, leaf, shared_file};
use crate::table::Table;

/// Bytes in memory that count what is read of them.
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
}

fn root(children: usize) -> herringbone::format::SchemaElement {
    group("schema", None, children)
}

/// Four numbers, PLAIN.
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

/// 16 MiB of zeros in half a KiB, in page after page: what no value needs is not decompressed.
#[test]
fn bombs_in_pages_that_nobody_needs() {
    let bomb = zstd(&vec![0; Limits::DECOMPRESSION_FLOOR]);
    let good = || Page::v1(4, &zstd(&four())).with_plain_size(16);
    let dictionary =
        || Page::dictionary(1 << 22, &bomb).with_plain_size(Limits::DECOMPRESSION_FLOOR);
    let mut pages: Vec<_> = (0..2000).map(|_| dictionary()).collect();
    pages.push(good());
    let chunk = int32(pages, CompressionCodec::Zstd);
    let error = Counting::new(file(required(), &[(4, vec![chunk])]))
        .read_all()
        .expect_err("a chunk has one dictionary");
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert_eq!(error.location().page, Some(1), "{error}");

    // Pages without values, flat and in a list.
    let empty = || Page::v1(0, &bomb).with_plain_size(Limits::DECOMPRESSION_FLOOR);
    let mut pages: Vec<_> = (0..2000).map(|_| empty()).collect();
    pages.push(good());
    let chunk = int32(pages, CompressionCodec::Zstd);
    let source = Counting::new(file(required(), &[(4, vec![chunk])]));
    assert_eq!(source.read_all().unwrap().columns[0], FOUR);
    let mut pages: Vec<_> = (0..2000).map(|_| empty()).collect();
    // Lengths of levels and runs of four: repetition levels 0, definition levels 1.
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

/// 2^28 nulls in thirty bytes: as many as are asked for come, and no others are made.
#[test]
fn a_page_of_many_nulls() {
    let rows = 1 << 28;
    // A run of 2^28 as a varint, the level 0.
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

/// A chain of groups, each in the one before: an error, not a stack overflow.
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

/// A batch of null slots of 64 KiB ends where its bytes are enough, though no byte of the page was
/// used up.
#[test]
fn nulls_count_as_bytes_of_a_batch() {
    let mut wide = leaf("x", Type::FixedLenByteArray, Repetition::Optional);
    wide.type_length = Some(64 << 10);
    let rows = 5000;
    // A run of 5000 zeros.
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

/// 16 MiB in half a KiB, again and again, for one value each: one such page may be, not many.
#[test]
fn many_bombs_with_a_value_each() {
    let bomb = zstd(&vec![0; Limits::DECOMPRESSION_FLOOR]);
    let pages = || {
        let page = |_| Page::v1(1, &bomb).with_plain_size(Limits::DECOMPRESSION_FLOOR);
        (0..2000).map(page).collect()
    };
    let chunk = || Chunk {
        physical: Type::Int32,
        codec: CompressionCodec::Zstd,
        num_values: 2000,
        pages: pages(),
    };
    let bytes = file(required(), &[(2000, vec![chunk()])]);
    let error = Counting::new(bytes.clone())
        .read_all()
        .expect_err("too much work");
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert_eq!(error.limit_name(), Some("decompression_ratio"), "{error}");
    assert_eq!(error.location().page, Some(1), "{error}");
    // Two of them are three times as much as a higher ratio grants.
    let mut options = ReadOptions::default().threads(1).limit(3);
    options.limits.decompression_ratio = 1 << 16;
    let table = Table::read(
        ParquetFile::from_bytes(bytes)
            .unwrap()
            .read(options)
            .unwrap(),
    );
    assert_eq!(table.unwrap().columns[0], ["0"; 3]);
}

/// What values account for is never too much, however well it compresses.
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
    // More than 16 MiB, and than the usual ratio of what they take in the file.
    assert!(4 * pages * VALUES > Limits::DECOMPRESSION_FLOOR + 4096 * bytes.len());
    let options = ReadOptions::default().threads(1).batch_size(VALUES);
    let reader = ParquetFile::from_bytes(bytes)
        .unwrap()
        .read(options)
        .unwrap();
    let read: usize = reader.map(|batch| batch.unwrap().num_rows()).sum();
    assert_eq!(read as u64, rows);
}

/// A thousand columns, or row groups, whose chunks are the same bytes.
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
        for threads in [1, 2, 4] {
            let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
            let options = ReadOptions::default().threads(threads);
            let error = Table::read(file.read(options).unwrap()).expect_err("too much work");
            assert_eq!(error.limit_name(), Some("overlap_ratio"), "{error}");
            assert!(row_group.is_none_or(|it| error.location().row_group == Some(it)));
            errors.push(error.to_string());
        }
        assert_eq!(errors[0], errors[1]);
        assert_eq!(errors[0], errors[2]);
    }
    // The same row group, on request, is another matter; and so are some of the columns.
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

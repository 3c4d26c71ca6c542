//! Tests column chunks that several threads decode in parts. The batches and errors must be those that one thread
//! returns.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use herringbone::format::thrift::CompactWriter;
use herringbone::format::{CompressionCodec, Encoding, OffsetIndex, Repetition, Type};
use herringbone::{
    ColumnOptions, Compression, DataPageVersion, OnError, ParquetFile, ReadOptions, WriteOptions,
    Writer,
};
use herringbone_arrow::array::types::Int64Type;
use herringbone_arrow::array::{ArrayRef, ListArray, RecordBatch, StructArray};
use herringbone_arrow::schema::{DataType, Field, Fields, Schema};

use crate::batches::{Nulls, Shape, flat, list, pair};
use crate::crafted::{self, Chunk, Page, group, leaf};
use crate::push::read;
use crate::random::{Random, cases as times};

/// The number of rows, which is large enough for parts of a megabyte. No batch ends at a page boundary.
const ROWS: usize = 700_001;

/// The number of rows with lists, for which the same is true as for [`ROWS`].
const LISTS: usize = 300_001;

fn write(array: ArrayRef, options: WriteOptions) -> (RecordBatch, Bytes) {
    let field = Field::new("a", array.data_type().clone(), true);
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![array]).unwrap();
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, schema, options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    (batch, file.into())
}

fn options() -> WriteOptions {
    let columns = ColumnOptions::new().page_bytes(100_000).page_rows(9_999);
    WriteOptions::new()
        .columns(columns)
        .row_group_rows(500_000)
        .compression(Compression::Snappy)
}

/// The written batches and their files, for columns that have one level per row.
static FLAT: LazyLock<Vec<(RecordBatch, Bytes)>> = LazyLock::new(|| {
    let mut random = Random(11);
    let mut cases = Vec::new();
    for (data_type, nulls, shape) in [
        (DataType::Int64, Nulls::Sparse, Shape::Random),
        (DataType::Int64, Nulls::Required, Shape::Sorted),
        (DataType::Float64, Nulls::Runs, Shape::Few),
        (DataType::Utf8, Nulls::Sparse, Shape::Random),
        (DataType::Utf8, Nulls::None, Shape::Few),
    ] {
        let array = flat(&mut random, &data_type, nulls, shape, ROWS);
        cases.push(write(array, options()));
    }
    let fields = Fields::from(vec![Field::new("b", DataType::Int64, true)]);
    let values = numbers(&mut random, ROWS);
    let nulls = crate::batches::validity(&mut random, Nulls::Runs, ROWS);
    cases.push(write(
        Arc::new(StructArray::new(fields, vec![values], nulls)),
        options(),
    ));
    cases
});

fn numbers(random: &mut Random, n: usize) -> ArrayRef {
    flat(random, &DataType::Int64, Nulls::Sparse, Shape::Random, n)
}

/// The number of arrays of lists.
const LIST_CASES: usize = 4;

/// Each array of lists, in pages of version 1 with an offset index, of version 1 without one, and of version 2 without
/// one.
static NESTED: LazyLock<Vec<(RecordBatch, Bytes)>> = LazyLock::new(|| {
    let random = &mut Random(3);
    // The pages have fewer rows than a batch.
    let row = |row: i64| Some((0..200).map(move |i| (i % 7 > 0).then_some(row * i)));
    let long = ListArray::from_iter_primitive::<Int64Type, _, _>((0..6_001).map(row));
    let arrays: [ArrayRef; LIST_CASES] = [
        list(random, Nulls::Runs, LISTS, &mut { numbers }),
        list(random, Nulls::Sparse, LISTS, &mut |random, n| {
            list(random, Nulls::Sparse, n, &mut { numbers })
        }),
        list(random, Nulls::Required, LISTS, &mut |random, n| {
            pair(random, Nulls::Sparse, n)
        }),
        Arc::new(long),
    ];
    let v1 = options().page_index(false);
    let v2 = v1.clone().data_page_version(DataPageVersion::V2);
    let options = [options(), v1, v2].into_iter();
    let cases = options.flat_map(|options| {
        let arrays = arrays.iter().cloned();
        arrays.map(move |array| write(array, options.clone()))
    });
    cases.collect()
});

fn cases() -> impl Iterator<Item = &'static (RecordBatch, Bytes)> {
    FLAT.iter().chain(NESTED.iter())
}

#[test]
fn parts_give_the_batches_of_the_whole() {
    for (written, file) in cases() {
        let name = written.schema().field(0).data_type().clone();
        for (batch_size, threads) in [(1000, 5), (8192, 2)] {
            let options = ReadOptions::new().batch_size(batch_size);
            let expected = read(file, &options.clone().threads(1)).unwrap();
            let mut row = 0;
            for batch in &expected {
                assert_eq!(*batch, written.slice(row, batch.num_rows()), "{name}");
                row += batch.num_rows();
            }
            assert_eq!(row, written.num_rows());
            let batches = read(file, &options.threads(threads)).unwrap();
            assert!(batches == expected, "{name} on {threads} threads");
        }
    }
}

#[test]
fn a_selection_is_read_as_a_whole() {
    let (written, file) = &FLAT[0];
    // The offsets are inside the first part and after it.
    for offset in [12_345, 99_999, 200_001, 300_000] {
        let options = ReadOptions::new().offset(offset).limit(400_000);
        for threads in [1, 2, 3] {
            let batches = read(file, &options.clone().threads(threads)).unwrap();
            let mut row = offset as usize;
            for batch in batches {
                assert_eq!(batch, written.slice(row, batch.num_rows()));
                row += batch.num_rows();
            }
            assert_eq!(row, offset as usize + 400_000);
        }
    }
}

#[test]
fn damaged_parts_give_the_errors_of_the_whole() {
    const ON_ERROR: [OnError; 3] = [OnError::Fail, OnError::SkipRowGroup, OnError::NullPage];
    let mut random = Random(5);
    let mut errors = 0;
    for (_, file) in cases() {
        let footer = file.len() - 300;
        for round in 0..times(3) {
            let mut damaged = file.to_vec();
            for _ in 0..=round % 3 {
                let at = random.below(footer);
                damaged[at] ^= 1 << random.below(8);
            }
            let damaged = Bytes::from(damaged);
            let on_error = ON_ERROR[random.below(3)];
            let options = ReadOptions::new()
                .on_error(on_error)
                .verify_crc(round % 2 == 0);
            let expected = read(&damaged, &options.clone().threads(1));
            errors += usize::from(expected.is_err());
            let got = read(&damaged, &options.clone().threads(3));
            assert!(
                got == expected,
                "{:?} is not {:?}",
                got.err(),
                expected.err()
            );
        }
    }
    assert!(errors > 10, "{errors}");
}

/// Encodes a replacement over existing bytes, which must have the same length.
fn replace(file: &mut [u8], at: usize, length: usize, encode: impl FnOnce(&mut CompactWriter)) {
    let mut writer = CompactWriter::new();
    encode(&mut writer);
    let bytes = writer.finish();
    assert_eq!(bytes.len(), length);
    file[at..at + length].copy_from_slice(&bytes);
}

/// Returns the first row of a page in the last third of the first row group. It is taken from the offset index if there
/// is one.
fn late_page(file: &Bytes) -> usize {
    let file = ParquetFile::from_bytes(file.clone()).unwrap();
    let index = file.offset_index(0, 0).unwrap();
    let rows = index.map(|index| {
        let late = index.page_locations.len() * 3 / 20 * 5 + 2;
        index.page_locations[late].first_row_index as usize
    });
    rows.unwrap_or(3000)
}

/// Returns the file with offset indexes that assign some pages `by` rows more than they have.
fn with_wrong_index(file: &Bytes, by: i64) -> Bytes {
    let parquet = ParquetFile::from_bytes(file.clone()).unwrap();
    let mut wrong = file.to_vec();
    for row_group in 0..parquet.metadata().num_row_groups() {
        let chunk = parquet.metadata().column_chunk(row_group, 0).unwrap();
        let at = usize::try_from(chunk.offset_index_offset.unwrap()).unwrap();
        let length = usize::try_from(chunk.offset_index_length.unwrap()).unwrap();
        let limits = Default::default();
        let mut index = OffsetIndex::decode(&file[at..at + length], &limits).unwrap();
        for location in index.page_locations.iter_mut().skip(7).step_by(5) {
            location.first_row_index += by;
        }
        replace(&mut wrong, at, length, |writer| index.encode(writer));
    }
    wrong.into()
}

/// Returns the file with page headers of version 2 that assign one of the last page's rows to each fifth page.
fn with_wrong_headers(file: &Bytes) -> Bytes {
    let parquet = ParquetFile::from_bytes(file.clone()).unwrap();
    let mut wrong = file.to_vec();
    for row_group in 0..parquet.metadata().num_row_groups() {
        let pages = parquet.pages(row_group, 0).unwrap().map(Result::unwrap);
        let pages: Vec<_> = pages
            .filter(|page| page.header.data_page_header_v2.is_some())
            .collect();
        let last = pages.len() - 1;
        for (i, page) in pages.iter().enumerate() {
            let mut header = page.header.clone();
            let v2 = header.data_page_header_v2.as_mut().unwrap();
            v2.num_rows += match i {
                _ if i == last => -i32::try_from(last.div_ceil(5)).unwrap(),
                _ => i32::from(i % 5 == 0),
            };
            let at = usize::try_from(page.start.offset).unwrap();
            let length = page.header_bytes;
            replace(&mut wrong, at, length, |writer| header.encode(writer));
        }
    }
    wrong.into()
}

#[test]
fn pages_that_begin_with_other_rows_than_is_said() {
    let (v1, others) = NESTED.split_at(LIST_CASES);
    let (_, v2) = others.split_at(LIST_CASES);
    let mut cases = Vec::new();
    for (batch, file) in FLAT.iter().chain(v1) {
        cases.push((batch, with_wrong_index(file, 1)));
        cases.push((batch, with_wrong_index(file, -1)));
    }
    // The last pages of the last case have too few rows for this.
    for (batch, file) in &v2[..LIST_CASES - 1] {
        cases.push((batch, with_wrong_headers(file)));
    }
    for (written, file) in cases {
        // If batches have `late` rows, the last part begins with a page about which the index is wrong.
        let late = late_page(&file);
        for (batch_size, threads) in [(3000, 1), (3000, 2), (3000, 5), (late, 2)] {
            let options = ReadOptions::new().batch_size(batch_size);
            let batches = read(&file, &options.threads(threads)).unwrap();
            let mut row = 0;
            for batch in &batches {
                assert_eq!(*batch, written.slice(row, batch.num_rows()));
                row += batch.num_rows();
            }
            assert_eq!(row, written.num_rows());
        }
    }
}

/// Returns a number of 15 to 21 bits as a varint.
fn varint(n: usize) -> [u8; 3] {
    [n as u8 | 0x80, (n >> 7) as u8 | 0x80, (n >> 14) as u8]
}

/// The number of levels per page, and the number of pages.
const LEVELS: usize = 100_000;
const PAGES: usize = 30;

/// Old writers wrote pages that start inside a row. In this file, each row has three numbers.
#[test]
fn rows_that_two_pages_share() {
    for is_v2 in [false, true] {
        let file = rows_of_three(is_v2);
        let expected = read(&file, &ReadOptions::new().threads(1)).unwrap();
        let all: usize = expected.iter().map(RecordBatch::num_rows).sum();
        assert_eq!(all, LEVELS * PAGES / 3);
        for threads in [2, 4] {
            let batches = read(&file, &ReadOptions::new().threads(threads)).unwrap();
            assert!(batches == expected, "{threads} threads, {is_v2}");
        }
    }
}

fn rows_of_three(is_v2: bool) -> Bytes {
    let mut pages = Vec::new();
    for page in 0..PAGES {
        let levels = page * LEVELS..(page + 1) * LEVELS;
        // There is one bit-packed run of groups of eight levels.
        let mut repetition = vec![0; LEVELS / 8];
        for (i, level) in levels.clone().enumerate() {
            repetition[i / 8] |= u8::from(level % 3 != 0) << (i % 8);
        }
        let repetition = [&varint((LEVELS / 8) << 1 | 1)[..], &repetition].concat();
        // There is one run of ones.
        let definition = [&varint(LEVELS << 1)[..], &[1]].concat();
        let values: Vec<u8> = levels
            .clone()
            .flat_map(|level| (level as i32).to_le_bytes())
            .collect();
        let both = [&repetition[..], &definition].concat();
        if !is_v2 {
            let length = |levels: &[u8]| (levels.len() as u32).to_le_bytes();
            let (before, between) = (length(&repetition), length(&definition));
            let body = [&before[..], &repetition, &between, &definition, &values].concat();
            pages.push(Page::v1(LEVELS, &body));
            continue;
        }
        let mut data = Page::v2(LEVELS, Encoding::Plain, &both, &values);
        let v2 = data.header.data_page_header_v2.as_mut().unwrap();
        v2.repetition_levels_byte_length = i32::try_from(repetition.len()).unwrap();
        v2.definition_levels_byte_length = i32::try_from(definition.len()).unwrap();
        v2.num_rows = i32::try_from(levels.filter(|level| level % 3 == 0).count()).unwrap();
        pages.push(data);
    }
    let chunk = Chunk {
        physical: Type::Int32,
        codec: CompressionCodec::Uncompressed,
        num_values: (PAGES * LEVELS) as u64,
        pages,
    };
    let schema = vec![
        group("schema", None, 1),
        leaf("numbers", Type::Int32, Repetition::Repeated),
    ];
    let rows = PAGES * LEVELS / 3;
    crafted::file(schema, &[(rows as u64, vec![chunk])]).into()
}

#[test]
fn parts_keep_to_the_budget() {
    let mut refused = 0;
    for (written, file) in NESTED.iter() {
        for memory in [1 << 20, 2 << 20, 5 << 20, 20 << 20] {
            let mut options = ReadOptions::new();
            options.limits.get_or_insert_default().memory_bytes = memory;
            let expected = read(file, &options.clone().threads(1));
            let got = read(file, &options.threads(3));
            let name = written.schema().field(0).data_type().clone();
            assert!(got == expected, "{name} in {memory} bytes: {:?}", got.err());
            refused += usize::from(expected.is_err());
        }
    }
    assert!(refused > 0);
}

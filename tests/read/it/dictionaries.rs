//! Tests dictionaries when there are long runs of PLAIN pages between the pages that need the dictionary.

use std::ops::Range;

use bytes::Bytes;
use herringbone::ReadOptions;
use herringbone::format::{CompressionCodec, ConvertedType, Encoding, Repetition, Type};
use herringbone::schema::ByteLayout;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{Decimal128Type, Int64Type};
use herringbone_arrow::schema::DataType;

use crate::crafted::{Chunk, Page, file, group, leaf};
use crate::push::{SUPPLIES, pushed, read};

const ENTRIES: usize = 7;
const PAGE_ROWS: usize = 300;
/// Runs of pages, with true for pages of indices and false for pages of PLAIN values. The PLAIN runs are far longer
/// than we retain a dictionary for.
const PAGES: [(bool, usize); 6] = [
    (true, 2),
    (false, 9),
    (true, 1),
    (false, 12),
    (true, 3),
    (false, 1),
];

/// Returns the number in a row. If its page has indices, it is one of the `ENTRIES` dictionary entries.
fn number(page: usize, row: usize, indices: bool) -> usize {
    let number = (page * PAGE_ROWS + row) * 31;
    if indices { number % ENTRIES } else { number }
}

/// Returns each page's number, and true if the page has indices.
fn kinds() -> impl Iterator<Item = (usize, bool)> {
    let pages = PAGES.into_iter();
    pages
        .flat_map(|(indices, pages)| vec![indices; pages])
        .enumerate()
}

/// Returns a chunk whose values `encode` makes from numbers.
fn chunk(physical: Type, encode: fn(usize) -> Vec<u8>) -> Chunk {
    let entries: Vec<u8> = (0..ENTRIES).flat_map(encode).collect();
    let mut pages = vec![Page::dictionary(ENTRIES, &entries)];
    for (page, indices) in kinds() {
        let numbers = (0..PAGE_ROWS).map(|row| number(page, row, indices));
        pages.push(if indices {
            // The body has a width of 8, and one bit-packed run of groups of 8.
            let groups = PAGE_ROWS.div_ceil(8);
            let mut body = vec![8, (groups << 1 | 1) as u8];
            body.extend(numbers.map(|number| number as u8));
            body.resize(2 + groups * 8, 0);
            Page::v1(PAGE_ROWS, &body).with_encoding(Encoding::RleDictionary)
        } else {
            Page::v1(PAGE_ROWS, &numbers.flat_map(encode).collect::<Vec<_>>())
        });
    }
    Chunk {
        physical,
        codec: CompressionCodec::Uncompressed,
        num_values: (kinds().count() * PAGE_ROWS) as u64,
        pages,
    }
}

fn text(number: usize) -> String {
    format!("the value of number {number}")
}

fn crafted() -> Bytes {
    let string = |number: usize| {
        let text = text(number);
        [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
    };
    let chunks = vec![
        chunk(Type::Int64, |number| (number as u64).to_le_bytes().to_vec()),
        chunk(Type::ByteArray, string),
        chunk(Type::ByteArray, |number| {
            [&[4, 0, 0, 0], &(number as u32).to_be_bytes()[..]].concat()
        }),
    ];
    let text =
        leaf("text", Type::ByteArray, Repetition::Required).converted_type(ConvertedType::Utf8);
    let decimal = leaf("decimal", Type::ByteArray, Repetition::Required)
        .converted_type(ConvertedType::Decimal)
        .precision(9)
        .scale(0);
    let schema = vec![
        group("schema", None, 3),
        leaf("number", Type::Int64, Repetition::Required),
        text,
        decimal,
    ];
    let rows = (kinds().count() * PAGE_ROWS) as u64;
    file(schema, &[(rows, chunks)]).into()
}

fn check(batches: &[RecordBatch], rows: Range<usize>) {
    let numbers = kinds()
        .flat_map(|(page, indices)| (0..PAGE_ROWS).map(move |row| number(page, row, indices)));
    let mut numbers = numbers.skip(rows.start);
    for batch in batches {
        let [number, strings, decimal] = batch.columns() else {
            panic!("three columns");
        };
        let number = number.as_primitive::<Int64Type>();
        let decimal = decimal.as_primitive::<Decimal128Type>();
        for row in 0..batch.num_rows() {
            let expected = numbers.next().unwrap();
            assert_eq!(number.value(row), expected as i64);
            assert_eq!(decimal.value(row), expected as i128);
            let string = match strings.data_type() {
                DataType::Utf8View => strings.as_string_view().value(row),
                _ => strings.as_string::<i32>().value(row),
            };
            assert_eq!(string, text(expected));
        }
    }
    let all: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(all, rows.len());
}

#[test]
fn come_back_when_pages_need_them_again() {
    let file = crafted();
    let all = kinds().count() * PAGE_ROWS;
    for strings in [ByteLayout::Offsets, ByteLayout::Views] {
        for batch_size in [64, 300, 1000, 100_000] {
            let mut options = ReadOptions::new().batch_size(batch_size);
            options.schema.strings = strings;
            for threads in [1, 2] {
                let options = options.clone().threads(threads);
                check(&read(&file, &options).unwrap(), 0..all);
            }
            for how in SUPPLIES {
                check(&pushed(&file, &options, how).unwrap(), 0..all);
            }
            // These reads skip pages with indices, or read only a part of them.
            for start in [3_000, 3_400, 7_000, 7_300] {
                let options = options.clone().offset(start);
                check(&read(&file, &options).unwrap(), start as usize..all);
            }
        }
    }
}

//! Verifies values that their type does not allow, and bytes after the last value.

use std::sync::Arc;

use herringbone::arrow::array::{
    ArrayRef, BinaryArray, FixedSizeBinaryArray, Int32Array, Int64Array, RecordBatch,
};
use herringbone::format::{ConvertedType, Encoding, Repetition, Type};
use herringbone::{ColumnOptions, WriteOptions, Writer};

use super::lines;
use crate::crafted::{Chunk, Page, file, group, leaf};
use crate::damage::with_footer;

/// Writes the columns as a file, with or without dictionaries.
pub(super) fn written(columns: Vec<(&str, ArrayRef)>, dictionary: bool) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let columns = ColumnOptions::new().dictionary(dictionary);
    let mut bytes = Vec::new();
    let options = WriteOptions::new().columns(columns);
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    bytes
}

/// Annotates all columns of the file as decimals with this precision.
fn as_decimals(file: &[u8], precision: i32) -> Vec<u8> {
    with_footer(file, |parts| {
        // The Arrow schema would contradict the annotation.
        parts.key_value_metadata = None;
        for element in &mut parts.schema[1..] {
            element.logical_type = None;
            element.converted_type = Some(ConvertedType::Decimal);
            (element.precision, element.scale) = (Some(precision), Some(1));
        }
        // Bounds of bytes follow another order than bounds of decimals.
        for chunk in &mut parts.row_groups[0].columns {
            let metadata = chunk.meta_data.as_mut().unwrap();
            metadata.statistics = None;
            (chunk.column_index_offset, chunk.column_index_length) = (None, None);
        }
    })
}

#[test]
fn decimals_with_too_many_digits() {
    let big = 1000_i128.to_be_bytes();
    let little = (-999_i128).to_be_bytes();
    let fixed = [little, little, little, big].into_iter();
    let fixed = FixedSizeBinaryArray::try_from_iter(fixed).unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "short",
            Arc::new(Int32Array::from(vec![999, -999, -1000, 1000])),
        ),
        ("long", Arc::new(Int64Array::from(vec![1000, 0, 1, 2]))),
        ("fixed", Arc::new(fixed)),
        (
            "bytes",
            Arc::new(BinaryArray::from(vec![
                &[0x03, 0xe7][..],
                &[0xfc, 0x18],
                &[0x80],
                &[1],
            ])),
        ),
    ];
    let plain = as_decimals(&written(columns.clone(), false), 3);
    let said = |count: u64, first: u64, column: &str, page: &str| {
        format!(
            "error decimal: {count} decimals have more digits than their precision, the first of \
             them is value {first} (column {column}, row group 0, {page}"
        )
    };
    let found = lines(&plain);
    let wanted = [
        (2, 2, "short"),
        (1, 0, "long"),
        (1, 3, "fixed"),
        (1, 1, "bytes"),
    ];
    assert_eq!(found.len(), 4, "{found:?}");
    for (found, (count, first, column)) in found.iter().zip(wanted) {
        assert!(
            found.starts_with(&said(count, first, column, "page 0")),
            "{found}"
        );
    }
    // In dictionaries, they are found both as entries and at each reference.
    let found = lines(&as_decimals(&written(columns.clone(), true), 3));
    let fixed_lines: Vec<_> = found.iter().filter(|line| line.contains("fixed")).collect();
    assert_eq!(fixed_lines.len(), 2, "{found:?}");
    assert!(
        fixed_lines[0].starts_with(&said(1, 1, "fixed", "page 0")),
        "{found:?}"
    );
    assert!(
        fixed_lines[1].starts_with(&said(1, 3, "fixed", "page 1")),
        "{found:?}"
    );
    assert_eq!(
        lines(&as_decimals(&written(columns, false), 4)),
        Vec::<String>::new()
    );
}

#[test]
fn bytes_behind_the_values() {
    let element = leaf("x", Type::Int32, Repetition::Required);
    let file = |surplus: usize| {
        let values = [&[1, 0, 0, 0, 2, 0, 0, 0][..], &vec![0xaa; surplus]].concat();
        let chunk = Chunk {
            physical: Type::Int32,
            codec: herringbone::format::CompressionCodec::Uncompressed,
            num_values: 2,
            pages: vec![Page::v2(2, Encoding::Plain, &[], &values)],
        };
        file(
            vec![group("schema", None, 1), element.clone()],
            &[(2, vec![chunk])],
        )
    };
    let found = |surplus| {
        let mut lines = lines(&file(surplus));
        lines.retain(|line| line.contains(" page: "));
        lines
    };
    assert_eq!(found(0), Vec::<String>::new());
    assert_eq!(
        found(3),
        [
            "note page: 3 bytes after the values are unused (column x, row group 0, page 0, offset 0x4)"
        ]
    );
    assert_eq!(
        found(4),
        [
            "error page: 4 bytes are left over after the values that the page header declares (column x, \
          row group 0, page 0, offset 0x4)"
        ]
    );
}

//! Files of one column whose annotation may not fit its values.

use herringbone::format::{
    CompressionCodec, ConvertedType, Encoding, LogicalType, Repetition, SchemaElement, Type,
};

use crate::crafted::{Chunk, Page, file, group, leaf};

/// Returns a file with one REQUIRED column `x` of numbers, PLAIN or dictionary-encoded.
pub fn numbers(element: SchemaElement, values: &[i64], dictionary: bool) -> Vec<u8> {
    let physical = element.type_.unwrap();
    let encode = |value: &i64| match physical {
        Type::Int32 => (*value as i32).to_le_bytes().to_vec(),
        _ => value.to_le_bytes().to_vec(),
    };
    let body: Vec<u8> = values.iter().flat_map(encode).collect();
    let n = values.len();
    let pages = match dictionary {
        false => vec![Page::v1(n, &body)],
        true => {
            // The codes have 8 bits, in runs of one.
            let runs = (0..n).flat_map(|code| [2, code as u8]);
            let codes: Vec<u8> = [8].into_iter().chain(runs).collect();
            let page = Page::v1(n, &codes).with_encoding(Encoding::RleDictionary);
            vec![Page::dictionary(n, &body), page]
        }
    };
    one_column(element, n, pages)
}

pub fn one_column(element: SchemaElement, n: usize, pages: Vec<Page>) -> Vec<u8> {
    let chunk = Chunk {
        physical: element.type_.unwrap(),
        codec: CompressionCodec::Uncompressed,
        num_values: n as u64,
        pages,
    };
    let schema = vec![group("schema", None, 1), element];
    file(schema, &[(n as u64, vec![chunk])])
}

pub fn converted(physical: Type, converted: ConvertedType) -> SchemaElement {
    leaf("x", physical, Repetition::Required).converted_type(converted)
}

pub fn logical(physical: Type, logical: LogicalType) -> SchemaElement {
    leaf("x", physical, Repetition::Required).logical_type(logical)
}

/// Returns a file with a map `m` of two entries, where the second one has a null key.
pub fn null_key() -> Vec<u8> {
    let map = group("m", Some(Repetition::Required), 1).logical_type(LogicalType::Map);
    let schema = vec![
        group("schema", None, 1),
        map,
        group("key_value", Some(Repetition::Repeated), 2),
        leaf("key", Type::Int32, Repetition::Optional),
        leaf("value", Type::Int32, Repetition::Required),
    ];
    // Levels are bit-packed in groups of eight, after the byte count of the packed levels.
    let repetition = [2, 0, 0, 0, 3, 0b10];
    let key_levels = [3, 0, 0, 0, 3, 0b01_10, 0];
    let value_levels = [2, 0, 0, 0, 3, 0b11];
    let chunk = |levels: &[u8], values: &[i32]| {
        let values: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        Chunk {
            physical: Type::Int32,
            codec: CompressionCodec::Uncompressed,
            num_values: 2,
            pages: vec![Page::v1(2, &[&repetition, levels, &values].concat())],
        }
    };
    let chunks = vec![chunk(&key_levels, &[7]), chunk(&value_levels, &[10, 20])];
    file(schema, &[(1, chunks)])
}

/// Returns a file of intervals of months, days and milliseconds.
pub fn intervals(parts: &[[u32; 3]]) -> Vec<u8> {
    let element = converted(Type::FixedLenByteArray, ConvertedType::Interval).type_length(12);
    intervals_of(element, parts)
}

/// Returns a file of intervals that has this schema element.
pub fn intervals_of(element: SchemaElement, parts: &[[u32; 3]]) -> Vec<u8> {
    let bytes = parts.iter().flatten().flat_map(|part| part.to_le_bytes());
    let body: Vec<u8> = bytes.collect();
    one_column(element, parts.len(), vec![Page::v1(parts.len(), &body)])
}

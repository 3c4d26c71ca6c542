//! Larger batches of every Arrow type, for round trips through other writers.

use std::sync::Arc;

use half::f16;
use herringbone_arrow::array::builder::*;
use herringbone_arrow::array::types::*;
use herringbone_arrow::array::*;
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer, i256};
use herringbone_arrow::schema::{DataType, Field};

pub use crate::random::Random;

/// The distribution of nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// The column is not nullable.
    Required,
    /// The column is nullable, but has no nulls.
    None,
    /// One slot in ten is null.
    Sparse,
    /// Half of the slots are null, in runs.
    Runs,
    /// All slots are null.
    All,
}

/// The distribution of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// All bits vary.
    Random,
    /// A hundred distinct values.
    Few,
    /// Values increase slowly.
    Sorted,
}

/// Returns the validity of `n` slots, or `None` if no slot is null.
pub fn validity(random: &mut Random, nulls: Nulls, n: usize) -> Option<NullBuffer> {
    let mut bits = Vec::with_capacity(n);
    match nulls {
        Nulls::Required | Nulls::None => return None,
        Nulls::Sparse => bits.extend((0..n).map(|_| random.below(10) > 0)),
        Nulls::All => bits.resize(n, false),
        Nulls::Runs => {
            while bits.len() < n {
                let valid = random.below(2) == 0;
                let run = (1 + random.below(100)).min(n - bits.len());
                bits.resize(bits.len() + run, valid);
            }
        }
    }
    Some(NullBuffer::from(bits))
}

/// Returns 64 bits per slot, distributed according to `shape`.
pub fn words(random: &mut Random, shape: Shape, n: usize) -> Vec<u64> {
    let pool: Vec<u64> = (0..100).map(|_| random.next()).collect();
    (0..n)
        .map(|i| match shape {
            Shape::Random => random.next(),
            Shape::Few => pool[random.below(100)],
            Shape::Sorted => (i as u64) * 3 + random.next() % 3,
        })
        .collect()
}

fn primitive<T: ArrowPrimitiveType>(
    words: &[u64],
    nulls: Option<NullBuffer>,
    data_type: &DataType,
    convert: impl Fn(u64) -> T::Native,
) -> ArrayRef {
    let values: Vec<T::Native> = words.iter().map(|w| convert(*w)).collect();
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls).with_data_type(data_type.clone()))
}

/// Returns a flat array of `n` slots.
pub fn flat(
    random: &mut Random,
    data_type: &DataType,
    nulls: Nulls,
    shape: Shape,
    n: usize,
) -> ArrayRef {
    use DataType::*;
    let words = words(random, shape, n);
    let valid = validity(random, nulls, n);
    let t = data_type;
    match data_type {
        Boolean => Arc::new(BooleanArray::new(
            words.iter().map(|w| w % 3 == 0).collect(),
            valid,
        )),
        Int8 => primitive::<Int8Type>(&words, valid, t, |w| w as i8),
        Int16 => primitive::<Int16Type>(&words, valid, t, |w| w as i16),
        Int32 => primitive::<Int32Type>(&words, valid, t, |w| w as i32),
        Int64 => primitive::<Int64Type>(&words, valid, t, |w| w as i64),
        UInt8 => primitive::<UInt8Type>(&words, valid, t, |w| w as u8),
        UInt16 => primitive::<UInt16Type>(&words, valid, t, |w| w as u16),
        UInt32 => primitive::<UInt32Type>(&words, valid, t, |w| w as u32),
        UInt64 => primitive::<UInt64Type>(&words, valid, t, |w| w),
        Float16 => primitive::<Float16Type>(&words, valid, t, |w| f16::from_f64((w as i16).into())),
        Float32 => primitive::<Float32Type>(&words, valid, t, |w| (w as i32) as f32 / 64.0),
        Float64 => primitive::<Float64Type>(&words, valid, t, |w| (w as i64 >> 8) as f64 / 100.0),
        Date32 => primitive::<Date32Type>(&words, valid, t, |w| (w % 100_000) as i32 - 50_000),
        Time32(_) => {
            primitive::<Time32MillisecondType>(&words, valid, t, |w| (w % 86_400_000) as i32)
        }
        Time64(_) => {
            primitive::<Time64MicrosecondType>(&words, valid, t, |w| (w % 86_400_000_000) as i64)
        }
        Timestamp(_, _) => {
            primitive::<TimestampMicrosecondType>(&words, valid, t, |w| (w >> 12) as i64)
        }
        Decimal128(p, _) => {
            let limit = 10_i128.pow(u32::from(*p));
            primitive::<Decimal128Type>(&words, valid, t, |w| {
                (i128::from(w as i64) * i128::from(w >> 3)) % limit
            })
        }
        Decimal256(..) => primitive::<Decimal256Type>(&words, valid, t, |w| {
            i256::from_i128(i128::from(w as i64)).wrapping_mul(i256::from_i128(i128::MAX >> 7))
        }),
        _ => bytes(&words, valid, data_type, shape),
    }
}

fn text(word: u64, shape: Shape) -> String {
    if shape == Shape::Sorted {
        return format!("https://example.org/{}/item-{word:09}", word / 64);
    }
    let length = usize::try_from(word % 30).unwrap();
    format!("{:020}äöü日本🐟", word)
        .chars()
        .rev()
        .take(length)
        .collect()
}

fn bytes(words: &[u64], valid: Option<NullBuffer>, t: &DataType, shape: Shape) -> ArrayRef {
    let is_valid = |i: usize| valid.as_ref().is_none_or(|v| v.is_valid(i));
    let texts = || {
        words
            .iter()
            .enumerate()
            .map(|(i, w)| is_valid(i).then(|| text(*w, shape)))
    };
    match t {
        DataType::Utf8 => Arc::new(texts().collect::<StringArray>()),
        DataType::LargeUtf8 => Arc::new(texts().collect::<LargeStringArray>()),
        DataType::Utf8View => Arc::new(texts().collect::<StringViewArray>()),
        DataType::Binary => Arc::new(
            texts()
                .map(|t| t.map(String::into_bytes))
                .collect::<BinaryArray>(),
        ),
        DataType::FixedSizeBinary(width) => {
            let mut builder = FixedSizeBinaryBuilder::with_capacity(words.len(), *width);
            for (i, word) in words.iter().enumerate() {
                if is_valid(i) {
                    let bytes: Vec<u8> = word
                        .to_le_bytes()
                        .into_iter()
                        .cycle()
                        .take(usize::try_from(*width).unwrap())
                        .collect();
                    builder.append_value(bytes).unwrap();
                } else {
                    builder.append_null();
                }
            }
            Arc::new(builder.finish())
        }
        other => panic!("no generator for {other}"),
    }
}

/// Returns the offsets of `n` lists of up to three elements, where null lists are empty.
fn offsets(random: &mut Random, valid: Option<&NullBuffer>, n: usize) -> OffsetBuffer<i32> {
    OffsetBuffer::from_lengths((0..n).map(|i| {
        if valid.is_none_or(|v| v.is_valid(i)) {
            random.below(4)
        } else {
            0
        }
    }))
}

/// Returns `n` lists over the array that `child` returns.
pub fn list(
    random: &mut Random,
    nulls: Nulls,
    n: usize,
    child: &mut dyn FnMut(&mut Random, usize) -> ArrayRef,
) -> ArrayRef {
    let valid = validity(random, nulls, n);
    let offsets = offsets(random, valid.as_ref(), n);
    let child = child(random, usize::try_from(offsets.last()).unwrap());
    let field = Field::new_list_field(child.data_type().clone(), true);
    Arc::new(ListArray::new(Arc::new(field), offsets, child, valid))
}

/// Returns `n` structs of an integer `a` and a string `b`, where each field has its own nulls.
pub fn pair(random: &mut Random, nulls: Nulls, n: usize) -> ArrayRef {
    let a = flat(random, &DataType::Int32, Nulls::Sparse, Shape::Few, n);
    let b = flat(random, &DataType::Utf8, Nulls::Runs, Shape::Few, n);
    let fields = vec![
        Field::new("a", DataType::Int32, true),
        Field::new("b", DataType::Utf8, true),
    ];
    Arc::new(StructArray::new(
        fields.into(),
        vec![a, b],
        validity(random, nulls, n),
    ))
}

/// Returns `n` maps from strings to the values that `value` returns.
pub fn map(
    random: &mut Random,
    nulls: Nulls,
    n: usize,
    value: &mut dyn FnMut(&mut Random, usize) -> ArrayRef,
) -> ArrayRef {
    let valid = validity(random, nulls, n);
    let offsets = offsets(random, valid.as_ref(), n);
    let entries = usize::try_from(offsets.last()).unwrap();
    let keys = flat(
        random,
        &DataType::Utf8,
        Nulls::Required,
        Shape::Few,
        entries,
    );
    let values = value(random, entries);
    let fields = vec![
        Field::new("key", DataType::Utf8, false),
        Field::new("value", values.data_type().clone(), true),
    ];
    let entries = StructArray::new(fields.clone().into(), vec![keys, values], None);
    let field = Field::new("key_value", DataType::Struct(fields.into()), false);
    Arc::new(MapArray::new(
        Arc::new(field),
        offsets,
        entries,
        valid,
        false,
    ))
}

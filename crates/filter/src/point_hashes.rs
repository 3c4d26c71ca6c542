//! Bloom filter hashes of the values accepted by a test, if there are few.

use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result, Type};
use herringbone_schema::{Leaf, ParquetSchema, SchemaOptions};

use super::Literal;
use super::leaf_test::{Asked, LeafTest};
use super::position::{TextForm, float_of_key};
use super::predicate::{Comparison, Test};
use super::ranges::Ranges;
use herringbone_core::bloom_filter::hash;

/// The maximum number of values to look up in bloom filters.
const MAX_POINTS: usize = 128;

/// Returns the hashes of all values accepted by a leaf's test. Returns `None` if the test might accept other values, if
/// there are too many values, or if a value can be stored as different bytes.
pub(super) fn point_hashes(test: &LeafTest, leaf: &Leaf, data_type: &DataType) -> Option<Vec<u64>> {
    match test {
        LeafTest::Bytes(bytes) if is_bytes(data_type) => {
            let points = points(bytes)?;
            Some(points.iter().map(|bytes| hash(bytes)).collect())
        }
        LeafTest::Keys(keys) => {
            let mut hashes = Vec::new();
            for key in points(keys)? {
                add_hashes(key, leaf, data_type, &mut hashes)?;
            }
            Some(hashes)
        }
        _ => None,
    }
}

/// Returns the bloom filter hashes for a leaf's value, or an empty list if the leaf cannot have the value. Returns
/// `None` if the value can be stored as different bytes, or if the leaf has no bloom filters.
///
/// # Errors
/// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if there is no such leaf, or if values of its type
/// cannot be compared with the literal.
pub fn hashes_of_value(
    schema: &ParquetSchema,
    leaf: usize,
    value: &Literal,
) -> Result<Option<Vec<u64>>> {
    let field = schema.leaf_field(leaf, &SchemaOptions::default());
    let (Some(field), Some(stored_leaf)) = (field, schema.leaves().get(leaf)) else {
        return Err(Error::argument(format!("the schema has no column {leaf}")));
    };
    let test = Test::Compare(Comparison::Equal, value.clone());
    let asked = Asked {
        test: &test,
        is_negated: false,
        is_ieee: false,
        quantifier: None,
    };
    let form = TextForm::of_leaf(schema, leaf);
    let test = LeafTest::new(asked, field.data_type(), form)
        .map_err(|error| error.in_column(schema.column_path(leaf)))?;
    Ok(match test {
        LeafTest::Nothing => None,
        test => point_hashes(&test, stored_leaf, field.data_type()),
    })
}

fn is_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, FixedSizeBinary, LargeBinary, LargeUtf8, Utf8};
    matches!(
        data_type,
        Utf8 | LargeUtf8 | Binary | LargeBinary | FixedSizeBinary(_)
    )
}

/// Returns the points of ranges that only consist of points, or `None` for other ranges.
fn points<K: Ord + Clone>(ranges: &Ranges<K>) -> Option<Vec<&K>> {
    let pieces = ranges.pieces();
    if pieces.len() > MAX_POINTS {
        return None;
    }
    let points = pieces.into_iter().map(|piece| match piece {
        (Some(low), Some(high)) if low.key == high.key => Some(&low.key),
        _ => None,
    });
    points.collect()
}

/// Adds the hashes for the value with this key, if the type has such a value.
fn add_hashes(key: &i256, leaf: &Leaf, data_type: &DataType, hashes: &mut Vec<u64>) -> Option<()> {
    use DataType::{
        Date32, Decimal32, Decimal64, Decimal128, Decimal256, Float32, Float64, Int8, Int16, Int32,
        Int64, Time32, Time64, Timestamp, UInt8, UInt16, UInt32, UInt64,
    };
    match (leaf.physical_type, data_type) {
        (
            Type::Int32 | Type::Int64,
            Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Date32 | Time32(_)
            | Time64(_) | Timestamp(..) | Decimal32(..) | Decimal64(..) | Decimal128(..)
            | Decimal256(..),
        ) => {
            let width = if leaf.physical_type == Type::Int32 {
                4
            } else {
                8
            };
            // Only the low bytes of unsigned numbers are stored, so their keys can exceed the signed range.
            let bits = 8 * width as u32;
            let range = i256::from_i128(-1_i128 << (bits - 1))..i256::from_i128(1_i128 << bits);
            if range.contains(key) {
                hashes.extend(key.to_le_bytes().get(..width).map(hash));
            }
        }
        (
            Type::FixedLenByteArray,
            Decimal128(..) | Decimal256(..) | Decimal64(..) | Decimal32(..),
        ) => {
            let bytes = key.to_be_bytes();
            let first = bytes.len().checked_sub(leaf.type_length)?;
            hashes.extend(bytes.get(first..).map(hash));
        }
        (Type::Float | Type::Double, Float32 | Float64) => {
            let value = float_of_key(i64::try_from(key.to_i128()?).ok()?);
            // NaN has many bit patterns, so its hash is unknown.
            if value.is_nan() {
                return None;
            }
            let mut add = |value: f64| match leaf.physical_type {
                Type::Double => hashes.push(hash(&value.to_le_bytes())),
                _ if f64::from(value as f32) == value => {
                    hashes.push(hash(&(value as f32).to_le_bytes()));
                }
                _ => {}
            };
            add(value);
            if value == 0.0 {
                add(-0.0);
            }
        }
        _ => return None,
    }
    Some(())
}

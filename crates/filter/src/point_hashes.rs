//! The values that a test accepts, where they are few, as bloom filters hash them.

use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::DataType;
use herringbone_format::Type;
use herringbone_schema::Leaf;

use super::leaf_test::LeafTest;
use super::position::float_of_key;
use super::ranges::Ranges;
use herringbone_core::bloom_filter::hash;

/// More values than this are not looked up in bloom filters.
const MOST_POINTS: usize = 128;

/// The hashes of all values that a test of a leaf accepts; none where it may accept others, or too many, or bytes of a
/// value are not the only ones that stand for it.
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

fn is_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, FixedSizeBinary, LargeBinary, LargeUtf8, Utf8};
    matches!(
        data_type,
        Utf8 | LargeUtf8 | Binary | LargeBinary | FixedSizeBinary(_)
    )
}

/// The points of ranges that are nothing else.
fn points<K: Ord + Clone>(ranges: &Ranges<K>) -> Option<Vec<&K>> {
    let pieces = ranges.pieces();
    if pieces.len() > MOST_POINTS {
        return None;
    }
    let points = pieces.into_iter().map(|piece| match piece {
        (Some(low), Some(high)) if low.key == high.key => Some(&low.key),
        _ => None,
    });
    points.collect()
}

/// Adds what the value with this key is hashed to: nothing where the type has no such value.
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
            // Of unsigned numbers the low bytes alone are there.
            hashes.extend(key.to_le_bytes().get(..width).map(hash));
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
            // NaN has many forms.
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

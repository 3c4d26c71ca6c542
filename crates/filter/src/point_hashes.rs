//! Bloom filter hashes of the values that a test accepts, if there are few.

use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::DataType;
use herringbone_format::Type;
use herringbone_schema::Leaf;

use super::leaf_test::LeafTest;
use super::position::float_of_key;
use super::ranges::Ranges;
use herringbone_core::bloom_filter::hash;

/// The maximum number of values to look up in bloom filters.
const MAX_POINTS: usize = 128;

/// Returns the hashes of all values that a test of a leaf accepts. Returns `None` if it may accept other values, if
/// there are too many, or if a value can be stored as different bytes.
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

/// Returns the points of ranges that consist of points only.
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

/// Adds the hashes of the value with this key. Adds nothing if the type has no such value.
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
            // For unsigned numbers, only the low bytes are stored.
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
            // NaN has many bit patterns.
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

//! A leaf array's values in their stored form, that is, without nulls and in the physical type.

use std::ops::Range;

use herringbone_format::Type;
use herringbone_kernels::plain;

/// Values of one physical type, without nulls.
#[derive(Debug)]
pub enum Values<'a> {
    /// BOOLEAN, as `len` of `bits` from bit `first` on.
    Boolean {
        /// The packed bits, least significant first.
        bits: &'a [u8],
        /// The index of the first bit.
        first: usize,
        /// The number of bits.
        len: usize,
    },
    /// INT32.
    Int32(&'a [i32]),
    /// INT64.
    Int64(&'a [i64]),
    /// FLOAT.
    Float(&'a [f32]),
    /// DOUBLE.
    Double(&'a [f64]),
    /// FIXED_LEN_BYTE_ARRAY or INT96.
    Fixed {
        /// The values, back to back.
        bytes: &'a [u8],
        /// The number of bytes per value.
        width: usize,
    },
    /// BYTE_ARRAY.
    ByteArray(Vec<&'a [u8]>),
}

impl Values<'_> {
    /// Returns true if the values are integers or floating-point numbers.
    pub fn are_numbers(&self) -> bool {
        matches!(
            self,
            Self::Int32(_) | Self::Int64(_) | Self::Float(_) | Self::Double(_)
        )
    }

    /// Returns the number of values.
    pub fn num_values(&self) -> usize {
        match self {
            Self::Boolean { len, .. } => *len,
            Self::Int32(values) => values.len(),
            Self::Int64(values) => values.len(),
            Self::Float(values) => values.len(),
            Self::Double(values) => values.len(),
            Self::Fixed { bytes, width } => bytes.len() / (*width).max(1),
            Self::ByteArray(values) => values.len(),
        }
    }
}

impl Values<'_> {
    /// Returns the first `n` values, or all of them if there are fewer.
    pub fn front(&self, n: usize) -> Values<'_> {
        self.slice(0..n)
    }

    /// Returns the values in `range`. If the range extends past the end, they are fewer.
    pub fn slice(&self, range: Range<usize>) -> Values<'_> {
        fn part<T>(values: &[T], range: Range<usize>) -> &[T] {
            let end = range.end.min(values.len());
            values.get(range.start..end).unwrap_or_default()
        }
        match self {
            Self::Boolean { bits, first, len } => Values::Boolean {
                bits,
                first: first + range.start,
                len: range.end.min(*len).saturating_sub(range.start),
            },
            Self::Int32(values) => Values::Int32(part(values, range)),
            Self::Int64(values) => Values::Int64(part(values, range)),
            Self::Float(values) => Values::Float(part(values, range)),
            Self::Double(values) => Values::Double(part(values, range)),
            Self::Fixed { bytes, width } => Values::Fixed {
                bytes: part(bytes, range.start * width..range.end * width),
                width: *width,
            },
            Self::ByteArray(values) => Values::ByteArray(part(values, range).to_vec()),
        }
    }
}

/// Calls `visit` with the PLAIN values in `bytes`, given their type and its length.
pub fn with_plain<R>(
    physical_type: Type,
    type_length: usize,
    bytes: &[u8],
    num_values: usize,
    visit: impl FnOnce(&Values<'_>) -> R,
) -> R {
    match physical_type {
        Type::Boolean => visit(&Values::Boolean {
            bits: bytes,
            first: 0,
            len: num_values,
        }),
        Type::Int32 => visit(&Values::Int32(&plain::values(bytes).collect::<Vec<_>>())),
        Type::Int64 => visit(&Values::Int64(&plain::values(bytes).collect::<Vec<_>>())),
        Type::Float => visit(&Values::Float(&plain::values(bytes).collect::<Vec<_>>())),
        Type::Double => visit(&Values::Double(&plain::values(bytes).collect::<Vec<_>>())),
        Type::Int96 => visit(&Values::Fixed { bytes, width: 12 }),
        Type::FixedLenByteArray => visit(&Values::Fixed {
            bytes,
            width: type_length,
        }),
        Type::ByteArray => {
            let mut values = Vec::with_capacity(num_values);
            let mut left = bytes;
            while let Some((length, rest)) = left.split_first_chunk::<4>() {
                let length = u32::from_le_bytes(*length) as usize;
                let (value, rest) = rest.split_at(length.min(rest.len()));
                values.push(value);
                left = rest;
            }
            visit(&Values::ByteArray(values))
        }
    }
}

/// Values of a leaf array, plus each slot's value index if the array has a dictionary or runs.
#[derive(Debug)]
pub enum Slots<'a> {
    /// One value per slot.
    Values(Values<'a>),
    /// Slot `i` has the value `values[keys[i]]`.
    Keyed {
        /// The index of each slot's value.
        keys: &'a [u32],
        /// The dictionary's or the runs' values.
        values: Values<'a>,
    },
}

/// Returns the number of bytes per PLAIN value, or `None` for BOOLEAN and BYTE_ARRAY.
pub fn plain_width(physical_type: Type, type_length: usize) -> Option<usize> {
    match physical_type {
        Type::Boolean | Type::ByteArray => None,
        Type::Int32 | Type::Float => Some(4),
        Type::Int64 | Type::Double => Some(8),
        Type::Int96 => Some(12),
        Type::FixedLenByteArray => Some(type_length),
    }
}

/// Calls `visit` with the values that `keys` refer to.
pub(crate) fn gathered<R>(
    keys: &[u32],
    values: &Values<'_>,
    visit: impl FnOnce(&Values<'_>) -> R,
) -> R {
    fn numbers<T: Copy + Default>(keys: &[u32], values: &[T]) -> Vec<T> {
        let value = |key: &u32| values.get(*key as usize).copied().unwrap_or_default();
        keys.iter().map(value).collect()
    }
    match values {
        Values::Boolean { bits, first, .. } => {
            let mut out = vec![0_u8; keys.len().div_ceil(8)];
            for (slot, key) in keys.iter().enumerate() {
                let at = first + *key as usize;
                let bit = bits.get(at / 8).map_or(0, |byte| byte >> (at % 8) & 1);
                if let Some(byte) = out.get_mut(slot / 8) {
                    *byte |= bit << (slot % 8);
                }
            }
            visit(&Values::Boolean {
                bits: &out,
                first: 0,
                len: keys.len(),
            })
        }
        Values::Int32(values) => visit(&Values::Int32(&numbers(keys, values))),
        Values::Int64(values) => visit(&Values::Int64(&numbers(keys, values))),
        Values::Float(values) => visit(&Values::Float(&numbers(keys, values))),
        Values::Double(values) => visit(&Values::Double(&numbers(keys, values))),
        Values::Fixed { bytes, width } => {
            let mut out = Vec::with_capacity(keys.len() * width);
            for key in keys {
                let start = *key as usize * width;
                out.extend_from_slice(bytes.get(start..start + width).unwrap_or_default());
            }
            visit(&Values::Fixed {
                bytes: &out,
                width: *width,
            })
        }
        Values::ByteArray(values) => visit(&Values::ByteArray(numbers(keys, values))),
    }
}

/// The size of PLAIN values, with and without length prefixes.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainSize {
    /// The total number of bytes.
    pub bytes: usize,
    /// The byte count of byte arrays without their length prefixes; 0 for other types.
    pub byte_array_bytes: usize,
}

impl Slots<'_> {
    /// Returns the number of slots.
    pub fn num_slots(&self) -> usize {
        match self {
            Self::Values(values) => values.num_values(),
            Self::Keyed { keys, .. } => keys.len(),
        }
    }

    /// Returns the slots' size in PLAIN form.
    pub fn plain_size(&self) -> PlainSize {
        let (values, keys) = match self {
            Self::Values(values) => (values, None),
            Self::Keyed { keys, values } => (values, Some(keys)),
        };
        let slots = self.num_slots();
        let bytes = match values {
            Values::Boolean { .. } => slots.div_ceil(8),
            Values::Int32(_) | Values::Float(_) => 4 * slots,
            Values::Int64(_) | Values::Double(_) => 8 * slots,
            Values::Fixed { width, .. } => width * slots,
            Values::ByteArray(values) => {
                let byte_array_bytes = match keys {
                    None => values.iter().map(|value| value.len()).sum(),
                    Some(keys) => keys
                        .iter()
                        .map(|key| values.get(*key as usize).map_or(0, |value| value.len()))
                        .sum(),
                };
                return PlainSize {
                    bytes: 4 * slots + byte_array_bytes,
                    byte_array_bytes,
                };
            }
        };
        PlainSize {
            bytes,
            byte_array_bytes: 0,
        }
    }

    /// Calls `visit` with each slot's value.
    pub fn with_values<R>(&self, visit: impl FnOnce(&Values<'_>) -> R) -> R {
        match self {
            Self::Values(values) => visit(values),
            Self::Keyed { keys, values } => gathered(keys, values, visit),
        }
    }
}

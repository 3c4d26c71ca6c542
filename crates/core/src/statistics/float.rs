//! Bounds of floating-point numbers of all widths.
//!
//! We store the numbers as integer sort keys in the total order of IEEE 754. In this order the zeros are adjacent: -0
//! has the key -1, and +0 has the key 0.

use super::range::widen;
use herringbone_kernels::min_max;

/// The width of a floating-point number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// FLOAT16.
    Half,
    /// FLOAT.
    Single,
    /// DOUBLE.
    Double,
}

impl Width {
    /// Returns the little-endian bytes of the number with this key.
    fn encode(self, key: i64) -> Vec<u8> {
        // The mapping from bits to keys is its own inverse.
        match self {
            Self::Half => half_key((key as i16).cast_unsigned()).to_le_bytes()[..2].to_vec(),
            Self::Single => single_key((key as i32).cast_unsigned()).to_le_bytes()[..4].to_vec(),
            Self::Double => double_key(key.cast_unsigned()).to_le_bytes().to_vec(),
        }
    }

    /// Returns the key for a number's little-endian bytes, or `None` for a NaN or a different width.
    pub(super) fn decode(self, bytes: &[u8]) -> Option<i64> {
        let (key, infinity) = match self {
            Self::Half => (
                half_key(u16::from_le_bytes(bytes.try_into().ok()?)),
                half_key(half::f16::INFINITY.to_bits()),
            ),
            Self::Single => (
                single_key(u32::from_le_bytes(bytes.try_into().ok()?)),
                single_key(f32::INFINITY.to_bits()),
            ),
            Self::Double => (
                double_key(u64::from_le_bytes(bytes.try_into().ok()?)),
                double_key(f64::INFINITY.to_bits()),
            ),
        };
        // The range is symmetric, because negating a value complements its key.
        (!infinity..=infinity).contains(&key).then_some(key)
    }
}

fn half_key(bits: u16) -> i64 {
    let bits = bits.cast_signed();
    i64::from(bits ^ ((bits >> 15) & i16::MAX))
}

fn single_key(bits: u32) -> i64 {
    let bits = bits.cast_signed();
    i64::from(bits ^ ((bits >> 31) & i32::MAX))
}

fn double_key(bits: u64) -> i64 {
    let bits = bits.cast_signed();
    bits ^ ((bits >> 63) & i64::MAX)
}

/// The bounds of the floating-point numbers so far.
#[derive(Debug, Clone)]
pub(super) struct FloatRange {
    width: Width,
    /// The keys of the least and greatest value, ignoring NaNs.
    range: Option<(i64, i64)>,
    /// The keys of the least and greatest NaN, only used if all values are NaNs.
    nans: Option<(i64, i64)>,
    nan_count: i64,
}

impl FloatRange {
    pub(super) fn new(width: Width) -> Self {
        Self {
            width,
            range: None,
            nans: None,
            nan_count: 0,
        }
    }

    /// Adds half-precision numbers of two bytes each.
    pub(super) fn halves(&mut self, bytes: &[u8]) {
        let infinity = half_key(half::f16::INFINITY.to_bits());
        for value in bytes.as_chunks().0 {
            let key = half_key(u16::from_le_bytes(*value));
            if (!infinity..=infinity).contains(&key) {
                widen(&mut self.range, (key, key));
            } else {
                self.nan_count += 1;
                widen(&mut self.nans, (key, key));
            }
        }
    }

    pub(super) fn singles(&mut self, values: &[f32]) {
        let key = |value: f32| single_key(value.to_bits());
        let found = min_max::min_max_f32(values);
        let range = found.min.map(key).zip(found.max.map(key));
        self.take(range, found.nan_count, values.iter().map(|nan| key(*nan)));
    }

    pub(super) fn doubles(&mut self, values: &[f64]) {
        let key = |value: f64| double_key(value.to_bits());
        let found = min_max::min_max_f64(values);
        let range = found.min.map(key).zip(found.max.map(key));
        self.take(range, found.nan_count, values.iter().map(|nan| key(*nan)));
    }

    /// Adds the extremes of some values, which are all NaNs if `range` is `None`.
    fn take(
        &mut self,
        range: Option<(i64, i64)>,
        nan_count: usize,
        keys: impl Iterator<Item = i64>,
    ) {
        self.nan_count += nan_count as i64;
        match range {
            Some(range) => widen(&mut self.range, range),
            None if self.range.is_some() => {}
            None => keys.for_each(|key| widen(&mut self.nans, (key, key))),
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.nan_count += other.nan_count;
        if let Some(range) = other.range {
            widen(&mut self.range, range);
        }
        if let Some(nans) = other.nans {
            widen(&mut self.nans, nans);
        }
    }

    pub(super) fn nan_count(&self) -> i64 {
        self.nan_count
    }

    /// Returns the bounds for `IEEE_754_TOTAL_ORDER` if `ieee_order` is set, otherwise the bounds for `TYPE_ORDER`.
    pub(super) fn encode(&self, ieee_order: bool) -> Option<(Vec<u8>, Vec<u8>)> {
        let (min, max) = match (self.range, ieee_order) {
            (Some(range), true) => range,
            // This order ignores the sign of zero, so the bounds must include both zeros.
            (Some((min, max)), false) => (
                if min == 0 { -1 } else { min },
                if max == -1 { 0 } else { max },
            ),
            (None, true) => self.nans?,
            (None, false) => return None,
        };
        Some((self.width.encode(min), self.width.encode(max)))
    }
}

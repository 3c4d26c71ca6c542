//! Finds the least and the greatest of a slice of numbers.
//!
//! There is one portable loop, which the compiler vectorises, and which we compile once more for each instruction set.
//! We compare floats as integers that have the same order, which puts -0 before +0. In the order for the least value,
//! NaNs are last, and in the order for the greatest, they are first. Therefore no comparison needs a test for NaNs.
//!
//! Functions take any number of values, and return at most one pair.

#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};

/// The bounds of floats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloatBounds<F> {
    /// The least value that is not a NaN, with -0 before +0.
    pub min: Option<F>,
    /// The greatest value that is not a NaN, with -0 before +0.
    pub max: Option<F>,
    /// The number of NaNs among the values.
    pub nan_count: usize,
}

/// The number of values in a block, which is small enough that we can count its NaNs in 32 bits.
const COUNTED_AT_ONCE: usize = 1 << 16;

/// Declares a public function, and its twins for other instruction sets.
macro_rules! dispatched {
    ($(#[$meta:meta])* $name:ident: [$value:ty] -> $output:ty, $portable:expr) => {
        $(#[$meta])*
        #[must_use]
        pub fn $name(values: &[$value]) -> $output {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512(values: &[$value]) -> $output {
                    $portable(values)
                }
                #[target_feature(enable = "avx2")]
                fn avx2(values: &[$value]) -> $output {
                    $portable(values)
                }
                if Avx512::detect().is_some() {
                    // SAFETY: the token proves that the processor has these instructions.
                    return unsafe { avx512(values) };
                }
                if Avx2::detect().is_some() {
                    // SAFETY: the token proves that the processor has these instructions.
                    return unsafe { avx2(values) };
                }
            }
            $portable(values)
        }
    };
}

dispatched! {
    /// Returns the least and the greatest of these values, if there are any.
    min_max_i32: [i32] -> Option<(i32, i32)>, as_they_are
}
dispatched! {
    /// Returns the least and the greatest of these values, if there are any.
    min_max_u32: [u32] -> Option<(u32, u32)>, as_they_are
}
dispatched! {
    /// Returns the least and the greatest of these values, if there are any.
    min_max_i64: [i64] -> Option<(i64, i64)>, as_they_are
}
dispatched! {
    /// Returns the least and the greatest of these values as unsigned numbers, if there are any.
    min_max_i32_unsigned: [i32] -> Option<(u32, u32)>, unsigned_32
}
dispatched! {
    /// Returns the least and the greatest of these values as unsigned numbers, if there are any.
    min_max_i64_unsigned: [i64] -> Option<(u64, u64)>, unsigned_64
}
dispatched! {
    /// Returns the bounds of these values.
    min_max_f32: [f32] -> FloatBounds<f32>, floats_32
}
dispatched! {
    /// Returns the bounds of these values.
    min_max_f64: [f64] -> FloatBounds<f64>, floats_64
}

#[inline(always)]
fn as_they_are<T: Copy + Ord>(values: &[T]) -> Option<(T, T)> {
    integers(values, |value| value)
}

#[inline(always)]
fn unsigned_32(values: &[i32]) -> Option<(u32, u32)> {
    integers(values, i32::cast_unsigned)
}

#[inline(always)]
fn unsigned_64(values: &[i64]) -> Option<(u64, u64)> {
    integers(values, i64::cast_unsigned)
}

/// Returns the least and the greatest of the values, after it converts them with `number`.
#[inline(always)]
fn integers<V: Copy, T: Copy + Ord>(values: &[V], number: impl Fn(V) -> T) -> Option<(T, T)> {
    let first = number(*values.first()?);
    let (mut min, mut max) = (first, first);
    // We do not use explicit lanes, because they would make the compiler gather the values of several blocks.
    for value in values {
        let value = number(*value);
        min = min.min(value);
        max = max.max(value);
    }
    Some((min, max))
}

/// Declares the function for floats of one width, whose bits it compares as integers of `$order`.
macro_rules! floats {
    ($name:ident: $float:ty, $order:ident) => {
        #[inline(always)]
        fn $name(values: &[$float]) -> FloatBounds<$float> {
            /// The infinities in the total order of IEEE 754, in which -NaNs precede negative infinity, and NaNs follow
            /// infinity.
            const INFINITY: $order = <$float>::INFINITY.to_bits().cast_signed();
            const NEGATIVE_INFINITY: $order = !INFINITY;
            // The order is a circle, which we rotate so that it starts elsewhere: at -infinity for the least value, and
            // right after infinity for the greatest.
            const NANS_LAST: $order = $order::MIN.wrapping_sub(NEGATIVE_INFINITY);
            const NANS_FIRST: $order = $order::MAX.wrapping_sub(INFINITY);
            const BEHIND_NANS: $order = NEGATIVE_INFINITY.wrapping_add(NANS_FIRST);
            // The bits of negative floats grow with their magnitude, so we flip them. This function is its own inverse.
            let total_order = |bits: $order| bits ^ ((bits >> ($order::BITS - 1)) & $order::MAX);
            let (mut min, mut max) = ($order::MAX, $order::MIN);
            let mut nan_count = 0;
            for block in values.chunks(COUNTED_AT_ONCE) {
                let mut nans = 0_u32;
                for value in block {
                    let order = total_order(value.to_bits().cast_signed());
                    min = min.min(order.wrapping_add(NANS_LAST));
                    max = max.max(order.wrapping_add(NANS_FIRST));
                    nans += u32::from(order.wrapping_add(NANS_FIRST) < BEHIND_NANS);
                }
                nan_count += nans as usize;
            }
            let value = |order| <$float>::from_bits(total_order(order).cast_unsigned());
            let any = nan_count < values.len();
            FloatBounds {
                min: any.then(|| value(min.wrapping_sub(NANS_LAST))),
                max: any.then(|| value(max.wrapping_sub(NANS_FIRST))),
                nan_count,
            }
        }
    };
}

floats!(floats_32: f32, i32);
floats!(floats_64: f64, i64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns numbers that have no pattern.
    fn noise(length: usize) -> Vec<u64> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let step = |_| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            state ^ (state >> 29)
        };
        (0..length).map(step).collect()
    }

    #[test]
    fn integers_are_those_of_the_iterator() {
        for length in [0, 1, 2, 15, 16, 17, 31, 32, 100, 1000] {
            let u64s = noise(length);
            let i64s: Vec<i64> = u64s.iter().map(|value| value.cast_signed()).collect();
            let u32s: Vec<u32> = u64s.iter().map(|value| *value as u32).collect();
            let i32s: Vec<i32> = u32s.iter().map(|value| value.cast_signed()).collect();
            fn expected<T: Copy + Ord>(values: &[T]) -> Option<(T, T)> {
                let (min, max) = (values.iter().min()?, values.iter().max()?);
                Some((*min, *max))
            }
            assert_eq!(min_max_i64_unsigned(&i64s), expected(&u64s));
            assert_eq!(min_max_i64(&i64s), expected(&i64s));
            assert_eq!(min_max_i32_unsigned(&i32s), expected(&u32s));
            assert_eq!(min_max_i32(&i32s), expected(&i32s));
            assert_eq!(min_max_u32(&u32s), expected(&u32s));
            assert_eq!(as_they_are(&i32s), expected(&i32s));
            assert_eq!(as_they_are(&i64s), expected(&i64s));
            assert_eq!(unsigned_32(&i32s), expected(&u32s));
            assert_eq!(unsigned_64(&i64s), expected(&u64s));
        }
    }

    #[test]
    fn floats_are_those_of_total_cmp_without_nans() {
        for length in [0, 1, 7, 16, 33, 500] {
            // Bits without a pattern are only occasionally a NaN, so we make NaNs more frequent.
            let f64s: Vec<f64> = noise(length)
                .into_iter()
                .map(|bits| {
                    f64::from_bits(if bits % 5 == 0 {
                        bits | 0x7ff8 << 48
                    } else {
                        bits
                    })
                })
                .collect();
            let f32s: Vec<f32> = f64s.iter().map(|value| *value as f32).collect();
            for bounds in [min_max_f64(&f64s), floats_64(&f64s)] {
                let sound = || f64s.iter().filter(|value| !value.is_nan());
                let bits = |value: Option<f64>| value.map(f64::to_bits);
                let min = sound().min_by(|a, b| a.total_cmp(b)).copied();
                let max = sound().max_by(|a, b| a.total_cmp(b)).copied();
                assert_eq!(bits(bounds.min), bits(min));
                assert_eq!(bits(bounds.max), bits(max));
                assert_eq!(bounds.nan_count, length - sound().count());
            }
            for bounds in [min_max_f32(&f32s), floats_32(&f32s)] {
                let sound = || f32s.iter().filter(|value| !value.is_nan());
                let bits = |value: Option<f32>| value.map(f32::to_bits);
                let min = sound().min_by(|a, b| a.total_cmp(b)).copied();
                let max = sound().max_by(|a, b| a.total_cmp(b)).copied();
                assert_eq!(bits(bounds.min), bits(min));
                assert_eq!(bits(bounds.max), bits(max));
                assert_eq!(bounds.nan_count, length - sound().count());
            }
        }
    }

    #[test]
    fn nans_of_several_blocks_add_up() {
        let mut values = vec![f32::NAN; COUNTED_AT_ONCE + 3];
        values.push(-1.5);
        values.push(-f32::NAN);
        let bounds = min_max_f32(&values);
        assert_eq!(bounds.nan_count, COUNTED_AT_ONCE + 4);
        assert_eq!((bounds.min, bounds.max), (Some(-1.5), Some(-1.5)));
    }

    #[test]
    fn zeros_are_told_apart_and_infinities_count() {
        let bounds = min_max_f32(&[0.0, -0.0, f32::NAN, 0.0]);
        assert_eq!(bounds.min.unwrap().to_bits(), (-0.0_f32).to_bits());
        assert_eq!(bounds.max.unwrap().to_bits(), 0.0_f32.to_bits());
        assert_eq!(bounds.nan_count, 1);
        let bounds = min_max_f64(&[f64::INFINITY, 1.0, f64::NEG_INFINITY, -f64::NAN]);
        assert_eq!(bounds.min, Some(f64::NEG_INFINITY));
        assert_eq!(bounds.max, Some(f64::INFINITY));
        assert_eq!(bounds.nan_count, 1);
        let nothing = FloatBounds {
            min: None,
            max: None,
            nan_count: 40,
        };
        assert_eq!(min_max_f64(&[f64::NAN; 40]), nothing);
    }
}

//! The least and the greatest of a slice of numbers.
//!
//! One portable loop over lanes, which the compiler turns into vectors; it is compiled once more
//! for each instruction set. Floats are compared as integers of the same order, which leaves NaNs
//! aside and puts -0 before +0.
//!
//! **Shapes**: any number of values in, at most one pair out.

#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};

/// Bounds of floats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloatBounds<F> {
    /// The least value that is no NaN, with -0 before +0.
    pub min: Option<F>,
    /// The greatest value that is no NaN, with -0 before +0.
    pub max: Option<F>,
    /// How many values are NaNs.
    pub nan_count: usize,
}

/// Values that are compared at a time.
const LANES: usize = 16;

/// Declares a public function and its twins for other instruction sets.
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
    /// The least and the greatest of these values, if there are any.
    min_max_i32: [i32] -> Option<(i32, i32)>, signed
}
dispatched! {
    /// The least and the greatest of these values, if there are any.
    min_max_i64: [i64] -> Option<(i64, i64)>, signed
}
dispatched! {
    /// The least and the greatest of these values as unsigned numbers, if there are any.
    min_max_i32_unsigned: [i32] -> Option<(u32, u32)>, unsigned_32
}
dispatched! {
    /// The least and the greatest of these values as unsigned numbers, if there are any.
    min_max_i64_unsigned: [i64] -> Option<(u64, u64)>, unsigned_64
}
dispatched! {
    /// The bounds of these values.
    min_max_f32: [f32] -> FloatBounds<f32>, floats
}
dispatched! {
    /// The bounds of these values.
    min_max_f64: [f64] -> FloatBounds<f64>, floats
}

#[inline(always)]
fn signed<T: Copy + Ord>(values: &[T]) -> Option<(T, T)> {
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

/// The least and the greatest of what `number` makes of the values.
#[inline(always)]
fn integers<V: Copy, T: Copy + Ord>(values: &[V], number: impl Fn(V) -> T) -> Option<(T, T)> {
    let first = number(*values.first()?);
    let (mut min, mut max) = ([first; LANES], [first; LANES]);
    let (blocks, rest) = values.as_chunks::<LANES>();
    for block in blocks {
        for ((value, min), max) in block.iter().zip(&mut min).zip(&mut max) {
            let value = number(*value);
            *min = (*min).min(value);
            *max = (*max).max(value);
        }
    }
    for value in rest {
        let value = number(*value);
        min[0] = min[0].min(value);
        max[0] = max[0].max(value);
    }
    let least = min.into_iter().fold(first, T::min);
    let greatest = max.into_iter().fold(first, T::max);
    Some((least, greatest))
}

/// A float whose order can be had as that of an integer.
trait Float: Copy {
    type Key: Copy + Ord;
    const LEAST: Self::Key;
    const GREATEST: Self::Key;

    /// An integer in the total order of IEEE 754.
    fn key(self) -> Self::Key;
    fn from_key(key: Self::Key) -> Self;
    fn is_nan(self) -> bool;
}

macro_rules! float {
    ($float:ty, $key:ty) => {
        impl Float for $float {
            type Key = $key;
            const LEAST: $key = <$key>::MIN;
            const GREATEST: $key = <$key>::MAX;

            #[inline(always)]
            fn key(self) -> $key {
                // The bits of negative floats grow with their magnitude.
                let bits = self.to_bits().cast_signed();
                bits ^ ((bits >> (<$key>::BITS - 1)) & <$key>::MAX)
            }

            #[inline(always)]
            fn from_key(key: $key) -> Self {
                let bits = key ^ ((key >> (<$key>::BITS - 1)) & <$key>::MAX);
                Self::from_bits(bits.cast_unsigned())
            }

            #[inline(always)]
            fn is_nan(self) -> bool {
                <$float>::is_nan(self)
            }
        }
    };
}

float!(f32, i32);
float!(f64, i64);

#[inline(always)]
fn floats<F: Float>(values: &[F]) -> FloatBounds<F> {
    let (mut min, mut max) = ([F::GREATEST; LANES], [F::LEAST; LANES]);
    let mut nans = 0;
    let (blocks, rest) = values.as_chunks::<LANES>();
    for block in blocks {
        // At most 16 a block: counted in small lanes, then added up.
        let mut block_nans = 0_u32;
        for ((value, min), max) in block.iter().zip(&mut min).zip(&mut max) {
            let (key, nan) = (value.key(), value.is_nan());
            block_nans += u32::from(nan);
            *min = (*min).min(if nan { F::GREATEST } else { key });
            *max = (*max).max(if nan { F::LEAST } else { key });
        }
        nans += block_nans as usize;
    }
    for value in rest {
        if value.is_nan() {
            nans += 1;
        } else {
            min[0] = min[0].min(value.key());
            max[0] = max[0].max(value.key());
        }
    }
    let least = min.into_iter().fold(F::GREATEST, F::Key::min);
    let greatest = max.into_iter().fold(F::LEAST, F::Key::max);
    let any = nans < values.len();
    FloatBounds {
        min: any.then(|| F::from_key(least)),
        max: any.then(|| F::from_key(greatest)),
        nan_count: nans,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern.
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
            assert_eq!(signed(&i32s), expected(&i32s));
            assert_eq!(signed(&i64s), expected(&i64s));
            assert_eq!(unsigned_32(&i32s), expected(&u32s));
            assert_eq!(unsigned_64(&i64s), expected(&u64s));
        }
    }

    #[test]
    fn floats_are_those_of_total_cmp_without_nans() {
        for length in [0, 1, 7, 16, 33, 500] {
            // Bits without a pattern are a NaN now and then; make it more.
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
            for bounds in [min_max_f64(&f64s), floats(&f64s)] {
                let sound = || f64s.iter().filter(|value| !value.is_nan());
                let bits = |value: Option<f64>| value.map(f64::to_bits);
                let min = sound().min_by(|a, b| a.total_cmp(b)).copied();
                let max = sound().max_by(|a, b| a.total_cmp(b)).copied();
                assert_eq!(bits(bounds.min), bits(min));
                assert_eq!(bits(bounds.max), bits(max));
                assert_eq!(bounds.nan_count, length - sound().count());
            }
            for bounds in [min_max_f32(&f32s), floats(&f32s)] {
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

//! The arithmetic that encodes both floating-point types.

use super::{AlpFloat, Fit, Pair};
use crate::bit_pack;
use crate::multiversion::multiversion;

/// A number type that the ALP encoder accepts, which is `f32` or `f64`.
pub trait AlpEncode: AlpFloat {
    /// Writes an integer for each value to the beginning of `integers`, which has at least as many elements.
    #[doc(hidden)]
    fn fit(values: &[Self], pair: Pair, integers: &mut [Self::Integer]) -> Fit<Self::Integer>;

    /// Replaces the integers of exceptions with the first integer that is not an exception, so that they fit into the
    /// others' width. If all values are exceptions, the replacement is zero. Returns the positions of the exceptions.
    #[doc(hidden)]
    fn replace_exceptions(values: &[Self], pair: Pair, integers: &mut [Self::Integer]) -> Vec<u16>;

    /// Appends the base, the width, and the integers' differences from the base.
    #[doc(hidden)]
    fn pack(integers: &[Self::Integer], fit: Fit<Self::Integer>, out: &mut Vec<u8>);
}

macro_rules! number {
    ($float:ident, $inner:ident, $integer:ident, $pack:ident) => {
        impl AlpEncode for $float {
            fn fit(values: &[Self], pair: Pair, integers: &mut [$integer]) -> Fit<$integer> {
                multiversion!(
                    $inner(values: &[$float], pair: Pair, integers: &mut [$integer]) -> Fit<$integer>
                )
            }

            fn replace_exceptions(
                values: &[Self],
                pair: Pair,
                integers: &mut [$integer],
            ) -> Vec<u16> {
                let powers = powers::<$float>(pair.factor, pair.exponent);
                let comes_back = |value: $float, integer: $integer| {
                    $float::scale(integer, powers).to_bits() == value.to_bits()
                };
                let mut pairs = values.iter().zip(integers.iter());
                let placeholder = pairs.find(|(value, integer)| comes_back(**value, **integer));
                let placeholder = placeholder.map_or(0, |(_, integer)| *integer);
                let mut positions = Vec::new();
                for (at, (value, integer)) in (0..).zip(values.iter().zip(integers)) {
                    if !comes_back(*value, *integer) {
                        *integer = placeholder;
                        positions.push(at);
                    }
                }
                positions
            }

            fn pack(integers: &[$integer], fit: Fit<$integer>, out: &mut Vec<u8>) {
                out.extend(fit.least.to_le_bytes());
                out.push(fit.width);
                let raised = integers.iter().map(|integer| integer.wrapping_sub(fit.least));
                let raised: Vec<_> = raised.map($integer::cast_unsigned).collect();
                bit_pack::$pack(&raised, fit.width, out);
            }
        }

        #[inline(always)]
        fn $inner(values: &[$float], pair: Pair, integers: &mut [$integer]) -> Fit<$integer> {
            // Encoding multiplies by the inverse powers of those used in decoding.
            let [up, down] = powers::<$float>(pair.exponent, pair.factor);
            let back = powers::<$float>(pair.factor, pair.exponent);
            let (mut least, mut greatest) = ($integer::MAX, $integer::MIN);
            let mut good: $integer = 0;
            for (integer, value) in integers.iter_mut().zip(values) {
                *integer = (value * up * down).round_ties_even() as $integer;
                let is_good = $float::scale(*integer, back).to_bits() == value.to_bits();
                least = least.min(if is_good { *integer } else { $integer::MAX });
                greatest = greatest.max(if is_good { *integer } else { $integer::MIN });
                good += $integer::from(is_good);
            }
            if good == 0 {
                (least, greatest) = (0, 0);
            }
            let range = greatest.wrapping_sub(least).cast_unsigned();
            Fit {
                least,
                width: ($integer::BITS - range.leading_zeros()) as u8,
                exceptions: values.len() - good as usize,
            }
        }
    };
}
number!(f32, fit_f32, i32, pack_u32);
number!(f64, fit_f64, i64, pack_u64);

/// Returns [`AlpFloat::powers`] for a pair in range.
#[inline(always)]
fn powers<T: AlpFloat>(up: u8, down: u8) -> [T; 2] {
    T::powers(up, down).unwrap_or_default()
}

//! ALP stores floating-point numbers as bit-packed integers times a power of ten, with exceptions.
//!
//! ```text
//! header       0 | 0 | log2 of the values per vector | total number of values (i32)
//! offsets      start of each vector, counted from here (u32 each)
//! vector       exponent | factor | exceptions (u16) | base (i32 or i64) | width
//!              (integer - base) in `width` bits each | positions (u16) | exceptions (IEEE 754)
//! ```
//!
//! A value is `integer * 10^factor * 10^-exponent`, computed as two multiplications that are each rounded. The powers
//! are the numbers nearest to the decimal ones. We must compute it exactly like this, because no other computation
//! returns the same bits.
//!
//! Functions fail with [`Malformed`] if headers break the rules or bytes end early. We reserve memory for the values
//! that a caller requests, and never for the number that a header claims.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod encode;
mod scalar;
#[cfg(test)]
mod tests;

pub use encode::{AlpEncode, AlpEncoder};

use crate::Malformed;
use crate::plain::{self, Plain};
use crate::simd_lanes::Packed;

/// The page header's size in bytes.
const HEADER_BYTES: usize = 7;
/// The number of bytes in the vector header before its base, which are the exponent, the factor and the number of
/// exceptions.
const PARAMETER_BYTES: usize = 4;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A number type that ALP encodes, which is `f32` or `f64`.
pub trait AlpFloat: Plain + sealed::Sealed {
    /// The signed integer of the same size.
    type Integer: Plain;
    /// The largest exponent.
    const MAX_EXPONENT: u8;

    /// Computes `integer * 10^factor * 10^-exponent` for a valid factor and exponent.
    #[doc(hidden)]
    fn scale(integer: Self::Integer, powers: [Self; 2]) -> Self;

    /// Returns `10^factor` and `10^-exponent`.
    #[doc(hidden)]
    fn powers(factor: u8, exponent: u8) -> Option<[Self; 2]>;

    /// Adds `base` to the integers in `run`, scales them, and appends the results.
    #[doc(hidden)]
    fn decode(run: Run<'_>, base: Self::Integer, powers: [Self; 2], out: &mut Vec<Self>);
}

/// The bit-packed integers of one vector, or of a part of it.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Run<'a>(Packed<'a>);

macro_rules! alp {
    ($float:ident, $integer:ident, [$($power:literal)*], [$($inverse:literal)*]) => {
        impl AlpFloat for $float {
            type Integer = $integer;
            const MAX_EXPONENT: u8 = [$($power),*].len() as u8 - 1;

            #[inline]
            fn scale(integer: $integer, [up, down]: [Self; 2]) -> Self {
                integer as $float * up * down
            }

            fn powers(factor: u8, exponent: u8) -> Option<[Self; 2]> {
                const POWERS: &[$float] = &[$($power),*];
                const INVERSES: &[$float] = &[$($inverse),*];
                let up = *POWERS.get(usize::from(factor))?;
                Some([up, *INVERSES.get(usize::from(exponent))?])
            }

            fn decode(Run(run): Run<'_>, base: $integer, powers: [Self; 2], out: &mut Vec<Self>) {
                #[cfg(target_arch = "x86_64")]
                {
                    if crate::cpu::Avx512::detect().is_some() {
                        // SAFETY: the token proves the target features of the function.
                        return unsafe { avx512::$float(&run, base, powers, out) };
                    }
                    if crate::cpu::Avx2::detect().is_some() {
                        // SAFETY: the token proves the target features of the function.
                        return unsafe { avx2::$float(&run, base, powers, out) };
                    }
                }
                scalar::$float(&run, base, powers, out);
            }
        }
    };
}
alp!(
    f32, i32,
    [1e0 1e1 1e2 1e3 1e4 1e5 1e6 1e7 1e8 1e9 1e10],
    [1e0 1e-1 1e-2 1e-3 1e-4 1e-5 1e-6 1e-7 1e-8 1e-9 1e-10]
);
alp!(
    f64, i64,
    [1e0 1e1 1e2 1e3 1e4 1e5 1e6 1e7 1e8 1e9 1e10 1e11 1e12 1e13 1e14 1e15 1e16 1e17 1e18],
    [1e0 1e-1 1e-2 1e-3 1e-4 1e-5 1e-6 1e-7 1e-8 1e-9 1e-10 1e-11 1e-12 1e-13 1e-14 1e-15 1e-16
     1e-17 1e-18]
);

/// A position in ALP data. The data is not part of it, so every call must pass the same bytes.
#[derive(Debug, Clone)]
pub struct AlpDecoder<T> {
    log_vector_size: u8,
    total: usize,
    /// The number of values that have been read or skipped so far.
    passed: usize,
    float: std::marker::PhantomData<T>,
}

/// A parsed vector.
struct Vector<'a, T: AlpFloat> {
    powers: [T; 2],
    base: T::Integer,
    width: usize,
    /// The data from the first packed integer on.
    packed: &'a [u8],
    /// The positions of the exceptions, with two bytes each.
    positions: &'a [u8],
    /// The exceptions, with one number per position.
    values: &'a [u8],
}

impl<T: AlpFloat> AlpDecoder<T> {
    /// Reads the header.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the header ends early or breaks the rules of the format.
    pub fn new(data: &[u8]) -> Result<Self, Malformed> {
        let Some(&[mode, integers, log_vector_size, a, b, c, d]) = data.first_chunk() else {
            return Err(Malformed("the ALP header ends early"));
        };
        if mode != 0 || integers != 0 {
            return Err(Malformed("an unknown ALP mode"));
        }
        if !(3..=15).contains(&log_vector_size) {
            return Err(Malformed("the ALP vector size is not 2^3 to 2^15"));
        }
        let total = usize::try_from(i32::from_le_bytes([a, b, c, d]))
            .map_err(|_| Malformed("an ALP page has a negative number of values"))?;
        Ok(Self {
            log_vector_size,
            total,
            passed: 0,
            float: std::marker::PhantomData,
        })
    }

    /// Returns the total number of values that the header claims, including those already read or skipped.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the number of values left.
    pub fn left(&self) -> usize {
        self.total - self.passed
    }

    /// Skips the next `n` values, which only moves the position.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if fewer values are left.
    pub fn skip(&mut self, n: usize) -> Result<(), Malformed> {
        if n > self.total - self.passed {
            return Err(Malformed("the ALP values end early"));
        }
        self.passed += n;
        Ok(())
    }

    /// Appends the next `n` values.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if fewer values are left, or if their bytes break the rules.
    pub fn extend(&mut self, data: &[u8], n: usize, out: &mut Vec<T>) -> Result<(), Malformed> {
        let start = self.passed;
        self.skip(n)?;
        out.reserve(n);
        let size = 1 << self.log_vector_size;
        let mut at = start;
        while at < start + n {
            let first = at % size;
            let step = (size - first).min(start + n - at);
            let values = size.min(self.total - (at - first));
            let vector = self.vector(data, at / size, values)?;
            vector.decode(first, step, out)?;
            at += step;
        }
        Ok(())
    }

    /// Returns vector `index`, which has `n` values.
    fn vector<'a>(
        &self,
        data: &'a [u8],
        index: usize,
        n: usize,
    ) -> Result<Vector<'a, T>, Malformed> {
        const EARLY: Malformed = Malformed("an ALP vector ends early");
        let body = data.get(HEADER_BYTES..).ok_or(EARLY)?;
        let offset = body
            .get(index * 4..)
            .and_then(<[u8]>::first_chunk)
            .ok_or(EARLY)?;
        let offset = u32::from_le_bytes(*offset) as usize;
        let vectors = self.total.div_ceil(1 << self.log_vector_size);
        if offset < vectors * 4 {
            return Err(Malformed("an ALP vector starts among the offsets"));
        }
        let vector = body.get(offset..).ok_or(EARLY)?;
        let (&[exponent, factor, low, high], rest) =
            vector.split_first_chunk::<PARAMETER_BYTES>().ok_or(EARLY)?;
        if exponent > T::MAX_EXPONENT || factor > exponent {
            return Err(Malformed("an ALP exponent or factor out of range"));
        }
        let powers = T::powers(factor, exponent).ok_or(Malformed("an ALP exponent"))?;
        let (base, rest) = rest.split_at_checked(size_of::<T>()).ok_or(EARLY)?;
        let (&width, packed) = rest.split_first().ok_or(EARLY)?;
        let width = usize::from(width);
        if width > size_of::<T>() * 8 {
            return Err(Malformed("an ALP vector is wider than its values"));
        }
        let exceptions = usize::from(u16::from_le_bytes([low, high]));
        let (_, rest) = packed
            .split_at_checked((n * width).div_ceil(8))
            .ok_or(EARLY)?;
        let (positions, rest) = rest.split_at_checked(exceptions * 2).ok_or(EARLY)?;
        let values = rest.get(..exceptions * size_of::<T>()).ok_or(EARLY)?;
        let within = |position: &[u8; 2]| usize::from(u16::from_le_bytes(*position)) < n;
        if !positions.as_chunks().0.iter().all(within) {
            return Err(Malformed(
                "an ALP exception lies past the end of its vector",
            ));
        }
        Ok(Vector {
            powers,
            base: plain::read(base).ok_or(EARLY)?,
            width,
            packed,
            positions,
            values,
        })
    }
}

impl<T: AlpFloat> Vector<'_, T> {
    /// Appends the values `first..first + n`.
    fn decode(&self, first: usize, n: usize, out: &mut Vec<T>) -> Result<(), Malformed> {
        let start = out.len();
        if self.width == 0 {
            out.resize(start + n, T::scale(self.base, self.powers));
        } else {
            let run = Packed::new(self.packed, first, self.width, n);
            let run = run.ok_or(Malformed("the ALP integers end early"))?;
            T::decode(Run(run), self.base, self.powers, out);
        }
        let positions = self.positions.as_chunks().0;
        for (position, value) in positions
            .iter()
            .zip(self.values.chunks_exact(size_of::<T>()))
        {
            let slot = usize::from(u16::from_le_bytes(*position)).checked_sub(first);
            if let Some(slot) = slot.and_then(|slot| out.get_mut(start + slot)) {
                *slot = plain::read(value).unwrap_or_default();
            }
        }
        Ok(())
    }
}

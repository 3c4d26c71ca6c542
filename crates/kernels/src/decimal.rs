//! Decodes decimals to Arrow's integers, from integers or from big-endian two's complement of any length.
//!
//! ```text
//! FIXED_LEN_BYTE_ARRAY(5)   FF FF FF FF 38   is -200 / 10^scale
//! ```
//!
//! Values may be longer than the target integer, as long as the leading bytes only repeat the sign. An empty value is
//! the number 0. Functions fail with [`Malformed`] if a number does not fit into the integer.

use herringbone_arrow::buffer::i256;

use crate::Malformed;
use crate::multiversion::multiversion;
use crate::plain::{self, Plain};
use crate::prefetch;

mod sealed {
    pub trait Sealed {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
    impl Sealed for i128 {}
    impl Sealed for super::i256 {}
}

/// An integer that represents an Arrow decimal, which is `i32`, `i64`, `i128` or `i256`.
pub trait Decimal: Copy + Default + sealed::Sealed {
    /// The size of the integer in bytes.
    const BYTES: usize;

    /// Converts `value`, and truncates it to the bits of this integer.
    fn wrap(value: i64) -> Self;

    /// Appends the 32-bit integers in `bytes`, and truncates them to the bits of this integer.
    fn extend_i32(bytes: &[u8], out: &mut Vec<Self>) {
        out.extend(plain::values::<i32>(bytes).map(|value| Self::wrap(value.into())));
    }

    /// Appends the 64-bit integers in `bytes`, and truncates them to the bits of this integer.
    fn extend_i64(bytes: &[u8], out: &mut Vec<Self>) {
        out.extend(plain::values::<i64>(bytes).map(Self::wrap));
    }

    /// Converts at most [`Self::BYTES`] big-endian bytes.
    #[doc(hidden)]
    fn from_short(bytes: &[u8]) -> Self;

    /// Appends the numbers of `width` bytes each. The width is at least 1 and at most [`Self::BYTES`].
    #[doc(hidden)]
    fn extend_short(bytes: &[u8], width: usize, out: &mut Vec<Self>);
}

/// Converts `bytes` from big-endian two's complement.
///
/// # Errors
/// Fails with [`Malformed`] if the number does not fit into `T`.
#[inline]
pub fn from_big_endian<T: Decimal>(bytes: &[u8]) -> Result<T, Malformed> {
    let Some((front, short)) = bytes.split_at_checked(bytes.len().saturating_sub(T::BYTES)) else {
        return Ok(T::default());
    };
    // The leading bytes may only repeat the sign bit of the bytes that follow them.
    let sign = match short.first() {
        Some(byte) if *byte >= 0x80 => 0xff,
        _ => 0,
    };
    if front.iter().any(|byte| *byte != sign) {
        return Err(Malformed(
            "a decimal has more digits than its precision allows",
        ));
    }
    Ok(T::from_short(short))
}

/// Appends the numbers of `width` bytes each, and ignores an incomplete number at the end.
///
/// # Errors
/// Fails with [`Malformed`] if one of the numbers does not fit into `T`.
pub fn extend<T: Decimal>(bytes: &[u8], width: usize, out: &mut Vec<T>) -> Result<(), Malformed> {
    match width {
        0 => {}
        _ if width <= T::BYTES => T::extend_short(bytes, width, out),
        _ => {
            out.reserve(bytes.len() / width);
            for number in bytes.chunks_exact(width) {
                out.push(from_big_endian(number)?);
            }
        }
    }
    Ok(())
}

/// Appends integers as 64-bit integers. Returns false if one of them does not fit, and then the appended values are
/// meaningless.
pub fn narrow(values: &[i128], out: &mut Vec<i64>) -> bool {
    multiversion!(narrow_all(values: &[i128], out: &mut Vec<i64>) -> bool)
}

/// Implements [`narrow`] without branches, so that the compiler vectorises it.
#[inline(always)]
fn narrow_all(values: &[i128], out: &mut Vec<i64>) -> bool {
    let mut beyond = 0;
    out.extend(values.iter().map(|value| {
        let (low, high) = (*value as i64, (*value >> 64) as i64);
        beyond |= high ^ (low >> 63);
        low
    }));
    beyond == 0
}

/// Appends integers as big-endian two's complement of `width` bytes. Returns false if one of them needs more bytes, or
/// if the width is not 1 to 16. In that case the appended bytes are meaningless.
pub fn append_big_endian(values: &[i128], width: usize, out: &mut Vec<u8>) -> bool {
    multiversion!(append_all(values: &[i128], width: usize, out: &mut Vec<u8>) -> bool)
}

/// Implements [`append_big_endian`]. This always writes 16 bytes per number, and the next number overwrites the excess.
#[inline(always)]
fn append_all(values: &[i128], width: usize, out: &mut Vec<u8>) -> bool {
    const BYTES: usize = size_of::<i128>();
    if !(1..=BYTES).contains(&width) {
        return false;
    }
    let unused = 8 * (BYTES - width);
    let start = out.len();
    out.reserve(values.len() * width + BYTES);
    let mut beyond = 0;
    // SAFETY: number `n` is written from byte `n * width` on. So the last write ends at most `BYTES` after all
    // previous numbers. That much was reserved, since `width` is at most `BYTES`. All bytes up to the new length
    // are written.
    unsafe {
        let mut at = out.as_mut_ptr().add(start).cast::<[u8; BYTES]>();
        for value in values {
            let front = value << unused;
            beyond |= (front >> unused) ^ value;
            at.write(front.to_be_bytes());
            at = at.byte_add(width);
        }
        out.set_len(start + values.len() * width);
    }
    beyond == 0
}

/// Appends integers as 128-bit integers. We write them as pairs of 64-bit words, which are the number and its sign.
#[inline(always)]
fn extend_pairs<F: Plain + Into<i64>>(bytes: &[u8], out: &mut Vec<i128>) {
    let n = bytes.len() / size_of::<F>();
    out.reserve(n);
    let mut slots = out.spare_capacity_mut().as_mut_ptr().cast::<[i64; 2]>();
    let mut pairs = |bytes: &[u8]| {
        for value in plain::values::<F>(bytes) {
            let value = value.into();
            // SAFETY: memory for all values is reserved, and an `i128` has the size of a pair.
            unsafe { slots.write([value, value >> 63]) };
            // SAFETY: the written pair lies in that memory.
            slots = unsafe { slots.add(1) };
        }
    };
    for block in prefetch::blocks(bytes) {
        pairs(block);
    }
    // SAFETY: the loop has written all `n` values, and any bits are a valid `i128`.
    unsafe { out.set_len(out.len() + n) };
}

#[inline(always)]
fn pairs_i32(bytes: &[u8], out: &mut Vec<i128>) {
    extend_pairs::<i32>(bytes, out);
}

#[inline(always)]
fn pairs_i64(bytes: &[u8], out: &mut Vec<i128>) {
    extend_pairs::<i64>(bytes, out);
}

macro_rules! decimal {
    ($type:ident, $bytes:literal, $($width:literal)*; $($more:item)*) => {
        #[allow(trivial_numeric_casts, reason = "the macro serves several integers")]
        impl Decimal for $type {
            const BYTES: usize = $bytes;

            #[inline]
            fn wrap(value: i64) -> Self {
                value as _
            }

            #[inline]
            fn from_short(bytes: &[u8]) -> Self {
                let negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
                let sign: Self = if negative { -1 } else { 0 };
                let mut number = sign.to_be_bytes();
                if let Some(end) = number.get_mut($bytes - bytes.len().min($bytes)..) {
                    end.copy_from_slice(bytes);
                }
                Self::from_be_bytes(number)
            }

            fn extend_short(bytes: &[u8], width: usize, out: &mut Vec<Self>) {
                match width {
                    $($width => $type::<$width>(bytes, out),)*
                    _ => {}
                }
            }

            $($more)*
        }

        /// Decodes numbers of `WIDTH` bytes. This loads the full integer that ends where a number ends, and then shifts
        /// out the bytes of the previous number.
        fn $type<const WIDTH: usize>(bytes: &[u8], out: &mut Vec<$type>) {
            let n = bytes.len() / WIDTH;
            // The first numbers do not have enough bytes before them, so we convert them one by one.
            let short = ($bytes / WIDTH).min(n);
            out.reserve(n);
            out.extend(bytes.chunks_exact(WIDTH).take(short).map($type::from_short));
            out.extend((short..n).map(|i| {
                let start = (i + 1) * WIDTH - $bytes;
                let number = bytes.as_ptr().wrapping_add(start).cast::<[u8; $bytes]>();
                prefetch::ahead(number);
                // SAFETY: number `i >= $bytes / WIDTH` ends at `(i + 1) * WIDTH > $bytes`, so `start` does not
                // underflow. That end is at most `n * WIDTH`.
                let number = unsafe { number.read_unaligned() };
                $type::from_be_bytes(number) << (8 * ($bytes - WIDTH)) >> (8 * ($bytes - WIDTH))
            }));
        }
    };
}
decimal!(i32, 4, 1 2 3 4;);
decimal!(i64, 8, 1 2 3 4 5 6 7 8;);
decimal!(
    i128, 16, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16;
    fn extend_i32(bytes: &[u8], out: &mut Vec<Self>) {
        multiversion!(pairs_i32(bytes: &[u8], out: &mut Vec<i128>))
    }

    fn extend_i64(bytes: &[u8], out: &mut Vec<Self>) {
        multiversion!(pairs_i64(bytes: &[u8], out: &mut Vec<i128>))
    }
);

impl Decimal for i256 {
    const BYTES: usize = 32;

    #[inline]
    fn wrap(value: i64) -> Self {
        Self::from_i128(value.into())
    }

    #[inline]
    fn from_short(bytes: &[u8]) -> Self {
        let negative = bytes.first().is_some_and(|byte| *byte >= 0x80);
        let mut number = if negative { [0xff; 32] } else { [0; 32] };
        if let Some(end) = number.get_mut(32 - bytes.len().min(32)..) {
            end.copy_from_slice(bytes);
        }
        Self::from_be_bytes(number)
    }

    fn extend_short(bytes: &[u8], width: usize, out: &mut Vec<Self>) {
        out.extend(bytes.chunks_exact(width).map(Self::from_short));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the number byte by byte, by the definition of two's complement.
    fn naive(bytes: &[u8]) -> i128 {
        let start = if bytes.first().is_some_and(|b| b & 0x80 != 0) {
            -1
        } else {
            0
        };
        bytes
            .iter()
            .fold(start, |n: i128, b| n.wrapping_mul(256) + i128::from(*b))
    }

    #[test]
    fn integers_of_64_bits_are_told_from_larger_ones() {
        let fitting: Vec<i128> = [0, -1, 1, i64::MAX, i64::MIN, -200]
            .into_iter()
            .cycle()
            .take(100)
            .map(i128::from)
            .collect();
        let mut out = vec![7];
        assert!(narrow(&fitting, &mut out));
        assert_eq!(out.len(), 101);
        assert!(
            out[1..]
                .iter()
                .map(|n| i128::from(*n))
                .eq(fitting.iter().copied())
        );
        let too_large = [1 << 63, -(1 << 63) - 1, 1 << 64, i128::MAX, i128::MIN];
        for number in too_large {
            for at in [0, 31, 99] {
                let mut numbers = fitting.clone();
                numbers[at] = number;
                assert!(!narrow(&numbers, &mut Vec::new()), "{number} at {at}");
                assert!(!narrow_all(&numbers, &mut Vec::new()));
            }
        }
    }

    /// Checks that all numbers that fit can be decoded again, and that the others are reported.
    #[test]
    fn numbers_become_as_many_bytes_as_are_asked_for() {
        for width in 1..=16_usize {
            let most = i128::MAX >> (128 - 8 * width);
            let values = [0, 1, -1, most, -most - 1, most / 3, 7];
            for len in 0..=values.len() {
                let mut bytes = b"before".to_vec();
                assert!(append_big_endian(&values[..len], width, &mut bytes));
                assert_eq!(&bytes[..6], b"before");
                let numbers = bytes[6..].chunks_exact(width).map(naive);
                assert_eq!(numbers.collect::<Vec<_>>(), values[..len], "{width}");
            }
            if width < 16 {
                for beyond in [most + 1, -most - 2, i128::MAX, i128::MIN] {
                    let values = [1, beyond, 1];
                    assert!(!append_big_endian(&values, width, &mut Vec::new()));
                }
            }
        }
        let mut bytes = Vec::new();
        assert!(append_big_endian(&[-200], 5, &mut bytes));
        assert_eq!(bytes, [0xff, 0xff, 0xff, 0xff, 0x38]);
        for width in [0, 17, usize::MAX] {
            assert!(!append_big_endian(&[0], width, &mut bytes), "{width}");
        }
    }

    #[test]
    fn known_numbers() {
        assert_eq!(from_big_endian::<i32>(&[]), Ok(0));
        assert_eq!(from_big_endian::<i64>(&[0xff, 0x38]), Ok(-200));
        assert_eq!(
            from_big_endian::<i128>(&[0xff, 0xff, 0xff, 0xff, 0x38]),
            Ok(-200)
        );
        assert_eq!(
            from_big_endian::<i256>(&[0x01, 0x00]),
            Ok(i256::from_i128(256))
        );
        assert_eq!(from_big_endian::<i256>(&[0xfe; 1]), Ok(i256::from_i128(-2)));
    }

    #[test]
    fn all_widths_up_to_the_integer() {
        let bytes = crate::simd_lanes::noise(16 * 50);
        for width in 1..=16 {
            let numbers: Vec<i128> = bytes.chunks_exact(width).map(naive).collect();
            let mut wide = vec![5];
            extend::<i128>(&bytes, width, &mut wide).unwrap();
            assert_eq!(&wide[1..], numbers, "width {width}");
            let mut wider = Vec::new();
            extend::<i256>(&bytes, width, &mut wider).unwrap();
            assert!(
                wider
                    .iter()
                    .zip(&numbers)
                    .all(|(a, b)| *a == i256::from_i128(*b))
            );
            if width <= 8 {
                let mut out = Vec::new();
                extend::<i64>(&bytes, width, &mut out).unwrap();
                assert!(
                    out.iter()
                        .map(|n| i128::from(*n))
                        .eq(numbers.iter().copied())
                );
            }
            if width <= 4 {
                let mut out = Vec::new();
                extend::<i32>(&bytes, width, &mut out).unwrap();
                assert!(
                    out.iter()
                        .map(|n| i128::from(*n))
                        .eq(numbers.iter().copied())
                );
            }
        }
    }

    #[test]
    fn integers_keep_their_value() {
        for n in [0, 1, 7, 100] {
            let bytes = crate::simd_lanes::noise(8 * n);
            let narrow: Vec<i32> = bytes.chunks_exact(8).map(from_short_chunk).collect();
            let wide: Vec<i64> = bytes.chunks_exact(8).map(from_short_chunk).collect();
            let mut out = vec![9_i128];
            i128::extend_i32(plain::bytes(&narrow), &mut out);
            i128::extend_i64(plain::bytes(&wide), &mut out);
            let expected = narrow.iter().map(|n| i128::from(*n));
            let expected = expected.chain(wide.iter().map(|n| i128::from(*n)));
            assert!(out[1..].iter().copied().eq(expected));
            let mut out = Vec::<i256>::new();
            i256::extend_i64(plain::bytes(&wide), &mut out);
            assert!(
                out.iter()
                    .map(|n| n.to_i128())
                    .eq(wide.iter().map(|n| Some(i128::from(*n))))
            );
        }
    }

    fn from_short_chunk<T: Decimal>(bytes: &[u8]) -> T {
        T::from_short(&bytes[..T::BYTES])
    }

    #[test]
    fn overlong_numbers_must_repeat_the_sign() {
        let mut out = Vec::<i32>::new();
        let page = [0, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff, 0xf9];
        extend(&page, 5, &mut out).unwrap();
        assert_eq!(out, [7, -7]);
        for bad in [[0, 0x80, 0, 0, 0], [0xff, 0x7f, 0, 0, 0], [1, 0, 0, 0, 0]] {
            assert!(extend(&bad, 5, &mut Vec::<i32>::new()).is_err());
        }
        assert_eq!(from_big_endian::<i64>(&[0xff; 40]), Ok(-1));
        assert!(from_big_endian::<i256>(&[0x01; 33]).is_err());
        extend(&page, 0, &mut out).unwrap();
        assert_eq!(out.len(), 2);
    }
}

//! Converts unscaled decimal integers to their stored form. The result is exact, or an error.

use std::fmt;

use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Remedy, Result};
use herringbone_kernels::decimal;
use herringbone_schema::{WriteConversion, WriteLeaf};

/// A decimal's unscaled value.
pub(super) trait Unscaled: Copy + fmt::Display {
    /// Converts to 128 bits, if the value fits.
    fn to_i128(self) -> Option<i128>;
    /// Converts to 256 bits.
    fn to_i256(self) -> i256;
    /// Returns true if all of `values` have at most `digits` digits, which must not exceed the type's maximum
    /// precision.
    fn all_within(values: &[Self], digits: u8) -> bool;
    /// Appends all values as 64 bits. Returns false if a value does not fit, and leaves the appended values
    /// meaningless.
    fn narrow(values: &[Self], out: &mut Vec<i64>) -> bool;
    /// Appends all values as `width` big-endian bytes. Returns false if a value needs more bytes or there's no fast
    /// path. In either case the appended bytes are meaningless.
    fn append_big_endian(values: &[Self], width: usize, out: &mut Vec<u8>) -> bool;
}

macro_rules! unscaled {
    ($($type:ty, $narrow:expr, $append_big_endian:expr;)*) => {$(
        impl Unscaled for $type {
            fn append_big_endian(values: &[Self], width: usize, out: &mut Vec<u8>) -> bool {
                $append_big_endian(values, width, out)
            }

            fn narrow(values: &[Self], out: &mut Vec<i64>) -> bool {
                $narrow(values, out)
            }

            fn all_within(values: &[Self], digits: u8) -> bool {
                let Some(limit) = <$type>::checked_pow(10, digits.into()).map(|it| it - 1) else {
                    return true;
                };
                // We use one branchless comparison per value, so that the compiler can vectorize it.
                let span = limit.cast_unsigned() * 2;
                let beyond = |value: &$type| value.wrapping_add(limit).cast_unsigned() > span;
                !values.iter().fold(false, |any, value| any | beyond(value))
            }

            #[inline]
            fn to_i128(self) -> Option<i128> {
                Some(self.into())
            }
            #[inline]
            fn to_i256(self) -> i256 {
                i256::from_i128(self.into())
            }
        }
    )*};
}

unscaled! {
    i32, each_fits, none_fits;
    i64, each_fits, none_fits;
    i128, decimal::narrow, decimal::append_big_endian;
}

/// The fallback for types without a fast path.
fn none_fits<T>(_: &[T], _: usize, _: &mut Vec<u8>) -> bool {
    false
}

/// Appends numbers of at most 64 bits.
fn each_fits<T: Copy + Into<i64>>(values: &[T], out: &mut Vec<i64>) -> bool {
    out.extend(values.iter().map(|value| (*value).into()));
    true
}

impl Unscaled for i256 {
    fn all_within(values: &[Self], digits: u8) -> bool {
        let ten = Self::from_i128(10);
        let limit = (0..digits).try_fold(Self::ONE, |power, _| power.checked_mul(ten));
        limit.is_none_or(|limit| {
            let least = limit.wrapping_neg();
            let beyond = |value: &Self| *value <= least || *value >= limit;
            !values.iter().fold(false, |any, value| any | beyond(value))
        })
    }

    fn append_big_endian(values: &[Self], width: usize, out: &mut Vec<u8>) -> bool {
        none_fits(values, width, out)
    }

    fn narrow(values: &[Self], out: &mut Vec<i64>) -> bool {
        let narrow = |value: &Self| value.to_i128().and_then(|i128| i64::try_from(i128).ok());
        let before = out.len();
        out.extend(values.iter().map_while(narrow));
        out.len() - before == values.len()
    }

    #[inline]
    fn to_i128(self) -> Option<i128> {
        Self::to_i128(self)
    }

    #[inline]
    fn to_i256(self) -> i256 {
        self
    }
}

/// The power of ten to multiply unscaled values by. Needed because Parquet has no negative scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rescale {
    power: u32,
}

impl Rescale {
    pub(super) fn of(conversion: WriteConversion) -> Self {
        let power = match conversion {
            WriteConversion::Rescale { digits } => u32::from(digits),
            _ => 0,
        };
        Self { power }
    }

    /// Returns true if values are stored unchanged.
    pub(super) fn is_none(self) -> bool {
        self.power == 0
    }

    /// Returns the value to be stored, if it fits in 128 bits.
    #[inline]
    pub(super) fn apply<T: Unscaled>(self, value: T) -> Option<i128> {
        let value = value.to_i128()?;
        if self.power == 0 {
            return Some(value);
        }
        value.checked_mul(10_i128.checked_pow(self.power)?)
    }

    /// Appends the stored value as `width` big-endian bytes. Returns false if the value needs more bytes.
    #[inline]
    pub(super) fn append_big_endian<T: Unscaled>(
        self,
        value: T,
        width: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        if let Some(value) = self.apply(value) {
            return append_low(&value.to_be_bytes(), width, out);
        }
        let mut wide = value.to_i256();
        for _ in 0..self.power {
            let Some(next) = wide.checked_mul(i256::from_i128(10)) else {
                return false;
            };
            wide = next;
        }
        append_low(&wide.to_be_bytes(), width, out)
    }
}

/// Appends a number's lowest `width` bytes, sign-extending it if `width` is larger than the number. Returns false if
/// the number needs more bytes.
#[inline]
fn append_low(bytes: &[u8], width: usize, out: &mut Vec<u8>) -> bool {
    let sign = match bytes.first() {
        Some(byte) if *byte >= 0x80 => 0xff_u8,
        _ => 0,
    };
    match bytes.len().checked_sub(width) {
        None => {
            out.resize(out.len() + width - bytes.len(), sign);
            out.extend_from_slice(bytes);
            true
        }
        Some(cut) => {
            let (high, low) = bytes.split_at(cut);
            let fits = high.iter().all(|byte| *byte == sign)
                && low
                    .first()
                    .is_none_or(|byte| (*byte >= 0x80) == (sign == 0xff));
            out.extend_from_slice(low);
            fits
        }
    }
}

/// Refuses unscaled values with more digits than the column's precision, unless the leaf allows values out of range. We
/// have to check this, because Arrow doesn't.
pub(super) fn check_digits<T: Unscaled + fmt::Display>(
    values: &[T],
    leaf: &WriteLeaf,
) -> Result<()> {
    let Some(digits) = digits(&leaf.data_type) else {
        return Ok(());
    };
    if leaf.allow_out_of_range || T::all_within(values, digits) {
        return Ok(());
    }
    let mut refused = values
        .iter()
        .filter(|value| !T::all_within(&[**value], digits));
    Err(match refused.next() {
        Some(value) => out_of_range(*value, leaf).with_remedy(Remedy::AllowOutOfRange),
        None => Error::argument("a decimal has too many digits"),
    })
}

/// Returns the maximum number of digits in decimals of this type.
pub(super) fn digits(data_type: &DataType) -> Option<u8> {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256};
    match data_type {
        Decimal32(digits, _)
        | Decimal64(digits, _)
        | Decimal128(digits, _)
        | Decimal256(digits, _) => Some(*digits),
        _ => None,
    }
}

#[cold]
pub(super) fn out_of_range<T: Unscaled>(value: T, leaf: &WriteLeaf) -> Error {
    Error::argument(format!(
        "the unscaled decimal {value} has more digits than {} allows",
        leaf.data_type
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_sign_in_any_width() {
        let none = Rescale { power: 0 };
        let encoded = |value: i128, width| {
            let mut out = Vec::new();
            none.append_big_endian(value, width, &mut out)
                .then_some(out)
        };
        assert_eq!(encoded(1, 2), Some(vec![0, 1]));
        assert_eq!(encoded(-1, 2), Some(vec![0xff, 0xff]));
        assert_eq!(encoded(-128, 1), Some(vec![0x80]));
        assert_eq!(encoded(128, 1), None);
        assert_eq!(encoded(-129, 1), None);
        assert_eq!(encoded(-2, 17).map(|v| v.len()), Some(17));
        let ten = Rescale { power: 1 };
        assert_eq!(ten.apply(7_i64), Some(70));
        assert_eq!(ten.apply(i128::MAX), None);
        let mut out = Vec::new();
        assert!(ten.append_big_endian(i128::MAX, 17, &mut out));
        assert_eq!(out.len(), 17);
        assert_eq!(&out[..2], &[4, 0xff]);
    }

    #[test]
    fn digits_are_counted_without_the_sign() {
        for (values, digits, within) in [
            (&[0_i32, 99_999, -99_999][..], 5, true),
            (&[0, 100_000], 5, false),
            (&[-100_000], 5, false),
            (&[i32::MIN], 9, false),
            (&[i32::MAX], 9, false),
            (&[999_999_999, -999_999_999], 9, true),
            (&[], 1, true),
        ] {
            assert_eq!(i32::all_within(values, digits), within, "{values:?}");
            let wide = |value: &i32| i64::from(*value);
            let all: Vec<i64> = values.iter().map(wide).collect();
            assert_eq!(i64::all_within(&all, digits), within, "{values:?}");
            let all: Vec<i128> = all.iter().map(|it| (*it).into()).collect();
            assert_eq!(i128::all_within(&all, digits), within, "{values:?}");
            let all: Vec<i256> = all.iter().map(|it| i256::from_i128(*it)).collect();
            assert_eq!(i256::all_within(&all, digits), within, "{values:?}");
        }
        let nines = 10_i128.pow(38) - 1;
        assert!(i128::all_within(&[nines, -nines], 38));
        for value in [nines + 1, -nines - 1, i128::MAX, i128::MIN] {
            assert!(!i128::all_within(&[value], 38), "{value}");
            assert!(i256::all_within(&[i256::from_i128(value)], 39), "{value}");
        }
        assert!(!i64::all_within(&[i64::MIN, i64::MAX], 18));
        assert!(!i256::all_within(&[i256::MIN], 76));
        assert!(!i256::all_within(&[i256::MAX], 76));
    }

    #[test]
    fn the_precision_of_every_decimal_is_the_limit() {
        for (data_type, wanted) in [
            (DataType::Decimal32(9, 2), Some(9)),
            (DataType::Decimal64(18, 2), Some(18)),
            (DataType::Decimal128(38, 2), Some(38)),
            (DataType::Decimal256(76, 2), Some(76)),
            (DataType::Int32, None),
            (DataType::FixedSizeBinary(4), None),
        ] {
            assert_eq!(digits(&data_type), wanted, "{data_type}");
        }
    }
}

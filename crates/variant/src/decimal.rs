//! Decimals, stored as an unscaled integer and a scale.

use std::fmt;

/// The maximum number of digits of a decimal.
pub const MAX_DECIMAL_DIGITS: u8 = 38;
/// The maximum number of digits of a `decimal4`.
const DECIMAL4_DIGITS: u32 = 9;
/// The maximum number of digits of a `decimal8`.
const DECIMAL8_DIGITS: u32 = 18;

/// A decimal number, `unscaled × 10^-scale`.
///
/// *Variant Binary Encoding, "Variant primitive types" and "Decimal table".* Note that equality
/// compares digits, so 1.0 does not equal 1.00. To compare by value, use [`Decimal::normalized`] on
/// both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// The digits as an integer, without a point.
    pub unscaled: i128,
    /// The number of digits after the point, 0 to 38.
    pub scale: u8,
}

impl Decimal {
    /// Creates a decimal with its point before the last `scale` digits of `unscaled`.
    #[must_use]
    pub fn new(unscaled: i128, scale: u8) -> Self {
        Self { unscaled, scale }
    }

    /// Returns true if the decimal can be encoded, with at most 38 digits in total and at most 38
    /// after the point.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.scale <= MAX_DECIMAL_DIGITS && self.digits() <= MAX_DECIMAL_DIGITS.into()
    }

    /// Returns the number of digits in the unscaled value, which is 1 for zero.
    #[must_use]
    pub fn digits(&self) -> u32 {
        self.unscaled
            .unsigned_abs()
            .checked_ilog10()
            .map_or(1, |log| log + 1)
    }

    /// Returns this value without trailing zeros in its fraction.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        if self.unscaled == 0 {
            return Self::new(0, 0);
        }
        while self.scale > 0 && self.unscaled % 10 == 0 {
            self.unscaled /= 10;
            self.scale -= 1;
        }
        self
    }

    /// Returns this value with `scale` digits after the point, or `None` if that would lose digits,
    /// or if the result does not fit in 38 digits.
    #[must_use]
    pub fn rescaled(self, scale: u8) -> Option<Self> {
        let Self { unscaled, .. } = self;
        let unscaled = if scale >= self.scale {
            unscaled.checked_mul(power_of_ten(scale - self.scale)?)?
        } else if unscaled == 0 {
            0
        } else {
            let divisor = power_of_ten(self.scale - scale)?;
            if unscaled % divisor != 0 {
                return None;
            }
            unscaled / divisor
        };
        Some(Self::new(unscaled, scale)).filter(Self::is_valid)
    }

    /// Returns the width in bytes of the narrowest of `decimal4`, `decimal8` and `decimal16` that
    /// fits.
    ///
    /// Digits after the point count even if they are zeros, because a type of 9 digits has at most
    /// 9 of them after the point. The `parquet` crate refuses more.
    pub(crate) fn width(&self) -> u8 {
        match self.digits().max(self.scale.into()) {
            digits if digits <= DECIMAL4_DIGITS => 4,
            digits if digits <= DECIMAL8_DIGITS => 8,
            _ => 16,
        }
    }
}

impl fmt::Display for Decimal {
    /// Prints the decimal like `-1.05`, with `scale` digits after the point.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let scale = usize::from(self.scale);
        let digits = self.unscaled.unsigned_abs().to_string();
        if scale == 0 {
            return write!(f, "{sign}{digits}");
        }
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        write!(f, "{sign}{whole}.{fraction}")
    }
}

/// Returns 10 to the power of `exponent`, or `None` if the exponent is above 38 and the power
/// doesn't fit.
pub(crate) fn power_of_ten(exponent: u8) -> Option<i128> {
    10_i128.checked_pow(exponent.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text() {
        for (unscaled, scale, expected) in [
            (0, 0, "0"),
            (0, 2, "0.00"),
            (5, 2, "0.05"),
            (-5, 2, "-0.05"),
            (105, 2, "1.05"),
            (-105, 1, "-10.5"),
            (1, 38, "0.00000000000000000000000000000000000001"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728"),
        ] {
            assert_eq!(Decimal::new(unscaled, scale).to_string(), expected);
        }
    }

    #[test]
    fn widths_go_by_digits() {
        for (unscaled, width) in [
            (0, 4),
            (999_999_999, 4),
            (-999_999_999, 4),
            (1_000_000_000, 8),
            (999_999_999_999_999_999, 8),
            (1_000_000_000_000_000_000, 16),
            (i128::MIN, 16),
        ] {
            assert_eq!(Decimal::new(unscaled, 0).width(), width, "{unscaled}");
        }
        for (scale, width) in [(9, 4), (10, 8), (18, 8), (19, 16)] {
            assert_eq!(Decimal::new(1, scale).width(), width, "{scale}");
        }
    }

    #[test]
    fn rescaling_loses_nothing() {
        let price = Decimal::new(1050, 2);
        assert_eq!(price.rescaled(1), Some(Decimal::new(105, 1)));
        assert_eq!(price.rescaled(0), None);
        assert_eq!(price.rescaled(3), Some(Decimal::new(10_500, 3)));
        assert_eq!(price.rescaled(37), None);
        assert_eq!(price.rescaled(39), None);
        assert_eq!(Decimal::new(0, 38).rescaled(0), Some(Decimal::new(0, 0)));
        assert_eq!(Decimal::new(i128::MAX, 0).rescaled(0), None);
        assert_eq!(price.normalized(), Decimal::new(105, 1));
        assert_eq!(Decimal::new(0, 7).normalized(), Decimal::new(0, 0));
        assert_eq!(Decimal::new(100, 0).normalized(), Decimal::new(100, 0));
    }
}

//! Floating point numbers and decimals as text.

use std::fmt::{Display, Write as _};

use half::f16;

/// A floating point number, printed with the fewest digits that parse to the same value.
pub(crate) trait Float: Copy {
    /// Returns `NaN`, `Infinity` or `-Infinity` for numbers that JSON cannot represent.
    fn special(self) -> Option<&'static str>;
    /// Appends the digits of a finite number, such as `1.0`, `-0.0` or `1e300`.
    fn push_finite(self, out: &mut String);
}

fn special(is_nan: bool, is_finite: bool, is_negative: bool) -> Option<&'static str> {
    match (is_nan, is_finite, is_negative) {
        (true, ..) => Some("NaN"),
        (_, true, _) => None,
        (_, _, false) => Some("Infinity"),
        (_, _, true) => Some("-Infinity"),
    }
}

impl Float for f64 {
    fn special(self) -> Option<&'static str> {
        special(self.is_nan(), self.is_finite(), self.is_sign_negative())
    }

    fn push_finite(self, out: &mut String) {
        _ = write!(out, "{self:?}");
    }
}

impl Float for f32 {
    fn special(self) -> Option<&'static str> {
        special(self.is_nan(), self.is_finite(), self.is_sign_negative())
    }

    fn push_finite(self, out: &mut String) {
        _ = write!(out, "{self:?}");
    }
}

impl Float for f16 {
    fn special(self) -> Option<&'static str> {
        special(self.is_nan(), self.is_finite(), self.is_sign_negative())
    }

    /// Finds the shortest form by trying one to five digits, because the standard library does not support it for
    /// half floats.
    fn push_finite(self, out: &mut String) {
        let wide = self.to_f32();
        let shortest = (0..5)
            .filter_map(|digits| format!("{wide:.digits$e}").parse::<f32>().ok())
            .find(|&short| Self::from_f32(short) == self)
            .unwrap_or(wide);
        shortest.push_finite(out);
    }
}

/// Appends a decimal such as `-1.05`: the digits of `unscaled`, with `scale` of them after the point.
///
/// A negative scale appends zeros: 12 with scale -3 is `12000`.
pub(crate) fn push_decimal(out: &mut String, unscaled: impl Display, scale: i8) {
    let start = out.len();
    _ = write!(out, "{unscaled}");
    let digits_start = start + usize::from(out[start..].starts_with('-'));
    let digits = out.len() - digits_start;
    let places = usize::from(scale.unsigned_abs());
    if scale > 0 {
        if digits <= places {
            out.insert_str(digits_start, &"0".repeat(places + 1 - digits));
        }
        out.insert(out.len() - places, '.');
    } else if &out[digits_start..] != "0" {
        out.extend(std::iter::repeat_n('0', places));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use herringbone_arrow::buffer::i256;

    fn finite(value: impl Float) -> String {
        let mut out = String::new();
        assert_eq!(value.special(), None);
        value.push_finite(&mut out);
        out
    }

    #[test]
    fn finite_numbers_are_shortest_in_their_own_width() {
        assert_eq!(finite(0.1_f64), "0.1");
        assert_eq!(finite(0.1_f32), "0.1");
        assert_eq!(finite(f16::from_f32(0.1)), "0.1");
        assert_eq!(finite(-0.0_f64), "-0.0");
        assert_eq!(finite(1.0_f64), "1.0");
        assert_eq!(finite(f64::MAX), "1.7976931348623157e308");
        assert_eq!(finite(5e-324_f64), "5e-324");
        assert_eq!(finite(f32::MIN_POSITIVE), "1.1754944e-38");
        assert_eq!(finite(16_777_216_f32), "16777216.0");
        assert_eq!(finite(f16::MAX), "65500.0");
        assert_eq!(finite(f16::from_bits(1)), "6e-8");
        assert_eq!(finite(f16::NEG_ZERO), "-0.0");
    }

    #[test]
    fn every_half_float_reads_back() {
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits);
            if value.is_finite() {
                let text = finite(value);
                assert_eq!(
                    f16::from_f64(text.parse().unwrap()).to_bits(),
                    bits,
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn special_numbers_have_names() {
        assert_eq!(f64::NAN.special(), Some("NaN"));
        assert_eq!((-f64::NAN).special(), Some("NaN"));
        assert_eq!(f32::INFINITY.special(), Some("Infinity"));
        assert_eq!(f16::NEG_INFINITY.special(), Some("-Infinity"));
    }

    #[test]
    fn decimals() {
        for (unscaled, scale, expected) in [
            (0_i128, 0, "0"),
            (0, 2, "0.00"),
            (0, -2, "0"),
            (5, 2, "0.05"),
            (-5, 2, "-0.05"),
            (105, 2, "1.05"),
            (-105, 1, "-10.5"),
            (12, -3, "12000"),
            (1, 38, "0.00000000000000000000000000000000000001"),
            (i128::MIN, 0, "-170141183460469231731687303715884105728"),
            (i128::MIN, 38, "-1.70141183460469231731687303715884105728"),
        ] {
            let mut out = String::from("x");
            push_decimal(&mut out, unscaled, scale);
            assert_eq!(out, format!("x{expected}"));
        }
        let mut out = String::new();
        push_decimal(&mut out, i256::MIN, 76);
        assert_eq!(
            out,
            "-5.7896044618658097711785492504343953926634992332820282019728792003956564819968"
        );
    }
}

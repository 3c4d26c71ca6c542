//! Prints floating-point numbers and decimals as text.

use std::fmt::Write as _;

use half::f16;
use herringbone_arrow::buffer::i256;

/// A floating-point number, printed in its shortest round-trip form.
pub trait Float: Copy {
    /// Returns `NaN`, `Infinity` or `-Infinity` for a number that JSON cannot represent.
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
        let Some(units) = ten_thousandths(self) else {
            _ = write!(out, "{self:?}");
            return;
        };
        if self.is_sign_negative() {
            out.push('-');
        }
        push_integer(out, units / 10_000);
        out.push('.');
        let mut rest = units % 10_000;
        for unit in [1_000, 100, 10, 1] {
            out.push(char::from(b'0' + (rest / unit) as u8));
            rest %= unit;
            if rest == 0 {
                break;
            }
        }
    }
}

/// Fast path for numbers with up to four decimal places. Returns the number's size in units of
/// 1/10,000 if these are its shortest digits, or `None` otherwise.
///
/// Numbers of up to 15 digits have different nearest floats, so no other text as short as this one
/// parses to the number.
fn ten_thousandths(value: f64) -> Option<u64> {
    let size = value.abs();
    let units = (size * 1e4 + 0.5) as u64;
    (units < 1_000_000_000_000_000 && units as f64 / 1e4 == size).then_some(units)
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

    /// Tries one to five digits until the text round-trips, since the standard library has no
    /// shortest form for half floats.
    fn push_finite(self, out: &mut String) {
        let wide = self.to_f32();
        let shortest = (0..5)
            .filter_map(|digits| format!("{wide:.digits$e}").parse::<f32>().ok())
            .find(|&short| Self::from_f32(short) == self)
            .unwrap_or(wide);
        shortest.push_finite(out);
    }
}

/// Appends an integer.
pub fn push_integer(out: &mut String, value: impl itoa::Integer) {
    out.push_str(itoa::Buffer::new().format(value));
}

/// The digits of a decimal, without its point.
pub trait Unscaled: Copy {
    /// Calls `push` with the integer as text.
    fn as_text(self, push: impl FnOnce(&str));
}

impl Unscaled for i32 {
    fn as_text(self, push: impl FnOnce(&str)) {
        push(itoa::Buffer::new().format(self));
    }
}

impl Unscaled for i64 {
    fn as_text(self, push: impl FnOnce(&str)) {
        push(itoa::Buffer::new().format(self));
    }
}

impl Unscaled for i128 {
    fn as_text(self, push: impl FnOnce(&str)) {
        // Most values are small, and 64-bit integers are faster to format.
        match i64::try_from(self) {
            Ok(small) => small.as_text(push),
            Err(_) => push(itoa::Buffer::new().format(self)),
        }
    }
}

impl Unscaled for i256 {
    fn as_text(self, push: impl FnOnce(&str)) {
        match self.to_i128() {
            Some(small) => small.as_text(push),
            None => push(&self.to_string()),
        }
    }
}

/// Appends a decimal such as `-1.05`: the digits of `unscaled`, with `scale` of them after the
/// point.
///
/// A negative scale appends zeros, so 12 with scale -3 is `12000`.
pub fn push_decimal(out: &mut String, unscaled: impl Unscaled, scale: i8) {
    unscaled.as_text(|text| push_digits(out, text, scale));
}

fn push_digits(out: &mut String, text: &str, scale: i8) {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.len() < text.len() {
        out.push('-');
    }
    let places = usize::from(scale.unsigned_abs());
    let zeros = |count| std::iter::repeat_n('0', count);
    if scale <= 0 {
        out.push_str(digits);
        if digits != "0" {
            out.extend(zeros(places));
        }
        return;
    }
    let whole = digits.len().saturating_sub(places);
    let (whole, fraction) = digits.split_at_checked(whole).unwrap_or((digits, ""));
    out.push_str(if whole.is_empty() { "0" } else { whole });
    out.push('.');
    out.extend(zeros(places - fraction.len()));
    out.push_str(fraction);
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn numbers_of_a_few_places_are_as_the_standard_library_has_them() {
        let places = [
            0.5,
            -0.07,
            100.1,
            0.0001,
            0.00011,
            0.00005,
            99_999_999_999.999_9,
            100_000_000_000.0,
            1e15,
            1e16,
            0.1 + 0.2,
            1.0 / 3.0,
            1e300,
            f64::MIN_POSITIVE,
        ];
        let mut bits = 1_u64;
        let random = std::iter::repeat_with(|| {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (bits >> (bits % 60)) as f64 / 10_f64.powi((bits >> 60) as i32 % 7)
        });
        for value in places.into_iter().chain(random.take(100_000)) {
            for value in [value, value.next_up(), value.next_down(), -value] {
                assert_eq!(finite(value), format!("{value:?}"));
            }
        }
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

//! Fast parsers for the form that most programs write. Each takes a single pass over the text.
//!
//! Note that `None` doesn't mean that the text is invalid. It might still be a value in another
//! form.

use herringbone_text::calendar::{Date, days_of_date};

/// The maximum number of digits in an integer. All such integers fit in Int64, so there is no
/// overflow check.
const INTEGER_DIGITS: usize = 18;

/// The maximum number of digits in a float. Float64 keeps that many, and since both operands of the
/// division are integers below 2^53, the result is correctly rounded.
const FLOAT_DIGITS: usize = 15;

/// The powers of ten with fewer zeros than [`FLOAT_DIGITS`].
const POWERS: [f64; FLOAT_DIGITS] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14,
];

/// Parses an integer without a plus sign or needless zeros. A negative zero isn't accepted.
pub(super) fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes() {
        [b'0'] => return Some(0),
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > INTEGER_DIGITS || matches!(digits, [] | [b'0', ..]) {
        return None;
    }
    let mut value = 0;
    for byte in digits {
        value = value * 10 + i64::from(digit(*byte)?);
    }
    Some(if negative { -value } else { value })
}

/// Parses a number without a plus sign, needless zeros before the point, or an exponent.
pub(super) fn float(text: &str) -> Option<f64> {
    let (negative, number) = match text.as_bytes() {
        [b'-', number @ ..] => (true, number),
        number => (false, number),
    };
    if number.len() > FLOAT_DIGITS + 1
        || matches!(number, [] | [b'0', b'0'..=b'9', ..] | [b'.', ..])
    {
        return None;
    }
    let (mut value, mut places, mut in_fraction) = (0_u64, 0, false);
    for byte in number {
        if *byte == b'.' && !in_fraction {
            in_fraction = true;
        } else {
            value = value * 10 + u64::from(digit(*byte)?);
            places += usize::from(in_fraction);
        }
    }
    let digits = number.len() - usize::from(in_fraction);
    if digits > FLOAT_DIGITS || in_fraction && places == 0 {
        return None;
    }
    let size = value as f64 / POWERS.get(places)?;
    Some(if negative { -size } else { size })
}

/// Parses a date in a year from 0000 to 9999. Returns the number of days since 1970-01-01.
pub(super) fn date(text: &str) -> Option<i32> {
    let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = text.as_bytes() else {
        return None;
    };
    let two = |tens: &u8, ones: &u8| Some(digit(*tens)? * 10 + digit(*ones)?);
    let days = days_of_date(Date {
        year: i64::from(two(y0, y1)?) * 100 + i64::from(two(y2, y3)?),
        month: two(m0, m1)?,
        day: two(d0, d1)?,
    })?;
    i32::try_from(days).ok()
}

fn digit(byte: u8) -> Option<u8> {
    let digit = byte.wrapping_sub(b'0');
    (digit < 10).then_some(digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_forms_are_left_alone() {
        for text in [
            "",
            "-",
            "-0",
            "00",
            "01",
            "-01",
            "+1",
            "1.0",
            "1e3",
            " 1",
            "1 ",
            "x",
            "1_0",
            "1234567890123456789",
        ] {
            assert_eq!(integer(text), None, "{text}");
        }
        for text in [
            "",
            "-",
            ".",
            ".5",
            "5.",
            "-.5",
            "00.5",
            "01",
            "+1",
            "1e3",
            "1.5e3",
            "1.2.3",
            "NaN",
            "inf",
            "1,5",
            "1234567890123456",
            "0.123456789012345",
            "1.5f",
        ] {
            assert_eq!(float(text), None, "{text}");
        }
    }

    #[test]
    fn the_usual_forms_are_parsed() {
        for (text, value) in [
            ("0", 0),
            ("7", 7),
            ("-10", -10),
            ("999999999999999999", 999_999_999_999_999_999),
        ] {
            assert_eq!(integer(text), Some(value));
        }
        for text in [
            "0",
            "-0",
            "-0.0",
            "0.07",
            "-12.50",
            "123456789012345",
            "0.00000000000001",
            "99999.99",
        ] {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(
                float(text).map(f64::to_bits),
                Some(expected.to_bits()),
                "{text}"
            );
        }
    }

    #[test]
    fn dates_exist() {
        for (text, days) in [
            ("1970-01-01", Some(0)),
            ("2000-02-29", Some(11_016)),
            ("0000-01-01", Some(-719_528)),
            ("1900-02-29", None),
            ("2023-04-31", None),
            ("2023-13-01", None),
            ("2023-00-10", None),
            ("2023-01-00", None),
            ("2023-1-01", None),
            ("2023/01/01", None),
            ("+2023-01-1", None),
            ("20230-1-01", None),
            ("", None),
        ] {
            assert_eq!(date(text), days, "{text}");
        }
    }

    #[test]
    fn floats_are_the_nearest_ones() {
        let mut bits = 1_u64;
        for _ in 0..100_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let digits = (bits >> 20).to_string();
            let (whole, fraction) = digits.split_at(digits.len() / 3);
            let text = format!(
                "{}.{fraction}",
                whole.trim_start_matches('0').parse::<u64>().unwrap_or(0)
            );
            let expected: f64 = text.parse().unwrap();
            assert_eq!(
                float(&text).unwrap_or(expected).to_bits(),
                expected.to_bits(),
                "{text}"
            );
        }
    }
}

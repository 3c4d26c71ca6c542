//! JSON numbers, kept as written.

/// The parts of a JSON number such as `-12.50e+3`, kept as text so that no digits are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonNumber<'t> {
    /// The text of the whole number.
    pub text: &'t str,
    /// True if the number starts with a minus sign.
    pub is_negative: bool,
    /// The digits before the decimal point. There are never leading zeros, because JSON doesn't allow them.
    pub whole: &'t str,
    /// The digits after the decimal point, or an empty string if there are none.
    pub fraction: &'t str,
    /// The exponent with its sign but without the `e`, or an empty string if there is none.
    pub exponent: &'t str,
}

impl<'t> JsonNumber<'t> {
    /// Parses a text that consists of a single number.
    #[must_use]
    pub fn parse(text: &'t str) -> Option<Self> {
        Self::at_start(text).filter(|number| number.text.len() == text.len())
    }

    /// Parses the number at the start of `text`.
    #[must_use]
    pub fn at_start(text: &'t str) -> Option<Self> {
        let bytes = text.as_bytes();
        let after_digits = |start: usize| {
            let rest = bytes.get(start..).unwrap_or_default();
            start + rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
        };
        let is_negative = bytes.first() == Some(&b'-');
        let start = usize::from(is_negative);
        let mut end = after_digits(start);
        let whole = text.get(start..end)?;
        if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
            return None;
        }
        let mut fraction = "";
        if bytes.get(end) == Some(&b'.') {
            let start = end + 1;
            end = after_digits(start);
            fraction = text.get(start..end).filter(|digits| !digits.is_empty())?;
        }
        let mut exponent = "";
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let start = end + 1;
            let signed = matches!(bytes.get(start), Some(b'+' | b'-'));
            let digits = start + usize::from(signed);
            end = after_digits(digits);
            if end == digits {
                return None;
            }
            exponent = text.get(start..end)?;
        }
        Some(Self {
            text: text.get(..end)?,
            is_negative,
            whole,
            fraction,
            exponent,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_split_into_their_parts() {
        let number = JsonNumber::at_start("-12.50E+03,").unwrap();
        assert_eq!(number.text, "-12.50E+03");
        assert!(number.is_negative);
        let parts = (number.whole, number.fraction, number.exponent);
        assert_eq!(parts, ("12", "50", "+03"));
        assert_eq!(JsonNumber::parse("-12.50E+03,"), None);
    }

    #[test]
    fn numbers_have_no_other_form() {
        for text in ["0", "-0", "10", "1.50", "-1e5", "1E+05", "0.1e-7"] {
            assert_eq!(JsonNumber::parse(text).map(|it| it.text), Some(text));
        }
        for text in [
            "", "01", "-", "-a", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "1_0", "--1", "00",
            "1.e5", "-01",
        ] {
            assert_eq!(JsonNumber::parse(text), None, "{text}");
        }
    }
}

//! `128MiB`: a number of bytes.

use std::str::FromStr;

/// A number of bytes, at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) usize);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let units = [("KiB", 10), ("MiB", 20), ("GiB", 30)];
        let (number, shift) = units
            .iter()
            .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, *shift)))
            .unwrap_or((text, 0));
        let number: usize = number
            .trim_end()
            .parse()
            .map_err(|_| "expected bytes, such as 65536, 64KiB, 128MiB or 1GiB")?;
        match number.checked_mul(1 << shift) {
            Some(0) => Err("must be at least 1".into()),
            Some(bytes) => Ok(Self(bytes)),
            None => Err("is too large".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_binary_units() {
        let size = |text: &str| text.parse::<Size>().map(|size| size.0);
        assert_eq!(size("1"), Ok(1));
        assert_eq!(size("64KiB"), Ok(65_536));
        assert_eq!(size("3 MiB"), Ok(3_145_728));
        assert_eq!(size("1GiB"), Ok(1_073_741_824));
        for text in ["", "0", "-1", "1.5MiB", "1MB", "MiB", "99999999999GiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}

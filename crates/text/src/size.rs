//! Byte counts in a form such as `128MiB`.

use std::fmt;
use std::str::FromStr;

/// The units, largest first, with their bit shifts.
const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];

/// A byte count of at least one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub usize);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, shift) = UNITS
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

impl fmt::Display for Size {
    /// Formats the number in the largest unit without a fraction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_whole = |(_, shift): &&(&str, u32)| self.0 != 0 && self.0.trailing_zeros() >= *shift;
        match UNITS.iter().find(is_whole) {
            Some((unit, shift)) => f.pad(&format!("{}{unit}", self.0 >> shift)),
            None => f.pad(&self.0.to_string()),
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
        for (bytes, text) in [
            (1, "1"),
            (1_000, "1000"),
            (65_536, "64KiB"),
            (3_145_728, "3MiB"),
            (5 << 30, "5GiB"),
        ] {
            assert_eq!(Size(bytes).to_string(), text);
        }
    }
}

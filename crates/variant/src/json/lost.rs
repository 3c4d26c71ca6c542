//! Records which types JSON does not preserve.

use std::fmt;

use crate::types::VariantType;

/// A set of types that did not survive the conversion to JSON, because the text reads back as
/// another class of values. Use this to warn people that a conversion is lossy.
///
/// The set prints as a list, for example `date, double`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LostTypes {
    bits: u16,
}

/// The types that JSON loses, in print order.
const LOSSY: [VariantType; 10] = [
    VariantType::Double,
    VariantType::Float,
    VariantType::Date,
    VariantType::Time,
    VariantType::Timestamp,
    VariantType::TimestampNtz,
    VariantType::TimestampNanos,
    VariantType::TimestampNtzNanos,
    VariantType::Binary,
    VariantType::Uuid,
];

impl LostTypes {
    /// Returns true if nothing was lost.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// Returns the lost types.
    pub fn iter(self) -> impl Iterator<Item = VariantType> {
        let all = (0_u16..).zip(LOSSY);
        all.filter_map(move |(bit, lost)| (self.bits >> bit & 1 == 1).then_some(lost))
    }

    /// Returns the types in either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self {
            bits: self.bits | other.bits,
        }
    }

    pub(super) fn insert(&mut self, lost: VariantType) {
        if let Some(bit) = LOSSY.iter().position(|it| *it == lost) {
            self.bits |= 1 << bit;
        }
    }
}

impl fmt::Display for LostTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut comma = "";
        for lost in self.iter() {
            write!(f, "{comma}{lost}")?;
            comma = ", ";
        }
        Ok(())
    }
}

//! Checks decimals against their precision.

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{Int32Type, Int64Type};
use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::DataType;
use herringbone_format::{ConvertedType, LogicalType, SchemaElement};

/// The digit limit of a column's decimals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digits {
    /// The smallest number that has too many digits.
    limit: i256,
    /// The limit again if it fits in 128 bits, where comparisons are faster.
    short_limit: Option<i128>,
}

impl Digits {
    /// Returns a column's digit limit, or `None` if it doesn't have decimals.
    pub(super) fn of(element: &SchemaElement) -> Option<Self> {
        let precision = match (&element.logical_type, element.converted_type) {
            (Some(LogicalType::Decimal { precision, .. }), _) => *precision,
            (None, Some(ConvertedType::Decimal)) => element.precision?,
            _ => return None,
        };
        let precision = u32::try_from(precision).ok()?;
        Some(Self {
            limit: i256::from_i128(10).checked_pow(precision)?,
            short_limit: 10_i128.checked_pow(precision),
        })
    }

    /// Calls `see` with the index of each value with too many digits.
    pub(super) fn beyond(&self, values: &ArrayRef, mut see: impl FnMut(usize)) {
        match values.data_type() {
            DataType::Int32 => {
                let values = values.as_primitive::<Int32Type>().values();
                let beyond = |it: &i32| !self.fits_short(i128::from(*it));
                positions(values.iter().map(beyond), see);
            }
            DataType::Int64 => {
                let values = values.as_primitive::<Int64Type>().values();
                let beyond = |it: &i64| !self.fits_short(i128::from(*it));
                positions(values.iter().map(beyond), see);
            }
            DataType::FixedSizeBinary(_) => {
                let values = values.as_fixed_size_binary().iter().flatten();
                positions(values.map(|value| !self.fits(value)), see);
            }
            DataType::Binary => {
                let values = values.as_binary::<i32>().iter().flatten();
                positions(values.map(|value| !self.fits(value)), &mut see);
            }
            _ => {}
        }
    }

    fn fits_short(&self, value: i128) -> bool {
        let limit = self.short_limit;
        limit.is_none_or(|limit| -limit < value && value < limit)
    }

    /// Returns true if a big-endian two's complement number fits.
    fn fits(&self, bytes: &[u8]) -> bool {
        if let Some(value) = extended(bytes) {
            return self.fits_short(i128::from_be_bytes(value));
        }
        extended(bytes).is_some_and(|value| {
            let value = i256::from_be_bytes(value);
            self.limit.wrapping_neg() < value && value < self.limit
        })
    }
}

fn positions(beyond: impl Iterator<Item = bool>, mut see: impl FnMut(usize)) {
    for (position, _) in beyond.enumerate().filter(|(_, beyond)| *beyond) {
        see(position);
    }
}

/// Returns the number extended to `N` bytes, if it fits.
fn extended<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    let sign = bytes
        .first()
        .map_or(0, |first| (first.cast_signed() >> 7).cast_unsigned());
    let surplus = bytes.len().saturating_sub(N);
    let (above, low) = bytes.split_at(surplus);
    let same_sign = low.first().is_none_or(|first| (first ^ sign) & 0x80 == 0);
    if !above.iter().all(|byte| *byte == sign) || !same_sign {
        return None;
    }
    let mut extended = [sign; N];
    extended[N - low.len()..].copy_from_slice(low);
    Some(extended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(precision: i32) -> Digits {
        let element = SchemaElement::default()
            .converted_type(ConvertedType::Decimal)
            .precision(precision);
        Digits::of(&element).unwrap()
    }

    #[test]
    fn numbers_of_so_many_digits_fit() {
        let three = digits(3);
        for (bytes, fits) in [
            (&[][..], true),
            (&[0x03, 0xe7], true),
            (&[0x03, 0xe8], false),
            (&[0xfc, 0x19], true),
            (&[0xfc, 0x18], false),
            // Numbers with redundant leading sign bytes.
            (&[&[0; 40][..], &[0x03, 0xe7]].concat(), true),
            (&[&[0xff; 40][..], &[0xfc, 0x19]].concat(), true),
            (&[&[0xff; 40][..], &[0x03, 0xe7]].concat(), false),
            (&[&[0xff; 15][..], &[0x7f; 16]].concat(), false),
            (&[0x7f; 33], false),
        ] {
            assert_eq!(three.fits(bytes), fits, "{bytes:?}");
        }
    }

    #[test]
    fn numbers_of_many_digits() {
        let nines = |digits| i256::from_i128(10).checked_pow(digits).unwrap() - i256::ONE;
        for precision in [38, 39, 76] {
            let fits = |value: i256| digits(precision).fits(&value.to_be_bytes());
            let most = nines(precision as u32);
            assert!(fits(most) && fits(-most), "{precision}");
            assert!(!fits(most + i256::ONE) && !fits(-most - i256::ONE));
            assert!(!fits(i256::MIN) && !fits(i256::MAX));
        }
    }
}

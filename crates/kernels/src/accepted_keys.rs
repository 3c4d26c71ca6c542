//! Tests dictionary keys, with one table lookup per key.

use herringbone_arrow::buffer::{ArrowNativeType, BooleanBuffer};

use crate::bitmap::word_of_bytes;
use crate::multiversion::multiversion;

/// The number of keys per word of bits.
const WORD: usize = 64;

/// A table that has a dictionary's accepted values.
///
/// Invariant: there is one byte per value, 0 or 1, followed by zeros up to a power of two.
#[derive(Debug)]
pub struct AcceptedKeys(Vec<u8>);

impl AcceptedKeys {
    /// Creates the table from one bit per value, which is set if the value is accepted.
    #[must_use]
    pub fn new(accepted: &BooleanBuffer) -> Self {
        let mut table: Vec<u8> = accepted.iter().map(u8::from).collect();
        table.resize(table.len().next_power_of_two(), 0);
        Self(table)
    }

    /// Returns one bit per key, which is set if the key's value is accepted. Keys without a value have an arbitrary
    /// bit.
    #[must_use]
    pub fn accepted<K: ArrowNativeType>(&self, keys: &[K]) -> BooleanBuffer {
        BooleanBuffer::new(words(keys, &self.0).into(), 0, keys.len())
    }
}

fn words<K: ArrowNativeType>(keys: &[K], table: &[u8]) -> Vec<u64> {
    #[inline(always)]
    fn inner<K: ArrowNativeType>(keys: &[K], table: &[u8]) -> Vec<u64> {
        let mut words = Vec::with_capacity(keys.len().div_ceil(WORD));
        // Since the length is a power of two, the mask makes a bounds check unnecessary.
        let mask = table.len().wrapping_sub(1);
        // We use no closure, because it would be compiled without the instructions of the enclosing function.
        for keys in keys.chunks(WORD) {
            let mut accepted = [0; WORD];
            for (accepted, key) in accepted.iter_mut().zip(keys) {
                if let Some(byte) = table.get(key.as_usize() & mask) {
                    *accepted = *byte;
                }
            }
            words.push(word_of_bytes(&accepted));
        }
        words
    }
    multiversion!(inner<K: ArrowNativeType>(keys: &[K], table: &[u8]) -> Vec<u64>)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_that_of_the_value_of_the_key() {
        for values in [0, 1, 2, 3, 64, 100, 1000] {
            let bits = BooleanBuffer::collect_bool(values, |value| value * value % 7 < 3);
            let table = AcceptedKeys::new(&bits);
            for len in [0, 1, 63, 64, 65, 200] {
                let keys: Vec<i32> = (0..len)
                    .map(|slot| slot * 31 % values.max(1) as i32)
                    .collect();
                let expected = BooleanBuffer::collect_bool(len as usize, |slot| {
                    values > 0 && bits.value(keys[slot] as usize)
                });
                assert_eq!(
                    table.accepted(&keys),
                    expected,
                    "{values} values, {len} keys"
                );
            }
        }
    }

    #[test]
    fn keys_of_all_widths_are_looked_up_and_those_of_no_value_do_no_harm() {
        let table = AcceptedKeys::new(&BooleanBuffer::from(vec![false, true, true]));
        let expected = BooleanBuffer::from(vec![true, false, true]);
        assert_eq!(table.accepted(&[1_i8, 0, 2]), expected);
        assert_eq!(table.accepted(&[1_u64, 0, 2]), expected);
        for keys in [[-1, i32::MIN], [3, i32::MAX]] {
            assert_eq!(table.accepted(&keys).len(), 2);
        }
    }
}

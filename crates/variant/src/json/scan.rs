//! Where a string of JSON ends.

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);

/// The first quote, backslash or control character of `bytes`, or their length.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return at + (special.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let plain = rest
        .iter()
        .take_while(|byte| !matches!(byte, b'"' | b'\\' | ..0x20));
    at + plain.count()
}

/// The high bit of each byte that is a quote, a backslash or below 0x20; above the first of them,
/// bits may be wrong.
#[inline]
fn special_bytes(word: u64) -> u64 {
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero(word ^ (ONES * u64::from(b'"')));
    let backslash = zero(word ^ (ONES * u64::from(b'\\')));
    (control | quote | backslash) & HIGHS
}

#[cfg(test)]
mod tests {
    use super::plain_len;

    #[test]
    fn finds_every_special_byte_at_every_place() {
        for special in 0..=255_u8 {
            let is_special = matches!(special, b'"' | b'\\' | ..0x20);
            for at in 0..20 {
                for neighbour in [b' ', b'!', b'#', 0x7F, 0x80, 0xA2, 0xDC, 0xFF] {
                    let mut bytes = [neighbour; 20];
                    bytes[at] = special;
                    let expected = if is_special { at } else { 20 };
                    assert_eq!(plain_len(&bytes), expected, "{special:#x} at {at}");
                }
            }
        }
    }
}

//! Encodes values as bytes that compare like the values.

/// Returns a float's key, in the IEEE 754 total order or in the type's own order.
pub(super) fn single_key(value: f32, total_order: bool) -> u32 {
    let bits = value.to_bits();
    match bits >> 31 {
        _ if !total_order && value.is_nan() => u32::MAX,
        1 if total_order || value != 0.0 => !bits,
        _ => bits | 1 << 31,
    }
}

/// Returns a double's key, in the IEEE 754 total order or in the type's own order.
pub(super) fn double_key(value: f64, total_order: bool) -> u64 {
    let bits = value.to_bits();
    match bits >> 63 {
        _ if !total_order && value.is_nan() => u64::MAX,
        1 if total_order || value != 0.0 => !bits,
        _ => bits | 1 << 63,
    }
}

/// Converts a little-endian half-precision float to its key, in place.
pub(super) fn half_key(value: &mut [u8], total_order: bool) {
    let bits = u16::from_le_bytes(value.first_chunk().copied().unwrap_or_default());
    let (is_nan, is_zero) = (bits & 0x7fff > 0x7c00, bits & 0x7fff == 0);
    let key = match bits >> 15 {
        _ if !total_order && is_nan => u16::MAX,
        1 if total_order || !is_zero => !bits,
        _ => bits | 1 << 15,
    };
    value.copy_from_slice(&key.to_be_bytes());
}

/// Converts an INT96 to its key in place. An INT96 holds nanoseconds followed by a day.
pub(super) fn timestamp_key(value: &mut [u8]) {
    let nanos = i64::from_le_bytes(value.first_chunk().copied().unwrap_or_default());
    let days = i32::from_le_bytes(value.last_chunk().copied().unwrap_or_default());
    value[..4].copy_from_slice(&(days ^ i32::MIN).to_be_bytes());
    value[4..].copy_from_slice(&(nanos ^ i64::MIN).to_be_bytes());
}

/// Writes bytes such that a prefix sorts before its continuations, whatever follows in the row. A zero is escaped as
/// zero and 255, and two zeros mark the end. Returns the number of bytes written.
pub(super) fn text_key(value: &[u8], out: &mut [u8]) -> usize {
    let mut at = 0;
    for (part, piece) in value.split(|byte| *byte == 0).enumerate() {
        if part > 0 {
            out[at..at + 2].copy_from_slice(&[0, 0xff]);
            at += 2;
        }
        out[at..at + piece.len()].copy_from_slice(piece);
        at += piece.len();
    }
    out[at..at + 2].copy_from_slice(&[0, 0]);
    at + 2
}

/// Returns the number of bytes that [`text_key`] writes.
pub(super) fn text_length(value: &[u8]) -> usize {
    value.len() + value.iter().filter(|byte| **byte == 0).count() + 2
}

/// Writes a big-endian two's complement number of any length, as its sign, its length and its digits. Returns the
/// number of bytes written.
pub(super) fn number_key(value: &[u8], out: &mut [u8]) -> usize {
    let digits = significant(value);
    let is_negative = value.first().is_some_and(|byte| *byte >= 0x80);
    let length = digits.len() as u32;
    // A longer negative number is less, so we invert the length.
    let length = if is_negative { !length } else { length };
    out[0] = u8::from(!is_negative);
    out[1..5].copy_from_slice(&length.to_be_bytes());
    out[5..5 + digits.len()].copy_from_slice(digits);
    5 + digits.len()
}

/// Returns the number of bytes that [`number_key`] writes.
pub(super) fn number_length(value: &[u8]) -> usize {
    5 + significant(value).len()
}

/// Returns the digits after any that only repeat the sign.
fn significant(value: &[u8]) -> &[u8] {
    let is_negative = value.first().is_some_and(|byte| *byte >= 0x80);
    let sign = if is_negative { 0xff } else { 0 };
    let repeated = value.iter().take_while(|byte| **byte == sign).count();
    &value[repeated..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &[u8], length: usize, write: impl Fn(&[u8], &mut [u8]) -> usize) -> Vec<u8> {
        let mut out = vec![0xaa; length];
        assert_eq!(write(value, &mut out), length);
        out
    }

    /// Numbers can be stored with more bytes than they need.
    #[test]
    fn numbers_of_any_length_keep_their_order() {
        let mut numbers = vec![
            0,
            1,
            127,
            128,
            255,
            256,
            32_767,
            32_768,
            i128::MAX,
            i128::MIN,
        ];
        numbers.extend([-1, -127, -128, -129, -255, -256, -257, -32_768, -32_769]);
        let mut keys = Vec::new();
        for number in numbers {
            let bytes: [u8; 16] = number.to_be_bytes();
            for length in 1..=16 {
                let short = &bytes[16 - length..];
                let sign = if number < 0 { 0xff } else { 0 };
                let is_whole = bytes[..16 - length].iter().all(|byte| *byte == sign)
                    && (short[0] >= 0x80) == (number < 0);
                if is_whole {
                    keys.push((number, key(short, number_length(short), number_key)));
                }
            }
        }
        assert_eq!(
            key(&[], number_length(&[]), number_key),
            key(&[0], 5, number_key)
        );
        for (a, key) in &keys {
            for (b, other) in &keys {
                assert_eq!(key.cmp(other), a.cmp(b), "{a}, {b}");
            }
        }
    }

    #[test]
    fn a_prefix_comes_first_whatever_follows() {
        let texts: [&[u8]; 8] = [
            b"", b"\0", b"\0\0", b"\0a", b"a", b"a\0", b"a\0\xff", b"a\x01",
        ];
        for (a, text) in texts.iter().enumerate() {
            for (b, other) in texts.iter().enumerate() {
                // This stands for the next byte of the row.
                let row = |text: &[u8], next| {
                    [key(text, text_length(text), text_key), vec![next]].concat()
                };
                assert_eq!(
                    row(text, 0xff).cmp(&row(other, 0)),
                    a.cmp(&b).then(1.cmp(&0))
                );
            }
        }
    }

    #[test]
    fn timestamps_compare_by_day_first() {
        let value = |day: i32, nanos: i64| {
            let mut bytes = [nanos.to_le_bytes().as_slice(), &day.to_le_bytes()].concat();
            timestamp_key(&mut bytes);
            bytes
        };
        let sorted = [
            value(-1, 9),
            value(0, -1),
            value(0, 0),
            value(0, 1 << 40),
            value(1, 0),
        ];
        assert!(sorted.is_sorted());
    }
}

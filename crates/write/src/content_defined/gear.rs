//! The tables of the gear hash.
//!
//! Other writers use these tables too, and equal tables yield equal pages. Entry `b` of table `t` is the start of the
//! MD5 digest (RFC 1321) of 64 bytes `t` followed by 64 bytes `b`, in big-endian order.

use std::sync::LazyLock;

/// The number of tables.
pub(super) const NUM_TABLES: usize = 8;

/// A table's numbers, one for each byte value.
pub(super) type Gears = [u64; 256];

/// The tables, computed once the first column needs them.
pub(super) static TABLES: LazyLock<[Gears; NUM_TABLES]> =
    LazyLock::new(|| std::array::from_fn(|table| std::array::from_fn(|byte| gear(table, byte))));

fn gear(table: usize, byte: usize) -> u64 {
    let mut message = [table as u8; 128];
    message[64..].fill(byte as u8);
    let [a, b, _, _] = md5(&message);
    u64::from(a.swap_bytes()) << 32 | u64::from(b.swap_bytes())
}

/// Returns the four words of a message's MD5 digest. Their bytes are in little-endian order.
fn md5(message: &[u8]) -> [u32; 4] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - message.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    padded[end..].copy_from_slice(&(8 * message.len() as u64).to_le_bytes());
    let mut digest = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476_u32];
    let (blocks, _) = padded.as_chunks::<64>();
    for block in blocks {
        let (bytes, _) = block.as_chunks::<4>();
        let words: [u32; 16] = std::array::from_fn(|word| u32::from_le_bytes(bytes[word]));
        let added = rounds(digest, &words);
        digest = std::array::from_fn(|word| digest[word].wrapping_add(added[word]));
    }
    digest
}

/// Applies a block's 64 steps to the four words.
fn rounds([mut a, mut b, mut c, mut d]: [u32; 4], words: &[u32; 16]) -> [u32; 4] {
    const SHIFTS: [[u32; 4]; 4] = [
        [7, 12, 17, 22],
        [5, 9, 14, 20],
        [4, 11, 16, 23],
        [6, 10, 15, 21],
    ];
    for step in 0..64 {
        let (mixed, word) = match step / 16 {
            0 => (b & c | !b & d, step),
            1 => (b & d | c & !d, 5 * step + 1),
            2 => (b ^ c ^ d, 3 * step + 5),
            _ => (c ^ (b | !d), 7 * step),
        };
        // RFC 1321 defines the constants as sines.
        let constant = (f64::from(step as u32 + 1).sin().abs() * 4_294_967_296.0) as u32;
        let sum = a
            .wrapping_add(mixed)
            .wrapping_add(words[word % 16])
            .wrapping_add(constant);
        let turned = sum.rotate_left(SHIFTS[step / 16][step % 4]);
        (a, b, c, d) = (d, b.wrapping_add(turned), b, c);
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(message: &str) -> String {
        let bytes = md5(message.as_bytes()).map(u32::to_le_bytes);
        bytes
            .iter()
            .flatten()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// The digests are those of RFC 1321, appendix A.5.
    #[test]
    fn digests_of_the_rfc() {
        assert_eq!(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
        let alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        assert_eq!(hex(alphanumeric), "d174ab98d277d9f5a5611c2c9f419d9f");
    }

    /// The expected numbers are those of `hashlib.md5` in Python.
    #[test]
    fn gears_are_digests() {
        assert_eq!(TABLES[0][0], 0xf09f_35a5_6378_3945);
        assert_eq!(TABLES[7][255], 0x8df9_3149_14f0_857e);
    }
}

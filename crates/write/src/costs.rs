//! The cost of reading, taken from a table. We don't use a clock, so that equal values always produce equal bytes.
//!
//! Times are rough, in picoseconds, for readers on a common core of today. They exceed our own times where other
//! readers take far longer. For example, polars takes ten times as long for DELTA_BYTE_ARRAY. They only need to be
//! right to a factor of two, since a choice flipped by such an error isn't worth much either way.

use herringbone_format::Encoding;

use crate::options::Prefer;
use herringbone_core::compression::Compression;

/// Returns the picoseconds that a stored byte can cost. This is the time storage takes to deliver it.
fn per_stored_byte(prefer: Prefer) -> u64 {
    match prefer {
        // High enough that times only break ties between equal sizes.
        Prefer::Size => 1 << 30,
        Prefer::Balanced => 20_000,
        Prefer::ReadSpeed => 2_000,
    }
}

/// Returns the picoseconds per decompressed byte.
fn per_decompressed_byte(compression: Compression) -> u64 {
    match compression {
        Compression::Uncompressed => 0,
        Compression::Lz4Raw => 300,
        Compression::Snappy => 400,
        Compression::Zstd(_) => 700,
        // GZIP, BROTLI and codecs of unknown cost.
        _ => 2_500,
    }
}

/// The form that values are decoded from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoded {
    Values(Encoding),
    Indices,
}

/// Returns the decoding time in picoseconds, per value and per PLAIN byte.
fn per_value(decoded: Decoded, are_byte_arrays: bool) -> (u64, u64) {
    match (decoded, are_byte_arrays) {
        (Decoded::Indices, false) => (500, 0),
        (Decoded::Indices, true) => (1_500, 50),
        (Decoded::Values(Encoding::Plain), false) => (0, 50),
        (Decoded::Values(Encoding::Plain), true) => (2_500, 50),
        (Decoded::Values(Encoding::DeltaLengthByteArray), _) => (4_000, 50),
        (Decoded::Values(Encoding::DeltaByteArray), _) => (30_000, 100),
        (Decoded::Values(Encoding::ByteStreamSplit), _) => (0, 100),
        (Decoded::Values(Encoding::Rle), _) => (300, 0),
        (Decoded::Values(Encoding::DeltaBinaryPacked), _) => (1_500, 0),
        // This is ALP.
        (Decoded::Values(_), _) => (600, 0),
    }
}

/// The size of values in some form. Used to compute their read time.
#[derive(Clone, Copy)]
pub(super) struct StoredSize {
    pub(super) num_values: u64,
    pub(super) plain_bytes: u64,
    /// The decompressed page bytes.
    pub(super) encoded_bytes: u64,
}

/// Returns the time to read values stored in this form, in picoseconds.
pub(super) fn reading(
    decoded: Decoded,
    are_byte_arrays: bool,
    compression: Compression,
    counts: StoredSize,
) -> u64 {
    let (value, byte) = per_value(decoded, are_byte_arrays);
    counts.num_values * value
        + counts.plain_bytes * byte
        + counts.encoded_bytes * per_decompressed_byte(compression)
}

/// Combines a byte count and its read time into a single cost.
pub(super) fn total(prefer: Prefer, stored_bytes: u64, reading: u64) -> u128 {
    u128::from(stored_bytes) * u128::from(per_stored_byte(prefer)) + u128::from(reading)
}

/// Returns true if compressing `raw` bytes to `compressed` bytes is worth the decompression time.
pub(crate) fn pays(
    prefer: Prefer,
    compression: Compression,
    raw: usize,
    compressed: usize,
) -> bool {
    let (raw, compressed) = (raw as u64, compressed as u64);
    let with_codec = raw * per_decompressed_byte(compression);
    total(prefer, compressed, with_codec) < total(prefer, raw, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table's costs, added up for 1,000 values of 10 bytes that became 4,000 bytes.
    #[test]
    fn a_read_costs_its_values_and_its_bytes() {
        let counts = StoredSize {
            num_values: 1_000,
            plain_bytes: 10_000,
            encoded_bytes: 4_000,
        };
        let snappy = Compression::Snappy;
        for (decoded, are_byte_arrays, compression, expected) in [
            (Decoded::Indices, false, Compression::Uncompressed, 500_000),
            (
                Decoded::Indices,
                true,
                snappy,
                1_500_000 + 500_000 + 1_600_000,
            ),
            (
                Decoded::Values(Encoding::Plain),
                false,
                snappy,
                500_000 + 1_600_000,
            ),
            (
                Decoded::Values(Encoding::Plain),
                true,
                snappy,
                3_000_000 + 1_600_000,
            ),
            (
                Decoded::Values(Encoding::DeltaByteArray),
                true,
                snappy,
                31_000_000 + 1_600_000,
            ),
        ] {
            let found = reading(decoded, are_byte_arrays, compression, counts);
            assert_eq!(found, expected, "{decoded:?}");
        }
    }

    #[test]
    fn a_codec_pays_where_it_saves_more_time_than_it_takes() {
        let zstd: Compression = "zstd".parse().unwrap();
        // 700 / 20 000 of the bytes are 3.5 %, 700 / 2 000 are 35 %.
        for (prefer, least) in [(Prefer::Balanced, 96_500), (Prefer::ReadSpeed, 65_000)] {
            assert!(pays(prefer, zstd, 100_000, least - 1), "{prefer:?}");
            assert!(!pays(prefer, zstd, 100_000, least), "{prefer:?}");
        }
        assert!(pays(Prefer::Size, zstd, 100_000, 99_999));
        assert!(!pays(Prefer::Size, zstd, 100_000, 100_000));
        // 400 / 20 000 are 2 %.
        assert!(pays(Prefer::Balanced, Compression::Snappy, 100_000, 97_999));
        assert!(!pays(
            Prefer::Balanced,
            Compression::Snappy,
            100_000,
            98_000
        ));
    }
}

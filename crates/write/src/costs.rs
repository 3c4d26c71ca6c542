//! The cost of reading, from a table. We use no clock, so that equal values always produce equal bytes.
//!
//! Times are rough, in picoseconds, for readers on a common core of today. They exceed the times of this library where
//! other readers take far longer: for example, polars takes ten times as long for DELTA_BYTE_ARRAY. They need to be
//! right only to a factor of two, because a choice that such an error changes is not worth much either way.

use herringbone_format::Encoding;

use crate::options::Prefer;
use herringbone_core::compression::Compression;

/// Returns the picoseconds that a stored byte may cost, which is the time in which storage delivers it.
fn per_stored_byte(prefer: Prefer) -> u64 {
    match prefer {
        // This is so high that times only decide between equal sizes.
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
        // These are GZIP, BROTLI, and codecs whose cost we do not know.
        _ => 2_500,
    }
}

/// The form from which values are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decoded {
    Values(Encoding),
    Indices,
}

/// Returns the picoseconds that decoding takes, for each value and for each byte of its PLAIN form.
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

/// The size of values in a form, which decides how long it takes to read them.
#[derive(Clone, Copy)]
pub(super) struct StoredSize {
    pub(super) num_values: u64,
    pub(super) plain_bytes: u64,
    /// The byte count of the decompressed pages.
    pub(super) encoded_bytes: u64,
}

/// Returns the picoseconds that it takes to read values stored in this form.
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

/// Combines a byte count and the time to read these bytes in one number.
pub(super) fn total(prefer: Prefer, stored_bytes: u64, reading: u64) -> u128 {
    u128::from(stored_bytes) * u128::from(per_stored_byte(prefer)) + u128::from(reading)
}

/// Returns true if compressing `raw` bytes to `compressed` bytes is worth the time that decompressing them takes.
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

    /// The costs in the table, added up for 1,000 values of 10 bytes that became 4,000 bytes.
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

//! Compressed bytes of a page, whatever they are; what we compress comes back.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(
    |data: &[u8]| herringbone_fuzz::codec::decompress_and_compress(
        herringbone::format::CompressionCodec::Brotli,
        data
    )
);

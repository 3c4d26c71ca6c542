//! Decompresses arbitrary bytes as a page. Bytes that this library compresses must decompress to
//! the original.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| herringbone_fuzz::run(env!("CARGO_BIN_NAME"), data));

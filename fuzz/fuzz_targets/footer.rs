//! Decodes arbitrary bytes as the metadata of a file. Encoding and decoding it again yields the same metadata.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| herringbone_fuzz::run(env!("CARGO_BIN_NAME"), data));

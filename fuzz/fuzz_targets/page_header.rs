//! Decodes arbitrary bytes as a page header. Encoding and decoding it again must return the same
//! header.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| herringbone_fuzz::run(env!("CARGO_BIN_NAME"), data));

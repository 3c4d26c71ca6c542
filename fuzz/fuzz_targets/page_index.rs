//! Decodes arbitrary bytes as page indexes and bloom filter headers.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| herringbone_fuzz::run(env!("CARGO_BIN_NAME"), data));

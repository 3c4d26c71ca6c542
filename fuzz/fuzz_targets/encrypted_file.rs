//! Reads arbitrary bytes as an encrypted file with known keys. Every way of reading must return the
//! same rows.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| herringbone_fuzz::run(env!("CARGO_BIN_NAME"), data));

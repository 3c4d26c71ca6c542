//! Reads arbitrary bytes as the values of a page in this encoding. Every way of reading must return
//! the same rows.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| herringbone_fuzz::run(env!("CARGO_BIN_NAME"), data));

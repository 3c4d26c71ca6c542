//! Reads a valid file from a store that gives wrong answers. The read must fail, or return the
//! file's rows.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| herringbone_fuzz::run(env!("CARGO_BIN_NAME"), data));

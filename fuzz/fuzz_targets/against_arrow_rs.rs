//! Files that this library reads are read by the `parquet` crate too, apart from known differences.

#![no_main]
#![feature(alloc_error_hook)]

use std::alloc::set_alloc_error_hook;

use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: {
        // A panic of the `parquet` crate is caught, but an abort would end the search.
        set_alloc_error_hook(|layout| panic!("no memory for {} bytes", layout.size()));
    },
    |data: &[u8]| herringbone_fuzz::run(env!("CARGO_BIN_NAME"), data)
);

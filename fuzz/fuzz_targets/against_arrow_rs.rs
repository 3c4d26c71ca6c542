//! Reads files with this library and with the `parquet` crate. The crate reads all files that this
//! library reads, apart from known differences.

#![no_main]
#![feature(alloc_error_hook)]

use std::alloc::set_alloc_error_hook;

use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: {
        // We turn failed allocations into panics of the `parquet` crate, which are caught, because
        // an abort would end the search.
        set_alloc_error_hook(|layout| panic!("no memory for {} bytes", layout.size()));
    },
    |data: &[u8]| herringbone_fuzz::run(env!("CARGO_BIN_NAME"), data)
);

//! `libherringbone`: Parquet for C, C++ and every language that calls C.
//!
//! ```text
//! C ─► lib.rs, file.rs, write.rs, dataset.rs: functions `hb_…` ─► the library
//!        texts.rs: C's texts ─► options.rs: pairs of texts as options
//!        place.rs: paths and URLs
//!        source.rs, sink.rs: callbacks that read and write bytes       progress.rs: the callback that sees rows and cancels
//!        import.rs: streams into the library, through `herringbone-c-check`      export.rs: batches as a stream
//!        json.rs: metadata as JSON                                       error.rs: errors, and the guard against panics
//! ```
//!
//! `herringbone.h` is made from this crate by cbindgen (`integrations/c/ci.sh --update`), with the comments below as its
//! documentation. A function that may fail returns an error, or null. No panic leaves the library, because each function runs
//! in `error::entry`.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod dataset;
pub mod error;
pub mod export;
pub mod file;
mod import;
mod json;
mod options;
mod place;
pub mod progress;
pub mod sink;
pub mod source;
pub mod texts;
pub mod write;

use std::ffi::c_char;

/// The number of the ABI. It grows if a function, a struct or a meaning changes so that a program must be compiled again. New
/// functions and new options do not change it.
pub const HB_ABI_VERSION: u32 = 1;

/// Returns the version of the library, such as "0.1.0". The text lives as long as the library is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn hb_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Returns the `HB_ABI_VERSION` that the library was compiled with. A program that loads the library at run time compares it
/// with that of its header.
#[unsafe(no_mangle)]
pub extern "C" fn hb_abi_version() -> u32 {
    HB_ABI_VERSION
}

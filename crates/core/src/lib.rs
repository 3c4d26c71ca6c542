//! The data path of Herringbone: pages decoded straight into Arrow arrays.
#![forbid(unsafe_code)]

pub mod compression;
pub mod source;

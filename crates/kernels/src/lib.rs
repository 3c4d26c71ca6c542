//! This crate has Herringbone's inner loops. It is the only crate with `unsafe` code.
#![allow(unsafe_code, reason = "this crate is where unsafe code lives")]

#[cfg(target_endian = "big")]
compile_error!("Herringbone reads little-endian bytes in place and needs a little-endian machine");

/// An error for bytes that break the rules of an encoding. It does not know where the bytes are, so the caller adds the
/// position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

/// Releases a grown vector's excess capacity, unless it is so small that it is not worth a copy.
pub fn trim<T>(vector: &mut Vec<T>) {
    let spare = (vector.capacity() - vector.len()).saturating_mul(size_of::<T>());
    if spare > size_of_val(vector.as_slice()) / 8 + 1024 {
        vector.shrink_to_fit();
    }
}

pub mod cpu;
mod multiversion;
pub mod bit_unpack;
pub mod range_compare;
pub mod bit_pack;
pub mod hybrid;
pub mod bitmap;
pub mod expand;
pub mod filter;
pub mod histogram;
pub mod nesting;
mod simd_lanes;
pub mod plain;
pub mod delta;
pub mod byte_stream_split;
pub mod alp;
pub mod decimal;
pub mod int96;
pub mod min_max;
pub mod positions;
pub mod interval;
mod wild_copy;
mod prefetch;
pub mod utf8;
pub mod bytes;
pub mod views;
pub mod dictionary_keys;
pub mod accepted_keys;
pub mod byte_array_table;
pub mod hash;
pub mod snappy;

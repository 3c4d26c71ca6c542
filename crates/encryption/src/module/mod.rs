//! Modules, the units of encryption (Parquet Modular Encryption, sections 4.4 and 5.1).
//!
//! ```text
//! GCM   length (4 bytes, little-endian) | nonce (12) | ciphertext | tag (16)
//! CTR   length                          | nonce      | ciphertext              bodies of pages under AES_GCM_CTR_V1
//! ```
//!
//! The length does not include its own four bytes.

mod aad;
mod data_page_v2;
mod footer_signature;
mod framing;
mod key;

#[cfg(test)]
mod tests;

pub use aad::FileAad;
pub use footer_signature::FOOTER_SIGNATURE_BYTES;
pub use herringbone_format::modular_encryption::{MAX_ORDINALS, ModuleId, ModuleKind};
pub use key::{Algorithm, ModuleKey};

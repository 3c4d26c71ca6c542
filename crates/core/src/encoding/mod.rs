//! Encodings.

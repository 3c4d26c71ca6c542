//! Tests live in `it/`.

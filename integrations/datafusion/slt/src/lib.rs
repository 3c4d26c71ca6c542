//! The engine's own test files, in `tests/slt/`.

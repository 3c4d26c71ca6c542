//! Helpers shared by several tests.

pub(crate) mod walker;

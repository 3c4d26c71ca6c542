//! Helpers that several tests share.

pub(crate) mod walker;

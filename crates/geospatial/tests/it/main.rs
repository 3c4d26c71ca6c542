//! The crate against what other implementations make of the same geometries.

mod fixtures;
mod hostile;
mod wkb;

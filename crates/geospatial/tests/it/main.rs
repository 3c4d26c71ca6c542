//! The crate against what other implementations make of the same geometries.

mod bounds;
mod edges;
mod fixtures;
mod hostile;
mod sphere;
mod wkb;

//! Converts values to geometries of other crates, and back.

#[cfg(test)]
#[path = "../it/fixtures.rs"]
mod fixtures;
#[cfg(test)]
mod values;
#[cfg(test)]
mod views;

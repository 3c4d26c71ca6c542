//! Values and geometries of other crates, both ways.

#[cfg(test)]
#[path = "../it/fixtures.rs"]
mod fixtures;
#[cfg(test)]
mod values;
#[cfg(test)]
mod views;

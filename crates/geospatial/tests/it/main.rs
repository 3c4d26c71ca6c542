//! Compares the crate with other implementations, for equal geometries.

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod edges;
#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod geoparquet;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod many;
#[cfg(test)]
mod random;
#[cfg(test)]
mod sphere;
#[cfg(test)]
mod wkb;

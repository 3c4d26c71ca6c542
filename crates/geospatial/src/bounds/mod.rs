//! Bounding boxes: of values, of columns, and of what was bounded before.
//!
//! A [`Bounder`] takes geometries and boxes and gives their [`Extent`]. Each dimension skips NaN by
//! itself; a box has x and y, or is not there. A GEOMETRY is bounded in the plane. The box of a
//! GEOGRAPHY holds its edges and the poles that polygons enclose, and goes across the antimeridian
//! (`xmin > xmax`) where it is narrower that way. It is never too small, but may be larger than it
//! has to be near poles, and where edges lead half around the Earth.
//!
//! Geospatial.md, "Bounding Box".

mod bounder;
mod bulge;
mod check;
mod earth;
mod extent;
mod interval;
mod longitudes;
mod many;
mod ordinates;
mod path;
mod plane;
mod points;
mod relation;
mod ring;
#[cfg(test)]
mod tests;

pub use bounder::Bounder;
pub use check::{InvalidBox, check, faults};
pub use extent::{Extent, NoBox};
pub use relation::{contains, intersects, outside};

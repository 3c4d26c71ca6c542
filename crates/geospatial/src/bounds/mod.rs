//! Bounding boxes of values, of columns, and of boxes computed earlier.
//!
//! A [`Bounder`] accumulates geometries and boxes, and returns their [`Extent`]. Each dimension skips NaN
//! independently. A box always has x and y. If either is missing, the extent is empty. A GEOMETRY is bounded in the
//! plane. The box of a GEOGRAPHY contains its edges and the poles that its polygons enclose. It crosses the
//! antimeridian (`xmin > xmax`) if it is narrower that way. It is never too small. It may be larger than necessary
//! near poles, and if edges lead half of the way around the Earth.
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

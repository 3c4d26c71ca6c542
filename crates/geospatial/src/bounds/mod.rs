//! Computes bounding boxes of values, of columns, and of boxes computed earlier.
//!
//! A [`Bounder`] accumulates geometries and boxes into an [`Extent`]. Each dimension skips NaN on
//! its own. A box always has x and y, so if either is missing, the extent is empty. A GEOMETRY is
//! bounded in the plane. The box of a GEOGRAPHY contains its edges and the poles that its polygons
//! enclose, and crosses the antimeridian (`xmin > xmax`) if it is narrower that way. A box is never
//! too small. But it can be larger than necessary near the poles, or if edges lead halfway around
//! the Earth.
//!
//! Geospatial.md, "Bounding Box".
//!
//! ```
//! use herringbone::format::BoundingBox;
//! use herringbone::geospatial::{Edges, bounds, wkt};
//!
//! let mut value = Vec::new();
//! wkt::read("LINESTRING (1 2, 3 0)", &mut value)?;
//! let mut bounder = bounds::Bounder::new(Edges::Planar);
//! bounder.add(&value)?;
//! let bbox = bounder.extent().bbox().ok_or("no positions")?;
//! assert_eq!(bbox, BoundingBox::new(1.0, 3.0, 0.0, 2.0));
//! assert!(!bounds::intersects(&bbox, &BoundingBox::new(4.0, 5.0, 0.0, 2.0), Edges::Planar));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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

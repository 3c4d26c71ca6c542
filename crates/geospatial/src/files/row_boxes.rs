//! Finds the extent of each row's geometry.

use std::ops::Range;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::Float64Type;
use herringbone_arrow::array::{Array, ArrayRef, Float64Array};
use herringbone_arrow::schema::DataType;
use herringbone_format::{BoundingBox, Error, Result};

use super::GeometryColumn;
use super::each::for_each;
use crate::bounds::{Bounder, Extent, NoBox};
use crate::geoparquet::Encoding;
use crate::native::lists_around;
use crate::wkb::GeometryKind;

/// Calls `see` with each row's extent, or with `None` if the row is null.
///
/// # Errors
/// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if the array has another
/// layout than the column.
pub(super) fn for_each_extent(
    array: &ArrayRef,
    column: &GeometryColumn,
    see: &mut dyn FnMut(Option<Extent>),
) -> Result<()> {
    let edges = column.meaning.edges;
    match column.encoding {
        Encoding::Wkb => for_each(array, &mut |value| {
            see(value.map(|value| {
                let mut bounder = Bounder::new(edges);
                // A malformed value could be anywhere, so its extent is unknown.
                bounder
                    .add(value)
                    .map_or(Extent::Unknown(NoBox::Malformed), |_| bounder.extent())
            }));
            Ok(())
        }),
        Encoding::Native(kind) => {
            let positions = Positions::new(array, kind)?;
            for row in 0..array.len() {
                see(array.is_valid(row).then(|| {
                    let extent = positions.extent(row);
                    match edges.is_geography() && extent != Extent::Empty {
                        // The box bounds the positions, but not the edges between them.
                        true => Extent::Unknown(NoBox::Edges),
                        false => extent,
                    }
                }));
            }
            Ok(())
        }
    }
}

/// The positions of native geometries.
struct Positions<'a> {
    /// The lists around the points, from the outermost inwards.
    lists: Vec<&'a ArrayRef>,
    points: &'a ArrayRef,
    ordinates: [Option<&'a Float64Array>; 4],
}

impl<'a> Positions<'a> {
    fn new(array: &'a ArrayRef, kind: GeometryKind) -> Result<Self> {
        let other = || {
            let data_type = array.data_type();
            Error::unsupported(format!("boxes of geometries in arrays of {data_type}"))
        };
        let mut lists = Vec::new();
        let mut points = array;
        for _ in 0..lists_around(kind).ok_or_else(other)? {
            lists.push(points);
            points = match points.data_type() {
                DataType::List(_) => points.as_list::<i32>().values(),
                DataType::LargeList(_) => points.as_list::<i64>().values(),
                _ => return Err(other()),
            };
        }
        let coordinates = points.as_struct_opt().ok_or_else(other)?;
        let ordinates = ["x", "y", "z", "m"].map(|axis| {
            let ordinates = coordinates.column_by_name(axis)?;
            ordinates.as_primitive_opt::<Float64Type>()
        });
        Ok(Self {
            lists,
            points,
            ordinates,
        })
    }

    /// Returns a row's range of points. Leftover points below nulls do no harm, because they can
    /// only make the box larger.
    fn range(&self, row: usize) -> Range<usize> {
        let mut range = row..row + 1;
        for list in &self.lists {
            let at = |index: usize| match list.data_type() {
                DataType::LargeList(_) => {
                    let offset = list.as_list::<i64>().offsets().get(index).copied();
                    offset.and_then(|offset| usize::try_from(offset).ok())
                }
                _ => {
                    let offset = list.as_list::<i32>().offsets().get(index).copied();
                    offset.and_then(|offset| usize::try_from(offset).ok())
                }
            };
            range = at(range.start).unwrap_or_default()..at(range.end).unwrap_or_default();
        }
        range
    }

    fn extent(&self, row: usize) -> Extent {
        let range = self.range(row);
        let bounds = self.ordinates.map(|ordinates| {
            let ordinates = ordinates?;
            let mut bounds: Option<(f64, f64)> = None;
            for at in range.clone().filter(|at| self.points.is_valid(*at)) {
                if ordinates.is_null(at) || ordinates.value(at).is_nan() {
                    continue;
                }
                let value = ordinates.value(at);
                let (min, max) = bounds.unwrap_or((value, value));
                bounds = Some((min.min(value), max.max(value)));
            }
            bounds
        });
        let [Some((xmin, xmax)), Some((ymin, ymax)), z, m] = bounds else {
            return Extent::Empty;
        };
        Extent::Box(
            BoundingBox::new(xmin, xmax, ymin, ymax)
                .zmin(z.map(|it| it.0))
                .zmax(z.map(|it| it.1))
                .mmin(m.map(|it| it.0))
                .mmax(m.map(|it| it.1)),
        )
    }
}

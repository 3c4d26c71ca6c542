//! Builds a column of boxes next to a geometry column (GeoParquet 1.1, "bbox covering encoding").

use std::sync::Arc;

use herringbone_arrow::array::builder::NullBufferBuilder;
use herringbone_arrow::array::{ArrayRef, Float32Array, StructArray};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};
use herringbone_format::{Error, Result};

use crate::Edges;
use crate::bounds::Extent;

/// The field names, in metadata order.
const FIELDS: [&str; 4] = ["xmin", "ymin", "xmax", "ymax"];

/// Returns an unused name for a covering. This is `bbox`, or `NAME_bbox` if `bbox` is taken or if
/// the column is not the primary one.
pub(super) fn covering_name(of: &str, is_primary: bool, is_taken: impl Fn(&str) -> bool) -> String {
    let first = is_primary.then(|| "bbox".to_owned());
    let numbered = (2_u64..).map(|number| format!("{of}_bbox_{number}"));
    let mut names = first
        .into_iter()
        .chain([format!("{of}_bbox")])
        .chain(numbered);
    names.find(|name| !is_taken(name)).unwrap_or_default()
}

/// Returns a covering's field.
pub(super) fn covering_field(name: &str) -> FieldRef {
    Arc::new(Field::new(name, DataType::Struct(fields()), true))
}

fn fields() -> Fields {
    let ordinate = |name: &&str| Field::new(*name, DataType::Float32, false);
    FIELDS.iter().map(ordinate).collect()
}

/// A builder of the boxes for a batch's rows.
pub(super) struct Boxes {
    edges: Edges,
    ordinates: [Vec<f32>; 4],
    validity: NullBufferBuilder,
}

impl Boxes {
    pub(super) fn new(edges: Edges, rows: usize) -> Self {
        Self {
            edges,
            ordinates: std::array::from_fn(|_| Vec::with_capacity(rows)),
            validity: NullBufferBuilder::new(rows),
        }
    }

    /// Appends a row's extent, or `None` for a null.
    pub(super) fn push(&mut self, extent: Option<&Extent>) {
        let row_box = extent.and_then(|extent| self.of(extent));
        self.validity.append(row_box.is_some());
        for (ordinates, ordinate) in self.ordinates.iter_mut().zip(row_box.unwrap_or_default()) {
            ordinates.push(ordinate);
        }
    }

    /// Converts an extent to a box. An unknown extent gets a box that covers everything, since the
    /// geometry could be anywhere.
    fn of(&self, extent: &Extent) -> Option<[f32; 4]> {
        const WHOLE: (f32, f32) = (-180.0, 180.0);
        let anywhere = match self.edges.is_geography() {
            true => [WHOLE.0, -90.0, WHOLE.1, 90.0],
            false => [
                f32::NEG_INFINITY,
                f32::NEG_INFINITY,
                f32::INFINITY,
                f32::INFINITY,
            ],
        };
        let bbox = match extent {
            Extent::Empty => return None,
            Extent::Unknown(_) => return Some(anywhere),
            Extent::Box(bbox) => bbox,
        };
        let (west, east) = match bbox.xmin > bbox.xmax {
            true => WHOLE,
            false => (down(bbox.xmin), up(bbox.xmax)),
        };
        Some([west, down(bbox.ymin), east, up(bbox.ymax)])
    }

    /// Returns the boxes of all rows as an array.
    ///
    /// # Errors
    /// Returns Arrow's errors, but no sequence of pushes causes one.
    pub(super) fn finish(mut self) -> Result<ArrayRef> {
        let len = self.ordinates.first().map_or(0, Vec::len);
        let ordinates = self.ordinates.into_iter();
        let columns =
            ordinates.map(|ordinate| -> ArrayRef { Arc::new(Float32Array::from(ordinate)) });
        let nulls = self.validity.finish();
        let array = StructArray::try_new_with_length(fields(), columns.collect(), nulls, len);
        let array = array.map_err(|error| Error::argument(error.to_string()))?;
        Ok(Arc::new(array))
    }
}

/// Returns the greatest FLOAT at or below `bound`.
pub(super) fn down(bound: f64) -> f32 {
    let nearest = bound as f32;
    match f64::from(nearest) > bound {
        true => nearest.next_down(),
        false => nearest,
    }
}

/// Returns the least FLOAT at or above `bound`.
pub(super) fn up(bound: f64) -> f32 {
    -down(-bound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_outward() {
        for bound in [
            0.1,
            -0.1,
            1e-50,
            -1e-50,
            3.5e38,
            -3.5e38,
            0.0,
            0.5,
            16_777_217.0,
        ] {
            let (below, above) = (down(bound), up(bound));
            assert!(
                f64::from(below) <= bound && bound <= f64::from(above),
                "{bound}"
            );
            let is_exact = f64::from(bound as f32) == bound;
            assert_eq!(below == above, is_exact, "{bound}");
            assert!(is_exact || below.next_up() == above, "{bound}");
        }
    }

    #[test]
    fn names_are_free() {
        let name = |taken: &[&str], is_primary| {
            covering_name("g", is_primary, |name| taken.contains(&name))
        };
        assert_eq!(name(&[], true), "bbox");
        assert_eq!(name(&[], false), "g_bbox");
        assert_eq!(name(&["bbox"], true), "g_bbox");
        assert_eq!(name(&["bbox", "g_bbox"], true), "g_bbox_2");
    }
}

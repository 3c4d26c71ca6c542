//! What a box asks of the columns whose bounds pages have: those of a covering, or the ordinates of native geometries.

use herringbone_filter::{Column, Predicate, col_at};
use herringbone_format::{BoundingBox, Type};
use herringbone_schema::ParquetSchema;

use super::GeometryColumn;
use super::covering::{down, up};
use crate::bounds::check;
use crate::geoparquet::{Covering, Encoding};

impl GeometryColumn {
    /// A predicate over leaves of the file that is true for every row whose own box touches `bbox`; none where nothing
    /// is certain.
    pub(super) fn covered(&self, bbox: &BoundingBox, schema: &ParquetSchema) -> Option<Predicate> {
        match self.encoding {
            Encoding::Wkb => self.by_covering(bbox, schema),
            Encoding::Native(_) => self.by_ordinates(bbox, schema),
        }
    }

    fn by_covering(&self, bbox: &BoundingBox, schema: &ParquetSchema) -> Option<Predicate> {
        let covering = self.geoparquet.as_ref()?.covering.as_ref()?;
        // Nobody says whether others bound edges, and not just positions.
        if self.meaning.edges.is_geography() && !covering.never_wraps {
            return None;
        }
        let bound = |name: &str| {
            let bound = Bound::of(vec![covering.column.clone(), name.to_owned()], schema);
            bound.filter(|bound| !bound.is_below_list)
        };
        let (ymin, ymax) = (bound("ymin")?, bound("ymax")?);
        let rows = ymin.is_at_most(bbox.ymax).and(ymax.is_at_least(bbox.ymin));
        if !self.has_ordered_x(covering) {
            return Some(rows);
        }
        let (xmin, xmax) = (bound("xmin")?, bound("xmax")?);
        let (begins, ends) = (xmin.is_at_most(bbox.xmax), xmax.is_at_least(bbox.xmin));
        let wraps = bbox.xmin > bbox.xmax;
        let mut touches = match wraps {
            false => begins.and(ends),
            true => begins.or(ends),
        };
        // On Earth, -180 is where 180 is.
        let has_antimeridian = wraps || bbox.xmin <= -180.0 || bbox.xmax >= 180.0;
        if self.meaning.edges.is_geography() && has_antimeridian {
            let at_antimeridian = xmin.is_at_most(-180.0).or(xmax.is_at_least(180.0));
            touches = touches.or(at_antimeridian);
        }
        Some(rows.and(touches))
    }

    /// Whether `xmin` of a covering is never above `xmax`, as it is where others let a box go across the antimeridian.
    /// That is excluded where there is none, and where the file lies on one side of it: a box that went around the
    /// Earth would be wider than one that does not.
    fn has_ordered_x(&self, covering: &Covering) -> bool {
        let of_file = self.geoparquet.as_ref().and_then(|it| it.bbox.as_ref());
        let is_on_one_side = of_file.is_some_and(|it| {
            let is_inside = -180.0 < it.xmin && it.xmin <= it.xmax && it.xmax < 180.0;
            check(it, self.meaning.edges).is_ok() && is_inside && it.xmax - it.xmin < 180.0
        });
        covering.never_wraps || self.crs().is_geographic() == Some(false) || is_on_one_side
    }

    /// A box touches another one where it has something on the right side of each of its four borders. Below lists
    /// these may be four positions, none of which needs to be within.
    fn by_ordinates(&self, bbox: &BoundingBox, schema: &ParquetSchema) -> Option<Predicate> {
        // Poles and the antimeridian have many longitudes, and edges leave the latitudes of their ends.
        if self.meaning.edges.is_geography() {
            return None;
        }
        let [x, y, _, _] = self.ordinates;
        let ordinate = |leaf: usize| {
            let path = schema.path(leaf).into_iter();
            Bound::of(path.map(str::to_owned).collect(), schema)
        };
        let (x, y) = (ordinate(x?)?, ordinate(y?)?);
        let rows = y.is_at_least(bbox.ymin).and(y.is_at_most(bbox.ymax));
        let (east, west) = (x.is_at_least(bbox.xmin), x.is_at_most(bbox.xmax));
        Some(rows.and(match bbox.xmin > bbox.xmax {
            true => east.or(west),
            false => east.and(west),
        }))
    }
}

/// A column of bounds, or of ordinates.
struct Bound {
    path: Vec<String>,
    /// Whether it is FLOAT: its numbers may then be rounded, in any direction but not past another FLOAT.
    is_float: bool,
    /// Whether a row has any number of them, of which one is meant.
    is_below_list: bool,
}

impl Bound {
    /// None where there is no such column, or it has other values.
    fn of(path: Vec<String>, schema: &ParquetSchema) -> Option<Self> {
        let mut leaves = 0..schema.leaves().len();
        let leaf = leaves.find(|leaf| schema.path(*leaf).iter().eq(path.iter()))?;
        let leaf = schema.leaves().get(leaf)?;
        let is_float = match leaf.physical_type {
            Type::Float => true,
            Type::Double => false,
            _ => return None,
        };
        Some(Self {
            path,
            is_float,
            is_below_list: leaf.max_rep_level > 0,
        })
    }

    fn column(&self) -> Column {
        let column = col_at(self.path.iter().cloned());
        match self.is_below_list {
            true => column.any(),
            false => column,
        }
    }

    fn is_at_most(&self, most: f64) -> Predicate {
        let most = match self.is_float {
            true => f64::from(up(most)),
            false => most,
        };
        self.column().le(most)
    }

    /// NaN, which is above all numbers, is nowhere.
    fn is_at_least(&self, least: f64) -> Predicate {
        let least = match self.is_float {
            true => f64::from(down(least)),
            false => least,
        };
        self.column().between(least, f64::INFINITY)
    }
}

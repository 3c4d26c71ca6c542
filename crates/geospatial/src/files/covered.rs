//! Converts a box into a predicate on columns with page bounds, which allows skipping pages. These
//! columns are a covering, or the ordinates of native geometries.

use herringbone_filter::{Column, Predicate, col_at};
use herringbone_format::{BoundingBox, Type};
use herringbone_schema::ParquetSchema;

use super::GeometryColumn;
use super::covering::{down, up};
use crate::bounds::check;
use crate::geoparquet::{Covering, Encoding};

impl GeometryColumn {
    /// Returns a predicate on the file's leaves that is true for every row whose own box touches
    /// `bbox`. Returns `None` if we can't tell.
    pub(super) fn covered(&self, bbox: &BoundingBox, schema: &ParquetSchema) -> Option<Predicate> {
        match self.encoding {
            Encoding::Wkb => self.by_covering(bbox, schema),
            Encoding::Native(_) => self.by_ordinates(bbox, schema),
        }
    }

    fn by_covering(&self, bbox: &BoundingBox, schema: &ParquetSchema) -> Option<Predicate> {
        let covering = self.geoparquet.as_ref()?.covering.as_ref()?;
        // The specification leaves open whether a covering bounds edges or only positions, so we
        // don't rely on other writers.
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
        // On Earth, -180 and 180 are one meridian.
        let has_antimeridian = wraps || bbox.xmin <= -180.0 || bbox.xmax >= 180.0;
        if self.meaning.edges.is_geography() && has_antimeridian {
            let at_antimeridian = xmin.is_at_most(-180.0).or(xmax.is_at_least(180.0));
            touches = touches.or(at_antimeridian);
        }
        Some(rows.and(touches))
    }

    /// Returns true if a covering's `xmin` is never above its `xmax`. Other writers might let a box
    /// cross the antimeridian. But that is impossible if there is no antimeridian, or if the file
    /// lies on one side of it, because a box around the Earth would be wider than a box that
    /// doesn't cross.
    fn has_ordered_x(&self, covering: &Covering) -> bool {
        let file_box = self
            .geoparquet
            .as_ref()
            .and_then(|geoparquet| geoparquet.bbox.as_ref());
        let is_on_one_side = file_box.is_some_and(|it| {
            let is_inside = -180.0 < it.xmin && it.xmin <= it.xmax && it.xmax < 180.0;
            check(it, self.meaning.edges).is_ok() && is_inside && it.xmax - it.xmin < 180.0
        });
        covering.never_wraps || self.crs().is_geographic() == Some(false) || is_on_one_side
    }

    /// Returns a predicate on the ordinates. A geometry's box only touches `bbox` if it has an
    /// ordinate on the inner side of each of the four borders. Note that with lists, these can be
    /// four different positions, all of them outside `bbox`.
    fn by_ordinates(&self, bbox: &BoundingBox, schema: &ParquetSchema) -> Option<Predicate> {
        // Ordinates prove nothing here, since poles and the antimeridian have several longitudes
        // and edges can bulge beyond their ends' latitudes.
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

/// A leaf with bounds or ordinates.
struct Bound {
    path: Vec<String>,
    /// True if the leaf's type is FLOAT. Its numbers can then be rounded either way, but not past
    /// another FLOAT.
    is_float: bool,
    /// True if a row can have any number of values. In that case, any one of them has to match.
    is_below_list: bool,
}

impl Bound {
    /// Finds a FLOAT or DOUBLE leaf. Returns `None` if there is none at this path.
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

    /// Returns a predicate for numbers of at least `least`. It excludes NaN explicitly, because
    /// predicates order NaN above all numbers.
    fn is_at_least(&self, least: f64) -> Predicate {
        let least = match self.is_float {
            true => f64::from(down(least)),
            false => least,
        };
        self.column().between(least, f64::INFINITY)
    }
}

//! Selects rows by the location of their geometries.
//!
//! ```text
//! geospatial statistics, or bounds of x and y ──► row groups    covered.rs ──► pages, rows    row_boxes.rs ──► rows
//! ```

use std::fmt;

use herringbone_arrow::array::{Array as _, BooleanArray, RecordBatch};
use herringbone_arrow::schema::SchemaRef;
use herringbone_filter::{Predicate, RowError, RowPredicate, RowTest, Verdict};
use herringbone_format::{BoundingBox, Error, FileMetadata, Result};
use herringbone_schema::ParquetSchema;

use super::GeometryColumn;
use super::row_boxes::for_each_extent;
use crate::bounds::{Extent, check, contains, intersects};
use crate::geoparquet::Encoding;
use crate::wkb::{GeometryKind, GeometryType};

/// The required relation between a row's box and the requested box.
#[derive(Debug, Clone, Copy)]
enum Relation {
    Intersects,
    Within,
}

/// A predicate on the boxes of rows.
#[derive(Clone)]
struct BoxPredicate {
    column: GeometryColumn,
    bbox: BoundingBox,
    relation: Relation,
}

/// Formats the predicate for people who read a plan: `bbox(geometry) intersects (0, 0, 15, 25)`,
/// with x before y.
impl fmt::Debug for BoxPredicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let relation = match self.relation {
            Relation::Intersects => "intersects",
            Relation::Within => "within",
        };
        let BoundingBox {
            xmin,
            xmax,
            ymin,
            ymax,
            ..
        } = self.bbox;
        let column = self.column.path.join(".");
        write!(
            f,
            "bbox({column}) {relation} ({xmin}, {ymin}, {xmax}, {ymax})"
        )
    }
}

impl GeometryColumn {
    /// Returns a predicate for rows whose bounding box touches `bbox`. You must give `bbox` in the
    /// column's reference system. Boxes include their borders, and a box with `xmin > xmax` crosses
    /// the antimeridian. Nulls and geometries without positions are not selected, but rows with an
    /// unknown box are. Note that this only compares boxes, so you still have to check if the
    /// geometry itself touches the box.
    ///
    /// Geospatial statistics prune row groups. Pages are skipped by the column's covering, if there
    /// is one, or by the `x` and `y` of native encodings. With another writer's covering, we only
    /// use `x` if no row can cross the antimeridian. For geographies, we ignore such coverings
    /// altogether, because it is not specified how they bound edges.
    ///
    /// ```no_run
    /// # use herringbone::ReadOptions;
    /// # use herringbone::format::{BoundingBox, FileMetadata};
    /// # use herringbone::schema::ParquetSchema;
    /// # use herringbone::geospatial::GeometryColumn;
    /// # fn options(schema: &ParquetSchema, metadata: &FileMetadata) -> herringbone::Result<()> {
    /// // `parquet_schema()` and `metadata()` of a `ParquetFile` return the arguments.
    /// let columns = GeometryColumn::of_file(schema, metadata)?;
    /// if let Some(column) = columns.iter().find(|it| it.is_primary) {
    ///     let rome = column.intersects(&BoundingBox::new(12.2, 12.8, 41.7, 42.1))?;
    ///     let options = ReadOptions::new().filter(rome);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the box is invalid, if it
    /// exceeds the Earth's longitudes or latitudes for a geography, or if it crosses an
    /// antimeridian in a system without one. Fails with
    /// [Unsupported](herringbone_format::ErrorKind::Unsupported) if a row can have several
    /// geometries.
    pub fn intersects(&self, bbox: &BoundingBox) -> Result<Predicate> {
        self.predicate(bbox, Relation::Intersects)
    }

    /// Returns a predicate for rows whose bounding box lies entirely within `bbox`. Otherwise, this
    /// is like [`intersects`](Self::intersects).
    ///
    /// # Errors
    /// Fails for the reasons of [`intersects`](Self::intersects).
    pub fn within(&self, bbox: &BoundingBox) -> Result<Predicate> {
        self.predicate(bbox, Relation::Within)
    }

    fn predicate(&self, bbox: &BoundingBox, relation: Relation) -> Result<Predicate> {
        let name = || self.path.join(".");
        if self.is_repeated {
            let message = "a bounding box for values in a list, because a row may have several of \
                           them";
            return Err(Error::unsupported(message).in_column(name()));
        }
        check(bbox, self.meaning.edges)
            .map_err(|why| Error::argument(why.to_string()).in_column(name()))?;
        if bbox.xmin > bbox.xmax {
            let is_longitude = |x: f64| (-180.0..=180.0).contains(&x);
            let crs = self.crs();
            if crs.is_geographic() == Some(false) {
                return Err(Error::argument(format!(
                    "the bounding box has xmin {} above xmax {}, but {crs}, the reference system \
                     of `{}`, does not have an antimeridian to cross",
                    bbox.xmin,
                    bbox.xmax,
                    name()
                )));
            }
            if !is_longitude(bbox.xmin) || !is_longitude(bbox.xmax) {
                return Err(Error::argument(format!(
                    "the bounding box has xmin {} above xmax {}: to cross the antimeridian, both \
                     must be longitudes from -180 to 180",
                    bbox.xmin, bbox.xmax
                )));
            }
        }
        Ok(Predicate::rows(BoxPredicate {
            column: self.clone(),
            bbox: bbox.clone(),
            relation,
        }))
    }
}

impl BoxPredicate {
    /// Returns true if a row with this extent is selected. Null rows are never tested.
    fn accepts(&self, extent: &Extent) -> bool {
        let edges = self.column.meaning.edges;
        match (extent, self.relation) {
            (Extent::Empty, _) => false,
            (Extent::Unknown(_), _) => true,
            (Extent::Box(of_row), Relation::Intersects) => intersects(of_row, &self.bbox, edges),
            (Extent::Box(of_row), Relation::Within) => contains(&self.bbox, of_row, edges),
        }
    }
}

impl BoxPredicate {
    /// Tests a batch of geometries.
    fn test(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let array = batch.columns().first();
        let array = array.ok_or_else(|| Error::argument("the geometries were not read"))?;
        let mut wanted = Vec::with_capacity(array.len());
        for_each_extent(array, &self.column, &mut |extent| {
            wanted.push(extent.map(|extent| self.accepts(&extent)));
        })?;
        Ok(wanted.into())
    }
}

impl RowPredicate for BoxPredicate {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![self.column.path.clone()]
    }

    fn bind(&self, _columns: &SchemaRef) -> Result<RowTest, RowError> {
        let predicate = self.clone();
        Ok(Box::new(move |batch| Ok(predicate.test(batch)?)))
    }

    /// Returns the covering's predicate. It is implied by both relations, since a box within
    /// another one also touches it.
    fn implied(&self, schema: &ParquetSchema) -> Result<Option<Predicate>, RowError> {
        Ok(self.column.covered(&self.bbox, schema))
    }

    /// Returns true if testing the covering first saves bytes. A covering has four numbers per row.
    /// That is the size of a point, but smaller than any other geometry.
    fn tests_implied(&self) -> bool {
        let geoparquet = self.column.geoparquet.as_ref();
        let types = geoparquet.map_or(&[][..], |geoparquet| &geoparquet.geometry_types);
        let is_point = |it: &GeometryType| it.kind == GeometryKind::Point;
        let has_points_alone = !types.is_empty() && types.iter().all(is_point);
        self.column.encoding == Encoding::Wkb && !has_points_alone
    }

    fn verdict(&self, metadata: &FileMetadata, row_group: usize) -> Result<Verdict, RowError> {
        let may = self.column.may_intersect(metadata, row_group, &self.bbox)?;
        Ok(match may {
            true => Verdict::Some,
            false => Verdict::None,
        })
    }
}

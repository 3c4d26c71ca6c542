//! Models the metadata as Rust types.

use std::fmt;

use herringbone_format::BoundingBox;
use serde_json::{Map, Value};

use crate::Edges;
use crate::crs::Crs;
use crate::wkb::{GeometryKind, GeometryType};

/// The GeoParquet metadata of a file.
///
/// ```
/// use herringbone::geospatial::geoparquet::{GeoMetadata, Version};
///
/// let json = r#"{
///     "version": "1.1.0", "primary_column": "place",
///     "columns": {"place": {"encoding": "WKB", "geometry_types": ["Point"]}}
/// }"#;
/// let geo = GeoMetadata::parse(json)?;
/// assert_eq!((geo.version, geo.primary_column.as_str()), (Version::V1_1, "place"));
/// assert!(geo.column("place").is_some());
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GeoMetadata {
    /// The version of the specification.
    pub version: Version,
    /// The default column for readers.
    pub primary_column: String,
    /// The geometry columns by name, in the order of the metadata.
    pub columns: Vec<(String, GeoColumn)>,
    /// All members that the specification does not have.
    pub others: Others,
}

impl GeoMetadata {
    /// Returns the column with the given name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&GeoColumn> {
        let (_, column) = self.columns.iter().find(|(it, _)| it == name)?;
        Some(column)
    }
}

/// A version of the specification. Patch releases and previews count as their minor version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Version {
    /// Version 1.0, which has WKB in byte arrays.
    V1_0,
    /// Version 1.1, which adds coverings and native encodings.
    V1_1,
    /// Version 2.0, which has Parquet's GEOMETRY and GEOGRAPHY.
    V2_0,
}

impl fmt::Display for Version {
    /// Writes the version in metadata form, such as `1.1.0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_0 => "1.0.0",
            Self::V1_1 => "1.1.0",
            Self::V2_0 => "2.0.0",
        })
    }
}

/// Unknown members, kept unchanged so that a rewrite doesn't lose them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Others(pub(super) Map<String, Value>);

impl Others {
    /// Adds a member with this text.
    #[cfg(any(feature = "arrow-59", feature = "arrow-60"))]
    pub(crate) fn keep(&mut self, name: &str, text: &str) {
        self.0.insert(name.to_owned(), text.into());
    }
}

/// The metadata of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct GeoColumn {
    /// The encoding of the geometries.
    pub encoding: Encoding,
    /// The geometry types in the column, or empty if they are unknown.
    pub geometry_types: Vec<GeometryType>,
    /// The reference system. It is the default, [undefined](Crs::undefined), or PROJJSON.
    pub crs: Crs,
    /// The interpolation of edges.
    pub edges: Edges,
    /// True if outer rings are counterclockwise and inner rings clockwise. It is false if the
    /// orientation is not known.
    pub is_counterclockwise: bool,
    /// The bounds of all geometries. A box with `xmin > xmax` crosses the antimeridian.
    pub bbox: Option<BoundingBox>,
    /// The epoch of coordinates in a dynamic reference system, as a year.
    pub epoch: Option<f64>,
    /// The column with the rows' boxes.
    pub covering: Option<Covering>,
    /// All members that the specification does not have.
    pub others: Others,
}

impl Default for GeoColumn {
    fn default() -> Self {
        Self {
            encoding: Encoding::Wkb,
            geometry_types: Vec::new(),
            crs: Crs::default(),
            edges: Edges::Planar,
            is_counterclockwise: false,
            bbox: None,
            epoch: None,
            covering: None,
            others: Others::default(),
        }
    }
}

/// An encoding of geometries in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Well-known binary.
    Wkb,
    /// Lists of coordinates as in GeoArrow, from `point` to `multipolygon`.
    Native(GeometryKind),
}

impl Encoding {
    pub(super) const ALL: [Self; 7] = [
        Self::Wkb,
        Self::Native(GeometryKind::Point),
        Self::Native(GeometryKind::LineString),
        Self::Native(GeometryKind::Polygon),
        Self::Native(GeometryKind::MultiPoint),
        Self::Native(GeometryKind::MultiLineString),
        Self::Native(GeometryKind::MultiPolygon),
    ];
}

impl fmt::Display for Encoding {
    /// Writes the name in metadata form, such as `WKB` or `multipolygon`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wkb => f.write_str("WKB"),
            Self::Native(kind) => f.write_str(&kind.to_string().to_lowercase()),
        }
    }
}

/// A struct column with each row's box. Readers use its bounds to skip row groups and pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covering {
    /// The name of the column at the root.
    pub column: String,
    /// True if it has `zmin` and `zmax` in addition to `xmin`, `ymin`, `xmax` and `ymax`.
    pub has_z: bool,
    /// True if `xmin` is never above `xmax`, because rows that cross the antimeridian get a box
    /// with all longitudes. The specification leaves this open, so our files record it in a
    /// separate member next to the covering.
    pub never_wraps: bool,
}

impl Covering {
    /// The name of the member for `never_wraps`.
    pub(super) const NEVER_WRAPS: &'static str = "herringbone:covering_never_wraps";

    /// Returns the field names, in the order that writers use.
    #[must_use]
    pub fn fields(&self) -> &'static [&'static str] {
        match self.has_z {
            false => &["xmin", "ymin", "xmax", "ymax"],
            true => &["xmin", "ymin", "zmin", "xmax", "ymax", "zmax"],
        }
    }
}

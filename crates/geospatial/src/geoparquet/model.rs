//! What the metadata says.

use std::fmt;

use herringbone_format::BoundingBox;
use serde_json::{Map, Value};

use crate::Edges;
use crate::crs::Crs;
use crate::wkb::{GeometryKind, GeometryType};

/// The metadata of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct GeoMetadata {
    /// Which rules hold.
    pub version: Version,
    /// The column that is meant where none is named.
    pub primary_column: String,
    /// The columns with geometries, by their names, in the order of the metadata.
    pub columns: Vec<(String, GeoColumn)>,
    /// What else is there.
    pub others: Others,
}

impl GeoMetadata {
    /// A column by its name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&GeoColumn> {
        let (_, column) = self.columns.iter().find(|(it, _)| it == name)?;
        Some(column)
    }
}

/// A version of the specification. Patches and previews count as what they belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Version {
    /// 1.0: WKB in byte arrays.
    V1_0,
    /// 1.1: coverings, and native encodings beside WKB.
    V1_1,
    /// 2.0: GEOMETRY and GEOGRAPHY of Parquet.
    V2_0,
}

impl fmt::Display for Version {
    /// `1.1.0`, as it is written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_0 => "1.0.0",
            Self::V1_1 => "1.1.0",
            Self::V2_0 => "2.0.0",
        })
    }
}

/// Members that the specification does not have, as they came.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Others(pub(super) Map<String, Value>);

/// What is known of a column.
#[derive(Debug, Clone, PartialEq)]
pub struct GeoColumn {
    /// How geometries lie in the column.
    pub encoding: Encoding,
    /// The types that occur; empty where they are not known.
    pub geometry_types: Vec<GeometryType>,
    /// The reference system: the default one, the [undefined](Crs::undefined) one or PROJJSON.
    pub crs: Crs,
    /// How edges run.
    pub edges: Edges,
    /// Whether outer rings go counterclockwise and others clockwise; otherwise nobody says so.
    pub is_counterclockwise: bool,
    /// Bounds of all geometries. `xmin > xmax` is a box across the antimeridian.
    pub bbox: Option<BoundingBox>,
    /// The year that coordinates of a moving system are of.
    pub epoch: Option<f64>,
    /// Where the boxes of the rows are.
    pub covering: Option<Covering>,
    /// What else is there.
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

/// How geometries lie in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Well-known binary.
    Wkb,
    /// Lists of coordinates, as in GeoArrow: `point` to `multipolygon`.
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
    /// `WKB`, `multipolygon`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wkb => f.write_str("WKB"),
            Self::Native(kind) => f.write_str(&kind.to_string().to_lowercase()),
        }
    }
}

/// A struct column with the box of each row: its name, and the names of its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Covering {
    /// The column at the root.
    pub column: String,
    /// Whether it has `zmin` and `zmax` beside `xmin`, `ymin`, `xmax` and `ymax`.
    pub has_z: bool,
    /// Whether a row that crosses the antimeridian has all longitudes there, so that `xmin` is never above
    /// `xmax`. The specification leaves that open; our files say it by a member of their own beside the covering.
    pub never_wraps: bool,
}

impl Covering {
    /// The member that says so.
    pub(super) const NEVER_WRAPS: &'static str = "herringbone:covering_never_wraps";

    /// The fields, in the order that writers use.
    #[must_use]
    pub fn fields(&self) -> &'static [&'static str] {
        match self.has_z {
            false => &["xmin", "ymin", "xmax", "ymax"],
            true => &["xmin", "ymin", "zmin", "xmax", "ymax", "zmax"],
        }
    }
}

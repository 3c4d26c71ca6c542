//! Computes geospatial statistics of a column chunk, or of any set of geometries.

use herringbone_format::GeospatialStatistics;

use crate::Edges;
use crate::bounds::{Bounder, Extent};
use crate::wkb::{Dimensions, GeometryKind, GeometryType, WkbError};

/// A set of geometry types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GeometryTypes {
    /// One bit per known type. Bit 7·d + k - 1 is for the kind with code k and dimensions d.
    bits: u32,
    has_others: bool,
}

const KINDS: u32 = GeometryKind::KNOWN.len() as u32;

impl GeometryTypes {
    /// Adds a type.
    pub fn add(&mut self, geometry_type: GeometryType) {
        let kind = geometry_type.kind;
        if kind.is_opaque() {
            self.has_others = true;
        } else {
            self.bits |= 1 << (geometry_type.dimensions as u32 * KINDS + kind.code() - 1);
        }
    }

    /// Adds the types of another set.
    pub fn merge(&mut self, other: Self) {
        self.bits |= other.bits;
        self.has_others |= other.has_others;
    }

    /// Adds a value's type. A malformed value has an unknown type.
    pub(crate) fn add_result(&mut self, result: Result<GeometryType, WkbError>) {
        match result {
            Ok(geometry_type) => self.add(geometry_type),
            Err(_) => self.add_unknown(),
        }
    }

    /// Adds a geometry of unknown type.
    pub fn add_unknown(&mut self) {
        self.has_others = true;
    }

    /// Returns the types in ascending order of their codes, or `None` if unknown types were added.
    #[must_use]
    pub fn types(self) -> Option<impl Iterator<Item = GeometryType>> {
        let all = Dimensions::ALL.into_iter().flat_map(|dimensions| {
            let type_of = move |kind| GeometryType::new(kind, dimensions);
            GeometryKind::KNOWN.into_iter().map(type_of)
        });
        let occur = move |(index, _): &(usize, GeometryType)| self.bits >> index & 1 == 1;
        let types = all.enumerate().filter(occur).map(|(_, it)| it);
        (!self.has_others).then_some(types)
    }

    /// Returns the ISO codes in ascending order, or `None` if there are no types, or if unknown
    /// types were added.
    #[must_use]
    pub fn codes(self) -> Option<Vec<i32>> {
        let codes: Vec<i32> = self
            .types()?
            .map(|types| types.code().cast_signed())
            .collect();
        (!codes.is_empty()).then_some(codes)
    }
}

/// Computes statistics from values or from other statistics.
///
/// ```
/// use herringbone::geospatial::{Edges, StatisticsBuilder, wkt};
///
/// let mut statistics = StatisticsBuilder::new(Edges::Planar);
/// for text in ["POINT (1 5)", "LINESTRING (3 2, 4 6)"] {
///     let mut value = Vec::new();
///     wkt::read(text, &mut value)?;
///     statistics.add(&value)?;
/// }
/// let bbox = statistics.extent().bbox().ok_or("no positions")?;
/// assert_eq!((bbox.xmin, bbox.xmax, bbox.ymin, bbox.ymax), (1.0, 4.0, 2.0, 6.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct StatisticsBuilder {
    bounder: Bounder,
    types: GeometryTypes,
}

impl StatisticsBuilder {
    /// Creates a builder that has seen nothing yet.
    #[must_use]
    pub fn new(edges: Edges) -> Self {
        Self {
            bounder: Bounder::new(edges),
            types: GeometryTypes::default(),
        }
    }

    /// Adds a valid value, returning its type.
    ///
    /// # Errors
    ///
    /// Fails if the value is not well-known binary. There are no statistics from then on.
    #[inline]
    pub fn add(&mut self, value: &[u8]) -> Result<GeometryType, WkbError> {
        let result = self.bounder.add(value);
        self.types.add_result(result);
        result
    }

    /// Adds valid values. If one of them is not well-known binary, there are no statistics.
    pub fn add_all(&mut self, values: &[&[u8]]) {
        self.types.merge(self.bounder.add_all(values));
    }

    /// Adds everything that another builder has seen. Both builders must have equal edges.
    pub fn merge(&mut self, other: &Self) {
        self.bounder.merge(&other.bounder);
        self.types.merge(other.types);
    }

    /// Adds the statistics of a column chunk or file that has values, or `None` if it has no
    /// statistics. Without a valid box there, the result has no box either, since the values could
    /// be empty or anywhere.
    pub fn add_statistics(&mut self, statistics: Option<&GeospatialStatistics>) {
        match statistics.and_then(|statistics| statistics.bbox.as_ref()) {
            Some(bbox) => self.bounder.add_box(bbox),
            None => self.bounder.add_unknown(),
        }
        let codes = statistics.and_then(|statistics| statistics.geospatial_types.as_ref());
        let codes = codes.map(Vec::as_slice).unwrap_or_default();
        if codes.is_empty() {
            self.types.add_unknown();
        }
        for code in codes {
            match u32::try_from(*code).ok().and_then(GeometryType::from_code) {
                Some(geometry_type) => self.types.add(geometry_type),
                None => self.types.add_unknown(),
            }
        }
    }

    /// Returns the extent of everything added so far.
    #[must_use]
    pub fn extent(&self) -> Extent {
        self.bounder.extent()
    }

    /// Returns the types of everything added so far.
    #[must_use]
    pub fn types(&self) -> GeometryTypes {
        self.types
    }

    /// Returns the statistics, or `None` if they would be empty.
    #[must_use]
    pub fn finish(&self) -> Option<GeospatialStatistics> {
        let statistics = GeospatialStatistics::new()
            .bbox(self.extent().bbox())
            .geospatial_types(self.types.codes());
        (statistics != GeospatialStatistics::default()).then_some(statistics)
    }
}

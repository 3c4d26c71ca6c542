//! Checks geometries against their annotation and geospatial statistics.

use std::collections::BTreeSet;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::array::cast::AsArray;
use herringbone_format::{
    BoundingBox, ErrorKind, GeospatialStatistics, LogicalType, SchemaElement,
};
use herringbone_geospatial::bounds::{contains, faults, outside};
use herringbone_geospatial::wkb::{Event, Events, GeometryType, Header, Position};
use herringbone_geospatial::{Edges, StatisticsBuilder};

use super::finding::{FindingKind, Report};

/// The tolerance for the bounds of a GEOGRAPHY, in degrees: a tenth of a millimetre. We need it
/// because the bounds are computed from points on a sphere and rounded.
pub(super) const ROUNDED: f64 = 1e-9;
/// The tolerance for arcs between positions, in degrees: a decimetre. We need it because an arc's
/// extent is computed too.
const CALCULATED: f64 = 1e-6;

/// The geometries of a column chunk.
pub(super) struct Geometries<'a> {
    claimed: Option<&'a GeospatialStatistics>,
    edges: Edges,
    types: BTreeSet<GeometryType>,
    /// The extent of all values, if there is one to compare.
    found: Option<StatisticsBuilder>,
    values: u64,
    malformed: Occurrences,
    extended: Occurrences,
    unknown: Occurrences,
    /// Values with coordinates off the Earth.
    beyond: Occurrences,
    /// Values outside the bounding box, by x, y, z and m.
    outside: [Occurrences; 4],
}

/// The number of values with some property and the ordinal of the first.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Occurrences {
    pub(super) count: u64,
    pub(super) first: u64,
}

impl Occurrences {
    pub(super) fn note(&mut self, value: u64) {
        if self.count == 0 {
            self.first = value;
        }
        self.count += 1;
    }

    pub(super) fn note_if(&mut self, is: bool, value: u64) {
        if is {
            self.note(value);
        }
    }
}

/// A value's properties.
#[derive(Default)]
struct Seen {
    geometry_type: Option<GeometryType>,
    is_extended: bool,
    is_opaque: bool,
    beyond: bool,
    outside: [bool; 4],
}

impl<'a> Geometries<'a> {
    /// Creates the check, without any values yet. Returns `None` if the column has another type or
    /// unknown edges.
    pub(super) fn new(
        element: &SchemaElement,
        claimed: Option<&'a GeospatialStatistics>,
    ) -> Option<Self> {
        let edges = Edges::of(element.logical_type.as_ref()?).ok()??;
        // On an ellipsoid, we only know the extent of arcs within a margin, so we don't compare it.
        let has_arcs =
            edges == Edges::Spherical && claimed.is_some_and(|claimed| claimed.bbox.is_some());
        Some(Self {
            claimed,
            edges,
            types: BTreeSet::new(),
            found: has_arcs.then(|| StatisticsBuilder::new(edges)),
            values: 0,
            malformed: Occurrences::default(),
            extended: Occurrences::default(),
            unknown: Occurrences::default(),
            beyond: Occurrences::default(),
            outside: [Occurrences::default(); 4],
        })
    }

    /// Adds the values of a block.
    pub(super) fn add(&mut self, values: &ArrayRef) {
        let Some(values) = values.as_binary_opt::<i32>() else {
            return;
        };
        for value in values.iter().flatten() {
            self.value(value);
            self.values += 1;
        }
    }

    fn value(&mut self, value: &[u8]) {
        if let Some(found) = &mut self.found {
            // The events below detect malformed values.
            found.add(value).ok();
        }
        let bbox = self.claimed.and_then(|claimed| claimed.bbox.as_ref());
        let mut seen = Seen::default();
        let at = self.values;
        let mut end = Ok(());
        for event in Events::new(value) {
            match event {
                Ok(Event::Start(header)) => seen.start(&header),
                Ok(Event::Coordinates(coordinates)) => {
                    let each = coordinates.iter();
                    each.for_each(|position| seen.position(&position, bbox, self.edges));
                }
                Ok(Event::Opaque(_)) => seen.is_opaque = true,
                Ok(_) => {}
                Err(error) => end = Err(error.kind.error_kind()),
            }
        }
        match end {
            Err(ErrorKind::Corrupt) => self.malformed.note(at),
            Err(_) => self.unknown.note(at),
            Ok(()) => {
                self.types.extend(seen.geometry_type);
                self.unknown.note_if(seen.is_opaque, at);
                self.extended.note_if(seen.is_extended, at);
            }
        }
        self.beyond.note_if(seen.beyond, at);
        for (occurrences, is_outside) in self.outside.iter_mut().zip(seen.outside) {
            occurrences.note_if(is_outside, at);
        }
    }

    /// Reports all problems. Call this after the last decodable page.
    pub(super) fn finish(&self, report: &mut Report) {
        let Occurrences { count, first } = self.malformed;
        if count > 0 {
            let message = format!(
                "{count} values are not well-known binary, the first of them is value {first}"
            );
            report.error(FindingKind::Geometry, message);
        }
        let Occurrences { count, first } = self.extended;
        if count > 0 {
            let message = format!(
                "{count} values are extended well-known binary (EWKB) instead of ISO, the first of \
                 them is value {first}"
            );
            report.error(FindingKind::Geometry, message);
        }
        let Occurrences { count, first } = self.unknown;
        if count > 0 {
            let message = format!(
                "{count} geometries are of unknown kinds, the first of them is value {first}"
            );
            report.warning(FindingKind::NotChecked, message);
        }
        let Occurrences { count, first } = self.beyond;
        if count > 0 {
            let message = format!(
                "{count} values exceed the longitudes -180 to 180 or the latitudes -90 to 90, the \
                 first of them is value {first}"
            );
            report.error(FindingKind::Geometry, message);
        }
        let Some(claimed) = self.claimed else { return };
        if let Some(bbox) = &claimed.bbox {
            self.claimed_box(bbox, report);
        }
        self.claimed_types(&claimed.geospatial_types, report);
    }

    fn claimed_box(&self, bbox: &BoundingBox, report: &mut Report) {
        let kind = FindingKind::GeospatialStatistics;
        let mut is_valid = true;
        for fault in faults(bbox, self.edges) {
            is_valid = false;
            report.error(kind, fault.to_string());
        }
        for (axis, Occurrences { count, first }) in
            ["x", "y", "z", "m"].into_iter().zip(self.outside)
        {
            if count > 0 {
                is_valid = false;
                let message = format!(
                    "{count} values have {axis} outside of the bounding box, the first of them is \
                     value {first}"
                );
                report.error(kind, message);
            }
        }
        let found = self.found.as_ref().filter(|_| is_valid);
        let found = found.and_then(|found| found.extent().bbox());
        if found.is_some_and(|found| !contains_arcs(bbox, &found, self.edges)) {
            let message = "the bounding box does not contain parts of edges, which are arcs of \
                           great circles, or a pole within a polygon";
            report.error(kind, message);
        }
    }

    fn claimed_types(&self, claimed: &Option<Vec<i32>>, report: &mut Report) {
        let kind = FindingKind::GeospatialStatistics;
        let Some(claimed) = claimed.as_ref().filter(|claimed| !claimed.is_empty()) else {
            return;
        };
        let distinct: BTreeSet<_> = claimed.iter().collect();
        if distinct.len() < claimed.len() {
            let message = format!("geospatial_types name a type twice: {claimed:?}");
            report.note(kind, message);
        }
        for found in self.types.iter().map(|type_| type_.code()) {
            if !claimed
                .iter()
                .any(|claimed| u32::try_from(*claimed) == Ok(found))
            {
                let message = format!("geospatial_types are {claimed:?}, but there is a {found}");
                report.error(kind, message);
            }
        }
    }
}

impl Seen {
    fn start(&mut self, header: &Header) {
        self.geometry_type.get_or_insert(header.geometry_type);
        self.is_extended |= header.is_extended;
    }

    fn position(&mut self, at: &Position, bbox: Option<&BoundingBox>, edges: Edges) {
        let is_geography = edges.is_geography();
        self.beyond |= is_geography && (at.x.abs() > 180.0 || at.y.abs() > 90.0);
        if let Some(bbox) = bbox {
            let slack = if is_geography { ROUNDED } else { 0.0 };
            let are = outside(bbox, at, slack);
            self.outside
                .iter_mut()
                .zip(are)
                .for_each(|(any, it)| *any |= it);
        }
    }
}

/// Returns true if a box contains the box needed for the edges, within the tolerance.
fn contains_arcs(claimed: &BoundingBox, needed: &BoundingBox, edges: Edges) -> bool {
    let mut wider = claimed.clone();
    wider.ymin -= CALCULATED;
    wider.ymax += CALCULATED;
    let is_narrow = (wider.xmax - wider.xmin).rem_euclid(360.0) < 360.0 - 2.0 * CALCULATED;
    if is_narrow && (wider.xmin, wider.xmax) != (-180.0, 180.0) {
        wider.xmin -= CALCULATED;
        wider.xmax += CALCULATED;
    }
    // Heights and measures only depend on positions, and we've already compared those.
    (wider.zmin, wider.zmax, wider.mmin, wider.mmax) = (None, None, None, None);
    contains(&wider, needed, edges)
}

/// Returns true if geospatial statistics are allowed on a column, even if its edges are unknown.
pub(super) fn may_have(element: &SchemaElement) -> bool {
    matches!(
        element.logical_type,
        Some(LogicalType::Geometry { .. } | LogicalType::Geography { .. })
    )
}

/// Reports geospatial statistics on a column of another type.
pub(super) fn none_expected(report: &mut Report) {
    let message = "geospatial statistics of a column without geometries";
    report.note(FindingKind::GeospatialStatistics, message);
}

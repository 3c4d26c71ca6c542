//! Geometries against their kind and against geospatial statistics.

use std::collections::BTreeSet;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::array::cast::AsArray;
use herringbone_format::{BoundingBox, GeospatialStatistics, LogicalType, SchemaElement};

use super::finding::{FindingKind, Report};
use super::wkb::{Fault, Position, positions};

/// What coordinates of a GEOGRAPHY are.
const LONGITUDES: (f64, f64) = (-180.0, 180.0);
const LATITUDES: (f64, f64) = (-90.0, 90.0);
/// Degrees by which bounds of a GEOGRAPHY may be missed, a tenth of a millimetre: they come from
/// points on a sphere, and are rounded.
const ROUNDED: f64 = 1e-9;

/// The geometries of a column chunk.
#[derive(Debug)]
pub(super) struct Geometries<'a> {
    claimed: Option<&'a GeospatialStatistics>,
    is_geography: bool,
    /// ISO codes of the types that occur.
    types: BTreeSet<u32>,
    values: u64,
    malformed: Occurrences,
    unknown: Occurrences,
    /// Values that are nowhere on Earth.
    beyond: Occurrences,
    /// Values outside of the bounding box, by x, y, z and m.
    outside: [Occurrences; 4],
}

/// How many values are of some kind, and the ordinal of the first of them.
#[derive(Debug, Default, Clone, Copy)]
struct Occurrences {
    count: u64,
    first: u64,
}

impl Occurrences {
    fn note(&mut self, value: u64) {
        if self.count == 0 {
            self.first = value;
        }
        self.count += 1;
    }
}

impl<'a> Geometries<'a> {
    /// Of nothing yet; `None` for columns of another kind.
    pub(super) fn new(
        element: &SchemaElement,
        claimed: Option<&'a GeospatialStatistics>,
    ) -> Option<Self> {
        let is_geography = match element.logical_type {
            Some(LogicalType::Geometry { .. }) => false,
            Some(LogicalType::Geography { .. }) => true,
            _ => return None,
        };
        Some(Self {
            claimed,
            is_geography,
            types: BTreeSet::new(),
            values: 0,
            malformed: Occurrences::default(),
            unknown: Occurrences::default(),
            beyond: Occurrences::default(),
            outside: [Occurrences::default(); 4],
        })
    }

    /// Takes the values of a block.
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
        let bbox = self.claimed.and_then(|claimed| claimed.bbox.as_ref());
        let (mut outside, mut beyond) = ([false; 4], false);
        let is_geography = self.is_geography;
        let code = positions(value, &mut |at: Position| {
            beyond |= is_geography && !(is_in(LONGITUDES, at.x) && is_in(LATITUDES, at.y));
            if let Some(bbox) = bbox {
                let slack = if is_geography { ROUNDED } else { 0.0 };
                let are = are_outside(bbox, at, slack);
                outside.iter_mut().zip(are).for_each(|(any, it)| *any |= it);
            }
        });
        match code {
            Ok(code) => {
                self.types.insert(code);
            }
            Err(Fault::Malformed) => self.malformed.note(self.values),
            Err(Fault::Unknown) => self.unknown.note(self.values),
        }
        if beyond {
            self.beyond.note(self.values);
        }
        for (occurrences, is_outside) in self.outside.iter_mut().zip(outside) {
            if is_outside {
                occurrences.note(self.values);
            }
        }
    }

    /// Says what is wrong, after all pages that can be decoded.
    pub(super) fn finish(&self, report: &mut Report) {
        let Occurrences { count, first } = self.malformed;
        if count > 0 {
            let message = format!(
                "{count} values are no well-known binary, the first of them is value {first}"
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
                "{count} values leave the longitudes of -180 to 180 or the latitudes of -90 to 90, \
                 the first of them is value {first}"
            );
            report.error(FindingKind::Geometry, message);
        }
        let Some(claimed) = self.claimed else { return };
        let kind = FindingKind::GeospatialStatistics;
        if let Some(bbox) = &claimed.bbox {
            for fault in faults(bbox, self.is_geography) {
                report.error(kind, fault);
            }
        }
        for (axis, Occurrences { count, first }) in
            ["x", "y", "z", "m"].into_iter().zip(self.outside)
        {
            if count > 0 {
                let message = format!(
                    "{count} values have {axis} outside of the bounding box, the first of them is \
                     value {first}"
                );
                report.error(kind, message);
            }
        }
        self.claimed_types(&claimed.geospatial_types, report);
    }

    fn claimed_types(&self, claimed: &Option<Vec<i32>>, report: &mut Report) {
        let kind = FindingKind::GeospatialStatistics;
        let Some(claimed) = claimed.as_ref().filter(|it| !it.is_empty()) else {
            return;
        };
        let distinct: BTreeSet<_> = claimed.iter().collect();
        if distinct.len() < claimed.len() {
            let message = format!("geospatial_types name a type twice: {claimed:?}");
            report.warning(kind, message);
        }
        for found in &self.types {
            if !claimed.iter().any(|it| u32::try_from(*it) == Ok(*found)) {
                let message = format!("geospatial_types are {claimed:?}, but there is a {found}");
                report.error(kind, message);
            }
        }
    }
}

/// Says that there is nothing to bound, where a column of another kind has such statistics.
pub(super) fn none_expected(report: &mut Report) {
    let message = "geospatial statistics of a column without geometries";
    report.warning(FindingKind::GeospatialStatistics, message);
}

/// NaN is nowhere, and so never outside.
fn is_in((min, max): (f64, f64), value: f64) -> bool {
    value.is_nan() || (min <= value && value <= max)
}

/// Whether x, y, z and m are outside of a box, the first two by more than `slack`. Bounds that are
/// not there, or NaN, exclude nothing.
fn are_outside(bbox: &BoundingBox, at: Position, slack: f64) -> [bool; 4] {
    let outside = |min: f64, max: f64, value: f64| value < min || value > max;
    let x = if bbox.xmin > bbox.xmax {
        // Across the antimeridian.
        at.x < bbox.xmin - slack && at.x > bbox.xmax + slack
    } else {
        outside(bbox.xmin - slack, bbox.xmax + slack, at.x)
    };
    let optional = |bounds: (Option<f64>, Option<f64>), value| {
        outside(
            bounds.0.unwrap_or(f64::NAN),
            bounds.1.unwrap_or(f64::NAN),
            value,
        )
    };
    [
        x,
        outside(bbox.ymin - slack, bbox.ymax + slack, at.y),
        optional((bbox.zmin, bbox.zmax), at.z),
        optional((bbox.mmin, bbox.mmax), at.m),
    ]
}

/// What is wrong with a box, whatever is in it.
fn faults(bbox: &BoundingBox, is_geography: bool) -> Vec<String> {
    let mut faults = Vec::new();
    let axes = [
        ("x", Some(bbox.xmin), Some(bbox.xmax)),
        ("y", Some(bbox.ymin), Some(bbox.ymax)),
        ("z", bbox.zmin, bbox.zmax),
        ("m", bbox.mmin, bbox.mmax),
    ];
    for (axis, min, max) in axes {
        match (min, max) {
            (Some(min), Some(max)) if min.is_nan() || max.is_nan() => {
                faults.push(format!("the bounding box has a NaN in {axis}"));
            }
            // x may go across the antimeridian.
            (Some(min), Some(max)) if min > max && axis != "x" => {
                faults.push(format!("{axis}min is {min}, above {axis}max, {max}"));
            }
            (Some(_), None) | (None, Some(_)) => {
                faults.push(format!(
                    "the bounding box has one of {axis}min and {axis}max only"
                ));
            }
            _ => {}
        }
    }
    let on_earth = [
        is_in(LONGITUDES, bbox.xmin) && is_in(LONGITUDES, bbox.xmax),
        is_in(LATITUDES, bbox.ymin) && is_in(LATITUDES, bbox.ymax),
    ];
    if is_geography && on_earth.contains(&false) {
        faults.push(
            "the bounding box leaves the longitudes of -180 to 180 or the latitudes of -90 to 90"
                .into(),
        );
    }
    faults
}

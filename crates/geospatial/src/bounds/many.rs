//! Values of a column, many at a time.

use herringbone_kernels::positions::{PositionBytes, position_bounds};

use super::Bounder;
use super::bounder::Xy;
use super::ordinates::intervals;
use super::points::{bounds_of_points, x_of};
use crate::GeometryTypes;
use crate::wkb::{Coordinates, GeometryKind, GeometryType, for_each_sequence, only_sequence};

impl Bounder {
    /// Takes values, and returns their types. Where one is not well-known binary, there is no box.
    pub(crate) fn add_all(&mut self, values: &[&[u8]]) -> GeometryTypes {
        /// Values of which all are looked at one by one if one of them is no point.
        const AT_A_TIME: usize = 128;
        let mut types = GeometryTypes::default();
        let mut sequences = Sequences::new();
        for values in values.chunks(AT_A_TIME) {
            if let Some(of_points) = self.add_points(values) {
                types.add(of_points);
            } else {
                self.add_values(values, &mut sequences, &mut types);
            }
        }
        self.add_sequences(&mut sequences);
        types
    }

    fn add_values<'a>(
        &mut self,
        values: &[&'a [u8]],
        sequences: &mut Sequences<'a>,
        types: &mut GeometryTypes,
    ) {
        for value in values {
            let geometry_type = match only_sequence(value) {
                Some((geometry_type, coordinates)) => {
                    let kind = geometry_type.kind;
                    let is_shell = kind == GeometryKind::Polygon;
                    self.put_off(sequences, coordinates, kind, is_shell);
                    Some(geometry_type)
                }
                None => for_each_sequence(value, |kind, is_shell, coordinates| {
                    self.put_off(sequences, coordinates, kind, is_shell);
                }),
            };
            match geometry_type {
                Some(geometry_type) => types.add(geometry_type),
                None => types.add_result(self.add(value)),
            }
        }
    }

    /// Takes a sequence, together with others if it is in the form that writers prefer.
    #[inline(always)]
    fn put_off<'a>(
        &mut self,
        sequences: &mut Sequences<'a>,
        coordinates: Coordinates<'a>,
        kind: GeometryKind,
        is_shell: bool,
    ) {
        let Some(positions) = coordinates.little_endian() else {
            return self.add_sequence(coordinates, kind, is_shell);
        };
        let sequence = Sequence {
            positions,
            kind,
            is_shell,
        };
        if !sequences.push(sequence) {
            self.add_sequences(sequences);
            sequences.push(sequence);
        }
    }

    /// Takes what was put off.
    fn add_sequences(&mut self, sequences: &mut Sequences<'_>) {
        match &mut self.xy {
            Xy::Plane { x, y } => {
                let bounds = position_bounds::<false>(sequences.as_slice());
                let [xs, ys] = intervals(&bounds);
                x.interval.merge(xs);
                y.merge(ys);
            }
            Xy::Earth(earth) => {
                let bounds = position_bounds::<true>(sequences.as_slice());
                let [xs, ys] = intervals(&bounds);
                // The most western and the most eastern position are at most so far from the first one.
                let width = 2.0 * bounds.x_spread;
                if !earth.holds(xs, ys, width, self.edges) {
                    for it in sequences.as_slice() {
                        let coordinates = Coordinates::of_little_endian(it.positions);
                        self.add_sequence(coordinates, it.kind, it.is_shell);
                    }
                } else if !earth.longitudes.hold(xs.min, xs.max) {
                    for it in sequences.as_slice() {
                        let [xs, _] = intervals(&position_bounds::<false>(&[*it]));
                        if !xs.is_empty() {
                            earth.longitudes.add(xs.min, xs.max);
                        }
                    }
                }
            }
        }
        sequences.count = 0;
    }

    /// Takes values that are points, if all of them are, in the form that writers prefer; returns their type.
    fn add_points(&mut self, values: &[&[u8]]) -> Option<GeometryType> {
        let (geometry_type, [xs, ys, zs, ms]) = bounds_of_points(values)?;
        self.z.merge(zs);
        self.m.merge(ms);
        match &mut self.xy {
            Xy::Plane { x, y } => {
                x.interval.merge(xs);
                y.merge(ys);
            }
            Xy::Earth(earth) => {
                let longitudes = values.iter().map(|value| x_of(value));
                if let Err(reason) = earth.add_points(longitudes, xs, ys) {
                    self.unknown.get_or_insert(reason);
                }
            }
        }
        Some(geometry_type)
    }
}

/// Sequences that are bounded at once.
const SEQUENCES: usize = 32;

/// Sequences that are put off: those of values of x and y alone, in the order of bytes that writers prefer.
struct Sequences<'a> {
    /// Those from `count` on are of no meaning.
    sequences: [Sequence<'a>; SEQUENCES],
    count: usize,
}

#[derive(Clone, Copy)]
struct Sequence<'a> {
    positions: &'a [PositionBytes],
    /// The kind of geometry that it is of.
    kind: GeometryKind,
    /// Whether it is the outer ring of a polygon.
    is_shell: bool,
}

impl AsRef<[PositionBytes]> for Sequence<'_> {
    fn as_ref(&self) -> &[PositionBytes] {
        self.positions
    }
}

impl<'a> Sequences<'a> {
    fn new() -> Self {
        let none = Sequence {
            positions: &[],
            kind: GeometryKind::Point,
            is_shell: false,
        };
        Self {
            sequences: [none; SEQUENCES],
            count: 0,
        }
    }

    /// Whether there was room for it.
    #[inline(always)]
    fn push(&mut self, sequence: Sequence<'a>) -> bool {
        let slot = self.sequences.get_mut(self.count);
        let has_room = slot.is_some();
        if let Some(slot) = slot {
            *slot = sequence;
            self.count += 1;
        }
        has_room
    }

    fn as_slice(&self) -> &[Sequence<'a>] {
        self.sequences.get(..self.count).unwrap_or_default()
    }
}

//! Bounds many values of a column at once.

use herringbone_kernels::positions::{PositionBytes, position_bounds};

use super::Bounder;
use super::bounder::Xy;
use super::ordinates::intervals;
use super::points::{bounds_of_points, x_of};
use crate::GeometryTypes;
use crate::wkb::{Coordinates, GeometryKind, GeometryType, for_each_sequence, only_sequence};

impl Bounder {
    /// Adds values, and returns their types. If a value is not well-known binary, the extent is
    /// unknown.
    pub(crate) fn add_all(&mut self, values: &[&[u8]]) -> GeometryTypes {
        /// The batch size for the point fast path. If a batch has anything but points, we fall back
        /// to reading its values one by one.
        const AT_A_TIME: usize = 128;
        let mut types = GeometryTypes::default();
        let mut sequences = Sequences::new();
        for values in values.chunks(AT_A_TIME) {
            if let Some(points_box) = self.add_points(values) {
                types.add(points_box);
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

    /// Queues a sequence in order to bound several at once. Only sequences in the writers'
    /// preferred form can be queued, so we add any other right away.
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

    /// Adds the queued sequences.
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
                // A sequence's westernmost and easternmost positions are both within `x_spread` of
                // its first position, so this bounds its width.
                let width = 2.0 * bounds.x_spread;
                if !earth.contains(xs, ys, width, self.edges) {
                    for it in sequences.as_slice() {
                        let coordinates = Coordinates::of_little_endian(it.positions);
                        self.add_sequence(coordinates, it.kind, it.is_shell);
                    }
                } else if !earth.longitudes.contain(xs.min, xs.max) {
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

    /// Adds values and returns their type if all of them are points in the writers' preferred form.
    /// Otherwise, adds nothing and returns `None`.
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

/// The number of sequences to bound at once.
const SEQUENCES: usize = 32;

/// A queue of sequences with x and y only, in the writers' preferred byte order. It's full at
/// [`SEQUENCES`] and is then flushed in one go.
struct Sequences<'a> {
    /// The sequences. Only the first `count` entries are valid.
    sequences: [Sequence<'a>; SEQUENCES],
    count: usize,
}

#[derive(Clone, Copy)]
struct Sequence<'a> {
    positions: &'a [PositionBytes],
    /// The kind of geometry that contains the sequence.
    kind: GeometryKind,
    /// True if the sequence is a polygon's outer ring.
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

    /// Adds a sequence. Returns false if the buffer is full.
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

//! Values of a column, many at a time.

use super::Bounder;
use super::bounder::Xy;
use super::ordinates::Bounds;
use super::points::{bounds_of_points, x_of};
use crate::GeometryTypes;
use crate::wkb::{Coordinates, GeometryKind, GeometryType, for_each_sequence, only_sequence};

impl Bounder {
    /// Takes values, and returns their types. Where one is not well-known binary, there is no box.
    pub(crate) fn add_all(&mut self, values: &[&[u8]]) -> GeometryTypes {
        /// Values of which all are looked at one by one if one of them is no point.
        const AT_A_TIME: usize = 128;
        let mut types = GeometryTypes::default();
        for values in values.chunks(AT_A_TIME) {
            if let Some(of_points) = self.add_points(values) {
                types.add(of_points);
            } else {
                self.add_block(values, &mut types);
            }
        }
        types
    }

    /// Takes values, of which those of x and y alone, in the order of bytes that writers prefer, are bounded at once.
    fn add_block(&mut self, values: &[&[u8]], types: &mut GeometryTypes) {
        let mut in_plane = Bounds::EMPTY;
        for value in values {
            let geometry_type = match only_sequence(value) {
                Some((geometry_type, coordinates)) => {
                    let kind = geometry_type.kind;
                    let is_shell = kind == GeometryKind::Polygon;
                    self.add_one_of_many(kind, is_shell, coordinates, &mut in_plane);
                    Some(geometry_type)
                }
                None => for_each_sequence(value, |kind, is_shell, coordinates| {
                    self.add_one_of_many(kind, is_shell, coordinates, &mut in_plane);
                }),
            };
            match geometry_type {
                Some(geometry_type) => types.add(geometry_type),
                None => types.add_result(self.add(value)),
            }
        }
        let [xs, ys] = in_plane.finish();
        if let Xy::Plane { x, y } = &mut self.xy {
            x.interval.merge(xs);
            y.merge(ys);
        }
    }

    #[inline(always)]
    fn add_one_of_many(
        &mut self,
        kind: GeometryKind,
        is_shell: bool,
        coordinates: Coordinates<'_>,
        in_plane: &mut Bounds<2>,
    ) {
        match (&mut self.xy, coordinates.little_endian()) {
            // Edges are straight, so that one sequence is like another.
            (Xy::Plane { .. }, Some(positions)) => in_plane.add(positions, f64::from_le_bytes),
            (Xy::Earth(earth), Some(positions)) if kind != GeometryKind::Point => {
                let mut bounds = Bounds::EMPTY;
                bounds.add(positions, f64::from_le_bytes);
                let [xs, ys] = bounds.finish();
                if earth.holds(xs, ys, self.edges) {
                    earth.longitudes.add_one_of_many(xs.min, xs.max);
                } else if let Err(reason) = earth.add(&coordinates, self.edges, kind, is_shell) {
                    self.unknown.get_or_insert(reason);
                }
            }
            _ => self.add_sequence(coordinates, kind, is_shell),
        }
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

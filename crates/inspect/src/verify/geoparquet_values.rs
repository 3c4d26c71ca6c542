//! Checks GeoParquet's claims against the values: the boxes and types of columns, and the rows'
//! boxes in coverings. Readers that trust wrong claims skip rows that they should return.

use std::collections::BTreeSet;

use herringbone::{ParquetFile, Projection, ReadOptions, SchemaOptions};
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{Float32Type, Float64Type};
use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch};
use herringbone_format::{Repetition, Result, Type};
use herringbone_geospatial::bounds::outside;
use herringbone_geospatial::geoparquet::{Covering, Encoding, GeoColumn, GeoMetadata, KEY};
use herringbone_geospatial::wkb::{Event, Events, GeometryType, Position};
use herringbone_schema::ParquetSchema;

use super::finding::{FindingKind, Report};
use super::geoparquet::value_of;
use super::geospatial::{self, Occurrences, ROUNDED};

/// Checks the values of a row group. If damage makes them unreadable, another check reports it.
///
/// # Errors
/// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
pub(super) fn check(file: &ParquetFile, row_group: usize, report: &mut Report) -> Result<()> {
    let usable = value_of(file, KEY).and_then(|text| GeoMetadata::parse_usable(text).ok());
    let Some((metadata, _)) = usable else {
        return Ok(());
    };
    for (name, column) in &metadata.columns {
        let Some(mut values) = Values::new(file.parquet_schema(), name, column) else {
            continue;
        };
        report.location.row_group = Some(row_group);
        report.location.set_column(name);
        match values.read(file, row_group) {
            Ok(()) => values.finish(report),
            Err(error) if error.is_of_source() => return Err(error),
            Err(_) => {}
        }
        report.location.column = None;
    }
    Ok(())
}

/// A column's values and the claims about them.
struct Values<'a> {
    name: &'a str,
    column: &'a GeoColumn,
    /// The covering, if the file has all of its fields.
    covering: Option<&'a Covering>,
    leaves: Vec<usize>,
    /// True if the column check already reports values that aren't geometries, so that we don't
    /// report them twice.
    is_annotated: bool,
    rows: u64,
    types: BTreeSet<GeometryType>,
    malformed: Occurrences,
    /// Values outside the box, by x, y, z and m.
    outside: [Occurrences; 4],
    /// Rows outside their boxes, and rows without one.
    uncovered: Occurrences,
    without_box: Occurrences,
}

impl<'a> Values<'a> {
    /// Creates the check. Returns `None` if the column claims nothing about well-known binary at
    /// the root of the file.
    fn new(schema: &ParquetSchema, name: &'a str, column: &'a GeoColumn) -> Option<Self> {
        let nodes = schema.nodes().iter().skip(1);
        let mut at_root = nodes.filter(|node| node.parent == 0);
        let node = at_root.find(|node| node.element.name == name)?;
        let is_bytes = node.element.type_ == Some(Type::ByteArray)
            && node.repetition() != Repetition::Repeated;
        let mut leaves = vec![node.leaves.start];
        let covering = column.covering.as_ref().filter(|covering| {
            let field_indices = covering
                .fields()
                .iter()
                .map(|field| bound(schema, covering, field));
            let field_indices: Option<Vec<usize>> = field_indices.collect();
            leaves.extend(field_indices.iter().flatten());
            field_indices.is_some()
        });
        let claims =
            column.bbox.is_some() || !column.geometry_types.is_empty() || covering.is_some();
        (is_bytes && column.encoding == Encoding::Wkb && claims).then(|| Self {
            name,
            column,
            covering,
            leaves,
            is_annotated: geospatial::may_have(&node.element),
            rows: 0,
            types: BTreeSet::new(),
            malformed: Occurrences::default(),
            outside: [Occurrences::default(); 4],
            uncovered: Occurrences::default(),
            without_box: Occurrences::default(),
        })
    }

    fn read(&mut self, file: &ParquetFile, row_group: usize) -> Result<()> {
        let mut schema = SchemaOptions::default();
        schema.use_arrow_schema = false;
        let options = ReadOptions::default()
            .limits(file.limits().clone())
            .row_groups(vec![row_group])
            .threads(1)
            .schema(schema)
            .projection(Projection::Leaves(self.leaves.clone()));
        let mut reader = file.read(options)?;
        while let Some(batch) = reader.next_batch()? {
            self.add(&batch);
        }
        Ok(())
    }

    fn add(&mut self, batch: &RecordBatch) {
        let values = batch.column_by_name(self.name);
        let Some(values) = values.and_then(|values| values.as_binary_opt::<i32>()) else {
            return;
        };
        let boxes = self
            .covering
            .and_then(|covering| Boxes::new(batch, covering));
        for (row, value) in values.iter().enumerate() {
            if let Some(value) = value {
                let extent = self.value(value);
                if let (Some(boxes), Some(extent)) = (&boxes, extent) {
                    match boxes.covers(row, &extent) {
                        None => self.without_box.note(self.rows),
                        Some(false) => self.uncovered.note(self.rows),
                        Some(true) => {}
                    }
                }
            }
            self.rows += 1;
        }
    }

    /// Adds a value and returns the extent of its positions, or `None` if it has no positions or
    /// isn't a geometry.
    fn value(&mut self, value: &[u8]) -> Option<Extent> {
        let mut extent = Extent::default();
        let mut geometry_type = None;
        let mut is_outside = [false; 4];
        let slack = match self.column.edges.is_geography() {
            true => ROUNDED,
            false => 0.0,
        };
        for event in Events::new(value) {
            match event {
                Ok(Event::Start(header)) => _ = geometry_type.get_or_insert(header.geometry_type),
                Ok(Event::Coordinates(coordinates)) => {
                    for position in coordinates.iter() {
                        extent.add(&position);
                        if let Some(bbox) = &self.column.bbox {
                            let are = outside(bbox, &position, slack);
                            let all = is_outside.iter_mut().zip(are);
                            all.for_each(|(any, it)| *any |= it);
                        }
                    }
                }
                Ok(_) => {}
                Err(_) => {
                    self.malformed.note(self.rows);
                    return None;
                }
            }
        }
        self.types.extend(geometry_type);
        for (occurrences, is_outside) in self.outside.iter_mut().zip(is_outside) {
            occurrences.note_if(is_outside, self.rows);
        }
        extent.is_known().then_some(extent)
    }

    fn finish(&self, report: &mut Report) {
        let kind = FindingKind::GeoParquet;
        let Occurrences { count, first } = self.malformed;
        if count > 0 && !self.is_annotated {
            let message = format!(
                "{count} values are not well-known binary, the first of them is in row {first}"
            );
            report.error(FindingKind::Geometry, message);
        }
        for (axis, Occurrences { count, first }) in
            ["x", "y", "z", "m"].into_iter().zip(self.outside)
        {
            if count > 0 {
                let message = format!(
                    "{count} values have {axis} outside of the bbox in the GeoParquet metadata, the \
                     first of them is in row {first}"
                );
                report.error(kind, message);
            }
        }
        let claimed = &self.column.geometry_types;
        for found in self
            .types
            .iter()
            .filter(|type_| !claimed.is_empty() && !claimed.contains(type_))
        {
            let claimed: Vec<String> = claimed.iter().map(ToString::to_string).collect();
            let claimed = claimed.join(", ");
            let message = format!(
                "geometry_types in the GeoParquet metadata are {claimed}, but there is a {found}"
            );
            report.error(kind, message);
        }
        let column = self.covering.map_or("", |covering| &covering.column);
        for (Occurrences { count, first }, what) in [
            (self.uncovered, "are outside of their boxes"),
            (self.without_box, "do not have a box"),
        ] {
            if count > 0 {
                let message = format!(
                    "the geometries of {count} rows {what} in the covering column `{column}`, the \
                     first of them in row {first}, so readers that trust the boxes lose these rows"
                );
                report.error(kind, message);
            }
        }
    }
}

/// Returns the leaf of a covering's field, if readers can use it.
fn bound(schema: &ParquetSchema, covering: &Covering, field: &str) -> Option<usize> {
    let mut leaves = 0..schema.leaves().len();
    let path = [covering.column.as_str(), field];
    let leaf = leaves.find(|leaf| schema.path(*leaf) == path)?;
    let found = schema.leaves().get(leaf)?;
    let is_number = matches!(found.physical_type, Type::Float | Type::Double);
    (is_number && found.max_rep_level == 0).then_some(leaf)
}

/// The minimum and maximum of x, y and z over a geometry's positions.
struct Extent([(f64, f64); 3]);

impl Default for Extent {
    fn default() -> Self {
        Self([(f64::INFINITY, f64::NEG_INFINITY); 3])
    }
}

impl Extent {
    /// Adds a position. `min` and `max` ignore NaN, which stands for a missing ordinate.
    fn add(&mut self, at: &Position) {
        for ((min, max), ordinate) in self.0.iter_mut().zip([at.x, at.y, at.z]) {
            (*min, *max) = (min.min(ordinate), max.max(ordinate));
        }
    }

    fn is_known(&self) -> bool {
        let [(xmin, _), (ymin, _), _] = self.0;
        xmin.is_finite() && ymin.is_finite()
    }
}

/// The row boxes of a batch, as lower and upper bounds of x, y and z.
struct Boxes {
    bounds: Vec<[ArrayRef; 2]>,
    /// The column of boxes, with nulls.
    column: ArrayRef,
    never_wraps: bool,
}

impl Boxes {
    fn new(batch: &RecordBatch, covering: &Covering) -> Option<Self> {
        let column = batch.column_by_name(&covering.column)?.clone();
        let fields = column.as_struct_opt()?;
        let axes: &[[&str; 2]] = match covering.has_z {
            false => &[["xmin", "xmax"], ["ymin", "ymax"]],
            true => &[["xmin", "xmax"], ["ymin", "ymax"], ["zmin", "zmax"]],
        };
        let bounds = axes.iter().map(|[min, max]| {
            Some([
                fields.column_by_name(min)?.clone(),
                fields.column_by_name(max)?.clone(),
            ])
        });
        Some(Self {
            bounds: bounds.collect::<Option<_>>()?,
            column,
            never_wraps: covering.never_wraps,
        })
    }

    /// Returns true if a row's box contains the extent of the row's geometry. Returns `None` if a
    /// part of the box is null.
    fn covers(&self, row: usize, extent: &Extent) -> Option<bool> {
        if self.column.is_null(row) {
            return None;
        }
        let mut covers = true;
        for (axis, ([min, max], found)) in self.bounds.iter().zip(extent.0).enumerate() {
            let (least, greatest) = found;
            let ((min, is_float), (max, _)) = (number(min, row)?, number(max, row)?);
            // A box that crosses the antimeridian has two parts, so we don't compare its x. Heights
            // can be missing.
            let wraps = axis == 0 && min > max && !self.never_wraps;
            if wraps || least > greatest {
                continue;
            }
            // FLOAT bounds can be rounded either way, but not past the next FLOAT.
            let (least, greatest) = match is_float {
                true => (
                    f64::from((least as f32).next_up()),
                    f64::from((greatest as f32).next_down()),
                ),
                false => (least, greatest),
            };
            covers &= min <= least && max >= greatest;
        }
        Some(covers)
    }
}

/// Returns a number with a flag, true for FLOAT. Returns `None` for a null.
fn number(array: &ArrayRef, row: usize) -> Option<(f64, bool)> {
    if array.is_null(row) {
        return None;
    }
    if let Some(floats) = array.as_primitive_opt::<Float32Type>() {
        return Some((floats.value(row).into(), true));
    }
    Some((array.as_primitive_opt::<Float64Type>()?.value(row), false))
}

//! Writes rows as GeoJSON (RFC 7946), with one Feature per row and one row per line. The lines are
//! alone or in a FeatureCollection.

use herringbone::geospatial::crs::{self, Crs};
use herringbone::geospatial::geoarrow::ExtensionMetadata;
use herringbone::geospatial::geojson;
use herringbone::geospatial::geoparquet::{GeoMetadata, KEY};
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, RecordBatch};
use herringbone_arrow::schema::{DataType, Fields, Schema};

use super::TextOutput;
use super::geometry::is_geometry;
use super::json::Lines;
use super::nested::Struct;
use super::value::Value as _;
use crate::error::{Error, Result};

/// A writer of rows as GeoJSON Features.
pub struct Rows {
    /// The geometry column's index.
    geometry: usize,
    /// The number of rows written so far.
    rows: u64,
    lines: Lines,
}

impl Rows {
    /// Begins a FeatureCollection.
    ///
    /// # Errors
    /// Fails for the reasons of [`lines`](Self::lines).
    pub fn collection<O: TextOutput>(schema: &Schema, output: &mut O) -> Result<Self, O::Error> {
        let rows = Self::lines(schema)?;
        let start = r#"{"type":"FeatureCollection","features":["#;
        let lines = Lines::array(start, "]}", output)?;
        Ok(Self { lines, ..rows })
    }

    /// Creates a writer that puts each Feature on a line of its own.
    ///
    /// # Errors
    /// Fails with [Data](crate::Error::Data) if no geometry column can be chosen, if its metadata
    /// is invalid, or if GeoJSON does not have its reference system.
    pub fn lines(schema: &Schema) -> Result<Self> {
        let geometry = primary(schema)?;
        let field = schema.field(geometry);
        let text = field.extension_type_metadata().unwrap_or_default();
        let meaning = ExtensionMetadata::parse(text)
            .map_err(|error| Error::Data(format!("column `{}`: {error}", field.name())))?;
        let crs = Crs::of(&meaning.logical_type());
        if !crs.is_default() {
            return Err(Error::Data(format!(
                "column `{}` is in {crs}, but GeoJSON requires longitudes and latitudes in {}",
                field.name(),
                crs::DEFAULT
            )));
        }
        Ok(Self {
            geometry,
            rows: 0,
            lines: Lines::alone(),
        })
    }

    /// Writes each row in `batch`.
    pub fn write<O: TextOutput>(
        &mut self,
        batch: &RecordBatch,
        output: &mut O,
    ) -> Result<(), O::Error> {
        let schema = batch.schema_ref();
        let others: Vec<usize> = (0..schema.fields().len())
            .filter(|at| *at != self.geometry)
            .collect();
        let fields: Fields = others
            .iter()
            .filter_map(|at| schema.fields().get(*at).cloned())
            .collect();
        let columns = others.iter().map(|at| batch.column(*at).as_ref());
        let properties = Struct::of_columns(&fields, columns)?;
        let geometries = batch.column(self.geometry);
        let mut line = String::new();
        for row in 0..batch.num_rows() {
            line.clear();
            line.push_str(r#"{"type":"Feature","geometry":"#);
            match value(geometries, row) {
                None => line.push_str("null"),
                Some(value) => geojson::write(value, &mut line).map_err(|error| {
                    let name = schema.field(self.geometry).name();
                    let row = self.rows + row as u64;
                    Error::Data(format!("column `{name}`, row {row}: {}", error.message()))
                })?,
            }
            line.push_str(r#","properties":"#);
            properties.json(row, &mut line);
            line.push('}');
            self.lines.line(&line, output)?;
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Ends the FeatureCollection, if there is one.
    pub fn finish<O: TextOutput>(self, output: &mut O) -> Result<(), O::Error> {
        self.lines.finish(output)
    }
}

fn value(array: &dyn Array, row: usize) -> Option<&[u8]> {
    if array.is_null(row) {
        return None;
    }
    match array.data_type() {
        DataType::Binary => Some(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => Some(array.as_binary_view().value(row)),
        _ => None,
    }
}

/// Returns the geometry column's index. If there are several, we pick the primary column of the
/// GeoParquet metadata, or the column called `geometry` without such metadata.
fn primary(schema: &Schema) -> Result<usize> {
    let fields = schema.fields().iter().enumerate();
    let is_bytes = |data_type: &DataType| {
        matches!(
            data_type,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView
        )
    };
    let columns: Vec<_> = fields
        .filter(|(_, field)| is_geometry(field) && is_bytes(field.data_type()))
        .collect();
    let geo = schema.metadata().get(KEY);
    let usable = geo.and_then(|text| GeoMetadata::parse_usable(text).ok());
    let name = usable.map_or_else(
        || "geometry".to_owned(),
        |(metadata, _)| metadata.primary_column,
    );
    match columns.as_slice() {
        [] => Err(Error::Data(format!(
            "GeoJSON needs a geometry column in well-known binary, but there is none{}",
            defects_of(geo.map(String::as_str))
        ))),
        [(only, _)] => Ok(*only),
        several => {
            let primary = several.iter().find(|(_, field)| *field.name() == name);
            primary.map(|(at, _)| *at).ok_or_else(|| {
                Error::Data(format!(
                    "there are {} geometry columns, but GeoJSON needs one, or one called `{name}`; \
                     choose one with --columns",
                    several.len()
                ))
            })
        }
    }
}

/// Describes the defects of GeoParquet metadata, for appending to a message. Returns an empty text
/// if there are none.
pub fn defects_of(geo: Option<&str>) -> String {
    let defects = match geo.map(GeoMetadata::parse_usable) {
        None => return String::new(),
        Some(Ok((_, defects))) => defects,
        Some(Err(error)) => vec![error],
    };
    let messages = defects
        .iter()
        .map(|defect| format!("; {}", defect.message()));
    messages.take(3).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use herringbone_arrow::schema::Field;

    use super::*;

    fn geometry(name: &str, data_type: DataType) -> Field {
        let extension = ("ARROW:extension:name".to_owned(), "geoarrow.wkb".to_owned());
        Field::new(name, data_type, true).with_metadata(HashMap::from([extension]))
    }

    fn chosen(columns: &[&str], geo: Option<&str>) -> Result<usize> {
        let mut fields = vec![Field::new("id", DataType::Binary, true)];
        let geometries = columns.iter().map(|name| geometry(name, DataType::Binary));
        fields.extend(geometries);
        let pairs = geo.map(|text| (KEY.to_owned(), text.to_owned()));
        let pairs: HashMap<_, _> = pairs.into_iter().collect();
        let schema = Schema::new_with_metadata(fields, pairs);
        primary(&schema)
    }

    #[test]
    fn one_geometry_column_is_chosen() {
        let geo = r#"{"version":"1.1.0","primary_column":"b","columns":{
            "a":{"encoding":"WKB","geometry_types":[]},"b":{"encoding":"WKB","geometry_types":[]}}}"#;
        for (columns, metadata, expected) in [
            (&["a"][..], None, 1),
            (&["a"], Some(geo), 1),
            (&["a", "b"], Some(geo), 2),
            (&["b", "a"], Some(geo), 1),
            (&["a", "b", "geometry"], None, 3),
            (&["a", "b", "geometry"], Some(geo), 2),
        ] {
            assert_eq!(chosen(columns, metadata).unwrap(), expected, "{columns:?}");
        }
        let error = chosen(&[], None).unwrap_err().to_string();
        assert!(error.contains("there is none"), "{error}");
        let error = chosen(&["a", "b"], None).unwrap_err().to_string();
        assert!(error.contains("there are 2 geometry columns"), "{error}");
        for data_type in [DataType::LargeBinary, DataType::BinaryView] {
            let fields = vec![
                geometry("text", DataType::Utf8),
                geometry("bytes", data_type),
            ];
            assert_eq!(primary(&Schema::new(fields)).unwrap(), 1);
        }
    }
}

//! Tests GEOMETRY and GEOGRAPHY through readers and writers.

mod boxes;
mod encrypted;
mod forms;
mod geoparquet;
mod native;
mod official;
mod pruning;

use std::path::Path;
use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, BinaryArray, RecordBatch};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::format::{ColumnMetaData, KeyValue};
use herringbone::geospatial::Geospatial;
use herringbone::geospatial::wkb::{
    Dimensions, GeometryKind, GeometryType, Position, Writer as Wkb,
};
use herringbone::{ParquetFile, ReadOptions, WriteOptions, Writer};

use crate::files;

/// Returns the folder of geospatial files in a copy of apache/parquet-testing.
fn official() -> Option<std::path::PathBuf> {
    Some(files::official()?.join("data/geospatial"))
}

fn point(x: f64, y: f64) -> Vec<u8> {
    let mut value = Vec::new();
    let geometry_type = GeometryType::new(GeometryKind::Point, Dimensions::Xy);
    let mut wkb = Wkb::new(&mut value);
    wkb.start(geometry_type, 1);
    let (z, m) = (f64::NAN, f64::NAN);
    wkb.position(Position { x, y, z, m }, geometry_type);
    value
}

fn geometry(name: &str, metadata: &str) -> Field {
    let pairs = [
        ("ARROW:extension:name", "geoarrow.wkb"),
        ("ARROW:extension:metadata", metadata),
    ];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    Field::new(name, DataType::Binary, true).with_metadata(pairs)
}

/// Returns a batch with one column of points on a line, from -10 to 20.
fn batch(field: Field) -> RecordBatch {
    let values: Vec<_> = (-1..=2)
        .map(|at| point(f64::from(at) * 10.0, 1.0))
        .collect();
    let array: ArrayRef = Arc::new(BinaryArray::from_iter_values(values));
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
}

fn write(batch: &RecordBatch, options: WriteOptions) -> herringbone::Result<ParquetFile> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options)?;
    writer.write(batch)?;
    writer.finish()?;
    ParquetFile::from_bytes(file)
}

fn read(file: &ParquetFile) -> herringbone::Result<RecordBatch> {
    let mut reader = file.read(ReadOptions::new().extension(Geospatial::new()))?;
    let schema = reader.schema();
    let batch = reader.next_batch()?;
    Ok(batch.unwrap_or_else(|| RecordBatch::new_empty(schema)))
}

fn open(folder: &Path, name: &str) -> ParquetFile {
    ParquetFile::open(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn chunk(file: &ParquetFile, row_group: usize, leaf: usize) -> ColumnMetaData {
    let chunk = file.metadata().column_chunk(row_group, leaf).unwrap();
    chunk.meta_data.as_ref().unwrap().clone()
}

fn value_of<'a>(file: &'a ParquetFile, key: &str) -> Option<&'a str> {
    let mut pairs = file.metadata().key_value_metadata().iter();
    let pair: &KeyValue = pairs.find(|pair| pair.key == key)?;
    pair.text()
}

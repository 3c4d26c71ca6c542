//! Writes GeoParquet with a column of bounding boxes, and selects rows that intersect a box.
//!
//! cargo run --example geoparquet --features geospatial

// docs: boxes
use herringbone::arrow::array::{ArrayRef, BinaryArray, RecordBatch};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::format::BoundingBox;
use herringbone::geospatial::{
    GeoParquetOptions, GeometryColumn, Geospatial, geoparquet::Version, wkt,
};
use herringbone::{ParquetFile, ReadOptions, WriteOptions, Writer};
use std::{collections::HashMap, sync::Arc};
// docs: end

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // docs: boxes
    let mut line = Vec::new();
    wkt::read("LINESTRING (170 50, -170 50)", &mut line)?;
    let field = Field::new("geometry", DataType::Binary, true).with_metadata(HashMap::from([
        ("ARROW:extension:name".to_owned(), "geoarrow.wkb".to_owned()),
        (
            "ARROW:extension:metadata".to_owned(),
            r#"{"crs": "OGC:CRS84", "edges": "spherical"}"#.to_owned(),
        ),
    ]));
    let lines: ArrayRef = Arc::new(BinaryArray::from_iter_values([line]));
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![lines])?;

    // GeoParquet 2.0, with a column of bounding boxes.
    let geoparquet = GeoParquetOptions::new(Version::V2_0).covering(true);
    let options = Geospatial::new()
        .geoparquet(geoparquet)
        .write_options(WriteOptions::new());
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options)?;
    writer.write(&batch)?;
    writer.finish()?;

    let file = ParquetFile::from_bytes(bytes)?;
    let column = &GeometryColumn::of_file(file.parquet_schema(), file.metadata())?[0];
    let at_the_antimeridian = BoundingBox::new(179.0, -179.0, 50.0, 51.0);
    assert!(!column.may_intersect(file.metadata(), 0, &BoundingBox::new(0.0, 1.0, 50.0, 51.0))?);
    // Selects rows whose box intersects it, by the statistics of row groups and the column of boxes.
    let options = ReadOptions::new()
        .extension(Geospatial::new())
        .filter(column.intersects(&at_the_antimeridian)?);
    let mut reader = file.read(options)?;
    assert_eq!(
        reader.schema().field(0).extension_type_name(),
        Some("geoarrow.wkb")
    );
    assert_eq!(reader.next_batch()?.ok_or("no rows")?.num_rows(), 1);
    // docs: end
    Ok(())
}

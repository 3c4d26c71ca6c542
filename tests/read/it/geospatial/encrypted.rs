//! Tests the information that files reveal about encrypted geometries, without the keys and with them.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, BinaryArray, RecordBatch};
use herringbone::arrow::schema::Schema;
use herringbone::encryption::properties::OtherColumns;
use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties, Key};
use herringbone::format::BoundingBox;
use herringbone::geospatial::geoparquet::{GeoMetadata, Version};
use herringbone::geospatial::{GeoParquetOptions, GeometryColumn, Geospatial};
use herringbone::{
    ColumnOptions, Compression, ErrorKind, OpenOptions, ParquetFile, Projection, ReadOptions,
    WriteOptions, Writer,
};

use super::{batch, chunk, geometry, point, value_of};
use crate::encryption::by_all;
use crate::noting::Noting;

const CRS84: &str = r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#;

fn key(byte: u8) -> Key {
    Key::new(&[byte; 16]).unwrap()
}

/// Writes a covered column of points, which is encrypted with its own key or with the footer key.
fn file(has_key: bool, plaintext_footer: bool) -> Vec<u8> {
    let mut properties =
        FileEncryptionProperties::builder(key(1)).plaintext_footer(plaintext_footer);
    if has_key {
        properties = properties.column_key(["g"], key(2));
    }
    let geoparquet = GeoParquetOptions::new(Version::V2_0).covering(true);
    let geospatial = Geospatial::new().geoparquet(geoparquet);
    let options = WriteOptions::new().encryption(Arc::new(properties.build().unwrap()));
    let batch = batch(geometry("g", CRS84));
    let mut file = Vec::new();
    let options = geospatial.write_options(options);
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

fn with_keys(has_key: bool) -> OpenOptions {
    let mut properties = FileDecryptionProperties::builder().footer_key(key(1));
    if has_key {
        properties = properties
            .column_key(["g"], key(2))
            .column_key(["bbox"], key(2));
    }
    let properties = Arc::new(properties.build().unwrap());
    OpenOptions::default().decryption(properties)
}

fn open(file: Vec<u8>, has_key: bool) -> ParquetFile {
    ParquetFile::from_source(bytes::Bytes::from(file), with_keys(has_key)).unwrap()
}

fn box_and_types(file: &ParquetFile) -> (bool, usize) {
    let metadata = GeoMetadata::parse(value_of(file, "geo").unwrap()).unwrap();
    let column = metadata.column("g").unwrap();
    assert!(column.covering.is_some());
    (column.bbox.is_some(), column.geometry_types.len())
}

#[test]
fn coverings_take_the_key_and_metadata_keep_silent() {
    for plaintext_footer in [false, true] {
        let bytes = file(true, plaintext_footer);
        let with_key = open(bytes.clone(), true);
        assert_eq!(box_and_types(&with_key), (false, 0));
        assert_eq!(
            with_key
                .read(ReadOptions::new())
                .unwrap()
                .next_batch()
                .unwrap()
                .unwrap()
                .num_columns(),
            2
        );
        let without = open(bytes, false);
        for column in ["g", "bbox"] {
            let options = ReadOptions::new().projection(Projection::Names(vec![column.to_owned()]));
            let read = without
                .read(options)
                .and_then(|mut reader| reader.next_batch());
            assert_eq!(read.err().unwrap().kind(), ErrorKind::Key, "{column}");
        }
    }
}

/// If a covering column exists already, it is encrypted like its geometries.
#[test]
fn former_coverings_take_the_key() {
    let geoparquet = GeoParquetOptions::new(Version::V1_1).covering(true);
    let options = Geospatial::new()
        .geoparquet(geoparquet)
        .write_options(WriteOptions::new());
    let covered = super::write(&batch(geometry("g", CRS84)), options).unwrap();
    let rows = super::read(&covered).unwrap();
    assert_eq!(rows.num_columns(), 2);
    let properties = FileEncryptionProperties::builder(key(1)).column_key(["g"], key(2));
    let properties = properties
        .plaintext_footer(true)
        .other_columns(OtherColumns::Plaintext);
    let options = WriteOptions::new().encryption(Arc::new(properties.build().unwrap()));
    let mut file = Vec::new();
    let options = Geospatial::new().write_options(options);
    let mut writer = Writer::new(&mut file, rows.schema(), options).unwrap();
    writer.write(&rows).unwrap();
    writer.finish().unwrap();
    let with_key = open(file.clone(), true);
    assert_eq!(box_and_types(&with_key), (false, 0));
    assert_eq!(super::read(&with_key).unwrap().columns(), rows.columns());
    let without = open(file, false);
    let options = ReadOptions::new().columns(["bbox"]);
    let read = without
        .read(options)
        .and_then(|mut reader| reader.next_batch());
    assert_eq!(read.err().unwrap().kind(), ErrorKind::Key);
}

/// Readers without the key find the column metadata, but neither the box nor the types.
#[test]
fn redacted_metadata_keep_silent() {
    let file = file(true, true);
    let with_key = open(file.clone(), true);
    let statistics = chunk(&with_key, 0, 0).geospatial_statistics.unwrap();
    assert_eq!(statistics.bbox.unwrap().xmax, 20.0);
    assert_eq!(statistics.geospatial_types, Some(vec![1]));
    let chunk = ParquetFile::from_bytes(file).unwrap();
    let chunk = chunk.metadata().column_chunk(0, 0).unwrap();
    let statistics = chunk
        .meta_data
        .and_then(|meta_data| meta_data.geospatial_statistics);
    assert_eq!(statistics, None);
}

#[test]
fn boxes_find_rows_and_leave_pages_with_keys() {
    let values = (0..20_000).map(|at| point(f64::from(at) / 200.0, 1.5));
    let array: ArrayRef = Arc::new(BinaryArray::from_iter_values(values));
    let schema = Arc::new(Schema::new(vec![geometry("g", CRS84)]));
    let batch = RecordBatch::try_new(schema, vec![array]).unwrap();
    let columns = ColumnOptions::new().compression(Compression::Uncompressed);
    let options = WriteOptions::new()
        .columns(columns.page_rows(1000).dictionary(false))
        .row_group_rows(10_000);
    for plaintext_footer in [false, true] {
        let properties =
            FileEncryptionProperties::builder(key(1)).plaintext_footer(plaintext_footer);
        let properties = properties.column_key(["g"], key(2)).build().unwrap();
        let geoparquet = GeoParquetOptions::new(Version::V2_0).covering(true);
        let geospatial = Geospatial::new().geoparquet(geoparquet);
        let options = options.clone().encryption(Arc::new(properties));
        let options = geospatial.write_options(options);
        let (source, file) = Noting::opened(&batch, options, with_keys(true));
        let columns = GeometryColumn::of_file(file.parquet_schema(), file.metadata()).unwrap();
        for (bbox, rows, pages) in [
            (BoundingBox::new(35.5, 35.51, 1.0, 2.0), 7100..7103, vec![7]),
            (
                BoundingBox::new(49.999, 50.0, 1.0, 2.0),
                10_000..10_001,
                vec![],
            ),
            (BoundingBox::new(35.5, 35.51, 2.0, 3.0), 0..0, vec![]),
        ] {
            let wanted = columns[0].intersects(&bbox).unwrap();
            let options = || ReadOptions::new().columns(["g"]).filter(wanted.clone());
            let found = by_all(&file, options);
            let found: usize = found.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(found, rows.len());
            file.offset_index(0, 0).unwrap();
            source.take();
            let reader = file.read(options().threads(1)).unwrap();
            reader.for_each(|batch| drop(batch.unwrap()));
            assert_eq!(super::boxes::pages_read(&file, 0, &source.take()), pages);
        }
        // The page index needs the key, too.
        let without = open(
            file.source().read(0..file.source().len()).unwrap().to_vec(),
            false,
        );
        let wanted = columns[0].intersects(&BoundingBox::new(35.5, 35.51, 1.0, 2.0));
        let read = without.read(ReadOptions::new().filter(wanted.unwrap()));
        let read = read.and_then(|mut reader| reader.next_batch());
        assert_eq!(read.err().unwrap().kind(), ErrorKind::Key);
    }
}

/// If the footer key encrypts the column, an encrypted footer contains its box and types, but a plaintext footer omits
/// them.
#[test]
fn one_key_for_all_hides_nothing_from_itself() {
    assert_eq!(box_and_types(&open(file(false, false), false)), (true, 1));
    assert_eq!(box_and_types(&open(file(false, true), false)), (false, 0));
}

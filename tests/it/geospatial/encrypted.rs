//! What files tell of encrypted geometries.

use std::sync::Arc;

use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties, Key};
use herringbone::geospatial::geoparquet::{GeoMetadata, Version};
use herringbone::geospatial::{GeoParquetOptions, Geospatial};
use herringbone::{
    ErrorKind, OpenOptions, ParquetFile, Projection, ReadOptions, WriteOptions, Writer,
};

use super::{batch, geometry, value_of};

const CRS84: &str = r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#;

fn key(byte: u8) -> Key {
    Key::new(&[byte; 16]).unwrap()
}

/// A covered column of points, encrypted with a key of its own, or with that of the footer.
fn file(has_key: bool, plaintext_footer: bool) -> Vec<u8> {
    let mut properties =
        FileEncryptionProperties::builder(key(1)).plaintext_footer(plaintext_footer);
    if has_key {
        properties = properties.column_key(["g"], key(2));
    }
    let geoparquet = GeoParquetOptions::new(Version::V1_1).covering(true);
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

fn open(file: Vec<u8>, has_key: bool) -> ParquetFile {
    let mut properties = FileDecryptionProperties::builder().footer_key(key(1));
    if has_key {
        properties = properties
            .column_key(["g"], key(2))
            .column_key(["bbox"], key(2));
    }
    let properties = Arc::new(properties.build().unwrap());
    let options = OpenOptions::default().decryption(Some(properties), None);
    ParquetFile::from_source(Arc::new(bytes::Bytes::from(file)), options).unwrap()
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

/// Whoever reads the footer reads the column, unless the footer is for everybody.
#[test]
fn one_key_for_all_hides_nothing_from_itself() {
    assert_eq!(box_and_types(&open(file(false, false), false)), (true, 1));
    assert_eq!(box_and_types(&open(file(false, true), false)), (false, 0));
}

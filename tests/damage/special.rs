//! Files that need keys or extension types, which are encrypted files, variants and geometries.

use std::sync::Arc;

use herringbone::encryption::properties::EncryptionKey;
use herringbone::encryption::{Algorithm, FileDecryptionProperties, FileEncryptionProperties, Key};
use herringbone::geospatial::geoparquet::Version;
use herringbone::geospatial::{GeoParquetOptions, Geospatial, wkt};
use herringbone::variant::extension::{Shredding, VariantExtension, VariantGet};
use herringbone::variant::shredding::{
    InferOptions, Shredder, ShreddingType, UnshredOptions, variant_field,
};
use herringbone::variant::{PrimitiveType, VariantBuf};
use herringbone::{ColumnOptions, WriteOptions, Writer};
use herringbone_arrow::array::{Array as _, ArrayRef, BinaryArray, RecordBatch};
use herringbone_arrow::schema::{DataType, Field, Schema};

use crate::corpus::with_indexes;
use crate::subject::Subject;

pub(crate) fn files() -> Vec<Subject> {
    let mut all = Vec::new();
    for algorithm in [Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1] {
        for plaintext_footer in [false, true] {
            all.push(encrypted(algorithm, plaintext_footer));
        }
    }
    let shreddings = [
        ("unshredded", Shredding::None),
        ("shredded", Shredding::Infer(InferOptions::default())),
    ];
    all.extend(shreddings.map(|(name, shredding)| variants(name, shredding)));
    for version in [Version::V1_1, Version::V2_0] {
        all.push(geometries(version));
    }
    all
}

/// Returns a file that is encrypted with two keys. GCM authenticates all of it, while CTR omits the bodies of pages.
fn encrypted(algorithm: Algorithm, plaintext_footer: bool) -> Subject {
    let key = |of: u8| Key::new(&[of; 16]).unwrap();
    let writing = FileEncryptionProperties::builder(EncryptionKey::from(key(1)))
        .column_key(["t"], key(2))
        .algorithm(algorithm)
        .plaintext_footer(plaintext_footer)
        .build();
    let reading = FileDecryptionProperties::builder()
        .footer_key(key(1))
        .column_key(["t"], key(2))
        .allowed_algorithms([algorithm])
        .build();
    let options = WriteOptions::new().encryption(Arc::new(writing.unwrap()));
    let name = format!("encrypted by {algorithm:?}, plaintext footer: {plaintext_footer}");
    let is_authentic = algorithm == Algorithm::AesGcmV1;
    Subject::new(name, with_indexes(&options)).with_keys(Arc::new(reading.unwrap()), is_authentic)
}

fn written(field: Field, array: ArrayRef, options: WriteOptions) -> Vec<u8> {
    let schema = Arc::new(Schema::new(vec![field]));
    let batch = RecordBatch::try_new(schema.clone(), vec![array]).unwrap();
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, schema, options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

fn variants(name: &str, shredding: Shredding) -> Subject {
    let mut shredder = Shredder::new(ShreddingType::Unshredded).unwrap();
    for row in 0..12 {
        let text = match row % 6 {
            0 => format!(r#"{{"a":{row},"b":"text {row}"}}"#),
            1 => format!(r#"{{"a":{row}.5,"c":[1,"x",null]}}"#),
            2 => r#"{"b":true,"d":{"e":{"f":1}}}"#.to_owned(),
            3 => "null".to_owned(),
            4 => r#"["2020-01-01",123456789012345]"#.to_owned(),
            _ => {
                shredder.append_null().unwrap();
                continue;
            }
        };
        let value = VariantBuf::from_json(&text).unwrap();
        shredder.append(value.as_variant()).unwrap();
    }
    let array = shredder.finish().unwrap();
    let field = variant_field("v", array.data_type().clone(), true);
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().page_rows(5))
        .row_group_rows(8)
        .extension(VariantExtension::new().shredding(shredding));
    let get = |path: &str| VariantGet::new(path.parse().unwrap()).as_type(PrimitiveType::Int64);
    Subject::new(
        format!("variants, {name}"),
        written(field, Arc::new(array), options),
    )
    .with_extension(VariantExtension::new().unshred(UnshredOptions::default()))
    .with_filter(get("$.a").filter(["v"], |it| it.ge(3)))
    .with_filter(get("$.d.e.f").filter(["v"], |it| it.is_not_null()))
    .with_filter(get("$[1]").filter(["v"], |it| it.eq(1)))
}

/// Returns geometries with all structures that describe them: boxes of row groups and of rows, and GeoParquet metadata.
fn geometries(version: Version) -> Subject {
    let text = |row: usize| match row % 4 {
        0 => format!("POINT ({row} 1)"),
        1 => format!("LINESTRING Z (0 0 {row}, 10 10 5)"),
        2 => "POLYGON ((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1))".to_owned(),
        _ => "GEOMETRYCOLLECTION (POINT (1 2), MULTIPOINT ((3 4), (5 6)))".to_owned(),
    };
    let value = |row: usize| {
        let mut value = Vec::new();
        wkt::read(&text(row), &mut value).unwrap();
        (row != 6).then_some(value)
    };
    let array = BinaryArray::from_iter((0..12).map(value));
    let pairs = [
        ("ARROW:extension:name", "geoarrow.wkb"),
        ("ARROW:extension:metadata", r#"{"crs":"OGC:CRS84"}"#),
    ];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let field = Field::new("g", DataType::Binary, true).with_metadata(pairs);
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().page_rows(4))
        .row_group_rows(8);
    let name = format!("geometries, {version:?}");
    let geoparquet = GeoParquetOptions::new(version).covering(true);
    let options = Geospatial::new()
        .geoparquet(geoparquet)
        .write_options(options);
    Subject::new(name, written(field, Arc::new(array), options)).with_extension(Geospatial::new())
}

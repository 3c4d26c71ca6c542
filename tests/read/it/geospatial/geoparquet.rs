//! Tests GeoParquet metadata and coverings.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::{Float32Type, Int32Type};
use herringbone::arrow::array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, Float64Array, Int32Array, RecordBatch, RunArray,
    StructArray,
};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::format::{BoundingBox, LogicalType};
use herringbone::geospatial::geoparquet::{GeoMetadata, Version};
use herringbone::geospatial::{GeoParquetOptions, GeometryColumn, Geospatial, wkt};
use herringbone::{ParquetFile, ReadOptions, WriteOptions};
use serde_json::json;

use super::{batch, chunk, geometry, point, read, value_of, write};

const CRS84: &str = r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#;

fn options(version: Version, covering: bool) -> WriteOptions {
    let geoparquet = GeoParquetOptions::new(version).covering(covering);
    Geospatial::new()
        .geoparquet(geoparquet)
        .write_options(WriteOptions::new())
}

fn texts(field: Field, texts: &[Option<&str>]) -> RecordBatch {
    let value = |text: &str| {
        let mut value = Vec::new();
        wkt::read(text, &mut value).unwrap();
        value
    };
    let values = texts.iter().map(|text| text.map(value));
    let array: ArrayRef = Arc::new(BinaryArray::from_iter(values));
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
}

fn geo(file: &ParquetFile) -> serde_json::Value {
    serde_json::from_str(value_of(file, "geo").unwrap()).unwrap()
}

fn covering_of(name: &str) -> serde_json::Value {
    let path = |field: &str| json!([name, field]);
    json!({"bbox": {"xmin": path("xmin"), "ymin": path("ymin"), "xmax": path("xmax"), "ymax": path("ymax")}})
}

#[test]
fn version_1_1_is_bytes_with_a_covering() {
    let rows = texts(
        geometry("g", CRS84),
        &[
            Some("POINT (0.1 2)"),
            None,
            Some("POINT EMPTY"),
            Some("LINESTRING (-3 4, 5 0.1)"),
        ],
    );
    let file = write(&rows, options(Version::V1_1, true)).unwrap();
    assert_eq!(
        file.parquet_schema().to_string(),
        "message schema {\n  optional binary g;\n  optional group bbox {\n    required float xmin;\n    \
         required float ymin;\n    required float xmax;\n    required float ymax;\n  }\n}\n"
    );
    assert_eq!(
        geo(&file),
        json!({
            "version": "1.1.0",
            "primary_column": "g",
            "columns": {"g": {
                "encoding": "WKB",
                "geometry_types": ["Point", "LineString"],
                "bbox": [-3.0, 0.1, 5.0, 4.0],
                "covering": covering_of("bbox"),
                "herringbone:covering_never_wraps": true,
            }},
        })
    );
    let back = read(&file).unwrap();
    assert_eq!(back.schema().field(0), &geometry("g", CRS84));
    assert_eq!(back.column(0), rows.column(0));
    let boxes = back.column(1).as_struct();
    let nulls: Vec<_> = (0..4).map(|row| boxes.is_null(row)).collect();
    assert_eq!(nulls, [false, true, true, false]);
    let of = |axis: usize, row| boxes.column(axis).as_primitive::<Float32Type>().value(row);
    let row = |row| [of(0, row), of(1, row), of(2, row), of(3, row)];
    // 0.1 lies between two FLOATs, so the box has to be rounded outwards.
    let (below, above) = (0.1_f32.next_down(), 0.1_f32);
    assert!(f64::from(below) < 0.1 && 0.1 < f64::from(above));
    assert_eq!(row(0), [below, 2.0, above, 2.0]);
    assert_eq!(row(3), [-3.0, below, 5.0, 4.0]);
}

#[test]
fn version_2_0_is_annotated_and_boxes_that_cross_have_all_longitudes() {
    let metadata = r#"{"crs":"OGC:CRS84","edges":"spherical"}"#;
    let rows = texts(
        geometry("g", metadata),
        &[Some("LINESTRING (170 50, -170 50)"), Some("POINT (175 -5)")],
    );
    let file = write(&rows, options(Version::V2_0, true)).unwrap();
    let logical_type = file.parquet_schema().element(0).logical_type.clone();
    let (crs, algorithm) = (None, None);
    assert_eq!(
        logical_type,
        Some(LogicalType::Geography { crs, algorithm })
    );
    let geo = geo(&file);
    let column = &geo["columns"]["g"];
    assert_eq!(
        (geo["version"].as_str(), column["edges"].as_str()),
        (Some("2.0.0"), Some("spherical"))
    );
    let bbox: Vec<f64> = serde_json::from_value(column["bbox"].clone()).unwrap();
    // This is atan(tan 50° / cos 10°).
    assert!(
        bbox[..3] == [170.0, -5.0, -170.0] && (50.43..50.44).contains(&bbox[3]),
        "{bbox:?}"
    );
    let statistics = chunk(&file, 0, 0).geospatial_statistics.unwrap();
    assert_eq!(statistics.geospatial_types, Some(vec![1, 2]));
    let back = read(&file).unwrap();
    let boxes = back.column(1).as_struct();
    let of = |axis: usize, row| boxes.column(axis).as_primitive::<Float32Type>().value(row);
    assert_eq!(
        (of(0, 0), of(2, 0), of(0, 1), of(2, 1)),
        (-180.0, 180.0, 175.0, 175.0)
    );
    assert!(herringbone_inspect::verify(&file).next().is_none());
}

#[test]
fn what_a_version_cannot_say_is_an_error_before_rows_are_written() {
    let refused = |metadata: &str, version| {
        let error = write(&batch(geometry("g", metadata)), options(version, false))
            .err()
            .unwrap();
        error.to_string()
    };
    let srid = r#"{"crs": "5070", "crs_type": "srid"}"#;
    assert!(refused(srid, Version::V2_0).contains("PROJJSON"));
    let karney = r#"{"crs": "OGC:CRS84", "edges": "karney"}"#;
    assert!(refused(karney, Version::V1_1).contains("karney"));
    assert!(write(&batch(geometry("g", karney)), options(Version::V2_0, false)).is_ok());
    let covered = write(&batch(geometry("g", CRS84)), options(Version::V1_0, true));
    assert!(covered.err().unwrap().to_string().contains("covering"));
    let not = write(
        &texts(geometry("g", CRS84), &[Some("POINT (1 2)")]),
        options(Version::V1_1, false),
    );
    assert!(not.is_ok());
    let bytes: ArrayRef = Arc::new(BinaryArray::from_iter_values([b"POINT"]));
    let schema = Arc::new(Schema::new(vec![geometry("g", CRS84)]));
    let batch = RecordBatch::try_new(schema, vec![bytes]).unwrap();
    let error = write(&batch, options(Version::V1_1, false))
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("column g") && error.contains("row 0 is not a geometry"),
        "{error}"
    );
}

/// Dictionaries are covered like other arrays. We do not support runs yet, so we refuse them rather than leave them
/// without a covering.
#[test]
fn dictionaries_are_covered_and_runs_refused() {
    let rows = texts(
        geometry("g", CRS84),
        &[Some("POINT (1 2)"), None, Some("POINT (3 4)")],
    );
    let of = |data_type: DataType, array: ArrayRef| {
        let field = geometry("g", CRS84).with_data_type(data_type);
        let schema = Arc::new(Schema::new(vec![field]));
        write(
            &RecordBatch::try_new(schema, vec![array]).unwrap(),
            options(Version::V1_1, true),
        )
    };
    let keys = Int32Array::from(vec![Some(2), Some(1), None, Some(0)]);
    let array = DictionaryArray::new(keys, rows.column(0).clone());
    let file = of(array.data_type().clone(), Arc::new(array)).unwrap();
    let batch = file
        .read(ReadOptions::new().columns(["bbox"]))
        .unwrap()
        .next_batch()
        .unwrap()
        .unwrap();
    let boxes = batch.column(0).as_struct();
    let nulls: Vec<_> = (0..4).map(|row| boxes.is_null(row)).collect();
    assert_eq!(nulls, [false, true, true, false]);
    let x = boxes.column(0).as_primitive::<Float32Type>();
    assert_eq!((x.value(0), x.value(3)), (3.0, 1.0));
    let ends = Int32Array::from(vec![2, 3, 5]);
    let runs = RunArray::<Int32Type>::try_new(&ends, rows.column(0)).unwrap();
    let error = of(runs.data_type().clone(), Arc::new(runs)).err().unwrap();
    assert!(
        error
            .to_string()
            .contains("GeoParquet of geometries in arrays of"),
        "{error}"
    );
}

/// If an input file has metadata, we write it in the same version again, but recompute it for the written rows.
#[test]
fn metadata_that_were_read_are_made_anew() {
    let named = |metadata: &str| Field::clone(&geometry("g", metadata));
    let definition = r#"{"crs":{"name":"of mine"},"crs_type":"projjson"}"#;
    for (version, covering) in [
        (Version::V1_0, false),
        (Version::V1_1, true),
        (Version::V2_0, true),
    ] {
        let file = write(&batch(named(definition)), options(version, covering)).unwrap();
        let rows = read(&file).unwrap();
        assert_eq!(
            rows.schema().field(0).extension_type_name(),
            Some("geoarrow.wkb")
        );
        let kept = Geospatial::new().write_options(WriteOptions::new());
        let again = write(&rows, kept.clone()).unwrap();
        assert_eq!(geo(&again), geo(&file), "{version}");
        assert_eq!(again.parquet_schema(), file.parquet_schema(), "{version}");
        let fewer = write(&rows.slice(1, 2), kept).unwrap();
        let metadata = GeoMetadata::parse(value_of(&fewer, "geo").unwrap()).unwrap();
        let bbox = metadata.column("g").unwrap().bbox.clone();
        assert_eq!(
            bbox,
            Some(BoundingBox::new(0.0, 10.0, 1.0, 1.0)),
            "{version}"
        );
    }
}

/// Metadata that violates its version does not prevent us from writing the rows.
/// In GeoParquet, a missing `crs` is OGC:CRS84, and null is an unknown system. In GeoArrow, a missing one is unknown.
#[test]
fn an_extension_type_without_a_crs_leaves_the_one_of_the_metadata() {
    let projjson =
        json!({"type": "GeographicCRS", "name": "x", "id": {"authority": "EPSG", "code": 4269}});
    for (former, extension, wanted) in [
        (Some(json!({})), "{}", json!({})),
        (Some(json!({})), "", json!({})),
        (Some(json!({})), CRS84, json!({})),
        (Some(json!({"crs": null})), "{}", json!({"crs": null})),
        (
            Some(json!({"crs": projjson})),
            "{}",
            json!({"crs": projjson}),
        ),
        (Some(json!({"crs": null})), CRS84, json!({})),
        (None, "{}", json!({"crs": null})),
        (None, CRS84, json!({})),
    ] {
        let rows = texts(geometry("g", extension), &[Some("POINT (1 2)")]);
        let metadata = former.as_ref().map(|former| {
            let mut column = json!({"encoding": "WKB", "geometry_types": []});
            let members = former.as_object().unwrap().clone();
            column.as_object_mut().unwrap().extend(members);
            let geo = json!({"version": "1.1.0", "primary_column": "g", "columns": {"g": column}});
            ("geo".to_owned(), geo.to_string())
        });
        let schema = Schema::new_with_metadata(
            rows.schema().fields().clone(),
            metadata.into_iter().collect::<HashMap<_, _>>(),
        );
        let rows = RecordBatch::try_new(Arc::new(schema), rows.columns().to_vec()).unwrap();
        let file = write(&rows, options(Version::V1_1, false)).unwrap();
        let geo = geo(&file);
        let crs = geo["columns"]["g"].get("crs");
        assert_eq!(crs, wanted.get("crs"), "{former:?} {extension}");
    }
}

#[test]
fn metadata_of_the_wrong_version_become_true() {
    let file = write(&batch(geometry("g", CRS84)), options(Version::V1_1, true)).unwrap();
    let rows = read(&file).unwrap();
    let text = value_of(&file, "geo").unwrap().replace("1.1.0", "1.0.0");
    let with = |rows: &RecordBatch, text: String| {
        let mut metadata = rows.schema().metadata().clone();
        metadata.insert("geo".to_owned(), text);
        let schema = Schema::new_with_metadata(rows.schema().fields().clone(), metadata);
        RecordBatch::try_new(Arc::new(schema), rows.columns().to_vec()).unwrap()
    };
    let kept = || Geospatial::new().write_options(WriteOptions::new());
    let again = write(&with(&rows, text), kept()).unwrap();
    assert_eq!(geo(&again), geo(&file));
    // Version 1.0 has no name for these edges, which are in a logical type next to it.
    let karney = batch(geometry("g", r#"{"crs": "OGC:CRS84", "edges": "karney"}"#));
    let spherical = r#"{"version": "1.0.0", "primary_column": "g", "columns": {"g": {"encoding": "WKB",
        "geometry_types": [], "edges": "spherical"}}}"#;
    let again = write(&with(&karney, spherical.to_owned()), kept()).unwrap();
    assert_eq!(geo(&again)["columns"]["g"]["edges"], "spherical");
    // On request, DuckDB writes a logical type next to metadata of version 1.0, as here.
    let mut field = geometry("g", "");
    let pairs = [(
        "PARQUET:logical_type".to_owned(),
        "GEOGRAPHY(algorithm=KARNEY)".to_owned(),
    )];
    field.set_metadata(std::collections::HashMap::from(pairs));
    let both = with(&batch(field), spherical.to_owned());
    let both = write(&both, WriteOptions::new()).unwrap();
    let again = write(&read(&both).unwrap(), kept()).unwrap();
    assert_eq!(again.parquet_schema(), both.parquet_schema());
    assert_eq!(geo(&again)["columns"]["g"]["edges"], "spherical");
}

fn points(extension: &str) -> RecordBatch {
    let ordinate = |name: &str| Field::new(name, DataType::Float64, false);
    let fields = vec![ordinate("x"), ordinate("y")];
    let values: Vec<ArrayRef> = vec![
        Arc::new(Float64Array::from(vec![1.0, 2.0, 5.0])),
        Arc::new(Float64Array::from(vec![-1.0, 7.0, 0.0])),
    ];
    let array = StructArray::new(fields.clone().into(), values, None);
    let pairs = [
        ("ARROW:extension:name", extension),
        ("ARROW:extension:metadata", CRS84),
    ];
    let pairs = pairs.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let field = Field::new("p", DataType::Struct(fields.into()), true).with_metadata(pairs);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(array)]).unwrap()
}

#[test]
fn native_encodings_of_1_1_are_geoarrow_and_have_boxes() {
    let rows = points("geoarrow.point");
    let file = write(&rows, options(Version::V1_1, true)).unwrap();
    assert_eq!(geo(&file)["columns"]["p"]["encoding"], "point");
    // The extension type comes from the GeoParquet metadata, and not from the file's Arrow schema.
    let mut options = ReadOptions::new().extension(Geospatial::new());
    options.schema.use_arrow_schema = false;
    let back = file.read(options).unwrap().next_batch().unwrap().unwrap();
    assert_eq!(back.schema().field(0), rows.schema().field(0));
    assert_eq!(back.column(0), rows.column(0));
    let columns = GeometryColumn::of_file(file.parquet_schema(), file.metadata()).unwrap();
    let [column] = columns.as_slice() else {
        panic!("{columns:?}")
    };
    assert!(column.is_primary && column.leaves == (0..2));
    let of = |bbox: &BoundingBox| column.may_intersect(file.metadata(), 0, bbox).unwrap();
    assert!(of(&BoundingBox::new(5.0, 6.0, 0.0, 1.0)));
    assert!(!of(&BoundingBox::new(5.1, 6.0, 0.0, 1.0)));
    assert!(!of(&BoundingBox::new(1.0, 2.0, 7.1, 8.0)));
}

#[test]
fn row_groups_are_excluded_by_their_boxes_alone() {
    let rows = batch(geometry("g", CRS84));
    let kept = Geospatial::new().write_options(WriteOptions::new().row_group_rows(2));
    let file = write(&rows, kept).unwrap();
    let columns = GeometryColumn::of_file(file.parquet_schema(), file.metadata()).unwrap();
    let metadata = file.metadata();
    let of = |xmin, xmax| {
        let bbox = BoundingBox::new(xmin, xmax, 0.0, 2.0);
        [0, 1].map(|row_group| {
            columns[0]
                .may_intersect(metadata, row_group, &bbox)
                .unwrap()
        })
    };
    assert_eq!(of(-20.0, -10.0), [true, false]);
    assert_eq!(of(0.1, 9.9), [false, false]);
    assert_eq!(of(0.0, 10.0), [true, true]);
    // This box goes eastward from 15 to -5, across the antimeridian.
    assert_eq!(of(15.0, -5.0), [true, true]);
    let all = columns[0].statistics(metadata, 0..2).unwrap();
    assert_eq!(
        all.extent().bbox(),
        Some(BoundingBox::new(-10.0, 20.0, 1.0, 1.0))
    );
    // Without GeoParquet metadata and annotation, the Arrow schema's extension type counts, but there are no boxes.
    let plain = write(&rows, WriteOptions::new()).unwrap();
    let columns = GeometryColumn::of_file(plain.parquet_schema(), plain.metadata()).unwrap();
    assert_eq!((columns.len(), columns[0].is_primary), (1, true));
    let bbox = BoundingBox::new(-20.0, -10.0, 0.0, 2.0);
    assert!(
        columns[0]
            .may_intersect(plain.metadata(), 0, &bbox)
            .unwrap()
    );
}

#[test]
fn extended_values_become_iso_on_request() {
    // This is how PostGIS writes SRID=4326;POINT Z (1 2 3), big-endian.
    let extended = [&[0, 0xA0, 0, 0, 1, 0, 0, 0x10, 0xE6][..]]
        .concat()
        .into_iter()
        .chain([1.0_f64, 2.0, 3.0].iter().flat_map(|it| it.to_be_bytes()))
        .collect::<Vec<u8>>();
    let array: ArrayRef = Arc::new(BinaryArray::from_iter_values([extended, point(3.0, 4.0)]));
    let schema = Arc::new(Schema::new(vec![geometry("g", CRS84)]));
    let rows = RecordBatch::try_new(schema, vec![array]).unwrap();
    let wanted = texts(
        geometry("g", CRS84),
        &[Some("POINT Z (1 2 3)"), Some("POINT (3 4)")],
    );
    for geospatial in [
        Geospatial::new().write_iso(true),
        Geospatial::new()
            .write_iso(true)
            .geoparquet(GeoParquetOptions::new(Version::V1_1)),
    ] {
        let file = write(&rows, geospatial.write_options(WriteOptions::new())).unwrap();
        assert_eq!(read(&file).unwrap().column(0), wanted.column(0));
    }
    let as_it_is = Geospatial::new().write_options(WriteOptions::new());
    let file = write(&rows, as_it_is).unwrap();
    assert_eq!(read(&file).unwrap().column(0), rows.column(0));
}

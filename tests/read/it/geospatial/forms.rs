//! Tests reference systems and edges in all their forms, both written and read.

use herringbone::ErrorKind;
use herringbone::WriteOptions;
use herringbone::format::{EdgeInterpolationAlgorithm, LogicalType};
use herringbone::geospatial::Geospatial;

use super::{batch, geometry, read, value_of, write};

fn options() -> WriteOptions {
    Geospatial::new().write_options(WriteOptions::new())
}

fn written(metadata: &str) -> herringbone::Result<LogicalType> {
    let file = write(&batch(geometry("g", metadata)), options())?;
    let logical_type = file.parquet_schema().element(0).logical_type.clone();
    Ok(logical_type.unwrap())
}

fn crs(text: &str) -> LogicalType {
    let crs = Some(text.to_owned());
    LogicalType::Geometry { crs }
}

/// These are the forms in the specification of `geoarrow.wkb`, as Parquet annotations.
#[test]
fn extension_types_become_logical_types() {
    // The system is unknown, and the format has a number for that.
    assert_eq!(written("").unwrap(), crs("srid:0"));
    assert_eq!(written("{}").unwrap(), crs("srid:0"));
    let default = LogicalType::Geometry { crs: None };
    for text in [
        r#"{"crs": "OGC:CRS84", "crs_type": "authority_code"}"#,
        r#"{"crs": "EPSG:4326"}"#,
        r#"{"crs": {"type": "GeographicCRS", "id": {"authority": "OGC", "code": "CRS84"}}}"#,
    ] {
        assert_eq!(written(text).unwrap(), default, "{text}");
    }
    let text = r#"{"crs": "5070", "crs_type": "srid"}"#;
    assert_eq!(written(text).unwrap(), crs("srid:5070"));
    let text = r#"{"crs": {"name": "of mine"}}"#;
    assert_eq!(written(text).unwrap(), crs(r#"{"name":"of mine"}"#));
    use EdgeInterpolationAlgorithm as A;
    for (edges, algorithm) in [
        ("spherical", None),
        ("vincenty", Some(A::Vincenty)),
        ("thomas", Some(A::Thomas)),
        ("andoyer", Some(A::Andoyer)),
        ("karney", Some(A::Karney)),
    ] {
        let text = format!(r#"{{"crs": "OGC:CRS84", "edges": "{edges}"}}"#);
        let geography = LogicalType::Geography {
            crs: None,
            algorithm,
        };
        assert_eq!(written(&text).unwrap(), geography);
    }
}

#[test]
fn what_is_not_understood_is_an_error_and_not_dropped() {
    for (text, named) in [
        (r#"{"edges": "loxodrome"}"#, "loxodrome"),
        (r#"{"crs": 4326}"#, "crs"),
        ("{", "geoarrow.wkb"),
    ] {
        let error = written(text).unwrap_err();
        assert!(error.to_string().contains(named), "{text}: {error}");
        assert!(matches!(
            error.kind(),
            ErrorKind::Argument | ErrorKind::Unsupported
        ));
    }
}

/// Reads an annotation as a field, and writes that field back as an annotation.
#[test]
fn logical_types_come_back_in_their_forms() {
    let annotated = |text: &str| {
        let pair = ("PARQUET:logical_type".to_owned(), text.to_owned());
        let field = geometry("g", "").with_metadata([pair]);
        write(&batch(field), WriteOptions::new()).unwrap()
    };
    for text in [
        "GEOMETRY",
        "GEOMETRY(crs=OGC:CRS84)",
        "GEOMETRY(crs=EPSG:4326)",
        "GEOMETRY(crs=srid:0)",
        "GEOMETRY(crs=SRID:5070)",
        "GEOMETRY(crs=EPSG:5070)",
        r#"GEOMETRY(crs={"name":"of mine"})"#,
        r#"GEOMETRY(crs={ "name" : "of mine" })"#,
        "GEOMETRY(crs=PROJCS[\"what not\"])",
        "GEOMETRY(crs=projjson:nowhere)",
        "GEOGRAPHY",
        "GEOGRAPHY(algorithm=SPHERICAL)",
        "GEOGRAPHY(crs=srid:1, algorithm=KARNEY)",
    ] {
        let file = annotated(text);
        let logical_type = file.parquet_schema().element(0).logical_type.clone();
        assert_eq!(logical_type.as_ref().unwrap().to_string(), text);
        let batch = read(&file).unwrap();
        let name = batch
            .schema()
            .field(0)
            .extension_type_name()
            .map(str::to_owned);
        assert_eq!(name.as_deref(), Some("geoarrow.wkb"), "{text}");
        let copy = write(&batch, options()).unwrap();
        assert_eq!(
            copy.parquet_schema().element(0).logical_type,
            logical_type,
            "{text}"
        );
        // The result is stable, even if the Arrow schema is in the file.
        assert_eq!(read(&copy).unwrap().schema(), batch.schema(), "{text}");
    }
}

/// The annotation in the field metadata is older than the extension type, which Arrow users may change.
#[test]
fn a_changed_extension_type_counts() {
    let mut field = geometry("g", r#"{"crs": "EPSG:3857"}"#);
    let mut pairs = field.metadata().clone();
    pairs.insert(
        "PARQUET:logical_type".to_owned(),
        "GEOMETRY(crs=EPSG:4326)".to_owned(),
    );
    field.set_metadata(pairs);
    let file = write(&batch(field), options()).unwrap();
    assert_eq!(
        file.parquet_schema().element(0).logical_type,
        Some(crs("EPSG:3857"))
    );
}

#[test]
fn the_logical_type_comes_before_the_hint_and_the_hint_keeps_its_words() {
    // Both agree, so we preserve the hint's form.
    let wkt = r#"{"crs":"PROJCS[\"x\"]","crs_type":"wkt2:2019"}"#;
    let file = write(&batch(geometry("g", wkt)), options()).unwrap();
    assert_eq!(read(&file).unwrap().schema().field(0), &geometry("g", wkt));
    assert!(value_of(&file, "ARROW:schema").is_some());
    // They disagree if a writer without this crate stores both.
    let mut field = geometry("g", r#"{"crs":"EPSG:3857"}"#);
    let mut pairs = field.metadata().clone();
    pairs.insert(
        "PARQUET:logical_type".to_owned(),
        "GEOMETRY(crs=srid:5070)".to_owned(),
    );
    field.set_metadata(pairs);
    let file = write(&batch(field), WriteOptions::new()).unwrap();
    let srid = geometry("g", r#"{"crs":"5070","crs_type":"srid"}"#);
    assert_eq!(read(&file).unwrap().schema().field(0), &srid);
}

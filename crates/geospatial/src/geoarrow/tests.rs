//! Tests the extension metadata in both directions.

use herringbone_format::EdgeInterpolationAlgorithm;

use super::*;

const ALBERS: &str =
    r#"{"type":"ProjectedCRS","name":"Albers","scale":0.1,"id":{"authority":"EPSG","code":5070}}"#;

fn geometry(crs: &str) -> LogicalType {
    LogicalType::Geometry {
        crs: (!crs.is_empty()).then(|| crs.to_owned()),
    }
}

fn to_arrow(logical_type: &LogicalType) -> String {
    let look_up = |key: &str| (key == "k").then_some(ALBERS);
    let metadata = ExtensionMetadata::of(logical_type, look_up).unwrap();
    metadata.unwrap().to_json()
}

fn to_parquet(metadata: &str) -> LogicalType {
    ExtensionMetadata::parse(metadata).unwrap().logical_type()
}

#[test]
fn every_form_goes_there_and_back() {
    let albers = format!(r#"{{"crs":{ALBERS},"crs_type":"projjson"}}"#);
    for (parquet, arrow) in [
        ("", r#"{"crs":"OGC:CRS84","crs_type":"authority_code"}"#),
        ("srid:0", "{}"),
        ("srid:5070", r#"{"crs":"5070","crs_type":"srid"}"#),
        ("srid:4326", r#"{"crs":"4326","crs_type":"srid"}"#),
        (
            "EPSG:5070",
            r#"{"crs":"EPSG:5070","crs_type":"authority_code"}"#,
        ),
        (ALBERS, &albers),
        ("projjson:q", r#"{"crs":"projjson:q"}"#),
        ("{broken", r#"{"crs":"{broken"}"#),
        ("any text", r#"{"crs":"any text"}"#),
    ] {
        assert_eq!(to_arrow(&geometry(parquet)), arrow);
        assert_eq!(to_parquet(arrow), geometry(parquet), "{arrow}");
    }
    assert_eq!(to_arrow(&geometry("projjson:k")), albers);
    assert_eq!(
        to_arrow(&geometry("SRID:7")),
        r#"{"crs":"7","crs_type":"srid"}"#
    );
}

/// Reads metadata as pyarrow, geopandas and GDAL write it.
#[test]
fn metadata_of_others() {
    let wgs84 = r#"{"crs": {"type": "GeographicCRS", "id": {"authority": "EPSG", "code": 4326}}}"#;
    for (arrow, parquet) in [
        ("", "srid:0"),
        ("{}", "srid:0"),
        (r#"{"crs": null, "edges": "planar"}"#, "srid:0"),
        (r#"{"crs": "EPSG:4326"}"#, ""),
        (wgs84, ""),
        (
            r#"{"crs": "{\"name\": \"x\"}", "crs_type": "projjson"}"#,
            r#"{"name": "x"}"#,
        ),
        (
            r#"{"crs": "GEOGCRS[]", "crs_type": "wkt2:2019"}"#,
            "GEOGCRS[]",
        ),
        (
            r#"{"crs": "EPSG:5070", "crs_type": "of tomorrow"}"#,
            "EPSG:5070",
        ),
    ] {
        assert_eq!(to_parquet(arrow), geometry(parquet), "{arrow}");
    }
}

#[test]
fn edges_are_kept() {
    for edges in Edges::ALL {
        let metadata = ExtensionMetadata { crs: None, edges };
        assert_eq!(
            ExtensionMetadata::parse(&metadata.to_json()).unwrap(),
            metadata
        );
        let logical_type = metadata.logical_type();
        assert_eq!(Edges::of(&logical_type).unwrap(), Some(edges));
        let back = ExtensionMetadata::of(&logical_type, |_| None).unwrap();
        assert_eq!(back, Some(metadata));
    }
    let karney = to_parquet(r#"{"crs": "OGC:CRS84", "edges": "karney"}"#);
    let algorithm = Some(EdgeInterpolationAlgorithm::Karney);
    assert_eq!(
        karney,
        LogicalType::Geography {
            crs: None,
            algorithm
        }
    );
}

#[test]
fn what_is_not_understood_is_an_error() {
    for (metadata, wanted) in [
        (
            r#"{"edges": "loxodrome"}"#,
            "unknown edges \"loxodrome\"; use one of: planar, spherical, vincenty, thomas, \
             andoyer, karney",
        ),
        (
            r#"{"edges": 1}"#,
            "`edges` in the metadata of geoarrow.wkb is not text",
        ),
        (
            r#"{"crs": 4326}"#,
            "`crs` in the metadata of geoarrow.wkb is neither text nor an object",
        ),
        (
            "[]",
            "the metadata of geoarrow.wkb is not a JSON object: it is not an object",
        ),
    ] {
        let error = ExtensionMetadata::parse(metadata).unwrap_err();
        assert_eq!(error.message(), wanted);
    }
    let unknown = LogicalType::Geography {
        crs: None,
        algorithm: Some(EdgeInterpolationAlgorithm::from_id(9)),
    };
    let error = ExtensionMetadata::of(&unknown, |_| None).unwrap_err();
    assert!(error.message().starts_with("unknown algorithm "));
    assert_eq!(
        ExtensionMetadata::of(&LogicalType::Json, |_| None).unwrap(),
        None
    );
}

/// Compares metadata. Texts on one line are equivalent, and different lines differ in meaning.
#[test]
fn metadata_is_the_same_if_its_meaning_is() {
    let albers = format!(r#"{{"crs":{ALBERS},"crs_type":"projjson"}}"#);
    let wgs84 = r#"{"crs": {"type": "GeographicCRS", "id": {"authority": "EPSG", "code": 4326}}}"#;
    let meanings: [&[&str]; 6] = [
        &["", "{}", r#"{"edges": "planar"}"#, r#"{"crs": null}"#],
        &[
            r#"{"crs": "OGC:CRS84"}"#,
            r#"{"crs": "EPSG:4326", "crs_type": "authority_code"}"#,
            wgs84,
        ],
        &[&albers, r#"{"crs": "EPSG:5070"}"#],
        &[r#"{"crs": "OGC:CRS84", "edges": "spherical"}"#],
        &[r#"{"crs": "OGC:CRS84", "edges": "karney"}"#],
        &[r#"{"crs": "EPSG:3857"}"#],
    ];
    let parse = |text: &str| ExtensionMetadata::parse(text).unwrap();
    for (line, one) in meanings.iter().enumerate() {
        for (other_line, other) in meanings.iter().enumerate() {
            for (a, b) in one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b))) {
                let is_same = parse(a).is_same(&parse(b));
                assert_eq!(is_same, line == other_line, "{a} and {b}");
            }
        }
    }
}

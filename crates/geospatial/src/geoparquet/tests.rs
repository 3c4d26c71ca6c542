//! Tests the rules of the specification. The folder `tests/it` tests the metadata of other writers.

use herringbone_format::{BoundingBox, LogicalType};

use super::*;
use crate::Edges;
use crate::crs::Crs;
use crate::wkb::{Dimensions, GeometryKind, GeometryType};

fn with_column(version: &str, members: &str) -> String {
    format!(
        r#"{{"version": "{version}", "primary_column": "g", "columns": {{"g": {{{members}}}}}}}"#
    )
}

const WKB: &str = r#""encoding": "WKB", "geometry_types": []"#;

#[test]
fn errors_name_the_member() {
    let missing_type =
        r#"{"version": "1.0.0", "primary_column": "g", "columns": {"g": {"encoding": "WKB"}}}"#;
    for (text, wanted) in [
        ("[]", "the GeoParquet metadata is not a JSON object"),
        (
            r#"{"version": 1}"#,
            "version of the GeoParquet metadata is a number, not text",
        ),
        (
            r#"{"version": "1.0.0"}"#,
            "primary_column of the GeoParquet metadata is missing, not text",
        ),
        (
            missing_type,
            "columns.g.geometry_types of the GeoParquet metadata is missing, not an array",
        ),
        (
            r#"{"version": "0.4.0"}"#,
            "GeoParquet metadata of version \"0.4.0\"; 1.0, 1.1 and 2.0 are supported",
        ),
    ] {
        let error = GeoMetadata::parse(text).unwrap_err();
        assert_eq!(error.message(), wanted);
    }
    for (member, wanted) in [
        (
            r#""crs": "EPSG:4326""#,
            "columns.g.crs of the GeoParquet metadata is other text, not a PROJJSON object or null",
        ),
        (
            r#""edges": "bent""#,
            "columns.g.edges of the GeoParquet metadata: unknown edges \"bent\"; use one of: \
             planar, spherical, vincenty, thomas, andoyer, karney",
        ),
        (
            r#""bbox": [1, 2, 3]"#,
            "columns.g.bbox of the GeoParquet metadata has 3 numbers, not 4, 6 or 8",
        ),
        (
            r#""bbox": [1, "2", 3, 4]"#,
            "columns.g.bbox of the GeoParquet metadata is an array, not an array of numbers",
        ),
        (
            r#""orientation": "clockwise""#,
            "columns.g.orientation of the GeoParquet metadata is other text, not \"counterclockwise\"",
        ),
        (
            r#""covering": {"bbox": {"xmin": ["b", "xmin"]}}"#,
            "columns.g.covering.bbox.ymin of the GeoParquet metadata is missing, not a column and its \
             field",
        ),
    ] {
        let text = with_column("2.0.0", &format!("{WKB}, {member}"));
        let error = GeoMetadata::parse(&text).unwrap_err();
        assert_eq!(error.message(), wanted);
    }
    let types = r#""encoding": "WKB", "geometry_types": ["Point X"]"#;
    let error = GeoMetadata::parse(&with_column("1.0.0", types)).unwrap_err();
    assert_eq!(
        error.message(),
        "columns.g.geometry_types of the GeoParquet metadata has \"Point X\", which is not a geometry type"
    );
    let encoding = r#""encoding": "WKT", "geometry_types": []"#;
    let error = GeoMetadata::parse(&with_column("1.0.0", encoding)).unwrap_err();
    assert_eq!(
        error.message(),
        "columns.g.encoding of the GeoParquet metadata is \"WKT\", which is unknown"
    );
}

#[test]
fn null_is_missing() {
    let nulls =
        ["edges", "orientation", "bbox", "epoch", "covering"].map(|it| format!(", \"{it}\": null"));
    let text = with_column("1.1.0", &format!("{WKB}{}", nulls.concat()));
    assert_eq!(
        GeoMetadata::parse(&text).unwrap().columns[0].1,
        GeoColumn::default()
    );
}

fn disagreements(version: &str, members: &str, logical_type: Option<LogicalType>) -> Vec<String> {
    let metadata = GeoMetadata::parse(&with_column(version, members)).unwrap();
    metadata.disagreements(&[FileColumn {
        name: "g",
        is_byte_array: true,
        logical_type: logical_type.as_ref(),
    }])
}

#[test]
fn disagreements_are_said() {
    let geometry = |crs: &str| {
        let crs = (!crs.is_empty()).then(|| crs.to_owned());
        Some(LogicalType::Geometry { crs })
    };
    let with = |member: &str| format!("{WKB}, {member}");
    let albers = r#""crs": {"type": "ProjectedCRS", "id": {"authority": "EPSG", "code": 5070}}"#;
    let none: [&str; 0] = [];
    assert_eq!(
        disagreements("2.0.0", &with(albers), geometry("EPSG:5070")),
        none
    );
    assert_eq!(
        disagreements("2.0.0", &with(albers), geometry("")),
        [
            "column \"g\" has the CRS OGC:CRS84 in its logical type, but EPSG:5070 in the \
             GeoParquet metadata"
        ]
    );
    assert_eq!(
        disagreements("2.0.0", &with(r#""crs": null"#), geometry("SRID:0")),
        none
    );
    assert_eq!(
        disagreements("2.0.0", WKB, None),
        ["column \"g\" is neither a GEOMETRY nor a GEOGRAPHY, as GeoParquet 2.0 requires"]
    );
    assert_eq!(disagreements("1.1.0", WKB, None), none);
    let karney = Some(Edges::Karney.logical_type(None));
    assert_eq!(
        disagreements("2.0.0", &with(r#""edges": "spherical""#), karney),
        [
            "column \"g\" has karney edges in its logical type, but spherical edges in the \
             GeoParquet metadata"
        ]
    );
    let old = r#""encoding": "WKB", "geometry_types": ["Point", "Point M", "Point"], "edges": "thomas",
        "bbox": [0, 5, 1, 4], "covering": {"bbox": {"xmin": ["b", "xmin"], "ymin": ["b", "ymin"],
        "xmax": ["b", "xmax"], "ymax": ["b", "ymax"]}}"#;
    assert_eq!(
        disagreements("1.0.0", old, None),
        [
            "column \"g\" has a covering, which version 1.0 does not support",
            "column \"g\" has thomas edges, which need version 2.0",
            "column \"g\" has the type POINT M, which needs version 2.0",
            "column \"g\" has the type POINT twice",
            "column \"g\" has an invalid bbox: ymin is 5, above ymax, 4",
            "column \"g\" is covered by column \"b\", which is not at the root of the file",
        ]
    );
    let metadata = GeoMetadata::parse(&with_column("2.0.0", WKB)).unwrap();
    let other = geometry("");
    let column = FileColumn {
        name: "other",
        is_byte_array: true,
        logical_type: other.as_ref(),
    };
    assert_eq!(
        metadata.disagreements(&[column]),
        [
            "column \"g\" of the GeoParquet metadata is not at the root of the file",
            "column \"other\" has geometries, but is not in the GeoParquet metadata",
        ]
    );
}

fn metadata(version: Version, column: GeoColumn) -> GeoMetadata {
    GeoMetadata {
        version,
        primary_column: "g".into(),
        columns: vec![("g".into(), column)],
        others: Others::default(),
    }
}

#[test]
fn all_of_a_column_is_written() {
    let column = GeoColumn {
        geometry_types: vec![GeometryType::new(
            GeometryKind::MultiPoint,
            Dimensions::Xyzm,
        )],
        crs: Crs::undefined(),
        edges: Edges::Vincenty,
        is_counterclockwise: true,
        bbox: Some(
            BoundingBox::new(170.0, -170.0, -0.1, 0.5)
                .zmin(1.0)
                .zmax(2.0)
                .mmin(3.0)
                .mmax(4.0),
        ),
        epoch: Some(2021.47),
        covering: Some(Covering {
            column: "b".into(),
            has_z: true,
            never_wraps: true,
        }),
        ..GeoColumn::default()
    };
    let metadata = metadata(Version::V2_0, column);
    let text = metadata.to_json().unwrap();
    assert_eq!(
        text,
        "{\"version\":\"2.0.0\",\"primary_column\":\"g\",\"columns\":{\"g\":{\"encoding\":\"WKB\",\
         \"geometry_types\":[\"MultiPoint ZM\"],\"crs\":null,\"edges\":\"vincenty\",\
         \"orientation\":\"counterclockwise\",\"bbox\":[170.0,-0.1,1.0,3.0,-170.0,0.5,2.0,4.0],\
         \"epoch\":2021.47,\"covering\":{\"bbox\":{\"xmin\":[\"b\",\"xmin\"],\"ymin\":[\"b\",\"ymin\"],\
         \"zmin\":[\"b\",\"zmin\"],\"xmax\":[\"b\",\"xmax\"],\"ymax\":[\"b\",\"ymax\"],\
         \"zmax\":[\"b\",\"zmax\"]}},\"herringbone:covering_never_wraps\":true}}}"
    );
    assert_eq!(GeoMetadata::parse(&text).unwrap(), metadata);
}

#[test]
fn what_a_version_has_no_place_for_is_refused() {
    let said = |version, column| {
        metadata(version, column)
            .to_json()
            .unwrap_err()
            .message()
            .to_owned()
    };
    let crs = |text: &str| Crs::new(Some(text.to_owned()));
    let albers = GeoColumn {
        crs: crs("EPSG:5070"),
        ..GeoColumn::default()
    };
    assert_eq!(
        said(Version::V2_0, albers),
        "column \"g\" in GeoParquet metadata of version 2.0.0: its CRS must be a PROJJSON \
         definition, not \"EPSG:5070\""
    );
    let karney = GeoColumn {
        edges: Edges::Karney,
        ..GeoColumn::default()
    };
    assert_eq!(
        said(Version::V1_1, karney),
        "column \"g\" in GeoParquet metadata of version 1.1.0: it has karney edges, which need \
         version 2.0"
    );
    let endless = GeoColumn {
        bbox: Some(BoundingBox::new(0.0, f64::INFINITY, 0.0, 0.0)),
        ..GeoColumn::default()
    };
    assert_eq!(
        said(Version::V1_1, endless),
        "column \"g\" in GeoParquet metadata of version 1.1.0: its bbox is not finite, so JSON has \
         no number for it"
    );
    // The default CRS has many names, and we do not need to write it.
    let wgs84 = GeoColumn {
        crs: crs("EPSG:4326"),
        ..GeoColumn::default()
    };
    assert!(
        !metadata(Version::V1_1, wgs84)
            .to_json()
            .unwrap()
            .contains("crs")
    );
}

/// Returns the usable part of metadata, and the messages of its defects.
fn usable(version: &str, members: &str) -> (GeoMetadata, Vec<String>) {
    let (metadata, defects) = GeoMetadata::parse_usable(&with_column(version, members)).unwrap();
    let messages = defects.iter().map(|defect| defect.message().to_owned());
    (metadata, messages.collect())
}

#[test]
fn defects_that_do_not_concern_the_values_leave_a_column() {
    let crs = |text: &str| Crs::new(Some(text.to_owned()));
    let plain = GeoColumn::default;
    for (version, member, expected, defect) in [
        (
            "1.1.0",
            r#", "crs": "EPSG:4326""#,
            GeoColumn {
                crs: crs("EPSG:4326"),
                ..plain()
            },
            "columns.g.crs",
        ),
        (
            "1.1.0",
            r#", "crs": 4326"#,
            GeoColumn {
                crs: Crs::undefined(),
                ..plain()
            },
            "columns.g.crs",
        ),
        ("0.4.0", "", plain(), "version \"0.4.0\""),
        ("9.0.0", "", plain(), "version \"9.0.0\""),
        (
            "1.1.0",
            r#", "covering": {"bbox": {"xmin": ["bbox", "nope"]}}"#,
            plain(),
            "columns.g.covering.bbox.xmin",
        ),
        ("1.1.0", r#", "bbox": [1, 2]"#, plain(), "columns.g.bbox"),
        (
            "1.1.0",
            r#", "orientation": 7"#,
            plain(),
            "columns.g.orientation",
        ),
        ("1.1.0", r#", "epoch": "now""#, plain(), "columns.g.epoch"),
    ] {
        let (metadata, defects) = usable(version, &format!("{WKB}{member}"));
        assert_eq!(metadata.column("g"), Some(&expected), "{member}");
        assert_eq!(metadata.primary_column, "g");
        let [found] = defects.as_slice() else {
            panic!("{member}: {defects:?}");
        };
        assert!(found.contains(defect), "{found}");
        // A strict parse fails with the first of these defects.
        let error = GeoMetadata::parse(&with_column(version, &format!("{WKB}{member}")));
        assert_eq!(error.unwrap_err().message(), found);
    }
    for types in [r#""geometry_types": null"#, r#""geometry_types": ["Pnt"]"#] {
        let (metadata, defects) = usable("1.0.0", &format!(r#""encoding": "WKB", {types}"#));
        assert_eq!(metadata.column("g"), Some(&plain()), "{types}");
        assert!(
            defects[0].contains("columns.g.geometry_types"),
            "{defects:?}"
        );
    }
}

#[test]
fn sound_columns_survive_others() {
    let text = r#"{"version": "1.0.0", "primary_column": "g", "columns": {
        "a": {"encoding": "WKT", "geometry_types": []},
        "b": "WKB",
        "c": {"encoding": "WKB", "geometry_types": [], "edges": "bent"},
        "g": {"encoding": "WKB", "geometry_types": ["Point"]}
    }}"#;
    let (metadata, defects) = GeoMetadata::parse_usable(text).unwrap();
    let names: Vec<&str> = metadata
        .columns
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!((names, defects.len()), (vec!["g"], 3));
    let (metadata, defects) = GeoMetadata::parse_usable(r#"{"version": "1.0.0"}"#).unwrap();
    assert_eq!((metadata.columns.len(), defects.len()), (0, 2));
    assert!(GeoMetadata::parse_usable("{not json").is_err());
    assert!(GeoMetadata::parse_usable("[]").is_err());
}

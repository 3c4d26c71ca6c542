//! Tests the texts that logical types have.

use super::*;

fn crs(text: &str) -> Crs {
    Crs::new(Some(text.to_owned()))
}

const ALBERS: &str = r#"{"type": "ProjectedCRS", "name": "NAD83 / Conus Albers",
    "id": {"authority": "EPSG", "code": 5070}}"#;
const WGS84: &str =
    r#"{"type": "GeographicCRS", "name": "WGS 84", "id": {"authority": "EPSG", "code": 4326}}"#;

#[test]
fn forms_are_told_apart() {
    for (text, form) in [
        ("", CrsForm::Default),
        ("srid:0", CrsForm::Undefined),
        ("SRID:0", CrsForm::Undefined),
        ("SRID:5070", CrsForm::Srid("5070")),
        ("projjson:my_key", CrsForm::ProjjsonKey("my_key")),
        (ALBERS, CrsForm::Projjson(ALBERS)),
        (
            "urn:ogc:def:crs:EPSG::5070",
            CrsForm::Other("urn:ogc:def:crs:EPSG::5070"),
        ),
        ("GEOGCRS[\"WGS 84\"]", CrsForm::Other("GEOGCRS[\"WGS 84\"]")),
        ("écrs", CrsForm::Other("écrs")),
    ] {
        assert_eq!(crs(text).form(), form);
    }
    let (authority, code) = ("IAU_2015", "30100");
    let moon = crs("IAU_2015:30100");
    assert_eq!(moon.form(), CrsForm::AuthorityCode { authority, code });
}

#[test]
fn the_same_system_by_many_names() {
    let same: [&[&str]; 3] = [
        &[
            "",
            "OGC:CRS84",
            "EPSG:4326",
            "epsg:4326",
            "srid:4326",
            WGS84,
        ],
        &["EPSG:5070", "srid:5070", "SRID:5070", ALBERS],
        &["srid:0", "SRID:0"],
    ];
    for (index, names) in same.iter().enumerate() {
        for (other, others) in same.iter().enumerate() {
            for (a, b) in names
                .iter()
                .flat_map(|a| others.iter().map(move |b| (a, b)))
            {
                assert_eq!(crs(a).is_same(&crs(b)), index == other, "{a} {b}");
            }
        }
    }
    let own = crs(r#"{"type": "EngineeringCRS", "name": "hall"}"#);
    assert!(own.is_same(&crs(r#"{"name":"hall","type":"EngineeringCRS"}"#)));
    assert!(!own.is_same(&crs(r#"{"name":"yard","type":"EngineeringCRS"}"#)));
    assert!(!crs("a b").is_same(&crs("b a")) && crs("a b").is_same(&crs("a b")));
}

#[test]
fn definitions_come_from_the_file() {
    let look_up = |text| move |key: &str| (key == "k").then_some(text);
    assert_eq!(
        crs("projjson:k").resolve(look_up(ALBERS)).unwrap(),
        crs(ALBERS)
    );
    assert_eq!(
        crs("srid:1").resolve(look_up(ALBERS)).unwrap(),
        crs("srid:1")
    );
    let missing = crs("projjson:q").resolve(look_up(ALBERS)).unwrap_err();
    assert_eq!(
        missing.message(),
        "the CRS refers to the key \"q\" of the key-value metadata, which is missing"
    );
    let broken = crs("projjson:k").resolve(look_up("[]")).unwrap_err();
    assert_eq!(
        broken.message(),
        "the CRS in the key-value metadata under \"k\" is not PROJJSON: it is not an object"
    );
}

#[test]
fn geographic_or_projected() {
    let bound = format!(r#"{{"type": "BoundCRS", "source_crs": {ALBERS}}}"#);
    for (text, wanted) in [
        ("", Some(true)),
        ("EPSG:4326", Some(true)),
        (WGS84, Some(true)),
        (ALBERS, Some(false)),
        (&bound, Some(false)),
        // PROJ 9 has these kinds for the codes.
        ("EPSG:5070", Some(false)),
        ("srid:3857", Some(false)),
        ("EPSG:2154", Some(false)),
        ("epsg:32633", Some(false)),
        ("EPSG:4269", None),
        ("EPSG:3819", None),
        ("IGNF:2154", None),
        ("srid:0", None),
    ] {
        assert_eq!(crs(text).is_geographic(), wanted, "{text}");
    }
}

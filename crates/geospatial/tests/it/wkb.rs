//! Compares well-known binary, text and GeoJSON with GEOS.

use herringbone_geospatial::wkb::{Event, Events, write_iso};
use herringbone_geospatial::{geojson, wkt};
use serde_json::Value;

use crate::fixtures::{bytes, lines};

const WKB: &str = include_str!("../fixtures/wkb.tsv");

fn text(value: &[u8]) -> String {
    let mut text = String::new();
    wkt::write(value, &mut text).unwrap();
    text
}

fn iso(value: &[u8]) -> Vec<u8> {
    let mut iso = Vec::new();
    write_iso(value, &mut iso).unwrap();
    iso
}

#[test]
fn every_form_is_the_same_text() {
    let mut count = 0;
    for line in lines(WKB) {
        for form in &line[1..4] {
            assert_eq!(text(&bytes(form)), line[0], "{form}");
        }
        count += 1;
    }
    assert_eq!(count, 64);
}

#[test]
fn every_text_is_the_value() {
    for line in lines(WKB) {
        let mut value = Vec::new();
        wkt::read(line[0], &mut value).unwrap();
        assert_eq!(value, bytes(line[1]), "{}", line[0]);
    }
}

#[test]
fn every_form_becomes_iso() {
    for line in lines(WKB) {
        let wanted = bytes(line[1]);
        for form in &line[1..4] {
            assert_eq!(iso(&bytes(form)), wanted, "{}", line[0]);
        }
    }
}

#[test]
fn extended_headers_say_so() {
    for line in lines(WKB) {
        let value = bytes(line[3]);
        let Some(Ok(Event::Start(header))) = Events::new(&value).next() else {
            panic!("{}", line[0]);
        };
        assert!(
            header.is_extended && header.srid == Some(4326),
            "{}",
            line[0]
        );
        let value = bytes(line[1]);
        let Some(Ok(Event::Start(header))) = Events::new(&value).next() else {
            panic!("{}", line[0]);
        };
        assert!(!header.is_extended && header.srid.is_none(), "{}", line[0]);
    }
}

/// Puts each geometry into a collection of its own, in both byte orders.
#[test]
fn orders_are_mixed() {
    for line in lines(WKB) {
        let inside = |little: &str, big: &str| {
            bytes(&format!(
                "00 00000007 00000002 {little} 01 07000000 01000000 {big}"
            ))
        };
        let (mixed, plain) = (inside(line[1], line[2]), inside(line[1], line[1]));
        assert_eq!(iso(&mixed), iso(&plain));
        assert_eq!(
            text(&mixed),
            format!(
                "GEOMETRYCOLLECTION ({0}, GEOMETRYCOLLECTION ({0}))",
                line[0]
            )
        );
    }
}

#[test]
fn geojson_is_that_of_geos() {
    let mut count = 0;
    for line in lines(WKB).filter(|line| !line[8].is_empty()) {
        let mut json = String::new();
        geojson::write(&bytes(line[1]), &mut json).unwrap();
        let mut value = Vec::new();
        geojson::read(&json, &mut value).unwrap();
        let is_empty = line[0].contains("EMPTY");
        if is_empty {
            // GEOS omits empty points, and writes a ring for empty polygons.
            assert_eq!(text(&value).replace(" Z", ""), line[0].replace(" Z", ""));
            continue;
        }
        assert_eq!(value, bytes(line[1]), "{}", line[0]);
        let [given, wanted] = [&json, line[8]].map(|it| serde_json::from_str::<Value>(it).unwrap());
        assert_eq!(
            numbers_as_floats(given),
            numbers_as_floats(wanted),
            "{}",
            line[0]
        );
        count += 1;
    }
    assert_eq!(count, 8);
}

/// Returns JSON with all numbers as floats, so that `1` and `1.0` are one number.
fn numbers_as_floats(value: Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().into(),
        Value::Array(all) => all.into_iter().map(numbers_as_floats).collect(),
        Value::Object(all) => {
            let members = all
                .into_iter()
                .map(|(name, it)| (name, numbers_as_floats(it)));
            Value::Object(members.collect())
        }
        other => other,
    }
}

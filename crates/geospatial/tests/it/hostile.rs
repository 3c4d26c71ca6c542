//! Bytes that are no geometry.

use herringbone_geospatial::wkb::{Events, write_iso};
use herringbone_geospatial::{Edges, StatisticsBuilder, geojson, wkt};

use crate::fixtures::{bytes, lines};

const WKB: &str = include_str!("../fixtures/wkb.tsv");

/// Nothing here may panic, and each event takes bytes.
fn use_everywhere(value: &[u8]) {
    let events = Events::new(value).count();
    assert!(
        events <= 2 * value.len() + 2,
        "{events} events of {} bytes",
        value.len()
    );
    write_iso(value, &mut Vec::new()).ok();
    wkt::write(value, &mut String::new()).ok();
    geojson::write(value, &mut String::new()).ok();
    for edges in [Edges::Planar, Edges::Spherical] {
        let is_sound = Events::new(value).all(|it| it.is_ok());
        assert_eq!(StatisticsBuilder::new(edges).add(value).is_ok(), is_sound);
    }
}

#[test]
fn truncated_anywhere() {
    for line in lines(WKB) {
        for form in &line[1..4] {
            let value = bytes(form);
            for end in 0..value.len() {
                let truncated = &value[..end];
                assert!(
                    Events::new(truncated).any(|event| event.is_err()),
                    "{} to {end}",
                    line[0]
                );
                use_everywhere(truncated);
            }
        }
    }
}

#[test]
fn one_byte_more() {
    for line in lines(WKB) {
        let mut value = bytes(line[1]);
        value.push(0);
        assert!(
            Events::new(&value).any(|event| event.is_err()),
            "{}",
            line[0]
        );
        use_everywhere(&value);
    }
}

#[test]
fn any_byte_is_another() {
    for line in lines(WKB) {
        for form in [line[1], line[3]] {
            let mut value = bytes(form);
            for at in 0..value.len() {
                for flipped in [0x01, 0x80, 0xff] {
                    value[at] ^= flipped;
                    use_everywhere(&value);
                    value[at] ^= flipped;
                }
            }
        }
    }
}

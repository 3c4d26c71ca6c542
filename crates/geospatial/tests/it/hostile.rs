//! Checks malformed geometries.

use herringbone_geospatial::crs::Crs;
use herringbone_geospatial::geoarrow::ExtensionMetadata;
use herringbone_geospatial::geoparquet::GeoMetadata;
use herringbone_geospatial::wkb::{Events, write_iso};
use herringbone_geospatial::{Edges, StatisticsBuilder, geojson, wkt};

use crate::fixtures::{bytes, lines};

const WKB: &str = include_str!("../fixtures/wkb.tsv");

const GEO: &str = include_str!("../fixtures/geo.tsv");

/// Uses a value in every way. Nothing may panic, and the byte count bounds the number of events.
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

/// Checks metadata and GeoJSON that end early, or contain unexpected members and values.
#[test]
fn any_text() {
    let use_text = |text: &str| {
        GeoMetadata::parse(text).ok();
        ExtensionMetadata::parse(text).ok();
        geojson::read(text, &mut Vec::new()).ok();
        let crs = Crs::new(Some(text.to_owned()));
        std::hint::black_box((crs.is_geographic(), crs.is_same(&Crs::default())));
    };
    let geometries = lines(WKB).map(|line| line[8]);
    let metadata = lines(GEO).map(|line| line[1]);
    let texts: Vec<_> = geometries
        .chain(metadata)
        .filter(|geometry| geometry.len() < 500)
        .collect();
    assert!(texts.len() > 40);
    for text in texts {
        for (end, _) in text.char_indices() {
            use_text(&text[..end]);
            assert!(GeoMetadata::parse(&text[..end]).is_err());
            for other in ["", "null", "[", "{}", "\"", "-1e999", "é"] {
                use_text(&format!("{}{other}{}", &text[..end], &text[end + 1..]));
            }
        }
    }
}

//! Merges files with keys of Spark and Hive that decide how days are counted.

use herringbone::arrow::schema::{DataType, SchemaRef};
use herringbone::{ParquetFile, Remedy, WriteOptions};
use herringbone_rewrite::CarryOver;

use crate::files::{collected, empty, schema, value, with_keys};

const VERSION: &str = "org.apache.spark.version";
const LEGACY: &str = "org.apache.spark.legacyDateTime";
const ZONE: &str = "org.apache.spark.timeZone";

fn days() -> SchemaRef {
    schema(&[("d", DataType::Date32), ("n", DataType::Int32)])
}

fn file(pairs: &[(&str, &str)]) -> ParquetFile {
    empty(&days(), with_keys(pairs))
}

/// Returns true if one file may have the rows of both.
fn can_merge(a: &[(&str, &str)], b: &[(&str, &str)], new: &SchemaRef) -> bool {
    let (a, b) = (file(a), file(b));
    let merged = collected(CarryOver::new(), &[&a, &b]).apply(new, &mut WriteOptions::new());
    if let Err(error) = &merged {
        assert_eq!(error.remedy(), Some(Remedy::LeaveOutColumn), "{error}");
        assert!(
            error.to_string().contains("1") && error.to_string().contains("2"),
            "{error}"
        );
        assert_eq!(error.location().column.as_deref(), Some("d"));
    }
    merged.is_ok()
}

/// By Spark's rules (`DataSourceUtils.getRebaseSpec`), days before 1582 are Julian if the version
/// is below 3.0.0, or if the legacy key is present.
#[test]
fn days_of_two_calendars_cannot_share_a_file() {
    let days = days();
    let new = [(VERSION, "3.2.0")];
    let old = [(VERSION, "2.4.5")];
    let legacy = [(VERSION, "3.2.0"), (LEGACY, "")];
    assert!(can_merge(&new, &new, &days));
    assert!(can_merge(&new, &[], &days));
    assert!(can_merge(&new, &[(VERSION, "3.0.0")], &days));
    assert!(!can_merge(&new, &old, &days));
    assert!(!can_merge(&old, &new, &days));
    assert!(!can_merge(&new, &legacy, &days));
    assert!(!can_merge(&[], &old, &days));
    // Without a version, the legacy calendar's key does not count.
    assert!(can_merge(&[], &[(LEGACY, "")], &days));
    // The zone only counts for the legacy calendar.
    let in_zone = |zone| [(VERSION, "3.2.0"), (LEGACY, ""), (ZONE, zone)];
    assert!(can_merge(&in_zone("UTC"), &in_zone("UTC"), &days));
    assert!(!can_merge(&in_zone("UTC"), &in_zone("CET"), &days));
    let unused = |zone| [(VERSION, "3.2.0"), (ZONE, zone)];
    assert!(can_merge(&unused("UTC"), &unused("CET"), &days));
    for key in [
        "writer.date.proleptic",
        "writer.time.zone",
        "writer.zone.conversion.legacy",
    ] {
        assert!(
            !can_merge(&[(key, "true")], &[(key, "false")], &days),
            "{key}"
        );
        assert!(!can_merge(&[(key, "true")], &[], &days), "{key}");
    }
}

#[test]
fn columns_without_days_do_not_care() {
    let old = [(VERSION, "2.4.5")];
    assert!(can_merge(
        &[(VERSION, "3.2.0")],
        &old,
        &schema(&[("n", DataType::Int32)])
    ));
    let file = file(&old);
    let mut options = WriteOptions::new();
    collected(CarryOver::new(), &[&file])
        .apply(&days(), &mut options)
        .unwrap();
    assert_eq!(value(&options, VERSION).as_deref(), Some("2.4.5"));
}

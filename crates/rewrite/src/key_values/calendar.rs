//! Keys that record the calendar used to count days. Readers apply them to all rows of a file.
//!
//! | writer | keys |
//! |---|---|
//! | Spark | `org.apache.spark.version`, `….timeZone`, and `….legacyDateTime`, `….legacyINT96` if days before 1582 are counted in the Julian calendar |
//! | Hive | `writer.date.proleptic`, `writer.time.zone`, `writer.zone.conversion.legacy` |

use std::collections::HashMap;

use herringbone::format::{ConvertedType, KeyValue, LogicalType, SchemaElement, Type};
use herringbone::schema::ParquetSchema;
use herringbone::{Error, Remedy, Result};

use super::OriginalFile;

const VERSION: &str = "org.apache.spark.version";
const TIME_ZONE: &str = "org.apache.spark.timeZone";
const LEGACY_DATE_TIME: &str = "org.apache.spark.legacyDateTime";
const LEGACY_INT96: &str = "org.apache.spark.legacyINT96";
const HIVE: [&str; 3] = [
    "writer.date.proleptic",
    "writer.time.zone",
    "writer.zone.conversion.legacy",
];

/// The values of the calendar keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CalendarKeys {
    values: HashMap<String, String>,
}

/// The calendar used by readers to count days.
#[derive(Debug, PartialEq, Eq)]
struct Calendar<'a> {
    /// The time zone used by Spark to convert days from the old calendar to ours. The outer option is `None` if Spark
    /// does not convert them.
    spark: Option<Option<&'a str>>,
    hive: [Option<&'a str>; 3],
}

/// The kinds of columns containing days. Spark has a separate key for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    DateTime,
    Int96,
}

impl CalendarKeys {
    /// Collects the keys from a file's metadata. If a key is repeated, its first value counts.
    pub(crate) fn of(pairs: &[KeyValue]) -> Self {
        let mut values = HashMap::new();
        let spark = [VERSION, TIME_ZONE, LEGACY_DATE_TIME, LEGACY_INT96];
        for pair in pairs {
            if spark.iter().chain(&HIVE).any(|key| *key == pair.key) {
                let value = pair.text().unwrap_or_default().to_owned();
                values.entry(pair.key.clone()).or_insert(value);
            }
        }
        Self { values }
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Returns the calendar used by readers, following Spark's rules (`DataSourceUtils.getRebaseSpec`).
    fn calendar(&self, kind: Kind) -> Calendar<'_> {
        let (key, first_version) = match kind {
            Kind::DateTime => (LEGACY_DATE_TIME, "3.0.0"),
            Kind::Int96 => (LEGACY_INT96, "3.1.0"),
        };
        // We compare versions as text, just as Spark does.
        let is_legacy = self
            .get(VERSION)
            .is_some_and(|version| version < first_version || self.get(key).is_some());
        Calendar {
            spark: is_legacy.then(|| self.get(TIME_ZONE)),
            hive: HIVE.map(|key| self.get(key)),
        }
    }
}

/// Returns an error if the new keys would change a file's days, compared with its own keys.
///
/// # Errors
/// Fails with Unsupported. The error names the file and the column.
pub(super) fn check(
    files: &[OriginalFile],
    new_keys: &CalendarKeys,
    new: &ParquetSchema,
) -> Result<()> {
    for file in files {
        if file.calendar == *new_keys {
            continue;
        }
        let kinds = kinds(&file.schema);
        for (path, new_kind) in self::kinds(new) {
            let Some(kind) = kinds.get(&path) else {
                continue;
            };
            if file.calendar.calendar(*kind) != new_keys.calendar(new_kind) {
                let path = path.join(".");
                return Err(other_calendar(file, files).in_column(path));
            }
        }
    }
    Ok(())
}

fn other_calendar(file: &OriginalFile, files: &[OriginalFile]) -> Error {
    let others = files.iter().find(|other| other.calendar != file.calendar);
    let other = others.map_or("the new file", |other| &other.name);
    let message = format!(
        "{} and {other} count days in different calendars, according to the metadata of Spark or \
         Hive (`{LEGACY_DATE_TIME}`, `{}` and others); this metadata holds for all rows of a file, \
         so days of one of them would shift",
        file.name, HIVE[0]
    );
    Error::unsupported(message).with_remedy(Remedy::LeaveOutColumn)
}

/// Returns the kinds of all leaves containing days, keyed by path.
fn kinds(schema: &ParquetSchema) -> HashMap<Vec<&str>, Kind> {
    let leaves = 0..schema.leaves().len();
    let kind = |leaf: usize| {
        let node = schema.leaves().get(leaf)?.node;
        let kind = kind(&schema.nodes().get(node)?.element)?;
        Some((schema.path(leaf), kind))
    };
    leaves.filter_map(kind).collect()
}

fn kind(element: &SchemaElement) -> Option<Kind> {
    let is_day = matches!(
        element.logical_type,
        Some(LogicalType::Date | LogicalType::Timestamp { .. })
    ) || matches!(
        element.converted_type,
        Some(ConvertedType::Date | ConvertedType::TimestampMillis | ConvertedType::TimestampMicros)
    );
    match element.type_ {
        Some(Type::Int96) => Some(Kind::Int96),
        _ => is_day.then_some(Kind::DateTime),
    }
}

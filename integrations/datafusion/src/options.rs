//! A table's options, and what they mean for reads.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::datatypes::TimeUnit;
use datafusion_common::config::{
    ConfigEntry, ConfigExtension, ConfigField, ConfigOptions, ExtensionOptions, TableParquetOptions,
};
use datafusion_common::{Result, config_datafusion_err, config_err};
use datafusion_session::Session;
use herringbone::filter::{PruningStep, PruningSteps};
use herringbone::{Int96Overflow, SchemaOptions, WriteOption};

use crate::sink;

/// This crate's options in a session, which have the prefix `herringbone`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HerringboneOptions {
    /// True if scans evaluate a query's filters. If false, scans only use filters to rule out data
    /// by its statistics, and the engine evaluates them.
    pub pushdown: bool,
    /// The options of written files, by the names of [`WriteOption::ALL`], as in
    /// `SET herringbone.write.prefer = 'size'`. You can select columns by two colons and a pattern.
    /// These options win over DataFusion's.
    pub write: BTreeMap<String, String>,
}

impl Default for HerringboneOptions {
    fn default() -> Self {
        Self {
            pushdown: true,
            write: BTreeMap::new(),
        }
    }
}

impl ExtensionOptions for HerringboneOptions {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        match (key, key.strip_prefix("write.")) {
            ("pushdown", _) => ConfigField::set(&mut self.pushdown, key, value),
            (_, Some(name)) => {
                sink::check_session(name, value)?;
                self.write.insert(name.to_owned(), value.to_owned());
                Ok(())
            }
            _ => config_err!("Config value {key:?} not found on HerringboneOptions"),
        }
    }

    /// Returns the options with their prefix, because `SHOW` and other machines find them by it.
    fn entries(&self) -> Vec<ConfigEntry> {
        let mut entries = vec![ConfigEntry {
            key: format!("{}.pushdown", Self::PREFIX),
            value: Some(self.pushdown.to_string()),
            description: "True if scans evaluate the filters of a query",
        }];
        let entry = |name: &str, value: Option<&String>, description| ConfigEntry {
            key: format!("{}.write.{name}", Self::PREFIX),
            value: value.cloned(),
            description,
        };
        let file_entries = WriteOption::ALL.iter();
        entries.extend(file_entries.map(|it| entry(it.name, self.write.get(it.name), it.help)));
        let column_entries = self.write.iter().filter(|(name, _)| name.contains("::"));
        let column_help = "An option of some columns";
        entries.extend(column_entries.map(|(name, value)| entry(name, Some(value), column_help)));
        entries
    }
}

impl ConfigExtension for HerringboneOptions {
    const PREFIX: &'static str = "herringbone";
}

/// Returns true if scans evaluate filters.
pub(crate) fn pushes_down(config: &ConfigOptions) -> bool {
    let options = config.extensions.get::<HerringboneOptions>();
    options.is_none_or(|options| options.pushdown)
}

/// Returns a table's options, which are the session's, changed by the options in `OPTIONS (…)`.
///
/// # Errors
/// Fails with Configuration if an option is unknown, has a wrong value or is not supported.
pub(crate) fn table_options(
    session: &dyn Session,
    changes: &HashMap<String, String>,
) -> Result<TableParquetOptions> {
    let mut options = session.default_table_options();
    // We sort the changes, because otherwise the order of a map would decide which of two keys
    // wins.
    let mut changes: Vec<_> = changes.iter().collect();
    changes.sort_unstable();
    for (key, value) in changes {
        match key.strip_prefix("format.") {
            Some(key) => options.parquet.set(key, value)?,
            None => options.set(key, value)?,
        }
    }
    check(&options.parquet)?;
    Ok(options.parquet)
}

/// Rejects options that we cannot honour.
///
/// # Errors
/// Fails with Configuration, with the option's name.
pub(crate) fn check(options: &TableParquetOptions) -> Result<()> {
    if let Some(id) = &options.crypto.factory_id {
        return config_err!(
            "`crypto.factory_id` names the encryption factory {id:?} of the `parquet` crate, which cannot be used: \
             pass a `KeyFactory` to `HerringboneFormatFactory::with_key_factory`, or set `crypto.file_decryption` keys"
        );
    }
    int96_unit(options)?;
    if options.global.coerce_int96_tz.is_some() && options.global.coerce_int96.is_none() {
        return config_err!("`coerce_int96_tz` needs `coerce_int96`, the unit of the timestamps");
    }
    Ok(())
}

/// Returns the unit for INT96 timestamps.
fn int96_unit(options: &TableParquetOptions) -> Result<TimeUnit> {
    match options.global.coerce_int96.as_deref() {
        None | Some("ns") => Ok(TimeUnit::Nanosecond),
        Some("us") => Ok(TimeUnit::Microsecond),
        Some("ms") => Ok(TimeUnit::Millisecond),
        Some("s") => Ok(TimeUnit::Second),
        Some(other) => Err(config_datafusion_err!(
            "Unknown or unsupported parquet coerce_int96: {other}. Valid values are: ns, us, ms, and s."
        )),
    }
}

/// Returns the choice of Arrow types for a file's columns.
pub(crate) fn schema_options(options: &TableParquetOptions) -> Result<SchemaOptions> {
    let mut schema = SchemaOptions::default();
    schema.int96_unit = int96_unit(options)?;
    // Dates beyond the unit's range wrap around, as in the `parquet` crate.
    schema.int96_overflow = Int96Overflow::Wrap;
    Ok(schema)
}

/// Returns the time zone for INT96 timestamps.
pub(crate) fn int96_time_zone(options: &TableParquetOptions) -> Option<Arc<str>> {
    options.global.coerce_int96_tz.as_deref().map(Arc::from)
}

/// Returns the steps that may rule out rows before they are decoded.
pub(crate) fn pruning_steps(options: &TableParquetOptions) -> PruningSteps {
    let mut steps = PruningSteps::all();
    if !options.global.pruning {
        steps = steps
            .without(PruningStep::Statistics)
            .without(PruningStep::Dictionaries);
    }
    if !options.global.bloom_filter_on_read {
        steps = steps.without(PruningStep::BloomFilters);
    }
    if !options.global.enable_page_index {
        steps = steps.without(PruningStep::ColumnIndexes);
    }
    steps
}

//! Translates a table's options into a writer's options.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Display;

use datafusion_common::Result;
use datafusion_common::config::{
    ConfigField, ParquetColumnOptions, ParquetOptions, TableParquetOptions, Visit,
};
use datafusion_common::{DataFusionError, config_datafusion_err};
use herringbone::format::KeyValue;
use herringbone::{
    BloomFilterOptions, ColumnOptions, ColumnSelector, ContentDefinedChunking, Error, WriteOption,
    WriteOptions,
};

use crate::options::HerringboneOptions;

/// An option of DataFusion that the writer has under another name, or with other values.
struct Row {
    theirs: &'static str,
    ours: &'static str,
    /// True if we also take DataFusion's default. If false, the writer chooses by itself if the
    /// option has the default.
    takes_default: bool,
    /// The value that NULL means, if it is not the writer's default.
    null: Option<&'static str>,
    /// A function that returns the writer's option and its value, for a value of DataFusion.
    translate: Translate,
}

type Translate = fn(&'static str, &str) -> (&'static str, String);

impl Row {
    /// Creates an option whose values mean the same in both.
    const fn new(theirs: &'static str, ours: &'static str) -> Self {
        Self {
            theirs,
            ours,
            takes_default: false,
            null: None,
            translate: |ours, value| (ours, value.to_owned()),
        }
    }

    const fn with_default(mut self) -> Self {
        self.takes_default = true;
        self
    }

    const fn with_null(mut self, value: &'static str) -> Self {
        self.null = Some(value);
        self
    }

    const fn translated(mut self, translate: Translate) -> Self {
        self.translate = translate;
        self
    }

    /// Returns the writer's option and its value, if DataFusion's value sets one.
    fn ours(&self, value: Option<&str>) -> Option<(&'static str, String)> {
        let value = value.or(self.null)?;
        Some((self.translate)(self.ours, value))
    }
}

/// DataFusion's names for options, and the exceptions among their values.
const OPTIONS: &[Row] = &[
    Row::new("data_pagesize_limit", "page_bytes"),
    Row::new("data_page_row_count_limit", "page_rows"),
    Row::new("dictionary_page_size_limit", "dictionary_bytes"),
    Row::new("dictionary_enabled", "dictionary"),
    // With NULL, bounds are not truncated.
    Row::new("statistics_truncate_length", "truncate_bounds").with_null("4294967295"),
    Row::new("statistics_enabled", "statistics"),
    // DataFusion puts the level in parentheses, and the text may have quotes: `'zstd(3)'`.
    Row::new("compression", "compression")
        .with_default()
        .translated(|ours, value| {
            let text = value.replace(['\'', ')'], "");
            (ours, text.replacen('(', ":", 1))
        }),
    // For DataFusion, a dictionary is one of the encodings.
    Row::new("encoding", "encoding").translated(|ours, value| {
        match value.to_lowercase().ends_with("_dictionary") {
            true => ("dictionary", "on".to_owned()),
            false => (ours, value.to_owned()),
        }
    }),
    Row::new("max_row_group_size", "row_group_rows").with_default(),
    Row::new("max_row_group_bytes", "row_group_bytes"),
    Row::new("writer_version", "data_page_version").with_default(),
    Row::new("created_by", "created_by"),
    // This is a switch that is off by default, so any other value turns it on.
    Row::new("skip_arrow_metadata", "arrow_schema_hint")
        .translated(|ours, _| (ours, "none".into())),
];

/// The keys and values of options, in the order of their fields.
#[derive(Default)]
struct Entries(Vec<(String, Option<String>)>);

impl Entries {
    fn of(options: &impl ConfigField) -> Self {
        let mut entries = Self::default();
        options.visit(&mut entries, "", "");
        entries
    }
}

impl Visit for Entries {
    fn some<V: Display>(&mut self, key: &str, value: V, _: &'static str) {
        let key = key.trim_start_matches('.').to_owned();
        self.0.push((key, Some(value.to_string())));
    }

    fn none(&mut self, key: &str, _: &'static str) {
        self.0.push((key.trim_start_matches('.').to_owned(), None));
    }
}

/// Rejects options for writes that are wrong or not supported.
///
/// # Errors
/// Fails with Configuration, with the option's name.
pub(crate) fn check(options: &TableParquetOptions) -> Result<()> {
    write_options(options).map(drop)
}

/// Returns a writer's options. If an option has the engine's default in the session, the writer
/// chooses by itself.
///
/// # Errors
/// Fails with Configuration if an option has a wrong value.
pub(crate) fn write_options(options: &TableParquetOptions) -> Result<WriteOptions> {
    let global = &options.global;
    let mut write = WriteOptions::new();
    let defaults = Entries::of(&ParquetOptions::default()).0;
    for (entry, default) in Entries::of(global).0.iter().zip(&defaults) {
        let (key, value) = entry;
        let row = row(key).filter(|row| row.takes_default || entry != default);
        if let Some((ours, text)) = row.and_then(|row| row.ours(value.as_deref())) {
            write.set(ours, &text).map_err(|error| wrong(key, &error))?;
        }
    }
    write.columns.bloom_filter = bloom_filter(&ParquetColumnOptions {
        bloom_filter_enabled: Some(global.bloom_filter_on_write),
        bloom_filter_fpp: global.bloom_filter_fpp,
        bloom_filter_ndv: global.bloom_filter_ndv,
        ..Default::default()
    });
    for (name, column) in columns(options)? {
        write = write.column(name, column);
    }
    let chunking = &global.content_defined_chunking;
    if chunking.enabled {
        let sizes = ContentDefinedChunking::new()
            .min_chunk_bytes(chunking.min_chunk_size)
            .max_chunk_bytes(chunking.max_chunk_size)
            .norm_level(chunking.norm_level);
        write = write.content_defined_chunking(sizes);
    }
    let mut pairs: Vec<_> = options.key_value_metadata.iter().collect();
    pairs.sort_unstable();
    let pairs = pairs.into_iter().map(|(key, value)| match value {
        Some(value) => KeyValue::new(key, value.as_bytes()),
        None => KeyValue::without_value(key),
    });
    Ok(write.key_value_metadata(pairs))
}

/// Returns the options of single columns.
fn columns(options: &TableParquetOptions) -> Result<BTreeMap<&str, ColumnOptions>> {
    let global = &options.global;
    let mut columns = BTreeMap::new();
    for (name, column_options) in &options.column_specific_options {
        let mut column = ColumnOptions::new();
        let single = HashMap::from([(name.clone(), column_options.clone())]);
        for (key, value) in Entries::of(&single).0 {
            let theirs = key.split_once("::").map_or(&*key, |(theirs, _)| theirs);
            let value = value.as_deref();
            if let Some((ours, text)) = value.and_then(|value| row(theirs)?.ours(Some(value))) {
                column
                    .set(ours, &text)
                    .map_err(|error| wrong(&key, &error))?;
            }
        }
        // If a column has its own rate or number, it has a filter if all columns have one. All
        // other columns inherit it from the writer.
        let (rate, distinct) = (
            column_options.bloom_filter_fpp,
            column_options.bloom_filter_ndv,
        );
        let has_own = rate.is_some() || distinct.is_some();
        column.bloom_filter = bloom_filter(&ParquetColumnOptions {
            bloom_filter_enabled: column_options
                .bloom_filter_enabled
                .or(has_own.then_some(global.bloom_filter_on_write)),
            bloom_filter_fpp: rate.or(global.bloom_filter_fpp),
            bloom_filter_ndv: distinct.or(global.bloom_filter_ndv),
            ..Default::default()
        });
        columns.insert(name.as_str(), column);
    }
    Ok(columns)
}

/// Applies the session options under the prefix `herringbone.write`, which win over DataFusion's.
///
/// # Errors
/// Fails with Configuration if an option has a wrong value.
pub(crate) fn of_session(
    session: Option<&HerringboneOptions>,
    mut write: WriteOptions,
) -> Result<WriteOptions> {
    for (key, value) in session.iter().flat_map(|session| &session.write) {
        let set = match key.split_once("::") {
            None => write.set(key, value),
            Some((name, column)) => {
                let mut options = ColumnOptions::new();
                let set = options.set(name, value);
                let selector = ColumnSelector::Pattern(column.to_owned());
                write.overrides.push((selector, options));
                set
            }
        };
        set.map_err(|error| wrong(key, &error))?;
    }
    Ok(write)
}

/// Fails unless the writer has this option with this value. The key may also be an option of
/// columns, followed by two colons.
///
/// # Errors
/// Fails with Configuration, with the possible names or values.
pub(crate) fn check_session(key: &str, value: &str) -> Result<()> {
    let checked = match key.split_once("::") {
        None => WriteOption::named(key).and_then(|option| option.check(value)),
        Some((name, _)) => ColumnOptions::new().set(name, value),
    };
    checked.map_err(|error| wrong(key, &error))
}

fn row(theirs: &str) -> Option<&'static Row> {
    OPTIONS.iter().find(|row| row.theirs == theirs)
}

fn wrong(key: &str, error: &Error) -> DataFusionError {
    config_datafusion_err!(
        "Invalid value of the parquet option {key}: {}",
        error.message()
    )
}

fn bloom_filter(options: &ParquetColumnOptions) -> Option<BloomFilterOptions> {
    let is_enabled = options.bloom_filter_enabled == Some(true);
    is_enabled.then(|| {
        let mut filter = BloomFilterOptions::new(options.bloom_filter_fpp.unwrap_or(0.05));
        filter.distinct_values = options.bloom_filter_ndv;
        filter
    })
}

#[cfg(test)]
mod tests {
    use herringbone::StatisticsLevel;
    use herringbone::format::Encoding;

    use super::*;

    fn set(pairs: &[(&str, &str)]) -> Result<WriteOptions> {
        let mut options = TableParquetOptions::default();
        for (key, value) in pairs {
            options.set(key, value)?;
        }
        write_options(&options)
    }

    #[test]
    fn each_row_is_an_option_of_both() {
        let theirs = Entries::of(&ParquetOptions::default()).0;
        for row in OPTIONS {
            assert!(
                theirs.iter().any(|(key, _)| key == row.theirs),
                "{}",
                row.theirs
            );
            WriteOption::named(row.ours).unwrap();
        }
    }

    #[test]
    fn a_session_takes_each_option_of_the_writer() {
        for option in WriteOption::ALL {
            let value = match option.choices().pop() {
                Some(choice) => choice,
                None if option.check("on").is_ok() => "on".to_owned(),
                None => "7".to_owned(),
            };
            let mut session = HerringboneOptions::default();
            let key = format!("write.{}", option.name);
            datafusion_common::config::ExtensionOptions::set(&mut session, &key, &value).unwrap();
            of_session(Some(&session), WriteOptions::new()).unwrap();
            assert_eq!(
                check_session(&format!("{}::a", option.name), &value).is_ok(),
                option.is_of_columns()
            );
        }
        assert!(check_session("colour", "red").is_err());
        assert!(check_session("prefer", "red").is_err());
    }

    #[test]
    fn values_of_the_engine_are_translated() {
        let write = set(&[
            ("compression", "'ZSTD(5)'"),
            ("statistics_enabled", "NONE"),
            ("encoding", "ALP"),
            ("writer_version", "2.0"),
            ("compression::w", "zstd:3"),
            ("encoding::w", "rle_dictionary"),
            ("statistics_truncate_length", "9"),
        ])
        .unwrap();
        assert_eq!(write.columns.compression, Some("zstd:5".parse().unwrap()));
        assert_eq!(write.columns.statistics, Some(StatisticsLevel::None));
        assert_eq!(write.columns.encoding, Some(Encoding::Alp));
        assert_eq!(write.columns.truncate_bounds, Some(9));
        assert_eq!(write.data_page_version, Some("2".parse().unwrap()));
        let mut w_options = ColumnOptions::new();
        w_options.compression = Some("zstd:3".parse().unwrap());
        w_options.dictionary = Some(true);
        assert_eq!(
            write.overrides,
            [(ColumnSelector::Pattern("w".into()), w_options)]
        );
    }

    #[test]
    fn defaults_of_the_engine_let_the_writer_choose() {
        let write = set(&[]).unwrap();
        let mut expected = ColumnOptions::new();
        expected.compression = Some("zstd:3".parse().unwrap());
        assert_eq!(write.columns, expected);
        assert_eq!(write.row_group_rows, 1 << 20);
        assert_eq!(write.row_group_bytes, WriteOptions::DEFAULT_ROW_GROUP_BYTES);
        assert_eq!(write.created_by, WriteOptions::new().created_by);
    }
}

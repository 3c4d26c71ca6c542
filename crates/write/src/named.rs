//! Writer options, keyed by name. The command, the Python bindings and the engines all share this table.
//!
//! A row is named after a field in [`WriteOptions`] or [`ColumnOptions`], and parses the field's value from text. If a
//! host's users know another name or value, the host translates it before looking into this table.

use herringbone_core::compression::Compression;
use herringbone_format::{Encoding, Error, Result};
use herringbone_schema::{EmptyStructs, HintPolicy};

use super::content_defined::ContentDefinedChunking;
use super::names::{choose, number, size};
use super::options::{
    ColumnOptions, Compatibility, DataPageVersion, Prefer, StatisticsLevel, WriteOptions,
};

/// A writer option that can be set by name. Use this to pass options through from a command line, a configuration file
/// or another language.
///
/// ```
/// use herringbone::{WriteOption, WriteOptions};
///
/// let mut options = WriteOptions::new();
/// options.set("compression", "zstd:3")?;
/// options.set("row_group_bytes", "64MiB")?;
/// assert_eq!(options.row_group_bytes, 64 << 20);
/// let row = WriteOption::named("statistics")?;
/// assert_eq!(row.choices(), ["none", "counts", "chunk", "page"]);
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct WriteOption {
    /// The option's field name.
    pub name: &'static str,
    /// The kind of value the option takes.
    pub kind: OptionKind,
    /// The default value, or how the writer chooses one.
    pub default: &'static str,
    /// The option's purpose, in one sentence without a period. Used in help texts.
    pub help: &'static str,
    choices: fn() -> Vec<String>,
    set: Set,
}

/// The kind of value that an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OptionKind {
    /// `on` or `off`, or equivalently `true` or `false`.
    Switch,
    /// A number.
    Count,
    /// A size in bytes, for example `65536` or `64KiB`.
    Bytes,
    /// One of [`WriteOption::choices`].
    Choice,
    /// One of [`WriteOption::choices`]. If the codec has levels, a level can follow after a colon, as in `zstd:9`.
    Codec,
    /// `on`, or two sizes, as in `256KiB..1MiB`.
    Sizes,
    /// A share between 0 and 1. If the number of distinct values is known, it can follow after a colon, as in
    /// `0.01:5000`.
    Share,
    /// Any text.
    Text,
}

#[derive(Debug, Clone, Copy)]
enum Set {
    Column(fn(&mut ColumnOptions, &str) -> Result<()>),
    File(fn(&mut WriteOptions, &str) -> Result<()>),
}

/// Makes a row. `$read` parses the field's value from text, or fails.
macro_rules! row {
    (
        $on:ident $set:ident [$($field:ident).+ $name:ident]
        $kind:ident $(($choices:expr))? $default:literal $help:literal $read:expr
    ) => {
        WriteOption {
            name: stringify!($name),
            kind: OptionKind::$kind,
            default: $default,
            help: $help,
            choices: row!(@choices $($choices)?),
            set: Set::$set(|options: &mut $on, text: &str| {
                options.$($field).+ = $read(text)?.into();
                Ok(())
            }),
        }
    };
    (@choices) => { Vec::new };
    (@choices $choices:expr) => { || $choices.iter().map(ToString::to_string).collect() };
}

/// Makes a row for a column option.
macro_rules! column {
    ($name:ident $($rest:tt)*) => { row!(ColumnOptions Column [$name $name] $($rest)*) };
}

/// Makes a row for a whole-file option.
macro_rules! file {
    ($name:ident $($rest:tt)*) => { row!(WriteOptions File [$name $name] $($rest)*) };
}

/// Makes a row for a type mapping option.
macro_rules! schema {
    ($name:ident $($rest:tt)*) => { row!(WriteOptions File [schema.$name $name] $($rest)*) };
}

impl WriteOption {
    /// All options, starting with the column options.
    #[rustfmt::skip]
    pub const ALL: &'static [Self] = &[
        column!(compression Codec(Compression::NAMES) "zstd:1"
            "Codec of pages, with a level as in `zstd:9`"
            str::parse::<Compression>),
        column!(encoding Choice(value_encodings()) "chosen from a sample of the values"
            "Encoding of values outside dictionaries"
            value_encoding),
        column!(dictionary Switch "chosen from a sample of the values, but off if an encoding is given"
            "Use a dictionary as long as it saves bytes"
            switch),
        column!(dictionary_bytes Bytes "1MiB"
            "Maximum size of a dictionary"
            size),
        column!(statistics Choice(StatisticsLevel::ALL) "page"
            "Statistics to write: `none`, `counts` (nulls only), `chunk` (plus min/max by row group), `page` (plus min/max by \
             page)"
            str::parse::<StatisticsLevel>),
        column!(distinct_counts Switch "on"
            "Write the numbers of distinct values of column chunks whose values are all in a dictionary"
            switch),
        column!(truncate_bounds Count "64"
            "Maximum number of bytes of strings and binary values in statistics"
            at_least_one),
        column!(bloom_filter Share "none"
            "Bloom filter with this share of false positives"
            |text: &str| text.parse().map(Some)),
        column!(page_bytes Bytes "1MiB"
            "Approximate size of the values per page"
            size),
        column!(page_rows Count "32768"
            "Maximum number of rows per page"
            at_least_one),
        file!(row_group_rows Count "1048576"
            "Maximum number of rows per row group"
            at_least_one),
        file!(row_group_bytes Bytes "128MiB"
            "Approximate size of a row group in the file"
            size),
        file!(content_defined_chunking Sizes "off"
            "End pages by their content, so that an insertion changes few pages: `on`, or the sizes before encoding \
             between which pages end, as in `256KiB..1MiB`, which is that of `on`. Rows and bytes of a page limit it \
             only if given"
            chunking),
        file!(data_page_version Choice(DataPageVersion::ALL) "that of the compatibility"
            "Version of data pages"
            |text: &str| text.parse::<DataPageVersion>().map(Some)),
        file!(compatibility Choice(Compatibility::ALL) "widest"
            "Readers that must be able to read the file: `widest` (every reader of the last ten years), `modern` \
             (smaller files, for readers of the last two years), `newest` (all features of the format, including ALP, \
             for readers known to support them)"
            str::parse::<Compatibility>),
        file!(prefer Choice(Prefer::ALL) "balanced"
            "Choose encodings for small files (`size`), fast reading (`read_speed`) or both (`balanced`). If given, \
             pages that would hardly shrink stay uncompressed, even with a codec"
            |text: &str| text.parse::<Prefer>().map(Some)),
        file!(format_version Choice(["1", "2"]) "1"
            "Version of the format that the footer declares; readers ignore it"
            |text: &str| choose("format version", text, &[("1", 1), ("2", 2)])),
        file!(page_index Switch "on"
            "Write offset and column indexes"
            switch),
        file!(crc Switch "on"
            "Write checksums of pages"
            switch),
        file!(memory_bytes Bytes "512MiB"
            "Memory that the writer may reserve before it ends a row group early"
            size),
        file!(allow_out_of_range Switch "off"
            "Write invalid values unchanged: decimals with too many digits, and times of day outside a day"
            switch),
        file!(created_by Text "the name and version of the library"
            "Program that writes the file"
            |text: &str| Ok::<_, Error>(text.to_owned())),
        file!(threads Count "0"
            "Number of threads that encode; 0 means one per core"
            number::<usize>),
        schema!(int96_timestamps Switch "off"
            "Write timestamps of nanoseconds as INT96, which is deprecated"
            switch),
        schema!(times_adjusted_to_utc Switch "off"
            "Declare times of day as times of UTC"
            switch),
        schema!(decimals_as_fixed Switch "off"
            "Write decimals of up to 18 digits as FIXED_LEN_BYTE_ARRAY too, instead of INT32 and INT64"
            switch),
        schema!(empty_structs Choice(names_of(EMPTY_STRUCTS)) "error"
            "Treatment of a struct without fields, for which Parquet has no form: `error`, or `unknown_leaf`, which is \
             a field of nulls"
            |text: &str| choose("treatment of empty structs", text, EMPTY_STRUCTS)),
        schema!(arrow_schema_hint Choice(names_of(HINTS)) "needed"
            "Condition for writing the Arrow schema to the file"
            |text: &str| choose("condition", text, HINTS)),
    ];

    /// Returns the option with this name.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if no option has this name.
    pub fn named(name: &str) -> Result<&'static Self> {
        let known = Self::ALL.iter().find(|it| it.name == name);
        known.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|it| it.name).collect();
            Error::argument(format!(
                "unknown option `{name}`; use one of: {}",
                names.join(", ")
            ))
        })
    }

    /// Returns true if the option can be set per column.
    #[must_use]
    pub fn is_of_columns(&self) -> bool {
        matches!(self.set, Set::Column(_))
    }

    /// Returns the option's possible values, or nothing if there are too many to list.
    #[must_use]
    pub fn choices(&self) -> Vec<String> {
        (self.choices)()
    }

    /// Checks that the option accepts this value.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if it does not. The message names the possible
    /// values.
    pub fn check(&self, text: &str) -> Result<()> {
        match self.set {
            Set::Column(set) => set(&mut ColumnOptions::new(), text),
            Set::File(set) => set(&mut WriteOptions::new(), text),
        }
    }
}

impl ColumnOptions {
    /// Sets the named option. [`WriteOption::ALL`] lists the options.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if there is no such column option, or if it
    /// does not accept this value.
    pub fn set(&mut self, name: &str, text: &str) -> Result<()> {
        match WriteOption::named(name)?.set {
            Set::Column(set) => set(self, text).map_err(|error| named(error, name)),
            Set::File(_) => Err(Error::argument(format!(
                "`{name}` applies to the whole file; a column cannot have a value of its own"
            ))),
        }
    }
}

impl WriteOptions {
    /// Sets the named option. A column option is set for all columns. [`WriteOption::ALL`] lists the options.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if there is no such option, or if it does not
    /// accept this value.
    pub fn set(&mut self, name: &str, text: &str) -> Result<()> {
        match WriteOption::named(name)?.set {
            Set::Column(set) => set(&mut self.columns, text),
            Set::File(set) => set(self, text),
        }
        .map_err(|error| named(error, name))
    }
}

/// Adds the option's name to an error.
fn named(error: Error, name: &str) -> Error {
    Error::argument(format!("{name}: {}", error.message()))
}

const EMPTY_STRUCTS: &[(&str, EmptyStructs)] = &[
    ("error", EmptyStructs::Error),
    ("unknown_leaf", EmptyStructs::UnknownLeaf),
];

const HINTS: &[(&str, HintPolicy)] = &[
    ("needed", HintPolicy::Needed),
    ("all", HintPolicy::All),
    ("none", HintPolicy::None),
];

fn names_of<T>(values: &[(&'static str, T)]) -> Vec<&'static str> {
    values.iter().map(|(name, _)| *name).collect()
}

/// Returns the names of value encodings. Dictionaries aren't included, since they have an option of their own.
fn value_encodings() -> Vec<String> {
    use Encoding::{PlainDictionary, RleDictionary};
    let encodings = Encoding::ALL.iter();
    encodings
        .filter(|encoding| {
            !encoding.serves().is_empty() && ![PlainDictionary, RleDictionary].contains(encoding)
        })
        .map(|encodings| encodings.to_string().to_lowercase())
        .collect()
}

fn value_encoding(text: &str) -> Result<Encoding> {
    let names = value_encodings();
    let values = names.iter().map(|name| Ok((name.as_str(), name.parse()?)));
    choose("encoding", text, &values.collect::<Result<Vec<_>>>()?)
}

fn switch(text: &str) -> Result<bool> {
    let values = [
        ("on", true),
        ("off", false),
        ("true", true),
        ("false", false),
    ];
    choose("choice", text, &values)
        .map_err(|_| Error::argument(format!("unknown choice `{text}`; use one of: on, off")))
}

fn at_least_one(text: &str) -> Result<usize> {
    match number(text)? {
        0 => Err(Error::argument("must be at least 1")),
        number => Ok(number),
    }
}

fn chunking(text: &str) -> Result<Option<ContentDefinedChunking>> {
    match text {
        "off" => Ok(None),
        _ => text.parse().map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a non-default value of the option's kind.
    fn example(option: &WriteOption) -> String {
        match option.kind {
            OptionKind::Switch => if option.default == "on" { "off" } else { "on" }.to_owned(),
            OptionKind::Count => "7".to_owned(),
            OptionKind::Bytes => "3MiB".to_owned(),
            OptionKind::Sizes => "1KiB..2KiB".to_owned(),
            OptionKind::Share => "0.25:9".to_owned(),
            OptionKind::Text => "test".to_owned(),
            OptionKind::Choice | OptionKind::Codec => {
                let choices = option.choices();
                let other = choices.iter().rfind(|choice| *choice != option.default);
                other.unwrap().clone()
            }
        }
    }

    #[test]
    fn each_row_sets_a_field() {
        let shown = |options: &WriteOptions| format!("{options:?}");
        for option in WriteOption::ALL {
            let text = example(option);
            let mut options = WriteOptions::new();
            options.set(option.name, &text).unwrap();
            assert_ne!(
                shown(&options),
                shown(&WriteOptions::new()),
                "{}",
                option.name
            );
            option.check(&text).unwrap();
            let mut columns = ColumnOptions::new();
            assert_eq!(
                columns.set(option.name, &text).is_ok(),
                option.is_of_columns()
            );
            if option.is_of_columns() {
                assert_eq!(columns, options.columns);
            }
            if option.kind != OptionKind::Text {
                let error = options.set(option.name, "").unwrap_err();
                assert!(error.message().starts_with(option.name), "{error}");
            }
            for choice in option.choices() {
                option.check(&choice).unwrap();
            }
        }
    }

    #[test]
    fn defaults_that_are_values_change_no_settings() {
        for option in WriteOption::ALL {
            if option.check(option.default).is_err() || option.kind == OptionKind::Text {
                continue;
            }
            let mut options = WriteOptions::new();
            options.set(option.name, option.default).unwrap();
            let is_unset =
                |it: &WriteOptions| format!("{it:?}") == format!("{:?}", WriteOptions::new());
            // Options without a default of their own type are set by now. Their default is in settings.rs.
            assert!(
                is_unset(&options) || option.is_of_columns() || option.name == "prefer",
                "{}",
                option.name
            );
        }
    }

    #[test]
    fn values_are_those_of_the_fields() {
        let mut options = WriteOptions::new();
        for (name, text) in [
            ("compression", "zstd:3"),
            ("encoding", "ALP"),
            ("dictionary", "off"),
            ("page_bytes", "64KiB"),
            ("bloom_filter", "0.05:100"),
            ("page_index", "off"),
            ("arrow_schema_hint", "none"),
        ] {
            options.set(name, text).unwrap();
        }
        let columns = &options.columns;
        assert_eq!(columns.compression, Some("zstd:3".parse().unwrap()));
        assert_eq!(columns.encoding, Some(Encoding::Alp));
        assert_eq!(columns.dictionary, Some(false));
        assert_eq!(columns.page_bytes, Some(65_536));
        assert_eq!(columns.bloom_filter.unwrap().distinct_values, Some(100));
        assert!(!options.page_index);
        assert_eq!(options.schema.arrow_schema_hint, HintPolicy::None);
        let error = options.set("encoding", "rle_dictionary").unwrap_err();
        assert!(error.message().contains("delta_binary_packed, "), "{error}");
        let error = options.set("colour", "red").unwrap_err();
        assert!(error.message().contains("compression, encoding"), "{error}");
    }
}

//! The options for reading and printing rows.

use clap::{Args, ValueEnum};
use herringbone::ReadOptions;
use herringbone::geospatial::Geospatial;
use herringbone::schema::ByteLayout;

use super::decode::Types;
use super::{Choice, Csv, Damage, FooterChoice, Merge, TextInput, at_least_one};

/// The options for reading and printing rows.
#[derive(Debug, Args)]
pub(crate) struct Read {
    #[command(flatten)]
    format: RowFormatChoice,
    #[command(flatten)]
    pub(crate) csv: Csv,
    #[command(flatten)]
    pub(crate) text: TextInput,
    #[command(flatten)]
    pub(crate) choice: Choice,
    /// Print which rows statistics, bloom filters, dictionaries and page indexes rule out, instead of reading rows
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) merge: Merge,
    #[command(flatten)]
    pub(crate) footers: FooterChoice,
    /// Number of rows per batch, decoded at a time
    #[arg(long, value_name = "N", default_value_t = ReadOptions::DEFAULT_BATCH_SIZE)]
    #[arg(value_parser = at_least_one)]
    batch_size: usize,
    /// Number of decoding threads; 0 means one per core
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Do not check pages against their checksums
    #[arg(long)]
    ignore_crc: bool,
    #[command(flatten)]
    pub(crate) damage: Damage,
    #[command(flatten)]
    types: Types,
    /// Arrow layout of strings and bytes, for `--format arrow`
    #[arg(long, value_enum, value_name = "LAYOUT", default_value_t = Strings::Offsets)]
    strings: Strings,
}

impl Read {
    /// Returns the requested format, if any.
    pub(crate) fn format(&self) -> Option<RowFormat> {
        match &self.format {
            RowFormatChoice { json: true, .. } => Some(RowFormat::Jsonl),
            RowFormatChoice { csv: true, .. } => Some(RowFormat::Csv),
            RowFormatChoice { table: true, .. } => Some(RowFormat::Table),
            RowFormatChoice { vertical: true, .. } => Some(RowFormat::Vertical),
            choice => choice.format,
        }
    }

    /// Returns the library's options for reading, other than those in [`Choice`].
    pub(crate) fn options(&self) -> ReadOptions {
        let mut schema = self.types.schema();
        schema.strings = self.strings.into();
        let options = ReadOptions::default()
            .batch_size(self.batch_size)
            .threads(self.threads)
            .verify_crc(!self.ignore_crc)
            .schema(schema)
            .extension(Geospatial::new());
        self.damage.choose(options)
    }
}

/// The format of rows, by its name or as an option of its own.
#[derive(Debug, Args)]
struct RowFormatChoice {
    /// Output format [default: table on a terminal, jsonl otherwise]
    ///
    /// --json (for jsonl), --csv, --table and --vertical are short for it.
    #[arg(long, value_enum)]
    format: Option<RowFormat>,
    #[arg(long, hide = true, alias = "jsonl", conflicts_with_all = ["format", "csv", "table"])]
    json: bool,
    #[arg(long, hide = true, conflicts_with_all = ["format", "table"])]
    csv: bool,
    #[arg(long, hide = true, conflicts_with = "format")]
    table: bool,
    #[arg(long, hide = true, conflicts_with_all = ["format", "json", "csv", "table"])]
    vertical: bool,
}

/// Formats of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RowFormat {
    /// A table for people; long cells are truncated
    Table,
    /// A line for each value, with the name of its column; for rows with many columns
    Vertical,
    /// A table in Markdown, with all characters of each value
    Markdown,
    /// JSON lines: one object per row, lossless
    Jsonl,
    /// JSON: an array of objects, lossless
    Json,
    /// CSV with a header; lines end with LF, or as in RFC 4180 with --crlf
    Csv,
    /// CSV with tabs in place of commas
    Tsv,
    /// GeoJSON: a FeatureCollection, in longitude and latitude
    Geojson,
    /// GeoJSON: one Feature per line
    Geojsonl,
    /// An Arrow IPC stream
    Arrow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Strings {
    /// 32-bit offsets
    Offsets,
    /// 64-bit offsets
    LargeOffsets,
    /// Views
    Views,
}

impl From<Strings> for ByteLayout {
    fn from(strings: Strings) -> Self {
        match strings {
            Strings::Offsets => Self::Offsets,
            Strings::LargeOffsets => Self::LargeOffsets,
            Strings::Views => Self::Views,
        }
    }
}

//! Options for writing Parquet files.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use herringbone::format::Encoding;
use herringbone::geospatial::geoparquet::Version;
use herringbone::geospatial::{GeoParquetOptions, Geospatial};
use herringbone::schema::EmptyStructs;
use herringbone::{
    BloomFilterOptions, ColumnOptions, ColumnSelector, Compatibility, Compression,
    ContentDefinedChunking, DataPageVersion, Prefer, StatisticsLevel, WriteOptions,
};

use super::{Columns, Setting, Size, at_least_one};

/// The destination of the data.
#[derive(Debug, Clone)]
pub(crate) struct Destination {
    /// The file to write; `-` is standard output.
    pub(crate) path: PathBuf,
    /// True if an existing file is replaced.
    pub(crate) force: bool,
}

/// The destination of the data, for commands with one input.
#[derive(Debug, Args)]
pub(crate) struct OutputArgument {
    /// The file to write; `-` is standard output
    #[arg(value_name = "OUT", required_unless_present = "output")]
    out: Option<PathBuf>,
    /// Another way to name OUT
    #[arg(short, long, value_name = "OUT", conflicts_with = "out")]
    output: Option<PathBuf>,
    /// Replace OUT if it is there
    #[arg(short, long)]
    force: bool,
}

impl OutputArgument {
    /// Returns the path, as an argument or an option.
    pub(super) fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        self.out.iter_mut().chain(&mut self.output)
    }

    /// Returns the destination.
    pub(crate) fn destination(&self) -> Destination {
        let path = self.out.as_ref().or(self.output.as_ref());
        Destination {
            path: path.cloned().unwrap_or_default(),
            force: self.force,
        }
    }
}

/// The destination of the data, for commands whose positional arguments are inputs.
#[derive(Debug, Args)]
pub(crate) struct OutputOption {
    /// The file to write; `-` is standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Replace OUT if it is there
    #[arg(short, long)]
    force: bool,
}

impl OutputOption {
    /// Returns the path of the file to write.
    pub(super) fn path(&mut self) -> &mut PathBuf {
        &mut self.output
    }

    /// Returns the destination as in other commands.
    pub(crate) fn destination(&self) -> Destination {
        Destination {
            path: self.output.clone(),
            force: self.force,
        }
    }
}

/// The options for writing a Parquet file.
#[derive(Debug, Args)]
#[command(next_help_heading = "Parquet output")]
pub(crate) struct Write {
    /// Codec of pages: none, snappy, gzip, brotli, lz4_raw or zstd, with a level as in
    /// `zstd:9` [default: zstd:1]
    #[arg(long, alias = "codec", value_name = "[COLS=]CODEC")]
    compression: Vec<Setting<Compression>>,
    /// Encoding of values outside dictionaries. Without COLS=, used for every column whose type allows it [default:
    /// chosen from a sample of the values]
    #[arg(long, value_name = "[COLS=]ENCODING")]
    encoding: Vec<Setting<ValueEncoding>>,
    /// Use a dictionary as long as it saves bytes [default: chosen from a sample of the values, but off if an encoding
    /// is given]
    #[arg(long, value_name = "[COLS=]on|off")]
    dictionary: Vec<Setting<Switch>>,
    /// Maximum number of rows per row group [default: 1048576]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    row_group_rows: Option<usize>,
    /// Approximate size of a row group in the file [default: 128MiB]
    #[arg(long, value_name = "SIZE")]
    row_group_bytes: Option<Size>,
    /// Maximum number of rows per page [default: 32768]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    page_rows: Option<usize>,
    /// Approximate size of the values per page [default: 1MiB]
    #[arg(long, value_name = "SIZE")]
    page_bytes: Option<Size>,
    /// End pages by their content, so that an insertion changes few pages: `on`, or the sizes before encoding between
    /// which pages end, as in `256KiB..1MiB`, which is that of `on`. Rows and bytes of a page limit it only if given
    #[arg(long, value_name = "on|MIN..MAX")]
    content_defined_chunking: Option<Chunking>,
    /// Version of data pages [default: that of --compatibility]
    #[arg(long, value_name = "1|2")]
    page_version: Option<PageVersion>,
    /// Readers that must be able to read the file
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Readers::Widest)]
    compatibility: Readers,
    /// Choose encodings for small files (`size`), fast reading (`reading`) or both (`balanced`). May leave pages
    /// uncompressed that would hardly shrink, even if --compression names a codec
    #[arg(long, value_enum, value_name = "WHAT")]
    prefer: Option<Preference>,
    /// Statistics to write: `counts` (nulls only), `chunk` (plus min/max by row group), `page` (plus min/max by page)
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = Bounds::Page)]
    statistics: Bounds,
    /// Columns to write with a bloom filter, in addition to those that have one in Parquet input
    #[arg(long, value_name = "LIST")]
    bloom_filter: Option<Columns>,
    /// Write no bloom filters, even if the input has some
    #[arg(long, conflicts_with = "bloom_filter")]
    no_bloom_filter: bool,
    /// False-positive rate of bloom filters, between 0 and 1
    #[arg(long, value_name = "SHARE", default_value_t = BloomFilterOptions::default().false_positives)]
    #[arg(value_parser = share)]
    bloom_filter_fpp: f64,
    /// Write GeoParquet metadata of this version: 1.0 and 1.1 for readers that do not know GEOMETRY, 2.0
    /// for those that do [default: that of Parquet input, if it has some]
    #[arg(long, value_name = "1.0|1.1|2.0", value_parser = geoparquet_version)]
    geoparquet: Option<Version>,
    /// Add a column of bounding boxes for each geometry column, by which readers skip pages
    #[arg(long, requires = "geoparquet")]
    covering: bool,
    /// Write a struct without fields, for which Parquet has no form, with one field of nulls
    #[arg(long)]
    fill_empty_structs: bool,
    /// Write invalid values unchanged: decimals with too many digits, and times of day outside a day
    #[arg(long)]
    allow_out_of_range: bool,
    /// Write no offset and column indexes
    #[arg(long)]
    no_page_index: bool,
    /// Write no page checksums
    #[arg(long)]
    no_crc: bool,
}

impl Write {
    /// Returns true if any option was given.
    pub(crate) fn is_given(&self) -> bool {
        !self.compression.is_empty()
            || !self.encoding.is_empty()
            || !self.dictionary.is_empty()
            || self.row_group_rows.is_some()
            || self.row_group_bytes.is_some()
            || self.page_rows.is_some()
            || self.page_bytes.is_some()
            || self.content_defined_chunking.is_some()
            || self.page_version.is_some()
            || self.compatibility != Readers::Widest
            || self.prefer.is_some()
            || self.statistics != Bounds::Page
            || self.bloom_filter.is_some()
            || self.no_bloom_filter
            || self.geoparquet.is_some()
            || self.fill_empty_structs
            || self.allow_out_of_range
            || self.no_page_index
            || self.no_crc
    }

    /// Returns true if geometries are written without annotation, even if they had one.
    pub(crate) fn has_plain_geometries(&self) -> bool {
        self.geoparquet
            .is_some_and(|version| version < Version::V2_0)
    }

    /// Returns the extension for writing geometries.
    fn geospatial(&self) -> Geospatial {
        let all = Geospatial::new();
        match self.geoparquet {
            None => all,
            Some(version) => {
                all.geoparquet(GeoParquetOptions::new(version).covering(self.covering))
            }
        }
    }

    /// Returns true if columns that had a bloom filter get one.
    pub(crate) fn keeps_bloom_filters(&self) -> bool {
        !self.no_bloom_filter
    }

    /// Returns true if an option may set the encoding or dictionary of a column.
    pub(crate) fn may_set_encoding(&self, path: &[String]) -> bool {
        // Columns may be given without the groups that only form a list or a map, so only the first names are compared.
        let includes = |columns: &Option<Columns>| {
            let mut paths = columns.iter().flat_map(|it| &it.paths);
            columns.is_none() || paths.any(|it| it.first() == path.first())
        };
        self.encoding.iter().any(|it| includes(&it.columns))
            || self.dictionary.iter().any(|it| includes(&it.columns))
    }

    /// Returns the options of bloom filters.
    pub(crate) fn bloom_filter(&self) -> BloomFilterOptions {
        BloomFilterOptions::new(self.bloom_filter_fpp)
    }

    /// Returns the options for the library, except those of sorting.
    pub(crate) fn options(&self, threads: usize) -> WriteOptions {
        let mut options = WriteOptions::new()
            .compatibility(self.compatibility.into())
            .page_index(!self.no_page_index)
            .crc(!self.no_crc)
            .allow_out_of_range(self.allow_out_of_range)
            .threads(threads);
        if self.fill_empty_structs {
            options.schema.empty_structs = EmptyStructs::UnknownLeaf;
        }
        options.prefer = self.prefer.map(Prefer::from);
        options.columns.statistics = Some(self.statistics.into());
        options.columns.page_rows = self.page_rows;
        options.columns.page_bytes = self.page_bytes.map(|size| size.0);
        options.content_defined_chunking = self.content_defined_chunking.map(|it| it.0);
        options.data_page_version = self.page_version.map(|version| version.0);
        if let Some(rows) = self.row_group_rows {
            options.row_group_rows = rows;
        }
        if let Some(size) = self.row_group_bytes {
            options.row_group_bytes = size.0;
        }
        for (selector, columns) in self.everywhere().into_iter().chain(self.somewhere()) {
            options = options.column_override(selector, columns);
        }
        self.geospatial().write_options(options)
    }

    /// Returns the choices for all columns.
    fn everywhere(&self) -> Vec<(ColumnSelector, ColumnOptions)> {
        let all = || ColumnSelector::Pattern("*".into());
        let new = ColumnOptions::new;
        let mut chosen = Vec::new();
        for setting in self.encoding.iter().filter(|it| it.columns.is_none()) {
            let encoding = setting.value.0;
            let types = encoding.serves().iter().copied();
            let selectors = types.map(ColumnSelector::PhysicalType);
            chosen.extend(selectors.map(|it| (it, new().encoding(encoding))));
        }
        for setting in self.dictionary.iter().filter(|it| it.columns.is_none()) {
            chosen.push((all(), new().dictionary(setting.value == Switch::On)));
        }
        for setting in self.compression.iter().filter(|it| it.columns.is_none()) {
            chosen.push((all(), new().compression(setting.value)));
        }
        chosen
    }

    /// Returns the choices for some columns.
    fn somewhere(&self) -> Vec<(ColumnSelector, ColumnOptions)> {
        let new = ColumnOptions::new;
        let mut chosen = Vec::new();
        let mut add = |columns: Option<&Columns>, options: ColumnOptions| {
            for path in columns.iter().flat_map(|columns| &columns.paths) {
                chosen.push((ColumnSelector::Path(path.clone()), options.clone()));
            }
        };
        for setting in &self.encoding {
            let options = new().encoding(setting.value.0);
            add(setting.columns.as_ref(), options);
        }
        for setting in &self.dictionary {
            let options = new().dictionary(setting.value == Switch::On);
            add(setting.columns.as_ref(), options);
        }
        for setting in &self.compression {
            let options = new().compression(setting.value);
            add(setting.columns.as_ref(), options);
        }
        let filter = new().bloom_filter(self.bloom_filter());
        add(self.bloom_filter.as_ref(), filter);
        chosen
    }
}

/// An encoding of values. Dictionaries have a separate option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ValueEncoding(Encoding);

impl ValueEncoding {
    /// Returns all encodings, with their names in the command.
    fn all() -> impl Iterator<Item = (String, Self)> {
        use Encoding::{PlainDictionary, RleDictionary};
        let encodings = Encoding::ALL.iter().copied();
        encodings
            .filter(|it| !it.serves().is_empty() && ![PlainDictionary, RleDictionary].contains(it))
            .map(|it| (it.to_string().to_lowercase(), Self(it)))
    }
}

impl std::str::FromStr for ValueEncoding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Self::all().find(|(name, _)| name.eq_ignore_ascii_case(text));
        known.map(|(_, encoding)| encoding).ok_or_else(|| {
            let names: Vec<String> = Self::all().map(|(name, _)| name).collect();
            format!(
                "unknown encoding `{text}`; use one of: {}",
                names.join(", ")
            )
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

impl std::str::FromStr for Switch {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        <Self as ValueEnum>::from_str(text, true)
            .map_err(|_| format!("unknown choice `{text}`; use one of: on, off"))
    }
}

#[derive(Debug, Clone, Copy)]
struct PageVersion(DataPageVersion);

impl std::str::FromStr for PageVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "1" => Ok(Self(DataPageVersion::V1)),
            "2" => Ok(Self(DataPageVersion::V2)),
            _ => Err(format!("unknown page version `{text}`; use one of: 1, 2")),
        }
    }
}

/// The sizes of pages that end by their content.
#[derive(Debug, Clone, Copy)]
struct Chunking(ContentDefinedChunking);

impl std::str::FromStr for Chunking {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let chunking = ContentDefinedChunking::new();
        if text == "on" {
            return Ok(Self(chunking));
        }
        let (min, max) = text.split_once("..").ok_or_else(|| {
            format!("`{text}` is not two sizes; use `on`, or sizes as in `256KiB..1MiB`")
        })?;
        let (min, max): (Size, Size) = (min.parse()?, max.parse()?);
        if min.0 >= max.0 {
            return Err(format!(
                "the sizes of `{text}` do not ascend; put the smaller size first"
            ));
        }
        Ok(Self(chunking.min_chunk_bytes(min.0).max_chunk_bytes(max.0)))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Readers {
    /// Every reader of the last ten years
    Widest,
    /// Smaller files, for readers of the last two years
    Modern,
    /// All features of the format, including ALP, for readers known to support them
    Newest,
}

impl From<Readers> for Compatibility {
    fn from(readers: Readers) -> Self {
        match readers {
            Readers::Widest => Self::Widest,
            Readers::Modern => Self::Modern,
            Readers::Newest => Self::Newest,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Preference {
    /// The smallest file
    Size,
    /// The fastest reads from storage of about 50 MB/s
    Balanced,
    /// The fastest reads from storage of about 500 MB/s
    Reading,
}

impl From<Preference> for Prefer {
    fn from(preference: Preference) -> Self {
        match preference {
            Preference::Size => Self::Size,
            Preference::Balanced => Self::Balanced,
            Preference::Reading => Self::ReadSpeed,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Bounds {
    /// Null counts only
    Counts,
    /// Null counts, and bounds of column chunks
    Chunk,
    /// Null counts, and bounds of column chunks and pages
    Page,
}

impl From<Bounds> for StatisticsLevel {
    fn from(bounds: Bounds) -> Self {
        match bounds {
            Bounds::Counts => Self::Counts,
            Bounds::Chunk => Self::Chunk,
            Bounds::Page => Self::Page,
        }
    }
}

fn geoparquet_version(text: &str) -> Result<Version, String> {
    match text {
        "1.0" => Ok(Version::V1_0),
        "1.1" => Ok(Version::V1_1),
        "2.0" => Ok(Version::V2_0),
        _ => Err("expected 1.0, 1.1 or 2.0".into()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("expected a number between 0 and 1".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The help text must describe each encoding.
    #[test]
    fn every_encoding_is_in_the_help() {
        for (name, encoding) in ValueEncoding::all() {
            assert!(super::super::help::REWRITE.contains(&name), "{name}");
            assert_eq!(name.parse(), Ok(encoding));
        }
        assert!("rle_dictionary".parse::<ValueEncoding>().is_err());
    }
}

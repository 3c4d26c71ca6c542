//! The options for writing Parquet files.

use std::path::PathBuf;

use clap::Args;
use herringbone::geospatial::geoparquet::Version;
use herringbone::geospatial::{GeoParquetOptions, Geospatial};
use herringbone::schema::EmptyStructs;
use herringbone::{BloomFilterOptions, ColumnOptions, ColumnSelector, WriteOptions};

use super::Columns;
use super::named::Named;

/// The file to write, and whether it may replace another.
#[derive(Debug, Clone)]
pub(crate) struct Destination {
    /// The path of the file to write; `-` is standard output.
    pub(crate) path: PathBuf,
    /// True if an existing file may be replaced.
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
    /// Returns the output's path, whether it was given as an argument or as an option.
    pub(super) fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        self.out.iter_mut().chain(&mut self.output)
    }

    /// Returns the destination of the command's data.
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

    /// Returns the destination in the commands' common form.
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
    #[command(flatten)]
    named: Named,
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
}

impl Write {
    /// Returns true if the user gave one of these options.
    pub(crate) fn is_given(&self) -> bool {
        self.named.is_given
            || self.bloom_filter.is_some()
            || self.no_bloom_filter
            || self.geoparquet.is_some()
            || self.fill_empty_structs
    }

    /// Returns true if geometries are written without an annotation, even if they had one.
    /// GeoParquet versions before 2.0 require this.
    pub(crate) fn has_plain_geometries(&self) -> bool {
        self.geoparquet
            .is_some_and(|version| version < Version::V2_0)
    }

    /// Returns the extension for writing geometries in the chosen form.
    fn geospatial(&self) -> Geospatial {
        let all = Geospatial::new();
        match self.geoparquet {
            None => all,
            Some(version) => {
                all.geoparquet(GeoParquetOptions::new(version).covering(self.covering))
            }
        }
    }

    /// Returns true if columns keep their bloom filters from the input.
    pub(crate) fn keeps_bloom_filters(&self) -> bool {
        !self.no_bloom_filter
    }

    /// Returns true if an option might set a column's encoding or dictionary.
    pub(crate) fn may_set_encoding(&self, path: &[String]) -> bool {
        // Users can leave out groups that only form a list or a map, so paths don't have to match
        // exactly. We only compare the first names, since it's safe to err on the side of caution
        // here.
        self.named.encoded.iter().any(|columns| {
            let mut paths = columns.iter().flat_map(|column| &column.paths);
            columns.is_none() || paths.any(|other| other.first() == path.first())
        })
    }

    /// Returns the options for bloom filters.
    pub(crate) fn bloom_filter(&self) -> BloomFilterOptions {
        BloomFilterOptions::new(self.bloom_filter_fpp)
    }

    /// Returns the library's options for writing, except for the sort order.
    pub(crate) fn options(&self, threads: usize) -> WriteOptions {
        let mut options = self.named.options.clone().threads(threads);
        if self.fill_empty_structs {
            options.schema.empty_structs = EmptyStructs::UnknownLeaf;
        }
        let filter = ColumnOptions::new().bloom_filter(self.bloom_filter());
        for path in self.bloom_filter.iter().flat_map(|columns| &columns.paths) {
            let selector = ColumnSelector::Path(path.clone());
            options = options.column_override(selector, filter.clone());
        }
        self.geospatial().write_options(options)
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

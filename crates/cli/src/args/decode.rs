//! The options for decoding Parquet files.

use clap::{Args, ValueEnum};
use herringbone::geospatial::Geospatial;
use herringbone::{Int96Overflow, ReadOptions, SchemaOptions};
use herringbone_arrow::schema::TimeUnit;

use super::Columns;

/// The options for reading Parquet files in order to write them again.
#[derive(Debug, Args)]
pub(crate) struct Decode {
    /// Number of decoding and encoding threads; 0 means one per core
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Do not check the pages of IN against their checksums
    #[arg(long)]
    ignore_crc: bool,
    #[command(flatten)]
    types: Types,
}

impl Decode {
    /// Returns the library's options for reading.
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions::default()
            .threads(self.threads)
            .verify_crc(!self.ignore_crc)
            .schema(self.types.schema())
            .extension(Geospatial::new())
    }
}

/// The options for the types of columns.
#[derive(Debug, Args)]
pub(super) struct Types {
    /// Take types from the Parquet schema alone, not from an Arrow schema in the file
    #[arg(long)]
    no_arrow_schema: bool,
    #[command(flatten)]
    int96: Int96,
    /// Columns to read as they are stored, and maps to read as lists of structs, e.g. if an interval
    /// is too long or a key is null
    #[arg(long, value_name = "LIST")]
    ignore_annotations: Option<Columns>,
}

impl Types {
    /// Returns the library's options for types.
    pub(super) fn schema(&self) -> SchemaOptions {
        let mut options = SchemaOptions::default();
        options.use_arrow_schema = !self.no_arrow_schema;
        self.int96.choose(&mut options);
        if let Some(columns) = &self.ignore_annotations {
            options.ignore_annotations = columns.paths.clone();
        }
        options
    }
}

/// The options for INT96 timestamps.
#[derive(Debug, Args)]
struct Int96 {
    /// Unit of INT96 timestamps; ns covers 1677 to 2262 [default: the finest unit that can represent all of them]
    #[arg(long, value_enum, value_name = "UNIT")]
    int96_unit: Option<Unit>,
    /// Handling of INT96 timestamps that do not fit their unit, or ns without a unit [default: error]
    #[arg(long, value_enum, value_name = "WHAT")]
    int96_overflow: Option<Overflow>,
}

impl Int96 {
    fn choose(&self, options: &mut SchemaOptions) {
        options.int96_unit = self.int96_unit.unwrap_or(Unit::Ns).into();
        options.int96_overflow = match (self.int96_unit, self.int96_overflow) {
            (None, None) => Int96Overflow::CoarserUnit,
            (_, overflow) => overflow.unwrap_or(Overflow::Error).into(),
        };
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Unit {
    S,
    Ms,
    Us,
    Ns,
}

impl From<Unit> for TimeUnit {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::S => Self::Second,
            Unit::Ms => Self::Millisecond,
            Unit::Us => Self::Microsecond,
            Unit::Ns => Self::Nanosecond,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Overflow {
    /// They are an error
    Error,
    /// They become null
    Null,
    /// They wrap around
    Wrap,
}

impl From<Overflow> for Int96Overflow {
    fn from(overflow: Overflow) -> Self {
        match overflow {
            Overflow::Error => Self::Error,
            Overflow::Null => Self::Null,
            Overflow::Wrap => Self::Wrap,
        }
    }
}

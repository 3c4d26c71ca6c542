//! The options for selecting rows by their values.

use clap::Args;
use herringbone::filter::Predicate;
use herringbone::{Error, ParquetFile, SchemaOptions};
use herringbone_arrow::schema::{Schema, SchemaRef};

use super::Variants;
use super::bounding_box::WantedBox;
use super::condition::Condition;

/// The options that select rows. A row must match all of them.
#[derive(Debug, Args)]
pub(crate) struct Wanted {
    /// Only rows that match an SQL condition, e.g. `fare > 5 and city in ('Rome', 'Oslo')`, or one in @FILE; see
    /// `herringbone help where`
    #[arg(
        short = 'w',
        long = "where",
        alias = "filter",
        value_name = "CONDITION",
        allow_hyphen_values = true
    )]
    condition: Option<Condition>,
    /// Only rows whose geometry has a bounding box that touches this one, in the reference system of its column,
    /// longitude or easting first: [COLUMN=]xmin,ymin,xmax,ymax [default column: the primary one]
    #[arg(long, value_name = "BOX", allow_hyphen_values = true)]
    bbox: Option<WantedBox>,
    /// Add a column of this name with the path or URL of the file of each row, for directories and patterns
    #[arg(long, value_name = "NAME")]
    pub(crate) path_column: Option<String>,
    #[command(flatten)]
    pub(crate) variants: Variants,
}

impl Wanted {
    /// Returns true if rows are selected by their values.
    pub(crate) fn is_given(&self) -> bool {
        self.condition.is_some() || self.bbox.is_some()
    }

    /// Returns true if a bounding box selects rows.
    pub(crate) fn has_box(&self) -> bool {
        self.bbox.is_some()
    }

    /// Returns the condition for rows with the columns of `schema`, if these are known.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Argument`](herringbone::ErrorKind::Argument) if a literal has
    /// another type than its column.
    pub(crate) fn condition(
        &self,
        schema: Option<&Schema>,
    ) -> herringbone::Result<Option<Predicate>> {
        let is_lenient = self.variants.options().lenient;
        let condition = self.condition.as_ref();
        let condition = condition.map(|condition| condition.predicate(is_lenient, schema));
        condition.transpose().map_err(Error::argument)
    }

    /// Returns the file's filter, which combines the condition and the bounding box. A caller that
    /// already knows the columns passes them.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Argument`](herringbone::ErrorKind::Argument) if the file does not
    /// have a requested column.
    pub(crate) fn filter(
        &self,
        file: &ParquetFile,
        columns: Option<&SchemaRef>,
    ) -> herringbone::Result<Option<Predicate>> {
        // We ignore this error, since reading the file runs into it again and reports it.
        let schema = match (columns, &self.condition) {
            (Some(columns), _) => Some(columns.clone()),
            (None, Some(_)) => file.arrow_schema(&SchemaOptions::default()).ok(),
            (None, None) => None,
        };
        let condition = self.condition(schema.as_deref())?;
        let bbox = self
            .bbox
            .as_ref()
            .map(|bbox| bbox.predicate(file))
            .transpose()?;
        Ok(match (condition, bbox) {
            (Some(condition), Some(bbox)) => Some(condition.and(bbox)),
            (condition, bbox) => condition.or(bbox),
        })
    }
}

//! Rows into a file.

use herringbone::Writer;
use herringbone::core::write::{ColumnSelector, WriteOptions};
use herringbone::schema::from_arrow;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;

use crate::args::Destination;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::progress::Progress;
use crate::target::Target;

/// The file to be.
pub(crate) struct File<'a> {
    pub(crate) destination: &'a Destination,
    pub(crate) schema: SchemaRef,
    /// How many rows are to come.
    pub(crate) rows: u64,
}

impl File<'_> {
    /// A bar for the rows.
    fn progress(&self, context: &Context) -> Progress {
        let wanted = !context.quiet;
        if Target::is_stdout(&self.destination.path) {
            Progress::new(wanted, self.rows, "rows")
        } else {
            Progress::of_file(wanted, self.rows, "rows")
        }
    }
}

/// Writes a Parquet file.
///
/// # Errors
/// What the rows end with, and what the file refuses; there is no file then.
pub(crate) fn parquet(
    context: &Context,
    file: &File<'_>,
    options: WriteOptions,
    rows: impl Iterator<Item = Result<RecordBatch>>,
) -> Result<()> {
    let mut target = Target::create(file.destination)?;
    let name = target.name.clone();
    all_columns_exist(file, &options, &name)?;
    let broken = |error| Failure::written(&name, &error).in_data();
    let mut progress = file.progress(context);
    let mut writer = Writer::new(&mut target, file.schema.clone(), options)
        .map_err(|error| Failure::written(&name, &error))?;
    for batch in rows {
        let batch = batch?;
        writer.write(&batch).map_err(broken)?;
        progress.add(batch.num_rows() as u64);
    }
    writer.finish().map_err(broken)?;
    target.commit()
}

/// Whether the options name columns that are there.
fn all_columns_exist(file: &File<'_>, options: &WriteOptions, name: &str) -> Result<()> {
    let mapping = from_arrow(&file.schema, &options.schema)
        .map_err(|error| Failure::written(name, &error))?;
    for (selector, _) in &options.overrides {
        let ColumnSelector::Path(path) = selector else {
            continue;
        };
        let mut leaves = mapping.leaves.iter();
        if !leaves.any(|leaf| selector.selects(&leaf.path, leaf.physical_type)) {
            let path = path.join(".");
            return Err(Failure::Usage(format!("there is no column `{path}`")));
        }
    }
    Ok(())
}

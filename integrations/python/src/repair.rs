//! Recovers damaged files.

use std::collections::HashMap;

use herringbone::geospatial::Geospatial;
use herringbone::variant::extension::VariantExtension;
use herringbone::{ReadOptions, WriteOptions, Writer};
use herringbone_inspect::repair::{Repair, RepairOptions, RepairSchema};
use herringbone_rewrite::{CarryOver, InputFile};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{Result, detached};
use crate::interrupt::{self, Interruptible};
use crate::read::limits;
use crate::schema::Schema;
use crate::sink::Sink;
use crate::source;

/// Writes the readable part of a damaged file to a new file and returns a dict of the losses.
#[pyfunction]
#[pyo3(signature = (source, where_, *, schema=None, row_group_rows=None, ignore_footer=false, limits=None))]
pub(crate) fn repair<'py>(
    source: &Bound<'py, PyAny>,
    where_: &Bound<'py, PyAny>,
    schema: Option<Schema>,
    row_group_rows: Option<u64>,
    ignore_footer: bool,
    limits: Option<HashMap<String, u64>>,
) -> Result<Bound<'py, PyDict>> {
    let py = source.py();
    interrupt::start(py)?;
    let mut options = RepairOptions::default();
    options.limits = self::limits(&limits.unwrap_or_default())?;
    options.ignore_footer = ignore_footer;
    options.row_group_rows = row_group_rows;
    options.schema = match schema {
        Some(schema) => Some(RepairSchema::of_arrow(schema.arrow())?),
        None => None,
    };
    let source = Interruptible(source::open(source)?);
    let repair = detached(py, || {
        let mut repair = Repair::open(source, &options)?;
        repair.check(&ReadOptions::new(), |_| {})?;
        Ok(repair)
    })?;
    let sink = Sink::open(where_)?;
    let notes = detached(py, || write(&repair, sink))?;
    let report = report(py, &repair)?;
    report.set_item("notes", notes)?;
    Ok(report)
}

/// Writes the valid row groups and returns notes on properties that could not be kept with them.
fn write(repair: &Repair, sink: Sink) -> Result<Vec<String>> {
    let row_groups = repair.valid_row_groups();
    let options = ReadOptions::new()
        .row_groups(row_groups.to_vec())
        .extension(Geospatial::new());
    let mut reader = repair.read(options)?;
    let mut kept = CarryOver::new();
    kept.add(InputFile::new("the file", repair.file(), row_groups))?;
    // We allow values that violate their annotation, so that they are not lost.
    let mut options = WriteOptions::new().allow_out_of_range(true);
    let carried = kept.apply(&reader.schema(), &mut options)?;
    let options = options.extension(VariantExtension::new());
    let mut writer = Writer::new(sink, carried.schema, options)?;
    while let Some(batch) = reader.next_batch()? {
        writer.write(&batch)?;
        interrupt::check()?;
    }
    writer.finish_into()?.1.commit()?;
    Ok(carried.notes.iter().map(ToString::to_string).collect())
}

fn report<'py>(py: Python<'py>, repair: &Repair) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("num_rows", repair.num_rows())?;
    dict.set_item("num_row_groups", repair.num_row_groups())?;
    dict.set_item("valid_row_groups", repair.valid_row_groups().to_vec())?;
    dict.set_item("source", format!("{:?}", repair.source()))?;
    dict.set_item("is_end_known", repair.is_end_known())?;
    let lost = PyList::empty(py);
    for part in repair.lost() {
        let entry = PyDict::new(py);
        entry.set_item("reason", &part.reason)?;
        entry.set_item("rows", part.rows)?;
        entry.set_item("row_group", part.location.row_group)?;
        entry.set_item("column", part.location.column.as_deref())?;
        lost.append(entry)?;
    }
    dict.set_item("lost", lost)?;
    Ok(dict)
}

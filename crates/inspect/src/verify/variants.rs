//! Checks VARIANT values and the rules of shredding, whose violation makes readers of the values fail.

use std::ops::Range;

use herringbone::ParquetFile;
use herringbone::ReadOptions;
use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::schema::Field;
use herringbone_core::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StorageWriter, StoredField,
    WrittenField,
};
use herringbone_format::{LogicalType, Result};
use herringbone_schema::{Projection, SchemaNode};
use herringbone_variant::extension::VariantExtension;
use herringbone_variant::shredding::{UnshredOptions, VariantArray};

use super::finding::{FindingKind, Report};

/// An extension type that unshreds VARIANT groups, and checks each value as a whole.
#[derive(Debug, Default)]
struct CheckedVariants(VariantExtension);

impl ExtensionMapping for CheckedVariants {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        self.0.to_arrow(stored)
    }

    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        self.0.to_parquet(field)
    }
}

impl ExtensionType for CheckedVariants {
    fn make_array(&self, storage: &ArrayRef, field: &Field) -> Result<ArrayRef> {
        let options = UnshredOptions::default();
        let variants = VariantArray::try_new(storage)?;
        for row in 0..variants.len() {
            if let Some(value) = variants.value(row, &options)? {
                value.as_variant().validate(&options.limits)?;
            }
        }
        self.0.make_array(storage, field)
    }

    fn storage_writer(&self, written: &WrittenField<'_>) -> Result<Option<Box<dyn StorageWriter>>> {
        self.0.storage_writer(written)
    }
}

/// Checks the structure of the VARIANT columns' groups in a file.
///
/// # Errors
/// Io if the source fails.
pub(super) fn check_schema(file: &ParquetFile, report: &mut Report) -> Result<()> {
    match file.plan(&checking(ReadOptions::default())) {
        Ok(_) => Ok(()),
        Err(error) => report.failed(FindingKind::Variant, error),
    }
}

/// Checks the values of the VARIANT columns in a row group. Damage that makes the stored columns unreadable is
/// detected elsewhere.
///
/// # Errors
/// Io if the source fails.
pub(super) fn check(file: &ParquetFile, row_group: usize, report: &mut Report) -> Result<()> {
    for leaves in columns(file) {
        let options = ReadOptions::default()
            .limits(file.limits().clone())
            .row_groups(vec![row_group])
            .threads(1)
            .projection(Projection::Leaves(leaves.clone().collect()));
        let path = file.parquet_schema().path(leaves.start);
        report.location.row_group = Some(row_group);
        report
            .location
            .set_column(path.first().copied().unwrap_or_default());
        if is_read(file, options.clone())? && file.plan(&checking(options.clone())).is_ok() {
            values(file, checking(options), report)?;
        }
        report.location.column = None;
    }
    Ok(())
}

fn checking(options: ReadOptions) -> ReadOptions {
    options.extension(CheckedVariants::default())
}

/// Returns true if the stored columns can be read.
fn is_read(file: &ParquetFile, options: ReadOptions) -> Result<bool> {
    let read = || -> Result<()> {
        let mut reader = file.read(options)?;
        while reader.next_batch()?.is_some() {}
        Ok(())
    };
    match read() {
        Ok(()) => Ok(true),
        Err(error) if error.is_of_source() => Err(error),
        Err(_) => Ok(false),
    }
}

fn values(file: &ParquetFile, options: ReadOptions, report: &mut Report) -> Result<()> {
    let mut reader = file.read(options)?;
    let mut rows = 0;
    loop {
        match reader.next_batch() {
            Ok(Some(batch)) => rows += batch.num_rows(),
            Ok(None) => return Ok(()),
            Err(error) if error.is_of_source() => return Err(error),
            Err(error) => {
                let message = format!("in the rows from {rows} on, {}", error.message());
                report.error(FindingKind::Variant, message);
                return Ok(());
            }
        }
    }
}

/// Returns the leaves of each top-level column that contains a VARIANT group.
fn columns(file: &ParquetFile) -> Vec<Range<usize>> {
    let nodes = file.parquet_schema().nodes();
    let is_variant = |node: &SchemaNode| {
        node.is_group() && matches!(node.element.logical_type, Some(LogicalType::Variant { .. }))
    };
    let mut columns = Vec::new();
    let mut at = 1;
    while let Some(top) = nodes.get(at) {
        let inside = nodes.get(at..top.end).unwrap_or_default();
        if inside.iter().any(is_variant) {
            columns.push(top.leaves.clone());
        }
        at = top.end.max(at + 1);
    }
    columns
}

//! Checks VARIANT values and their shredding. Readers fail on values that break these rules.

use std::ops::Range;

use herringbone::ParquetFile;
use herringbone::ReadOptions;
use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::schema::Field;
use herringbone_core::extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StorageWriter, StoredField,
    WrittenField,
};
use herringbone_format::{LogicalType, Repetition, Result};
use herringbone_schema::{ParquetSchema, Projection, SchemaNode};
use herringbone_variant::extension::VariantExtension;
use herringbone_variant::shredding::{UnshredOptions, VariantArray};

use super::finding::{FindingKind, Report};

/// An extension that unshreds VARIANT groups and validates each resulting value.
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

/// Checks the group structure of a file's VARIANT columns.
///
/// # Errors
/// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
pub(super) fn check_schema(file: &ParquetFile, report: &mut Report) -> Result<()> {
    let schema = file.parquet_schema();
    if let Some(group) = (0..schema.nodes().len()).find_map(|node| optional_group(schema, node)) {
        report.warning(
            FindingKind::Variant,
            format!(
                "the group `{}` of a shredded field or element is optional, and the format \
                 requires it; some readers refuse it if it is null",
                schema.node_path(group).join(".")
            ),
        );
    }
    match file.plan(&checking(ReadOptions::default())) {
        Ok(_) => Ok(()),
        Err(error) => report.failed(FindingKind::Variant, error),
    }
}

/// Returns the first optional group of a shredded field or element inside a VARIANT group. The
/// specification demands REQUIRED groups there.
fn optional_group(schema: &ParquetSchema, variant: usize) -> Option<usize> {
    let node = schema.nodes().get(variant)?;
    if !is_variant(node) {
        return None;
    }
    let is_part = |name: &str| matches!(name, "value" | "typed_value");
    // This loop is cheap, since the schema's depth is limited and each group is visited once.
    let mut nodes = variant + 1..node.end;
    nodes.find(|group| {
        let is_optional = schema.nodes().get(*group).is_some_and(|node| {
            node.is_group() && node.element.repetition_type == Some(Repetition::Optional)
        });
        let is_typed = schema.node_path(*group).last() == Some(&"typed_value");
        let has_parts = children(schema, *group).into_iter().any(|child| {
            schema
                .node_path(child)
                .last()
                .is_some_and(|node_path| is_part(node_path))
        });
        is_optional && has_parts && !is_typed
    })
}

/// Returns the children of a node.
fn children(schema: &ParquetSchema, parent: usize) -> Vec<usize> {
    let nodes = schema.nodes();
    let end = nodes.get(parent).map_or(0, |node| node.end);
    let next = |child: &usize| nodes.get(*child).map(|node| node.end.max(child + 1));
    let children = std::iter::successors(Some(parent + 1), next);
    children.take_while(|child| *child < end).collect()
}

/// Checks the values of the VARIANT columns in a row group. If damage makes the stored columns
/// unreadable, another check reports it.
///
/// # Errors
/// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
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

fn is_variant(node: &SchemaNode) -> bool {
    node.is_group() && matches!(node.element.logical_type, Some(LogicalType::Variant { .. }))
}

/// Returns the leaves of each top-level column with a VARIANT group inside.
fn columns(file: &ParquetFile) -> Vec<Range<usize>> {
    let nodes = file.parquet_schema().nodes();
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

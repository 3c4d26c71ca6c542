//! Finds the column chunks that the user has chosen.

use std::collections::HashMap;

use herringbone::format::LogicalType;
use herringbone::pruning::BoundsDecoder;
use herringbone::{ParquetFile, Projection, SchemaOptions};
use herringbone_arrow::schema::Field;
use herringbone_arrow::schema::extension::EXTENSION_TYPE_NAME_KEY;
use herringbone_schema::{Node, NodeKind, to_arrow};

use crate::args::{Chunks, chosen};
use crate::base::failure::{Failure, Result};
use crate::input::Input;

/// A column chunk and where it is.
pub(crate) struct Place<'a> {
    pub(crate) file: &'a ParquetFile,
    pub(crate) row_group: usize,
    pub(crate) leaf: usize,
}

impl Place<'_> {
    /// Returns the field for showing and parsing the column's values and statistics bounds.
    ///
    /// # Errors
    /// Fails if the schema does not have the column.
    pub(crate) fn value_field(&self) -> herringbone::Result<Field> {
        let schema = self.file.parquet_schema();
        let decoder = BoundsDecoder::new(schema, self.leaf, &SchemaOptions::default())?;
        let field = decoder.field().clone();
        let node = schema.leaves().get(self.leaf).map(|leaf| leaf.node);
        let node = node.and_then(|node| schema.nodes().get(node));
        // The decoder ignores extension types, so we add the type again.
        let is_uuid = node.is_some_and(|node| node.element.logical_type == Some(LogicalType::Uuid));
        Ok(match is_uuid {
            true => {
                let name = (EXTENSION_TYPE_NAME_KEY.to_owned(), "arrow.uuid".to_owned());
                field.with_metadata(HashMap::from([name]))
            }
            false => field,
        })
    }

    /// Returns the column's path.
    pub(crate) fn path(&self) -> Vec<&str> {
        self.file.parquet_schema().path(self.leaf)
    }
}

/// Returns the row groups and the leaves that the user has chosen.
///
/// # Errors
/// Fails if the file does not have one of them.
pub(crate) fn of_file(
    file: &ParquetFile,
    chunks: &Chunks,
    input: &Input,
) -> Result<(Vec<usize>, Vec<usize>)> {
    let count = file.metadata().num_row_groups();
    let row_groups = chosen(chunks.row_groups.as_ref(), count)
        .map_err(|failure| failure.in_file(&input.name))?;
    let leaves = leaves(file, chunks.projection()).map_err(|error| input.failure(&error))?;
    for &row_group in &row_groups {
        let chunks = file.metadata().num_columns(row_group);
        if leaves.iter().any(|leaf| *leaf >= chunks) {
            let text = format!("row group {row_group} has {chunks} column chunks, too few");
            return Err(Failure::Data(text).in_file(&input.name));
        }
    }
    Ok((row_groups, leaves))
}

/// Calls `take` for each chosen column chunk.
///
/// # Errors
/// See [`of_file`]; also fails if `take` does.
pub(crate) fn each(
    file: &ParquetFile,
    (row_groups, leaves): (&[usize], &[usize]),
    mut take: impl FnMut(&Place<'_>) -> Result<()>,
) -> Result<()> {
    for &row_group in row_groups {
        for &leaf in leaves {
            take(&Place {
                file,
                row_group,
                leaf,
            })?;
        }
    }
    Ok(())
}

/// Returns the ordinals of the chosen leaves.
fn leaves(file: &ParquetFile, projection: Projection) -> herringbone::Result<Vec<usize>> {
    let schema = file.parquet_schema();
    if projection == Projection::All {
        return Ok((0..schema.leaves().len()).collect());
    }
    let key_values = file.metadata().key_value_metadata();
    let mapping = to_arrow(schema, key_values, &SchemaOptions::default())?.project(&projection)?;
    let mut leaves = Vec::new();
    mapping
        .fields
        .iter()
        .for_each(|node| collect(node, &mut leaves));
    Ok(leaves)
}

fn collect(node: &Node, leaves: &mut Vec<usize>) {
    match &node.kind {
        NodeKind::Leaf { leaf, .. } => leaves.push(*leaf),
        NodeKind::Struct(fields) => fields.iter().for_each(|field| collect(field, leaves)),
        NodeKind::List { child, .. } => collect(child, leaves),
        NodeKind::Map { entries, .. } => collect(entries, leaves),
    }
}

//! Cross-checks the three descriptions of geometries: logical types, `geo` metadata and the Arrow
//! schema.

use std::borrow::Cow;

use herringbone::ParquetFile;
use herringbone_arrow::schema::Field;
use herringbone_format::{LogicalType, Repetition, Result, Type};
use herringbone_geospatial::Edges;
use herringbone_geospatial::crs::Crs;
use herringbone_geospatial::geoarrow::{EXTENSION_NAME, ExtensionMetadata, FORMER_EXTENSION_NAME};
use herringbone_geospatial::geoparquet::{FileColumn, GeoMetadata, KEY};
use herringbone_schema::{Node, NodeKind, SchemaOptions, to_arrow};

use super::finding::{FindingKind, Report};

/// Compares the descriptions of geometry columns.
///
/// # Errors
/// Fails if the Arrow schema cannot be created.
pub(super) fn check(file: &ParquetFile, report: &mut Report) -> Result<()> {
    references(file, report);
    if let Some(text) = value_of(file, KEY) {
        match GeoMetadata::parse_usable(text) {
            Ok((metadata, defects)) => {
                // A defect can make a column go missing, and we don't want a second finding about
                // that.
                if defects.is_empty() {
                    against_columns(file, &metadata, report);
                }
                for defect in defects {
                    report.failed(FindingKind::GeoParquet, defect)?;
                }
            }
            Err(error) => report.failed(FindingKind::GeoParquet, error)?,
        }
    }
    against_hint(file, report)
}

pub(super) fn value_of<'a>(file: &'a ParquetFile, key: &str) -> Option<&'a str> {
    let mut pairs = file.metadata().key_value_metadata().iter();
    pairs.find(|pair| pair.key == key)?.text()
}

/// Returns a geometry column's annotation, resolving a CRS reference to its definition.
fn resolved(file: &ParquetFile, leaf: usize) -> Option<Cow<'_, LogicalType>> {
    let logical_type = file.parquet_schema().element(leaf).logical_type.as_ref()?;
    let Ok(Some(edges)) = Edges::of(logical_type) else {
        return Some(Cow::Borrowed(logical_type));
    };
    let crs = Crs::of(logical_type).resolve(|key| value_of(file, key));
    Some(match crs {
        Ok(crs) => Cow::Owned(edges.logical_type(crs.into_text())),
        Err(_) => Cow::Borrowed(logical_type),
    })
}

/// Reports references to missing CRS definitions, and unknown edges.
fn references(file: &ParquetFile, report: &mut Report) {
    let schema = file.parquet_schema();
    for leaf in 0..schema.leaves().len() {
        let Some(logical_type) = &schema.element(leaf).logical_type else {
            continue;
        };
        let problem = match Edges::of(logical_type) {
            Ok(None) => None,
            Ok(Some(_)) => Crs::of(logical_type)
                .resolve(|key| value_of(file, key))
                .err(),
            Err(error) => Some(error),
        };
        if let Some(error) = problem {
            report.location.set_column(schema.column_path(leaf));
            report.error(FindingKind::Geometry, error.message().to_owned());
            report.location.column = None;
        }
    }
}

fn against_columns(file: &ParquetFile, metadata: &GeoMetadata, report: &mut Report) {
    let schema = file.parquet_schema();
    let at_root = |node: &&herringbone_schema::SchemaNode| node.parent == 0;
    let nodes = schema.nodes().iter().skip(1).filter(at_root);
    let types: Vec<_> = nodes
        .map(|node| {
            let leaf = Some(node.leaves.start).filter(|_| !node.is_group());
            let logical_type = leaf.and_then(|leaf| resolved(file, leaf));
            let is_byte_array = node.element.type_ == Some(Type::ByteArray)
                && node.repetition() != Repetition::Repeated;
            (node.element.name.as_str(), is_byte_array, logical_type)
        })
        .collect();
    let columns: Vec<_> = types
        .iter()
        .map(|(name, is_byte_array, logical_type)| FileColumn {
            name,
            is_byte_array: *is_byte_array,
            logical_type: logical_type.as_deref(),
        })
        .collect();
    for disagreement in metadata.disagreements(&columns) {
        report.warning(FindingKind::GeoParquet, disagreement);
    }
}

/// Compares the extension types in the Arrow schema with the logical types.
fn against_hint(file: &ParquetFile, report: &mut Report) -> Result<()> {
    let key_values = file.metadata().key_value_metadata();
    let Ok(mapping) = to_arrow(file.parquet_schema(), key_values, &SchemaOptions::default()) else {
        // The schema check reports this error.
        return Ok(());
    };
    for node in &mapping.fields {
        for_each_leaf(node, &mut |leaf, field| {
            if let Some(message) = disagreement(file, leaf, field) {
                let path = file.parquet_schema().column_path(leaf);
                report.location.set_column(path);
                report.warning(FindingKind::ArrowSchema, message);
                report.location.column = None;
            }
        });
    }
    Ok(())
}

fn disagreement(file: &ParquetFile, leaf: usize, field: &Field) -> Option<String> {
    let name = field.extension_type_name()?;
    let logical_type = resolved(file, leaf)?;
    if ![EXTENSION_NAME, FORMER_EXTENSION_NAME].contains(&name) {
        return None;
    }
    let hint = match ExtensionMetadata::parse(field.extension_type_metadata().unwrap_or_default()) {
        Ok(hint) => hint,
        Err(error) => return Some(error.message().to_owned()),
    };
    // Some writers put a reference to the definition there too.
    let crs = Crs::of(&hint.logical_type());
    let crs = crs.resolve(|key| value_of(file, key)).unwrap_or(crs);
    let edges = Edges::of(&logical_type).ok()??;
    let is_same = hint.edges == edges && crs.is_same(&Crs::of(&logical_type));
    (!is_same).then(|| {
        format!(
            "its extension type in the Arrow schema corresponds to {}, but its logical type is {}, \
             which takes precedence",
            hint.logical_type(),
            file.parquet_schema()
                .element(leaf)
                .logical_type
                .as_ref()
                .map_or_else(String::new, ToString::to_string),
        )
    })
}

/// Visits all leaves below a node along with their fields.
fn for_each_leaf(node: &Node, see: &mut impl FnMut(usize, &Field)) {
    match &node.kind {
        NodeKind::Leaf { leaf, .. } => see(*leaf, &node.field),
        NodeKind::Struct(fields) => fields.iter().for_each(|field| for_each_leaf(field, see)),
        NodeKind::List { child, .. } => for_each_leaf(child, see),
        NodeKind::Map { entries, .. } => for_each_leaf(entries, see),
    }
}

//! What goes from Parquet files into the one that their rows are written to, beside the rows.
//!
//! That is what Arrow has no word for in their schema, key-value metadata, which columns have bloom
//! filters, what rows are sorted by as far as they still are, and how it is encrypted. What cannot be kept is noted.

use std::collections::BTreeSet;
use std::sync::Arc;

use herringbone::format::{KeyValue, LogicalType, Repetition, SchemaElement, SortingColumn, Type};
use herringbone::geospatial::geoarrow::FORMER_EXTENSION_NAME;
use herringbone::geospatial::geoparquet::KEY;
use herringbone::modular_encryption::{ALGORITHM_KEY, Encryption};
use herringbone::schema::{
    ARROW_SCHEMA_KEY, ColumnOrderKind, EXACT_SCHEMA_KEY, ParquetSchema, WriteLeaf, from_arrow,
};
use herringbone::{
    ColumnOptions, ColumnSelector, ParquetFile, SortingColumnOption, UnsortedRows, WriteOptions,
};
use herringbone_arrow::schema::{Field, Schema};

use crate::args::{Destination, Write};
use crate::context::Context;
use crate::encryption::{Kept, Protection, keep};
use crate::failure::{Failure, Result};
use crate::input::Input;

/// A file that rows come from.
pub(crate) struct Origin<'a> {
    pub(crate) input: &'a Input,
    pub(crate) file: ParquetFile,
    /// The row groups that are read.
    pub(crate) row_groups: Vec<usize>,
}

/// Has the options of the file `target` keep what the files have, for rows of the Arrow schema. Where encryption is
/// kept, there may be something left to do when the file is there.
///
/// # Errors
/// Data where a file's metadata cannot be read; what the writer refuses.
pub(crate) fn carry_over(
    context: &Context,
    origins: &[Origin<'_>],
    schema: &Schema,
    target: (&Destination, &Write),
    protection: Protection,
    options: &mut WriteOptions,
) -> Result<Option<Kept>> {
    let (destination, write) = target;
    options.schema.parquet_schema = parquet_schema(context, origins, write)?;
    options.key_value_metadata = key_values(context, origins);
    if !has_geometries(schema) {
        // They would be about columns that are not there.
        options.key_value_metadata.retain(|pair| pair.key != KEY);
    }
    let mapping = from_arrow(schema, &options.schema)
        .map_err(|error| Failure::written(&destination.path.display().to_string(), &error))?;
    if write.keeps_bloom_filters() {
        bloom_filters(context, origins, &mapping.leaves, write, options);
    }
    if options.sort_by.is_empty() {
        sorting_columns(context, origins, &mapping.leaves, options)?;
    }
    let kept = match &protection {
        Protection::Keep => keep(context, origins, &mapping.leaves, destination)?,
        Protection::Decrypt | Protection::Encrypt(_) => None,
    };
    let properties = match protection {
        Protection::Encrypt(properties) => Some(properties),
        _ => kept.as_ref().map(|kept| kept.properties.clone()),
    };
    options.encryption = properties.map(|properties| Arc::new(properties) as Arc<dyn Encryption>);
    Ok(kept)
}

/// Whether a schema has a column of geometries anywhere.
pub(crate) fn has_geometries(schema: &Schema) -> bool {
    schema.flattened_fields().into_iter().any(is_geoarrow)
}

/// Whether the extension type of a field is one of GeoArrow.
pub(crate) fn is_geoarrow(field: &Field) -> bool {
    let name = field.extension_type_name().unwrap_or_default();
    name.starts_with("geoarrow.") || name == FORMER_EXTENSION_NAME
}

/// The fields that all files have alike.
fn parquet_schema(
    context: &Context,
    origins: &[Origin<'_>],
    write: &Write,
) -> Result<Option<ParquetSchema>> {
    let Some((first, others)) = origins.split_first() else {
        return Ok(None);
    };
    let schema = first.file.parquet_schema();
    let (mut kept, mut differ) = (Vec::new(), Vec::new());
    for field in fields(schema) {
        let is_same = |other: &Origin<'_>| {
            let mut theirs = fields(other.file.parquet_schema());
            theirs.any(|their| are_alike(&field, &their))
        };
        match others.iter().all(is_same) {
            true => kept.push(field),
            false => differ.push(field.first().map_or("", |element| &element.name)),
        }
    }
    if !differ.is_empty() {
        context.note(&format!(
            "the files describe these columns otherwise, so they are written as their Arrow types \
             say: {}",
            differ.join(", ")
        ));
    }
    let name = schema.nodes().first().map(|root| &root.element.name);
    let root = SchemaElement::new(name.cloned().unwrap_or_default())
        .num_children(i32::try_from(kept.len()).ok());
    let elements = std::iter::once(root)
        .chain(kept.into_iter().flatten().cloned())
        .map(|element| match write.has_plain_geometries() {
            true => without_geometries(element),
            false => element,
        })
        .collect();
    let limits = herringbone::Limits::default();
    ParquetSchema::from_elements(elements, &limits)
        .map(Some)
        .map_err(|error| Failure::parquet(&first.input.name, &error))
}

/// The element without an annotation as GEOMETRY or GEOGRAPHY.
fn without_geometries(element: SchemaElement) -> SchemaElement {
    let is_geospatial = matches!(
        element.logical_type,
        Some(LogicalType::Geometry { .. } | LogicalType::Geography { .. })
    );
    match is_geospatial {
        true => element.logical_type(None),
        false => element,
    }
}

/// The elements of each field at the top.
fn fields(schema: &ParquetSchema) -> impl Iterator<Item = Vec<&SchemaElement>> {
    let nodes = schema.nodes();
    let mut at = 1;
    std::iter::from_fn(move || {
        let end = nodes.get(at)?.end;
        let field = nodes.get(at..end)?;
        at = end;
        Some(field.iter().map(|node| &node.element).collect())
    })
}

/// Whether fields differ in no more than in what may be null.
fn are_alike(a: &[&SchemaElement], b: &[&SchemaElement]) -> bool {
    let repeats = |element: &SchemaElement| element.repetition_type == Some(Repetition::Repeated);
    let alike = |(a, b): (&&SchemaElement, &&SchemaElement)| {
        let b = SchemaElement::clone(b).repetition_type(a.repetition_type);
        **a == b
    };
    a.len() == b.len()
        && a.iter().zip(b).all(alike)
        && a.iter().zip(b).all(|(a, b)| repeats(a) == repeats(b))
}

/// The metadata of all files but the Arrow schema and the algorithm, of which the writer makes its own; of keys whose
/// values differ, those of the first file that has them.
fn key_values(context: &Context, origins: &[Origin<'_>]) -> Vec<KeyValue> {
    let mut kept: Vec<KeyValue> = Vec::new();
    for (at, origin) in origins.iter().enumerate() {
        let pairs = origin.file.metadata().key_value_metadata();
        let of_others = std::mem::take(&mut kept);
        let mut noted: Vec<&str> = Vec::new();
        let mut added = Vec::new();
        for pair in pairs {
            // The writer makes these anew.
            let own = [ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY, ALGORITHM_KEY, KEY];
            if own.contains(&pair.key.as_str()) && (pair.key != KEY || at > 0) {
                continue;
            }
            if of_others.iter().all(|known| known.key != pair.key) {
                added.push(pair.clone());
            } else if values(&of_others, &pair.key).ne(values(pairs, &pair.key))
                && !noted.contains(&pair.key.as_str())
            {
                noted.push(&pair.key);
                context.note(&format!(
                    "{}: the metadata `{}` differ; those of an earlier file are kept",
                    origin.input.name, pair.key
                ));
            }
        }
        kept = of_others;
        kept.extend(added);
    }
    kept
}

/// The values of a key, which may repeat.
fn values<'a>(pairs: &'a [KeyValue], key: &str) -> impl Iterator<Item = Option<&'a str>> {
    let of_key = pairs.iter().filter(move |pair| pair.key == key);
    of_key.map(|pair| pair.value.as_deref())
}

/// Asks for bloom filters of the columns that have one.
fn bloom_filters(
    context: &Context,
    origins: &[Origin<'_>],
    leaves: &[WriteLeaf],
    write: &Write,
    options: &mut WriteOptions,
) {
    let mut paths: BTreeSet<Vec<String>> = BTreeSet::new();
    for origin in origins {
        let schema = origin.file.parquet_schema();
        for leaf in 0..schema.leaves().len() {
            let path: Vec<String> = schema.path(leaf).into_iter().map(str::to_owned).collect();
            if !paths.contains(&path) && has_bloom_filter(origin, leaf) {
                paths.insert(path);
            }
        }
    }
    for path in paths {
        let Some(leaf) = leaves.iter().find(|leaf| leaf.path == path) else {
            // A column that is not read has nothing to lose.
            continue;
        };
        if leaf.physical_type == Type::Boolean {
            let path = path.join(".");
            context.note(&format!("`{path}`: BOOLEAN gets no bloom filter"));
            continue;
        }
        let bloom_filter = ColumnOptions::new().bloom_filter(write.bloom_filter());
        // What is asked for on the command line comes later, and wins.
        options
            .overrides
            .insert(0, (ColumnSelector::Path(path), bloom_filter));
    }
}

/// Whether a row group that is read has one. Metadata that cannot be decoded are no reason to fail:
/// rows may be read without them.
fn has_bloom_filter(origin: &Origin<'_>, leaf: usize) -> bool {
    let has_one = |row_group: &usize| {
        let chunk = origin.file.metadata().column_chunk(*row_group, leaf);
        let metadata = chunk.ok().and_then(|chunk| chunk.meta_data);
        metadata.is_some_and(|metadata| metadata.bloom_filter_offset.is_some())
    };
    origin.row_groups.iter().any(has_one)
}

/// Declares what all row groups are sorted by, as far as it is true of those that are written.
fn sorting_columns(
    context: &Context,
    origins: &[Origin<'_>],
    leaves: &[WriteLeaf],
    options: &mut WriteOptions,
) -> Result<()> {
    let mut common: Option<Vec<SortingColumnOption>> = None;
    let mut longest = 0;
    for origin in origins {
        for &row_group in &origin.row_groups {
            let header = origin.file.metadata().row_group_header(row_group);
            let header = header.map_err(|error| Failure::parquet(&origin.input.name, &error))?;
            let columns = header.sorting_columns.as_deref().unwrap_or_default();
            longest = longest.max(columns.len());
            let columns = by_path(origin.file.parquet_schema(), columns);
            match &mut common {
                None => common = Some(columns),
                Some(common) => {
                    let same = common.iter().zip(&columns).take_while(|(a, b)| a == b);
                    common.truncate(same.count());
                }
            }
        }
    }
    let mut common = common.unwrap_or_default();
    let can_be_compared = |column: &&SortingColumnOption| {
        leaves.iter().any(|leaf| {
            leaf.path == column.path
                && leaf.max_rep_level == 0
                && leaf.order != ColumnOrderKind::Undefined
        })
    };
    common.truncate(common.iter().take_while(can_be_compared).count());
    if common.len() < longest {
        let kept = match common.len() {
            0 => "the sorting columns are not kept".to_owned(),
            some => format!("only the first {some} of {longest} sorting columns are kept"),
        };
        context.note(&format!(
            "{kept}: row groups differ in the others, or these were not read or have no order"
        ));
    }
    options.sorting_columns = common;
    options.unsorted_rows = UnsortedRows::Undeclared;
    Ok(())
}

/// The sorting columns by their paths, up to the first that is not there.
fn by_path(schema: &ParquetSchema, columns: &[SortingColumn]) -> Vec<SortingColumnOption> {
    let by_path = |column: &SortingColumn| {
        let leaf = usize::try_from(column.column_idx).ok();
        let leaf = leaf.filter(|leaf| *leaf < schema.leaves().len())?;
        Some(SortingColumnOption {
            path: schema.path(leaf).into_iter().map(str::to_owned).collect(),
            descending: column.descending,
            nulls_first: column.nulls_first,
        })
    };
    columns.iter().map_while(by_path).collect()
}

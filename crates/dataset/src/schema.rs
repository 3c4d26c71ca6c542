//! Finding a dataset's schema.

use std::collections::HashSet;
use std::slice;
use std::sync::Arc;

use herringbone::arrow::schema::{Field, FieldRef, Schema, SchemaRef};
use herringbone::{ReadOptions, Result};
use herringbone_filter::tested_paths;
use herringbone_rewrite::{SchemaMerge, nullable};

use crate::files::Files;
use crate::options::{DatasetOptions, SchemaFrom};
use crate::side_by_side::in_order;
use crate::walk::{DataFile, Found};

/// The number of known schemas to compare a file's schema with before merging it.
const SCHEMAS_COMPARED: usize = 16;

/// Returns a dataset's schema: the files' columns, followed by the partition columns.
///
/// # Errors
/// Returns the errors of opening files. Fails with Unsupported if no schema can hold all files'
/// values.
pub(crate) async fn schema(
    found: &Found,
    files: &Files,
    options: &DatasetOptions,
) -> Result<SchemaRef> {
    let file_schema = match &options.schema {
        SchemaFrom::Given(schema) => schema.clone(),
        SchemaFrom::FirstFile => {
            let first = found.files.get(..found.files.len().min(1));
            let schema = union(first.unwrap_or_default(), files, options).await?;
            // We make all columns nullable, because later files might have nulls and we don't read
            // their footers.
            match found.files.len() > 1 {
                true => Arc::new(nullable(&schema)),
                false => schema,
            }
        }
        SchemaFrom::Union => union(&found.files, files, options).await?,
    };
    let is_given = matches!(options.schema, SchemaFrom::Given(_));
    let names = partition_columns(found, options);
    let set: HashSet<&str> = names.iter().copied().collect();
    let is_partition = |field: &&FieldRef| !is_given && set.contains(field.name().as_str());
    let fields = file_schema
        .fields()
        .iter()
        .filter(|field| !is_partition(field))
        .cloned();
    let mut fields: Vec<FieldRef> = fields.collect();
    let file_columns: HashSet<String> = fields.iter().map(|field| field.name().clone()).collect();
    for name in names {
        if !file_columns.contains(name) {
            let field: Field = found.types.field(name);
            fields.push(Arc::new(field));
        }
    }
    let metadata = file_schema.metadata().clone();
    Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
}

/// Returns the partition columns of all files, in order of first appearance. Other directories'
/// columns follow if the filter tests them, because the filter might have ruled these directories
/// out.
fn partition_columns<'a>(found: &'a Found, options: &DatasetOptions) -> Vec<&'a str> {
    let (mut names, mut seen) = (Vec::new(), HashSet::new());
    if found.files.is_empty() {
        return names;
    }
    let mut last: &[String] = &[];
    for file in &found.files {
        // We only look at names that differ from the last file's, because most files have the same
        // columns as the previous one.
        if *last != *file.partition.names {
            last = &file.partition.names;
            names.extend(
                last.iter()
                    .map(String::as_str)
                    .filter(|it| seen.insert(*it)),
            );
        }
    }
    let tested = options.filter.as_ref().map(tested_paths);
    let tested = tested.unwrap_or_default();
    let tested: HashSet<&[String]> = tested.iter().map(Vec::as_slice).collect();
    let others = found.types.names.iter();
    let others = others.filter(|name| tested.contains(slice::from_ref(*name)));
    names.extend(others.map(String::as_str).filter(|it| seen.insert(*it)));
    names
}

/// Returns a schema that can hold all rows of these files, fetching their footers concurrently.
async fn union(files: &[DataFile], of: &Files, options: &DatasetOptions) -> Result<SchemaRef> {
    let mut paths = files.iter().map(DataFile::path);
    let mut schemas: Vec<(&str, SchemaRef)> = Vec::new();
    let read = ReadOptions::new().schema(options.types.clone());
    let start = |file: &DataFile| of.open(file);
    in_order(files, options.footers_at_once, start, |file| {
        let path = paths.next().unwrap_or_default();
        let plan = file.metadata_handle().plan(&read);
        let plan = plan.map_err(|error| error.in_file(path))?;
        // Most files have the same schema as an earlier one, so we only keep new schemas.
        let mut known = schemas.iter().rev().take(SCHEMAS_COMPARED);
        if !known.any(|known| known.1 == *plan.schema()) {
            schemas.push((path, plan.schema().clone()));
        }
        Ok(())
    })
    .await?;
    let mut merge = SchemaMerge::default();
    (merge.by_name, merge.cast) = (true, true);
    merge.schema(&schemas)
}

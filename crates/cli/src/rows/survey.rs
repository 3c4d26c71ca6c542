//! Finds the common schema of several files.

use std::slice;
use std::sync::Arc;

use herringbone::variant::shredding::is_variant;
use herringbone::{Projection, WantedSchema};
use herringbone_arrow::schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use herringbone_rewrite::{SchemaMerge, difference, nullable};

use super::{Request, count, has_column, is_in_path, options};
use crate::base::advice::Advised;
use crate::base::failure::{Failure, Result};
use crate::input::Input;
use crate::input::folder::{BY_NAME, Loss};

/// Returns the common schema of all files, and their row count if known. If the files differ, this
/// changes the request to read them with that schema.
///
/// We check all schemas before printing the first row, because a partial output is worse than none.
/// A folder's schema is the first file's, made nullable, and we check the other files as we read
/// them.
///
/// # Errors
/// Data if the files have no common schema.
pub(crate) fn survey(
    inputs: &[Input],
    request: &mut Request<'_>,
) -> Result<Option<(SchemaRef, Option<u64>)>> {
    let mut named: Vec<(&str, SchemaRef)> = Vec::new();
    let mut rows = Some(0_u64);
    for (at, input) in inputs.iter().enumerate() {
        if !request.is_surveyed(input) {
            rows = None;
            continue;
        }
        let file = input.open()?;
        let options = options((at, input), &file, request)?;
        let more = count(input, &file, &options)?;
        rows = rows.map(|rows| rows.saturating_add(more));
        named.push((&input.name, request.columns_of(input, &file, options)?));
    }
    let Some((_, first)) = named.first() else {
        return Ok(None);
    };
    let same = |a: &Schema, b: &Schema| difference("", a, "", b).is_none();
    let has_folder = inputs.iter().any(|input| input.member.is_some());
    if request.merge.by_name || has_folder {
        some_file_has_each_column(inputs, request)?;
    } else if named.iter().all(|(_, schema)| same(first, schema)) {
        return Ok(Some((first.clone(), rows)));
    }
    let shredded_otherwise = |schema: &SchemaRef| variants(schema) != variants(first);
    let may_be = rows.is_none() && !variants(first).is_empty();
    if !request.unshreds && (may_be || named.iter().any(|named| shredded_otherwise(&named.1))) {
        // The schemas might be equal once variants are unshredded, so we start over.
        request.unshred();
        return survey(inputs, request);
    }
    let merge = request.merge;
    let mut all = merge.schema(&named).map_err(|error| differ(&error))?;
    if request.options.wanted_schema.is_none() {
        request.reads_all = match request.columns {
            Some(columns) => columns.has_rest(),
            None => matches!(request.options.projection, Projection::All),
        };
    }
    if merge == SchemaMerge::default() {
        all = nullable_in_folders(inputs, request, all)?;
    }
    match has_folder {
        true => request.options.wanted_schema = Some(WantedSchema::new(all.clone())),
        false => merge.read_as(&all, &mut request.options),
    }
    let is_wanted = request.options.wanted_schema.is_some();
    if is_wanted {
        request.read_wanted_columns();
    }
    let surveyed = inputs.iter().enumerate();
    let surveyed: Vec<_> = surveyed
        .filter(|surveyed| request.is_surveyed(surveyed.1))
        .collect();
    for (of_named, (at, input)) in surveyed.into_iter().enumerate() {
        let file = input.open()?;
        let plan = file.plan(&options((at, input), &file, request)?);
        let plan = plan.map_err(|error| unreadable(input, request, &error))?;
        let read = plan.schema().clone();
        if is_wanted {
            all = read;
        } else if !same(&all, &read) {
            return Err(differ(&merge.refusal(&named, of_named)));
        }
    }
    if request.is_written {
        check_nothing_is_lost(inputs, request)?;
    }
    Ok(Some((all, rows)))
}

/// Makes the schema nullable where a folder's files can have nulls, since only the first file has
/// contributed so far. If the rows are written, we read all footers to be exact. Otherwise, we make
/// everything nullable, which avoids reading footers before we need their files.
fn nullable_in_folders(
    inputs: &[Input],
    request: &Request<'_>,
    schema: SchemaRef,
) -> Result<SchemaRef> {
    let wide = nullable(&schema);
    let mut fields: Vec<FieldRef> = schema.fields().iter().cloned().collect();
    for input in inputs.iter().filter(|input| !request.is_surveyed(input)) {
        let file_schema = match request.is_written {
            true => Some(input.open()?.arrow_schema(&request.options.schema)),
            false => None,
        };
        let file_schema = file_schema
            .transpose()
            .map_err(|error| input.failure(&error))?;
        for (field, wide) in fields.iter_mut().zip(wide.fields()) {
            let is_same = match &file_schema {
                Some(schema) => schema.field_with_name(field.name()).map_or(true, |other| {
                    other.is_nullable() == field.is_nullable()
                        && other.data_type() == field.data_type()
                }),
                None => is_in_path(input, slice::from_ref(field.name())),
            };
            if !is_same {
                field.clone_from(wide);
            }
        }
        if !request.is_written {
            break;
        }
    }
    let metadata = schema.metadata().clone();
    Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
}

/// Returns the failure for a file that cannot be read with the common columns. The reason might be
/// that a condition needs another column.
fn unreadable(input: &Input, request: &Request<'_>, error: &herringbone::Error) -> Failure {
    let Some(column) = error
        .message()
        .strip_prefix("the wanted schema has no column ")
    else {
        return input.failure(error);
    };
    let is_of_first = input.member.is_some() && request.merge == SchemaMerge::default();
    let (file, advice) = match is_of_first {
        true => (", the first file", format!("; {BY_NAME}")),
        false => ("", String::new()),
    };
    let name = &input.name;
    Failure::Usage(format!(
        "there is no column {column} in {name}{file}{advice}"
    ))
}

/// Checks that a folder's table and each of its files have the same columns, so that nothing is
/// lost.
///
/// # Errors
/// Fails with [`Failure::Data`] if a column is missing.
fn check_nothing_is_lost(inputs: &[Input], request: &Request<'_>) -> Result<()> {
    for input in inputs {
        let Some(member) = input.member.as_ref().filter(|member| !member.is_first()) else {
            continue;
        };
        let lost = request.lost_columns(member, &input.open()?)?;
        if !lost.is_empty() {
            let lost = lost.text(Loss::Refused);
            return Err(Failure::Data(format!("{}: {lost}; {BY_NAME}", input.name)));
        }
    }
    Ok(())
}

/// Returns the failure for files that differ. The message already names them.
fn differ(error: &herringbone::Error) -> Failure {
    Failure::Data(Advised::new(error).without_kind())
}

/// Checks that each requested column exists in at least one file.
///
/// # Errors
/// Fails with [`Failure::Usage`] if a column does not exist in any file.
fn some_file_has_each_column(inputs: &[Input], request: &Request<'_>) -> Result<()> {
    let Projection::Paths(paths) = &request.options.projection else {
        return Ok(());
    };
    let mut missing: Vec<&Vec<String>> = paths.iter().collect();
    for input in inputs.iter().filter(|input| request.is_surveyed(input)) {
        if missing.is_empty() {
            return Ok(());
        }
        let file = input.open()?;
        missing
            .retain(|path| !is_in_path(input, path) && !has_column(&file, &request.options, path));
    }
    match missing.first() {
        None => Ok(()),
        Some(path) => Err(Failure::Usage(format!(
            "there is no column `{}` in {}",
            path.join("."),
            match inputs {
                [first, rest @ ..]
                    if !request.is_surveyed(rest.last().unwrap_or(first))
                        && rest.iter().all(|rest| rest.is_in_folder_of(first)) =>
                    format!("{}, the first file; {BY_NAME}", first.name),
                [only] => only.name.clone(),
                _ => "any of the files".into(),
            }
        ))),
    }
}

/// Returns the storage types of all variants, which reveal their shredding.
fn variants(schema: &Schema) -> Vec<&DataType> {
    let fields = schema.flattened_fields().into_iter();
    let variants = fields.filter(|field| is_variant(field));
    variants.map(Field::data_type).collect()
}

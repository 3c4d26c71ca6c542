//! Parts of Parquet inputs, other than rows, carried over to Parquet outputs, in the words of the command.

use herringbone::encryption::FileEncryptionProperties;
use herringbone::{ParquetFile, WriteOptions};
use herringbone_arrow::schema::SchemaRef;
use herringbone_rewrite::encryption::{KeyMaterial, Protection};
use herringbone_rewrite::{CarryOver, ColumnOrigin, InputFile, Note};

use crate::args::{Destination, Write};
use crate::base::failure::{Failure, Result};
use crate::base::url::{as_url, name_of};
use crate::input::Input;
use crate::input::context::Context;
use crate::save::interrupt::uninterrupted;
use crate::save::target::Target;

/// Starts to collect the parts of the input that the command line retains. `origins` are those of columns with new
/// names or types.
pub(crate) fn start(
    write: &Write,
    protection: Protection,
    origins: Vec<ColumnOrigin>,
) -> CarryOver {
    CarryOver::new()
        .bloom_filters(write.keeps_bloom_filters().then(|| write.bloom_filter()))
        .plain_geometries(write.has_plain_geometries())
        .protection(protection)
        .origins(origins)
}

/// Returns the protection with these properties.
pub(crate) fn encrypted(properties: FileEncryptionProperties) -> Protection {
    Protection::Encrypt(Box::new(properties))
}

/// Adds the retained parts of an input.
///
/// # Errors
/// Data if the metadata of the file cannot be read, or a key is missing.
pub(crate) fn add(
    carry_over: &mut CarryOver,
    input: &Input,
    file: &ParquetFile,
    row_groups: &[usize],
) -> Result<()> {
    let origin = InputFile::new(&input.name, file, row_groups).decryption(input.decryption());
    let added = carry_over.add(origin);
    added.map_err(|error| input.failure(&error).in_data())
}

/// Applies the collected parts to the options. Returns the schema for writing, and the key material that must be
/// copied once the output exists.
///
/// # Errors
/// Data if the files have different encryption; Usage if the output cannot have the key material that it needs;
/// errors of the writer.
pub(crate) fn apply(
    context: &Context,
    carry_over: CarryOver,
    schema: &SchemaRef,
    (first, destination): (&Input, &Destination),
    options: &mut WriteOptions,
) -> Result<(SchemaRef, Option<KeyMaterial>)> {
    let carried = carry_over.apply(schema, options);
    let carried = carried.map_err(|error| Failure::written(&name_of(&destination.path), &error))?;
    for note in &carried.notes {
        match note {
            Note::UnusableGeoParquet { .. } => context.loud_note(&note.to_string()),
            _ => context.note(&note.to_string()),
        }
    }
    let material = match carried.external_key_material {
        true => material(first, destination)?,
        false => None,
    };
    Ok((carried.schema, material))
}

/// Returns the key material to be copied. `None` if it already exists.
fn material(input: &Input, destination: &Destination) -> Result<Option<KeyMaterial>> {
    let usage = |what: &str| Failure::Usage(format!("{}: {what}", input.name));
    let Some(from) = input.path() else {
        return Err(usage(
            "its key material is in a file next to it, so it cannot be read from standard input or a URL",
        ));
    };
    if as_url(&destination.path).is_some() {
        return Err(usage(
            "its key material is in a file next to it, so it cannot be written to a URL",
        ));
    }
    if Target::is_stdout(&destination.path) {
        return Err(usage(
            "its key material is in a file next to it, so it cannot be written to standard output",
        ));
    }
    let material = KeyMaterial::new(from, &destination.path, destination.force);
    let material = material.map_err(|error| usage(error.message()))?;
    if material.is_shared() {
        return Ok(None);
    }
    let path = material.path();
    match path.exists() && !destination.force {
        true => Err(Failure::Usage(format!(
            "{}: the file already exists; --force replaces it",
            path.display()
        ))),
        false => Ok(Some(material)),
    }
}

/// Copies the key material of the output.
///
/// # Errors
/// System.
pub(crate) fn finish(material: Option<KeyMaterial>) -> Result<()> {
    // The copy uses a temporary file of its own.
    let copied = uninterrupted(|_| material.map_or(Ok(()), |material| material.copy()));
    copied.map_err(|error| Failure::System(error.message().into()))
}

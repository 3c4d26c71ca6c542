//! Carries everything other than rows over from Parquet inputs to Parquet outputs. The library does
//! the work, and we rephrase its failures and notes for the command line.

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

/// Starts collecting the parts of the input to keep. `origins` has the origins of columns, if some
/// have a new name or type.
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

/// Returns the protection for encrypting with these properties.
pub(crate) fn encrypted(properties: FileEncryptionProperties) -> Protection {
    Protection::Encrypt(Box::new(properties))
}

/// Adds the parts to keep from an input.
///
/// # Errors
/// Fails with [`Failure::Data`] if the file's metadata cannot be read, or if a key is missing.
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

/// Applies the collected parts to the options. Returns the schema for writing and the key material
/// to copy once the output exists.
///
/// # Errors
/// Fails with [`Failure::Data`] if the files are encrypted in different ways, with
/// [`Failure::Usage`] if the output cannot have the key material that it needs, and if the writer
/// refuses the options.
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

/// Returns the key material to copy, or `None` if the output can reuse the existing key material.
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

/// Copies the output's key material.
///
/// # Errors
/// Fails with [`Failure::System`] if it cannot be copied.
pub(crate) fn finish(material: Option<KeyMaterial>) -> Result<()> {
    // The copy uses a temporary file of its own that isn't on record, so no signal must interrupt
    // it.
    let copied = uninterrupted(|_| material.map_or(Ok(()), |material| material.copy()));
    copied.map_err(|error| Failure::System(error.message().into()))
}

//! The encryption of Parquet input in the Parquet that is written from it.

use std::collections::HashMap;
use std::path::Path;

use herringbone::encryption::FileEncryptionProperties;
use herringbone::encryption::crypto_metadata::ColumnCryptoMetadata;
use herringbone::encryption::file::encryption_like;
use herringbone::encryption::key_tools::{
    FileKeyMaterialStore, KeyMaterialStore as _, is_external,
};
use herringbone::encryption::properties::ColumnPath;
use herringbone::schema::WriteLeaf;
use herringbone::{Error, ErrorKind, Remedy};

use super::InTheClear;
use crate::args::Destination;
use crate::carry_over::Origin;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input::Input;
use crate::target::Target;

/// What a column says of its key; `None` if it is not encrypted.
type Crypto = Option<ColumnCryptoMetadata>;

/// How the file is written.
pub(crate) struct Kept {
    pub(crate) properties: FileEncryptionProperties,
    /// Where the key material of the input is and that of the output goes, if it does not stand in the files.
    material: Option<(FileKeyMaterialStore, FileKeyMaterialStore)>,
}

impl Kept {
    /// Gives the output its key material, once it is there.
    ///
    /// # Errors
    /// System.
    pub(crate) fn finish(&self) -> Result<()> {
        let Some((from, to)) = &self.material else {
            return Ok(());
        };
        let copied = from.read().and_then(|material| to.create(&material));
        copied.map_err(|error| Failure::System(error.message().into()))
    }
}

/// How a file of these leaves is encrypted as the files are that its rows come from; `None` if these are not.
///
/// # Errors
/// Data where a key is missing, or the files are encrypted in different ways; usage where the output cannot
/// have the key material that it takes.
pub(crate) fn keep(
    context: &Context,
    origins: &[Origin<'_>],
    leaves: &[WriteLeaf],
    destination: &Destination,
) -> Result<Option<Kept>> {
    let mut origins = origins.iter();
    let Some(first) = origins.next() else {
        return Ok(None);
    };
    let like_first = like(first, leaves)?;
    for origin in origins {
        let like_this = like(origin, leaves)?;
        let same = |like: &Option<Like>| like.as_ref().map(|like| like.properties.clone());
        if same(&like_first) != same(&like_this) {
            return Err(Failure::Data(format!(
                "{} and {} are not encrypted alike, so their rows cannot be in one file that is encrypted as \
                 they are; `decrypt` each, and `encrypt` what becomes of them",
                first.input.name, origin.input.name
            )));
        }
    }
    let Some(Like {
        properties,
        has_material_of_its_own,
        is_duckdb_dialect,
    }) = like_first
    else {
        return Ok(None);
    };
    if is_duckdb_dialect {
        context.note(&format!(
            "{}: DuckDB's dialect is not kept; OUT is encrypted as the specification has it",
            first.input.name
        ));
    }
    let material = match has_material_of_its_own {
        true => material(first, destination)?,
        false => None,
    };
    Ok(Some(Kept {
        properties,
        material,
    }))
}

struct Like {
    properties: FileEncryptionProperties,
    has_material_of_its_own: bool,
    is_duckdb_dialect: bool,
}

fn like(origin: &Origin<'_>, leaves: &[WriteLeaf]) -> Result<Option<Like>> {
    let failure = |error: Error| origin.input.failure(&error).in_data();
    let Some(clear) = InTheClear::of(&origin.file).map_err(failure)? else {
        return Ok(None);
    };
    let properties = origin.input.decryption();
    let properties = properties.ok_or_else(|| without_keys(origin.input))?;
    let columns = columns(origin).map_err(failure)?;
    let columns = leaves
        .iter()
        .map(|leaf| Ok((leaf.path.clone(), of_leaf(&columns, &leaf.path)?)));
    let columns: Vec<_> = columns
        .collect::<herringbone::Result<_>>()
        .map_err(failure)?;
    let of_columns = columns.iter().filter_map(|(_, crypto)| match crypto {
        Some(ColumnCryptoMetadata::ColumnKey { key_metadata, .. }) => key_metadata.as_ref(),
        _ => None,
    });
    let mut key_metadata = of_columns.chain(&clear.crypto.key_metadata);
    let has_material_of_its_own = key_metadata.any(|metadata| is_external(metadata));
    let properties = encryption_like(properties, &clear.crypto, clear.plaintext_footer, columns)
        .map_err(failure)?;
    Ok(Some(Like {
        properties,
        has_material_of_its_own,
        is_duckdb_dialect: clear.is_duckdb_dialect(),
    }))
}

/// The file is encrypted, and there is nothing to encrypt another with.
pub(crate) fn without_keys(input: &Input) -> Failure {
    let message = "the file is encrypted, as what is made of it has to be, and no keys were given";
    let error = Error::new(ErrorKind::Key, message).with_remedy(Remedy::GiveKeys);
    input.failure(&error)
}

/// What the chunks of each column say, which has to be the same.
fn columns(origin: &Origin<'_>) -> herringbone::Result<HashMap<ColumnPath, Crypto>> {
    let (schema, metadata) = (origin.file.parquet_schema(), origin.file.metadata());
    let mut columns: HashMap<ColumnPath, Crypto> = HashMap::new();
    for &row_group in &origin.row_groups {
        for leaf in 0..schema.leaves().len().min(metadata.num_columns(row_group)) {
            let path: ColumnPath = schema.path(leaf).into_iter().map(str::to_owned).collect();
            let chunk = metadata.column_chunk(row_group, leaf)?;
            let crypto = chunk.crypto_metadata;
            let crypto = crypto.map(|bytes| ColumnCryptoMetadata::decode(&bytes.0));
            let crypto = crypto.transpose()?;
            let name = path.join(".");
            if columns.entry(path).or_insert_with(|| crypto.clone()) != &crypto {
                let message = "row groups have different keys for a column, which cannot be kept";
                return Err(Error::unsupported(message)
                    .in_row_group(row_group)
                    .in_column(name));
            }
        }
    }
    Ok(columns)
}

/// What a leaf of the output is to say. One that is called otherwise in the input, as types can be stored in
/// several ways, is protected as all leaves of its field are.
fn of_leaf(columns: &HashMap<ColumnPath, Crypto>, path: &[String]) -> herringbone::Result<Crypto> {
    if let Some(crypto) = columns.get(path) {
        return Ok(crypto.clone());
    }
    if columns.is_empty() {
        // There are no rows to protect.
        return Ok(Some(ColumnCryptoMetadata::FooterKey));
    }
    let of_field = columns
        .iter()
        .filter(|(other, _)| other.first() == path.first());
    let mut of_field = of_field.map(|(_, crypto)| same_key(crypto));
    match of_field.next() {
        Some(first) if of_field.all(|other| other == first) => Ok(first),
        _ => {
            let message =
                "the input has no such column, so that it is not known which key it has to have";
            Err(Error::unsupported(message).in_column(path.join(".")))
        }
    }
}

/// The same without the path, which differs where the key does not.
fn same_key(crypto: &Crypto) -> Crypto {
    let mut crypto = crypto.clone();
    if let Some(ColumnCryptoMetadata::ColumnKey { path_in_schema, .. }) = &mut crypto {
        path_in_schema.clear();
    }
    crypto
}

/// Where key material comes from and goes to, unless it is there already.
fn material(
    origin: &Origin<'_>,
    destination: &Destination,
) -> Result<Option<(FileKeyMaterialStore, FileKeyMaterialStore)>> {
    let wrong = |what: &str| Failure::Usage(format!("{}: {what}", origin.input.name));
    let Some(from) = origin.input.path() else {
        return Err(wrong(
            "its key material is in a file beside it, so it needs a path",
        ));
    };
    if Target::is_stdout(&destination.path) {
        return Err(wrong(
            "its key material is in a file beside it, which standard output cannot have",
        ));
    }
    let store =
        |path: &Path| FileKeyMaterialStore::new(path).map_err(|error| wrong(error.message()));
    let (from, to) = (
        store(from)?,
        store(&destination.path)?.overwrite(destination.force),
    );
    let real = |store: &FileKeyMaterialStore| store.path().canonicalize().ok();
    match real(&to) {
        Some(there) if real(&from).as_ref() == Some(&there) => Ok(None),
        Some(there) if !destination.force => Err(Failure::Usage(format!(
            "{}: the file exists; --force replaces it",
            there.display()
        ))),
        _ => Ok(Some((from, to))),
    }
}

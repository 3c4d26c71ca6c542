//! Compares us with pyarrow's key tools, with the KMS and the master keys of its tests:
//!
//!     key_tools read FILE                          decrypts every module
//!     key_tools duckdb FILE                        decrypts every module of a file of DuckDB, with the key `kf`
//!     key_tools rotate FILE same|double|single     rotates the master keys of its external key material
//!     key_tools rewrite FROM TO internal|external double|single 128|192|256
//!                                                  encrypts every module again, with new keys

#[path = "../tests/support/mod.rs"]
mod support;

use std::{error::Error, path::Path, process::ExitCode, sync::Arc};

use bytes::Bytes;
use herringbone_encryption::{
    Algorithm, FileDecryptionProperties, FileDecryptor, FileEncryptor, Key, KeyLength, ModuleId,
    ModuleKind,
    crypto_metadata::ColumnCryptoMetadata,
    key_tools::{
        EncryptionConfiguration, FileKeyMaterialStore, InMemoryKms, KeyMaterialStore, KeyTools,
        KmsClient, KmsConnection, KmsUrlPolicy,
    },
    properties::{ColumnPath, OtherColumns},
};
use herringbone_format::{FileMetadata, Limits, RawStruct, RowGroup, thrift::CompactWriter};
use support::walker::{self, Module};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["read", file] => read(file),
        ["duckdb", file] => duckdb(file),
        ["rotate", file, wrapping] => rotate(file, wrapping),
        ["rewrite", from, to, storage, wrapping, bits] => {
            rewrite(from, to, storage, wrapping, bits)
        }
        _ => Err("see the beginning of its source".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn tools() -> Outcome<Arc<KeyTools>> {
    let kms: Arc<dyn KmsClient> = Arc::new(InMemoryKms::new([
        ("kf", Key::new(b"0123456789012345")?),
        ("kc1", Key::new(b"1234567890123450")?),
        ("kc2", Key::new(b"1234567890123451")?),
    ]));
    let factory = move |_: &KmsConnection| Ok(kms.clone());
    Ok(Arc::new(KeyTools::new(Arc::new(factory))))
}

fn decryption(tools: &Arc<KeyTools>, file: &str) -> Outcome<FileDecryptionProperties> {
    let store = FileKeyMaterialStore::new(file)?;
    let store = store
        .path()
        .exists()
        .then(|| Arc::new(store) as Arc<dyn KeyMaterialStore>);
    let (connection, policy) = (KmsConnection::default(), KmsUrlPolicy::default());
    let builder = FileDecryptionProperties::builder()
        .key_retriever(tools.key_retriever(connection, policy, store))
        .allowed_algorithms([Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1]);
    Ok(builder.build()?)
}

fn read(file: &str) -> Outcome {
    let modules = walker::walk(&std::fs::read(file)?, &decryption(&tools()?, file)?)?;
    println!("{}", modules.len());
    Ok(())
}

fn duckdb(file: &str) -> Outcome {
    let bytes = std::fs::read(file)?;
    let footer_key = Key::new(b"0123456789012345")?;
    let builder = || FileDecryptionProperties::builder().footer_key(footer_key.clone());
    if walker::walk(&bytes, &builder().build()?).is_ok() {
        return Err("it is read without being asked to".into());
    }
    let modules = walker::walk(&bytes, &builder().duckdb_dialect(true).build()?)?;
    println!("{}", modules.len());
    Ok(())
}

fn rotate(file: &str, wrapping: &str) -> Outcome {
    let double = match wrapping {
        "same" => None,
        "double" => Some(true),
        _ => Some(false),
    };
    let (connection, policy) = (KmsConnection::default(), KmsUrlPolicy::default());
    let store: Arc<dyn KeyMaterialStore> = Arc::new(FileKeyMaterialStore::new(file)?);
    tools()?.rotate_master_keys(&connection, &policy, &store, double, KeyLength::Bits256)?;
    Ok(())
}

/// A file to decrypt and encrypt again. Its modules keep their lengths, and therefore their places.
struct Rewrite {
    bytes: Vec<u8>,
    metadata: FileMetadata,
    modules: Vec<Module>,
    decryptor: FileDecryptor,
    plaintext_footer: bool,
}

fn rewrite(from: &str, to: &str, storage: &str, wrapping: &str, bits: &str) -> Outcome {
    let tools = tools()?;
    let bytes = std::fs::read(from)?;
    let properties = decryption(&tools, from)?;
    let modules = walker::walk(&bytes, &properties)?;
    let (footer, decryptor, plaintext_footer) = walker::footer(&bytes, &properties)?;
    let file = Rewrite {
        metadata: FileMetadata::decode(Bytes::from(footer), 0, &Limits::default())?,
        bytes,
        modules,
        decryptor,
        plaintext_footer,
    };
    let length = KeyLength::from_bits(bits.parse()?)?;
    let mut configuration = file.configuration()?;
    configuration.double_wrapping = wrapping == "double";
    (configuration.data_key_length, configuration.kek_length) = (length, length);
    let store: Arc<dyn KeyMaterialStore> = Arc::new(FileKeyMaterialStore::new(Path::new(to))?);
    let store = (storage == "external").then_some(store);
    let properties =
        tools.encryption_properties(&KmsConnection::default(), &configuration, store)?;
    let leaves: Vec<ColumnPath> = file.paths()?.into_iter().map(|(path, _)| path).collect();
    let encryptor = FileEncryptor::new(&properties, &leaves)?;
    std::fs::write(to, file.encrypt(&encryptor)?)?;
    Ok(())
}

impl Rewrite {
    /// Returns each leaf's path, with the encryption of its chunks.
    fn paths(&self) -> Outcome<Vec<(ColumnPath, Option<ColumnCryptoMetadata>)>> {
        let row_group = self.metadata.row_group(0)?;
        let mut paths = Vec::new();
        for chunk in row_group.columns {
            let crypto = chunk
                .crypto_metadata
                .map(|crypto| ColumnCryptoMetadata::decode(&crypto.0));
            let crypto = crypto.transpose()?;
            let path = match (&crypto, chunk.meta_data) {
                (Some(ColumnCryptoMetadata::ColumnKey { path_in_schema, .. }), _) => {
                    path_in_schema.clone()
                }
                (_, metadata) => metadata.ok_or("no metadata")?.path_in_schema,
            };
            paths.push((path, crypto));
        }
        Ok(paths)
    }

    /// Encrypts the same columns, but every other one with `kc2`.
    fn configuration(&self) -> Outcome<EncryptionConfiguration> {
        let paths = self.paths()?;
        let mut configuration = EncryptionConfiguration::new("kf");
        configuration.algorithm = self.decryptor.algorithm();
        configuration.plaintext_footer = self.plaintext_footer;
        let own = paths
            .iter()
            .filter(|(_, crypto)| matches!(crypto, Some(ColumnCryptoMetadata::ColumnKey { .. })));
        configuration.column_keys = own
            .zip(["kc1", "kc2"].iter().cycle())
            .map(|((path, _), id)| ((*id).to_owned(), vec![path.clone()]))
            .collect();
        if paths.iter().any(|(_, crypto)| crypto.is_none()) {
            configuration.other_columns = OtherColumns::Plaintext;
        }
        Ok(configuration)
    }

    fn encrypt(&self, encryptor: &FileEncryptor) -> Outcome<Vec<u8>> {
        let end = self.bytes.len() - 8;
        let length = u32::from_le_bytes(self.bytes[end..end + 4].try_into()?);
        let mut out = self.bytes[..end - length as usize].to_vec();
        let paths = self.paths()?;
        for Module { id, place, .. } in &self.modules {
            let Some((start, length)) = *place else {
                continue;
            };
            if start + length > out.len() {
                continue;
            }
            let (path, crypto) = &paths[id.column];
            let crypto = crypto.as_ref().ok_or("the column is encrypted")?;
            let old = self.decryptor.column_key(path, crypto)?.ready()?;
            let plaintext = old.decrypt(id, &out[start..start + length])?;
            let new = &encryptor
                .column(id.column)
                .ok_or("the column is encrypted")?
                .key;
            let mut module = Vec::new();
            new.encrypt(id, &[&plaintext], &mut module)?;
            out[start..start + length].copy_from_slice(&module);
        }
        self.append_footer(encryptor, &mut out)?;
        Ok(out)
    }

    fn row_group(&self, ordinal: usize, encryptor: &FileEncryptor) -> Outcome<RowGroup> {
        let mut row_group = self.metadata.row_group(ordinal)?;
        for (column, chunk) in row_group.columns.iter_mut().enumerate() {
            let Some(new) = encryptor.column(column) else {
                continue;
            };
            chunk.crypto_metadata = Some(RawStruct(new.crypto_metadata.encode()));
            assert_eq!(
                chunk.encrypted_column_metadata.is_some(),
                new.encrypts_metadata
            );
            assert_eq!(chunk.meta_data.is_some(), new.has_plain_metadata);
            if !new.encrypts_metadata {
                continue;
            }
            let id = ModuleId::of_column(ModuleKind::ColumnMetadata, ordinal, column);
            let module = self.modules.iter().find(|module| module.id == id);
            let plaintext = &module.ok_or("the metadata was decrypted")?.plaintext;
            let mut encrypted = Vec::new();
            new.key.encrypt(&id, &[plaintext], &mut encrypted)?;
            chunk.encrypted_column_metadata = Some(encrypted);
        }
        Ok(row_group)
    }

    fn append_footer(&self, encryptor: &FileEncryptor, out: &mut Vec<u8>) -> Outcome {
        let start = out.len();
        let crypto = encryptor.file_crypto_metadata();
        let plaintext = encryptor.has_plaintext_footer();
        let row_groups = 0..self.metadata.num_row_groups();
        let row_groups: Outcome<Vec<RowGroup>> = row_groups
            .map(|ordinal| self.row_group(ordinal, encryptor))
            .collect();
        let mut key_values = self.metadata.key_value_metadata().to_vec();
        key_values.push(encryptor.key_value());
        let footer = herringbone_format::FileMetadataParts::new(
            self.metadata.version(),
            self.metadata.schema().to_vec(),
            self.metadata.num_rows(),
            row_groups?,
        )
        .key_value_metadata(key_values)
        .created_by("herringbone".to_owned())
        .column_orders(self.metadata.column_orders().map(<[_]>::to_vec))
        .encryption_algorithm(plaintext.then(|| RawStruct(crypto.encryption_algorithm.encode())))
        .footer_signing_key_metadata(crypto.key_metadata.clone().filter(|_| plaintext));
        let mut writer = CompactWriter::new();
        footer.encode(&mut writer);
        let footer = writer.finish();
        let magic = if plaintext {
            out.extend_from_slice(&footer);
            out.extend_from_slice(&encryptor.footer_key().sign_footer(&footer)?);
            b"PAR1"
        } else {
            out.extend_from_slice(&crypto.encode());
            encryptor
                .footer_key()
                .encrypt(&ModuleId::FOOTER, &[&footer], out)?;
            b"PARE"
        };
        let length = u32::try_from(out.len() - start)?;
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(magic);
        Ok(())
    }
}

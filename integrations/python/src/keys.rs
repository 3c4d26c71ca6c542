//! The keys of encrypted files: `{"footer": b"…", "columns": {"path": b"…"}}`.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::encryption::properties::KeyAnswer;
use herringbone::encryption::properties::{EncryptionKey, KeyRequest, KeyRetriever, OtherColumns};
use herringbone::encryption::{Algorithm, FileDecryptionProperties, FileEncryptionProperties, Key};
use herringbone::{Error, ErrorKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use crate::error::{Failure, Result};

/// The names that the dict of keys may have.
const NAMES: &str = "footer, columns, retrieve, aad_prefix, store_aad_prefix, allow_plaintext, \
                     allow_any_algorithm, algorithm, plaintext_footer, plaintext_columns";

/// The dict of keys, for reads and writes.
#[derive(Default)]
struct Keys<'py> {
    footer: Option<Bound<'py, PyAny>>,
    columns: HashMap<String, Bound<'py, PyAny>>,
    retrieve: Option<Py<PyAny>>,
    aad_prefix: Option<Vec<u8>>,
    store_aad_prefix: Option<bool>,
    allow_plaintext: bool,
    allow_any_algorithm: bool,
    algorithm: Option<String>,
    plaintext_footer: bool,
    plaintext_columns: Option<PlaintextColumns>,
}

/// The choice of plaintext columns.
#[derive(FromPyObject)]
enum PlaintextColumns {
    /// True if all columns without a key are plaintext.
    Others(bool),
    Named(Vec<String>),
}

impl<'py> Keys<'py> {
    fn read(keys: &Bound<'py, PyDict>) -> Result<Self> {
        let mut read = Self::default();
        for (name, value) in keys {
            let name: String = name.extract()?;
            match name.as_str() {
                "footer" => read.footer = Some(value),
                "columns" => read.columns = value.extract()?,
                "retrieve" => read.retrieve = Some(value.unbind()),
                "aad_prefix" => read.aad_prefix = Some(value.extract()?),
                "store_aad_prefix" => read.store_aad_prefix = Some(value.extract()?),
                "allow_plaintext" => read.allow_plaintext = value.extract()?,
                "allow_any_algorithm" => read.allow_any_algorithm = value.extract()?,
                "algorithm" => read.algorithm = Some(value.extract()?),
                "plaintext_footer" => read.plaintext_footer = value.extract()?,
                "plaintext_columns" => read.plaintext_columns = Some(value.extract()?),
                other => {
                    let message = format!("unknown name {other:?} in keys; the names are {NAMES}");
                    return Err(PyTypeError::new_err(message).into());
                }
            }
        }
        Ok(read)
    }
}

/// Returns a key, without putting any of its bytes into an error's message.
fn key(value: &Bound<'_, PyAny>) -> Result<Key> {
    let Ok(bytes) = value.cast::<PyBytes>() else {
        let name = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("a key is bytes, not {name}")).into());
    };
    Ok(Key::new(bytes.as_bytes())?)
}

/// Returns a key, with the metadata that names it if the value is a pair.
fn encryption_key(value: &Bound<'_, PyAny>) -> Result<EncryptionKey> {
    match value.extract::<(Bound<'_, PyAny>, Vec<u8>)>() {
        Ok((bytes, metadata)) => Ok(EncryptionKey::with_metadata(key(&bytes)?, metadata)),
        Err(_) => Ok(key(value)?.into()),
    }
}

fn path(name: &str) -> impl Iterator<Item = &str> {
    name.split('.')
}

/// Returns the keys for reads.
pub(crate) fn decryption(keys: &Bound<'_, PyDict>) -> Result<FileDecryptionProperties> {
    let keys = Keys::read(keys)?;
    let mut builder = FileDecryptionProperties::builder().allow_plaintext(keys.allow_plaintext);
    if let Some(footer) = &keys.footer {
        builder = builder.footer_key(key(footer)?);
    }
    for (name, value) in &keys.columns {
        builder = builder.column_key(path(name), key(value)?);
    }
    if let Some(prefix) = keys.aad_prefix {
        builder = builder.aad_prefix(prefix);
    }
    if keys.allow_any_algorithm {
        builder = builder.allowed_algorithms([Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1]);
    }
    if let Some(retrieve) = keys.retrieve {
        builder = builder.key_retriever(Arc::new(Retriever(retrieve)));
    }
    Ok(builder.build()?)
}

/// Returns the keys for writes.
pub(crate) fn encryption(keys: &Bound<'_, PyDict>) -> Result<FileEncryptionProperties> {
    let keys = Keys::read(keys)?;
    let Some(footer) = &keys.footer else {
        return Err(Error::new(
            ErrorKind::Key,
            "the keys need a key for the footer: {'footer': b'...'}",
        )
        .into());
    };
    let mut builder = FileEncryptionProperties::builder(encryption_key(footer)?)
        .plaintext_footer(keys.plaintext_footer);
    for (name, value) in &keys.columns {
        builder = builder.column_key(path(name), encryption_key(value)?);
    }
    match keys.plaintext_columns {
        Some(PlaintextColumns::Others(true)) => {
            builder = builder.other_columns(OtherColumns::Plaintext);
        }
        Some(PlaintextColumns::Named(names)) => {
            for name in &names {
                builder = builder.plaintext_column(path(name));
            }
        }
        Some(PlaintextColumns::Others(false)) | None => {}
    }
    if let Some(prefix) = keys.aad_prefix {
        builder = builder.aad_prefix(prefix);
    }
    if let Some(store) = keys.store_aad_prefix {
        builder = builder.store_aad_prefix(store);
    }
    if let Some(name) = keys.algorithm {
        let Some(algorithm) = Algorithm::from_name(&name) else {
            let message =
                format!("unknown algorithm {name:?}; AES_GCM_V1 and AES_GCM_CTR_V1 exist");
            return Err(Error::argument(message).into());
        };
        builder = builder.algorithm(algorithm);
    }
    Ok(builder.build()?)
}

/// A Python function that returns the key for a key's metadata.
struct Retriever(Py<PyAny>);

impl KeyRetriever for Retriever {
    fn retrieve(&self, request: &KeyRequest) -> herringbone::Result<KeyAnswer> {
        let called = Python::try_attach(|py| -> Result<Key> {
            let metadata = request.key_metadata.as_slice();
            let found = match std::str::from_utf8(metadata) {
                Ok(text) => self.0.bind(py).call1((PyString::new(py, text),))?,
                Err(_) => self.0.bind(py).call1((PyBytes::new(py, metadata),))?,
            };
            key(&found)
        });
        match called {
            Some(Ok(key)) => Ok(KeyAnswer::Key(key)),
            Some(Err(Failure::Parquet(error))) => Err(error),
            Some(Err(Failure::Python(error))) => Err(std::io::Error::other(error).into()),
            None => Err(Error::new(
                ErrorKind::Key,
                "the Python interpreter has ended",
            )),
        }
    }
}

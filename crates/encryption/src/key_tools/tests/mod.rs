//! Tests the key tools with the KMS and the master keys of other libraries' tests.

mod material;
mod reading;
mod rotation;

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use super::*;
use crate::{
    Error, ErrorKind, FileDecryptionProperties, FileDecryptor, FileEncryptionProperties,
    FileEncryptor, Key, KeyLength, ModuleId, ModuleKind, Result,
    crypto_metadata::FileCryptoMetadata,
    properties::{KeyAnswer, KeyRequest, KeyRetriever, OtherColumns},
};

/// Returns the master keys used by the tests of parquet-java and pyarrow.
fn master_keys() -> InMemoryKms {
    let key = |text: &[u8]| Key::new(text).unwrap();
    InMemoryKms::new([
        ("kf", key(b"0123456789012345")),
        ("kc1", key(b"1234567890123450")),
        ("kc2", key(b"1234567890123451")),
    ])
}

/// A KMS that counts its calls.
#[derive(Clone)]
struct Counting {
    kms: Arc<dyn KmsClient>,
    wraps: Arc<AtomicUsize>,
    unwraps: Arc<AtomicUsize>,
}

impl Counting {
    fn new(kms: impl KmsClient + 'static) -> Self {
        Self {
            kms: Arc::new(kms),
            wraps: Arc::default(),
            unwraps: Arc::default(),
        }
    }

    fn tools(&self) -> Arc<KeyTools> {
        let client: Arc<dyn KmsClient> = Arc::new(self.clone());
        Arc::new(KeyTools::new(Arc::new(move |_: &KmsConnection| {
            Ok(client.clone())
        })))
    }

    fn counts(&self) -> (usize, usize) {
        let take = |count: &AtomicUsize| count.swap(0, Ordering::Relaxed);
        (take(&self.wraps), take(&self.unwraps))
    }
}

impl KmsClient for Counting {
    fn wrap_key(&self, key: &Key, master_key_id: &str) -> Result<String> {
        self.wraps.fetch_add(1, Ordering::Relaxed);
        self.kms.wrap_key(key, master_key_id)
    }

    fn unwrap_key(&self, wrapped: &str, master_key_id: &str) -> Result<Key> {
        self.unwraps.fetch_add(1, Ordering::Relaxed);
        self.kms.unwrap_key(wrapped, master_key_id)
    }
}

fn tools() -> Arc<KeyTools> {
    Counting::new(master_keys()).tools()
}

fn path(name: &str) -> Vec<String> {
    vec![name.into()]
}

fn configuration() -> EncryptionConfiguration {
    let columns = parse_column_keys("kc1: a, b; kc2: c").unwrap();
    EncryptionConfiguration::new("kf").column_keys(columns)
}

/// A file's encrypted parts: its metadata, its footer, and a page of each column.
struct Written {
    metadata: FileCryptoMetadata,
    footer: Vec<u8>,
    encryptor: FileEncryptor,
    pages: Vec<Vec<u8>>,
}

fn write(properties: &FileEncryptionProperties) -> Written {
    let leaves = ["a", "b", "c", "d"].map(path);
    let encryptor = FileEncryptor::new(properties, &leaves).unwrap();
    let mut footer = vec![];
    let footer_key = encryptor.footer_key();
    footer_key
        .encrypt(&ModuleId::FOOTER, &[b"footer"], &mut footer)
        .unwrap();
    let page = |leaf| {
        let mut page = vec![];
        let column = encryptor.column(leaf).unwrap();
        column
            .key
            .encrypt(&page_id(leaf), &[b"page"], &mut page)
            .unwrap();
        page
    };
    Written {
        metadata: encryptor.file_crypto_metadata(),
        footer,
        pages: (0..4).map(page).collect(),
        encryptor,
    }
}

fn page_id(leaf: usize) -> ModuleId {
    ModuleId::of_page(ModuleKind::DataPage, 0, leaf, 0)
}

fn read(file: &Written, retriever: Arc<dyn KeyRetriever>) -> Result<()> {
    let properties = FileDecryptionProperties::builder()
        .key_retriever(retriever)
        .build()?;
    let key_metadata = file.metadata.key_metadata.as_deref();
    let algorithm = &file.metadata.encryption_algorithm;
    let decryptor = FileDecryptor::new(&properties, algorithm, key_metadata)?;
    let footer = decryptor
        .footer_key()?
        .ready()?
        .decrypt(&ModuleId::FOOTER, &file.footer)?;
    assert_eq!(footer, b"footer");
    for (leaf, name) in ["a", "b", "c", "d"].into_iter().enumerate() {
        let metadata = &file.encryptor.column(leaf).unwrap().crypto_metadata;
        let key = decryptor.column_key(&path(name), metadata)?.ready()?;
        assert_eq!(key.decrypt(&page_id(leaf), &file.pages[leaf])?, b"page");
    }
    Ok(())
}

fn stored(store: &FileKeyMaterialStore) -> Arc<dyn KeyMaterialStore> {
    Arc::new(store.clone())
}

fn retriever(tools: &Arc<KeyTools>, store: Option<&FileKeyMaterialStore>) -> Arc<dyn KeyRetriever> {
    let store = store.map(stored);
    tools.key_retriever(KmsConnection::default(), KmsUrlPolicy::default(), store)
}

fn folder() -> (tempfile::TempDir, FileKeyMaterialStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = FileKeyMaterialStore::new(folder.path().join("x.parquet")).unwrap();
    (folder, store)
}

//! Changes bytes at random. Any input must cause errors rather than panics.

use std::sync::Arc;

use herringbone_encryption::{
    Algorithm, FileDecryptionProperties, FileDecryptor, FileEncryptor, Key, ModuleId, ModuleKey,
    ModuleKind,
    crypto_metadata::{ColumnCryptoMetadata, EncryptionAlgorithm, FileCryptoMetadata},
    key_tools::{
        EncryptionConfiguration, FileKeyMaterialStore, InMemoryKms, KeyMaterialStore, KeyTools,
        KeyUnwrapping, KmsClient, KmsConnection, UnwrapStep,
    },
    keys_file::KeysFile,
    module::FileAad,
};

const ROUNDS: usize = 5000;

/// A xorshift generator that returns the same numbers in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }

    /// Changes, removes or duplicates some bytes.
    fn damage(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(3) {
            let at = self.below(bytes.len());
            match self.below(5) {
                0 => bytes.truncate(at),
                1 if !bytes.is_empty() => drop(bytes.remove(at)),
                2 => bytes.extend_from_within(at..),
                3 => bytes.insert(at, [0, 0xff, 0x7f, b'"', b'}', b'\\', b'1'][self.below(7)]),
                _ if !bytes.is_empty() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
        bytes
    }

    fn damage_text(&mut self, text: &str) -> String {
        String::from_utf8_lossy(&self.damage(text.as_bytes())).into_owned()
    }
}

fn key() -> Key {
    Key::new(b"0123456789012345").unwrap()
}

#[test]
fn metadata_in_the_clear() {
    let configuration = EncryptionConfiguration::new("kf")
        .column_keys(vec![("kf", vec![vec!["a".into(), "b".into()]])]);
    let kms: Arc<dyn KmsClient> = Arc::new(InMemoryKms::new([("kf", key())]));
    let tools = KeyTools::new(Arc::new(move |_: &KmsConnection| Ok(kms.clone())));
    let connection = KmsConnection::default();
    let properties = tools
        .encryption_properties(&connection, &configuration, None)
        .unwrap();
    let file = FileEncryptor::new(&properties, &[vec!["a".into(), "b".into()]]).unwrap();
    let metadata = file.file_crypto_metadata();
    let footer = metadata.encode();
    let algorithm = metadata.encryption_algorithm.encode();
    let column = file.column(0).unwrap().crypto_metadata.encode();
    let mut random = Random(1);
    let mut read = 0;
    for _ in 0..ROUNDS {
        let decoded = FileCryptoMetadata::decode_prefix(&random.damage(&footer));
        read += usize::from(decoded.is_ok());
        if let Ok(algorithm) = EncryptionAlgorithm::decode(&random.damage(&algorithm)) {
            let properties = FileDecryptionProperties::builder();
            let properties = properties.footer_key(key()).build().unwrap();
            drop(FileDecryptor::new(&properties, &algorithm, Some(&footer)));
        }
        drop(ColumnCryptoMetadata::decode(&random.damage(&column)));
    }
    assert!(read > ROUNDS / 20 && read < ROUNDS, "{read}");
}

#[test]
fn key_material() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileKeyMaterialStore::new(folder.path().join("x")).unwrap();
    let kms = InMemoryKms::new([("kf", key())]);
    let client: Arc<dyn KmsClient> = Arc::new(kms.clone());
    let tools = KeyTools::new(Arc::new(move |_: &KmsConnection| Ok(client.clone())));
    let configuration = EncryptionConfiguration::new("kf");
    let connection = KmsConnection::default();
    let metadata = |store: Option<Arc<dyn KeyMaterialStore>>| {
        let properties = tools
            .encryption_properties(&connection, &configuration, store)
            .unwrap();
        let file = FileEncryptor::new(&properties, &[]).unwrap();
        file.file_crypto_metadata().key_metadata.unwrap()
    };
    let (internal, external) = (metadata(None), metadata(Some(Arc::new(store.clone()))));
    let material = store.read().unwrap();
    let mut random = Random(2);
    let mut done = 0;
    for round in 0..ROUNDS / 4 {
        let metadata = if round % 2 == 0 { &internal } else { &external };
        let metadata = if round % 3 == 0 {
            metadata.clone()
        } else {
            random.damage(metadata)
        };
        let Ok(mut unwrapping) = KeyUnwrapping::new(&metadata, Some(&random.damage(&internal)))
        else {
            continue;
        };
        loop {
            let key = match unwrapping.step() {
                UnwrapStep::Done(_) => {
                    done += 1;
                    break;
                }
                UnwrapStep::Unwrap(request) => {
                    kms.unwrap_key(request.wrapped, request.master_key_id)
                }
                UnwrapStep::Material => {
                    match unwrapping.supply_material(&random.damage_text(&material)) {
                        Ok(()) => continue,
                        Err(_) => break,
                    }
                }
            };
            if key.and_then(|key| unwrapping.supply_key(key)).is_err() {
                break;
            }
        }
    }
    assert!(done > 10, "{done}");
}

#[test]
fn keys_files() {
    let text = r#"{"footer_key": "MDEyMzQ1Njc4OTAxMjM0NQ==", "column_keys": {"a": "MTIzNDU2Nzg5MDEyMzQ1MA=="},
        "by_metadata": {"base64:a2Mx": "MTIzNDU2Nzg5MDEyMzQ1MA=="}, "aad_prefix": "\u0041\ud83d\ude00",
        "algorithms": ["AES_GCM_V1"], "plaintext_footer": false, "key_metadata": {"footer_key": "kf"}}"#;
    let columns = |path: &str| Ok(vec![vec![path.to_owned()]]);
    let parse = |text: &str| KeysFile::parse(text, &columns);
    assert!(parse(text).is_ok());
    let mut random = Random(3);
    for _ in 0..ROUNDS {
        if let Err(error) = parse(&random.damage_text(text)) {
            let message = error.to_string();
            for part in ["MDEyMzQ1", "MTIzNDU2", "a2Mx"] {
                assert!(!message.contains(part), "{message}");
            }
        }
    }
}

#[test]
fn modules() {
    let aad = Arc::new(FileAad::new(b"", b"unique"));
    let mut random = Random(4);
    for algorithm in [Algorithm::AesGcmV1, Algorithm::AesGcmCtrV1] {
        let key = ModuleKey::new(key(), algorithm, aad.clone());
        let id = ModuleId::of_page(ModuleKind::DataPage, 0, 0, 0);
        let mut module = vec![];
        key.encrypt(&id, &[b"levels", b"values"], &mut module)
            .unwrap();
        let values_only = [b"levels", &module[..]].concat();
        for _ in 0..ROUNDS {
            let body = random.damage(&module);
            drop(key.module_bytes(&id, &body, random.below(100)));
            drop(key.decrypt(&id, &body));
            let mut plaintext = Vec::new();
            drop(key.decrypt_data_page_v2_into(&id, &body, random.below(20), &mut plaintext));
            let body = random.damage(&values_only);
            drop(key.decrypt_data_page_v2_into(&id, &body, random.below(20), &mut plaintext));
            drop(key.verify_footer(b"footer", &body));
        }
    }
}

//! Encrypts a file by master keys of a key management system (KMS), and reads the columns to which it grants access.
//!
//! cargo run --example kms --features encryption

use std::sync::{Arc, Mutex, PoisonError};

use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::encryption::key_tools::{
    EncryptionConfiguration, KeyTools, KmsClient, KmsConnection, KmsUrlPolicy,
};
use herringbone::encryption::{FileDecryptionProperties, Key, properties::ColumnPath};
use herringbone::{Error, ErrorKind, OpenOptions, ParquetFile, ReadOptions, Result};
use herringbone::{WriteOptions, Writer};

/// A client of a KMS. A real one sends keys to a service, which encrypts them. This one keeps the keys that it was given.
#[derive(Clone, Default)]
struct Kms {
    keys: Arc<Mutex<Vec<Key>>>,
    denied: Option<&'static str>,
}

impl KmsClient for Kms {
    fn wrap_key(&self, key: &Key, _: &str) -> Result<String> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.push(key.clone());
        Ok((keys.len() - 1).to_string())
    }

    fn unwrap_key(&self, wrapped: &str, master_key: &str) -> Result<Key> {
        if self.denied == Some(master_key) {
            let message = format!("no access to the master key `{master_key}`");
            return Err(Error::new(ErrorKind::Key, message));
        }
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let key = wrapped
            .parse()
            .ok()
            .and_then(|place: usize| keys.get(place));
        key.cloned()
            .ok_or_else(|| Error::new(ErrorKind::Key, "not a key of this KMS"))
    }
}

fn tools(kms: Kms) -> Arc<KeyTools> {
    let client: Arc<dyn KmsClient> = Arc::new(kms);
    Arc::new(KeyTools::new(Arc::new(move |_: &KmsConnection| {
        Ok(client.clone())
    })))
}

fn open(file: &[u8], kms: Kms) -> Result<ParquetFile> {
    let (connection, policy) = (KmsConnection::default(), KmsUrlPolicy::default());
    let keys = tools(kms).key_retriever(connection, policy, None);
    let properties = FileDecryptionProperties::builder()
        .key_retriever(keys)
        .build()?;
    let options = OpenOptions::new().decryption(Arc::new(properties));
    ParquetFile::from_bytes_with(file.to_vec(), options)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("salary", ids)])?;
    let kms = Kms::default();
    // The footer and the other columns have the master key `staff`.
    let salary: ColumnPath = vec!["salary".to_owned()];
    let configuration = EncryptionConfiguration::new("staff").column_keys([("pay", vec![salary])]);
    let connection = KmsConnection::default();
    let properties = tools(kms.clone()).encryption_properties(&connection, &configuration, None)?;
    let options = WriteOptions::new().encryption(Arc::new(properties));
    let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
    writer.write(&batch)?;
    let (_, bytes) = writer.finish_into()?;

    let all = open(&bytes, kms.clone())?
        .read(ReadOptions::new())?
        .next_batch()?;
    assert_eq!(all.ok_or("no rows")?.columns(), batch.columns());
    let file = open(
        &bytes,
        Kms {
            denied: Some("pay"),
            ..kms
        },
    )?;
    let ids = file
        .read(ReadOptions::new().columns(["id"]))?
        .next_batch()?;
    assert_eq!(ids.ok_or("no rows")?.num_rows(), 3);
    let refused = file.read(ReadOptions::new())?.next_batch().err();
    let refused = refused.ok_or("access to all columns")?;
    println!("{refused}");
    assert_eq!(refused.kind(), ErrorKind::Key);
    Ok(())
}

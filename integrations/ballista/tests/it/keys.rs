//! Sends encrypted tables, for which the names of keys are sent, but not the keys.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::prelude::SessionConfig;
use datafusion::prelude::SessionContext;
use herringbone_ballista::physical_codec;
use herringbone_datafusion::herringbone::encryption::{
    FileDecryptionProperties, FileEncryptionProperties, Key,
};
use herringbone_datafusion::herringbone::modular_encryption::{Decryption, Encryption};
use herringbone_datafusion::{
    HerringboneCodec, HerringboneFormatFactory, KeyFactory, register_with,
};
use object_store::path::Path;

use crate::support::{Folder, decode, encode, execute, plan, rows, run, session, sorted};

const KEY: &[u8; 16] = b"sixteen secret b";

/// A factory with one key for all files.
#[derive(Debug)]
struct OneKey(Option<&'static str>);

#[async_trait]
impl KeyFactory for OneKey {
    fn name(&self) -> Option<&str> {
        self.0
    }

    async fn decryption(&self, _file: &Path) -> Result<Option<Arc<dyn Decryption>>> {
        let properties = FileDecryptionProperties::builder().footer_key(Key::new(KEY).unwrap());
        Ok(Some(Arc::new(properties.build().unwrap())))
    }

    async fn encryption(
        &self,
        _file: &Path,
        _schema: &SchemaRef,
    ) -> Result<Option<Arc<dyn Encryption>>> {
        let properties = FileEncryptionProperties::builder(Key::new(KEY).unwrap());
        Ok(Some(Arc::new(properties.build().unwrap())))
    }
}

/// Returns a session with an encrypted table.
async fn encrypted(folder: &Folder, name: Option<&'static str>) -> SessionContext {
    let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
    let factory = HerringboneFormatFactory::new().with_key_factory(Arc::new(OneKey(name)));
    register_with(&session, factory).unwrap();
    let path = folder.path("secret.parquet");
    run(&session, &format!("copy (select 42 as answer) to '{path}'"))
        .await
        .unwrap();
    let table = format!("create external table secret stored as parquet location '{path}'");
    run(&session, &table).await.unwrap();
    session
}

#[tokio::test]
async fn the_name_of_keys_is_sent() {
    let folder = Folder::new();
    let session = encrypted(&folder, Some("vault")).await;
    assert!(
        std::fs::read(folder.path("secret.parquet"))
            .unwrap()
            .ends_with(b"PARE")
    );
    let before = plan(&session, "select answer + 1 as next from secret").await;
    let without = physical_codec(HerringboneCodec::new());
    let bytes = encode(&before, without.as_ref()).unwrap();
    assert!(!bytes.windows(KEY.len()).any(|window| window == KEY));

    let with = HerringboneCodec::new()
        .with_key_factory(Arc::new(OneKey(Some("vault"))))
        .unwrap();
    let with = physical_codec(with);
    let after = decode(&bytes, &session, with.as_ref()).unwrap();
    assert_eq!(
        sorted(&execute(after, &session).await),
        rows(&session, "select 43 as next").await
    );
    let error = decode(&bytes, &session, without.as_ref())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("\"vault\", which this machine does not have"),
        "{error}"
    );

    // Files that a sent sink writes are encrypted, too.
    let path = folder.path("again.parquet");
    let copy = plan(&session, &format!("copy secret to '{path}'")).await;
    let copy = decode(
        &encode(&copy, with.as_ref()).unwrap(),
        &session,
        with.as_ref(),
    )
    .unwrap();
    execute(copy, &session).await;
    assert!(std::fs::read(path).unwrap().ends_with(b"PARE"));
}

#[tokio::test]
async fn keys_without_a_name_stay() {
    let folder = Folder::new();
    let session = encrypted(&folder, None).await;
    let scan = plan(&session, "select * from secret").await;
    let error = encode(&scan, physical_codec(HerringboneCodec::new()).as_ref()).unwrap_err();
    assert!(error.to_string().contains("has no name"), "{error}");
    HerringboneCodec::new()
        .with_key_factory(Arc::new(OneKey(None)))
        .unwrap_err();
    let codec = HerringboneCodec::new()
        .with_key_factory(Arc::new(OneKey(Some("one"))))
        .unwrap();
    codec
        .with_key_factory(Arc::new(OneKey(Some("one"))))
        .unwrap_err();
}

#[tokio::test]
async fn keys_in_options_are_errors() {
    let folder = Folder::new();
    let path = folder.path("hex.parquet");
    let session = session(SessionConfig::new());
    let hex = KEY.map(|byte| format!("{byte:02x}")).concat();
    let copy = format!(
        "copy (select 42 as answer) to '{path}' options ('format.crypto.file_encryption.footer_key_as_hex' '{hex}')"
    );
    run(&session, &copy).await.unwrap();
    let table = format!(
        "create external table hex stored as parquet location '{path}'
         options ('format.crypto.file_decryption.footer_key_as_hex' '{hex}')"
    );
    run(&session, &table).await.unwrap();
    for sql in ["select * from hex", &copy] {
        let plan = plan(&session, sql).await;
        let error = encode(&plan, physical_codec(HerringboneCodec::new()).as_ref()).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("keys, which are never sent to other machines"),
            "{error}"
        );
        assert!(!error.contains(&hex), "{error}");
    }
}

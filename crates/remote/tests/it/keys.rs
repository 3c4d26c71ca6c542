//! Tests of encrypted files, with keys known in advance or waited for.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::encryption::properties::{EncryptionKey, KeyAnswer};
use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties, Key};
use herringbone::filter::col;
use herringbone::modular_encryption::{Decryption, KeyRequest};
use herringbone::push::FetchPolicy;
use herringbone::{Error, ErrorKind, OpenOptions, ReadOptions, Result, WriteOptions};
use herringbone_remote::{BoxFuture, KeyService, LruMetadataCache, RemoteFile, RemoteOptions};

use crate::files::{batch, blocking, file, written};
use crate::memory::{Memory, read};

const FOOTER_KEY: &[u8; 16] = b"the footer's key";
const COLUMN_KEY: &[u8; 16] = b"the column's key";

fn key(bytes: &[u8]) -> Key {
    Key::new(bytes).unwrap()
}

/// Returns a file with separate keys for the footer and column `c1`.
fn encrypted() -> Bytes {
    let options = WriteOptions::new().row_group_rows(4_000);
    written(&batch(3, 10_000), encrypting(options))
}

/// Adds the keys of the footer and of column `c1`.
pub(crate) fn encrypting(options: WriteOptions) -> WriteOptions {
    let footer = EncryptionKey::with_metadata(key(FOOTER_KEY), "footer");
    let column = EncryptionKey::with_metadata(key(COLUMN_KEY), "column");
    let properties = FileEncryptionProperties::builder(footer).column_key(["c1"], column);
    let properties = Arc::new(properties.build().unwrap());
    options.encryption(properties)
}

fn object() -> Arc<Memory> {
    of(&encrypted())
}

fn of(bytes: &Bytes) -> Arc<Memory> {
    let mut policy = FetchPolicy::remote();
    policy.suffix_bytes = 300;
    Arc::new(Memory::new(bytes.clone()).policy(policy))
}

fn with(decryption: FileDecryptionProperties) -> OpenOptions {
    let decryption: Arc<dyn Decryption> = Arc::new(decryption);
    OpenOptions::new().decryption(decryption)
}

/// Returns options with known keys.
pub(crate) fn known() -> OpenOptions {
    let properties = FileDecryptionProperties::builder().footer_key(key(FOOTER_KEY));
    with(
        properties
            .column_key(["c1"], key(COLUMN_KEY))
            .build()
            .unwrap(),
    )
}

/// Returns options with keys that a service supplies.
fn waiting() -> OpenOptions {
    let wait = |_: &KeyRequest| Ok(KeyAnswer::Wait);
    let properties = FileDecryptionProperties::builder().key_retriever(Arc::new(wait));
    with(properties.build().unwrap())
}

/// A service that records the metadata of the requested keys.
#[derive(Debug, Default)]
struct Service {
    asked: Mutex<Vec<String>>,
    denies_columns: bool,
}

impl KeyService for Service {
    fn key(&self, request: &KeyRequest) -> BoxFuture<Result<Vec<u8>>> {
        let name = String::from_utf8(request.key_metadata.clone()).unwrap();
        let key = match name.as_str() {
            "footer" => Ok(FOOTER_KEY.to_vec()),
            _ if self.denies_columns => Err(Error::new(ErrorKind::Key, "access denied")),
            _ => Ok(COLUMN_KEY.to_vec()),
        };
        self.asked.lock().unwrap().push(name);
        let mut has_waited = false;
        Box::pin(async move {
            std::future::poll_fn(|cx| {
                cx.waker().wake_by_ref();
                match std::mem::replace(&mut has_waited, true) {
                    true => std::task::Poll::Ready(()),
                    false => std::task::Poll::Pending,
                }
            })
            .await;
            key
        })
    }
}

#[test]
fn keys_are_known_or_waited_for() {
    let bytes = encrypted();
    for options in [
        ReadOptions::new(),
        ReadOptions::new().filter(col("c1").lt(0)),
        ReadOptions::new().columns(["id"]),
    ] {
        let expected = blocking(&bytes, known(), &options).unwrap();
        assert_eq!(read(object(), known(), &options).unwrap(), expected);
        let service = Arc::new(Service::default());
        let open = RemoteOptions::from(waiting()).key_service(service.clone());
        assert_eq!(read(object(), open, &options).unwrap(), expected);
        let asked = service.asked.lock().unwrap().clone();
        let is_needed = expected[0].num_columns() > 1;
        assert_eq!(asked, ["footer", "column"][..1 + usize::from(is_needed)]);
    }
}

#[test]
fn a_service_that_denies_a_key_ends_the_read() {
    let service = Arc::new(Service {
        denies_columns: true,
        ..Service::default()
    });
    let open = RemoteOptions::from(waiting()).key_service(service);
    let error = read(object(), open, &ReadOptions::new()).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Key, "access denied")
    );
}

#[test]
fn without_a_service_the_errors_are_those_of_a_blocking_read() {
    let bytes = encrypted();
    let all = ReadOptions::new();
    let expected = blocking(&bytes, waiting(), &all).unwrap_err();
    let error = read(of(&bytes), waiting(), &all).unwrap_err();
    assert_eq!(error.to_string(), expected.to_string());
    let expected = blocking(&bytes, OpenOptions::new(), &all).unwrap_err();
    let error = read(of(&bytes), OpenOptions::new(), &all).unwrap_err();
    assert_eq!(error.to_string(), expected.to_string());
    // This key is for a column that the file does not have.
    let properties = FileDecryptionProperties::builder().footer_key(key(FOOTER_KEY));
    let properties = properties.column_key(["none"], key(COLUMN_KEY));
    let with_more = with(properties.build().unwrap());
    let expected = blocking(&bytes, with_more.clone(), &all).unwrap_err();
    let error = read(of(&bytes), with_more, &all).unwrap_err();
    assert_eq!(error.to_string(), expected.to_string());
}

/// The properties do not allow plaintext files, even if the cache has their footers.
#[test]
fn a_cached_footer_is_not_read_with_keys() {
    let plain = Arc::new(Memory::new(file(2, 1, 1000)));
    let cache = LruMetadataCache::new(1 << 20);
    let open = |open: OpenOptions| {
        let options = RemoteOptions::from(open).cache(cache.clone());
        block_on(RemoteFile::open(plain.clone(), options))
    };
    open(OpenOptions::new()).unwrap();
    assert!(cache.heap_bytes() > 0);
    assert_eq!(open(known()).unwrap_err().kind(), ErrorKind::Key);
}

/// If readers without keys shared the cache, it would reveal the footer to them.
#[test]
fn the_metadata_of_encrypted_files_is_not_cached() {
    let cache = LruMetadataCache::new(1 << 20);
    let mut object = Memory::new(encrypted());
    object.listed = true;
    let object = Arc::new(object);
    let open = RemoteOptions::from(known()).cache(cache.clone());
    let file = block_on(RemoteFile::open(object.clone(), open)).unwrap();
    assert_eq!(cache.heap_bytes(), 0);
    let (identity, handle) = (file.identity().clone(), file.metadata_handle().clone());
    let open = RemoteOptions::new().cache(cache.clone());
    RemoteFile::with_metadata(object.clone(), identity, handle, open).unwrap();
    assert_eq!(cache.heap_bytes(), 0);
    let open = RemoteOptions::new().cache(cache);
    let error = block_on(RemoteFile::open(object, open)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
}

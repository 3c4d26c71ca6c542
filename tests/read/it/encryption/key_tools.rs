//! Tests key tools as a program uses them, with files by path, with crashes, and with a KMS that counts, denies and is
//! slow.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use herringbone::encryption::file::PerFile;
use herringbone::encryption::key_tools::{
    AccessToken, EncryptionConfiguration, FileKeyMaterialStore, InMemoryKms, KeyMaterialStore,
    KeyTools, KeyUnwrapping, KeyWrapping, KmsClient, KmsConnection, KmsUrlPolicy, UnwrapStep,
    WrapStep, parse_column_keys,
};
use herringbone::encryption::properties::{EncryptionKey, KeyAnswer, KeyRequest};
use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties, Key, KeyLength};
use herringbone::{Error, ErrorKind, Limits, ReadOptions};
use herringbone_core::footer::{FooterDecoder, FooterStep};

use super::*;

const TOKEN: &str = "token of somebody";

fn master_keys() -> InMemoryKms {
    let key = |text: &[u8]| Key::new(text).unwrap();
    InMemoryKms::new([
        ("kf", key(b"0123456789012345")),
        ("kc1", key(b"1234567890123450")),
        ("kc2", key(b"1234567890123451")),
    ])
}

/// The state of the KMS for these tests.
#[derive(Default)]
struct Desk {
    /// The master keys and tokens that it denies.
    denied: Mutex<HashSet<String>>,
    unwraps: AtomicUsize,
    /// The addresses for which clients were created.
    addresses: Mutex<Vec<String>>,
}

impl Desk {
    fn deny(&self, whom: &str) {
        self.denied.lock().unwrap().insert(whom.into());
    }

    fn unwraps(&self) -> usize {
        self.unwraps.swap(0, Ordering::Relaxed)
    }

    fn tools(self: &Arc<Self>, lifetime: Duration) -> Arc<KeyTools> {
        let desk = self.clone();
        let connect = move |connection: &KmsConnection| {
            let address = connection.instance_url.clone().unwrap();
            desk.addresses.lock().unwrap().push(address);
            let token = connection.access_token.expose().to_owned();
            let desk = desk.clone();
            Ok(Arc::new(Client { desk, token }) as Arc<dyn KmsClient>)
        };
        Arc::new(KeyTools::with_cache_lifetime(Arc::new(connect), lifetime))
    }
}

struct Client {
    desk: Arc<Desk>,
    token: String,
}

impl Client {
    fn admit(&self, master_key_id: &str) -> Result<()> {
        let denied = self.desk.denied.lock().unwrap();
        match denied.contains(master_key_id) || denied.contains(&self.token) {
            true => Err(Error::new(ErrorKind::Key, "the KMS denies access")),
            false => Ok(()),
        }
    }
}

impl KmsClient for Client {
    fn wrap_key(&self, key: &Key, master_key_id: &str) -> Result<String> {
        self.admit(master_key_id)?;
        master_keys().wrap_key(key, master_key_id)
    }

    fn unwrap_key(&self, wrapped: &str, master_key_id: &str) -> Result<Key> {
        self.admit(master_key_id)?;
        self.desk.unwraps.fetch_add(1, Ordering::Relaxed);
        master_keys().unwrap_key(wrapped, master_key_id)
    }
}

const LONG: Duration = Duration::from_secs(3600);

fn connection(token: &str) -> KmsConnection {
    KmsConnection {
        access_token: AccessToken::new(token),
        ..KmsConnection::default()
    }
}

fn configuration(double_wrapping: bool) -> EncryptionConfiguration {
    let columns = parse_column_keys("kc1: city, list; kc2: pay").unwrap();
    let mut configuration = EncryptionConfiguration::new("kf").column_keys(columns);
    configuration.double_wrapping = double_wrapping;
    configuration
}

fn written(properties: FileEncryptionProperties) -> Bytes {
    let batch = batch().slice(0, 700);
    write(&batch, options().encryption(Arc::new(properties))).unwrap()
}

fn file_of(tools: &Arc<KeyTools>, store: Option<Arc<dyn KeyMaterialStore>>) -> Bytes {
    let connection = connection(TOKEN);
    let properties = tools.encryption_properties(&connection, &configuration(true), store);
    written(properties.unwrap())
}

fn stored(store: &FileKeyMaterialStore) -> Arc<dyn KeyMaterialStore> {
    Arc::new(store.clone())
}

fn keys(
    tools: &Arc<KeyTools>,
    token: &str,
    store: Option<&FileKeyMaterialStore>,
) -> Arc<dyn Decryption> {
    let store = store.map(stored);
    let retriever = tools.key_retriever(connection(token), KmsUrlPolicy::default(), store);
    let properties = FileDecryptionProperties::builder().key_retriever(retriever);
    Arc::new(properties.build().unwrap())
}

/// Returns all rows, or only the rows of some columns.
fn rows(bytes: &Bytes, keys: &Arc<dyn Decryption>, columns: &[&str]) -> Result<Vec<Vec<String>>> {
    let options = ReadOptions::new().threads(1);
    let options = match columns {
        [] => options,
        _ => options.columns(columns.iter().copied()),
    };
    Ok(joined(&read(&open(bytes, keys)?, &options)?))
}

fn expected() -> Vec<Vec<String>> {
    joined(&[batch().slice(0, 700)])
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("herringbone-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn store(&self) -> FileKeyMaterialStore {
        FileKeyMaterialStore::new(self.0.join("x.parquet")).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

#[test]
fn files_come_back_however_their_keys_are_wrapped_and_stored() {
    let desk = Arc::new(Desk::default());
    let tools = desk.tools(LONG);
    for double_wrapping in [true, false] {
        for external in [false, true] {
            let folder = Folder::new(&format!("wrapped-{double_wrapping}-{external}"));
            let store = external.then(|| folder.store());
            let stored = store.as_ref().map(stored);
            let configuration = configuration(double_wrapping);
            let properties =
                tools.encryption_properties(&connection(TOKEN), &configuration, stored);
            let bytes = written(properties.unwrap());
            let reader = desk.tools(LONG);
            let keys = keys(&reader, TOKEN, store.as_ref());
            desk.unwraps();
            assert_eq!(rows(&bytes, &keys, &[]).unwrap(), expected());
            // With double wrapping there is one key per master key. Without it there is one key each for the footer and
            // for three columns.
            assert_eq!(desk.unwraps(), if double_wrapping { 3 } else { 4 });
        }
    }
}

#[test]
fn a_denial_costs_the_columns_that_it_is_about() {
    let desk = Arc::new(Desk::default());
    let bytes = file_of(&desk.tools(LONG), None);
    desk.deny("kc2");
    let keys = keys(&desk.tools(LONG), TOKEN, None);
    let error = rows(&bytes, &keys, &[]).unwrap_err();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Key, "the KMS denies access")
    );
    assert_eq!(error.location().column.as_deref(), Some("pay.salary"));
    assert!(!format!("{error} {error:?}").contains(TOKEN), "{error:?}");
    let few = rows(&bytes, &keys, &["id", "city", "name", "list"]).unwrap();
    assert_eq!(few[..], expected()[..4]);
}

#[test]
fn what_was_kept_too_long_is_asked_for_again() {
    for (lifetime, is_served) in [
        (LONG, true),
        (Duration::from_millis(1), false),
        (Duration::ZERO, false),
    ] {
        let desk = Arc::new(Desk::default());
        let bytes = file_of(&desk.tools(LONG), None);
        let tools = desk.tools(lifetime);
        assert!(rows(&bytes, &keys(&tools, TOKEN, None), &[]).is_ok());
        desk.deny(TOKEN);
        std::thread::sleep(Duration::from_millis(5));
        let again = rows(&bytes, &keys(&tools, TOKEN, None), &[]);
        assert_eq!(again.is_ok(), is_served, "{lifetime:?}");
        // A key that was unwrapped for one token is not served to another one.
        desk.deny("another");
        let error = rows(&bytes, &keys(&tools, "another", None), &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Key);
        // With `clear_caches_of`, access that was revoked ends at once.
        tools.clear_caches_of(&AccessToken::new(TOKEN));
        assert!(rows(&bytes, &keys(&tools, TOKEN, None), &[]).is_err());
    }
}

#[test]
fn the_address_in_a_file_gets_no_token() {
    let desk = Arc::new(Desk::default());
    let tools = desk.tools(LONG);
    let mut evil = connection(TOKEN);
    evil.instance_url = Some("https://evil".into());
    let properties = tools.encryption_properties(&evil, &configuration(true), None);
    let bytes = written(properties.unwrap());
    desk.addresses.lock().unwrap().clear();
    let error = rows(&bytes, &keys(&tools, TOKEN, None), &[]).unwrap_err();
    assert!(error.message().contains("address of a KMS"), "{error}");
    assert!(!format!("{error} {error:?}").contains("evil"), "{error:?}");
    assert_eq!(desk.addresses.lock().unwrap()[..], [""; 0]);
}

/// This driver waits for its KMS itself, so it supplies keys step by step.
#[test]
fn keys_come_by_steps() {
    let mut wrapping = KeyWrapping::new(&connection(TOKEN), &configuration(true), false).unwrap();
    let mut wrapped = Vec::new();
    while let WrapStep::Wrap(request) = wrapping.step() {
        wrapped.push(request.master_key_id.to_owned());
        let key = master_keys().wrap_key(request.key, request.master_key_id);
        wrapping.supply_wrapped(key.unwrap()).unwrap();
    }
    assert_eq!(wrapped, ["kf", "kc1", "kc2"]);
    assert!(
        wrapping
            .supply_wrapped("what nobody asked for".into())
            .is_err()
    );
    let (properties, material) = wrapping.finish().unwrap();
    assert_eq!(material, None);
    let bytes = written(properties);
    // A reader that can wait for its KMS reads the file.
    let keys = keys(&Arc::new(Desk::default()).tools(LONG), TOKEN, None);
    assert_eq!(rows(&bytes, &keys, &[]).unwrap(), expected());
    let wait = |_: &KeyRequest| Ok(KeyAnswer::Wait);
    let properties = FileDecryptionProperties::builder().key_retriever(Arc::new(wait));
    let waiting: Arc<dyn Decryption> = Arc::new(properties.build().unwrap());
    // A reader that cannot wait gets an error.
    assert_eq!(open(&bytes, &waiting).err().unwrap().kind(), ErrorKind::Key);
    let fetch = |request: &KeyRequest| {
        let footer = request.footer_key_metadata.as_deref();
        let mut unwrapping = KeyUnwrapping::new(&request.key_metadata, footer).unwrap();
        loop {
            let unwrapped = match unwrapping.step() {
                UnwrapStep::Done(key) => return key.expose_bytes().to_vec(),
                UnwrapStep::Material => panic!("it is in the file"),
                UnwrapStep::Unwrap(wrapped) => {
                    master_keys().unwrap_key(wrapped.wrapped, wrapped.master_key_id)
                }
            };
            unwrapping.supply_key(unwrapped.unwrap()).unwrap();
        }
    };
    let mut footer =
        FooterDecoder::new(bytes.len() as u64, Limits::default()).decryption(Some(waiting), None);
    let metadata = loop {
        match footer.poll().unwrap() {
            FooterStep::Ready(metadata) => break metadata,
            FooterStep::Need(range) => {
                footer.supply(bytes.slice(range.start as usize..range.end as usize));
            }
            FooterStep::NeedKey(request) => {
                assert_eq!(request.column, None);
                footer.supply_key(&request, &fetch(&request)).unwrap();
            }
        }
    };
    let length = bytes.len() as u64;
    let handle = herringbone::MetadataHandle::new(*metadata, length, Limits::default()).unwrap();
    let file = herringbone::ParquetFile::with_metadata(bytes.clone(), handle).unwrap();
    let asked = Mutex::new(Vec::new());
    let batches = pushed(&bytes, &file, &ReadOptions::new(), |request| {
        asked
            .lock()
            .unwrap()
            .push(request.column.clone().unwrap().join("."));
        fetch(request)
    });
    assert_eq!(joined(&batches.unwrap()), expected());
    // All columns below `pay` share one key.
    let mut asked = asked.into_inner().unwrap();
    asked.sort();
    asked.dedup();
    assert!(asked.len() >= 3, "{asked:?}");
}

#[test]
fn each_file_of_a_data_set_has_its_own_keys() {
    let folder = Folder::new("per-file");
    let key_of = |path: &str| {
        let number = Path::new(path)
            .file_stem()
            .unwrap()
            .to_str()
            .unwrap()
            .as_bytes()[0];
        Key::new(&[number; 32])
    };
    let writing = move |path: &str| {
        let properties = FileEncryptionProperties::builder(EncryptionKey::from(key_of(path)?));
        Ok((!path.contains("plain")).then_some(properties.build()?))
    };
    let reading = move |path: &str| {
        let properties = FileDecryptionProperties::builder().footer_key(key_of(path)?);
        Ok(Some(
            properties.allow_plaintext(path.contains("plain")).build()?,
        ))
    };
    let options = || options().encryption(Arc::new(PerFile(writing)));
    let path = |name: &str| folder.0.join(format!("{name}.parquet"));
    for name in ["a", "b", "plain"] {
        let mut writer = herringbone::create_with(path(name), batch().schema(), options()).unwrap();
        writer.write(&batch()).unwrap();
        writer.finish().unwrap();
    }
    let read = |path: PathBuf| -> Result<Vec<Vec<String>>> {
        let options = ReadOptions::new().decryption(Arc::new(PerFile(reading)));
        let mut reader = herringbone::open_with(path, options)?;
        let mut batches = Vec::new();
        while let Some(batch) = reader.next_batch()? {
            batches.push(batch);
        }
        Ok(joined(&batches))
    };
    for name in ["a", "b", "plain"] {
        assert_eq!(read(path(name)).unwrap(), joined(&[batch()]), "{name}");
        let magic = std::fs::read(path(name)).unwrap()[..4].to_vec();
        assert_eq!(magic == b"PARE", name != "plain");
    }
    std::fs::rename(path("a"), path("c")).unwrap();
    assert_eq!(read(path("c")).unwrap_err().kind(), ErrorKind::Key);
    // If an output has no path, it has no properties.
    let error = write(&batch(), options()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
}

/// The environment variable that makes [`rotates_until_it_is_killed`] rotate the key material of the Parquet file at
/// this path.
const ROTATE: &str = "HERRINGBONE_TEST_ROTATE";

/// The next test starts and kills this one. It does nothing if the variable is not set.
#[test]
fn rotates_until_it_is_killed() {
    let Some(path) = std::env::var_os(ROTATE) else {
        return;
    };
    let store = FileKeyMaterialStore::new(path).unwrap();
    let tools = Arc::new(Desk::default()).tools(LONG);
    for double in [true, false].into_iter().cycle() {
        let policy = KmsUrlPolicy::default();
        let length = KeyLength::Bits128;
        tools
            .rotate_master_keys(
                &connection(TOKEN),
                &policy,
                &stored(&store),
                Some(double),
                length,
            )
            .unwrap();
    }
}

#[test]
fn a_rotation_may_be_killed_at_any_time() {
    let folder = Folder::new("killed");
    let store = folder.store();
    let tools = Arc::new(Desk::default()).tools(LONG);
    let bytes = file_of(&tools, Some(stored(&store)));
    let mut seen = HashSet::from([store.read().unwrap()]);
    for turn in 0..15 {
        let before = store.read().unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "encryption::key_tools::rotates_until_it_is_killed",
            ])
            .env(ROTATE, folder.0.join("x.parquet"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // The child is rotating by now, so we kill it at some point in a rotation.
        while store.read().unwrap() == before && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(Duration::from_micros(turn * 340));
        child.kill().unwrap();
        child.wait().unwrap();
        // The stored material is always complete, and contains the keys.
        seen.insert(store.read().unwrap());
        let keys = keys(&Arc::new(Desk::default()).tools(LONG), TOKEN, Some(&store));
        assert_eq!(rows(&bytes, &keys, &[]).unwrap(), expected(), "turn {turn}");
    }
    assert_eq!(seen.len(), 16, "it was rotated in every turn");
}

//! Tests a cipher that is not part of the format. It receives every module with its id, in both directions.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use herringbone::DataPageVersion;
use herringbone::format::thrift::CompactWriter;
use herringbone::format::{ColumnChunk, FileMetadataParts, KeyValue, Limits, RawStruct};
use herringbone::modular_encryption::{
    Decryption, Encryption, FileDecryption, FileEncryption, FileToDecrypt, FooterEncryption,
    KeyRequest, KeyStep, ModuleCipher, ModuleId, ModuleKind, PageToEncrypt,
};
use herringbone::{Compression, Error, ErrorKind, ReadOptions, Result};
use herringbone_core::footer::{FooterDecoder, FooterStep};

use super::*;

/// A struct without fields. The constant after it is a struct whose first field is true.
const CRYPTO_METADATA: [u8; 1] = [0];
const ALGORITHM: [u8; 2] = [0x11, 0];

/// The ids of the encrypted modules.
type Seen = Arc<Mutex<BTreeSet<String>>>;

/// A cipher whose modules are `length | id | every byte xor 0x5a`.
#[derive(Debug, Clone, Default)]
struct Xor {
    /// True if the levels in data pages of version 2 stay outside of the module.
    values_only: bool,
    plaintext_footer: bool,
    /// True if a key must be fetched first.
    waits: bool,
    fetched: Arc<Mutex<bool>>,
    seen: Seen,
}

/// Returns the bytes by which a module identifies itself.
fn id_bytes(id: &ModuleId) -> [u8; 4] {
    [
        id.kind as u8,
        id.row_group as u8,
        id.column as u8,
        id.page as u8,
    ]
}

fn xor(bytes: &[u8]) -> impl Iterator<Item = u8> + '_ {
    bytes.iter().map(|byte| byte ^ 0x5a)
}

impl ModuleCipher for Xor {
    fn module_bytes(&self, _: &ModuleId, start: &[u8], limit: usize) -> Result<Option<usize>> {
        let Some(length) = start.first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        match (8..=limit).contains(&length) {
            true => Ok(Some(length)),
            false => Err(Error::corrupt("a module of a wrong length")),
        }
    }

    fn decrypt(
        &self,
        id: &ModuleId,
        module: &[u8],
        levels: usize,
        plaintext: &mut Vec<u8>,
    ) -> Result<()> {
        let (levels, module) = match self.values_only {
            true => module.split_at(levels),
            false => (&[][..], module),
        };
        if self.module_bytes(id, module, module.len())? != Some(module.len()) {
            return Err(Error::corrupt("a module of another length"));
        }
        if module[4..8] != id_bytes(id) {
            return Err(Error::new(ErrorKind::Key, format!("this is not the {id}")));
        }
        plaintext.clear();
        plaintext.extend_from_slice(levels);
        plaintext.extend(xor(&module[8..]));
        Ok(())
    }

    fn encrypt(&self, id: &ModuleId, plaintext: &[u8], module: &mut Vec<u8>) -> Result<()> {
        let is_new = self.seen.lock().unwrap().insert(id.to_string());
        assert!(is_new, "the {id} is encrypted twice");
        let length = (8 + plaintext.len()) as u32;
        module.extend_from_slice(&length.to_le_bytes());
        module.extend_from_slice(&id_bytes(id));
        module.extend(xor(plaintext));
        Ok(())
    }

    fn encrypt_page(&self, page: PageToEncrypt<'_>, head: &mut Vec<u8>) -> Result<usize> {
        let outside = if self.values_only { page.levels } else { 0 };
        let plaintext = page.body.split_off(page.start);
        let (levels, values) = plaintext.split_at(outside);
        self.encrypt(&page.body_id, values, page.body)?;
        let header = (page.header)([levels, &page.body[page.start..]])?;
        self.encrypt(&page.header_id, &header, head)?;
        let header_bytes = head.len();
        head.extend_from_slice(levels);
        Ok(header_bytes)
    }
}

impl Xor {
    /// Returns `value` as soon as the key is available.
    fn step<T>(&self, column: Option<&str>, value: T) -> KeyStep<T> {
        if !self.waits || *self.fetched.lock().unwrap() {
            return KeyStep::Ready(value);
        }
        let column = column.map(|column| vec![column.to_owned()]);
        KeyStep::NeedKey(KeyRequest::new(b"which".to_vec(), None, column))
    }
}

impl Decryption for Xor {
    fn open(&self, file: &FileToDecrypt<'_>) -> Result<Option<Arc<dyn FileDecryption>>> {
        let is_plaintext = match file.footer {
            FooterEncryption::Encrypted(footer) => {
                assert_eq!(footer[..1], CRYPTO_METADATA);
                false
            }
            FooterEncryption::Plaintext {
                encryption_algorithm,
                footer_signing_key_metadata,
            } => {
                assert_eq!(encryption_algorithm, Some(&ALGORITHM[..]));
                assert_eq!(footer_signing_key_metadata, Some(&b"signed"[..]));
                true
            }
        };
        assert_eq!(is_plaintext, self.plaintext_footer);
        Ok(Some(Arc::new(self.clone())))
    }
}

impl FileDecryption for Xor {
    fn decrypt_footer(&self, footer: &[u8]) -> Result<KeyStep<Vec<u8>>> {
        let mut plaintext = Vec::new();
        self.decrypt(&ModuleId::FOOTER, &footer[1..], 0, &mut plaintext)?;
        Ok(self.step(None, plaintext))
    }

    fn verify_footer(&self, metadata: &[u8], signature: &[u8]) -> Result<KeyStep<()>> {
        let sum = metadata
            .iter()
            .fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
        match *signature == [sum] {
            true => Ok(self.step(None, ())),
            false => Err(Error::new(ErrorKind::Key, "another footer was signed")),
        }
    }

    fn check_key_values(&self, key_values: &[KeyValue]) -> Result<()> {
        let last = key_values.last();
        assert_eq!(last.map(|entry| entry.key.as_str()), Some("xor"));
        Ok(())
    }

    fn check_columns(&self, leaves: &mut dyn Iterator<Item = Vec<String>>) -> Result<()> {
        assert_eq!(
            leaves.last(),
            Some(vec!["pay".to_owned(), "active".to_owned()])
        );
        Ok(())
    }

    fn check_plaintext_column(&self, leaf: &[String]) -> Result<()> {
        match leaf == ["name"] {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Key, "only names are for everybody")),
        }
    }

    fn column(
        &self,
        crypto_metadata: Option<&[u8]>,
    ) -> Result<KeyStep<Option<Arc<dyn ModuleCipher>>>> {
        Ok(match crypto_metadata {
            None => KeyStep::Ready(None),
            Some(bytes) => {
                assert_eq!(bytes, ALGORITHM);
                let cipher: Arc<dyn ModuleCipher> = Arc::new(self.clone());
                self.step(Some("a column"), Some(cipher))
            }
        })
    }

    fn supply_key(&self, request: &KeyRequest, key: &[u8]) -> Result<()> {
        assert_eq!(
            (&request.key_metadata[..], key),
            (&b"which"[..], &b"key"[..])
        );
        *self.fetched.lock().unwrap() = true;
        Ok(())
    }
}

impl Encryption for Xor {
    fn open(
        &self,
        _: Option<&Path>,
        leaves: &[Vec<String>],
    ) -> Result<Option<Arc<dyn FileEncryption>>> {
        assert_eq!(leaves[2], ["name"]);
        Ok(Some(Arc::new(self.clone())))
    }
}

impl FileEncryption for Xor {
    fn column(&self, leaf: usize) -> Option<Arc<dyn ModuleCipher>> {
        let is_encrypted = leaf != 2;
        is_encrypted.then(|| Arc::new(self.clone()) as Arc<dyn ModuleCipher>)
    }

    fn seal_chunk(&self, id: &ModuleId, chunk: &mut ColumnChunk) -> Result<()> {
        if id.column == 2 {
            return Ok(());
        }
        let mut metadata = CompactWriter::new();
        chunk.meta_data.take().unwrap().encode(&mut metadata);
        let mut module = Vec::new();
        self.encrypt(id, &metadata.finish(), &mut module)?;
        chunk.encrypted_column_metadata = Some(module);
        chunk.crypto_metadata = Some(RawStruct(ALGORITHM.to_vec()));
        Ok(())
    }

    fn encrypts_footer(&self) -> bool {
        !self.plaintext_footer
    }

    fn complete_metadata(&self, metadata: &mut FileMetadataParts) {
        metadata
            .key_value_metadata
            .get_or_insert_default()
            .push(herringbone::format::KeyValue::without_value("xor"));
        if self.plaintext_footer {
            metadata.encryption_algorithm = Some(RawStruct(ALGORITHM.to_vec()));
            metadata.footer_signing_key_metadata = Some(b"signed".to_vec());
        }
    }

    fn seal_footer(&self, metadata: Vec<u8>) -> Result<Vec<u8>> {
        let mut footer = metadata;
        if self.plaintext_footer {
            let sum = footer
                .iter()
                .fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
            footer.push(sum);
            return Ok(footer);
        }
        let mut sealed = CRYPTO_METADATA.to_vec();
        self.encrypt(&ModuleId::FOOTER, &footer, &mut sealed)?;
        Ok(sealed)
    }
}

fn keys(cipher: &Xor) -> Arc<dyn Decryption> {
    Arc::new(cipher.clone())
}

#[test]
fn every_module_meets_its_id_in_both_directions() {
    let batch = batch();
    for compression in [Compression::Uncompressed, Compression::Snappy] {
        for (version, values_only) in [
            (DataPageVersion::V1, false),
            (DataPageVersion::V2, false),
            (DataPageVersion::V2, true),
        ] {
            for plaintext_footer in [false, true] {
                let cipher = Xor {
                    values_only,
                    plaintext_footer,
                    ..Xor::default()
                };
                let options = options()
                    .compression(compression)
                    .data_page_version(version)
                    .encryption(Arc::new(cipher.clone()));
                let bytes = write(&batch, options).unwrap();
                check_every_way(&bytes, &keys(&cipher), &batch);
                check_kinds(&cipher);
            }
        }
    }
}

/// Checks that modules of all kinds were encrypted, except a signed footer.
fn check_kinds(cipher: &Xor) {
    let seen = cipher.seen.lock().unwrap();
    let has = |kind: ModuleKind, row_group, column, page| {
        let id = ModuleId::of_page(kind, row_group, column, page);
        seen.contains(&id.to_string())
    };
    let kinds = [
        ModuleKind::ColumnMetadata,
        ModuleKind::DataPage,
        ModuleKind::DictionaryPage,
        ModuleKind::DataPageHeader,
        ModuleKind::DictionaryPageHeader,
        ModuleKind::ColumnIndex,
        ModuleKind::OffsetIndex,
        ModuleKind::BloomFilterHeader,
        ModuleKind::BloomFilterBitset,
    ];
    for kind in kinds {
        assert!(has(kind, 2, 1, 0), "{kind:?}");
        assert!(
            !has(kind, 0, 2, 0),
            "{kind:?} of a column that is not encrypted"
        );
    }
    // Each row group has at least seven pages of 300 rows, with or without a dictionary.
    assert!(has(ModuleKind::DataPage, 0, 1, 6) && has(ModuleKind::DataPageHeader, 1, 0, 6));
    assert_eq!(has(ModuleKind::Footer, 0, 0, 0), !cipher.plaintext_footer);
}

#[test]
fn whoever_can_wait_is_asked_for_keys() {
    let batch = batch();
    for plaintext_footer in [false, true] {
        let cipher = Xor {
            plaintext_footer,
            ..Xor::default()
        };
        let bytes = write(&batch, options().encryption(Arc::new(cipher.clone()))).unwrap();
        let cipher = Xor {
            waits: true,
            ..cipher
        };
        let error = open(&bytes, &keys(&cipher)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Key, "{error}");

        let mut footer = FooterDecoder::new(bytes.len() as u64, Limits::default())
            .decryption(Some(keys(&cipher)), None);
        let mut asked = 0;
        let metadata = loop {
            match footer.poll().unwrap() {
                FooterStep::Ready(metadata) => break metadata,
                FooterStep::Need(range) => {
                    footer.supply(bytes.slice(range.start as usize..range.end as usize));
                }
                FooterStep::NeedKey(request) => {
                    asked += 1;
                    assert_eq!(request.column, None);
                    footer.supply_key(&request, b"key").unwrap();
                }
            }
        };
        assert_eq!(asked, 1);
        let length = bytes.len() as u64;
        let handle =
            herringbone::MetadataHandle::new(*metadata, length, Limits::default()).unwrap();
        let file = herringbone::ParquetFile::with_metadata(bytes.clone(), handle).unwrap();
        *cipher.fetched.lock().unwrap() = false;
        // A reader that cannot wait gets an error, but only if it reads an encrypted column.
        let error = read(&file, &ReadOptions::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Key, "{error}");
        let names = ReadOptions::new().columns(["name"]);
        assert_eq!(read(&file, &names).unwrap()[0].num_columns(), 1);
        let key = |request: &KeyRequest| {
            assert_eq!(
                request.column.as_deref(),
                Some(&["a column".to_owned()][..])
            );
            b"key".to_vec()
        };
        let batches = pushed(&bytes, &file, &ReadOptions::new(), key).unwrap();
        assert_eq!(joined(&batches), joined(std::slice::from_ref(&batch)));
    }
}

#[test]
fn modules_that_change_places_are_refused() {
    let batch = batch();
    let cipher = Xor::default();
    let options = options().crc(false).encryption(Arc::new(cipher.clone()));
    let bytes = write(&batch, options).unwrap();
    let file = open(&bytes, &keys(&cipher)).unwrap();
    let pages: Vec<_> = file.pages(0, 0).unwrap().map(Result::unwrap).collect();
    let starts: Vec<_> = pages
        .iter()
        .map(|page| page.start.offset as usize)
        .collect();
    let ordinal = (1..5).find(|at| starts[at + 1] - starts[*at] == starts[at + 2] - starts[at + 1]);
    let ordinal = ordinal.expect("two pages of the same size, one behind the other");
    let (from, to, end) = (starts[ordinal], starts[ordinal + 1], starts[ordinal + 2]);
    let swapped = [
        &bytes[..from],
        &bytes[to..end],
        &bytes[from..to],
        &bytes[end..],
    ]
    .concat();
    let file = open(&swapped.into(), &keys(&cipher)).unwrap();
    let error = read(&file, &ReadOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key, "{error}");
    let location = error.location();
    let place = (
        location.row_group,
        location.column.as_deref(),
        location.page,
    );
    assert_eq!(place, (Some(0), Some("id"), Some(ordinal)), "{error}");
}

#[test]
fn columns_that_must_be_encrypted_are_refused_in_the_clear() {
    #[derive(Debug)]
    struct Nothing(Xor);
    impl Encryption for Nothing {
        fn open(
            &self,
            _: Option<&Path>,
            _: &[Vec<String>],
        ) -> Result<Option<Arc<dyn FileEncryption>>> {
            Ok(Some(Arc::new(Clear(self.0.clone()))))
        }
    }
    /// An encryption with an encrypted footer, but without encrypted columns.
    #[derive(Debug)]
    struct Clear(Xor);
    impl FileEncryption for Clear {
        fn column(&self, _: usize) -> Option<Arc<dyn ModuleCipher>> {
            None
        }
        fn seal_chunk(&self, _: &ModuleId, _: &mut ColumnChunk) -> Result<()> {
            Ok(())
        }
        fn encrypts_footer(&self) -> bool {
            true
        }
        fn complete_metadata(&self, metadata: &mut FileMetadataParts) {
            self.0.complete_metadata(metadata);
        }
        fn seal_footer(&self, metadata: Vec<u8>) -> Result<Vec<u8>> {
            self.0.seal_footer(metadata)
        }
    }
    let cipher = Xor::default();
    let bytes = write(
        &batch(),
        options().encryption(Arc::new(Nothing(cipher.clone()))),
    )
    .unwrap();
    let file = open(&bytes, &keys(&cipher)).unwrap();
    assert!(read(&file, &ReadOptions::new().columns(["name"])).is_ok());
    let error = read(&file, &ReadOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert_eq!(error.location().column.as_deref(), Some("id"));
}

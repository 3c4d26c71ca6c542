//! Tampers with modules of each kind. The error names the module and its location, and contains no secret.

use std::ops::Range;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use herringbone::encryption::crypto_metadata::FileCryptoMetadata;
use herringbone::encryption::properties::{EncryptionKey, OtherColumns};
use herringbone::encryption::{
    FileDecryptionProperties, FileEncryptionProperties, Key, ModuleId, ModuleKind,
};
use herringbone::{Compression, Error, ErrorKind, ReadOptions};

use super::*;

const FOOTER_KEY: &[u8; 16] = b"key of a footer.";
const COLUMN_KEY: &[u8; 16] = b"key of a column.";
const PREFIX: &str = "prefix in secret";
const KEY_METADATA: &str = "metadata in secret";
/// The names of the columns. Since `filler` is first, all offsets of the other columns take the same number of bytes.
/// `a` and `b` are numbers with bloom filters, and `c` and `d` are text with dictionaries.
const COLUMNS: [&str; 5] = ["filler", "a", "b", "c", "d"];
const ROWS_OF_A_GROUP: usize = 1200;
const ROWS_OF_PER_PAGE: usize = 300;

fn key(bytes: &[u8]) -> Key {
    Key::new(bytes).unwrap()
}

/// Returns two equal row groups of equal pages, so that modules in the same role have the same length.
fn rows() -> RecordBatch {
    let rows = || 0..2 * ROWS_OF_A_GROUP as i64;
    let number = || -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(
            rows().map(|row| row % 300 + 7),
        ))
    };
    let text = || -> ArrayRef {
        let text = rows().map(|row| format!("amber {:02}", row % 20));
        Arc::new(StringArray::from_iter_values(text))
    };
    let columns = [number(), number(), number(), text(), text()];
    RecordBatch::try_from_iter(COLUMNS.into_iter().zip(columns)).unwrap()
}

fn encrypted(plaintext_footer: bool) -> Bytes {
    let with_metadata = |bytes| EncryptionKey::with_metadata(key(bytes), KEY_METADATA);
    let builder = FileEncryptionProperties::builder(with_metadata(FOOTER_KEY))
        .plaintext_footer(plaintext_footer)
        .aad_prefix(PREFIX)
        .store_aad_prefix(false);
    let column_key = key(COLUMN_KEY);
    let with_keys = COLUMNS[1..].iter().fold(builder, |builder, column| {
        let key = EncryptionKey::with_metadata(column_key.clone(), KEY_METADATA);
        builder.column_key([*column], key)
    });
    let filter = ColumnOptions::new().bloom_filter(BloomFilterOptions::new(0.01));
    let dictionary = ColumnOptions::new().dictionary(true);
    let columns = ColumnOptions::new()
        .page_rows(ROWS_OF_PER_PAGE)
        .dictionary(false)
        .compression(Compression::Uncompressed);
    let options = WriteOptions::new()
        .row_group_rows(ROWS_OF_A_GROUP)
        .columns(columns)
        .column("a", filter.clone())
        .column("b", filter)
        .column("c", dictionary.clone())
        .column("d", dictionary)
        // Checksums differ, and may take more or fewer bytes, so we leave them out.
        .crc(false)
        .encryption(Arc::new(with_keys.build().unwrap()));
    write(&rows(), options).unwrap()
}

/// Returns the columns' keys, with or without the footer's key.
fn keys(footer: bool) -> Arc<dyn Decryption> {
    let mut builder = FileDecryptionProperties::builder().aad_prefix(PREFIX);
    if footer {
        builder = builder.footer_key(key(FOOTER_KEY));
    }
    for column in &COLUMNS[1..] {
        builder = builder.column_key([*column], key(COLUMN_KEY));
    }
    Arc::new(builder.build().unwrap())
}

/// Returns a file's modules and their positions.
fn modules(bytes: &Bytes, keys: &Arc<dyn Decryption>) -> Vec<(ModuleId, Range<usize>)> {
    let file = open(bytes, keys).unwrap();
    let mut modules = Vec::new();
    for row_group in 0..2 {
        for column in 1..COLUMNS.len() {
            let one = |kind| ModuleId::of_column(kind, row_group, column);
            for page in file.pages(row_group, column).unwrap() {
                let page = page.unwrap();
                let start = page.start.offset as usize;
                let body = start + page.header_bytes;
                let end = body + page.body_bytes as usize;
                let (header_id, body_id) = match page.header.dictionary_page_header {
                    Some(_) => (
                        one(ModuleKind::DictionaryPageHeader),
                        one(ModuleKind::DictionaryPage),
                    ),
                    None => {
                        let at = page.start.data_pages_before;
                        let page = |kind| ModuleId::of_page(kind, row_group, column, at);
                        (page(ModuleKind::DataPageHeader), page(ModuleKind::DataPage))
                    }
                };
                modules.extend([(header_id, start..body), (body_id, body..end)]);
            }
            let chunk = file.metadata().column_chunk(row_group, column).unwrap();
            let range = |offset: Option<i64>, length: Option<i32>| {
                let offset = offset.unwrap() as usize;
                offset..offset + length.unwrap() as usize
            };
            modules.push((
                one(ModuleKind::ColumnIndex),
                range(chunk.column_index_offset, chunk.column_index_length),
            ));
            modules.push((
                one(ModuleKind::OffsetIndex),
                range(chunk.offset_index_offset, chunk.offset_index_length),
            ));
            if let Some(offset) = chunk.meta_data.unwrap().bloom_filter_offset {
                let header = module_at(bytes, offset as usize);
                let bits = module_at(bytes, header.end);
                modules.push((one(ModuleKind::BloomFilterHeader), header));
                modules.push((one(ModuleKind::BloomFilterBitset), bits));
            }
            // The module is in the footer, which may itself be encrypted.
            let metadata = chunk.encrypted_column_metadata.unwrap();
            let start = bytes
                .windows(metadata.len())
                .position(|window| window == metadata);
            if let Some(start) = start {
                let range = start..start + metadata.len();
                modules.push((one(ModuleKind::ColumnMetadata), range));
            }
        }
    }
    modules
}

/// Returns the range of the module that starts at an offset, by the length that it declares.
fn module_at(bytes: &Bytes, at: usize) -> Range<usize> {
    let length = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    at..at + 4 + length as usize
}

/// Returns the range of an encrypted footer's module.
fn footer(bytes: &Bytes) -> Range<usize> {
    let tail = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[tail..tail + 4].try_into().unwrap()) as usize;
    let start = tail - length;
    let (_, before) = FileCryptoMetadata::decode_prefix(&bytes[start..tail]).unwrap();
    start + before..tail
}

/// Reads a module's contents.
fn touch(id: &ModuleId, bytes: &Bytes, keys: &Arc<dyn Decryption>) -> Result<()> {
    use herringbone_core::Step;

    let file = open(bytes, keys)?;
    match id.kind {
        ModuleKind::Footer => Ok(()),
        ModuleKind::ColumnIndex => file.column_index(id.row_group, id.column).map(drop),
        ModuleKind::OffsetIndex => file.offset_index(id.row_group, id.column).map(drop),
        ModuleKind::BloomFilterHeader | ModuleKind::BloomFilterBitset => {
            let mut filter = file.bloom_filter(id.row_group, id.column)?.unwrap();
            while let Step::Need(range) = filter.poll_bits(file.limits())? {
                filter.supply(range.start, file.source().read(range)?);
            }
            Ok(())
        }
        _ => {
            let options = ReadOptions::new().columns([COLUMNS[id.column]]).threads(1);
            read(&file, &options).map(drop)
        }
    }
}

/// Checks that the error names the module and its location, has one of these kinds, and contains no secret. `module` is
/// the module as it is in the file.
fn check(error: &Error, id: &ModuleId, kinds: &[ErrorKind], module: &[u8]) {
    assert!(kinds.contains(&error.kind()), "{id}: {error}");
    assert!(error.message().contains(&id.to_string()), "{id}: {error}");
    if id.kind != ModuleKind::Footer {
        let location = error.location();
        assert_eq!(location.row_group, Some(id.row_group), "{id}: {error}");
        let column = location.column.as_deref();
        assert_eq!(column, Some(COLUMNS[id.column]), "{id}: {error}");
        if id.kind.has_page_ordinal() {
            assert!(location.page.is_some(), "{id}: {error}");
        }
    }
    tells_nothing(error, &module[module.len().saturating_sub(16)..]);
}

/// Checks that an error contains no key, key metadata, prefix, value or `tag`, in any of the forms in which bytes are
/// usually printed.
fn tells_nothing(error: &Error, tag: &[u8]) {
    let said = format!("{error} {error:?}");
    for text in [PREFIX, KEY_METADATA, "amber"] {
        assert!(!said.contains(text), "{said}");
    }
    for secret in [FOOTER_KEY, COLUMN_KEY, tag] {
        let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let list = format!("{:?}", &secret[..4]);
        let text: String = String::from_utf8_lossy(secret).chars().take(6).collect();
        for printed in [
            &hex[..8],
            &hex[..8].to_uppercase(),
            list.trim_end_matches(']'),
            &STANDARD.encode(secret)[..8],
            &text,
        ] {
            assert!(!said.contains(printed), "{said}");
        }
    }
}

/// Checks that all kinds of modules occur, except the footer.
fn all_kinds(modules: &[(ModuleId, Range<usize>)]) {
    for kind in [
        ModuleKind::ColumnMetadata,
        ModuleKind::DataPage,
        ModuleKind::DictionaryPage,
        ModuleKind::DataPageHeader,
        ModuleKind::DictionaryPageHeader,
        ModuleKind::ColumnIndex,
        ModuleKind::OffsetIndex,
        ModuleKind::BloomFilterHeader,
        ModuleKind::BloomFilterBitset,
    ] {
        let has = |row_group| {
            modules
                .iter()
                .any(|(id, _)| id.kind == kind && id.row_group == row_group)
        };
        assert!(has(0) && has(1), "{kind:?}");
    }
}

fn with(bytes: &Bytes, at: usize, new: &[u8]) -> Bytes {
    let mut changed = bytes.to_vec();
    changed[at..at + new.len()].copy_from_slice(new);
    changed.into()
}

#[test]
fn a_flipped_byte_is_found_in_each_part_of_each_module() {
    for plaintext_footer in [false, true] {
        let bytes = encrypted(plaintext_footer);
        // A signed footer is checked first. So we leave out its key, and only the other modules are checked.
        let keys = keys(!plaintext_footer);
        let mut modules = modules(&bytes, &keys);
        match plaintext_footer {
            true => all_kinds(&modules),
            false => modules.push((ModuleId::FOOTER, footer(&bytes))),
        }
        for (id, range) in modules {
            let module = &bytes[range.clone()];
            touch(&id, &bytes, &keys).unwrap();
            // These positions are in the nonce, the ciphertext and the tag.
            for at in [
                4,
                15,
                16,
                16 + (module.len() - 32) / 2,
                module.len() - 16,
                module.len() - 1,
            ] {
                let changed = with(&bytes, range.start + at, &[module[at] ^ 1]);
                let error = touch(&id, &changed, &keys).unwrap_err();
                check(&error, &id, &[ErrorKind::Key], module);
            }
            for at in 0..4 {
                let changed = with(&bytes, range.start + at, &[module[at] ^ 0x80]);
                let error = touch(&id, &changed, &keys).unwrap_err();
                let kinds = [ErrorKind::Corrupt, ErrorKind::Limit, ErrorKind::Key];
                // If the declared length exceeds the available bytes, the error reports that the data ends too early.
                let ends = [
                    "column chunk ends inside a page header",
                    "the header of the bloom filter is not complete",
                    "the bits of the bloom filter lie outside of the file",
                ];
                let place = error.location();
                match ends.iter().any(|end| error.message().contains(end)) {
                    true => assert_eq!(
                        (place.row_group, place.column.as_deref()),
                        (Some(id.row_group), Some(COLUMNS[id.column]))
                    ),
                    false => check(&error, &id, &kinds, module),
                }
            }
        }
    }
}

#[test]
fn lengths_that_are_wrong_are_found_before_anything_is_made_of_them() {
    let bytes = encrypted(true);
    let keys = keys(false);
    for (id, range) in modules(&bytes, &keys) {
        let module = &bytes[range.clone()];
        let honest = module.len() as u32 - 4;
        let lengths = [
            0,
            1,
            27,
            28,
            honest - 1,
            honest + 1,
            i32::MAX as u32,
            1 << 31,
            u32::MAX,
        ];
        for length in lengths.into_iter().filter(|length| *length != honest) {
            let changed = with(&bytes, range.start, &length.to_le_bytes());
            let error = touch(&id, &changed, &keys).unwrap_err();
            let kinds = match (28..=honest + 1).contains(&length) {
                // In this case the length is possible.
                true => &[ErrorKind::Corrupt, ErrorKind::Key][..],
                false => &[ErrorKind::Corrupt, ErrorKind::Limit],
            };
            check(&error, &id, kinds, module);
        }
    }
}

#[test]
fn modules_of_other_places_are_refused() {
    let (bytes, other) = (encrypted(true), encrypted(true));
    let keys = keys(false);
    let (all, of_other) = (modules(&bytes, &keys), modules(&other, &keys));
    let mut pairs = [0; 4];
    for (id, range) in &all {
        let module = &bytes[range.clone()];
        let mut refuses = |which: usize, foreign: &[u8]| {
            assert_eq!(foreign.len(), module.len(), "{id}");
            let changed = with(&bytes, range.start, foreign);
            let error = touch(id, &changed, &keys).unwrap_err();
            check(&error, id, &[ErrorKind::Key], foreign);
            pairs[which] += 1;
        };
        let twin = |id: ModuleId| all.iter().find(|(it, _)| *it == id);
        let other_column = [0, 2, 1, 4, 3][id.column];
        // The first page of a chunk has fewer rows.
        let other_page = all.iter().find(|(it, range)| {
            let is_page = *it != *id
                && ModuleId {
                    page: id.page,
                    ..*it
                } == *id;
            is_page && range.len() == module.len()
        });
        let twins = [
            other_page,
            twin(ModuleId {
                column: other_column,
                ..*id
            }),
            twin(ModuleId {
                row_group: 1 - id.row_group,
                ..*id
            }),
        ];
        for (which, twin) in twins.into_iter().enumerate() {
            if let Some((_, range)) = twin {
                refuses(which, &bytes[range.clone()]);
            }
        }
        let (_, range) = of_other.iter().find(|(it, _)| it == id).unwrap();
        refuses(3, &other[range.clone()]);
    }
    // There are three full pages with their headers in eight chunks. The other kinds of swaps apply to all modules.
    assert!(pairs[0] >= 3 * 2 * 8, "{pairs:?}");
    assert_eq!(pairs[1..], [all.len(); 3]);
}

#[test]
fn a_forged_footer_is_refused() {
    let bytes = encrypted(true);
    let tail = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[tail..tail + 4].try_into().unwrap()) as usize;
    let tag = &bytes[tail - 16..tail];
    let mut found = 0;
    for at in (tail - length)..tail {
        let changed = with(&bytes, at, &[bytes[at] ^ 1]);
        let error = open(&changed, &keys(true)).err().unwrap();
        tells_nothing(&error, tag);
        found += usize::from(error.message().contains("footer is not authentic"));
    }
    // If a change breaks the Thrift encoding, the error reports that instead.
    assert!(found > length / 2, "{found} of {length}");

    // This is the footer of another file, signed with the same key, so the pages do not match it.
    let other = encrypted(true);
    let start = other.len() - 8 - length;
    let forged = [&bytes[..tail - length], &other[start..]].concat();
    let file = open(&forged.into(), &keys(true)).unwrap();
    let error = read(&file, &ReadOptions::new().columns(["a"])).unwrap_err();
    let id = ModuleId::of_page(ModuleKind::DataPageHeader, 0, 1, 0);
    check(&error, &id, &[ErrorKind::Key], tag);

    // Here the signature is missing.
    let forged = [
        &bytes[..tail - 28],
        &(length as u32 - 28).to_le_bytes(),
        b"PAR1",
    ]
    .concat();
    let error = open(&forged.into(), &keys(true)).err().unwrap();
    tells_nothing(&error, tag);
}

#[test]
fn plaintext_does_not_pass_for_what_was_encrypted() {
    // First, the whole file is plaintext.
    let plain = write(&rows(), WriteOptions::new()).unwrap();
    let error = open(&plain, &keys(true)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Key);
    tells_nothing(&error, &[0x5a; 16]);
    // Second, a column is plaintext, in a file whose footer is signed with a different key.
    let forged = FileEncryptionProperties::builder(EncryptionKey::from(key(b"somebody else's!")))
        .plaintext_footer(true)
        .other_columns(OtherColumns::Plaintext)
        .aad_prefix(PREFIX)
        .build()
        .unwrap();
    let forged = write(&rows(), WriteOptions::new().encryption(Arc::new(forged))).unwrap();
    let file = open(&forged, &keys(false)).unwrap();
    let error = read(&file, &ReadOptions::new().columns(["a"])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert_eq!(error.location().column.as_deref(), Some("a"));
    tells_nothing(&error, &[0x5a; 16]);
    // Third, a plaintext page takes the place of its module.
    let bytes = encrypted(true);
    for (id, range) in modules(&bytes, &keys(false)) {
        let changed = with(&bytes, range.start + 4, &vec![7; range.len() - 4]);
        let error = touch(&id, &changed, &keys(false)).unwrap_err();
        check(&error, &id, &[ErrorKind::Key], &bytes[range]);
    }
}

#[test]
fn keys_and_prefixes_that_are_wrong_are_named() {
    for plaintext_footer in [false, true] {
        let bytes = encrypted(plaintext_footer);
        let reading = |footer: Option<&[u8]>, column: &[u8], prefix: Option<&str>| {
            let mut builder = FileDecryptionProperties::builder();
            for name in &COLUMNS[1..] {
                builder = builder.column_key([*name], key(column));
            }
            if let Some(footer) = footer {
                builder = builder.footer_key(key(footer));
            }
            if let Some(prefix) = prefix {
                builder = builder.aad_prefix(prefix);
            }
            let properties = builder.build().unwrap();
            let keys: Arc<dyn Decryption> = Arc::new(properties);
            open(&bytes, &keys).and_then(|file| read(&file, &ReadOptions::new().columns(["a"])))
        };
        assert!(reading(Some(FOOTER_KEY), COLUMN_KEY, Some(PREFIX)).is_ok());
        let wrong = b"some other bytes";
        for (result, says) in [
            (
                reading(Some(wrong), COLUMN_KEY, Some(PREFIX)),
                "footer is not authentic",
            ),
            (
                reading(Some(FOOTER_KEY), wrong, Some(PREFIX)),
                "column metadata",
            ),
            (
                reading(Some(FOOTER_KEY), COLUMN_KEY, Some("another")),
                "AAD prefix",
            ),
            (reading(Some(FOOTER_KEY), COLUMN_KEY, None), "AAD prefix"),
        ] {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Key, "{error}");
            assert!(error.message().contains(says), "{error}");
            tells_nothing(&error, wrong);
        }
    }
}

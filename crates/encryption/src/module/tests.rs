use std::sync::Arc;

use herringbone_format::modular_encryption::PageToEncrypt;

use super::*;
use crate::{ErrorKind, Key};

const KINDS: [ModuleKind; 10] = [
    ModuleKind::Footer,
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

fn key(bytes: &[u8], algorithm: Algorithm) -> ModuleKey {
    let file_aad = Arc::new(FileAad::new(b"prefix", b"unique!!"));
    ModuleKey::new(Key::new(bytes).unwrap(), algorithm, file_aad)
}

fn gcm() -> ModuleKey {
    key(b"0123456789012345", Algorithm::AesGcmV1)
}

fn ctr() -> ModuleKey {
    key(b"0123456789012345", Algorithm::AesGcmCtrV1)
}

fn encrypt(key: &ModuleKey, id: &ModuleId, plaintext: &[u8]) -> Vec<u8> {
    let mut out = vec![];
    key.encrypt(id, &[plaintext], &mut out).unwrap();
    out
}

/// Checks the bytes of section 4.4.2, counted by hand.
#[test]
fn aad_of_each_kind() {
    let file_aad = FileAad::new(b"p", b"u");
    for (number, kind) in KINDS.into_iter().enumerate() {
        let aad = file_aad
            .of(&ModuleId::of_page(kind, 0x0102, 3, 0x7fff))
            .unwrap();
        let mut expected = vec![b'p', b'u', number as u8];
        if number != 0 {
            expected.extend([2, 1, 3, 0]);
        }
        if matches!(number, 2 | 4) {
            expected.extend([0xff, 0x7f]);
        }
        assert_eq!(aad, expected, "{kind:?}");
    }
}

#[test]
fn ordinals_beyond_16_bits_are_refused_before_anything_is_written() {
    let places = [
        (1 << 15, 0, 0),
        (0, 1 << 15, 0),
        (0, 0, 1 << 15),
        (0, 0, usize::MAX),
    ];
    for (row_group, column, page) in places {
        for key in [gcm(), ctr()] {
            let id = ModuleId::of_page(ModuleKind::DataPage, row_group, column, page);
            let mut out = vec![1];
            let error = key.encrypt(&id, &[b"x"], &mut out).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument);
            assert!(error.message().contains("32768"), "{error}");
            assert_eq!(out, [1]);
        }
    }
    let id = ModuleId::of_page(ModuleKind::DataPage, 32767, 32767, 32767);
    assert!(gcm().encrypt(&id, &[b"x"], &mut vec![]).is_ok());
}

#[test]
fn modules_of_all_kinds_come_back() {
    for key in [
        gcm(),
        ctr(),
        key(&[3; 24], Algorithm::AesGcmV1),
        key(&[4; 32], Algorithm::AesGcmCtrV1),
    ] {
        for kind in KINDS {
            let id = ModuleId::of_page(kind, 1, 2, 3);
            for plaintext in [&b""[..], b"x", &[7; 1000]] {
                let module = encrypt(&key, &id, plaintext);
                assert_eq!(module.len(), plaintext.len() + key.overhead(kind));
                let is_ctr = kind.is_page_body() && key.algorithm() == Algorithm::AesGcmCtrV1;
                assert_eq!(key.overhead(kind), if is_ctr { 16 } else { 32 });
                let length = u32::from_le_bytes(*module.first_chunk().unwrap());
                assert_eq!(length as usize, module.len() - 4);
                assert_eq!(
                    key.module_bytes(&id, &module, 2000).unwrap(),
                    Some(module.len())
                );
                assert_eq!(key.decrypt(&id, &module).unwrap(), plaintext);
            }
        }
    }
}

/// Encrypts a page whose header is `header`, and checks the bytes that the header function gets.
fn encrypt_page(
    key: &ModuleKey,
    (body_id, header_id): (ModuleId, ModuleId),
    body: &mut Vec<u8>,
    header: &[u8],
    head: &mut Vec<u8>,
) -> crate::Result<usize> {
    let mut seen = Vec::new();
    let page = PageToEncrypt {
        header_id,
        body_id,
        levels: 0,
        body,
        start: 4,
        header: &mut |parts| {
            seen = parts.concat();
            Ok(header.to_vec())
        },
    };
    let before = head.len();
    let header_bytes = key.encrypt_page(page, head)?;
    let front = &head[before + header_bytes..];
    assert_eq!(seen, [front, &body[4..]].concat());
    Ok(header_bytes)
}

#[test]
fn a_page_is_two_modules() {
    let header_id = ModuleId {
        kind: ModuleKind::DataPageHeader,
        ..PAGE
    };
    for key in [gcm(), ctr()] {
        for plaintext in [&b""[..], b"the body of a page"] {
            let (mut head, mut body) = (b"before".to_vec(), [b"room", plaintext].concat());
            let ids = (PAGE, header_id);
            let header_bytes = encrypt_page(&key, ids, &mut body, b"header", &mut head).unwrap();
            assert_eq!((&head[..6], &body[..4]), (&b"before"[..], &b"room"[..]));
            let (header, front) = head[6..].split_at(header_bytes);
            assert_eq!(key.decrypt(&header_id, header).unwrap(), b"header");
            let module = [front, &body[4..]].concat();
            assert_eq!(module.len(), plaintext.len() + key.overhead(PAGE.kind));
            assert_eq!(key.decrypt(&PAGE, &module).unwrap(), plaintext);
            assert_ne!(header[4..16], front[4..]);
        }
        let late = |id| ModuleId {
            page: 1 << 15,
            ..id
        };
        for ids in [(late(PAGE), header_id), (PAGE, late(header_id))] {
            let (mut head, mut body) = (vec![1], vec![2; 9]);
            let error = encrypt_page(&key, ids, &mut body, b"header", &mut head).unwrap_err();
            assert_eq!((error.kind(), head), (ErrorKind::Argument, vec![1]));
        }
    }
}

#[test]
fn parts_are_one_module_and_nonces_differ() {
    let id = ModuleId::FOOTER;
    let mut out = b"before".to_vec();
    gcm().encrypt(&id, &[b"ab", b"", b"cd"], &mut out).unwrap();
    assert_eq!(gcm().decrypt(&id, &out[6..]).unwrap(), b"abcd");
    let again = encrypt(&gcm(), &id, b"abcd");
    assert_ne!(out[10..22], again[4..16]);
}

/// Decrypts a module under another key, prefix, file identifier or place, or with a change to any
/// byte of nonce, ciphertext or tag.
#[test]
fn what_is_not_authentic_is_refused_and_wiped() {
    for kind in KINDS {
        let id = ModuleId::of_page(kind, 1, 2, 3);
        let module = encrypt(&gcm(), &id, b"plaintext of a module");
        for at in 4..module.len() {
            let mut changed = module.clone();
            changed[at] ^= 0x10;
            refuses(&gcm(), &id, &changed);
        }
        refuses(&key(b"0123456789012346", Algorithm::AesGcmV1), &id, &module);
        let wrong_prefix = Arc::new(FileAad::new(b"", b"unique!!"));
        let key = Key::new(b"0123456789012345").unwrap();
        refuses(
            &ModuleKey::new(key, Algorithm::AesGcmV1, wrong_prefix),
            &id,
            &module,
        );
        for other in KINDS.into_iter().filter(|other| *other != kind) {
            refuses(&gcm(), &ModuleId { kind: other, ..id }, &module);
        }
        if kind != ModuleKind::Footer {
            refuses(&gcm(), &ModuleId { row_group: 0, ..id }, &module);
            refuses(&gcm(), &ModuleId { column: 0, ..id }, &module);
        }
        if kind.has_page_ordinal() {
            refuses(&gcm(), &ModuleId { page: 0, ..id }, &module);
        }
    }
}

fn refuses(key: &ModuleKey, id: &ModuleId, module: &[u8]) {
    let error = key.decrypt(id, module).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key, "{error}");
    assert!(error.message().contains(&id.to_string()), "{error}");
    let mut plaintext = vec![7];
    key.decrypt_into(id, module, &mut plaintext).unwrap_err();
    assert_eq!(plaintext, [0; 0]);
}

#[test]
fn errors_name_the_module() {
    let id = ModuleId::of_page(ModuleKind::DataPageHeader, 1, 2, 3);
    assert_eq!(
        id.to_string(),
        "header of data page 3 of column 2 in row group 1"
    );
    assert_eq!(ModuleId::FOOTER.to_string(), "footer");
    let error = gcm().decrypt(&id, &[28, 0, 0, 0]).unwrap_err();
    assert!(error.message().contains(&id.to_string()), "{error}");
    assert_eq!(error.location().row_group, Some(1));
}

#[test]
fn lengths_that_lie_are_refused() {
    for key in [gcm(), ctr()] {
        for kind in KINDS {
            let id = ModuleId::of_page(kind, 1, 2, 3);
            let module = encrypt(&key, &id, b"plaintext");
            let honest = module.len() as u32 - 4;
            for end in 0..module.len() {
                assert_corrupt(key.decrypt(&id, &module[..end]));
            }
            let least = key.overhead(kind) as u32 - 4;
            let lies = [
                0,
                1,
                11,
                27,
                least - 1,
                least,
                honest - 1,
                honest + 1,
                u32::MAX,
                1 << 31,
            ];
            for length in lies {
                let mut changed = module.clone();
                changed[..4].copy_from_slice(&length.to_le_bytes());
                assert_corrupt(key.decrypt(&id, &changed));
                let bytes = key.module_bytes(&id, &changed, 1000);
                assert_eq!(bytes.is_ok(), (least..=996).contains(&length), "{length}");
            }
            assert_eq!(key.module_bytes(&id, &module[..3], 1000).unwrap(), None);
            let longest = i32::MAX.to_le_bytes();
            assert!(key.module_bytes(&id, &longest, usize::MAX).is_ok());
            assert!(key.module_bytes(&id, &longest, 0).is_err());
            let longer = (1u32 << 31).to_le_bytes();
            assert!(key.module_bytes(&id, &longer, usize::MAX).is_err());
        }
    }
}

#[test]
fn modules_have_31_bits_of_length() {
    use super::framing::Framing;
    for (framing, overhead) in [(Framing::Gcm, 28), (Framing::Ctr, 12)] {
        let longest = i32::MAX as usize - overhead;
        assert_eq!(
            framing.declared_length(&PAGE, longest).unwrap(),
            i32::MAX as u32
        );
        for plaintext in [longest + 1, usize::MAX] {
            let error = framing.declared_length(&PAGE, plaintext).unwrap_err();
            assert!(error.message().contains(&PAGE.to_string()), "{error}");
        }
    }
}

fn assert_corrupt<T: std::fmt::Debug>(result: crate::Result<T>) {
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn signatures_are_of_the_exact_bytes() {
    let footer = b"the bytes of a footer";
    let signature = gcm().sign_footer(footer).unwrap();
    gcm().verify_footer(footer, &signature).unwrap();
    // This is the tag that encrypting the footer results in (section 5.5).
    let (nonce, tag) = signature.split_first_chunk().unwrap();
    let mut copy = footer.to_vec();
    let key = Key::new(b"0123456789012345").unwrap();
    let encrypted = key
        .cipher()
        .gcm_encrypt(nonce, b"prefixunique!!\0", &mut copy);
    assert_eq!(encrypted.unwrap(), tag);

    for at in 0..signature.len() {
        let mut changed = signature;
        changed[at] ^= 1;
        let error = gcm().verify_footer(footer, &changed).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Key);
    }
    assert!(
        gcm()
            .verify_footer(b"the bytes of b footer", &signature)
            .is_err()
    );
    for length in [0, 11, 12, 27] {
        assert_corrupt(gcm().verify_footer(footer, &signature[..length]));
    }
    assert_corrupt(gcm().verify_footer(footer, &[&signature[..], b"x"].concat()));
}

const PAGE: ModuleId = ModuleId {
    kind: ModuleKind::DataPage,
    row_group: 0,
    column: 1,
    page: 2,
};

#[test]
fn both_layouts_of_version_2() {
    for key in [gcm(), ctr()] {
        let (levels, values) = (b"levels", b"values of the page");
        let mut whole = vec![];
        key.encrypt(&PAGE, &[levels, values], &mut whole).unwrap();
        let values_only = [&levels[..], &encrypt(&key, &PAGE, values)].concat();
        let no_values = [&levels[..], &encrypt(&key, &PAGE, b"")].concat();
        let no_levels = encrypt(&key, &PAGE, values);
        let both = [&levels[..], values].concat();
        let cases = [
            (whole, 6, &both[..]),
            (values_only, 6, &both[..]),
            (no_values, 6, levels),
            (no_levels, 0, values),
            (levels.to_vec(), 6, levels),
        ];
        for (body, levels, expected) in cases {
            let mut plaintext = vec![7];
            key.decrypt_data_page_v2_into(&PAGE, &body, levels, &mut plaintext)
                .unwrap();
            assert_eq!(plaintext, expected);
        }
    }
}

/// These levels start with four bytes that look like the page's length.
#[test]
fn the_tag_tells_layouts_that_look_alike() {
    let module = encrypt(&gcm(), &PAGE, b"values");
    let body_length = 40 + module.len() as u32;
    let mut levels = [9; 40];
    levels[..4].copy_from_slice(&(body_length - 4).to_le_bytes());
    let mut body = [&levels[..], &module].concat();
    let mut plaintext = Vec::new();
    gcm()
        .decrypt_data_page_v2_into(&PAGE, &body, 40, &mut plaintext)
        .unwrap();
    assert_eq!(plaintext, [&levels[..], b"values"].concat());

    *body.last_mut().unwrap() ^= 1;
    plaintext.clear();
    let error = gcm()
        .decrypt_data_page_v2_into(&PAGE, &body, 40, &mut plaintext)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Key);
    assert!(plaintext.is_empty());
}

#[test]
fn bodies_of_neither_layout_are_corrupt() {
    let body = encrypt(&gcm(), &PAGE, b"levels and values");
    for levels in [0, 1, 6, body.len() - 1, body.len() + 1, usize::MAX] {
        for end in 0..body.len() {
            if end != levels || levels == 0 {
                assert_corrupt(gcm().decrypt_data_page_v2_into(
                    &PAGE,
                    &body[..end],
                    levels,
                    &mut Vec::new(),
                ));
            }
        }
    }
}

#[test]
fn debug_shows_no_key_and_no_prefix() {
    let debug = format!("{:?}", gcm());
    assert!(!debug.contains("0123"), "{debug}");
    assert!(!debug.contains("prefix"), "{debug}");
}

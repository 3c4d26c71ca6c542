//! Tests encrypted pages that have something after their last value, such as padding that writers leave, and levels
//! that a header hides.
//!
//! An authentic page can be wrong, too, because its writer may have made it wrong. When we count levels, we walk over
//! headers that we decrypt out of turn. So we must decrypt each header with its own place.

use std::sync::Arc;

use herringbone::OnError;
use herringbone::encryption::{
    Algorithm, FileDecryptionProperties, FileEncryptionProperties, KeyLength, ModuleId, ModuleKind,
};
use herringbone::format::thrift::CompactWriter;
use herringbone::format::{DataPageHeaderV2, FileMetadataParts, PageType};
use herringbone::modular_encryption::{Encryption, FileEncryption};

use super::round_trip::key;
use super::*;
use crate::contradictions::{Outcome, read_opened};
use crate::crafted;
use crate::dismantled::{Dismantled, Page, PagePlace, encoded};
use crate::padding::{ALL, Padding};

/// The algorithm, and true if the footer is signed in plaintext. It is `None` for a plain file.
type Form = Option<(Algorithm, bool)>;

const FORMS: [Form; 4] = [
    None,
    Some((Algorithm::AesGcmV1, false)),
    Some((Algorithm::AesGcmV1, true)),
    Some((Algorithm::AesGcmCtrV1, false)),
];

/// Encrypts a plain file's pages and its footer.
fn encrypted(file: &Bytes, algorithm: Algorithm, plaintext_footer: bool) -> Bytes {
    let properties = FileEncryptionProperties::builder(key(KeyLength::Bits128, 1))
        .column_key(["a"], key(KeyLength::Bits128, 2))
        .algorithm(algorithm)
        .plaintext_footer(plaintext_footer)
        .build()
        .unwrap();
    let leaves = [vec!["a".to_owned()], vec!["b".to_owned()]];
    let encryption = properties.open(None, &leaves).unwrap().unwrap();
    let page = |place: &PagePlace, page: &Page| encrypted_page(&*encryption, place, page);
    let footer = |footer| encrypted_footer(&*encryption, footer);
    Dismantled::new(file).assemble_with(!plaintext_footer, page, footer)
}

fn encrypted_page(encryption: &dyn FileEncryption, place: &PagePlace, page: &Page) -> Vec<u8> {
    let cipher = encryption.column(place.column).unwrap();
    let encrypt = |of_data, of_dictionary, plaintext: &[u8]| {
        let (row_group, column) = (place.row_group, place.column);
        let id = match page.is_data() {
            true => ModuleId::of_page(of_data, row_group, column, place.data_pages_before),
            false => ModuleId::of_column(of_dictionary, row_group, column),
        };
        let mut module = Vec::new();
        cipher.encrypt(&id, plaintext, &mut module).unwrap();
        module
    };
    let body = encrypt(ModuleKind::DataPage, ModuleKind::DictionaryPage, &page.body);
    let mut header = page.header.clone();
    header.compressed_page_size = body.len() as i32;
    let kinds = (ModuleKind::DataPageHeader, ModuleKind::DictionaryPageHeader);
    [encrypt(kinds.0, kinds.1, &encoded(&header)), body].concat()
}

fn encrypted_footer(encryption: &dyn FileEncryption, mut footer: FileMetadataParts) -> Vec<u8> {
    for (row_group, group) in footer.row_groups.iter_mut().enumerate() {
        for (column, chunk) in group.columns.iter_mut().enumerate() {
            let metadata = chunk.meta_data.as_mut().unwrap();
            metadata.path_in_schema = vec![["a", "b"][column].to_owned()];
            let id = ModuleId::of_column(ModuleKind::ColumnMetadata, row_group, column);
            encryption.seal_chunk(&id, chunk).unwrap();
        }
    }
    encryption.complete_metadata(&mut footer);
    let mut writer = CompactWriter::new();
    footer.encode(&mut writer);
    encryption.seal_footer(writer.finish()).unwrap()
}

fn open_form(file: &Bytes, form: Form) -> Result<ParquetFile> {
    let Some((algorithm, plaintext_footer)) = form else {
        return ParquetFile::from_bytes(file.clone());
    };
    let keys = FileDecryptionProperties::builder()
        .footer_key(key(KeyLength::Bits128, 1))
        .column_key(["a"], key(KeyLength::Bits128, 2))
        .allowed_algorithms([algorithm])
        .build()
        .unwrap();
    let keys: Arc<dyn Decryption> = Arc::new(keys);
    open(&encrypted(file, algorithm, plaintext_footer), &keys)
}

fn read_form(file: &Bytes, form: Form, options: ReadOptions) -> Outcome {
    read_opened(open_form(file, form), options)
}

/// Turns a page of version 1 into one of version 2.
fn to_v2(kind: Padding, number: usize, page: &mut crafted::Page) {
    let Some(v1) = page.header.data_page_header.take() else {
        return;
    };
    let mut rest = page.body.as_slice();
    let mut section = |is_there: bool| {
        if !is_there {
            return Vec::new();
        }
        let (length, after) = rest.split_first_chunk().unwrap();
        let (levels, values) = after.split_at(u32::from_le_bytes(*length) as usize);
        rest = values;
        levels.to_vec()
    };
    let is_list = kind == Padding::ListLevels;
    let repetition = section(is_list);
    let definition = section(is_list || kind.is_nullable());
    page.body = [&repetition, &definition, rest].concat();
    let lengths = [&definition, &repetition].map(|levels| levels.len() as i32);
    page.header.type_ = PageType::DataPageV2;
    let sections = DataPageHeaderV2::new(0, 0, 0, v1.encoding, lengths[0], lengths[1]);
    page.header.data_page_header_v2 = Some(sections.is_compressed(false));
    page.header.uncompressed_page_size = page.body.len() as i32;
    page.header.compressed_page_size = page.body.len() as i32;
    declare(kind, number, page, v1.num_values);
}

/// Lets a page declare only its first `num_values` levels, with the nulls among them.
fn declare(kind: Padding, number: usize, page: &mut crafted::Page, num_values: i32) {
    if let Some(v1) = &mut page.header.data_page_header {
        v1.num_values = num_values;
    }
    if let Some(v2) = &mut page.header.data_page_header_v2 {
        let levels_of_row = if kind == Padding::ListLevels { 2 } else { 1 };
        v2.num_values = num_values;
        v2.num_rows = num_values / levels_of_row;
        let first = number * kind.rows();
        let rows = first..first + v2.num_rows as usize;
        v2.num_nulls = rows.filter(|row| kind.value(*row).is_none()).count() as i32;
    }
}

/// Builds a file with pages of version 1 or 2. If `lie` is more than 0, page 1 declares that many levels too few.
fn file(kind: Padding, padded: &[usize], is_v2: bool, lie: i32) -> Bytes {
    kind.file_with(padded, |pages| {
        for (number, page) in pages.iter_mut().enumerate() {
            if is_v2 {
                to_v2(kind, number, page);
            }
            if lie > 0 && number == 1 {
                let levels = page.header.num_values().unwrap();
                declare(kind, number, page, levels - lie);
            }
        }
    })
}

#[test]
fn padding_is_read() {
    for (kind, is_v2) in ALL
        .into_iter()
        .flat_map(|kind| [(kind, false), (kind, true)])
    {
        let expected = kind.expected();
        for padded in [&[0][..], &[1], &[2], &[0, 1, 2]] {
            let file = file(kind, padded, is_v2, 0);
            for form in FORMS {
                for options in [
                    ReadOptions::new().batch_size(7),
                    ReadOptions::new().threads(2),
                ] {
                    let outcome = read_form(&file, form, options);
                    let what = format!("{kind:?} {padded:?} {is_v2} {form:?}");
                    assert!(!outcome.is_failed, "{what}");
                    assert_eq!(outcome.rows, expected, "{what}");
                }
            }
        }
    }
}

/// The kinds of padding that could be levels, with the number of levels that a header can hide in it.
const HIDDEN: [(Padding, i32); 6] = [
    (Padding::LevelRun, 1),
    (Padding::LevelBlock, 1),
    (Padding::LevelGroup, 8),
    (Padding::IndexGroup, 8),
    (Padding::Bytes, 1),
    (Padding::ListLevels, 8),
];

#[test]
fn a_header_that_hides_levels_is_found_before_a_wrong_row() {
    for (kind, hidden) in HIDDEN {
        for (is_v2, form) in FORMS
            .into_iter()
            .flat_map(|form| [(false, form), (true, form)])
        {
            let file = file(kind, &[], is_v2, hidden);
            let expected = kind.expected();
            let what = format!("{kind:?} v2: {is_v2} {form:?}");
            for batch in [1, 7, 100_000] {
                for threads in [1, 2] {
                    let options = ReadOptions::new().threads(threads).batch_size(batch);
                    let outcome = read_form(&file, form, options);
                    assert!(outcome.is_failed, "{what}");
                    assert!(outcome.rows.len() < 2 * kind.rows(), "{what}");
                    assert_eq!(outcome.rows, expected[..outcome.rows.len()], "{what}");
                }
            }
            for rows in [kind.rows() + 1, 2 * kind.rows() - 1, 2 * kind.rows() + 1] {
                let limited = ReadOptions::new().limit(rows as u64).batch_size(1);
                let outcome = read_form(&file, form, limited);
                assert_eq!(
                    outcome.rows,
                    expected[..outcome.rows.len()],
                    "{what} {rows}"
                );
                assert!(
                    outcome.is_failed || outcome.rows.len() == rows,
                    "{what} {rows}"
                );
            }
            for on_error in [OnError::SkipRowGroup, OnError::NullPage] {
                let outcome = read_form(&file, form, ReadOptions::new().on_error(on_error));
                assert_eq!(outcome.rows, expected[..outcome.rows.len()], "{what}");
            }
        }
    }
}

#[test]
fn the_error_has_the_place_of_the_encrypted_page() {
    let file = file(Padding::IndexGroup, &[], false, 8);
    for form in FORMS {
        let read = open_form(&file, form).unwrap().read(ReadOptions::new());
        let error = read.unwrap().find_map(std::result::Result::err).unwrap();
        let error = error.to_string();
        assert!(error.contains("40 of its 48 values"), "{error}");
        assert!(error.contains("column a, row group 0, page 2"), "{error}");
    }
}

//! Tests that `repair` recovers the row groups of the sound file, and no others.

use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::{DataPageVersion, ParquetFile, ReadOptions, WriteOptions};
use herringbone_inspect::repair::{Repair, RepairOptions, RepairSchema, RepairSource};

use crate::files::{GROUP, ROWS, batch, footer_start, options, written};

fn open(bytes: &[u8]) -> ParquetFile {
    ParquetFile::from_bytes(bytes.to_vec()).unwrap()
}

/// Repairs a file. Returns the recovered batches, one per row group, and the repair.
fn repaired(
    bytes: &[u8],
    options: &RepairOptions,
) -> herringbone::Result<(Vec<RecordBatch>, Repair)> {
    let mut repair = Repair::open(Bytes::copy_from_slice(bytes), options)?;
    let mut checked = Vec::new();
    repair.check(&ReadOptions::new(), |row_group| checked.push(row_group))?;
    assert_eq!(checked.len(), repair.num_row_groups());
    let reader = repair.read(ReadOptions::new())?;
    let batches = reader.collect::<herringbone::Result<Vec<_>>>()?;
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows as u64, repair.num_rows());
    Ok((batches, repair))
}

/// Returns which row groups of the sound file these are.
fn ordinals(batches: &[RecordBatch]) -> Vec<usize> {
    let whole = batch();
    let ordinal = |found: &RecordBatch| {
        let matches = |at: &usize| whole.slice(at * GROUP, GROUP).columns() == found.columns();
        (0..ROWS / GROUP)
            .find(matches)
            .expect("a row group of the sound file")
    };
    batches.iter().map(ordinal).collect()
}

fn ways() -> [WriteOptions; 3] {
    [
        options(),
        options().data_page_version(DataPageVersion::V2),
        options().crc(false),
    ]
}

#[test]
fn a_sound_file_comes_back_whole() {
    for options in ways() {
        let bytes = written(&batch(), options);
        let (batches, repair) = repaired(&bytes, &RepairOptions::new()).unwrap();
        assert_eq!(ordinals(&batches), [0, 1, 2]);
        assert_eq!(
            (repair.source(), repair.valid_row_groups()),
            (RepairSource::Footer, &[0, 1, 2][..])
        );
        assert!(repair.lost().is_empty());
    }
}

/// Without a footer, `repair` assembles pages by a sibling's schema.
#[test]
fn row_groups_come_back_without_a_footer() {
    for options in ways() {
        let bytes = written(&batch(), options);
        let sibling = open(&bytes);
        let schema = RepairOptions::new().schema(RepairSchema::of_file(&sibling));
        let (batches, repair) = repaired(&bytes[..footer_start(&bytes)], &schema).unwrap();
        assert_eq!(ordinals(&batches), [0, 1, 2]);
        assert_ne!(repair.source(), RepairSource::Footer);
        // If the file is cut, the row groups before its end come back.
        for row_group in 0..3 {
            let chunk = sibling
                .metadata()
                .column_chunk(row_group, 6)
                .unwrap()
                .meta_data
                .unwrap();
            let start = chunk
                .dictionary_page_offset
                .unwrap_or(chunk.data_page_offset);
            let end = (start + chunk.total_compressed_size) as usize;
            let (batches, _) = repaired(&bytes[..end], &schema).unwrap();
            assert_eq!(ordinals(&batches), (0..=row_group).collect::<Vec<_>>());
            let (batches, repair) = repaired(&bytes[..end - 1], &schema).unwrap();
            assert_eq!(ordinals(&batches), (0..row_group).collect::<Vec<_>>());
            assert!(!repair.lost().is_empty());
        }
        assert!(repaired(&bytes[..footer_start(&bytes)], &RepairOptions::new()).is_err());
    }
}

/// A changed byte of a page costs its row group, and nothing else.
#[test]
fn a_damaged_page_costs_its_row_group() {
    let bytes = written(&batch(), options());
    let file = open(&bytes);
    for row_group in 0..3 {
        for leaf in 0..7 {
            let page = file
                .pages(row_group, leaf)
                .unwrap()
                .last()
                .unwrap()
                .unwrap();
            let mut damaged = bytes.clone();
            damaged[page.start.offset as usize + page.header_bytes] ^= 0x10;
            let (batches, repair) = repaired(&damaged, &RepairOptions::new()).unwrap();
            let expected: Vec<_> = (0..3).filter(|it| *it != row_group).collect();
            assert_eq!(ordinals(&batches), expected, "{row_group}, {leaf}");
            assert_eq!(repair.valid_row_groups(), expected);
            assert_eq!(repair.lost().len(), 1, "{:?}", repair.lost());
        }
    }
}

/// Each row group that is recovered is one of the sound file, whatever byte was changed.
#[test]
fn nothing_else_comes_back() {
    let bytes = written(&batch(), options());
    let schema = RepairOptions::new().schema(RepairSchema::of_file(&open(&bytes)));
    let schema = schema.ignore_footer(true);
    let (mut whole, mut less) = (0, 0);
    for at in (4..bytes.len()).step_by(7) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x21;
        if let Ok((batches, _)) = repaired(&damaged, &schema) {
            let found = ordinals(&batches);
            assert!(found.is_sorted(), "{found:?}");
            match found.len() {
                3 => whole += 1,
                _ => less += 1,
            }
        }
    }
    assert!(whole > 20 && less > 50, "{whole} {less}");
}

//! Tests pages that can be read in several ways. No wrong row is recovered, and the error names the option that
//! decides.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use herringbone::{ColumnOptions, Compression, ErrorKind, Remedy, WriteOptions, Writer};
use herringbone_inspect::repair::{Repair, RepairOptions, RepairSchema};

use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

use super::{all, footer, had_back, like, opened, pages, repaired, row_groups, which};
use crate::damage::with_metadata;
use crate::random::Random;

/// Writes a file with this library.
fn written(columns: Vec<(&str, ArrayRef)>, options: WriteOptions) -> Vec<u8> {
    let columns = columns
        .into_iter()
        .map(|(name, array)| (name, array, false));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file
}

/// Writes four row groups of 100 rows, with dictionary-encoded numbers next to numbers without a dictionary.
fn spliced() -> Vec<u8> {
    let few: ArrayRef = Arc::new(Int64Array::from_iter_values((0..400).map(|row| row % 7)));
    let many: ArrayRef = Arc::new(Int64Array::from_iter_values(1000..1400));
    let options = WriteOptions::new()
        .compression(Compression::Uncompressed)
        .row_group_rows(100)
        .page_index(false)
        .column("many", ColumnOptions::new().dictionary(false));
    written(vec![("few", few), ("many", many)], options)
}

/// Writes two columns of text as the default options do, with 100 rows in each of four row groups.
fn texts() -> Vec<u8> {
    let few = (0..400).map(|row| format!("colour {}", row % 5));
    let many = (0..400).map(|row| format!("{}-{}", row * 7919 % 1_000_003, row));
    let few: ArrayRef = Arc::new(StringArray::from_iter_values(few));
    let many: ArrayRef = Arc::new(StringArray::from_iter_values(many));
    let options = WriteOptions::new().row_group_rows(100).page_index(false);
    written(vec![("few", few), ("many", many)], options)
}

/// If a part of a file is removed, truncated or damaged, rows are lost, but never added.
#[test]
fn neighbours_of_one_type_are_not_spliced() {
    for file in [spliced(), texts()] {
        let original = opened(&file);
        let originals = all(&original);
        let mut ends = pages(&original);
        ends.retain(|(page, _)| page.end < footer(&file));
        let mut knowing = like(&original);
        knowing.row_group_rows = Some(100);
        for (page, row_group) in ends {
            let mut flipped = file[..footer(&file)].to_vec();
            flipped[page.end - 1] ^= 1;
            for damaged in [&file[..page.end], &file[..page.end - 1], &flipped[..]] {
                let back = had_back(damaged, &like(&original)).unwrap_or_default();
                which(&originals, &back);
                let back = had_back(damaged, &knowing).unwrap_or_default();
                let found = which(&originals, &back);
                // All row groups before the damage are recovered.
                let before: Vec<usize> = (0..row_group).collect();
                assert!(found.starts_with(&before), "page {page:?}: {found:?}");
            }
        }
        let cut = &file[..footer(&file)];
        let error = had_back(cut, &like(&original)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert_eq!(error.remedy(), Some(Remedy::GiveRowGroupRows));
        assert_eq!(had_back(cut, &knowing).unwrap(), originals);
    }
}

/// Writes numbers without a dictionary, which the `parquet` crate compresses with Snappy.
fn snappy(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let columns = columns
        .into_iter()
        .map(|(name, array)| (name, array, false));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let properties = WriterProperties::builder()
        .set_compression(parquet::basic::Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

/// Returns numbers whose page has the same size with and without Snappy, because matches save as much as literals cost.
fn as_long_as_before() -> impl Iterator<Item = ArrayRef> {
    (0..2000).filter_map(|seed| {
        let mut random = Random(seed);
        let few: Vec<i32> = (0..2 + random.below(30))
            .map(|_| random.next() as i32)
            .collect();
        let rows = 5 + random.below(40);
        let a: ArrayRef = Arc::new(Int32Array::from_iter_values(
            (0..rows).map(|_| random.pick(&few)),
        ));
        let file = snappy(vec![("a", a.clone())]);
        let page = opened(&file).pages(0, 0).unwrap().next().unwrap().unwrap();
        let header = page.header;
        (header.compressed_page_size == header.uncompressed_page_size).then_some(a)
    })
}

/// If compressed bytes have the length of the values, they are not mistaken for the values.
#[test]
fn a_codec_is_not_guessed() {
    let mut files = 0;
    for a in as_long_as_before() {
        let b: ArrayRef = Arc::new(Int64Array::from_iter_values(0..a.len() as i64));
        let file = snappy(vec![("a", a), ("b", b)]);
        let original = opened(&file);
        let cut = &file[..footer(&file)];
        // The sibling file's codec decides.
        assert_eq!(had_back(cut, &like(&original)).unwrap(), all(&original));
        // The other column of the file decides if it leaves no choice.
        let mut options = RepairOptions::default();
        let schema = original.arrow_schema(&Default::default()).unwrap();
        options.schema = Some(RepairSchema::of_arrow(&schema).unwrap());
        match had_back(cut, &options) {
            Ok(back) => assert_eq!(back, all(&original)),
            Err(error) => assert_eq!(error.remedy(), Some(Remedy::GiveSchema)),
        }
        files += 1;
    }
    assert!(files > 0, "no page is as long as its values");
}

/// We cannot determine if a single page is compressed, so the error names both possibilities.
#[test]
fn a_codec_that_nothing_shows_is_named() {
    let mut refused = 0;
    for a in as_long_as_before() {
        let file = snappy(vec![("a", a)]);
        let original = opened(&file);
        let schema = original.arrow_schema(&Default::default()).unwrap();
        let mut options = RepairOptions::default();
        options.schema = Some(RepairSchema::of_arrow(&schema).unwrap());
        let cut = &file[..footer(&file)];
        let error = had_back(cut, &options).unwrap_err();
        assert_eq!(error.remedy(), Some(Remedy::GiveSchema), "{error}");
        assert!(
            error.message().contains("UNCOMPRESSED or SNAPPY"),
            "{error}"
        );
        assert_eq!(had_back(cut, &like(&original)).unwrap(), all(&original));
        refused += 1;
    }
    assert!(refused > 0);
}

/// If a footer has two columns at one position, it is wrong, even if each can be read.
#[test]
fn a_footer_with_chunks_over_each_other_is_not_believed() {
    let a: ArrayRef = Arc::new(Int64Array::from_iter_values(0..20));
    let b: ArrayRef = Arc::new(Int64Array::from_iter_values(100..120));
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().dictionary(false))
        .compression(Compression::Uncompressed)
        .row_group_rows(10);
    let file = written(vec![("a", a), ("b", b)], options);
    let mut offset = 0;
    let wrong = with_metadata(&file, 0, |metadata| offset = metadata.data_page_offset);
    assert_eq!(
        repaired(&wrong, &RepairOptions::default())
            .unwrap()
            .valid_row_groups(),
        [0, 1]
    );
    let wrong = with_metadata(&file, 1, |metadata| metadata.data_page_offset = offset);
    let repair = repaired(&wrong, &RepairOptions::default()).unwrap();
    assert_eq!(repair.valid_row_groups(), [1]);
    assert_eq!(repair.lost()[0].reason, "column chunks overlap");
}

/// If a file ends inside a row group's first page, there is a loss.
#[test]
fn a_cut_page_is_a_loss() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
    let texts = (0..1000).map(|row| format!("v{row}"));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().dictionary(false))
        .row_group_rows(100);
    let file = written(vec![("a", numbers), ("s", texts)], options);
    let original = opened(&file);
    let first = |row_group| {
        let page = original.pages(row_group, 0).unwrap().next().unwrap();
        page.unwrap().start.offset as usize
    };
    for cut in first(1) + 1..first(1) + 60 {
        let repair = repaired(&file[..cut], &like(&original)).unwrap();
        let back = row_groups(repair.file(), repair.valid_row_groups().iter().copied());
        assert_eq!(back, all(&original)[..1], "{cut} bytes");
        let [lost] = repair.lost() else {
            panic!("{cut} bytes: {:?}", repair.lost());
        };
        assert_eq!(lost.location.offset, Some(first(1) as u64));
        let bytes = cut - first(1);
        assert!(
            lost.reason.starts_with(&format!("{bytes} byte")),
            "{}",
            lost.reason
        );
        assert!(!repair.is_end_known());
    }
    // The file ends after a row group. More rows may have followed, so `is_end_known` returns false.
    let repair = repaired(&file[..first(1)], &like(&original)).unwrap();
    assert_eq!((repair.num_rows(), repair.lost().len()), (100, 0));
    assert!(!repair.is_end_known());
    let repair = Repair::open(bytes::Bytes::from(file), &RepairOptions::default()).unwrap();
    assert!(repair.is_end_known());
}

/// If a row group is overwritten, there is a loss, even if the pages around it are complete.
#[test]
fn a_row_group_of_zeros_is_a_loss() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..300));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..300).map(|i| i.to_string()),
    ));
    let options = WriteOptions::new()
        .columns(ColumnOptions::new().dictionary(false))
        .row_group_rows(100);
    let file = written(vec![("a", numbers), ("s", texts)], options);
    let original = opened(&file);
    let second_pages = pages(&original).into_iter().filter(|(_, it)| *it == 1);
    let mut damaged = file;
    for (page, _) in second_pages {
        damaged[page].fill(0);
    }
    let mut options = like(&original);
    options.ignore_footer = true;
    let repair = repaired(&damaged, &options).unwrap();
    let back = row_groups(repair.file(), repair.valid_row_groups().iter().copied());
    assert_eq!(which(&all(&original), &back), [0, 2]);
    let [bytes, rows] = repair.lost() else {
        panic!("{:?}", repair.lost());
    };
    assert!(
        bytes.reason.contains("bytes without a complete page"),
        "{}",
        bytes.reason
    );
    assert_eq!(rows.rows, Some(100));
}

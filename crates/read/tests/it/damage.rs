//! Reads of damaged files: which rows stay, and which losses are reported.

use bytes::Bytes;
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{Array, RecordBatch};
use herringbone::filter::col;
use herringbone::{Lost, OnError, ReadOptions};

use crate::table::{GROUP, PAGE, ROWS, file, open, options, rows_of, text};

/// Returns the table's file with a bit flipped in a page body.
pub(crate) fn damaged(row_group: usize, leaf: usize, page: usize) -> Bytes {
    let mut bytes = file(options()).to_vec();
    let opened = open(&bytes.clone().into());
    let mut pages = opened.pages(row_group, leaf).unwrap();
    let page = pages.nth(page).unwrap().unwrap();
    bytes[page.start.offset as usize + page.header_bytes + 20] ^= 1;
    bytes.into()
}

/// Reads a file, returning its batches and the reported losses.
fn read(file: &Bytes, options: &ReadOptions) -> Result<(Vec<RecordBatch>, Vec<Lost>), String> {
    let mut reader = open(file).read(options.clone()).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch().map_err(|error| error.to_string())? {
        batches.push(batch);
    }
    let losses = reader.take_losses();
    assert!(reader.losses().is_empty());
    Ok((
        batches,
        losses.kept().iter().map(|loss| loss.lost).collect(),
    ))
}

#[test]
fn the_rest_of_a_damaged_row_group_is_left_out() {
    // The third page of the second row group has the rows 400 to 449.
    let file = damaged(1, 0, 2);
    let options = ReadOptions::new().batch_size(60);
    for threads in [1, 3] {
        let options = options.clone().threads(threads);
        let error = read(&file, &options).unwrap_err();
        assert!(error.contains("row group 1"), "{error}");
        let skipping = options.on_error(OnError::SkipRowGroup);
        let (batches, losses) = read(&file, &skipping).unwrap();
        // Batches of 60 rows begin with rows 300 and 360, and the batch that begins with row 360 needs the damaged
        // page.
        let expected: Vec<_> = (0..360).chain(600..ROWS).collect();
        assert_eq!(rows_of(&batches), expected);
        assert_eq!(losses, [Lost::Rows(240)]);
        let skipped = skipping.filter(col("row").ge(700));
        let (batches, losses) = read(&file, &skipped).unwrap();
        assert_eq!(rows_of(&batches), (700..ROWS).collect::<Vec<_>>());
        assert!(losses.is_empty());
    }
}

#[test]
fn a_damaged_page_of_a_nullable_column_becomes_null() {
    let file = damaged(1, 1, 2);
    let lost = GROUP + 2 * PAGE..GROUP + 3 * PAGE;
    let options = ReadOptions::new()
        .batch_size(60)
        .on_error(OnError::NullPage);
    for threads in [1, 3] {
        let (batches, losses) = read(&file, &options.clone().threads(threads)).unwrap();
        assert_eq!(rows_of(&batches), (0..ROWS).collect::<Vec<_>>());
        assert_eq!(losses.len(), 1, "{losses:?}");
        for batch in &batches {
            let rows = batch.column(0).as_primitive::<Int64Type>();
            let texts = batch.column(1).as_string::<i32>();
            for (row, found) in rows.values().iter().zip(texts) {
                let row = *row as usize;
                let expected = text(row).filter(|_| !lost.contains(&row));
                assert_eq!(found.map(str::to_owned), expected, "{row}");
            }
        }
    }
    // A required column cannot be null, so the rest of its row group is left out.
    let file = damaged(1, 0, 2);
    let (batches, losses) = read(&file, &options.threads(1)).unwrap();
    assert_eq!(
        rows_of(&batches),
        (0..360).chain(600..ROWS).collect::<Vec<_>>()
    );
    assert_eq!(losses, [Lost::Rows(240)]);
}

#[test]
fn damage_that_no_row_needs_is_not_noticed() {
    let file = damaged(1, 0, 2);
    for options in [
        ReadOptions::new().columns(["text"]),
        ReadOptions::new().row_ranges(vec![0..400, 450..1_000]),
        ReadOptions::new().filter(col("row").lt(400)),
        ReadOptions::new().row_groups([0, 2, 3]),
    ] {
        let (batches, losses) = read(&file, &options.clone().threads(1)).unwrap();
        assert!(losses.is_empty(), "{options:?}");
        assert!(batches.iter().map(RecordBatch::num_rows).sum::<usize>() >= 400);
    }
    // Without checksums, the damage is not noticed, because a changed number is still a number.
    let unchecked = ReadOptions::new().verify_crc(false).columns(["row"]);
    let (batches, _) = read(&file, &unchecked).unwrap();
    let rows = rows_of(&batches);
    let changed = rows.iter().enumerate().filter(|(row, found)| row != *found);
    assert_eq!(changed.count(), 1);
    assert_eq!(batches[0].column(0).null_count(), 0);
}

#[test]
fn a_damaged_index_changes_no_rows() {
    let sound = file(options());
    let opened = open(&sound);
    let chunk = opened.metadata().column_chunk(1, 0).unwrap();
    let places = [
        (chunk.column_index_offset, chunk.column_index_length),
        (chunk.offset_index_offset, chunk.offset_index_length),
    ];
    for (offset, length) in places {
        let (offset, length) = (offset.unwrap() as usize, length.unwrap() as usize);
        let mut damaged = sound.to_vec();
        damaged[offset..offset + length].fill(0xff);
        let options = ReadOptions::new().filter(col("row").eq(402)).threads(1);
        let (batches, losses) = read(&damaged.into(), &options).unwrap();
        assert_eq!(rows_of(&batches), [402]);
        assert!(losses.is_empty());
    }
}

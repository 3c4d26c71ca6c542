use std::sync::Arc;

use herringbone_arrow::array::{self as a, ArrayRef, RecordBatchOptions};

use super::*;
use crate::output::written;

fn batch() -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable([
        (
            "id",
            Arc::new(a::Int64Array::from(vec![1, 23])) as ArrayRef,
            true,
        ),
        (
            "name",
            Arc::new(a::StringArray::from(vec![Some("a\u{1b}[1m\n"), None])),
            true,
        ),
    ])
    .unwrap()
}

fn table(batches: &[RecordBatch]) -> String {
    written(|output| {
        let mut rows = Rows::new(batches[0].schema());
        for batch in batches {
            rows.write(batch, output)?;
        }
        rows.finish(output)
    })
}

#[test]
fn numbers_stand_right_and_escapes_are_harmless() {
    let expected = "\
┌────┬──────────────┐
│ id ┆ name         │
╞════╪══════════════╡
│  1 ┆ a\\u{1b}[1m\\n │
│ 23 ┆ null         │
└────┴──────────────┘
";
    assert_eq!(table(&[batch()]), expected);
}

#[test]
fn no_rows_are_a_header() {
    let text = table(&[batch().slice(0, 0)]);
    assert!(text.contains("│ id ┆ name │"), "{text}");
}

#[test]
fn rows_come_in_blocks() {
    let batches = vec![batch(); BLOCK_ROWS / 2 + 1];
    let text = table(&batches);
    assert_eq!(text.matches("│ id ").count(), 2);
    assert_eq!(text.matches(" 23 ").count(), BLOCK_ROWS / 2 + 1);
    // A last block that is full is not followed by an empty one.
    assert_eq!(table(&batches[1..]).matches("│ id ").count(), 1);
}

#[test]
fn rows_without_columns_are_counted() {
    let options = RecordBatchOptions::new().with_row_count(Some(3));
    let schema = Arc::new(Schema::empty());
    let batch = RecordBatch::try_new_with_options(schema, vec![], &options).unwrap();
    assert_eq!(table(&[batch]), "3 rows without columns\n");
}

#[test]
fn long_cells_are_cut() {
    let text = shown(&"ä".repeat(100));
    assert_eq!(text.chars().count(), CELL_CHARACTERS + 1);
    assert!(text.ends_with("ä…"));
}

#[test]
fn many_columns_are_not_squeezed() {
    let names: Vec<String> = (0..50).map(|column| format!("column {column}")).collect();
    let wide = new(names.clone(), Some(80)).trim_fmt();
    assert!(wide.contains("column 49"), "{wide}");
    let narrow = new(names[..3].to_vec(), Some(30)).trim_fmt();
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 30),
        "{narrow}"
    );
}

use std::sync::Arc;

use herringbone_arrow::array::{self as a, ArrayRef, RecordBatchOptions};

use herringbone_arrow::schema::Schema;

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
    // A full last block is not followed by an empty one.
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
fn what_terminals_obey_is_escaped() {
    let text = shown("a\u{9b}2J\u{202e}b\u{2028}");
    assert_eq!(text, "a\\u{9b}2J\\u{202e}b\\u{2028}");
}

/// Returns a table on a terminal, after checking that every line fits.
fn on_terminal(names: &[String], rows: &[Vec<String>], width: u16) -> String {
    let count = names.len();
    let ends = ends(names, rows, Some(width));
    let between = fit::left_out(ends.left_out(count));
    let mut table = new(ends.of(names.to_vec(), between), Some(width));
    table.add_rows(rows.iter().map(|row| ends.of(row.clone(), "…".into())));
    let text = table.trim_fmt();
    let longest = text.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(width.into()), "{text}");
    text
}

#[test]
fn a_terminal_shows_the_ends_of_many_columns() {
    let names: Vec<String> = (0..300).map(|column| format!("column_{column}")).collect();
    let rows = vec![
        (0..300)
            .map(|column| format!("value {column} of it"))
            .collect();
        2
    ];
    let narrow = on_terminal(&names, &rows, 40);
    assert!(
        narrow.contains("column_0 ") && narrow.contains(" 299 more"),
        "{narrow}"
    );
    for width in [60, 80, 200] {
        let text = on_terminal(&names, &rows, width);
        for name in ["column_0 ", "column_299 ", " more "] {
            assert!(text.contains(name), "{width}: {text}");
        }
        assert!(text.contains("value 0"), "{text}");
    }
    let few = on_terminal(&names[..3], &[], 80);
    assert!(few.contains("column_2") && !few.contains("more"), "{few}");
}

#[test]
fn headers_are_broken_between_words() {
    let names: Vec<String> = ["row group", "uncompressed", "x"].map(String::from).into();
    let rows = vec![["1".to_owned(), "2".into(), "word ".repeat(30)].into()];
    let text = on_terminal(&names, &rows, 40);
    assert!(text.contains(" uncompressed "), "{text}");
    assert!(text.contains(" group "), "{text}");
}

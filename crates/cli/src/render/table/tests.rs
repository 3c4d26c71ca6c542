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
┌───────┬──────────────┐
│    id ┆ name         │
│ int64 ┆ text         │
╞═══════╪══════════════╡
│     1 ┆ a\\u{1b}[1m\\n │
│    23 ┆ null         │
└───────┴──────────────┘
";
    assert_eq!(table(&[batch()]), expected);
}

#[test]
fn no_rows_are_a_header() {
    let text = table(&[batch().slice(0, 0)]);
    assert!(text.contains("│    id ┆ name │"), "{text}");
}

#[test]
fn rows_come_in_blocks() {
    let batches = vec![batch(); BLOCK_ROWS / 2 + 1];
    let text = table(&batches);
    assert_eq!(text.matches("    id ").count(), 2);
    assert_eq!(text.matches(" 23 ").count(), BLOCK_ROWS / 2 + 1);
    // After a full last block, there is no empty one.
    assert_eq!(table(&batches[1..]).matches("    id ").count(), 1);
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

#[test]
fn a_backslash_is_not_an_escape() {
    assert_eq!(shown("a\\tb"), "a\\tb");
    assert_eq!(shown("a\\tb\t"), "a\\\\tb\\t");
}

#[test]
fn times_are_short() {
    for (text, expected) in [
        ("2024-01-31T12:00:00.000000Z", "2024-01-31 12:00:00Z"),
        (
            "2024-01-31T12:00:00.120+01:00",
            "2024-01-31 12:00:00.12+01:00",
        ),
        ("2024-01-31T12:00:00", "2024-01-31 12:00:00"),
        ("12:00:10.000", "12:00:10"),
    ] {
        assert_eq!(short_time(text), expected);
    }
}

#[test]
fn the_text_null_is_not_a_null() {
    let text = a::StringArray::from(vec![Some("null"), None]);
    let batch = RecordBatch::try_from_iter_with_nullable([("a", Arc::new(text) as ArrayRef, true)])
        .unwrap();
    let table = table(&[batch]);
    assert!(table.contains("│ \"null\" │\n│ null   │"), "{table}");
}

/// Returns the table of one batch on a terminal, after checking that each line fits.
fn on_terminal(batch: &RecordBatch, width: u16) -> String {
    let text = crate::output::written_to(Some(width), |output| {
        let mut rows = Rows::new(batch.schema());
        rows.write(batch, output)?;
        rows.finish(output)
    });
    let longest = text
        .lines()
        .map(unicode_width::UnicodeWidthStr::width)
        .max();
    assert!(longest <= Some(width.into()), "{text}");
    text
}

#[test]
fn a_terminal_shows_the_ends_of_many_columns() {
    let columns = (0..300).map(|column| {
        let text = a::StringArray::from(vec![format!("value {column} of it"); 2]);
        (format!("column_{column}"), Arc::new(text) as ArrayRef, true)
    });
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let narrow = on_terminal(&batch, 40);
    assert!(
        narrow.contains("column_0 ") && narrow.contains(" more "),
        "{narrow}"
    );
    for width in [60, 80, 200] {
        let text = on_terminal(&batch, width);
        for name in ["column_0 ", "column_299 ", " more "] {
            assert!(text.contains(name), "{width}: {text}");
        }
        assert!(text.contains("value 0"), "{text}");
    }
    let few = on_terminal(&batch.project(&[0, 1, 2]).unwrap(), 80);
    assert!(few.contains("column_2") && !few.contains("more"), "{few}");
}

#[test]
fn numbers_are_whole_and_each_row_is_a_line() {
    let batch = RecordBatch::try_from_iter_with_nullable([
        (
            "least",
            Arc::new(a::Int64Array::from(vec![i64::MIN, 1])) as ArrayRef,
            true,
        ),
        (
            "text",
            Arc::new(a::StringArray::from(vec![
                "word ".repeat(30),
                "日本".repeat(30),
            ])),
            true,
        ),
        (
            "at",
            Arc::new(a::TimestampMicrosecondArray::from(vec![0, 1_500_000]).with_timezone("UTC")),
            true,
        ),
    ])
    .unwrap();
    for width in [60, 80, 120, 200] {
        let text = on_terminal(&batch, width);
        assert_eq!(text.lines().count(), 7, "{text}");
        for part in [
            " -9223372036854775808 ",
            "timestamp UTC",
            " 1970-01-01 00:00:01.5Z ",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
}

#[test]
fn lists_have_whole_numbers_and_times_among_texts() {
    let header = Header {
        names: &["column", "min"],
        keys: &[],
        numbers: &[],
        spare: &[],
    };
    let shown = |minimum: &str| {
        let rows = vec![vec!["a long name of a column".into(), minimum.into()]];
        crate::output::written_to(Some(46), |output| print_list(&header, rows, output))
    };
    for whole in [
        "18446744073709551615",
        "-1.7976931348623157e308",
        "2021-01-01 00:00:00.000001Z",
        "2021-01-01T00:00:00+02:00",
    ] {
        let text = shown(whole);
        assert!(text.contains(&format!(" {whole} ")), "{text}");
        assert!(text.contains("a long"), "{text}");
    }
    assert!(!shown("words of a text without digits").contains("digits"));
}

/// Returns a list of one item on a terminal.
fn list(width: u16) -> String {
    let header = Header {
        names: &["row group", "name", "offset", "uncompressed"],
        keys: &[],
        numbers: &[0, 2, 3],
        spare: &[2],
    };
    let cells = [
        "1",
        &"word ".repeat(30),
        "1234567890",
        "18446744073709551615",
    ];
    let rows = vec![cells.map(str::to_owned).into()];
    let text = crate::output::written_to(Some(width), |output| print_list(&header, rows, output));
    let lines = text.lines().filter(|line| !line.starts_with("not shown"));
    let widest = lines.map(unicode_width::UnicodeWidthStr::width).max();
    assert!(widest <= Some(width.into()), "{text}");
    text
}

#[test]
fn lists_have_whole_numbers_and_no_spare_columns() {
    let wide = list(80);
    for part in [
        "│ row group ┆",
        " 1,234,567,890 ",
        " 18,446,744,073,709,551,615 │",
        "…",
    ] {
        assert!(wide.contains(part), "{wide}");
    }
    assert!(!wide.contains("not shown"), "{wide}");
    // The cells take 5 + 12 + 13 + 26, with 12 around them, and the last line takes 1. In less than
    // that, we first break headers, and then leave out columns.
    let broken = list(70);
    assert!(
        broken.contains("│   row ┆") || broken.contains("│ row   ┆"),
        "{broken}"
    );
    let narrow = list(68);
    assert!(narrow.contains(" 18,446,744,073,709,551,615 │"), "{narrow}");
    assert!(
        narrow.ends_with("not shown: offset; --json has them\n"),
        "{narrow}"
    );
    assert!(list(20).ends_with("not shown: name, offset, uncompressed; --json has them\n"));
}

#[test]
fn texts_may_be_cut_but_not_numbers() {
    let dictionary = |values| DataType::Dictionary(Box::new(DataType::Int8), Box::new(values));
    for (data_type, expected) in [
        (DataType::Utf8, true),
        (DataType::Binary, true),
        (DataType::Boolean, false),
        (DataType::Float64, false),
        (DataType::Decimal128(9, 2), false),
        (DataType::Date32, false),
        (dictionary(DataType::Utf8), true),
        (dictionary(DataType::Int64), false),
    ] {
        assert_eq!(may_be_cut(&data_type), expected, "{data_type}");
    }
}
